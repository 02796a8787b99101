"""The neighbourhood of a type as a fan: its derivation, and a row for each merge with it.

The partner of a merge stands inside its box (``it + ▪``, where ▪ is the type in the middle), so
that nothing crosses. A removed type is a ghost, through which the strands of its parts run to the
merges that take them instead. A fan is plain data: a component draws it.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from morphgraph.core.text import counted, shortened
from morphgraph.draw.fan_layout import Fan, Item, TypeOrigin, Use, lay_out_fans
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Merge
from morphgraph.graph.view import merge_key, type_key
from morphgraph.refine.rebpe import preview_reification
from morphgraph.refine.study import Study

Order = Literal["rank", "joins", "blame"]
HERE: Final = "▪"
"""Stands for the type that all merges of a fan share."""
_TYPE, _BOX = 18, 26
"""Characters drawn of a type's name, and of a merge."""
_LONGEST = 200
_FEW = 2
"""The least number of merges shown for a result when looking further up."""


def fan_around(
    study: Study, focus: int, *, down: int = 1, up: int = 1, rows: int = 14, order: Order = "rank"
) -> Fan:
    """Draw a present or removed type, ``down`` steps to its parts and ``up`` to longer types.

    The first ``rows`` of the merges that use it come in this order, those of most joins or blame
    first; vertices of the kind ``more`` stand for the others.
    """
    builder = _Fans(study, study.graph, order)
    source = builder.source(focus, down)
    return lay_out_fans([(source, builder.uses(focus, source, up, rows))])


@dataclass(frozen=True)
class Stages:
    """Types before knockout, after it, and after reification; neither change has been made."""

    before: Fan
    knocked_out: Fan
    reified: Fan
    knockout: Change
    reification: Change


def stages(study: Study, types: Sequence[str]) -> Stages:
    """Preview knocking types out, and then reifying the merges that used them.

    Only tuple merges that this makes are repaired and reified; five in all are shown. Source:
    Bauwens & de Lhoneux 2026, Figure 1.
    """
    graph = study.graph.copy()
    numbers = [graph.ids[text] for text in types]
    knockout = graph.preview_knockout(types)
    rows = max(2, 5 // len(numbers))

    def fan(created: Mapping[int, Collection[int]] | None = None) -> Fan:
        builder = _Fans(study, graph)
        blocks = []
        for number in numbers:
            source = builder.source(number, 1)
            blocks.append((source, builder.uses(number, source, 1, rows, created)))
        return lay_out_fans(blocks, high=0)

    before = fan()
    graph.apply(knockout)
    knocked_out = fan()
    affected = {entry.merge for entry in knockout.rewired}
    blacklist = {merge.parts for merge in knockout.removed_merges.values()}
    reification = preview_reification(graph, blacklist, among=affected)
    graph.apply(reification)
    new = {entry.merge: entry.tuple_merges for entry in reification.reified}
    return Stages(before, knocked_out, fan(new), knockout, reification)


class _Fans:
    """Builds the parts of fans of one state of a graph, showing each merge once."""

    def __init__(self, study: Study, graph: MergeGraph, order: Order = "rank") -> None:
        self.study, self.graph, self.blamed = study, graph, study.blame()
        self.order = order
        self.last = graph.history[-1] if graph.history else Change({})
        self.rewired = {entry.merge: entry for entry in reversed(self.last.rewired)}
        self.changed = {*self.rewired, *self.last.added_merges}
        self.seen: set[int] = set()
        self.ids: set[str] = set()

    def name(self, number: int) -> str:
        """Return the readable text of a type, even if only a copy of the graph has it."""
        names = self.study.tokeniser.readable_types
        if number < len(names):
            return names[number]
        return self.study.tokeniser.readable(self.graph.types[number])

    def item(self, key: str, kind: Any, label: str, about: str, *more: Any) -> Item:
        """Return a vertex whose id is its key, with strokes added if that is already taken."""
        unique = key
        while unique in self.ids:
            unique += "′"
        self.ids.add(unique)
        return Item(unique, key, kind, label, about, *more)

    def type_item(self, number: int, *flags: str, lane: int | None = None) -> Item:
        """Return the vertex of a type."""
        name = shortened(self.name(number), _LONGEST)
        value, marks = math.nan, {*flags}
        if not self.graph.is_present(number):
            marks.add("ghost")
            about = "knocked out"
        elif producers := self.graph.incoming(number):
            about, value = self._figures(self.blamed.worst_of(producers))
        elif self.graph.types[number] in self.study.tokeniser.special:
            about = "special token"
        else:
            about = "atom: no merge makes it"
        key, told = type_key(number), f"{name}\n{about}"
        return self.item(key, "type", shortened(name, _TYPE), told, value, frozenset(marks), lane)

    def merge_item(self, number: int, merge: Merge, here: int | None = None) -> Item:
        """Return the vertex of a merge; ``here``: the type for which ▪ stands in it."""
        about, value, flags = "knocked out", math.nan, {"ghost"}
        if self.graph.has_merge(number):
            about, value = self._figures(number)
            flags = {"changed"} if number in self.changed else set()
        shown = [HERE if part == here else shortened(self.name(part), 40) for part in merge.parts]
        parts = " + ".join(self.name(part) for part in merge.parts)
        told = f"{shortened(f'{parts} → {self.name(merge.result)}', _LONGEST)}\n{about}"
        return self.item(
            merge_key(number), "merge", sum_label(shown), told, value, frozenset(flags)
        )

    def _figures(self, merge: int) -> tuple[str, float]:
        """Return the rank of a merge and what it is to blame for, and the blame ratio."""
        about = f"rank {self.graph.merge(merge).rank:,}"
        if not self.study.has_blame:
            return about, math.nan
        about = f"{about}\n{self.blamed.described(merge)}".rstrip()
        return about, self.blamed.shown_ratio(merge)

    def source(self, number: int, depth: int, lane: int | None = None) -> TypeOrigin:
        """Return a type and its derivation in ``depth`` steps; strands if it is removed."""
        item = self.type_item(number, *([] if self.ids else ["focus"]), lane=lane)
        if not self.graph.is_present(number):
            parts = enumerate(self.present_parts(number))
            return TypeOrigin(item, strands=[self.source(p, depth - 1, n) for n, p in parts])
        makers = []
        for merge in self.graph.incoming(number) if depth > 0 else ():
            box = self.merge_item(merge, self.graph.merge(merge))
            # Its parts are those before the last knockout changed them.
            entry = self.rewired.get(merge)
            was_cut = entry is not None and entry.cause == "knockout"
            before = entry.old_parts if entry and was_cut else self.graph.merge(merge).parts
            makers.append((box, [self.source(part, depth - 1) for part in before]))
        return TypeOrigin(item, makers)

    def present_parts(self, number: int) -> list[int]:
        """Return the present types that a removed one was made of; itself if it is present."""
        if self.graph.is_present(number):
            return [number]
        merges = (m for c in reversed(self.graph.history) for m in c.removed_merges.values())
        merge = next((merge for merge in merges if merge.result == number), None)
        parts = () if merge is None else merge.parts
        return [found for part in parts for found in self.present_parts(part)]

    def uses(
        self,
        focus: int,
        source: TypeOrigin,
        up: int,
        rows: int,
        created: Mapping[int, Collection[int]] | None = None,
    ) -> list[Use]:
        """Return rows for the merges that use a type, those ``created`` too; one for the rest."""
        if up < 1:
            return []
        strands = [int(strand.item.key[1:]) for strand in source.strands]
        chosen = [entry for entry in self._merges_with(focus) if entry[0] not in self.seen]
        shown = chosen[:rows]
        rest = len(chosen) - len(shown)
        ids = {number for number, _ in shown}
        created = created or {}
        for number, users in created.items():
            if not ids.isdisjoint(users) and number not in ids | self.seen:
                shown.append((number, self.graph.merge(number)))
        if created:
            shown.sort(key=lambda entry: entry[1].rank)
        self.seen.update(number for number, _ in shown)
        listed: list[Use] = []
        for number, merge in shown:
            lanes = tuple(n for n, part in enumerate(strands) if part in merge.parts)
            box = self.merge_item(number, merge, None if strands else focus)
            result = self.type_item(merge.result)
            if number in created:
                box.flags |= {"changed"}
            listed.append(Use(box, result, lanes=lanes if strands else None))
        share = max(_FEW, rows // max(1, len(shown)))
        for use in listed if up > 1 else ():
            if use.result and "ghost" not in use.result.flags:
                number = int(use.result.key[1:])
                use.uses = self.uses(number, TypeOrigin(use.result), up - 1, share)
        if rest:
            label = counted(rest, "more merge")
            about = f"{label} of {shortened(self.name(focus), 40)}"
            more = self.item(f"more{focus}", "more", label, about)
            listed.append(Use(more, lanes=tuple(range(len(strands))) or None))
        return listed

    def _merges_with(self, number: int) -> list[tuple[int, Merge]]:
        """Return the merges that use a type, or did when it was removed, in order.

        By rank, a merge that took it over from a type removed by the last edit follows that type's.
        """
        graph, removal = self.graph, self.last
        if graph.is_present(number):
            present = graph.outgoing(number)
        else:
            removal = graph.removal_of(number) or Change({})
            taken = {entry.merge for entry in removal.rewired if number in entry.old_parts}
            present = tuple(merge for merge in taken if graph.has_merge(merge))
        merges = {merge: graph.merge(merge) for merge in present}
        after: dict[int, int] = {}
        if removal is self.last:
            gone = {n: m for n, m in removal.removed_merges.items() if number in m.parts}
            after = {merge.result: merge.rank for merge in gone.values()}
            merges |= gone

        def place(entry: tuple[int, Merge]) -> tuple[float, ...]:
            merge, (rank, _, _) = entry
            change = self.rewired.get(merge)
            above = [after[part] for part in change.old_parts if part in after] if change else []
            at = self.blamed.place(merge) if self.order != "rank" else None
            figures: tuple[float, ...] = (1,)  # of what is gone: the last
            if at is not None:
                joins, wrong = -self.blamed.applied[at], -self.blamed.blamed[at]
                figures = (
                    (joins, wrong) if self.order == "joins" else (-self.blamed.ratio[at], wrong)
                )
            return *figures, (above[0] if above else rank), rank

        return sorted(merges.items(), key=place)


def sum_label(names: Sequence[str]) -> str:
    """Return the parts of a merge as shown in its box, shortened where needed.

    >>> sum_label(["it", "▪"])
    'it + ▪'
    >>> sum_label(["Donaudampfschifffahrtsgesellschaft", "▪"])
    'Donaudampfschifffahrt… + ▪'
    >>> len(sum_label(["Donaudampfschiff", "Kapitänsmütze", "s"])) <= 26
    True
    """
    whole = " + ".join(names)
    room = _BOX - 3 * (len(names) - 1)
    if len(whole) <= _BOX or room < 3 * len(names):
        return shortened(whole, _BOX)
    fits = (m for m in range(room, 0, -1) if sum(min(len(n), m) for n in names) <= room)
    most = next(fits)
    return " + ".join(shortened(name, most) for name in names)

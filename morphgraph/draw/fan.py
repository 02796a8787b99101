"""The neighbourhood of a type as a fan: its derivation, and a row for each merge with it.

The partner of a merge stands inside its box (``it + ▪``, where ▪ is the type in the middle), so
that nothing crosses. A removed type is a ghost, through which the strands of its parts run to the
merges that take them instead. A fan is plain data: `fan_layout` places its items, and a component
draws them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from morphgraph.core.text import counted, shortened
from morphgraph.draw.colours import blame_colour, ink_on
from morphgraph.draw.fan_layout import ROWS_HIGH, Edge, Item, TypeOrigin, Use, lay_out_fans
from morphgraph.graph.change import Change, Merge
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.type_atoms import TypeAtoms
from morphgraph.graph.view import merge_key, type_key
from morphgraph.refine.reify import preview_reification
from morphgraph.refine.study import Study

HERE: Final = "▪"
"""Stands for the type that all merges of a fan share."""
_TYPE, _BOX, _PART = 18, 26, 12
"""Characters drawn of a type's name, of a merge, and of a name in it."""
_LONGEST = 200
_FEW = 2
"""The least number of merges shown for a result when looking further up."""


@dataclass(frozen=True)
class Fan:
    """A drawing, and how many further merges use the type in the middle."""

    vertices: tuple[Item, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data, with the colours of both themes; NaN becomes None."""
        return {
            "vertices": [_drawn(item) for item in self.vertices],
            "edges": [
                {
                    "id": f"{edge.source}>{edge.target}>{'' if edge.lane is None else edge.lane}",
                    "source": edge.source,
                    "target": edge.target,
                    "path": _path(edge),
                    "lane": edge.lane,
                    "flags": sorted(edge.flags),
                }
                for edge in self.edges
            ],
        }


def _drawn(item: Item) -> dict[str, Any]:
    is_plain = item.kind == "more" or "ghost" in item.flags
    fills = [] if is_plain else [blame_colour(item.value, theme) for theme in ("light", "dark")]
    return {
        "id": item.id,
        "key": item.key,
        "kind": item.kind,
        "label": item.label,
        "about": item.about,
        "value": None if math.isnan(item.value) else round(item.value, 4),
        "x": round(item.x, 1),
        "y": round(item.y, 1),
        "width": item.width,
        "lane": item.lane,
        "flags": sorted(item.flags),
        "fills": fills,
        "inks": [ink_on(fill) for fill in fills],
    }


def _path(edge: Edge) -> str:
    """Return an edge as an SVG path."""
    x0, y0, bend, level, x1, y1 = (round(place, 1) for place in edge[2:8])
    middle = round((bend + level) / 2, 1)
    return f"M{x0} {y0}L{bend} {y0}C{middle} {y0} {middle} {y1} {level} {y1}L{x1} {y1}"


def fan_around(
    study: Study, focus: int, *, down: int = 1, up: int = 1, rows: int = 14, first: int = 0
) -> Fan:
    """Draw a present or removed type, ``down`` steps to its parts and ``up`` to longer types.

    The merges that use it come in order of rank, ``rows`` of them starting with index ``first``;
    vertices of the kind ``more`` stand for the others. Those that the last edit changed are marked.
    """
    made = _Fans(study, study.graph)
    source = made.source(focus, down)
    uses, left_out = made.uses(focus, source, up, rows, first)
    return _fan([(source, uses)], left_out)


def _fan(
    blocks: Sequence[tuple[TypeOrigin, Sequence[Use]]], left_out: int = 0, high: float = ROWS_HIGH
) -> Fan:
    items, edges = lay_out_fans(blocks, high)
    return Fan(tuple(items), tuple(edges), left_out)


# ------------------------------------------------------------------------------------- stages


@dataclass(frozen=True)
class Stages:
    """Chosen types before their knockout, after it, and after reification.

    ``knockout`` and ``reification`` are the two changes; neither has been made.
    """

    before: Fan
    knocked_out: Fan
    reified: Fan
    knockout: Change
    reification: Change


def stages(study: Study, types: Sequence[str], *, rows: int = 5) -> Stages:
    """Preview knocking types out, and then reifying the merges that used them.

    Only tuple merges that this knockout makes are repaired and reified. The fans, one below the
    other, show the same merges, ``rows`` in all, coloured by the current blame. Source: Bauwens &
    de Lhoneux 2026, Figure 1.
    """
    graph = study.graph.copy()
    numbers = [graph.ids[text] for text in types]
    knockout = graph.preview_knockout(types)

    rows = max(2, rows // len(numbers))

    def fan(created: Mapping[int, Collection[int]] | None = None) -> Fan:
        made = _Fans(study, graph)
        blocks = []
        for number in numbers:
            source = made.source(number, 1)
            uses, _ = made.uses(number, source, 1, rows, 0, created)
            blocks.append((source, uses))
        return _fan(blocks, high=0)

    before = fan()
    graph.apply(knockout)
    knocked_out = fan()
    affected = {entry.merge for entry in knockout.rewired}
    blacklist = {merge.parts for merge in knockout.removed_merges.values()}
    atoms = TypeAtoms(study.tokeniser.suffix)
    reification = preview_reification(graph, blacklist, atoms=atoms, among=affected)
    graph.apply(reification)
    new = {entry.merge: entry.tuple_merges for entry in reification.reified}
    return Stages(before, knocked_out, fan(new), knockout, reification)


# ------------------------------------------------------------------------------------- the parts


class _Fans:
    """Builds the parts of fans of one state of a graph, showing each merge once."""

    def __init__(self, study: Study, graph: MergeGraph) -> None:
        self.study, self.graph, self.blamed = study, graph, study.blame()
        self.names = study.tokeniser.readable_types
        last = graph.history[-1] if graph.history else Change({})
        self.last = last
        self.rewired = {entry.merge: entry for entry in reversed(last.rewired)}
        self.changed = {*self.rewired, *last.added_merges}
        self.seen: set[int] = set()
        self.ids: set[str] = set()

    # --- vertices

    def name(self, number: int) -> str:
        """Return the readable text of a type, even if only a copy of the graph has it."""
        if number < len(self.names):
            return self.names[number]
        return self.study.tokeniser.readable(self.graph.types[number])

    def unique(self, key: str) -> str:
        """Return a vertex's id: its key, with strokes added if that is already taken."""
        while key in self.ids:
            key += "′"
        self.ids.add(key)
        return key

    def type_item(self, number: int, *flags: str, lane: int | None = None) -> Item:
        """The vertex of a type."""
        graph = self.graph
        name = shortened(self.name(number), _LONGEST)
        value = math.nan
        marks = set(flags)
        if not graph.is_present(number):
            marks.add("ghost")
            about = "knocked out"
        elif producers := graph.incoming(number):
            merge = self.blamed.worst_of(producers)
            about = self._figures(graph.merge(merge), merge)
            value = self._value(merge)
        else:
            special = graph.types[number] in self.study.tokeniser.special
            about = "special token" if special else "atom: no merge makes it"
        return Item(
            self.unique(type_key(number)),
            type_key(number),
            "type",
            shortened(name, _TYPE),
            f"{name}\n{about}",
            value,
            frozenset(marks),
            lane,
        )

    def merge_item(self, number: int, merge: Merge, here: int | None = None) -> Item:
        """Return the vertex of a merge; ``here``: the type for which ▪ stands in it."""
        gone = not self.graph.has_merge(number)
        shown = [HERE if part == here else shortened(self.name(part), 40) for part in merge.parts]
        marks = {"ghost"} if gone else set()
        if number in self.changed and not gone:
            marks.add("changed")
        parts = " + ".join(self.name(part) for part in merge.parts)
        whole = shortened(f"{parts} → {self.name(merge.result)}", _LONGEST)
        about = "knocked out" if gone else self._figures(merge, number)
        return Item(
            self.unique(merge_key(number)),
            merge_key(number),
            "merge",
            sum_label(shown),
            f"{whole}\n{about}",
            math.nan if gone else self._value(number),
            frozenset(marks),
        )

    def more_item(self, focus: int, start: int, label: str) -> Item:
        """Return the vertex for merges that are not drawn; its key says where they begin."""
        key = f"more{start}:{focus}"
        name = shortened(self.name(focus), 40)
        about = f"{label} of {name}\nA click shows them."
        return Item(self.unique(key), key, "more", label, about)

    def _value(self, merge: int) -> float:
        position = self.blamed.place(merge)
        if position is None or not self.study.benchmark.texts:
            return math.nan
        return self.blamed.shown_ratio(position)

    def _figures(self, merge: Merge, number: int) -> str:
        rank = f"rank {merge.rank:,}"
        said = self.blamed.described(number) if self.study.benchmark.texts else ""
        return f"{rank}\n{said}".rstrip()

    # --- the left

    def source(self, number: int, depth: int, lane: int | None = None) -> TypeOrigin:
        """Return a type and its derivation in ``depth`` steps; strands if it is removed."""
        graph = self.graph
        is_first = not self.ids
        marks = ("focus",) if is_first else ()
        item = self.type_item(number, *marks, lane=lane)
        if not graph.is_present(number):
            parts = self.present_parts(number)
            made = [self.source(p, depth - 1, lane=n) for n, p in enumerate(parts)]
            return TypeOrigin(item, strands=made)
        makers = []
        for merge in graph.incoming(number) if depth > 0 else ():
            box = self.merge_item(merge, graph.merge(merge))
            parts_of = [self.source(part, depth - 1) for part in self.parts_before(merge)]
            makers.append((box, parts_of))
        return TypeOrigin(item, makers)

    def present_parts(self, number: int) -> list[int]:
        """Return the present types that a removed one was made of; itself if it is present."""
        if self.graph.is_present(number):
            return [number]
        merges = (m for c in reversed(self.graph.history) for m in c.removed_merges.values())
        merge = next((merge for merge in merges if merge.result == number), None)
        if merge is None:
            return []
        return [found for part in merge.parts for found in self.present_parts(part)]

    def parts_before(self, merge: int) -> Sequence[int]:
        """Return the parts of a merge before the last knockout changed them."""
        entry = self.rewired.get(merge)
        if entry is not None and entry.cause == "knockout":
            return entry.old_parts
        return self.graph.merge(merge).parts

    # --- the right

    def uses(
        self,
        focus: int,
        source: TypeOrigin,
        up: int,
        rows: int,
        first: int,
        created: Mapping[int, Collection[int]] | None = None,
    ) -> tuple[list[Use], int]:
        """Return rows for the merges that use a type, and the number of further ones.

        ``created``: merges, each to be shown with those of its users that are shown.
        """
        if up < 1:
            return [], 0
        strands = [int(strand.item.key[1:]) for strand in source.strands]
        found = self._merges_with(focus)
        chosen = [(n, merge) for n, merge in found.items() if n not in self.seen]
        first = max(0, min(first, len(chosen) - 1))
        shown = chosen[first : first + rows]
        rest = len(chosen) - first - len(shown)
        ids = {number for number, _ in shown}
        for number, users in (created or {}).items():
            if not ids.isdisjoint(users) and number not in ids | self.seen:
                shown.append((number, self.graph.merge(number)))
        if created:
            shown.sort(key=lambda entry: entry[1].rank)
        self.seen.update(number for number, _ in shown)
        listed: list[Use] = []
        if first:
            label = counted(first, "earlier merge")
            item = self.more_item(focus, max(0, first - rows), label)
            listed.append(Use(item, lanes=tuple(range(len(strands))) or None))
        here = None if strands else focus
        share = max(_FEW, rows // max(1, len(shown)))
        for number, merge in shown:
            lanes = tuple(n for n, part in enumerate(strands) if part in merge.parts)
            box = self.merge_item(number, merge, here)
            result = self.type_item(merge.result)
            use = Use(box, result, lanes=lanes if strands else None)
            if created and number in created:
                box.flags |= {"changed"}
            listed.append(use)
        for use in listed if up > 1 else ():
            if use.result and "ghost" not in use.result.flags:
                number = int(use.result.key[1:])
                use.uses, _ = self.uses(number, TypeOrigin(use.result), up - 1, share, 0)
        if rest:
            label = counted(rest, "more merge")
            item = self.more_item(focus, first + rows, label)
            listed.append(Use(item, lanes=tuple(range(len(strands))) or None))
        return listed, rest

    def _merges_with(self, number: int) -> dict[int, Merge]:
        """Return the merges that use a type, or did when it was removed, by rank.

        A merge that took it over from a type removed by the last edit follows that type's merge.
        """
        graph, last = self.graph, self.last
        if graph.is_present(number):
            present = graph.outgoing(number)
            removal = last
        else:
            removal = graph.removal_of(number) or Change({})
            taken = {entry.merge for entry in removal.rewired if number in entry.old_parts}
            present = tuple(merge for merge in taken if graph.has_merge(merge))
        gone = {n: merge for n, merge in removal.removed_merges.items() if number in merge.parts}
        if removal is not last:
            gone = {}
        after = {merge.result: merge.rank for merge in gone.values()}

        def place(entry: tuple[int, Merge]) -> tuple[int, int]:
            merge, (rank, _, _) = entry
            change = self.rewired.get(merge)
            above = [after[part] for part in change.old_parts if part in after] if change else []
            return (above[0] if above else rank), rank

        found = {merge: graph.merge(merge) for merge in present}
        return dict(sorted((found | gone).items(), key=place))


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
    if len(whole) <= _BOX:
        return whole
    room = _BOX - 3 * (len(names) - 1)
    if room < 3 * len(names):
        return shortened(whole, _BOX)
    fits = (m for m in range(room, 0, -1) if sum(min(len(n), m) for n in names) <= room)
    most = next(fits)
    return " + ".join(shortened(name, most) for name in names)

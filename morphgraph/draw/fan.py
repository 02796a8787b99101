"""The neighbourhood of a type as a fan: its derivation, and a row for each merge with it.

(see below)
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

from morphgraph.core.text import counted, shortened
from morphgraph.draw.colours import blame_colour, ink_on
from morphgraph.graph.arrays import TypeAtoms
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Merge
from morphgraph.graph.view import merge_key, type_key
from morphgraph.refine.rebpe_phases import preview_reification
from morphgraph.refine.study import Study

Kind = Literal["type", "merge", "more"]

FONT = 14.0
ADVANCE = 0.6 * FONT  # the width of a character of Source Code Pro, the app's monospaced font
HEIGHT = 30.0  # of a label's box
PADDING = 12.0  # beside its text
ROWS_HIGH = 600.0  # target height of the rows
PITCH = (36.0, 54.0)  # the least and the greatest distance between two of them
PART = 58.0  # between two parts
GAP = 34.0  # between a merge and what it makes
BEND = 50.0  # room for edges to bend
FAN = 96.0  # room for the edges of the middle
GHOST = 24.0  # height of a removed type's name above its strands
BLOCK = 40.0  # between two fans, one below the other


@dataclass
class Item:
    """A vertex: its label, and once laid out the centre (x, y) of its box.

    ``id`` is unique in a scene; ``key`` is that of the type or merge, which may occur several
    times. ``value``: the blame ratio or NaN. ``lane``: the index of its strand.
    """

    id: str
    key: str
    kind: Kind
    label: str
    about: str
    value: float = float("nan")
    flags: frozenset[str] = frozenset()
    lane: int | None = None
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """The width of its box."""
        return label_width(self.label)

    @property
    def level(self) -> float:
        """The height at which edges meet it: a removed type's name stands above them."""
        return self.y + (GHOST if "ghost" in self.flags and self.kind == "type" else 0.0)


class Edge(NamedTuple):
    """A line from one vertex to another: level, then bent between two places, then level.

    From (x0, y0) level to x = ``bend``, in a curve to (``level``, y1), level to x1. ``lane``: the
    index of the strand; None for a plain edge. ``flags``: ``focus`` (from the middle), ``ghost``.
    """

    source: str
    target: str
    x0: float
    y0: float
    bend: float
    level: float
    x1: float
    y1: float
    lane: int | None = None
    flags: frozenset[str] = frozenset()


@dataclass
class TypeOrigin:
    """A type at the left with the merges that make it, and their parts.

    A removed type has no merge: its ``strands`` run through it.
    """

    item: Item
    makers: list[tuple[Item, list[TypeOrigin]]] = field(default_factory=list)
    strands: list[TypeOrigin] = field(default_factory=list)

    def below(self) -> list[TypeOrigin]:
        """Everything drawn below it."""
        return self.strands or [part for _, parts in self.makers for part in parts]


@dataclass
class Use:
    """A merge at the right, its result, and the merges that use that in turn.

    ``lanes``: the strands that lead into it; None for an edge from the type itself.
    """

    item: Item
    result: Item | None = None
    uses: list[Use] = field(default_factory=list)
    lanes: tuple[int, ...] | None = None


def label_width(label: str) -> float:
    """Return the width of a label's box in the monospaced font; wide characters count twice.

    >>> label_width("ies") < label_width("it + ▪")
    True
    """
    places = sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in label
    )
    return round(max(HEIGHT + 4, places * ADVANCE + 2 * PADDING), 1)


def lay_out_fans(
    blocks: Sequence[tuple[TypeOrigin, Sequence[Use]]], high: float = ROWS_HIGH
) -> tuple[list[Item], list[Edge]]:
    """Place fans one below the other, the first with its middle at (0, 0); return all items.

    ``high``: the target height of each one's rows.
    """
    items: list[Item] = []
    edges: list[Edge] = []
    bottom = None
    for source, uses in blocks:
        here = [*_items_of(source), *_items_of_uses(uses)]
        drawn = _place_left(source)
        drawn += _place_right(source, uses, high)
        if bottom is not None:
            top = min(item.y for item in here) - HEIGHT / 2
            shift = bottom + BLOCK - top
            for item in here:
                item.y += shift
            drawn = [edge._replace(y0=edge.y0 + shift, y1=edge.y1 + shift) for edge in drawn]
        bottom = max(item.level for item in here) + HEIGHT / 2
        items += here
        edges += drawn
    return items, edges


def _items_of(source: TypeOrigin) -> Iterator[Item]:
    for part in source.below():
        yield from _items_of(part)
    for box, _ in source.makers:
        yield box
    yield source.item


def _items_of_uses(uses: Sequence[Use]) -> Iterator[Item]:
    for use in uses:
        yield use.item
        if use.result:
            yield use.result
        yield from _items_of_uses(use.uses)


# ------------------------------------------------------------------------------------- the left


def _place_left(root: TypeOrigin) -> list[Edge]:
    """Place the derivation of a type around (0, 0), and draw its edges."""
    rows = _heights(root, 0.0)
    _shift(root, -rows)
    columns: list[list[TypeOrigin]] = [[root]]
    while below := [part for source in columns[-1] for part in source.below()]:
        columns.append(below)
    edges: list[Edge] = []
    right = root.item.width / 2
    for sources, deeper in zip(columns, [*columns[1:], []], strict=True):
        left = right - max(source.item.width for source in sources)
        for source in sources:
            source.item.x = right - source.item.width / 2
        boxes = [box for source in sources for box, _ in source.makers]
        several = any(len(source.makers) > 1 for source in sources)
        box_right = left - (BEND if several else GAP)
        box_left = box_right - max((box.width for box in boxes), default=0.0)
        if not boxes:
            box_left = left
        part_right = box_left - BEND
        for source in sources:
            y = source.item.level
            for box, parts in source.makers:
                box.x = box_left + box.width / 2
                end = source.item.x - source.item.width / 2
                start = box.x + box.width / 2
                edges.append(Edge(box.id, source.item.id, start, box.y, box_right, left, end, y))
                for part in parts:
                    edges += _strands(
                        part, box.id, part_right, box_left, box.x - box.width / 2, box.y
                    )
            for lane, part in enumerate(source.strands):
                offset = lane_offset(lane, len(source.strands))
                end = source.item.x + source.item.width / 2
                edges += _strands(part, source.item.id, part_right, left, end, y + offset, lane)
        right = part_right
        if not deeper:
            break
    return edges


def _strands(
    part: TypeOrigin,
    target: str,
    bend: float,
    level: float,
    end: float,
    y: float,
    lane: int | None = None,
) -> list[Edge]:
    """Return the edges from a part to its target: one, or the strands of a removed part."""
    item = part.item
    if not part.strands:
        # Its start, the right edge, is only known when its own column is placed.
        return [Edge(item.id, target, bend, item.level, bend, level, end, y, lane)]
    count = len(part.strands)
    return [
        Edge(
            item.id,
            target,
            bend,
            item.level + lane_offset(n, count),
            bend,
            level,
            end,
            y + lane_offset(n, count),
            n,
        )
        for n in range(count)
    ]


def lane_offset(lane: int, count: int) -> float:
    """Return the offset of a strand from the middle of all.

    >>> [lane_offset(lane, 2) for lane in range(2)]
    [-2.5, 2.5]
    """
    return (lane - (count - 1) / 2) * min(5.0, 18.0 / max(1, count - 1))


def _heights(source: TypeOrigin, top: float) -> float:
    """Give each part a row, from ``top`` down, and others the middle of theirs; return it."""
    return _stack(source, [top])


def _stack(source: TypeOrigin, cursor: list[float]) -> float:
    places = []
    for box, parts in source.makers:
        box.y = _middle([_stack(part, cursor) for part in parts])
        places.append(box.y)
    places += [_stack(part, cursor) for part in source.strands]
    if places:
        level = _middle(places)
    else:
        level = cursor[0]
        cursor[0] += PART
    source.item.y += level - source.item.level
    return level


def _middle(places: Sequence[float]) -> float:
    return (places[0] + places[-1]) / 2


def _shift(source: TypeOrigin, by: float) -> None:
    for item in _items_of(source):
        item.y += by


# ------------------------------------------------------------------------------------- the right


def _place_right(root: TypeOrigin, uses: Sequence[Use], high: float) -> list[Edge]:
    """Place the merges that use a type at (0, 0), and their results, and draw their edges."""
    count = sum(map(_rows, uses))
    if not count:
        return []
    pitch = min(max(high / count, PITCH[0]), PITCH[1])
    cursor = [-(count - 1) / 2 * pitch]
    for use in uses:
        _stack_use(use, cursor, pitch)
    edges: list[Edge] = []
    middle = root.item
    start = middle.x + middle.width / 2
    lanes = len(root.strands)
    origin: list[tuple[Item, float, Sequence[Use]]] = [(middle, start, uses)]
    bend, gap = start, FAN
    while origin:
        column = list(chain.from_iterable(following for _, _, following in origin))
        box_left = bend + gap
        box_right = box_left + max(use.item.width for use in column)
        result_left = box_right + GAP
        for item, right, following in origin:
            for use in following:
                use.item.x = box_left + use.item.width / 2
                y0 = item.level
                for lane in (None,) if use.lanes is None else use.lanes:
                    shift = 0.0 if lane is None else lane_offset(lane, lanes)
                    flags = {"focus"} if item is middle and lane is None else set()
                    flags |= use.item.flags & {"ghost"}
                    edges.append(
                        Edge(
                            item.id,
                            use.item.id,
                            right,
                            y0 + shift,
                            bend,
                            box_left,
                            box_left,
                            use.item.y + shift,
                            lane,
                            frozenset(flags),
                        )
                    )
                if use.result:
                    use.result.x = result_left + use.result.width / 2
                    ends = use.item.x + use.item.width / 2, use.result.x - use.result.width / 2
                    y = use.item.y
                    ghost = use.item.flags & {"ghost"}
                    edges.append(
                        Edge(
                            use.item.id,
                            use.result.id,
                            ends[0],
                            y,
                            *ends[1:],
                            ends[1],
                            ends[1],
                            y,
                            None,
                            ghost,
                        )
                    )
        origin = [
            (use.result, use.result.x + use.result.width / 2, use.uses)
            for use in column
            if use.result and use.uses
        ]
        bend = max((use.result.x + use.result.width / 2 for use in column if use.result), default=0)
        gap = BEND
    return edges


def _rows(use: Use) -> int:
    return max(1, sum(map(_rows, use.uses)))


def _stack_use(use: Use, cursor: list[float], pitch: float) -> float:
    places = [_stack_use(following, cursor, pitch) for following in use.uses]
    if not places:
        places = [cursor[0]]
        cursor[0] += pitch
    use.item.y = _middle(places)
    if use.result:
        use.result.y = use.item.y
    return use.item.y


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

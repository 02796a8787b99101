"""The layout of a fan in columns, with edges bending only in the gaps between them.

At the left is the derivation tree of a type, then the type, then one row for each merge that uses
it, followed by its result. Labels of each kind have their own column, and everything below a vertex
lies within its rows; edges are level within columns. So no edge runs behind a label.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple

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

"""The layout of a fan in columns, with edges bending only in the gaps between them.

At the left is the derivation tree of a type, then the type, then one row for each merge that uses
it, followed by its result. Labels of each kind have their own column, and everything below a vertex
lies within its rows; edges are level within columns. So no edge runs behind a label.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, NamedTuple

from morphgraph.draw import blame_colour, ink_on

ADVANCE = 8.4  # the width of a character of Source Code Pro, the app's monospaced font, at 14 px
HEIGHT = 30.0  # of a label's box
PADDING = 12.0  # beside its text
ROWS_HIGH = 600.0  # target height of the rows; the middle stands halfway down
PITCH = (36.0, 54.0)  # the least and the greatest distance between two of them
PART = 58.0  # between two parts
GAP = 20.0  # between a merge and what it makes
BEND = 32.0  # room for edges to bend
FAN = 60.0  # room for the edges of the middle
GHOST = 24.0  # height of a removed type's name above its strands
BLOCK = 40.0  # between two fans, one below the other


@dataclass
class Item:
    """A vertex: its label, its ``key`` in the graph, and once laid out its centre (x, y)."""

    id: str
    key: str
    kind: Literal["type", "merge", "more"]
    label: str
    about: str
    value: float = float("nan")
    flags: frozenset[str] = frozenset()
    lane: int | None = None
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """The width of its box; wide characters count twice."""
        places = sum(
            0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
            for c in self.label
        )
        return round(max(HEIGHT + 4, places * ADVANCE + 2 * PADDING), 1)

    @property
    def left(self) -> float:
        """The left edge of its box."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """The right edge of its box."""
        return self.x + self.width / 2

    @property
    def level(self) -> float:
        """The height at which edges meet it: a removed type's name stands above them."""
        return self.y + (GHOST if "ghost" in self.flags and self.kind == "type" else 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data, with the colours of both themes; NaN becomes None."""
        is_plain = self.kind == "more" or "ghost" in self.flags
        fills = [] if is_plain else [blame_colour(self.value, theme) for theme in ("light", "dark")]
        return {
            **{name: getattr(self, name) for name in ("id", "key", "kind", "label", "about")},
            "value": None if math.isnan(self.value) else round(self.value, 4),
            "x": round(self.x, 1),
            "y": round(self.y, 1),
            "width": self.width,
            "lane": self.lane,
            "flags": sorted(self.flags),
            "fills": fills,
            "inks": [ink_on(fill) for fill in fills],
        }


class Edge(NamedTuple):
    """A line from (x0, y0) level to x = ``bend``, in a curve to (``level``, y1), level to x1.

    ``lane``: the index of the strand; None for a plain edge. ``flags``: ``focus``, ``ghost``.
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

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data, with the line as an SVG path."""
        x0, y0, bend, level, x1, y1 = (round(place, 1) for place in self[2:8])
        middle = round((bend + level) / 2, 1)
        return {
            "id": f"{self.source}>{self.target}>{'' if self.lane is None else self.lane}",
            "source": self.source,
            "target": self.target,
            "path": f"M{x0} {y0}L{bend} {y0}C{middle} {y0} {middle} {y1} {level} {y1}L{x1} {y1}",
            "lane": self.lane,
            "flags": sorted(self.flags),
        }


@dataclass(frozen=True)
class Fan:
    """A drawing."""

    vertices: tuple[Item, ...]
    edges: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data, with the colours of both themes; NaN becomes None."""
        return {
            "vertices": [item.to_dict() for item in self.vertices],
            "edges": [edge.to_dict() for edge in self.edges],
        }


@dataclass
class TypeOrigin:
    """A type with the merges that make it, and their parts, or strands if it is removed."""

    item: Item
    makers: list[tuple[Item, list[TypeOrigin]]] = field(default_factory=list)
    strands: list[TypeOrigin] = field(default_factory=list)

    def below(self) -> list[TypeOrigin]:
        """Everything drawn below it."""
        return self.strands or [part for _, parts in self.makers for part in parts]

    def items(self) -> Iterator[Item]:
        """Every vertex, the deepest first."""
        for part in self.below():
            yield from part.items()
        for box, _ in self.makers:
            yield box
        yield self.item


@dataclass
class Use:
    """A merge, its result, and the merges that use that; ``lanes``: strands into it."""

    item: Item
    result: Item | None = None
    uses: list[Use] = field(default_factory=list)
    lanes: tuple[int, ...] | None = None

    def items(self) -> Iterator[Item]:
        """Every vertex, from left to right."""
        yield self.item
        if self.result:
            yield self.result
        for use in self.uses:
            yield from use.items()


def lay_out_fans(
    blocks: Sequence[tuple[TypeOrigin, Sequence[Use]]], high: float = ROWS_HIGH
) -> Fan:
    """Place fans one below the other, each ``high`` in all, the first with its middle at (0, 0)."""
    items: list[Item] = []
    edges: list[Edge] = []
    bottom = None
    for source, uses in blocks:
        here = [*source.items(), *chain.from_iterable(use.items() for use in uses)]
        drawn = _place_left(source)
        drawn += _place_right(source, uses, high)
        if bottom is not None:
            shift = bottom + BLOCK - min(item.y for item in here) + HEIGHT / 2
            for item in here:
                item.y += shift
            drawn = [edge._replace(y0=edge.y0 + shift, y1=edge.y1 + shift) for edge in drawn]
        bottom = max(item.level for item in here) + HEIGHT / 2
        items += here
        edges += drawn
    return Fan(tuple(items), tuple(edges))


def _place_left(root: TypeOrigin) -> list[Edge]:
    """Place the derivation of a type around (0, 0), and draw its edges."""
    middle = _stack(root, [0.0])
    for item in root.items():
        item.y -= middle
    column, right = [root], root.item.width / 2
    edges: list[Edge] = []
    while column:
        left = right - max(source.item.width for source in column)
        for source in column:
            source.item.x = right - source.item.width / 2
        boxes = [box for source in column for box, _ in source.makers]
        several = any(len(source.makers) > 1 for source in column)
        box_right = left - (BEND if several else GAP)
        box_left = box_right - max(box.width for box in boxes) if boxes else left
        right = box_left - BEND
        for source in column:
            target, y = source.item, source.item.level
            for box, parts in source.makers:
                box.x = box_left + box.width / 2
                ends = (box.right, box.y, box_right, left, target.left, y)
                edges.append(Edge(box.id, target.id, *ends))
                for part in parts:
                    edges += _strands(part, box.id, (right, box_left, box.left), box.y)
            for lane, part in enumerate(source.strands):
                place = y + lane_offset(lane, len(source.strands))
                edges += _strands(part, target.id, (right, left, target.right), place, lane)
        column = [part for source in column for part in source.below()]
    return edges


def _strands(
    part: TypeOrigin,
    target: str,
    along: tuple[float, float, float],
    y: float,
    lane: int | None = None,
) -> list[Edge]:
    """Return the edges from a part, or its strands; ``along``: where they bend, level and end."""
    bend, level, end = along
    item, count = part.item, len(part.strands)
    lanes: list[tuple[int | None, float]] = [(n, lane_offset(n, count)) for n in range(count)]
    # Their start, the right edge, is only known when its own column is placed.
    return [
        Edge(item.id, target, bend, item.level + shift, bend, level, end, y + shift, own)
        for own, shift in lanes or [(lane, 0.0)]
    ]


def lane_offset(lane: int, count: int) -> float:
    """Return the offset of a strand from the middle of all.

    >>> [lane_offset(lane, 2) for lane in range(2)]
    [-2.5, 2.5]
    """
    return (lane - (count - 1) / 2) * min(5.0, 18.0 / max(1, count - 1))


def _stack(source: TypeOrigin, cursor: list[float]) -> float:
    """Give each part a row, from the cursor down, and others the middle of theirs; return it."""
    places = []
    for box, parts in source.makers:
        box.y = _middle([_stack(part, cursor) for part in parts])
        places.append(box.y)
    places += [_stack(part, cursor) for part in source.strands]
    if not places:
        places = [cursor[0]]
        cursor[0] += PART
    level = _middle(places)
    source.item.y += level - source.item.level
    return level


def _middle(places: Sequence[float]) -> float:
    return (places[0] + places[-1]) / 2


def _place_right(root: TypeOrigin, uses: Sequence[Use], high: float) -> list[Edge]:
    """Place the merges that use a type at (0, 0), and their results, and draw their edges."""
    count = sum(map(_rows, uses))
    if not count:
        return []
    pitch = min(max(high / count, PITCH[0]), PITCH[1])
    cursor = [-min((count - 1) * pitch, ROWS_HIGH) / 2]  # many go on below
    for use in uses:
        _stack_use(use, cursor, pitch)
    edges: list[Edge] = []
    middle, lanes = root.item, len(root.strands)
    origin: list[tuple[Item, Sequence[Use]]] = [(middle, uses)]
    bend, gap = middle.right, FAN
    while origin:
        column = list(chain.from_iterable(following for _, following in origin))
        box_left = bend + gap
        result_left = box_left + max(use.item.width for use in column) + GAP
        for item, following in origin:
            for use in following:
                box, y0, y = use.item, item.level, use.item.y
                box.x = box_left + box.width / 2
                ghost = box.flags & {"ghost"}
                for lane in (None,) if use.lanes is None else use.lanes:
                    shift = 0.0 if lane is None else lane_offset(lane, lanes)
                    way = (item.right, y0 + shift, bend, box_left, box_left, y + shift)
                    focus = {"focus"} if item is middle and lane is None else set()
                    edges.append(Edge(item.id, box.id, *way, lane, ghost | focus))
                if result := use.result:
                    result.x = result_left + result.width / 2
                    end = result.left
                    way = (box.right, y, end, end, end, y)
                    edges.append(Edge(box.id, result.id, *way, None, ghost))
        bend = max((use.result.right for use in column if use.result), default=0)
        origin = [(use.result, use.uses) for use in column if use.result and use.uses]
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

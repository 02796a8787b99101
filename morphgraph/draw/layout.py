"""Where each vertex of a merge graph is drawn: atoms at the left, long types at the right.

The layout is layered. A type and the merges that produce it are laid out as one row, the *unit*
``parts used nowhere else → merge → type``, because they are read together; units are put into
layers by longest path, ordered within a layer by barycentre sweeps (Sugiyama, Tagawa & Toda 1981),
and pulled towards their neighbours as far as the spacing allows. A layer that would be much taller
than the others is set in several columns, so that a neighbourhood of 300 vertices still fits a
screen at a readable size. An edge always points to the right.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

import networkx as nx

from morphgraph.core.text import shortened

Position = tuple[float, float]

LONGEST_LABEL = 24  # characters of a label that are drawn; longer ones are cut with an ellipsis
ROW = 39.0  # vertical distance between two neighbours
TYPE_HEIGHT = 30.0
MERGE_HEIGHT = 24.0
INNER_GAP = 26.0  # part → merge → type within a unit
COLUMN_GAP = 38.0  # between the columns of one layer
LAYER_GAP = 76.0  # between layers: room for the edges to fan out
ASPECT = 2.0  # width : height of the surface that is drawn on
SWEEPS = 4
RELAXATIONS = 4


@lru_cache(maxsize=20_000)
def vertex_size(label: str, kind: str) -> tuple[float, float]:
    """Return the room (width, height) that a vertex needs, on the generous side of any font.

    >>> vertex_size("a", "type")
    (30.0, 30.0)
    >>> vertex_size("ing", "type") < vertex_size("ungen", "type")
    True
    """
    em = 0.0
    for character in shortened(label, LONGEST_LABEL):
        if unicodedata.combining(character):
            continue
        if unicodedata.east_asian_width(character) in "WF":
            em += 1.05
        elif character.isdigit():
            em += 0.62
        elif character.isupper() or character in "mw—…@%&":
            em += 0.78
        else:
            em += 0.58
    if kind == "merge":
        return max(28.0, round(12 * em + 16, 1)), MERGE_HEIGHT
    return max(30.0, round(15 * em + 18, 1)), TYPE_HEIGHT


def natural_order(graph: nx.DiGraph, key: Hashable) -> tuple[float, int, str, str]:
    """Return a sort key that does not depend on the order in which the graph was built."""
    attributes = graph.nodes[key]
    rank = attributes.get("rank")
    if rank is None:
        ranks = [graph.nodes[p].get("rank") for p in graph.predecessors(key)]
        rank = min((r for r in ranks if r is not None), default=-1)
    text = str(key)
    digits = text.lstrip("tm")
    return float(rank), int(digits) if digits.isdecimal() else 0, digits, text


def layered_positions(graph: nx.DiGraph, *, focus: str | None = None) -> dict[str, Position]:
    """Return the centre (x, y) of each vertex; x grows along every edge, y grows downwards.

    The graph must be acyclic, as a merge graph is: a result is longer than its parts. Vertex
    attributes read: ``kind``, ``label``, ``rank``, ``atom``. The focus lies at y = 0.
    Coordinates are whole numbers. The same input always gives the same output, and no two
    vertices overlap.

    >>> graph = nx.DiGraph([("t0", "m2"), ("t1", "m2"), ("m2", "t2")])
    >>> for key in graph:
    ...     graph.nodes[key].update(kind="merge" if key == "m2" else "type", label=key)
    >>> positions = layered_positions(graph, focus="t2")
    >>> positions["t0"][0] < positions["m2"][0] < positions["t2"][0]
    True
    >>> positions["t2"][1]
    0.0
    """
    if len(graph) == 0:
        return {}
    positions = _fresh(graph)
    dy = positions[focus][1] if focus in positions else 0.0
    # Whole numbers: vis-network cuts off the rest.
    return {key: (float(round(x)), float(round(y - dy))) for key, (x, y) in positions.items()}


def _size(graph: nx.DiGraph, key: str) -> tuple[float, float]:
    attributes = graph.nodes[key]
    return vertex_size(str(attributes.get("label", key)), attributes.get("kind", "type"))


def _topological(graph: nx.DiGraph) -> list[str]:
    return list(
        nx.lexicographical_topological_sort(graph, key=lambda key: natural_order(graph, key))
    )


@dataclass(slots=True)
class _Unit:
    """A row of the drawing: merges, the type they produce, and parts used nowhere else."""

    main: str
    merges: list[str] = field(default_factory=list)
    parts: dict[str, list[str]] = field(default_factory=dict)  # merge → its own parts
    layer: int = 0
    height: float = ROW
    y: float = 0.0
    widths: tuple[float, float, float] = (0.0, 0.0, 0.0)  # parts, merges, type


def _fresh(graph: nx.DiGraph) -> dict[str, Position]:
    units, unit_of = _units(graph, _topological(graph))
    order = nx.DiGraph()
    order.add_nodes_from(range(len(units)))
    edges = sorted((unit_of[source], unit_of[target]) for source, target in graph.edges)
    order.add_edges_from((source, target) for source, target in edges if source != target)
    _assign_layers(graph, units, order)
    columns = _columns(units, _ordered_layers(graph, units, order))
    _relax(units, columns, order)
    return _spread(graph, units, columns)


def _units(graph: nx.DiGraph, keys: Sequence[str]) -> tuple[list[_Unit], dict[str, int]]:
    """Group the vertices into units, in topological order of their main vertices."""
    kinds = {key: graph.nodes[key].get("kind", "type") for key in keys}
    owner = dict.fromkeys(keys, "")
    for key in keys:
        after = list(graph.successors(key))
        if kinds[key] == "merge" and len(after) == 1 and kinds[after[0]] == "type":
            owner[key] = after[0]
    parts: dict[str, list[str]] = {}
    for key in keys:
        after = list(graph.successors(key))
        if (
            kinds[key] == "type"
            and graph.in_degree(key) == 0
            and len(after) == 1
            and kinds[after[0]] == "merge"
            and graph.in_degree(after[0]) > 1
            and not graph.nodes[key].get("atom")
        ):
            own = parts.setdefault(after[0], [])
            if len(own) + 1 < graph.in_degree(after[0]):
                own.append(key)
                owner[key] = owner[after[0]] or after[0]
    units: list[_Unit] = []
    unit_of: dict[str, int] = {}
    for key in keys:
        if not owner[key]:
            unit_of[key] = len(units)
            units.append(_Unit(key))
    for key in keys:
        if owner[key]:
            unit = units[unit_of[owner[key]]]
            unit_of[key] = unit_of[owner[key]]
            if kinds[key] == "merge":
                unit.merges.append(key)
    for unit in units:
        merges = unit.merges or ([unit.main] if kinds[unit.main] == "merge" else [])
        for merge in merges:
            if parts.get(merge):
                unit.parts[merge] = parts[merge]
        rows = sum(max(1, len(unit.parts.get(merge, ()))) for merge in merges)
        unit.height = ROW * max(1, rows)
        unit.widths = (
            max((_size(graph, p)[0] for own in unit.parts.values() for p in own), default=0.0),
            max((_size(graph, merge)[0] for merge in unit.merges), default=0.0),
            _size(graph, unit.main)[0],
        )
    return units, unit_of


def _assign_layers(graph: nx.DiGraph, units: Sequence[_Unit], order: nx.DiGraph) -> None:
    """Layer = longest path; a source other than an atom moves right, next to what it is part of."""
    for layer, generation in enumerate(nx.topological_generations(order)):
        for i in generation:
            units[i].layer = layer
    for i, unit in enumerate(units):
        if not order.pred[i] and order.succ[i] and not graph.nodes[unit.main].get("atom"):
            unit.layer = min(units[j].layer for j in order.succ[i]) - 1


def _ordered_layers(
    graph: nx.DiGraph, units: Sequence[_Unit], order: nx.DiGraph
) -> list[list[int]]:
    """Order the units of each layer."""
    rank = {i: natural_order(graph, unit.main) for i, unit in enumerate(units)}
    layers: list[list[int]] = [[] for _ in range(max(unit.layer for unit in units) + 1)]
    for i in sorted(range(len(units)), key=rank.__getitem__):
        layers[units[i].layer].append(i)
    place = [0.0] * len(units)

    def settle(layer: list[int]) -> None:
        for n, i in enumerate(layer):
            place[i] = (n + 0.5) / len(layer)

    for layer in layers:
        settle(layer)
    for sweep in range(SWEEPS):
        rightward = sweep % 2 == 0
        neighbours = order.pred if rightward else order.succ
        for layer in layers if rightward else reversed(layers):
            wish = {i: _mean([place[j] for j in neighbours[i] or (i,)]) for i in layer}
            layer.sort(key=lambda i, wish=wish: (round(wish[i], 9), rank[i]))  # type: ignore[misc]
            settle(layer)
    return layers


def _mean(places: Sequence[float]) -> float:
    return sum(places) / len(places)


def _columns(units: Sequence[_Unit], layers: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """Set each layer in as many columns as let the whole drawing be shown largest."""
    rows = [sum(units[i].height for i in layer) for layer in layers]
    counts = dict.fromkeys(
        tuple(math.ceil(total / (ROW * n)) for total in rows)
        for n in range(5, 5 + math.ceil(max(rows) / ROW))
    )
    tried = (
        [_set_in_columns(units, layer, n) for layer, n in zip(layers, count, strict=True)]
        for count in counts
    )
    result = min(tried, key=lambda layers: _extent(units, layers))
    for columns in result:
        for column in columns:
            top = -sum(units[i].height for i in column) / 2
            for i in column:
                units[i].y = top + units[i].height / 2
                top += units[i].height
    return result


def _extent(units: Sequence[_Unit], layers: Sequence[Sequence[Sequence[int]]]) -> float:
    """How large a surface must be to show all columns of all layers."""
    columns = [column for layer in layers for column in layer]
    width = LAYER_GAP * len(layers) + sum(
        sum(_column_widths(units, column)) + 2 * INNER_GAP + COLUMN_GAP for column in columns
    )
    height = max(sum(units[i].height for i in column) for column in columns)
    return max(width / ASPECT, height)


def _set_in_columns(units: Sequence[_Unit], layer: Sequence[int], count: int) -> list[list[int]]:
    """Deal a layer out row by row, each unit to the column that is shortest so far."""
    columns: list[list[int]] = [[] for _ in range(count)]
    filled = [0.0] * count
    for i in layer:
        column = filled.index(min(filled))
        columns[column].append(i)
        filled[column] += units[i].height
    return [column for column in columns if column]


def _column_widths(units: Sequence[_Unit], column: Sequence[int]) -> list[float]:
    return [max(units[i].widths[k] for i in column) for k in range(3)]


def _relax(
    units: Sequence[_Unit], layers: Sequence[Sequence[Sequence[int]]], order: nx.DiGraph
) -> None:
    """Pull each unit towards the middle of its neighbours, keeping order and spacing."""
    columns = [column for layer in layers for column in layer]
    bound = max(sum(units[i].height for i in column) for column in columns) / 2
    for sweep in range(RELAXATIONS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            for column in layer:
                near = ([*order.pred[i], *order.succ[i]] or [i] for i in column)
                wishes = [_mean([units[j].y for j in each]) for each in near]
                heights = [units[i].height for i in column]
                for i, y in zip(column, _spaced(wishes, heights, bound), strict=True):
                    units[i].y = y


def _spaced(wishes: Sequence[float], heights: Sequence[float], bound: float) -> list[float]:
    """Return the places nearest to the wishes (least squares) that keep order and spacing.

    Pool adjacent violators on the wishes less the room taken by what stands above, then clipped
    so that everything lies within ±bound.

    >>> _spaced([0.0, 0.0, 100.0], [10.0, 10.0, 10.0], 200.0)
    [-5.0, 5.0, 100.0]
    >>> _spaced([0.0, 0.0, 100.0], [10.0, 10.0, 10.0], 20.0)
    [-5.0, 5.0, 15.0]
    """
    total = sum(heights)
    offsets = [end - height / 2 for end, height in zip(accumulate(heights), heights, strict=True)]
    blocks: list[tuple[float, int]] = []  # (mean, count)
    for wish, offset in zip(wishes, offsets, strict=True):
        mean, count = wish - offset, 1
        while blocks and blocks[-1][0] > mean:
            last, size = blocks.pop()
            mean = (last * size + mean * count) / (size + count)
            count += size
        blocks.append((mean, count))
    levels = [min(max(mean, -bound), bound - total) for mean, count in blocks for _ in range(count)]
    return [level + offset for level, offset in zip(levels, offsets, strict=True)]


def _spread(
    graph: nx.DiGraph, units: Sequence[_Unit], layers: Sequence[Sequence[Sequence[int]]]
) -> dict[str, Position]:
    """Turn units into positions of vertices, column by column from the left."""
    positions: dict[str, Position] = {}
    left = 0.0
    for layer in layers:
        for column in layer:
            parts, merges, types = _column_widths(units, column)
            # Merges and parts stand next to their type: flush at the right edge of their columns.
            part_end = left + parts
            merge_end = part_end + (INNER_GAP if parts else 0.0) + merges
            left = merge_end + (INNER_GAP if merges else 0.0)
            for unit in (units[i] for i in column):
                # A type with a merge starts where its column starts; one without is centred.
                width = unit.widths[2] if unit.merges else types
                positions[unit.main] = (left + width / 2, unit.y)
                top = unit.y - unit.height / 2
                for merge in unit.merges or list(unit.parts):
                    own = unit.parts.get(merge, [])
                    height = ROW * max(1, len(own))
                    if merge != unit.main:
                        x = merge_end - _size(graph, merge)[0] / 2
                        positions[merge] = (x, top + height / 2)
                    for n, part in enumerate(own):
                        x = part_end - _size(graph, part)[0] / 2
                        positions[part] = (x, top + ROW * (n + 0.5))
                    top += height
            left += types + COLUMN_GAP
        left += LAYER_GAP - COLUMN_GAP
    return positions

"""The drawing of a merge graph as plain data: vertices, positions and states.

A scene is independent of the program that draws it: the graph component of the app and the
stand-alone HTML export read the same one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import networkx as nx

from morphgraph.core.text import shortened
from morphgraph.draw.layout import LONGEST_LABEL, layered_positions, natural_order

VertexKind = Literal["type", "merge"]

VERTEX_FLAGS: Final = frozenset({"focus", "atom", "tuple", "changed", "ghost", "frontier"})


class SceneVertex(NamedTuple):
    """A type or merge vertex as drawn.

    ``key`` is ``"t<id>"`` or ``"m<id>"``, ``value`` the blame ratio or NaN, (x, y) the centre in
    drawing units (y grows downwards), ``flags`` a subset of `VERTEX_FLAGS`. All text is plain.
    """

    key: str
    kind: VertexKind
    label: str
    tooltip: str
    value: float
    x: float
    y: float
    flags: frozenset[str]


class SceneEdge(NamedTuple):
    """An edge part → merge or merge → type; the label says how often a repeated part occurs."""

    source: str
    target: str
    label: str
    tooltip: str = ""


@dataclass(frozen=True)
class Scene:
    """A drawing, and how many vertices were left out to keep it readable."""

    vertices: tuple[SceneVertex, ...]
    edges: tuple[SceneEdge, ...]
    left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Return the scene as JSON-ready data; an undefined value becomes None."""
        vertices = [
            vertex._asdict()
            | {"value": None if math.isnan(vertex.value) else vertex.value}
            | {"flags": sorted(vertex.flags)}
            for vertex in self.vertices
        ]
        edges = [edge._asdict() for edge in self.edges]
        return {"vertices": vertices, "edges": edges, "left_out": self.left_out}


def scene_of(
    graph: nx.DiGraph,
    *,
    focus: str | None,
    values: Mapping[str, float],
    changed: Collection[str],
    left_out: int = 0,
) -> Scene:
    """Lay out a piece of the merge graph, and describe the look of each vertex.

    ``graph`` alternates type vertices ``"t<id>"`` and merge vertices ``"m<id>"`` with the
    attributes ``kind``, ``label``, ``tooltip``, ``rank`` (merges) and, optionally, ``ghost`` (no
    longer in the vocabulary), ``frontier`` (has neighbours that are not shown) and ``atom``; an
    edge part → merge has ``indices``, the places of the part among the parts.
    ``values`` maps vertices to blame ratios; those absent are undefined. ``changed`` holds the
    vertices to highlight; keys that the graph lacks are ignored in both.

    >>> graph = nx.DiGraph()
    >>> graph.add_node("t0", kind="type", label="a", tooltip="a")
    >>> graph.add_node("t1", kind="type", label="aa", tooltip="aa")
    >>> graph.add_node("m1", kind="merge", label="7", rank=7, tooltip="merge 7")
    >>> graph.add_edge("t0", "m1", indices=(0, 1))
    >>> graph.add_edge("m1", "t1")
    >>> scene = scene_of(graph, focus="t1", values={"m1": 0.25}, changed=())
    >>> [edge.label for edge in scene.edges], scene.edges[1].tooltip
    (['', '×2'], 'a: parts 1 and 2 of 2')
    """
    positions = layered_positions(graph, focus=focus)
    highlighted = set(changed)
    edges = []
    part_counts: Counter[str] = Counter()
    for _, merge, indices in graph.edges(data="indices", default=()):
        part_counts[merge] += len(indices)
    for source, target, indices in sorted(graph.edges(data="indices", default=())):
        if not indices:
            edges.append(SceneEdge(source, target, ""))
            continue
        *others, last = (str(index + 1) for index in indices)
        places = f"parts {', '.join(others)} and {last}" if others else f"part {last}"
        edges.append(
            SceneEdge(
                source,
                target,
                f"×{len(indices)}" if others else "",
                f"{graph.nodes[source].get('label', source)}: {places} of {part_counts[target]}",
            )
        )
    vertices = []
    for key in sorted(graph, key=lambda key: natural_order(graph, key)):
        attributes = graph.nodes[key]
        kind: VertexKind = "merge" if attributes.get("kind") == "merge" else "type"
        label = str(attributes.get("label", key))
        x, y = positions[key]
        flags = {
            "focus": key == focus,
            "atom": bool(attributes.get("atom")),
            "tuple": kind == "merge" and part_counts[key] >= 3,
            "changed": key in highlighted,
            "ghost": bool(attributes.get("ghost", False)),
            "frontier": bool(attributes.get("frontier", False)),
        }
        vertices.append(
            SceneVertex(
                key=key,
                kind=kind,
                label=shortened(label, LONGEST_LABEL),
                tooltip=_tooltip(str(attributes.get("tooltip") or ""), label),
                value=float(values.get(key, math.nan)),
                x=x,
                y=y,
                flags=frozenset(flag for flag, is_set in flags.items() if is_set),
            )
        )
    return Scene(tuple(vertices), tuple(edges), left_out)


def _tooltip(tooltip: str, label: str) -> str:
    """Return the tooltip, with the whole label added if the drawing shortens it."""
    if not tooltip:
        return label
    if len(label) > LONGEST_LABEL and label not in tooltip:
        return f"{label}\n{tooltip}"
    return tooltip

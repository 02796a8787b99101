"""The drawing of a merge graph as plain data: vertices, levels and states.

A scene is independent of the program that draws it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import networkx as nx

from morphgraph.core.text import shortened

VertexKind = Literal["type", "merge"]

LONGEST_LABEL = 24
"""Characters of a label that are drawn; longer ones are cut with an ellipsis."""
VERTEX_FLAGS: Final = frozenset({"focus", "atom", "tuple", "changed", "ghost", "frontier"})


class SceneVertex(NamedTuple):
    """A type or merge vertex as drawn.

    ``key`` is ``"t<id>"`` or ``"m<id>"``, ``value`` the blame ratio or NaN, ``level`` grows along
    every edge, ``flags`` is a subset of `VERTEX_FLAGS`. All text is plain.
    """

    key: str
    kind: VertexKind
    label: str
    tooltip: str
    value: float
    level: int
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


def scene_of(
    graph: nx.DiGraph,
    *,
    focus: str | None,
    values: Mapping[str, float],
    changed: Collection[str],
    left_out: int = 0,
) -> Scene:
    """Describe the look of each vertex in a piece of the merge graph, and its level.

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
    levels = _levels(graph)
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
    for key in sorted(graph, key=lambda key: (len(key), key)):
        attributes = graph.nodes[key]
        kind: VertexKind = "merge" if attributes.get("kind") == "merge" else "type"
        label = str(attributes.get("label", key))
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
                level=levels[key],
                flags=frozenset(flag for flag, is_set in flags.items() if is_set),
            )
        )
    return Scene(tuple(vertices), tuple(edges), left_out)


def _levels(graph: nx.DiGraph) -> dict[str, int]:
    """Return the longest path to each vertex; sources stand just before their first merge."""
    levels = {key: n for n, keys in enumerate(nx.topological_generations(graph)) for key in keys}
    for key in graph:
        if not levels[key] and graph.out_degree(key):
            levels[key] = min(levels[merge] for merge in graph.successors(key)) - 1
    return levels


def _tooltip(tooltip: str, label: str) -> str:
    """Return the tooltip, with the whole label added if the drawing shortens it."""
    if not tooltip:
        return label
    if len(label) > LONGEST_LABEL and label not in tooltip:
        return f"{label}\n{tooltip}"
    return tooltip

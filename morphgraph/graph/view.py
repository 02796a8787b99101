"""The alternating digraph of merges and types in networkx: whole, or around one type.

Vertices are named ``t<id>`` and ``m<id>``, with the attributes ``kind`` ("type" or "merge") and
``label``; merges also have ``rank``. Edges go part → merge → result; those into a merge carry
``indices``, the places (from 0) that the part takes in it.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Merge

if TYPE_CHECKING:
    import networkx as nx

MAX_VERTICES = 300
"""The largest number of vertices in a drawing of a neighbourhood."""


def type_key(number: int) -> str:
    """Return the vertex of a type."""
    return f"t{number}"


def merge_key(number: int) -> str:
    """Return the vertex of a merge."""
    return f"m{number}"


def to_networkx(
    graph: MergeGraph,
    merges: Iterable[int] | None = None,
    names: Sequence[str] | None = None,
    gone: Mapping[int, Merge] | None = None,
    types: Iterable[int] = (),
) -> "nx.DiGraph":
    """Return the digraph of all present types and merges, or of some ``merges`` and ``types``.

    ``names``: other labels of the types by id. ``gone``: merges that the graph no longer has.

    >>> graph = MergeGraph.from_merges([("a", "a"), ("aa", "b")])
    >>> digraph = to_networkx(graph)
    >>> list(digraph.edges), digraph.edges["t0", "m0"]["indices"]
    ([('t0', 'm0'), ('t1', 'm1'), ('t2', 'm1'), ('m0', 't1'), ('m1', 't3')], (0, 1))
    """
    import networkx as nx

    shown = graph.types if names is None else names
    digraph = nx.DiGraph()

    def add_type(number: int) -> None:
        if type_key(number) not in digraph:
            digraph.add_node(
                type_key(number), kind="type", label=shown[number], atom=graph.is_atom(number)
            )

    for number in graph.type_ids() if merges is None else types:
        add_type(number)
    some = graph.merge_ids() if merges is None else merges
    for number, (rank, parts, result) in [
        *((number, graph.merge(number)) for number in some),
        *(gone or {}).items(),
    ]:
        key = merge_key(number)
        digraph.add_node(key, kind="merge", label=str(rank), rank=rank)
        places: dict[int, list[int]] = {}
        for place, part in enumerate(parts):
            places.setdefault(part, []).append(place)
        for part, taken in places.items():
            add_type(part)
            digraph.add_edge(type_key(part), key, indices=tuple(taken))
        add_type(result)
        digraph.add_edge(key, type_key(result))
    return digraph


def to_graphml(digraph: "nx.DiGraph") -> bytes:
    """Return a digraph of `to_networkx` as GraphML, with places and control characters as text."""
    import networkx as nx

    def coded(found: re.Match[str]) -> str:
        return f"⟨{ord(found[0]):02X}⟩"

    copied = nx.DiGraph()
    for key, attributes in digraph.nodes(data=True):
        plain = {
            name: _NOT_XML.sub(coded, value) if isinstance(value, str) else value
            for name, value in attributes.items()
            if isinstance(value, str | int | float | bool)
        }
        copied.add_node(key, **plain)
    for source, target, attributes in digraph.edges(data=True):
        indices = attributes.get("indices")
        extra = {} if indices is None else {"indices": " ".join(map(str, indices))}
        copied.add_edge(source, target, **extra)
    buffer = io.BytesIO()
    nx.write_graphml_xml(copied, buffer)
    return buffer.getvalue()


_NOT_XML = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that XML 1.0 cannot contain or, like \r, does not preserve."""


def neighbourhood(
    graph: MergeGraph,
    focus: int,
    *,
    up: int = 1,
    down: int = 2,
    limit: int = 60,
    importance: Mapping[int, float] | None = None,
    names: Sequence[str] | None = None,
) -> tuple["nx.DiGraph", int]:
    """Return the digraph around a type, and the number of merges near enough that did not fit.

    Near are merges within ``down`` steps towards atoms and ``up`` towards longer types. At most
    ``limit`` vertices fit, and never more than `MAX_VERTICES`: nearer merges come first, then those
    of higher ``importance`` (by id), then lower ranks. A merge is shown with all its parts and its
    result. Around a removed type, what made it and what was made with it come first of all. Types
    with further merges have ``frontier`` set, removed vertices ``ghost``.
    """
    limit = min(limit, MAX_VERTICES)
    weight = importance or {}
    removal = graph.removal_of(focus)
    if graph.is_present(focus) or removal is None:
        removal = Change({})
    gone = {n: m for n, m in removal.removed_merges.items() if m.result == focus}
    shown_types = {focus}
    shown_merges: dict[int, None] = {}
    shown_gone: dict[int, Merge] = {}
    left_out = 0

    def take(number: int, merge: Merge) -> bool:
        nonlocal left_out
        new = {*merge.parts, merge.result} - shown_types
        if len(shown_types) + len(shown_merges) + len(shown_gone) + len(new) + 1 > limit:
            left_out += 1
            return False
        shown_types.update(new)
        return True

    def expand(merges: Iterable[int]) -> None:
        ranked = sorted(merges, key=lambda m: (-weight.get(m, 0.0), graph.merge(m).rank))
        for number in ranked:
            if number not in shown_merges and take(number, graph.merge(number)):
                shown_merges[number] = None

    for number, merge in gone.items():
        if take(number, merge):
            shown_gone[number] = merge
    used = (entry.merge for entry in removal.rewired if focus in entry.old_parts)
    expand(number for number in used if graph.has_merge(number))
    below = above = [focus] if graph.is_present(focus) else []
    if not below:
        down -= 1
        below = [part for m in shown_gone.values() if m.result == focus for part in m.parts]
    for step in range(max(up, down)):
        if step < down:
            near = list(dict.fromkeys(m for number in below for m in graph.incoming(number)))
            expand(near)
            parts = (p for m in near if m in shown_merges for p in graph.merge(m).parts)
            below = list(dict.fromkeys(parts))
        if step < up:
            near = list(dict.fromkeys(m for number in above for m in graph.outgoing(number)))
            expand(near)
            above = list(dict.fromkeys(graph.merge(m).result for m in near if m in shown_merges))
    digraph = to_networkx(graph, shown_merges, names, shown_gone, shown_types)
    for number in shown_gone:
        digraph.nodes[merge_key(number)]["ghost"] = True
    for number in shown_types:
        key = type_key(number)
        digraph.nodes[key]["ghost"] = not graph.is_present(number)
        around = (*graph.incoming(number), *graph.outgoing(number))
        digraph.nodes[key]["frontier"] = any(m not in shown_merges for m in around)
    return digraph, left_out

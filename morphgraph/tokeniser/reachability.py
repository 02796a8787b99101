"""Types that merging can no longer produce."""

import numpy as np

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.words import Words


def atoms_of(graph: MergeGraph) -> list[tuple[int, ...]]:
    """The atoms of every type, by id; a removed type has none."""
    atoms: list[tuple[int, ...]] = [()] * len(graph.types)
    present = sorted(graph.type_ids(), key=lambda number: len(graph.types[number]))
    for number in present:
        producers = graph.incoming(number)
        if producers:
            parts = graph.merge(producers[0]).parts
            atoms[number] = tuple(atom for part in parts for atom in atoms[part])
        else:
            atoms[number] = (number,)
    return atoms


def unreachable_types(graph: MergeGraph) -> list[int]:
    """Ids of present types whose own string is not segmented into that one type.

    A tuple merge that can no longer apply *disables* its result: a lower-ranked merge always takes
    one of its parts away first. Source: Bauwens & de Lhoneux 2026, §3.1.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("b", "c"), ("a", "bc")], alphabet="abc")
    >>> [graph.types[number] for number in unreachable_types(graph)]
    ['abc']
    """
    atoms = atoms_of(graph)
    present = [number for number, parts in enumerate(atoms) if len(parts) > 1]
    offsets = np.zeros(len(present) + 1, np.int64)
    np.cumsum([len(atoms[number]) for number in present], out=offsets[1:])
    flat = np.array([atom for number in present for atom in atoms[number]], np.int32)
    texts = tuple(graph.types[number] for number in present)
    words = Words(texts, flat, offsets, offsets, np.zeros(len(flat), np.int32))
    ends = segment(graph, words).token_at[offsets[1:] - 1] if present else np.zeros(0, np.int32)
    return [number for number, token in zip(present, ends, strict=True) if token != number]

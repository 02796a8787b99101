"""Reification: repair tuple merges so that they apply again, then use the pairs in them.

`preview_reification` is the algorithm; `graph.plans` does the linking and creating. Source:
Bauwens & de Lhoneux 2026, §3.1, §3.2 and Algorithm 2.
"""

from collections.abc import Collection, Mapping

import numpy as np

from morphgraph.graph.arrays import MergeArrays, merge_arrays
from morphgraph.graph.change import Change
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.plans import Pair, Parts, plan_reify, tuple_merges_by_pair
from morphgraph.graph.type_atoms import TypeAtoms


def preview_reification(
    graph: MergeGraph,
    blacklist: Collection[Parts] = (),
    *,
    repair: bool = True,
    link: bool = True,
    expand: bool = True,
    atoms: TypeAtoms | None = None,
    among: Collection[int] | None = None,
) -> Change:
    """Compute one pass of repair and reification without applying it.

    The switches leave out repair, linking to existing merges, and creating (expanding) new ones.
    ``blacklist``: the parts of merges knocked out before, which must not return. ``among``: only
    these merges are repaired, and only pairs in them are used, wherever they occur.

    b + c takes the c from a + b + c, which is repaired; x + a + y suggests a + y, which is created.

    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "b", "c"), ("x", "a", "y")])
    >>> change = graph.apply(preview_reification(graph))
    >>> [graph.describe(merge) for merge in graph.merge_ids()]
    ['b + c → bc', 'a + bc → abc', 'a + y → ay', 'x + ay → xay']
    >>> change.counts()
    {'repaired': 1, 'created': 1}
    """
    repaired = repairs(graph, atoms) if repair else {}
    if among is not None:
        repaired = {merge: parts for merge, parts in repaired.items() if merge in among}
    pairs = suggestions(graph, repaired, blacklist, among) if link or expand else []
    return plan_reify(graph, pairs, repaired, link=link, expand=expand)


def repairs(graph: MergeGraph, atoms: TypeAtoms | None = None) -> dict[int, Parts]:
    """Return new parts for tuple merges that can no longer apply, by merge, in order of rank.

    The string of each tuple merge's result is segmented by the merges of lower rank, as repaired so
    far; if the tokens differ from the merge's parts, they become its parts. A merge whose result
    those merges already make stays as it is. Source: Bauwens & de Lhoneux 2026, §3.1.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("a", "b", "c")])
    >>> [[graph.types[part] for part in parts] for parts in repairs(graph).values()]
    [['ab', 'c']]
    """
    from morphgraph.kernels import repairing

    atoms = atoms or TypeAtoms()
    arrays: MergeArrays = merge_arrays(graph)
    widths = np.diff(arrays.part_offsets)
    tuples = np.flatnonzero(widths > 2)
    if not len(tuples):
        return {}
    strings = [
        atoms.of(graph, arrays.parts[arrays.part_offsets[m] : arrays.part_offsets[m + 1]].tolist())
        for m in tuples
    ]
    atom_offsets = np.zeros(len(tuples) + 1, np.int64)
    np.cumsum([len(string) for string in strings], out=atom_offsets[1:])
    flat = np.array([atom for string in strings for atom in string], np.int32)
    parts, offsets = repairing.repair(
        arrays.parts,
        arrays.part_offsets,
        arrays.results,
        tuples,
        flat,
        atom_offsets,
        arrays.type_count,
    )
    return {
        int(arrays.merge_ids[tuples[i]]): tuple(parts[offsets[i] : offsets[i + 1]].tolist())
        for i in np.flatnonzero(np.diff(offsets))
    }


def suggestions(
    graph: MergeGraph,
    repaired: Mapping[int, Parts],
    blacklist: Collection[Parts],
    among: Collection[int] | None = None,
) -> list[Pair]:
    """Return pairs of adjacent parts in tuple merges, without those on the blacklist.

    Those in most tuple merges come first, then by their strings. ``among``: only pairs in these
    merges. Source: Bauwens & de Lhoneux 2026, §3.2.
    """
    parts = {
        number: repaired.get(number, merge.parts)
        for number, merge in graph.merges().items()
        if len(merge.parts) > 2
    }
    containing = tuple_merges_by_pair(parts)
    types = graph.types
    return sorted(
        (
            pair
            for pair, merges in containing.items()
            if pair not in blacklist and (among is None or not merges.keys().isdisjoint(among))
        ),
        key=lambda pair: (-len(containing[pair]), types[pair[0]], types[pair[1]]),
    )

"""Repair and reification: making tuple merges applicable again, and pairs inside them merges."""

import re
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from morphgraph.graph.arrays import MergeArrays, merge_arrays
from morphgraph.graph.change import Change
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.plans import Pair, Parts, plan_reify, tuple_merges_by_pair

_BYTE = re.compile("<0x[0-9A-F]{2}>")
"""How a byte is spelled where characters outside the alphabet become their bytes."""


class TypeAtoms:
    """The atoms that the strings of types consist of, by id; found out once for each type.

    They stay the same whatever is edited: every edit keeps what a type is made of. A type of many
    characters that no merge makes occurs in no word, so its atoms are its characters. ``suffix``:
    what is glued to the last character of a word, the two being one atom (``</w>``).
    """

    def __init__(self, suffix: str = "") -> None:
        self._suffix = suffix
        self._known: dict[int, Parts] = {}

    def of(self, graph: MergeGraph, parts: Iterable[int]) -> list[int]:
        """The atoms of parts, one after the other."""
        found: list[int] = []
        for part in parts:
            known = self._known.get(part)
            if known is None:
                known = self._known[part] = self._look_up(graph, part)
            found += known
        return found

    def _look_up(self, graph: MergeGraph, type_: int) -> Parts:
        # A type may be thousands of merges deep, so this keeps its own stack.
        stack = [type_]
        while stack:
            number = stack[-1]
            incoming = graph.incoming(number)
            is_atom = not incoming or self._ends_word(graph.types[number])
            parts = () if is_atom else graph.merge(incoming[0]).parts
            waiting = [part for part in parts if part not in self._known]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            atoms = [atom for part in parts for atom in self._known[part]]
            self._known[number] = tuple(atoms) if parts else self._of_leaf(graph, number)
        return self._known[type_]

    def _ends_word(self, text: str) -> bool:
        """Whether a type is the last character of a word, with the suffix."""
        suffix = self._suffix
        return bool(suffix) and text.endswith(suffix) and len(text) == len(suffix) + 1

    def _of_leaf(self, graph: MergeGraph, number: int) -> Parts:
        text = graph.types[number]
        known = self._ends_word(text) or number in graph.fixed
        if len(text) == 1 or known or _BYTE.fullmatch(text):
            return (number,)
        if all(character in graph for character in text):
            return tuple(graph.ids[character] for character in text)
        return (number,)


def repairs(graph: MergeGraph, atoms: TypeAtoms | None = None) -> dict[int, Parts]:
    """New parts for tuple merges that can no longer apply, by merge, in order of rank.

    The string of each tuple merge's result is segmented by the merges of lower rank, as repaired so
    far; if the tokens are other than the merge's parts, they become its parts. A merge whose result
    those merges make already is left as it is. Source: Bauwens & de Lhoneux 2026, §3.1.

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
    """Pairs of neighbouring parts in tuple merges, but those on the blacklist.

    Those in most tuple merges first, then by their strings. ``among``: only pairs in these merges.
    Source: Bauwens & de Lhoneux 2026, §3.2.
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
    """One pass of repair and reification, computed without doing it.

    The switches leave out repair, linking to merges that are there, and creating new ones.
    ``blacklist``: parts of merges knocked out before, which are not to come back. ``among``: only
    these merges are repaired, and only pairs in them are put to use, wherever they stand.
    """
    repaired = repairs(graph, atoms) if repair else {}
    if among is not None:
        repaired = {merge: parts for merge, parts in repaired.items() if merge in among}
    pairs = suggestions(graph, repaired, blacklist, among) if link or expand else []
    return plan_reify(graph, pairs, repaired, link=link, expand=expand)

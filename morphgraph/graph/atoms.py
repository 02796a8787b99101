"""The atoms that types consist of."""

import re
from collections.abc import Iterable
from itertools import chain

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_table import MergeTable, Parts

_BYTE = re.compile("<0x[0-9A-F]{2}>")
"""The spelling of a byte where characters outside the alphabet become bytes."""


class TypeAtoms:
    """The atoms that the strings of types consist of, by id; computed once for each type.

    Edits do not change them, as every edit keeps what a type is made of. A type of several
    characters that no merge makes occurs in no word, so its atoms are its characters, unless it is
    fixed: words contain such a type before any merge.
    """

    def __init__(self) -> None:
        self._known: dict[int, Parts] = {}

    def of(self, graph: MergeTable, parts: Iterable[int]) -> list[int]:
        """Return the concatenated atoms of parts."""
        atoms: list[int] = []
        for part in parts:
            known = self._known.get(part)
            if known is None:
                known = self._known[part] = self._look_up(graph, part)
            atoms += known
        return atoms

    def _look_up(self, graph: MergeTable, type_: int) -> Parts:
        # A type may be thousands of merges deep, so this has its own stack.
        stack, makers = [type_], graph.producers()
        while stack:
            number = stack[-1]
            is_atom = makers[number] < 0 or number in graph.fixed
            parts = () if is_atom else graph.merge(int(makers[number])).parts
            waiting = [part for part in parts if part not in self._known]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            atoms = [atom for part in parts for atom in self._known[part]]
            self._known[number] = tuple(atoms) if parts else _of_leaf(graph, number)
        return self._known[type_]


def _of_leaf(graph: MergeTable, number: int) -> Parts:
    """Return the atoms of a type that no merge makes."""
    text = graph.types[number]
    if len(text) == 1 or number in graph.fixed or _BYTE.fullmatch(text):
        return (number,)
    if all(character in graph for character in text):
        return tuple(graph.ids[character] for character in text)
    return (number,)


Flat = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]
"""The atoms of all types one after the other, and offsets (types + 1) into them."""


def atoms_of(graph: MergeTable, among: Iterable[int] | None = None) -> Flat:
    """Return the atoms of every type, as `TypeAtoms` does, by id.

    ``among``: only of these types, and of their parts; others, and removed types, have none.

    >>> graph = MergeTable.from_merges([("a", "b"), ("ab", "ab")])
    >>> atoms, offsets = atoms_of(graph)
    >>> [atoms[start:end].tolist() for start, end in zip(offsets[:-1], offsets[1:])]
    [[0], [1], [0, 1], [0, 1, 0, 1]]
    """
    from morphgraph.kernels.removing import expanded

    makers = graph.producers()
    new = np.array(graph.type_ids() if among is None else [*among], np.int64)
    is_there = np.zeros(len(makers), bool)
    while len(new):
        is_there[new] = True
        parts = graph.columns(makers[new][makers[new] >= 0]).parts
        new = np.unique(parts[~is_there[parts]])
    leaves = np.flatnonzero(is_there & (makers < 0)).tolist()
    spelt = {number: _of_leaf(graph, number) for number in leaves}
    is_there[[*chain.from_iterable(spelt.values())]] = True
    is_made = is_there & (makers >= 0)
    made = graph.columns(makers[is_made])
    own = [spelt.get(number, (number,)) for number in np.flatnonzero(is_there & ~is_made).tolist()]
    widths = is_there.astype(np.int64)
    widths[is_made], widths[is_there & ~is_made] = made.widths, [*map(len, own)]
    offsets = np.append(0, np.cumsum(widths))
    is_part = np.repeat(is_made, widths)
    atoms = np.empty(len(is_part), np.int32)
    atoms[is_part], atoms[~is_part] = made.parts, [*chain.from_iterable(own)]
    there = np.flatnonzero(is_there)
    lengths = np.fromiter(map(len, map(graph.types.__getitem__, there.tolist())), np.int32)
    atoms, offsets = expanded(atoms, offsets, there[np.argsort(lengths, kind="stable")])
    return atoms, offsets

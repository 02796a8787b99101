"""The atoms that types consist of."""

import re
from collections.abc import Iterable

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
        stack = [type_]
        while stack:
            number = stack[-1]
            incoming = graph.incoming(number)
            is_atom = not incoming or number in graph.fixed
            parts = () if is_atom else graph.merge(incoming[0]).parts
            waiting = [part for part in parts if part not in self._known]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            atoms = [atom for part in parts for atom in self._known[part]]
            self._known[number] = tuple(atoms) if parts else self._of_leaf(graph, number)
        return self._known[type_]

    def _of_leaf(self, graph: MergeTable, number: int) -> Parts:
        text = graph.types[number]
        if len(text) == 1 or number in graph.fixed or _BYTE.fullmatch(text):
            return (number,)
        if all(character in graph for character in text):
            return tuple(graph.ids[character] for character in text)
        return (number,)


def atoms_of(graph: MergeTable, among: Iterable[int] | None = None) -> list[Parts]:
    """Return the atoms of every type, by id, or of types ``among`` these and of their parts.

    Others, and removed types, have none.
    """
    atoms: list[Parts] = [()] * len(graph.types)
    producers = graph.producers().tolist()
    waiting = graph.type_ids() if among is None else list(among)
    parts: dict[int, Parts] = {}
    while waiting:
        number = waiting.pop()
        if number not in parts:
            parts[number] = graph.merge(producers[number]).parts if producers[number] >= 0 else ()
            waiting += parts[number]
    for number in sorted(parts, key=lambda number: len(graph.types[number])):
        joined = tuple(atom for part in parts[number] for atom in atoms[part])
        atoms[number] = joined or (number,)
    return atoms

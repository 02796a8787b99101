"""The atoms of types, which edits never change."""

import re
from collections.abc import Iterable

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.plans import Parts

_BYTE = re.compile("<0x[0-9A-F]{2}>")
"""The spelling of a byte where characters outside the alphabet become bytes."""


class TypeAtoms:
    """The atoms that the strings of types consist of, by id; computed once for each type.

    Edits do not change them, as every edit keeps what a type is made of. A type of several
    characters that no merge makes occurs in no word, so its atoms are its characters. ``suffix``:
    joined to the last character of a word, forming one atom (``</w>``).
    """

    def __init__(self, suffix: str = "") -> None:
        self._suffix = suffix
        self._known: dict[int, Parts] = {}

    def of(self, graph: MergeGraph, parts: Iterable[int]) -> list[int]:
        """Return the concatenated atoms of parts."""
        found: list[int] = []
        for part in parts:
            known = self._known.get(part)
            if known is None:
                known = self._known[part] = self._look_up(graph, part)
            found += known
        return found

    def _look_up(self, graph: MergeGraph, type_: int) -> Parts:
        # A type may be thousands of merges deep, so this has its own stack.
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
        """Return whether a type is the last character of a word, with the suffix."""
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


def atoms_of(graph: MergeGraph) -> list[tuple[int, ...]]:
    """Return the atoms of every type, by id; a removed type has none."""
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

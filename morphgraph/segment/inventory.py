"""The types of a vocabulary without their marker."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morphgraph.tokeniser.byte_level import CHAR_TO_BYTE
from morphgraph.tokeniser.document import BYTES
from morphgraph.tokeniser.preprocess import Preprocessor

if TYPE_CHECKING:
    from morphgraph.graph.merge_graph import MergeGraph

_BYTES = frozenset(BYTES)
_MARKERS = ("Ġ", "▁", "##")


@dataclass(frozen=True)
class Inventory:
    """A vocabulary prepared for counting.

    ``special``: ids of its special and added types. ``spelled``: each of the other ids, ascending,
    with the type's string without its marker; ``bodies``: the same in readable form, None for bytes
    that are not whole characters. ``marker``: ``Ġ`` or ``▁`` before types that start a word, ``##``
    before types inside one, a suffix such as ``</w>`` after types that end one, or empty;
    ``marked``: the ids of types with it. ``texts``: every type by id in readable form. ``graph``:
    the merges, if any.
    """

    special: tuple[int, ...]
    spelled: Mapping[int, str]
    bodies: dict[int, str | None]
    marker: str
    marked: frozenset[int]
    texts: Sequence[str]
    graph: MergeGraph | None

    @classmethod
    def of(
        cls,
        types: Sequence[str],
        present: Iterable[int],
        special: Collection[str] = (),
        marker: str = "",
        preprocessor: Preprocessor | None = None,
        texts: Sequence[str] | None = None,
        graph: MergeGraph | None = None,
    ) -> Inventory:
        """Build the inventory of ``types`` by id, some ``present`` and some ``special``."""
        present, prepared = list(present), preprocessor or Preprocessor()
        cut = str.removeprefix if marker in _MARKERS else str.removesuffix
        ordinary = [number for number in present if types[number] not in special]
        spelled = {n: types[n] if types[n] == "##" else cut(types[n], marker) for n in ordinary}
        return cls(
            tuple(number for number in present if types[number] in special),
            spelled,
            {number: _readable(text, prepared) for number, text in spelled.items()},
            marker,
            frozenset(number for number, text in spelled.items() if text != types[number]),
            types if texts is None else texts,
            graph,
        )

    @property
    def marks_start(self) -> bool:
        """Whether the marker shows which types start a word."""
        return self.marker in _MARKERS

    def is_byte(self, number: int, written: str) -> bool:
        """Return whether a type is a single byte of a byte fallback."""
        return written in _BYTES and self.bodies[number] is None


def _readable(text: str, preprocessor: Preprocessor) -> str | None:
    """Return a type's string as characters; None if it contains an incomplete one."""
    if preprocessor.byte_fallback and text in _BYTES:
        return None
    if not preprocessor.byte_level or text.isascii():
        return text
    if not all(character in CHAR_TO_BYTE for character in text):
        return text
    try:
        return bytes(CHAR_TO_BYTE[character] for character in text).decode()
    except UnicodeDecodeError:
        return None

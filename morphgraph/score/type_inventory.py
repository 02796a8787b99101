"""The types of any segmenter as strings without their marker, and whether each can be reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.type_atoms import atoms_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import First, Longest
from morphgraph.segment.picky import Picky
from morphgraph.segment.trimmed import Demolishing
from morphgraph.segment.wordpiece import Greedy, VocabularySegmenter, WordPiece
from morphgraph.tokeniser.byte_level import CHAR_TO_BYTE
from morphgraph.tokeniser.loading import detect_marker
from morphgraph.tokeniser.merging import unreachable_types
from morphgraph.tokeniser.vocabulary import BYTES, SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, Segmenter, Words

_BYTES = frozenset(BYTES)
_MARKERS = ("Ġ", "▁", "##")


@dataclass(frozen=True)
class Inventory:
    """A vocabulary, ready to be counted.

    ``ids``: the types that are in it and not special, ascending; ``special``: special and added
    ones. ``texts``: every type by id as people read it. ``marker``: ``Ġ`` or ``▁`` before types
    that start a word, ``##`` before types inside one, a suffix such as ``</w>`` behind types that
    end one, or nothing. ``marked``: whether each of ``ids`` has it. ``spelled``: each of ``ids``
    without it. ``bodies``: the same as people read it; None if it is not whole characters, but
    single bytes of one. ``graph``: the merges, where there are any.
    """

    ids: tuple[int, ...]
    special: tuple[int, ...]
    texts: Sequence[str]
    marker: str
    marked: npt.NDArray[np.bool_]
    spelled: tuple[str, ...]
    bodies: tuple[str | None, ...]
    graph: MergeGraph | None

    @property
    def marks_start(self) -> bool:
        """Whether the marker shows which types start a word."""
        return self.marker in _MARKERS


def inventory_of(segmenter: Segmenter) -> Inventory:
    """The types of a segmenter; one of an unknown kind has neither special types nor a marker."""
    segmenter = standard(segmenter)
    if isinstance(segmenter, Bte):
        tokeniser = segmenter.tokeniser
        graph, preprocessor = tokeniser.graph, tokeniser.preprocessor
        absent: frozenset[int] = frozenset()
        if isinstance(segmenter, Demolishing):
            absent = frozenset(np.flatnonzero(segmenter.doomed).tolist())
        elif isinstance(segmenter, Picky):
            absent = segmenter.removed
        present = [number for number in graph.type_ids() if number not in absent]
        special = tokeniser.special
        marker = tokeniser.suffix or detect_marker([graph.types[n] for n in present])
        # What a merge made can begin with ## in any text; it marks nothing there.
        marker = "" if marker == "##" else marker
        texts: Sequence[str] = tokeniser.readable_types
        types: Sequence[str] = graph.types
    elif isinstance(segmenter, VocabularySegmenter):
        vocabulary = segmenter.vocabulary
        graph, preprocessor = None, vocabulary.preprocessor
        present = list(range(len(vocabulary)))
        special = vocabulary.special | {token.content for token in preprocessor.added}
        marker = preprocessor.suffix or vocabulary.marker
        texts = [vocabulary.readable(number) for number in present]
        types = vocabulary.types
    else:
        types = texts = segmenter.types
        return _inventory(range(len(types)), types, texts, frozenset(), "", (False, False), None)
    flags = preprocessor.byte_level, preprocessor.byte_fallback
    return _inventory(present, types, texts, special, marker, flags, graph)


def _inventory(
    present: Sequence[int],
    types: Sequence[str],
    texts: Sequence[str],
    special: frozenset[str],
    marker: str,
    flags: tuple[bool, bool],
    graph: MergeGraph | None,
) -> Inventory:
    byte_level, byte_fallback = flags
    ids = tuple(number for number in present if types[number] not in special)
    at_end = bool(marker) and marker not in _MARKERS
    marked = [
        bool(marker)
        and (types[n].endswith(marker) if at_end else types[n].startswith(marker))
        and types[n] != "##"
        for n in ids
    ]
    spelled = tuple(
        (types[n].removesuffix(marker) if at_end else types[n].removeprefix(marker))
        if has
        else types[n]
        for n, has in zip(ids, marked, strict=True)
    )
    bodies = tuple(
        None if byte_fallback and text in _BYTES else _decoded(text) if byte_level else text
        for text in spelled
    )
    return Inventory(
        ids,
        tuple(number for number in present if types[number] in special),
        texts,
        marker,
        np.array(marked, np.bool_),
        spelled,
        bodies,
        graph,
    )


def _decoded(text: str) -> str | None:
    """A byte-level string as characters; None if it has part of one."""
    if text.isascii():
        return text
    if not all(character in CHAR_TO_BYTE for character in text):
        return text
    try:
        return bytes(CHAR_TO_BYTE[character] for character in text).decode()
    except UnicodeDecodeError:
        return None


def standard(segmenter: Segmenter) -> Segmenter:
    """What FIRST and LONGEST keep tokens of, and all merges of BPE-dropout; others as they are."""
    while isinstance(segmenter, First | Longest):
        segmenter = segmenter.segmenter
    return Bte(segmenter.tokeniser) if isinstance(segmenter, Dropout) else segmenter


def unreachable(segmenter: Segmenter, inventory: Inventory) -> list[int] | None:
    """Ids of types that segmenting their own string does not give back; None if that is not known.

    The string stands where the type may: one that starts a word at the start, others behind a
    character that no type holds. It is not normalised first. Single bytes and special types, which
    no string spells, are not looked at.
    """
    segmenter = standard(segmenter)
    if type(segmenter) is Bte:
        return unreachable_types(segmenter.tokeniser.graph)
    if isinstance(segmenter, Bte):
        atoms = atoms_of(segmenter.tokeniser.graph)
        paths = {n: list(atoms[n]) for n in inventory.ids if len(atoms[n]) > 1}
    elif isinstance(segmenter, VocabularySegmenter):
        paths = _paths(segmenter, inventory)
    else:
        return None
    return [number for number, end in _last_tokens(segmenter, paths).items() if end != number]


def _paths(segmenter: VocabularySegmenter, inventory: Inventory) -> dict[int, list[int]]:
    """The atoms of each type's string, behind an unknown one if it stands inside a word."""
    vocabulary = segmenter.vocabulary
    starts = ("Ġ", "▁")
    paths = {}
    for number, has, text, body in zip(
        inventory.ids, inventory.marked, inventory.spelled, inventory.bodies, strict=True
    ):
        if vocabulary.types[number] in _BYTES and body is None:
            continue
        inside = bool(has) if vocabulary.marker == "##" else vocabulary.marker in starts and not has
        shown = text if vocabulary.marker == "##" else vocabulary.types[number]
        paths[number] = [UNKNOWN] * inside + _path(vocabulary, shown)
    return paths


def _path(vocabulary: SubwordVocabulary, text: str) -> list[int]:
    suffix, atoms = vocabulary.preprocessor.suffix, vocabulary.atoms
    characters = list(text)
    if suffix and text.endswith(suffix) and len(text) > len(suffix):
        cut = len(text) - len(suffix) - 1
        characters = [*text[:cut], text[cut:]]
    path = []
    for character in characters:
        if character in atoms or not vocabulary.byte_fallback:
            path.append(atoms.get(character, UNKNOWN))
        else:
            path += [atoms[BYTES[byte]] for byte in character.encode()]
    return path


def _last_tokens(segmenter: Segmenter, paths: dict[int, list[int]]) -> dict[int, int]:
    """The last token of each string, by the type that it is of."""
    if not paths:
        return {}
    if isinstance(segmenter, WordPiece):
        # It gives up a piece with an unknown character, so the same look-up without that rule.
        longest = segmenter.longest_word
        segmenter = Greedy(segmenter.vocabulary)
        too_long = {number for number, path in paths.items() if len(path) > longest}
    else:
        too_long = set()
    offsets = np.zeros(len(paths) + 1, np.int64)
    np.cumsum([len(path) for path in paths.values()], out=offsets[1:])
    flat = np.array([atom for path in paths.values() for atom in path], np.int32)
    texts = tuple(segmenter.types[number] for number in paths)
    words = Words(texts, flat, offsets, offsets, np.ones(len(flat), np.int32))
    ends = segmenter.segment(words).token_at[offsets[1:] - 1].tolist()
    return {
        number: UNKNOWN if number in too_long else end
        for number, end in zip(paths, ends, strict=True)
    }

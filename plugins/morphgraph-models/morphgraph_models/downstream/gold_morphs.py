"""Words that a model reads as the morphs of a reference instead of a tokeniser's own tokens."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.score.gold_reading import Reading
from morphgraph.segment.segmenter import Inventory
from morphgraph.tokeniser.words import Segmentation, Words

_WORD = re.compile(r"\S+")


def read_gold_morphs(path: str) -> dict[str, tuple[str, ...]]:
    """Read the morphs of each word of a reference, those of its first analysis."""
    morphs: dict[str, tuple[str, ...]] = {}
    for entry in Reading().read(path).entries:
        if entry.morphs:
            morphs.setdefault(entry.word, entry.morphs)
    return morphs


@dataclass(frozen=True)
class GoldMorphs:
    """Morphs of words, and the types that can stand for them.

    A morph that is a type is one token: in the form that the vocabulary has for its place in a
    word, such as ``Ġun`` or ``##able``, else in the other one. Another morph is segmented by the
    tokeniser. Words without gold are left as they are. This is how Hofmann et al. 2021 segment the
    input of DelBERT, but for the hyphens that they put after prefixes.
    """

    morphs: Mapping[str, tuple[str, ...]]
    inventory: Inventory

    def cut(self, words: Words) -> Words:
        """Return texts in which no token crosses the end of a morph."""
        places = [place for atoms, *_ in self._morphs_in(words) for place in atoms]
        return replace(
            words, piece_offsets=np.union1d(words.piece_offsets, places).astype(np.int64)
        )

    def applied(self, found: Segmentation) -> Segmentation:
        """Return a segmentation of cut texts with one token for each morph that is a type."""
        closed_by, token_at = found.closed_by.copy(), found.token_at.copy()
        for (start, end), morph, is_marked in self._morphs_in(found.words):
            number = self._types.get((morph, is_marked), self._types.get((morph, not is_marked)))
            if number is not None:
                closed_by[start : end - 1] = number
                token_at[start : end - 1] = INSIDE_TOKEN
                token_at[end - 1] = number
        return Segmentation(found.words, closed_by, token_at)

    @cached_property
    def _types(self) -> dict[tuple[str, bool], int]:
        """The type of each readable string, with the marker of the vocabulary or without."""
        shown, marked = self.inventory.bodies, self.inventory.marked
        return {(text, n in marked): n for n, text in shown.items() if text is not None}

    def _morphs_in(self, words: Words) -> Iterator[tuple[tuple[int, int], str, bool]]:
        """Yield the atoms of each morph, from the first to behind the last; the morph; its form."""
        before, behind = words.spans
        for number, text in enumerate(words.texts):
            first, last = words.word_offsets[number : number + 2].tolist()
            offset = int(words.character_offsets[number])
            for match in _WORD.finditer(text):
                morphs = self.morphs.get(match[0])
                if morphs is None:
                    continue
                begin, *ends = (np.cumsum([match.start(), *map(len, morphs)]) + offset).tolist()
                atoms = first + np.searchsorted(before[first:last], ends)
                leading = first + int(np.searchsorted(behind[first:last], begin, side="right"))
                # A normaliser may have fused what is on both sides of a boundary.
                if (np.diff(atoms, prepend=leading) <= 0).any():
                    continue
                if (behind[atoms[:-1] - 1] > ends[:-1]).any():
                    continue
                start = self._with_space(words, leading, before, offset, match.start())
                is_led, places = start < leading, [start, *atoms.tolist()]
                for place, (span, morph) in enumerate(zip(pairwise(places), morphs, strict=True)):
                    yield span, morph, self._is_marked(place, len(morphs), is_led)

    @staticmethod
    def _with_space(words: Words, atom: int, before: np.ndarray, offset: int, start: int) -> int:
        """Return the first atom of a word whose first character has one, with its marker or space.

        These are what its piece begins with.
        """
        piece = int(np.searchsorted(words.piece_offsets, atom, side="right")) - 1
        leading = int(words.piece_offsets[piece])
        text = words.texts[int(words.word_of_atom[atom])]
        return leading if not text[int(before[leading]) - offset : start].strip() else atom

    def _is_marked(self, place: int, count: int, is_led: bool) -> bool:
        """Whether the type at a place in a word bears the marker; ``is_led``: a space leads it."""
        marker = self.inventory.marker
        if marker == "##":
            return place > 0
        if self.inventory.marks_start:
            return place == 0 and is_led
        return bool(marker) and place == count - 1

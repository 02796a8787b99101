"""Words as flat arrays of atoms: what every kernel reads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

UNKNOWN = 0x3FFFFFFF
"""The type id of an atom that is outside the alphabet of a tokeniser without an unknown token."""

_UNIT = re.compile(r"\w+|[^\w\s▁]")
"""What FLOTA's authors take for a word in running text; a marker stands for white space."""

NO_GAP = 0
INSIDE_CHARACTER = -1


@dataclass(frozen=True)
class Words:
    """Words encoded once for one tokeniser.

    ``texts``: the n words. ``atoms``: int32, the type ids of all atoms, word after word.
    ``word_offsets``: int64 (n + 1), into ``atoms``. ``piece_offsets``: int64, into ``atoms``; a
    piece is what the pre-tokeniser leaves together, so merges never cross its ends.
    ``gap_position``: int32, as long as ``atoms``: how many characters of the word are left of the
    gap behind each atom; `NO_GAP` after a start-of-word marker and at the end of the word,
    `INSIDE_CHARACTER` between atoms of one character. ``unknown``: position in ``atoms`` → the
    character, for atoms outside the alphabet.
    """

    texts: tuple[str, ...]
    atoms: npt.NDArray[np.int32]
    word_offsets: npt.NDArray[np.int64]
    piece_offsets: npt.NDArray[np.int64]
    gap_position: npt.NDArray[np.int32]
    unknown: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def word_of_atom(self) -> npt.NDArray[np.int32]:
        """The word that each atom belongs to: int32, as long as ``atoms``."""
        lengths = np.diff(self.word_offsets)
        return np.repeat(np.arange(len(self.texts), dtype=np.int32), lengths)

    @cached_property
    def character_offsets(self) -> npt.NDArray[np.int64]:
        """Where each word begins among the characters of all, and where the last ends: (n + 1)."""
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        return np.append(0, np.cumsum(lengths))

    @cached_property
    def is_marker(self) -> npt.NDArray[np.bool_]:
        """Whether each atom is a start-of-word marker that is not a character of its word."""
        # Behind a marker, or at the end of a word.
        found: npt.NDArray[np.bool_] = self.gap_position == NO_GAP
        found[self.word_offsets[1:][np.diff(self.word_offsets) > 0] - 1] = False
        return found

    def characters_of(self, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """For each character of all words, and one more, whether one of its atoms is chosen."""
        before, behind = self._spans
        change = np.zeros(int(self.character_offsets[-1]) + 1, np.int64)
        np.add.at(change, before[chosen], 1)
        np.add.at(change, behind[chosen], -1)
        covered: npt.NDArray[np.bool_] = np.cumsum(change) > 0
        return covered

    @cached_property
    def units(self) -> npt.NDArray[np.int32]:
        r"""The run of ``\w`` or the mark, a unit by itself, that each atom is of: int32, ascending.

        Units are numbered over all words; white space and markers are of the unit behind them.
        """
        numbers: list[npt.NDArray[np.int32]] = []
        next_ = 0
        for text in self.texts:
            if text.isalnum():
                numbers.append(np.full(len(text), next_, np.int32))
                next_ += 1
                continue
            ends = [match.end() for match in _UNIT.finditer(text)]
            found = np.searchsorted(ends, np.arange(len(text)), side="right")
            numbers.append((next_ + np.minimum(found, max(0, len(ends) - 1))).astype(np.int32))
            next_ += max(1, len(ends))
        if not len(self.atoms):
            return np.zeros(0, np.int32)
        of_character = np.concatenate([*numbers, np.zeros(1, np.int32)])
        last = self.character_offsets[self.word_of_atom + 1] - 1
        return of_character[np.minimum(self._spans[0], last)]

    @cached_property
    def _spans(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where each atom begins and ends among the characters of all words.

        A marker is where what follows it begins; the bytes of a character span it whole.
        """
        starts, lengths = self.character_offsets[:-1], np.diff(self.character_offsets)
        total = int(self.character_offsets[-1])
        position = self.gap_position.astype(np.int64)
        owner = self.word_of_atom
        is_inside = position == INSIDE_CHARACTER
        is_last = np.zeros(len(owner), bool)
        is_last[self.word_offsets[1:][np.diff(self.word_offsets) > 0] - 1] = True
        behind = starts[owner] + np.where(is_last, lengths[owner], np.maximum(position, 0))
        # A marker ends where what is before it does, a byte where its character does.
        behind[is_inside] = 0
        behind = np.maximum.accumulate(behind)
        behind[is_inside] = total
        behind = np.minimum.accumulate(behind[::-1])[::-1]
        before = np.append(0, behind[:-1])
        before[1:][is_inside[:-1]] = 0
        first = np.append(True, owner[1:] != owner[:-1])[: len(owner)]
        before[first] = starts[owner[first]]
        return np.maximum.accumulate(before), behind

    def subset(self, chosen: npt.NDArray[np.int64]) -> "Words":
        """Only these words, in this order."""
        starts, ends = self.word_offsets[chosen], self.word_offsets[chosen + 1]
        lengths = ends - starts
        offsets = np.append(0, np.cumsum(lengths))
        atoms = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        is_start = np.zeros(len(self.atoms) + 1, bool)
        is_start[self.piece_offsets] = True
        piece_starts = np.flatnonzero(is_start[atoms])
        return Words(
            tuple(self.texts[i] for i in chosen),
            self.atoms[atoms],
            offsets,
            np.append(piece_starts, offsets[-1]) if len(atoms) else np.zeros(1, np.int64),
            self.gap_position[atoms],
            {
                new: self.unknown[int(old)]
                for new, old in enumerate(atoms)
                if int(old) in self.unknown
            }
            if self.unknown
            else {},
        )

    @cached_property
    def _gap_keys(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(word << 32 | position) of every real gap, ascending, and the atoms they lie behind."""
        gaps = np.flatnonzero(self.gap_position > 0)
        keys = (self.word_of_atom[gaps].astype(np.int64) << 32) | self.gap_position[gaps]
        order = np.argsort(keys, kind="stable")  # already sorted, unless a normaliser reorders
        return keys[order], gaps[order]

    def gaps_at(
        self, words: npt.NDArray[np.int64], positions: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """The atoms left of the gaps at these (word, characters to the left); absent ones dropped.

        A gap is absent where the normaliser fused the two characters into one atom.
        """
        keys, gaps = self._gap_keys
        wanted = (words << 32) | positions
        found = np.searchsorted(keys, wanted)
        inside = found < len(keys)
        found, wanted = found[inside], wanted[inside]
        at_gap: npt.NDArray[np.int64] = gaps[found[keys[found] == wanted]]
        return at_gap


def concatenate(chunks: Sequence[Words]) -> Words:
    """Join several encoded lists of words into one, in order."""
    if len(chunks) == 1:
        return chunks[0]
    texts: list[str] = []
    unknown: dict[int, str] = {}
    word_offsets = [np.zeros(1, np.int64)]
    piece_offsets = [np.zeros(1, np.int64)]
    shift = 0
    for chunk in chunks:
        texts += chunk.texts
        word_offsets.append(chunk.word_offsets[1:] + shift)
        piece_offsets.append(chunk.piece_offsets[1:] + shift)
        unknown.update((position + shift, text) for position, text in chunk.unknown.items())
        shift += len(chunk.atoms)
    return Words(
        tuple(texts),
        np.concatenate([c.atoms for c in chunks]) if chunks else np.zeros(0, np.int32),
        np.concatenate(word_offsets),
        np.concatenate(piece_offsets),
        np.concatenate([c.gap_position for c in chunks]) if chunks else np.zeros(0, np.int32),
        unknown,
    )

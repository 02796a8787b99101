"""Words as flat arrays of atoms for the kernels, and their segmentation into tokens."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_table import ranges
from morphgraph.kernels import DROPPED

UNKNOWN = 0x3FFFFFFF
"""The type id of atoms outside the alphabet, without an unknown token."""

_UNIT = re.compile(r"\w+|[^\w\s▁]")
"""The units that FLOTA's authors treat as words; a marker stands for white space."""

NO_GAP = 0
INSIDE_CHARACTER = -1


class LeftOut(NamedTuple):
    """A character outside the alphabet without an atom: merges join what is on both sides of it.

    ``atom``: the atom that it stands before, or the end of the word. ``place``: its place in the
    characters of its word; -1 if these have an atom too, or it is none of them. ``behind``: how
    many atoms of its piece it is behind; -1 if the piece has none.
    """

    word: int
    atom: int
    place: int
    text: str
    behind: int = -1


@dataclass(frozen=True)
class Words:
    """Words encoded once for one tokeniser.

    ``texts``: the n words. ``atoms``: int32, the type ids of all atoms, word after word.
    ``word_offsets``: int64 (n + 1), into ``atoms``. ``piece_offsets``: int64, into ``atoms``;
    pieces come from the pre-tokeniser, and merges never cross their ends. ``gap_position``: int32,
    as long as ``atoms``: the number of characters of the word before the gap after each atom;
    `NO_GAP` after a start-of-word marker and at the end of the word, `INSIDE_CHARACTER` between
    atoms of one character. ``unknown``: position in ``atoms`` → the character, for atoms outside
    the alphabet. ``added``: position → the text of added tokens, as found. ``left_out``: characters
    outside the alphabet that have no atom; each belongs to the atom before it.
    """

    texts: tuple[str, ...]
    atoms: npt.NDArray[np.int32]
    word_offsets: npt.NDArray[np.int64]
    piece_offsets: npt.NDArray[np.int64]
    gap_position: npt.NDArray[np.int32]
    unknown: Mapping[int, str] = field(default_factory=dict)
    added: Mapping[int, str] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def word_of_atom(self) -> npt.NDArray[np.int32]:
        """The word that each atom belongs to: int32, as long as ``atoms``."""
        lengths = np.diff(self.word_offsets)
        return np.repeat(np.arange(len(self.texts), dtype=np.int32), lengths)

    @cached_property
    def character_offsets(self) -> npt.NDArray[np.int64]:
        """Where each word begins in the characters of all, and where the last ends: (n + 1)."""
        lengths = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        return np.append(0, np.cumsum(lengths))

    @cached_property
    def is_marker(self) -> npt.NDArray[np.bool_]:
        """Whether each atom is a start-of-word marker that is not a character of its word."""
        flags: npt.NDArray[np.bool_] = (self.gap_position == NO_GAP) & ~self._is_last
        return flags

    @cached_property
    def _is_last(self) -> npt.NDArray[np.bool_]:
        """Whether each atom is the last of its word."""
        flags = np.zeros(len(self.atoms), bool)
        flags[self.word_offsets[1:][np.diff(self.word_offsets) > 0] - 1] = True
        return flags

    def characters_of(self, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return whether each character of all words, and one more, has a chosen atom."""
        before, behind = self.spans
        change = np.zeros(int(self.character_offsets[-1]) + 1, np.int64)
        np.add.at(change, before[chosen], 1)
        np.add.at(change, behind[chosen], -1)
        covered: npt.NDArray[np.bool_] = np.cumsum(change) > 0
        covered[
            [self.character_offsets[e.word] + e.place for e in self.left_out if e.place >= 0]
        ] = False
        return covered

    @cached_property
    def units(self) -> npt.NDArray[np.int32]:
        r"""The unit, a run of ``\w`` or a single mark, of each atom: int32, ascending.

        Units are numbered over all words; white space and markers belong to the next one. An added
        token is a unit, and white space before it another one, as is what ends a word behind it.
        """
        numbers: list[npt.NDArray[np.int32]] = []
        next_ = 0
        for text in self._with_marks():
            if text.isalnum():
                numbers.append(np.full(len(text), next_, np.int32))
                next_ += 1
                continue
            ends = [match.end() for match in _UNIT.finditer(text)]
            unit_of = np.searchsorted(ends, np.arange(len(text)), side="right")
            numbers.append((next_ + np.minimum(unit_of, max(0, len(ends) - 1))).astype(np.int32))
            next_ += max(1, len(ends))
        if not len(self.atoms):
            return np.zeros(0, np.int32)
        of_character = np.concatenate([*numbers, np.zeros(1, np.int32)])
        last = self.character_offsets[self.word_of_atom + 1] - 1
        units: npt.NDArray[np.int32] = of_character[np.minimum(self.spans[0], last)]
        if self.added:
            units = (3 * units).astype(np.int32)
            units[list(self.added)] += 1
            units[units < np.maximum.accumulate(units)] += 2
        return units

    def _with_marks(self) -> Sequence[str]:
        """The texts, with a mark in place of each added token."""
        if not self.added:
            return self.texts
        characters = list("".join(self.texts))
        for start, end in np.stack(self.spans, axis=1)[list(self.added)].tolist():
            characters[start:end] = [*" " * (end - start - 1), "."][: end - start]
        whole = "".join(characters)
        return [whole[start:end] for start, end in pairwise(self.character_offsets.tolist())]

    @cached_property
    def spans(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where each atom begins and ends in the characters of all words.

        A marker is at the start of the next atom; the bytes of a character span all of it.
        """
        starts, lengths = self.character_offsets[:-1], np.diff(self.character_offsets)
        total = int(self.character_offsets[-1])
        position = self.gap_position.astype(np.int64)
        owner = self.word_of_atom
        is_inside = position == INSIDE_CHARACTER
        behind = starts[owner] + np.where(self._is_last, lengths[owner], np.maximum(position, 0))
        # A marker ends where the previous atom does, a byte where its character does.
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
        """Return only these words, in this order."""
        starts, ends = self.word_offsets[chosen], self.word_offsets[chosen + 1]
        atoms, offsets = ranges(starts, ends)

        def places(of: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            """Where chosen atoms come from some places."""
            is_one = np.zeros(len(self.atoms) + 1, bool)
            is_one[of] = True
            return np.flatnonzero(is_one[atoms])

        unknown = places(list(self.unknown)).tolist()
        moved = zip(chosen.tolist(), (offsets[:-1] - starts).tolist(), strict=True)
        left_out = [
            each._replace(word=number, atom=each.atom + shift)
            for number, (word, shift) in enumerate(moved if self.left_out else ())
            for each in self.left_out_of(word)
        ]
        return Words(
            tuple(self.texts[i] for i in chosen),
            self.atoms[atoms],
            offsets,
            np.append(places(self.piece_offsets), offsets[-1]),
            self.gap_position[atoms],
            {place: self.unknown[int(atoms[place])] for place in unknown},
            {place: self.added[int(atoms[place])] for place in places(list(self.added)).tolist()},
            tuple(left_out),
        )

    def left_out_of(self, word: int) -> Sequence[LeftOut]:
        """Return the characters of a word that have no atom."""
        return self._left_out.get(word, ())

    @cached_property
    def _left_out(self) -> Mapping[int, Sequence[LeftOut]]:
        by_word: dict[int, list[LeftOut]] = {}
        for each in self.left_out:
            by_word.setdefault(each.word, []).append(each)
        return by_word

    @cached_property
    def _gap_keys(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(word << 32 | position) of every real gap, ascending, and the atoms before them."""
        gaps = np.flatnonzero(self.gap_position > 0)
        keys = (self.word_of_atom[gaps].astype(np.int64) << 32) | self.gap_position[gaps]
        order = np.argsort(keys, kind="stable")  # already sorted, unless a normaliser reorders
        return keys[order], gaps[order]

    def gaps_at(
        self, words: npt.NDArray[np.int64], positions: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return the atoms before the gaps at these (word, characters to the left).

        A gap is absent, and left out, where the normaliser fused the two characters into one atom.
        """
        keys, gaps = self._gap_keys
        wanted = (words << 32) | positions
        places = np.searchsorted(keys, wanted)
        inside = places < len(keys)
        places, wanted = places[inside], wanted[inside]
        at_gap: npt.NDArray[np.int64] = gaps[places[keys[places] == wanted]]
        return at_gap


def code_points(text: str) -> npt.NDArray[np.int32]:
    """Return the code points of a text: int32."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)


def concatenate(chunks: Sequence[Words]) -> Words:
    """Join several encoded lists of words into one, in order."""
    if len(chunks) == 1:
        return chunks[0]
    starts = np.append(0, np.cumsum([len(chunk.atoms) for chunk in chunks])).tolist()
    shifted = list(zip(starts, chunks, strict=False))
    ends = np.zeros(1, np.int64)
    firsts = accumulate(map(len, chunks), initial=0)
    return Words(
        tuple(chain.from_iterable(chunk.texts for chunk in chunks)),
        np.concatenate([np.zeros(0, np.int32), *(chunk.atoms for chunk in chunks)]),
        np.concatenate([ends, *(chunk.word_offsets[1:] + start for start, chunk in shifted)]),
        np.concatenate([ends, *(chunk.piece_offsets[1:] + start for start, chunk in shifted)]),
        np.concatenate([np.zeros(0, np.int32), *(chunk.gap_position for chunk in chunks)]),
        {start + at: text for start, c in shifted for at, text in c.unknown.items()},
        {start + at: text for start, c in shifted for at, text in c.added.items()},
        tuple(
            each._replace(word=each.word + first, atom=each.atom + start)
            for first, (start, chunk) in zip(firsts, shifted, strict=False)
            for each in chunk.left_out
        ),
    )


@dataclass(frozen=True)
class Segmentation:
    """Words, and their segmentation by a method.

    ``closed_by``: int32, as long as ``words.atoms``: what closed the gap after each atom, a number
    of 0 or more; -1 if it is open. ``token_at``: int32, the type id of the token that ends at each
    atom; `INSIDE_TOKEN` within a token, `DROPPED` if an atom is in no token (nothing closed its
    gaps then, and only those next to a token are splits: see `is_split`).
    """

    words: Words
    closed_by: npt.NDArray[np.int32]
    token_at: npt.NDArray[np.int32]

    def tokens(self, word: int) -> list[int]:
        """Return the type ids of a word's tokens."""
        return [token for _, token in self.token_ends(word)]

    def token_ends(self, word: int) -> Iterator[tuple[int, int]]:
        """Return the last atom (position in ``words.atoms``) and type id of a word's tokens."""
        start, end = self.words.word_offsets[word : word + 2]
        ends = start + np.flatnonzero(self.token_at[start:end] >= 0)
        return zip(ends.tolist(), self.token_at[ends].tolist(), strict=True)

    def named_ends(self, word: int) -> Iterator[tuple[int, int, str]]:
        """Return what `token_ends` does, with characters outside the alphabet that have no atom.

        Such a one is `UNKNOWN`, with its text, which is empty for all others; it comes behind the
        token that is merged across it.
        """
        left_out = list(self.words.left_out_of(word))[::-1]
        while left_out and left_out[-1].atom == self.words.word_offsets[word]:
            yield -1, UNKNOWN, left_out.pop().text
        for atom, token in self.token_ends(word):
            yield atom, token, ""
            while left_out and left_out[-1].atom <= atom + 1:
                yield -1, UNKNOWN, left_out.pop().text

    @cached_property
    def covered(self) -> npt.NDArray[np.bool_]:
        """Whether each character of all words, and one more, has an atom in a token."""
        return self.words.characters_of(self.token_at != DROPPED)

    @cached_property
    def is_split(self) -> npt.NDArray[np.bool_]:
        """Whether the gap after each atom is split, the basis of every score and list of splits.

        A gap is split if it is open and a token is on at least one side of it: what a method leaves
        out is in no token, so nothing divides it further. A character is left out if all its atoms
        are.
        """
        is_open = self.closed_by < 0
        dropped = self.token_at == DROPPED
        if not dropped.any():
            return is_open
        words, covered = self.words, self.covered
        gaps = np.flatnonzero(is_open & (words.gap_position > 0))
        places = words.character_offsets[words.word_of_atom[gaps]] + words.gap_position[gaps]
        is_open[gaps] = covered[places - 1] | covered[places]
        between = dropped[:-1] & dropped[1:] & (words.gap_position[:-1] == INSIDE_CHARACTER)
        is_open[:-1] &= ~between
        return is_open

    def splits(self, word: int) -> list[int]:
        """Return where a word is split: characters to the left of gaps between characters."""
        start, end = self.words.word_offsets[word : word + 2]
        position = self.words.gap_position[start:end]
        return [int(p) for p in position[self.is_split[start:end] & (position > 0)]]

    def changed_words(self, other: "Segmentation") -> npt.NDArray[np.int64]:
        """Return words that another segmentation of the same words splits at other places."""
        differs = self.is_split != other.is_split
        return np.unique(self.words.word_of_atom[differs]).astype(np.int64)

    @cached_property
    def token_count(self) -> int:
        """The number of tokens of all words."""
        return int((self.token_at >= 0).sum())

    def tokens_added(self, other: "Segmentation") -> float:
        """Return how many more tokens there are than in another segmentation, as a share of its."""
        return self.token_count / other.token_count - 1 if other.token_count else math.nan


def called(name: str, parameters: Mapping[str, object]) -> str:
    """Return a method with its parameters, as in all signatures; just the name if it has none.

    >>> called("FLOTA", {"k": 2, "strict": True}), called("BPE", {})
    ('FLOTA(k=2,strict=true)', 'BPE')
    """
    settings = ",".join(f"{key}={spelled(value)}" for key, value in parameters.items())
    return f"{name}({settings})" if settings else name


def spelled(value: object) -> str:
    """Return the value of a parameter as written in methods and signatures.

    >>> spelled(True), spelled(0.1), spelled(None)
    ('true', '0.1', 'None')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)

"""The positions at which words are cut, as flat arrays, for gold and tokenisers alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from morphgraph.tokeniser.words import INSIDE_CHARACTER, Segmentation


@dataclass(frozen=True)
class Cuts:
    """The cut positions of n words, as numbers of characters to the left.

    ``positions``: int64, ascending within a word, word after word; ``offsets``: int64 (n + 1), into
    ``positions``.

    >>> Cuts.of([("un", "do", "ing"), ("dog",)]).positions.tolist()
    [2, 4]
    """

    positions: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, segmentations: Iterable[Sequence[str] | None]) -> "Cuts":
        """Return the cuts between segments; a word that is None has none."""
        known = [segments or ("",) for segments in segmentations]
        count = np.fromiter(map(len, known), np.int64, len(known))
        lengths = np.fromiter(map(len, chain.from_iterable(known)), np.int64, int(count.sum()))
        offsets = np.append(0, np.cumsum(count))
        ends = np.cumsum(lengths) if len(lengths) else lengths
        before = np.repeat(np.append(0, ends)[offsets[:-1]], count)
        is_last = np.zeros(len(lengths), bool)
        is_last[offsets[1:] - 1] = True
        return cls((ends - before)[~is_last], offsets - np.arange(len(offsets)))

    @classmethod
    def at(
        cls, words: npt.NDArray[np.int64], positions: npt.NDArray[np.int64], count: int
    ) -> "Cuts":
        """Return the cuts of ``count`` words at (word, characters to the left), in any order."""
        keys = (words << 32) | positions
        if not (keys[1:] > keys[:-1]).all():  # they are usually in order already
            keys = np.unique(keys)
        counts = np.bincount(keys >> 32, minlength=count)
        found = cls(keys & 0xFFFFFFFF, np.append(0, np.cumsum(counts)))
        found.__dict__["keys"] = keys  # what the property would recompute
        return found

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of cuts of each word."""
        return np.diff(self.offsets)

    @cached_property
    def keys(self) -> npt.NDArray[np.int64]:
        """The keys word << 32 | position of all cuts, ascending."""
        words = np.repeat(np.arange(len(self), dtype=np.int64), self.counts)
        return (words << 32) | self.positions

    def only(self, numbers: npt.NDArray[np.int64]) -> "Cuts":
        """Return some of the cuts of the same words, by index."""
        return Cuts.at(self.keys[numbers] >> 32, self.positions[numbers], len(self))

    def are_in(self, other: "Cuts") -> npt.NDArray[np.bool_]:
        """Return whether each cut is also in another set of cuts of the same words."""
        if not len(other.keys):
            return np.zeros(len(self.keys), bool)
        found = np.minimum(np.searchsorted(other.keys, self.keys), len(other.keys) - 1)
        same: npt.NDArray[np.bool_] = other.keys[found] == self.keys
        return same

    def shared(self, other: "Cuts") -> npt.NDArray[np.int64]:
        """Return how many cuts of each word are also in another set."""
        return sums_by_word(self.are_in(other), self.offsets)


def sums_by_word(
    values: npt.NDArray[np.generic], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the sums of an array's slices between offsets; an empty slice has 0."""
    sums = np.append(0, np.cumsum(values, dtype=np.int64))
    found: npt.NDArray[np.int64] = sums[offsets[1:]] - sums[offsets[:-1]]
    return found


def cuts_of(segmentation: Segmentation, only: npt.NDArray[np.bool_] | None = None) -> Cuts:
    """Return where a segmentation splits words, the basis of every score.

    ``only``: the words considered, bool (n); others have no cuts.
    """
    words = segmentation.words
    is_cut = segmentation.is_split & (words.gap_position > 0)
    if only is not None:
        is_cut &= only[words.word_of_atom]
    gaps = np.flatnonzero(is_cut)
    owner = words.word_of_atom[gaps].astype(np.int64)
    return Cuts.at(owner, words.gap_position[gaps].astype(np.int64), len(words))


def splits_inside_characters(segmentation: Segmentation) -> npt.NDArray[np.int64]:
    """Count each word's splits between bytes of one character, which are not gaps."""
    words = segmentation.words
    inside = segmentation.is_split & (words.gap_position == INSIDE_CHARACTER)
    return sums_by_word(inside, words.word_offsets)

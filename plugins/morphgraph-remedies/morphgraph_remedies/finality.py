"""How types occur in a corpus: as tokens or merged further, and beside which tokens.

Source: Sun et al. 2026, arXiv 2602.04706, whose neighbours could not be read: these are ours.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from morphgraph.corpus.counts import WordCounts
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.trimmed import type_uses
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Segmentation


class Finality(NamedTuple):
    """How each type occurs in a corpus, by id.

    ``final``: as a token; ``merged``: as a part of a merge that was applied; int64. ``left``,
    ``right``: the entropy, in bits, of the tokens beside those that are final, with the edge of a
    pre-token as one neighbour; float64, 0 without any.
    """

    final: npt.NDArray[np.int64]
    merged: npt.NDArray[np.int64]
    left: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]

    @property
    def ratio(self) -> npt.NDArray[np.float64]:
        """The share of final occurrences, NaN for a type that never occurs."""
        every = (self.final + self.merged).astype(np.float64)
        shares = np.full(len(every), np.nan)
        np.divide(self.final, every, out=shares, where=every > 0)
        return shares

    @property
    def entropy(self) -> npt.NDArray[np.float64]:
        """The smaller of the two entropies."""
        return np.minimum(self.left, self.right)


def finality(tokeniser: BpeTokeniser, counts: WordCounts) -> Finality:
    """Count how types occur in counted words as segmented by a tokeniser.

    >>> from morphgraph.corpus.counts import WordCounts
    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> types, merges = ["a", "b", "c", "ab", "abc", "bc"], ["ab", ("ab", "c"), "bc"]
    >>> tokeniser = tokeniser_of_types("abc", types, merges)
    >>> found = finality(tokeniser, WordCounts(["abc", "ab", "bc"], [3, 1, 2]))
    >>> found.ratio.tolist()
    [0.0, 0.0, 0.0, 0.25, 1.0, 1.0]
    """
    neighbours = Neighbours(len(tokeniser.types))
    uses, final = type_uses(tokeniser, counts, neighbours.count)
    return Finality(final, uses - final, *neighbours.entropies())


class Neighbours:
    """Counts the tokens beside those of each of ``size`` types, batch by batch."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._found: tuple[list[tuple[npt.NDArray[Any], npt.NDArray[Any]]], ...] = ([], [])

    def count(self, found: Segmentation, weights: npt.NDArray[Any]) -> None:
        """Count a batch of words; ``weights``: the count of each atom's word."""
        size, token_at = self.size, found.token_at
        ends = np.flatnonzero(token_at != INSIDE_TOKEN)
        is_type = (token_at[ends] >= 0) & (token_at[ends] != UNKNOWN)
        tokens = np.where(is_type, token_at[ends], size).astype(np.int64)
        is_last = np.zeros(len(token_at) + 1, np.bool_)
        is_last[found.words.piece_offsets] = True
        last = is_last[ends + 1]
        first = np.append(True, last[:-1])[: len(ends)]
        for side, edge, step in zip(self._found, (first, last), (1, -1), strict=True):
            beside = np.where(edge, size + 1, np.roll(tokens, step))
            pairs = tokens[is_type] * (size + 2) + beside[is_type]
            side.append(_summed(pairs, weights[ends][is_type]))

    def entropies(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the entropies of left and right neighbours by type, in bits; 0 without any."""
        left, right = map(self._entropy, self._found)
        return left, right

    def _entropy(
        self, found: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]
    ) -> npt.NDArray[np.float64]:
        if not found:
            return np.zeros(self.size)
        pairs, together = _summed(*map(np.concatenate, zip(*found, strict=True)))
        of = pairs // (self.size + 2)
        alone = np.bincount(of, together, self.size)
        shares = np.divide(together, alone[of], out=np.ones(len(pairs)), where=together > 0)
        return np.maximum(np.bincount(of, -shares * np.log2(shares), self.size), 0.0)


def _summed(
    pairs: npt.NDArray[np.int64], counts: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return distinct pairs with the sums of their counts."""
    distinct, place = np.unique(pairs, return_inverse=True)
    return distinct, np.bincount(place, counts, len(distinct)).astype(np.float64)

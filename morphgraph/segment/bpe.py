"""Segment words by the merges of a graph: BPE for pair merges, BTE with tuple merges."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from morphgraph.graph import MergeGraph
from morphgraph.graph.arrays import MergeArrays, merge_arrays
from morphgraph.segment.words import Words

_ATOMS_PER_THREAD = 50_000
"""Fewer atoms than this are not worth a second thread."""


@dataclass(frozen=True)
class Segmentation:
    """Words, and how merges segment them.

    ``closed_by``: int32, as long as ``words.atoms``: the position, in ``arrays``, of the merge
    that closed the gap behind each atom; -1 if it is open. ``token_at``: int32, the type id of the
    token that ends at each atom; -1 inside a token.
    """

    words: Words
    arrays: MergeArrays
    closed_by: npt.NDArray[np.int32]
    token_at: npt.NDArray[np.int32]

    def tokens(self, word: int) -> list[int]:
        """The type ids of a word's tokens."""
        start, end = self.words.word_offsets[word : word + 2]
        span = self.token_at[start:end]
        return [int(token) for token in span[span >= 0]]

    def token_ends(self, word: int) -> Iterator[tuple[int, int]]:
        """The last atom (position in ``words.atoms``) and type id of each token of a word."""
        start, end = (int(offset) for offset in self.words.word_offsets[word : word + 2])
        for atom in range(start, end):
            token = int(self.token_at[atom])
            if token >= 0:
                yield atom, token

    def splits(self, word: int) -> list[int]:
        """Where a word is split: numbers of characters to the left, gaps between characters only.

        >>> from morphgraph.graph import MergeGraph
        >>> graph = MergeGraph.from_merges([("u", "n")], alphabet="undo")
        >>> segment_plain(graph, ["undo"]).splits(0)
        [2, 3]
        """
        start, end = self.words.word_offsets[word : word + 2]
        position = self.words.gap_position[start:end]
        return [int(p) for p in position[(self.closed_by[start:end] < 0) & (position > 0)]]

    def changed_words(self, other: "Segmentation") -> npt.NDArray[np.int64]:
        """Words that the other segmentation, of the same words, splits at other places."""
        differs = (self.closed_by < 0) != (other.closed_by < 0)
        return np.unique(self.words.word_of_atom[differs]).astype(np.int64)


def segment(graph: MergeGraph, words: Words, threads: int = 2) -> Segmentation:
    """Segment encoded words by a graph's merges.

    Of all merges applicable somewhere in a word, the lowest rank is applied, at its leftmost
    occurrence, until none applies. Source: Sennrich et al. 2016; Bauwens & Delobelle 2024 for
    tuple merges.
    """
    from morphgraph.kernels import segmenting
    from morphgraph.kernels.segmenting_long import LONG, segment_long

    arrays = merge_arrays(graph)
    closed_by = np.empty(len(words.atoms), np.int32)
    token_at = np.empty(len(words.atoms), np.int32)
    pieces = words.piece_offsets
    bounds = _blocks(pieces, threads)

    def run(block: int) -> None:
        segmenting.segment(
            words.atoms,
            pieces,
            bounds[block],
            bounds[block + 1],
            arrays.table,
            arrays.dense,
            arrays.results,
            arrays.widest,
            LONG,
            closed_by,
            token_at,
        )

    if len(bounds) == 2:
        run(0)
    else:
        with ThreadPoolExecutor(len(bounds) - 1) as pool:
            list(pool.map(run, range(len(bounds) - 1)))
    for piece in np.flatnonzero(np.diff(pieces) > LONG):
        start, end = pieces[piece], pieces[piece + 1]
        segment_long(
            words.atoms,
            start,
            end,
            arrays.table,
            arrays.results,
            arrays.widest,
            closed_by,
            token_at,
        )
    return Segmentation(words, arrays, closed_by, token_at)


def _blocks(piece_offsets: npt.NDArray[np.int64], threads: int) -> list[int]:
    """Piece numbers that cut the work into blocks of about as many atoms, one for each thread."""
    atoms = int(piece_offsets[-1])
    count = max(1, min(threads, atoms // _ATOMS_PER_THREAD))
    targets = [atoms * block // count for block in range(1, count)]
    inner = [int(piece) for piece in np.searchsorted(piece_offsets, targets)]
    return [0, *inner, len(piece_offsets) - 1]


def segment_plain(graph: MergeGraph, words: list[str], threads: int = 2) -> Segmentation:
    """Segment words whose characters are the atoms: no markers, no bytes."""
    from morphgraph.segment.preprocess import Preprocessor, WordEncoder

    return segment(graph, WordEncoder(Preprocessor(), graph.ids).encode(words), threads)

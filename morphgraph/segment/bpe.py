"""Segment words by the merges of a graph: BPE for pair merges, BTE with tuple merges."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from morphgraph.graph import MergeGraph
from morphgraph.graph.arrays import MergeArrays, merge_arrays
from morphgraph.segment.segmentation import Segmentation
from morphgraph.segment.words import Words
from morphgraph.threads import usual_threads

_ATOMS_PER_THREAD = 50_000
"""Fewer atoms than this are not worth a second thread."""


@dataclass(frozen=True)
class MergeSegmentation(Segmentation):
    """A segmentation by merges: ``closed_by`` holds positions in ``arrays``, the merges by rank."""

    arrays: MergeArrays


def segment(graph: MergeGraph, words: Words, threads: int | None = None) -> MergeSegmentation:
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
    bounds = _blocks(pieces, threads or usual_threads())

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
    return MergeSegmentation(words, closed_by, token_at, arrays)


def _blocks(piece_offsets: npt.NDArray[np.int64], threads: int) -> list[int]:
    """Piece numbers that cut the work into blocks of about as many atoms, one for each thread."""
    atoms = int(piece_offsets[-1])
    count = max(1, min(threads, atoms // _ATOMS_PER_THREAD))
    targets = [atoms * block // count for block in range(1, count)]
    inner = [int(piece) for piece in np.searchsorted(piece_offsets, targets)]
    return [0, *inner, len(piece_offsets) - 1]


def segment_plain(
    graph: MergeGraph, words: list[str], threads: int | None = None
) -> MergeSegmentation:
    """Segment words whose characters are the atoms: no markers, no bytes."""
    from morphgraph.segment.preprocess import Preprocessor, WordEncoder

    return segment(graph, WordEncoder(Preprocessor(), graph.ids).encode(words), threads)

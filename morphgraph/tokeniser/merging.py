"""Segment words by the merges of a graph: BPE for pair merges, BTE with tuple merges."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from morphgraph.core.threads import usual_threads
from morphgraph.graph.arrays import MergeArrays, merge_arrays
from morphgraph.graph.change import Change
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.kernels import INSIDE_TOKEN, worth_loading
from morphgraph.tokeniser.derivation import derive_all
from morphgraph.tokeniser.segmentation import Segmentation
from morphgraph.tokeniser.words import Words

_ATOMS_PER_THREAD = 50_000
"""Fewer atoms than this are not worth a second thread."""


@dataclass(frozen=True)
class MergeSegmentation(Segmentation):
    """A segmentation by merges: ``closed_by`` holds positions in ``arrays``, the merges by rank."""

    arrays: MergeArrays


def segment(graph: MergeGraph, words: Words, threads: int | None = None) -> MergeSegmentation:
    """Segment encoded words by a graph's merges.

    Of all merges applicable somewhere in a word, the lowest rank is applied, at its leftmost
    occurrence, until none applies; merges that tie count as of one rank. Source: Sennrich et al.
    2016; Bauwens & Delobelle 2024 for tuple merges.
    """
    if not worth_loading(len(words.atoms)):
        return _segment_few(graph, words)
    empty = np.empty((2, len(words.atoms)), np.int32)
    result = MergeSegmentation(words, empty[0], empty[1], merge_arrays(graph))
    _segment_into(result, np.zeros(0, np.uint8), threads)
    return result


def _segment_few(graph: MergeGraph, words: Words) -> MergeSegmentation:
    """Segment words one by one, by no kernel."""
    closed_by = np.full(len(words.atoms), -1, np.int32)
    token_at = np.full(len(words.atoms), INSIDE_TOKEN, np.int32)
    position: dict[int | None, int] = {merge: place for place, merge in enumerate(graph.merges())}
    starts = words.word_offsets[:-1].tolist()
    for start, found in zip(starts, derive_all(graph, words), strict=True):
        vertices = found.vertices
        for vertex in found.applications():
            for child in vertex.children[:-1]:
                closed_by[start + vertices[child].last] = position[vertex.merge]
        for root in found.roots:
            token_at[start + vertices[root].last] = vertices[root].type
    return MergeSegmentation(words, closed_by, token_at, merge_arrays(graph))


def segment_after(
    graph: MergeGraph, before: MergeSegmentation, change: Change, threads: int | None = None
) -> MergeSegmentation:
    """What `segment` gives after a change to the graph, from the segmentation before it.

    After a removal only the pieces are segmented in which a removed merge was applied.
    """
    arrays = merge_arrays(graph)
    if change.edit not in ("knockout", "cascade"):
        return segment(graph, before.words, threads)
    position = np.full(1 + int(before.arrays.merge_ids.max(initial=0)), -1, np.int32)
    position[arrays.merge_ids] = np.arange(len(arrays), dtype=np.int32)
    return segment_without(before, arrays, position[before.arrays.merge_ids], threads)


def segment_without(
    before: MergeSegmentation,
    arrays: MergeArrays,
    moved: npt.NDArray[np.int32],
    threads: int | None = None,
) -> MergeSegmentation:
    """The words of a segmentation by its merges but those that a removal took.

    ``moved``: int32, the position in ``arrays`` of each merge of ``before``; -1 for those removed.
    """
    from morphgraph.kernels.removing import carry_over

    words = before.words
    result = MergeSegmentation(
        words, np.empty_like(before.closed_by), before.token_at.copy(), arrays
    )
    touched = carry_over(before.closed_by, words.piece_offsets, moved, result.closed_by)
    if not before.arrays.is_plain:
        touched[:] = 1
    _segment_into(result, touched, threads)
    return result


def _segment_into(
    result: MergeSegmentation, wanted: npt.NDArray[np.uint8], threads: int | None
) -> None:
    """Segment the ``wanted`` pieces of a segmentation's words (all if it is empty), in place."""
    from morphgraph.kernels.segmenting import segment_pieces
    from morphgraph.kernels.segmenting_long import LONG, segment_long
    from morphgraph.kernels.segmenting_pairs import SHORT, segment_pairs

    words, arrays = result.words, result.arrays
    table, dense, widest = arrays.lookup
    common = words.atoms, words.piece_offsets
    merges = arrays.results, widest, arrays.leaders
    both = result.closed_by, result.token_at
    lengths = np.diff(words.piece_offsets)
    bounds = _blocks(words.piece_offsets, threads or usual_threads(), wanted)
    if arrays.pairs is not None:
        pairs = arrays.pairs

        def run_short(first: int, last: int) -> None:
            segment_pairs(*common, first, last, *pairs, dense, arrays.results, wanted, *both)

        _run_blocks(run_short, bounds)
        if lengths.max(initial=0) <= SHORT:
            return
        is_long = (lengths > SHORT).astype(np.uint8)
        wanted = is_long & wanted if len(wanted) else is_long
        bounds = _blocks(words.piece_offsets, threads or usual_threads(), wanted)

    def run(first: int, last: int) -> None:
        segment_pieces(*common, first, last, table, dense, *merges, LONG, wanted, *both)

    _run_blocks(run, bounds)
    for piece in np.flatnonzero(lengths > LONG):
        if len(wanted) and not wanted[piece]:
            continue
        start, end = words.piece_offsets[piece : piece + 2]
        segment_long(words.atoms, start, end, table, *merges, *both)


def _run_blocks(run: Callable[[int, int], None], bounds: Sequence[int]) -> None:
    """Run on each block of pieces, from its first to the next block's, a thread for each."""
    if len(bounds) == 2:
        run(*bounds)
        return
    with ThreadPoolExecutor(len(bounds) - 1) as pool:
        list(pool.map(run, bounds[:-1], bounds[1:]))


def _blocks(
    piece_offsets: npt.NDArray[np.int64], threads: int, wanted: npt.NDArray[np.uint8]
) -> list[int]:
    """Piece numbers that cut the work into blocks of about as many atoms, one for each thread."""
    atoms = int(piece_offsets[-1])
    share = wanted.mean() if len(wanted) else 1.0
    count = max(1, min(threads, int(atoms * share) // _ATOMS_PER_THREAD))
    targets = [atoms * block // count for block in range(1, count)]
    inner = [int(piece) for piece in np.searchsorted(piece_offsets, targets)]
    return [0, *inner, len(piece_offsets) - 1]


def segment_plain(
    graph: MergeGraph, words: list[str], threads: int | None = None
) -> MergeSegmentation:
    """Segment words whose characters are the atoms: no markers, no bytes."""
    from morphgraph.tokeniser.preprocess import Preprocessor, WordEncoder

    return segment(graph, WordEncoder(Preprocessor(), graph.ids).encode(words), threads)

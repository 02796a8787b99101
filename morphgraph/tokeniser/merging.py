"""Segment words with the merges of a graph: BPE for pair merges, BTE with tuple merges."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from morphgraph.core.system import usual_threads
from morphgraph.graph.arrays import MergeArrays, ShrinkingMerges, merge_arrays
from morphgraph.graph.atoms import Flat, TypeAtoms, atoms_of
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Merge, ranges
from morphgraph.kernels import INSIDE_TOKEN, worth_loading
from morphgraph.tokeniser.preprocess import BYTES
from morphgraph.tokeniser.words import Segmentation, Words


@dataclass(frozen=True, slots=True)
class Vertex:
    """An atom, or one application of a merge, whose id is ``merge``.

    Or a piece that stays whole: its children are its atoms, and ``merge`` is the first of its type,
    None if no merge makes it.
    ``children`` are positions in `Derivation.vertices`, from left to right; ``first`` and ``last``
    the outermost atoms below it, counted within the word.
    """

    type: int
    merge: int | None
    children: tuple[int, ...]
    first: int
    last: int


_Part = tuple[int, int]
"""The first atom and the type of a token."""
_Candidate = tuple[tuple[int, int, int, int], list[_Part]]
"""A merge that may apply at a place: its level, that place, its rank and id; and its parts."""


@dataclass(frozen=True)
class Derivation:
    """The trees of a word's tokens.

    ``vertices``: first the word's atoms from left to right, then one vertex for each merge, in the
    order of application, piece by piece. ``roots``: the vertices of the tokens, from
    left to right. Trees are kept flat, so that a deep one needs no recursion.
    """

    vertices: tuple[Vertex, ...]
    roots: tuple[int, ...]

    @property
    def atom_count(self) -> int:
        """The number of the word's atoms, which are the first vertices."""
        return next((i for i, v in enumerate(self.vertices) if v.children), len(self.vertices))

    def closed_by(self) -> list[int | None]:
        """The vertex of the merge that closed the gap after each atom; None if open."""
        closed: list[int | None] = [None] * self.atom_count
        for number, vertex in enumerate(self.vertices):
            for child in vertex.children[:-1]:
                closed[self.vertices[child].last] = number
        return closed


def derive(graph: MergeGraph, words: Words, word: int, *, merging: bool = False) -> Derivation:
    """Segment one word and keep every merge that is applied.

    Of all merges applicable somewhere, the lowest rank is applied, at its leftmost occurrence,
    until none applies; a piece that stays whole is made of its atoms at once, unless ``merging``.
    The tokens and closed gaps are those of `segment`, or of `segment_merging`. For single words: no
    table of all merges is built. Source: Sennrich et al. 2016; Bauwens & Delobelle 2024 for tuple
    merges.

    >>> from morphgraph.tokeniser.preprocess import Preprocessor
    >>> from morphgraph.tokeniser.encoding import WordEncoder
    >>> graph = MergeGraph.from_merges([("u", "n"), ("d", "o"), ("un", "do", "s")])
    >>> words = WordEncoder(Preprocessor(), graph.ids).encode(["undos"])
    >>> found = derive(graph, words, 0)
    >>> [graph.describe(vertex.merge) for vertex in found.vertices if vertex.children]
    ['u + n → un', 'd + o → do', 'un + do + s → undos']
    >>> found.vertices[found.roots[0]].children
    (5, 6, 4)
    """
    start, end = words.word_offsets[word : word + 2].tolist()
    first, last = words.piece_offsets.searchsorted([start, end])
    kept = () if merging else _whole(graph, words, np.arange(first, last))
    whole = {at - start: type_ for at, _, type_ in kept}
    cuts = (words.piece_offsets[first : last + 1] - start).tolist()
    atoms = words.atoms[start:end].tolist()
    vertices = [Vertex(atom, None, (), place, place) for place, atom in enumerate(atoms)]
    roots: list[int] = []
    for left, right in pairwise(cuts):
        known = len(vertices)
        of_piece = _derive_piece(graph, vertices, left, right)
        type_ = whole.get(left)
        if type_ is not None and [vertices[root].type for root in of_piece] != [type_]:
            merge = next(iter(graph.incoming(type_)), None)
            vertices[known:] = [Vertex(type_, merge, tuple(range(left, right)), left, right - 1)]
            of_piece = [known]
        roots += of_piece
    return Derivation(tuple(vertices), tuple(roots))


def _derive_piece(graph: MergeGraph, vertices: list[Vertex], left: int, right: int) -> list[int]:
    """Add the merges of the atoms from ``left`` to before ``right``; return the roots."""
    # A candidate waits for one part after the other; a token that is gone never returns.
    waiting: dict[_Part, list[_Candidate]] = {}
    for candidate in _candidates(graph, vertices, left, right):
        waiting.setdefault(candidate[1][0], []).append(candidate)
    at = {place: place for place in range(left, right)}  # first atom → vertex
    queue: list[_Candidate] = []

    def is_there(part: _Part) -> bool:
        vertex = at.get(part[0])
        return vertex is not None and vertices[vertex].type == part[1]

    new: Iterable[int] = range(left, right)
    while True:
        for number in new:
            arrived = vertices[number].first, vertices[number].type
            for candidate in waiting.pop(arrived, ()):
                parts = candidate[1]
                known = parts.index(arrived) + 1
                while known < len(parts) and is_there(parts[known]):
                    known += 1
                if known == len(parts):
                    heappush(queue, candidate)
                else:
                    waiting.setdefault(parts[known], []).append(candidate)
        if not queue:
            return [at[place] for place in sorted(at)]
        (_, place, _, merge), parts = heappop(queue)
        new = []
        if all(map(is_there, parts)):
            children = tuple(at.pop(first) for first, _ in parts)
            at[place] = len(vertices)
            new = [len(vertices)]
            last = vertices[children[-1]].last
            vertices.append(Vertex(graph.merge(merge).result, merge, children, place, last))


def _candidates(
    graph: MergeGraph, vertices: list[Vertex], left: int, right: int
) -> Iterator[_Candidate]:
    """Yield the merges of types that are substrings of a piece, at each place."""
    types, ids = graph.types, graph.ids
    # An atom outside the alphabet, or one added to it after this state, is in no merge.
    texts = [types[v.type] if v.type < len(types) else None for v in vertices[left:right]]
    levels = graph.levels() if graph.ties else {}
    makers: dict[int, list[tuple[int, Merge]]] = {}
    for place in range(left, right - 1):
        text, starts = "", {}
        for atom, added in enumerate(texts[place - left :], start=place):
            if added is None or len(text) + len(added) > graph.longest_type:
                break
            starts[len(text)] = atom
            text += added
            result = ids.get(text)
            if result is not None and result not in makers:
                makers[result] = [(merge, graph.merge(merge)) for merge in graph.incoming(result)]
            for merge, (rank, parts, _) in () if result is None else makers[result]:
                end, placed = 0, []
                for part in parts:  # one that begins inside an atom, at -1 here, never comes
                    placed.append((starts.get(end, -1), part))
                    end += len(types[part])
                yield (levels.get(merge, rank), place, rank, merge), placed


_ATOMS_PER_THREAD = 50_000
"""The least number of atoms worth a second thread."""
_MERGES_PER_ATOM = 300
"""The number of merges whose table takes a kernel as long as an atom takes plain Python."""


@dataclass(frozen=True)
class MergeSegmentation(Segmentation):
    """A segmentation by merges: ``closed_by`` holds positions in ``arrays``, the merges by rank.

    The joins of a piece that stays whole count as closed by its type's first merge, which is what
    removes the type if it is knocked out; by none, the position after the last, if it has none.
    """

    arrays: MergeArrays

    @cached_property
    def is_merged(self) -> npt.NDArray[np.bool_]:
        """Whether a merge closed the gap after each atom."""
        return (self.closed_by >= 0) & (self.closed_by < len(self.arrays))


def segment(graph: MergeGraph, words: Words, threads: int | None = None) -> MergeSegmentation:
    """Segment encoded words by a graph's merges.

    Of all merges applicable somewhere in a word, the lowest rank is applied, at its leftmost
    occurrence, until none applies; merges that tie count as of one rank. If the graph says so, a
    piece that is a type stays whole (``ignore_merges``). Source: Sennrich et al. 2016; Bauwens &
    Delobelle 2024 for tuple merges.
    """
    segmentation = segment_merging(graph, words, threads)
    keep_whole_pieces(graph, segmentation)
    return segmentation


def segment_merging(
    graph: MergeGraph, words: Words, threads: int | None = None
) -> MergeSegmentation:
    """Segment by merges alone, also where a piece that is a type stays whole."""
    count, arrays = len(words.atoms), merge_arrays(graph)
    # Texts that come one by one are many in the end: a table that is kept is worth it then.
    arrays.asked[0] += count
    asked = arrays.asked[0]
    is_few = count * _MERGES_PER_ATOM < len(arrays)
    if asked * _MERGES_PER_ATOM < len(arrays) or not worth_loading(asked):
        return _segment_few(graph, words)
    if is_few and arrays.pairs is None:
        return _segment_few(graph, words)
    empty = np.empty((2, count), np.int32)
    result = MergeSegmentation(words, empty[0], empty[1], arrays)
    segment_pieces_anew(result, result.arrays, np.zeros(0, np.uint8), threads)
    return result


def _segment_few(graph: MergeGraph, words: Words) -> MergeSegmentation:
    """Segment words one by one, without a kernel."""
    closed_by = np.full(len(words.atoms), -1, np.int32)
    token_at = np.full(len(words.atoms), INSIDE_TOKEN, np.int32)
    arrays = merge_arrays(graph)
    for word, start in enumerate(words.word_offsets[:-1].tolist()):
        derivation = derive(graph, words, word, merging=True)
        for vertex in derivation.vertices:
            for child in vertex.children[:-1]:
                closed_by[start + derivation.vertices[child].last] = arrays.places[
                    vertex.merge or 0
                ]
        for root in map(derivation.vertices.__getitem__, derivation.roots):
            token_at[start + root.last] = root.type
    return MergeSegmentation(words, closed_by, token_at, arrays)


_BYTES = {text: bytes([n]).decode(errors="surrogateescape") for n, text in enumerate(BYTES)}
"""The byte that an atom of a character outside the alphabet stands for, as in Python's texts."""
_NO_TEXT = "\udcff"
"""Stands for an atom that no type has."""


def keep_whole_pieces(
    graph: MergeGraph,
    segmentation: MergeSegmentation,
    removed: npt.NDArray[np.uint8] | None = None,
) -> None:
    """Make pieces that stay whole one token each, in place, where merges do not.

    ``removed``: 1 for types that are gone from the graph's, by id.
    """
    words, arrays = segmentation.words, segmentation.arrays
    if graph.never_whole is None or not len(words.atoms):
        return
    offsets = words.piece_offsets
    chosen = np.add.reduceat(segmentation.closed_by < 0, offsets[:-1]) > 1
    # Several unknown characters may be one token.
    chosen[np.searchsorted(offsets, list(words.unknown), side="right") - 1] = True
    for start, end, whole in _whole(graph, words, np.flatnonzero(chosen)):
        if removed is None or not removed[whole]:
            makers = graph.incoming(whole)
            by = arrays.places[makers[0]] if makers else len(arrays)
            segmentation.closed_by[start : end - 1] = by
            segmentation.token_at[start:end] = INSIDE_TOKEN
            segmentation.token_at[end - 1] = whole


def _whole(
    graph: MergeGraph, words: Words, pieces: npt.NDArray[np.int64]
) -> Iterator[tuple[int, int, int]]:
    """Yield first atom, end and type of those of some pieces, ascending, that stay whole."""
    if graph.never_whole is None or not len(pieces):
        return
    starts, ends = words.piece_offsets[pieces], words.piece_offsets[pieces + 1]
    first, types, ids = int(starts[0]), graph.types, graph.ids
    # One number for all atoms outside the alphabet, and those added to it after this state.
    atoms = np.minimum(words.atoms[first : ends[-1]], len(types))
    used = np.flatnonzero(np.bincount(atoms)).tolist()
    text_of = {number: types[number] if number < len(types) else _NO_TEXT for number in used}
    is_odd = bool(words.unknown) or any(len(text) > 1 for text in text_of.values())
    texts: Any
    if is_odd:
        placed = enumerate(atoms.tolist(), start=first)
        text_of |= {n: _BYTES.get(text, text) for n, text in text_of.items()}
        texts = [words.unknown.get(place) or text_of[atom] for place, atom in placed]
    else:  # the same, faster
        codes = np.zeros(len(types) + 1, np.uint32)
        codes[used] = list(map(ord, text_of.values()))
        texts = codes[atoms].tobytes().decode("utf-32-le", "surrogatepass")
    # A piece without a character that it has in the text is no type.
    torn = {each.atom - each.behind for each in words.left_out if each.behind >= 0}
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if start in torn:
            continue
        text = texts[start - first : end - first]
        if is_odd:
            data = "".join(text).encode(errors="surrogateescape")
            text = data.decode(errors="surrogateescape")
        if text in ids and (whole := graph.whole_type(text)) is not None:
            yield start, end, whole


def segment_after(
    graph: MergeGraph, before: MergeSegmentation, change: Change
) -> MergeSegmentation:
    """Return `segment` after a change to the graph, given the segmentation before it.

    After a removal only pieces with a removed merge are segmented again, unless pieces stay whole:
    these may have such merges without having used them.
    """
    arrays = merge_arrays(graph)
    if change.edit not in ("knockout", "cascade") or graph.never_whole is not None:
        return segment(graph, before.words)
    from morphgraph.kernels.removing import carry_over

    words = before.words
    moved = np.full(1 + int(before.arrays.merge_ids.max(initial=0)), -1, np.int32)
    moved[arrays.merge_ids] = np.arange(len(arrays), dtype=np.int32)
    result = MergeSegmentation(
        words, np.empty_like(before.closed_by), before.token_at.copy(), arrays
    )
    touched = carry_over(
        before.closed_by, words.piece_offsets, moved[before.arrays.merge_ids], result.closed_by
    )
    if not before.arrays.is_plain:
        touched[:] = 1
    segment_pieces_anew(result, arrays, touched)
    return result


def segment_pieces_anew(
    segmentation: Segmentation,
    arrays: MergeArrays | ShrinkingMerges,
    wanted: npt.NDArray[np.uint8],
    threads: int | None = None,
) -> None:
    """Segment the ``wanted`` pieces of a segmentation's words (all if it is empty), in place.

    ``wanted``: uint8, by piece.
    """
    from morphgraph.kernels.segmenting import NONE_OMITTED, SCANNED, scan_pieces, segment_pieces
    from morphgraph.kernels.segmenting_pairs import SHORT, segment_pairs

    words, pairs = segmentation.words, arrays.pairs
    merges = arrays.merges if pairs is None else None
    pieces, both = words.piece_offsets, (segmentation.closed_by, segmentation.token_at)

    def run_short(first: int, last: int) -> None:
        if pairs is None:
            scan_pieces(words.atoms, pieces, (first, last), merges, wanted, *both)
        else:
            segment_pairs(words.atoms, pieces, (first, last), pairs, wanted, *both)

    def run_long(first: int, last: int) -> None:
        given = words.atoms, words.word_offsets, pieces, (first, last)
        segment_pieces(*given, merges or arrays.merges, NONE_OMITTED, is_long, *both)

    run_blocks(run_short, _blocks(pieces, threads or usual_threads(), wanted))
    is_long = (np.diff(pieces) > (SCANNED if pairs is None else SHORT)).astype(np.uint8)
    if len(wanted):
        is_long &= wanted
    if is_long.any():
        run_blocks(run_long, _blocks(pieces, threads or usual_threads(), is_long))


def run_blocks(run: Callable[[int, int], None], bounds: Sequence[int]) -> None:
    """Run on each block of pieces, from its first to the next block's, with a thread each."""
    if len(bounds) == 2:
        run(*bounds)
        return
    with ThreadPoolExecutor(len(bounds) - 1) as pool:
        list(pool.map(run, bounds[:-1], bounds[1:]))


def _blocks(
    piece_offsets: npt.NDArray[np.int64], threads: int, wanted: npt.NDArray[np.uint8]
) -> list[int]:
    """Return piece indices that divide the work into blocks of similar size, one per thread."""
    atoms = int(piece_offsets[-1])
    share = wanted.mean() if len(wanted) else 1.0
    count = max(1, min(threads, int(atoms * share) // _ATOMS_PER_THREAD))
    targets = [atoms * block // count for block in range(1, count)]
    inner = [int(piece) for piece in np.searchsorted(piece_offsets, targets)]
    return [0, *inner, len(piece_offsets) - 1]


def words_of_atoms(texts: Sequence[str], atoms: Sequence[Sequence[int]]) -> Words:
    """Return words with known atoms, each as one piece."""
    offsets = np.zeros(len(atoms) + 1, np.int64)
    np.cumsum([len(each) for each in atoms], out=offsets[1:])
    flat = np.fromiter(chain.from_iterable(atoms), np.int32, int(offsets[-1]))
    return Words(tuple(texts), flat, offsets, offsets, np.zeros(len(flat), np.int32))


def last_merges(
    graph: MergeGraph, cut: Callable[[MergeGraph, Words], MergeSegmentation] = segment
) -> dict[int, int]:
    """Return the last merge by which each type's own string is segmented into it, by ``cut``.

    Atoms and unreachable types have none. No other pair merge ever applies.
    """
    produced = np.array([number for number in graph.type_ids() if graph.incoming(number)], np.int64)
    atoms = TypeAtoms()
    strings = [atoms.of(graph, [number]) for number in produced.tolist()]
    words = words_of_atoms([graph.types[number] for number in produced.tolist()], strings)
    segmentation = cut(graph, words)
    closed = np.flatnonzero(segmentation.is_merged)
    closed_by, types = segmentation.closed_by[closed], produced[words.word_of_atom[closed]]
    # Only the last merge makes all of the word.
    is_last = segmentation.arrays.results[closed_by] == types
    merges = segmentation.arrays.merge_ids[closed_by[is_last]]
    return dict(zip(types[is_last].tolist(), merges.tolist(), strict=True))


def never_formed(graph: MergeGraph, edits: int = 0) -> list[int]:
    """Return the ids of types that merges make but never form, as a part comes too late.

    If a type has several merges, an edit can leave the one that does not apply. Removing these
    types with their merges (`MergeGraph.cascade`) changes no segmentation. There are none where
    pieces that are a type stay whole. ``edits``: only types that became so by this many last edits.

    >>> graph = MergeGraph.from_merges([("a", "bc"), ("a", "b"), ("b", "c")])
    >>> [graph.types[number] for number in never_formed(graph)]
    ['abc']
    """
    if merge_arrays(graph).is_plain:
        return []
    unreachable = unreachable_types(graph, graph.misplaced())
    before = set(never_formed(graph.earlier(edits))) if unreachable and edits else ()
    return [number for number in unreachable if number not in before]


def unreachable_types(graph: MergeGraph, among: Iterable[int] | None = None) -> list[int]:
    """Return ids of present types, or ``among`` some, that their own string is not segmented into.

    None if a piece that is a type stays whole (``ignore_merges``); see `unformed_types` for what
    merges alone do.
    """
    return [] if graph.never_whole is not None else unformed_types(graph, among)


def unformed_types(
    graph: MergeGraph, among: Iterable[int] | None = None, atoms: Flat | None = None
) -> list[int]:
    """Return ids of present types, or ``among`` some, that their own string is not merged into.

    A tuple merge that can no longer apply *disables* its result: a lower-ranked merge always takes
    one of its parts away first. Source: Bauwens & de Lhoneux 2026, §3.1. ``atoms``: what
    `atoms_of` gives of them in an earlier state.
    """
    looked_at = np.array(graph.type_ids() if among is None else [*among], np.int64)
    flat, offsets = atoms or atoms_of(graph, looked_at)
    present = looked_at[graph.producers()[looked_at] >= 0]
    places, offsets = ranges(offsets[present], offsets[present + 1])
    texts = tuple(map(graph.types.__getitem__, present.tolist()))
    words = Words(texts, flat[places], offsets, offsets, np.zeros(len(places), np.int32))
    ends = segment_merging(graph, words).token_at[offsets[1:] - 1]
    return cast(list[int], present[ends != present].tolist())

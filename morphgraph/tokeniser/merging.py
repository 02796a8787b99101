"""Segment words with the merges of a graph: BPE for pair merges, BTE with tuple merges."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from morphgraph.core.system import usual_threads
from morphgraph.graph.arrays import MergeArrays, ShrinkingMerges, atoms_of, merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.kernels import INSIDE_TOKEN, worth_loading
from morphgraph.tokeniser.words import Segmentation, Words

_Candidate = tuple[int, int, int, int]
"""A merge that may apply: its level, the first atom of the whole, its rank and id."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """An atom, or one application of a merge.

    ``type`` is a type id, or `UNKNOWN`; ``merge`` the id of the merge that made it, None for an
    atom. ``children`` are positions in `Derivation.vertices`, from left to right. ``first`` and
    ``last`` are the outermost atoms below it, counted within the word.
    """

    type: int
    merge: int | None
    children: tuple[int, ...]
    first: int
    last: int


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

    @property
    def tokens(self) -> list[int]:
        """The type ids of the tokens."""
        return [self.vertices[root].type for root in self.roots]

    def applications(self) -> Iterator[Vertex]:
        """Return the vertices of merges, in the order of application."""
        return (vertex for vertex in self.vertices if vertex.children)

    def closed_by(self) -> list[int | None]:
        """The vertex of the merge that closed the gap after each atom; None if open."""
        closed: list[int | None] = [None] * self.atom_count
        for number, vertex in enumerate(self.vertices):
            for child in vertex.children[:-1]:
                closed[self.vertices[child].last] = number
        return closed


def derive(graph: MergeGraph, words: Words, word: int) -> Derivation:
    """Segment one word and keep every merge that is applied.

    Of all merges applicable somewhere, the lowest rank is applied, at its leftmost occurrence,
    until none applies: the tokens and closed gaps are those of `segment`. For
    single words: no table of all merges is built. Source: Sennrich et al. 2016; Bauwens &
    Delobelle 2024 for tuple merges.

    >>> from morphgraph.tokeniser.preprocess import Preprocessor
    >>> from morphgraph.tokeniser.encoding import WordEncoder
    >>> graph = MergeGraph.from_merges([("u", "n"), ("d", "o"), ("un", "do", "s")])
    >>> words = WordEncoder(Preprocessor(), graph.ids).encode(["undos"])
    >>> found = derive(graph, words, 0)
    >>> [graph.describe(vertex.merge) for vertex in found.applications()]
    ['u + n → un', 'd + o → do', 'un + do + s → undos']
    >>> found.vertices[found.roots[0]].children
    (5, 6, 4)
    """
    return _derive(graph, words, word, graph.longest_type)


def derive_all(graph: MergeGraph, words: Words) -> Iterator[Derivation]:
    """Return `derive` for each word."""
    return (_derive(graph, words, word, graph.longest_type) for word in range(len(words)))


def _derive(graph: MergeGraph, words: Words, word: int, longest: int) -> Derivation:
    start, end = (int(offset) for offset in words.word_offsets[word : word + 2])
    first, last = words.piece_offsets.searchsorted([start, end])
    cuts = [int(cut) - start for cut in words.piece_offsets[first : last + 1]]
    atoms = [int(atom) for atom in words.atoms[start:end]]
    vertices = [Vertex(atom, None, (), place, place) for place, atom in enumerate(atoms)]
    roots: list[int] = []
    for left, right in pairwise(cuts):
        roots += _derive_piece(graph, vertices, left, right, longest)
    return Derivation(tuple(vertices), tuple(roots))


def _derive_piece(
    graph: MergeGraph, vertices: list[Vertex], left: int, right: int, longest: int
) -> list[int]:
    """Add the merges of the atoms from ``left`` to before ``right``; return the roots."""
    waiting = _possible_merges(graph, vertices, left, right, longest)
    at = dict(zip(range(left, right), range(left, right), strict=True))  # first atom → vertex

    def parts_at(place: int, merge: int, first: int = 0) -> list[int]:
        """Return the vertices of a merge's parts from ``first`` on, up to a missing one."""
        found: list[int] = []
        for part in graph.merge(merge).parts[first:]:
            vertex = at.get(place)
            if vertex is None or vertices[vertex].type != part:
                break
            found.append(vertex)
            place = vertices[vertex].last + 1
        return found

    # A candidate waits for its first missing part: a token that is gone never returns, so nothing
    # before that part needs checking until the candidate's turn.
    queue: list[_Candidate] = []
    new = list(range(left, right))
    while True:
        for number in new:
            first, type_ = vertices[number].first, vertices[number].type
            for candidate, known in waiting.pop((first, type_), ()):
                *_, merge = candidate
                parts, found = graph.merge(merge).parts, parts_at(first, merge, known)
                known += len(found)
                if known == len(parts):
                    heappush(queue, candidate)
                else:
                    place = vertices[found[-1]].last + 1
                    waiting.setdefault((place, parts[known]), []).append((candidate, known))
        if not queue:
            return [at[place] for place in sorted(at)]
        _, place, _, merge = heappop(queue)
        children = parts_at(place, merge)
        new = []
        if len(children) < len(graph.merge(merge).parts):
            continue
        for child in children:
            del at[vertices[child].first]
        at[place] = len(vertices)
        new = [len(vertices)]
        last = vertices[children[-1]].last
        vertices.append(Vertex(graph.merge(merge).result, merge, tuple(children), place, last))


def _possible_merges(
    graph: MergeGraph, vertices: list[Vertex], left: int, right: int, longest: int
) -> dict[tuple[int, int], list[tuple[_Candidate, int]]]:
    """Map (first atom, type) of a part to the merges that begin with it, and part 0.

    The result of a merge is a substring of the word, so only merges of such types are considered.
    """
    types, ids = graph.types, graph.ids
    # An atom outside the alphabet, or one added to it after this state, is in no merge.
    texts = [types[v.type] if v.type < len(types) else None for v in vertices[left:right]]
    waiting: dict[tuple[int, int], list[tuple[_Candidate, int]]] = {}
    levels = graph.levels() if graph.ties else {}
    for place in range(left, right - 1):
        text = ""
        for atom in texts[place - left :]:
            if atom is None or len(text) + len(atom) > longest:
                break
            text += atom
            result = ids.get(text)
            if result is None:
                continue
            for merge in graph.incoming(result):
                rank, parts, _ = graph.merge(merge)
                candidate = (levels.get(merge, rank), place, rank, merge)
                waiting.setdefault((place, parts[0]), []).append((candidate, 0))
    return waiting


_ATOMS_PER_THREAD = 50_000
"""The least number of atoms worth a second thread."""
_MERGES_PER_ATOM = 300
"""The number of merges whose table takes a kernel as long as an atom takes plain Python."""


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
    count, arrays = len(words.atoms), merge_arrays(graph)
    if count * _MERGES_PER_ATOM < len(arrays) or not worth_loading(count):
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
    starts = words.word_offsets[:-1].tolist()
    for start, found in zip(starts, derive_all(graph, words), strict=True):
        vertices = found.vertices
        for vertex in found.applications():
            for child in vertex.children[:-1]:
                closed_by[start + vertices[child].last] = arrays.places[vertex.merge or 0]
        for root in found.roots:
            token_at[start + vertices[root].last] = vertices[root].type
    return MergeSegmentation(words, closed_by, token_at, arrays)


def segment_after(
    graph: MergeGraph, before: MergeSegmentation, change: Change, threads: int | None = None
) -> MergeSegmentation:
    """Return `segment` after a change to the graph, given the segmentation before it.

    After a removal only pieces with a removed merge are segmented again.
    """
    arrays = merge_arrays(graph)
    if change.edit not in ("knockout", "cascade"):
        return segment(graph, before.words, threads)
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
    segment_pieces_anew(result, arrays, touched, threads)
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

    words, merges = segmentation.words, arrays.merges
    pieces, both = words.piece_offsets, (segmentation.closed_by, segmentation.token_at)
    pairs = None if arrays.pairs is None else (*arrays.pairs, merges.dense, merges.results)

    def run_short(first: int, last: int) -> None:
        if pairs is None:
            scan_pieces(words.atoms, pieces, first, last, merges, wanted, *both)
        else:
            segment_pairs(words.atoms, pieces, first, last, *pairs, wanted, *both)

    def run_long(first: int, last: int) -> None:
        offsets = words.word_offsets, pieces, first, last
        segment_pieces(words.atoms, *offsets, merges, NONE_OMITTED, is_long, *both)

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


def never_formed(graph: MergeGraph, edits: int = 0) -> list[int]:
    """Return the ids of types that merges make but never form, as a part comes too late.

    If a type has several merges, an edit can leave the one that does not apply. Removing these
    types with their merges (`MergeGraph.cascade`) changes no segmentation. ``edits``: only types
    that became so by this many last edits.

    >>> graph = MergeGraph.from_merges([("ab", "c"), ("a", "b"), ("b", "c")])
    >>> [graph.types[number] for number in never_formed(graph)]
    []
    >>> graph = MergeGraph.from_merges([("a", "bc"), ("a", "b"), ("b", "c")])
    >>> [graph.types[number] for number in never_formed(graph)]
    ['abc']
    """
    if merge_arrays(graph).is_plain:
        return []
    found = unreachable_types(graph, graph.misplaced())
    before = set(never_formed(graph.earlier(edits))) if found and edits else ()
    return [number for number in found if number not in before]


def unreachable_types(graph: MergeGraph, among: Iterable[int] | None = None) -> list[int]:
    """Return ids of present types, or ``among`` some, that their own string is not segmented into.

    A tuple merge that can no longer apply *disables* its result: a lower-ranked merge always takes
    one of its parts away first. Source: Bauwens & de Lhoneux 2026, §3.1.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("b", "c"), ("a", "bc")], alphabet="abc")
    >>> [graph.types[number] for number in unreachable_types(graph)]
    ['abc']
    """
    atoms = atoms_of(graph)
    looked_at = range(len(atoms)) if among is None else among
    present = [number for number in looked_at if len(atoms[number]) > 1]
    if not present:
        return []
    texts = [graph.types[number] for number in present]
    words = words_of_atoms(texts, [atoms[number] for number in present])
    ends = segment(graph, words).token_at[words.word_offsets[1:] - 1]
    return [number for number, token in zip(present, ends, strict=True) if token != number]

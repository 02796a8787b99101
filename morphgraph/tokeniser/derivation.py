"""How one word comes to be segmented: every merge that is applied, as trees over its atoms."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate, pairwise

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.words import Words

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
    order in which they were applied, piece after piece. ``roots``: the vertices of the tokens, from
    left to right. Trees are kept flat, so that a deep one needs no recursion.
    """

    vertices: tuple[Vertex, ...]
    roots: tuple[int, ...]

    @property
    def atom_count(self) -> int:
        """How many atoms the word has; they are the first vertices."""
        return next((i for i, v in enumerate(self.vertices) if v.children), len(self.vertices))

    @property
    def tokens(self) -> list[int]:
        """The type ids of the tokens."""
        return [self.vertices[root].type for root in self.roots]

    def applications(self) -> Iterator[Vertex]:
        """The vertices of merges, in the order in which they were applied."""
        return (vertex for vertex in self.vertices if vertex.children)

    def closed_by(self) -> list[int | None]:
        """For the gap behind each atom, the vertex of the merge that closed it; None if open."""
        closed: list[int | None] = [None] * self.atom_count
        for number, vertex in enumerate(self.vertices):
            for child in vertex.children[:-1]:
                closed[self.vertices[child].last] = number
        return closed


def derive(graph: MergeGraph, words: Words, word: int) -> Derivation:
    """Segment one word and keep every merge that is applied.

    Of all merges applicable somewhere, the lowest rank is applied, at its leftmost occurrence,
    until none applies: the tokens and closed gaps are those of `segment.segment`. Made for looking
    at single words: no table of all merges is built. Source: Sennrich et al. 2016; Bauwens &
    Delobelle 2024 for tuple merges.

    >>> from morphgraph.tokeniser.preprocess import Preprocessor, WordEncoder
    >>> graph = MergeGraph.from_merges([("u", "n"), ("d", "o"), ("un", "do", "s")])
    >>> words = WordEncoder(Preprocessor(), graph.ids).encode(["undos"])
    >>> found = derive(graph, words, 0)
    >>> [graph.describe(vertex.merge) for vertex in found.applications()]
    ['u + n → un', 'd + o → do', 'un + do + s → undos']
    >>> found.vertices[found.roots[0]].children
    (5, 6, 4)
    """
    return _derive(graph, words, word, _longest_type(graph))


def derive_all(graph: MergeGraph, words: Words) -> Iterator[Derivation]:
    """What `derive` gives for each word."""
    longest = _longest_type(graph)
    return (_derive(graph, words, word, longest) for word in range(len(words)))


def _longest_type(graph: MergeGraph) -> int:
    return max(map(len, graph.types), default=0)


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
    """Add the merges of the atoms from ``left`` to before ``right``; returns the roots."""
    waiting = _possible_merges(graph, vertices, left, right, longest)
    at = dict(zip(range(left, right), range(left, right), strict=True))  # first atom → vertex

    def parts_at(place: int, merge: int) -> tuple[int, ...] | None:
        found = []
        for part in graph.merge(merge).parts:
            vertex = at.get(place)
            if vertex is None or vertices[vertex].type != part:
                return None
            found.append(vertex)
            place = vertices[vertex].last + 1
        return tuple(found)

    # A merge becomes applicable when the last of its parts comes to stand there, and a token that
    # is gone never comes back, so each candidate is queued no more often than it has parts.
    queue: list[_Candidate] = []
    new = list(range(left, right))
    while True:
        for number in new:
            vertex = vertices[number]
            for level, place, rank, merge in waiting.get((vertex.first, vertex.type), ()):
                if parts_at(place, merge):
                    heappush(queue, (level, place, rank, merge))
        if not queue:
            return [at[place] for place in sorted(at)]
        _, place, _, merge = heappop(queue)
        children = parts_at(place, merge)
        new = []
        if children is None:
            continue
        for child in children:
            del at[vertices[child].first]
        at[place] = len(vertices)
        new = [len(vertices)]
        last = vertices[children[-1]].last
        vertices.append(Vertex(graph.merge(merge).result, merge, children, place, last))


def _possible_merges(
    graph: MergeGraph, vertices: list[Vertex], left: int, right: int, longest: int
) -> dict[tuple[int, int], list[_Candidate]]:
    """(first atom, type) of a part → what may use it.

    What a merge makes is a part of the word's text, so only merges of such types are looked at.
    """
    types, ids = graph.types, graph.ids
    # An atom outside the alphabet, or one that came into it after this state, is in no merge.
    texts = [types[v.type] if v.type < len(types) else None for v in vertices[left:right]]
    starts = [0, *accumulate(len(text or "") for text in texts)]
    atom_at = {start: left + i for i, start in enumerate(starts[:-1])}
    waiting: dict[tuple[int, int], list[_Candidate]] = {}
    levels = graph.levels() if graph.ties else {}
    for start in range(len(texts) - 1):
        text = ""
        for atom in texts[start:]:
            if atom is None or len(text) + len(atom) > longest:
                break
            text += atom
            result = ids.get(text)
            if result is None:
                continue
            for merge in graph.incoming(result):
                rank, parts, _ = graph.merge(merge)
                candidate = (levels.get(merge, rank), left + start, rank, merge)
                at = starts[start]
                for part in parts:
                    if at in atom_at:  # else the part begins inside an atom, and never comes
                        waiting.setdefault((atom_at[at], part), []).append(candidate)
                    at += len(types[part])
    return waiting

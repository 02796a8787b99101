"""Random small tokenisers and words for hypothesis."""

from hypothesis import strategies as st

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import EditError
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.tokeniser.encoding import WordEncoder
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser

ALPHABET = "abc"
LONGEST = 12

MergeList = list[tuple[str, ...]]

WORDS = st.text("abcd", max_size=20)
"""Words; the letter d is outside the alphabet of every tokeniser here."""


def seen(word):
    """What merges see of a word where there is no unknown token: d is left out before them."""
    return "".join(letter for letter in word if letter in ALPHABET)


@st.composite
def well_formed(draw, widest=4, size=10):
    """Merges whose parts are atoms or made by earlier merges.

    A type may be made in several ways, and a part may stand twice in a merge.
    """
    made = list(ALPHABET)
    merges = []
    for _ in range(draw(st.integers(0, size))):
        parts = tuple(draw(st.lists(st.sampled_from(made), min_size=2, max_size=widest)))
        result = "".join(parts)
        if len(result) <= LONGEST:
            merges.append(parts)
            if result not in made:
                made.append(result)
    return merges


@st.composite
def any_order(draw, widest=4):
    """Merges in an order that may put a type before what it is made of."""
    return draw(st.permutations(draw(well_formed(widest))))


@st.composite
def with_holes(draw):
    """As `any_order`, and the merges of some parts may be missing."""
    merges = draw(any_order())
    return [parts for parts in merges if draw(st.integers(0, 4))]


@st.composite
def with_words(draw):
    """Merges, and words put together from their types, so that long merges have a chance."""
    merges = draw(MERGES)
    types = ["".join(parts) for parts in merges]
    pieces = st.sampled_from([*types, *ALPHABET, "d"])
    return merges, draw(st.lists(st.lists(pieces, max_size=5).map("".join), max_size=8))


MERGES = well_formed() | any_order() | with_holes()


def word_counts(alphabet, longest, most):
    words = st.text(alphabet, min_size=1, max_size=longest)
    return st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=most)


def graph_of(merges, filler=0):
    """The graph of merges over `ALPHABET`, after so many atoms that no word has."""
    return MergeGraph.from_merges(merges, [*(chr(0xE000 + i) for i in range(filler)), *ALPHABET])


def bpe_of(merges, filler=0):
    """A tokeniser of these merges whose words are its atoms, without markers or bytes."""
    graph = graph_of(merges, filler)
    known = list(range(len(graph.types)))
    return BpeTokeniser("small", graph, Preprocessor(), known, frozenset(), {"model": {}})


def file_ids(tokeniser, texts, *, bare=False):
    """The tokens of texts as ids of the file."""
    found = segment(tokeniser.graph, tokeniser.encode(texts, bare=bare))
    tokens = map(found.tokens, range(len(texts)))
    return [list(map(tokeniser.vocabulary_id, each)) for each in tokens]


def token_texts(segmenter, listed):
    """The tokens of words as people see them; every token closes the gaps inside it."""
    words = segmenter.encode(listed)
    found = segmenter.segment(words)
    assert ((found.closed_by < 0) == (found.token_at != INSIDE_TOKEN)).all()
    return [
        [segmenter.token_text(words, *end) for end in found.token_ends(number)]
        for number in range(len(listed))
    ]


@st.composite
def tied_graphs(draw):
    """Merges of two to four types that are there already, in any order of rank; some may tie."""
    types = list("abc")
    merges = []
    for _ in range(draw(st.integers(1, 12))):
        parts = draw(st.lists(st.sampled_from(types), min_size=2, max_size=4))
        if sum(map(len, parts)) <= 12 and tuple(parts) not in merges:
            merges.append(tuple(parts))
            types.append("".join(parts))
    order = draw(st.permutations(merges)) if draw(st.booleans()) else merges
    graph = MergeGraph.from_merges(order, alphabet="abc")
    ties = draw(st.lists(st.integers(0, 2), max_size=len(order)))
    return MergeGraph(graph.types, graph.merges().values(), ties=dict(enumerate(ties)))


def observed(graph):
    """All that can be seen of the present types and merges."""
    present = graph.type_ids()
    return {
        "types": {number: graph.types[number] for number in present},
        "merges": dict(graph.merges()),
        "order": graph.merge_ids(),
        "origins": {number: graph.origin(number) for number in graph.merge_ids()},
        "incoming": {number: graph.incoming(number) for number in present},
        "outgoing": {number: graph.outgoing(number) for number in present},
        "atoms": {number for number in present if graph.is_atom(number)},
        "sizes": (graph.type_count, graph.merge_count),
    }


def check_graph(graph):
    """An `EditError` where a graph contradicts itself."""
    ranks = set()
    for number, (rank, parts, result) in graph.merges().items():
        line = graph.describe(number)
        if len(parts) < 2:
            raise EditError(f"Merge {line} has fewer than two parts.")
        if "".join(graph.types[part] for part in parts) != graph.types[result]:
            raise EditError(f"The parts of merge {line} do not concatenate to its result.")
        if rank in ranks:
            raise EditError(f"Rank {rank} is held by two merges; one of them is {line}.")
        ranks.add(rank)
        if not all(map(graph.is_present, (*parts, result))):
            raise EditError(f"Merge {line} uses a type that has been removed.")
        if number not in graph.incoming(result):
            raise EditError(f"Merge {line} is missing from its result.")
        if not all(number in graph.users(part) for part in parts):
            raise EditError(f"Merge {line} is missing from one of its parts.")
    types = range(len(graph.types))
    listed = sum(len(graph.incoming(number)) for number in types)
    used = sum(map(graph.fan_out, types))
    if listed != len(ranks) or used != sum(len(set(m.parts)) for m in graph.merges().values()):
        raise EditError("A type lists a merge that is not there.")


def segment_plain(graph, words, threads=None):
    """Segment words whose characters are the atoms: no markers, no bytes."""
    return segment(graph, WordEncoder(Preprocessor(), graph.ids).encode(words), threads)


SEVERAL_MERGES = [("a", "bcd"), ("b", "c"), ("a", "bc"), ("abc", "d"), ("abcd", "e"), ("bc", "d")]
"""abcd is formed as abc + d, but its first merge is a + bcd, and bcd comes later.

Without abcd, abcde is a + bcd + e; but b + c and a + bc take away what bcd is made of.
"""

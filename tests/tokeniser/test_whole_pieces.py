"""``ignore_merges``: a piece that is a type stays whole, whatever its merges."""

import json
from unittest.mock import patch

import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import small_document, small_tokeniser
from strategies import ALPHABET, MERGES, any_order, seen
from tokenizers import Tokenizer

import morphgraph as mg
from morphgraph.core.errors import FileFormatError
from morphgraph.draw.merge_tree import describe_tree
from morphgraph.formats.export import our_ids, standalone_method
from morphgraph.formats.hugging_face import (
    from_tokenizer_json,
    new_ids,
    special_token,
    to_tokenizer_json,
)
from morphgraph.refine.blame import blame
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.models import exported_model
from morphgraph.segment.pieces import PieceKernel
from morphgraph.tokeniser import merging
from morphgraph.tokeniser.merging import (
    derive,
    never_formed,
    segment,
    segment_after,
    unformed_types,
    unreachable_types,
)

CUT = [("b", "c"), ("a", "b"), ("ab", "c")]
"""abc is cut as a + bc, as its own merge comes too late."""
BYTES = {f"<0x{byte:02X}>": 100 + byte for byte in range(256)}
SETTINGS = [
    {},
    {"unk_token": "<unk>"},
    {"unk_token": "<unk>", "fuse_unk": True},
    {"byte_fallback": True},
]


def made(merges, more, **settings):
    """A tokeniser in which pieces stay whole, with some types that no merge makes."""
    document = small_document(merges, ALPHABET, ignore_merges=True, **settings)
    vocabulary = document["model"]["vocab"]
    vocabulary |= BYTES if "byte_fallback" in settings else {"<unk>": 99}
    for text in more:
        vocabulary.setdefault(text, 1_000 + len(vocabulary))
    return from_tokenizer_json(json.dumps(document).encode(), "whole.json")


@st.composite
def cases(draw, merges):
    """Merges, further types, and words put together from all of them."""
    listed = list(dict.fromkeys(draw(merges)))
    parts = st.sampled_from([*map("".join, listed), *ALPHABET, "d", "é"])
    texts = st.lists(parts, min_size=1, max_size=4).map("".join)
    more = draw(st.lists(texts.filter(lambda text: len(text) > 1), max_size=3))
    return listed, more, [*draw(st.lists(texts, max_size=6)), *map("".join, listed), *more]


@pytest.mark.parametrize("word", ["abc", "abcd", "dabc", "abdc", "d", "dabcd abc"])
def test_a_piece_that_lost_a_character_is_no_type(word):
    document = json.dumps(small_document(CUT, "abc", ignore_merges=True))
    tokeniser = from_tokenizer_json(document.encode(), "whole.json")
    found = segment(tokeniser.graph, tokeniser.encode([word], bare=True))
    named = [tokeniser.graph.types[token] for token in found.tokens(0) if token >= 0]
    assert named == Tokenizer.from_str(document).encode(word).tokens


@pytest.mark.parametrize("few", [True, False])
@examples(60)
@given(case=cases(MERGES), data=st.data())
def test_as_oracle(few, case, data):
    """A type is one token, closed by its first merge; after edits too, with or without kernels."""
    tokeniser = made(*case[:2])
    graph, words = tokeniser.graph, tokeniser.encode(case[2])
    loaded = {*graph.types}
    with patch.object(merging, "worth_loading", lambda _: not few):
        before = segment(graph, words)
        types = [text for text in graph.types if graph.is_removable(graph.ids[text])]
        chosen = data.draw(st.sets(st.sampled_from(types), max_size=2)) if types else set()
        edit = graph.cascade if data.draw(st.booleans()) else graph.knockout
        found = segment_after(graph, before, edit(chosen))
    plain = {m.rank: tuple(graph.types[p] for p in m.parts) for m in graph.merges().values()}
    places = {rank: place for place, rank in enumerate(plain)}
    for number, word in enumerate(case[2]):
        # d and é are left out, unless the piece may stay whole.
        tokens, closed = oracles.segment(plain, word if word in loaded else seen(word))
        if word in graph and tokens != [word]:
            own = [rank for rank, parts in plain.items() if "".join(parts) == word]
            tokens, closed = [word], [own[0] if own else -1] * (len(word) - 1) + [None]
        expected = [(places | {None: -1, -1: len(plain)})[rank] for rank in closed]
        start, end = words.word_offsets[number : number + 2]
        assert found.closed_by[start:end].tolist() == expected
        ends = found.token_ends(number)
        assert [tokeniser.token_text(words, at, token) for at, token in ends] == tokens
        tree = derive(graph, words, number)
        assert [tree.vertices[root].type for root in tree.roots] == found.tokens(number)
        assert [vertex is None for vertex in tree.closed_by()] == [n < 0 for n in expected]


@pytest.mark.slow
@examples(200)
@given(case=cases(any_order(widest=2)), data=st.data())
def test_as_the_library_and_the_exported_class(case, data):
    """As loaded, and after a cascade, with the ids of removed types kept or not."""
    settings = data.draw(st.sampled_from(SETTINGS))
    tokeniser = made(*case[:2], **settings)
    graph = tokeniser.graph
    if types := [text for text in graph.types if graph.is_removable(graph.ids[text])]:
        graph.cascade(data.draw(st.sets(st.sampled_from(types), max_size=2)))
    tokeniser.id_choice = data.draw(st.sampled_from(["keep", "dense"]))
    # Without an unknown token, the library drops a character and merges its neighbours.
    words = [word for word in case[2] if settings or not {"d", "é"} & {*word}]
    ours = our_ids(tokeniser, words, new_ids(tokeniser))
    library = Tokenizer.from_str(to_tokenizer_json(tokeniser)[0].decode())
    assert [library.encode(word).ids for word in words] == ours
    model = exported_model(Bte(tokeniser))
    method = standalone_method(model)
    assert [[token.id for token in method(word)] for word in words] == ours
    kernel = PieceKernel(model.document["model"])(words)
    for rows, ids in zip(kernel, ours, strict=True):
        assert rows is None or [number for number, *_ in rows] == ids


def test_dropout_ignores_it():
    tokeniser = small_tokeniser(CUT, ignore_merges=True)
    words = tokeniser.encode(["abc"])
    for p, count in ((0.0, 1), (1.0, 3)):
        assert len(Dropout(tokeniser, p=p).segment(words).tokens(0)) == count


def test_blame():
    # abc, gold a|bc, is one token by ab + c, which closed both joins, the first of them wrongly;
    # cab, gold c|ab, is one token that no merge makes: nothing is to blame. bc is b + c.
    tokeniser = made(CUT, ["cab"])
    gold = mg.read_gold([("abc", ["a", "bc"]), ("cab", ["c", "ab"]), ("bc", ["bc"])])
    benchmark = Benchmark.on(gold, tokeniser)
    found = blame(benchmark, segment(tokeniser.graph, benchmark.words))
    assert (found.applied.tolist(), found.blamed.tolist()) == ([1, 0, 2], [0, 0, 1])
    once = blame(benchmark, segment(tokeniser.graph, benchmark.words), tuples_once=True)
    assert (once.applied.tolist(), once.blamed.tolist()) == ([1, 0, 1], [0, 0, 1])
    tokeniser.graph.knockout(["abc"])
    words = segment(tokeniser.graph, benchmark.words)
    assert [words.splits(number) for number in range(3)] == [[1], [], []]


def test_what_is_unreachable():
    """Nothing is: every type is emitted as a whole piece, though merges do not form it."""
    graph = small_tokeniser(CUT, ignore_merges=True).graph
    assert (unreachable_types(graph), never_formed(graph)) == ([], [])
    assert [graph.types[number] for number in unformed_types(graph)] == ["abc"]
    assert unreachable_types(small_tokeniser(CUT).graph) == unformed_types(graph)
    assert graph.state != small_tokeniser(CUT).graph.state
    assert graph.original().never_whole == graph.copy().never_whole == frozenset()


def test_an_added_token_that_is_no_type_of_the_model_is_not_whole():
    added = {**special_token("ab", 9), "single_word": True}
    document = small_document([("b", "c")], "abcx", ignore_merges=True, added_tokens=[added])
    document["pre_tokenizer"] = {"type": "CharDelimiterSplit", "delimiter": "_"}
    data = json.dumps(document)
    tokeniser = from_tokenizer_json(data.encode(), "added.json")
    tokeniser.id_choice = "dense"  # as the library numbers them
    library = Tokenizer.from_str(data)
    for text in ("ab_x", "ab x", "bc_ab"):
        assert our_ids(tokeniser, [text], new_ids(tokeniser)) == [library.encode(text).ids]
    assert library.encode("ab_x").tokens[:2] == ["a", "b"]


def test_the_tree_of_a_whole_piece():
    tokeniser = made(CUT, ["cab", "aé"])
    words = tokeniser.encode(["abc", "cab", "aé"])
    trees = [describe_tree(tokeniser, words, number) for number in range(3)]
    shown = [(m.description, m.rank, m.merge) for tree in trees for m in tree.merges]
    texts = ["a + b + c → abc", "c + a + b → cab", "a + � → aé"]
    assert shown == list(zip(texts, [None] * 3, [2, -1, -1], strict=True))


def test_a_suffix_is_refused():
    with refused(FileFormatError):
        small_tokeniser(CUT, ignore_merges=True, end_of_word_suffix="</w>")

"""Merging: by hand, after removals, in odd tokenisers, and what can be reached."""

import json
from unittest.mock import patch

import numpy as np
import oracles
import pytest
from effort import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import refused
from small import small_document
from strategies import (
    ALPHABET,
    MERGES,
    SEVERAL_MERGES,
    any_order,
    graph_of,
    segment_plain,
    with_words,
)

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import ADDED_TOKENS
from morphgraph.formats.hugging_face import from_tokenizer_json, special_token, to_tokenizer_json
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import EditError
from morphgraph.kernels import merge_lookup, segmenting, segmenting_pairs
from morphgraph.tokeniser.merging import never_formed, segment, segment_after, unreachable_types
from morphgraph.tokeniser.words import UNKNOWN


def tokens_of(segmentation, graph, word):
    """The tokens of a word as strings; a character outside the alphabet as itself."""
    unknown = segmentation.words.unknown
    return [
        unknown[atom] if token == UNKNOWN else graph.types[token]
        for atom, token in segmentation.token_ends(word)
    ]


EXAMPLES = [
    ([("a", "a")], ["aaaaa", "aaaa", "", "a"]),
    ([("a", "c")], ["ac", "acac"]),
    ([("a", "b", "a")], ["ababa", "ababab", "abaaba"]),
    ([("a", "b"), ("ab", "ab"), ("ab", "ab", "ab")], ["ababababab"]),
    ([("ab", "c"), ("a", "b"), ("b", "c")], ["abc", "abcabc"]),
    ([("a", "a", "a"), ("a", "a")], ["aaaaa", "aaaaaaaa"]),
    ([("b", "c"), ("a", "b", "c"), ("a", "b")], ["abc", "aabc"]),
    ([("a", "b", "c", "a"), ("a", "b")], ["abcbcabca", "abcabca"]),
    # What a merge makes is the last of many parts, so a place far to its left changes.
    ([("b", "c"), ("a", "a", "a", "bc")], ["aaabc", "aaaaabc"]),
    ([("b", "c"), ("a", "a", "bc", "a"), ("a", "a", "a", "a", "a")], ["aabcaaaaabca"]),
]


PATHS = {"low ids": 0, "both": merge_lookup.DENSE - 2, "high ids": merge_lookup.DENSE}
PATHS["long pieces"] = 0


@pytest.mark.parametrize("path", PATHS)
@examples(200)
@given(drawn=with_words())
def test_as_oracle(path, drawn):
    """On each of the kernel's ways: low ids have a table of their own, and long pieces a heap."""
    assert_as_oracle(path, *drawn)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("merges, words", EXAMPLES)
def test_examples_as_oracle(path, merges, words):
    assert_as_oracle(path, merges, words)


def assert_as_oracle(path, merges, words):
    graph = graph_of(merges, filler=PATHS[path])
    is_long = path == "long pieces"
    with (
        patch.object(segmenting, "SCANNED", 1 if is_long else segmenting.SCANNED),
        patch.object(segmenting_pairs, "SHORT", 1 if is_long else segmenting_pairs.SHORT),
    ):
        found = segment_plain(graph, words)
    for number, word in enumerate(words):
        tokens, closed_by = oracles.segment(oracles.listed(merges), word)
        assert tokens_of(found, graph, number) == tokens
        start, end = found.words.word_offsets[number : number + 2]
        ids = found.arrays.merge_ids
        assert [int(ids[i]) if i >= 0 else None for i in found.closed_by[start:end]] == closed_by
        at = np.cumsum([len(token) for token in tokens])[:-1]
        assert found.splits(number) == at.tolist()


@given(st.lists(st.text("abc", min_size=1, max_size=30), min_size=1, max_size=200))
def test_threads_make_no_difference(words):
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "c"), ("abc", "cc", "a")])
    once = segment_plain(graph, words * 50, threads=1)
    twice = segment_plain(graph, words * 50, threads=3)
    assert np.array_equal(once.closed_by, twice.closed_by)
    assert np.array_equal(once.token_at, twice.token_at)


def removable(graph):
    return [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]


@examples(200)
@given(drawn=with_words(), data=st.data())
def test_a_segmentation_after_a_removal_is_one_made_anew(drawn, data):
    """One removal after the other, also where types have several merges or these come too early."""
    merges, words = drawn
    graph = graph_of(merges)
    known = segment_plain(graph, words)
    while types := removable(graph):
        chosen = data.draw(st.lists(st.sampled_from(types), min_size=1, max_size=3, unique=True))
        cascade = data.draw(st.booleans())
        change = graph.cascade(chosen) if cascade else graph.knockout(chosen)
        known = segment_after(graph, known, change)
        anew = segment(graph, known.words)
        assert known.arrays is anew.arrays
        np.testing.assert_array_equal(known.closed_by, anew.closed_by)
        np.testing.assert_array_equal(known.token_at, anew.token_at)


@given(MERGES)
def test_as_defined(merges):
    """A type is unreachable if its own string is segmented into anything but that one token."""
    graph = graph_of(merges)
    produced = {"".join(parts) for parts in merges}
    parts = {part for merge in merges for part in merge}
    assume(parts <= produced | set(ALPHABET))  # for atoms of several characters, see below
    found = {graph.types[number] for number in unreachable_types(graph)}
    plain = oracles.listed(merges)
    assert found == {text for text in produced if oracles.segment(plain, text)[0] != [text]}


@given(MERGES)
def test_misplaced(merges):
    graph = graph_of(merges)
    found = {graph.types[number] for number in graph.misplaced()}
    assert found == oracles.misplaced(oracles.listed(merges))


def test_an_atom_of_several_characters_counts_as_one():
    graph = MergeGraph.from_merges([("</w>", "a")], ["a", "</w>"])
    assert unreachable_types(graph) == []


def test_an_edit_may_leave_types_that_nothing_forms():
    graph = MergeGraph.from_merges(SEVERAL_MERGES, "abcde")
    assert never_formed(graph) == []
    graph.knockout(["abcd"])
    assert [graph.types[number] for number in never_formed(graph)] == ["abcde"]
    graph.knockout(["bcd"])  # abcde is a + b + c + d + e now, and still nothing forms it
    assert unreachable_types(graph) == [graph.id_of("abcde")]


@given(any_order(widest=2) | MERGES, st.lists(st.text("abcd", max_size=20)), st.data())
def test_removing_what_is_never_formed_changes_no_token(merges, words, data):
    graph = graph_of(merges)
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    if types:
        graph.knockout(data.draw(st.lists(st.sampled_from(types), unique=True, max_size=2)))
    never = [graph.types[number] for number in never_formed(graph)]
    words += never + [a + b for a in never for b in never]

    def segmented():
        merges = {m.rank: tuple(graph.types[p] for p in m.parts) for m in graph.merges().values()}
        return [oracles.segment(merges, word)[0] for word in words]

    before = segmented()
    graph.cascade(never)
    assert not any(text in graph for text in never)
    assert never_formed(graph) == []
    assert segmented() == before


def loaded(document):
    return from_tokenizer_json(json.dumps(document).encode(), "t.json")


def tokens(tokeniser, text):
    found = segment(tokeniser.graph, tokeniser.encode([text], bare=True))
    return [tokeniser.graph.types[token] for token in found.tokens(0)]


def added(number, content, **flags):
    return {**special_token(content, number), "special": False, **flags}


def test_an_added_token_that_a_merge_makes_stays():
    document = small_document([("a", "b"), ("ab", "c")])
    number = document["model"]["vocab"]["ab"]
    document["added_tokens"] = [added(number, "ab")]
    tokeniser = loaded(document)
    with refused(EditError):
        tokeniser.graph.knockout(["ab"])
    tokeniser.graph.cascade(["abc"])
    saved, _ = to_tokenizer_json(tokeniser)
    assert tokens(from_tokenizer_json(saved, "t.json"), "cab") == ["c", "ab"]


def test_the_end_of_a_word_cannot_be_removed():
    document = small_document([("b", "</w>"), ("a", "b</w>")])
    document["model"]["end_of_word_suffix"] = "</w>"
    tokeniser = loaded(document)
    with refused(EditError):
        tokeniser.graph.knockout(["b</w>"])
    tokeniser.graph.knockout(["ab</w>"])
    assert tokens(tokeniser, "ab") == ["a", "b</w>"]


def test_too_many_added_tokens_are_refused():
    document = small_document([("a", "b")])
    document["added_tokens"] = [added(9 + n, f"<{n}>") for n in range(ADDED_TOKENS.usual + 1)]
    with refused(FileFormatError):
        loaded(document)


def test_a_failing_pattern_is_an_error_not_a_panic():
    document = small_document([("a", "b")], alphabet="x")
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    document["pre_tokenizer"] = {**split, "pattern": {"Regex": "(x+x+)+y"}}
    tokeniser = loaded(document)
    with refused():
        tokeniser.encode(["x" * 40])


def test_a_knockout_of_doubling_types_takes_no_quadratic_time():
    merges = [("a" * 2**k, "a" * 2**k) for k in range(17)]
    tokeniser = loaded(small_document(merges))
    change = tokeniser.graph.knockout(["a" * 2**k for k in range(1, 17)])
    assert [len(entry.new_parts) for entry in change.rewired] == [2**17]

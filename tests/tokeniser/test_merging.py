"""Segmentation by merges against the naive oracle, and by hand."""

import numpy as np
import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, WORDS, MergeList, graph_of, segment_plain, with_words

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.kernels import merge_lookup
from morphgraph.tokeniser.words import NO_GAP, UNKNOWN, Segmentation


def tokens_of(segmentation: Segmentation, graph: MergeGraph, word: int) -> list[str]:
    """The tokens of a word as strings; a character outside the alphabet as itself."""
    unknown = segmentation.words.unknown
    return [
        unknown[atom] if token == UNKNOWN else graph.types[token]
        for atom, token in segmentation.token_ends(word)
    ]


def closed_by_of(segmentation: Segmentation, word: int) -> list[int | None]:
    """For the gap behind each atom of a word, the id of the merge that closed it."""
    start, end = segmentation.words.word_offsets[word : word + 2]
    merge_ids = segmentation.arrays.merge_ids
    return [int(merge_ids[i]) if i >= 0 else None for i in segmentation.closed_by[start:end]]


EXAMPLES: list[tuple[MergeList, list[str]]] = [
    ([("a", "a")], ["aaaaa", "aaaa", "", "a"]),
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


@pytest.mark.parametrize("path", ["low ids", "high ids"])
@examples(200)
@given(drawn=with_words())
def test_as_oracle(path: str, drawn: tuple[MergeList, list[str]]) -> None:
    """On each of the kernel's ways: low ids have a table of their own."""
    assert_as_oracle(path, *drawn)


@pytest.mark.parametrize("path", ["low ids", "high ids"])
@pytest.mark.parametrize("merges, words", EXAMPLES)
def test_examples_as_oracle(path: str, merges: MergeList, words: list[str]) -> None:
    assert_as_oracle(path, merges, words)


def assert_as_oracle(path: str, merges: MergeList, words: list[str]) -> None:
    graph = graph_of(merges, filler=merge_lookup.DENSE if path == "high ids" else 0)
    found = segment_plain(graph, words)
    for number, word in enumerate(words):
        tokens, closed_by = oracles.segment(oracles.listed(merges), word)
        assert tokens_of(found, graph, number) == tokens
        assert closed_by_of(found, number) == closed_by
        at = np.cumsum([len(token) for token in tokens])[:-1]
        assert found.splits(number) == at.tolist()


@given(MERGES, st.lists(WORDS, max_size=4))
def test_oracle_with_lookup(merges: MergeList, words: list[str]) -> None:
    """The faster oracle, for tests on real data, is the same as the plain one."""
    plain = oracles.listed(merges)
    for word in words:
        assert oracles.Lookup(plain).segment(word) == oracles.segment(plain, word)[0]


def test_neighbouring_occurrences() -> None:
    # A merge applies to neighbours, also to those that it has just made.
    graph = MergeGraph.from_merges([("a", "b")])
    assert tokens_of(segment_plain(graph, ["ababab"]), graph, 0) == ["ab", "ab", "ab"]


def test_two_merges_of_one_type_are_told_apart() -> None:
    # abc comes from ab + c where ab is merged before bc, and from a + bc where it is after.
    merges = [("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")]
    graph = MergeGraph.from_merges(merges, "abc")
    assert closed_by_of(segment_plain(graph, ["abc"]), 0) == [0, 2, None]
    without = MergeGraph.from_merges([("b", "c"), ("a", "b"), ("ab", "c"), ("a", "bc")], "abc")
    assert closed_by_of(segment_plain(without, ["abc"]), 0) == [3, 0, None]


@given(st.lists(st.text("abc", min_size=1, max_size=30), min_size=1, max_size=200))
def test_threads_make_no_difference(words: list[str]) -> None:
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "c"), ("abc", "cc", "a")])
    once = segment_plain(graph, words * 50, threads=1)
    twice = segment_plain(graph, words * 50, threads=3)
    assert np.array_equal(once.closed_by, twice.closed_by)
    assert np.array_equal(once.token_at, twice.token_at)


@pytest.mark.slow
def test_threads_are_used_on_much_text() -> None:
    """Blocks end between words: the same result where several threads really run."""
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "a")])
    words = ["abcabcab", "cab", "a", "bcabca"] * 20_000
    once = segment_plain(graph, words, threads=1)
    thrice = segment_plain(graph, words, threads=3)
    assert np.array_equal(once.closed_by, thrice.closed_by)
    assert np.array_equal(once.token_at, thrice.token_at)
    assert tokens_of(thrice, graph, 79_999) == ["b", "c", "abc", "a"]


def test_no_words_and_no_merges() -> None:
    empty = MergeGraph.from_merges([], "ab")
    assert len(segment_plain(empty, []).closed_by) == 0
    assert segment_plain(empty, ["ab"]).tokens(0) == [0, 1]
    merging = MergeGraph.from_merges([("a", "b")])
    assert segment_plain(merging, []).token_at.tolist() == []
    assert segment_plain(merging, ["", "ab", ""]).tokens(1) == [2]
    assert segment_plain(merging, ["", "ab", ""]).tokens(2) == []


def test_changed_words() -> None:
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c")])
    words = ["abc", "ab", "cab", "ccc"]
    before = segment_plain(graph, words)
    graph.knockout(["ab"])
    after = segment_plain(graph, words)
    # abc is still made, now from a + b + c at once; ab and cab fall apart.
    assert after.changed_words(before).tolist() == [1, 2]
    assert before.changed_words(after).tolist() == [1, 2]
    assert after.changed_words(after).tolist() == []


def test_the_end_of_a_word_is_no_gap() -> None:
    graph = MergeGraph.from_merges([], "ab")
    words = segment_plain(graph, ["ab", "b"]).words
    assert words.gap_position.tolist() == [1, NO_GAP, NO_GAP]


@pytest.mark.parametrize("length", [1, 2, 50, 3000])
def test_one_letter_over_and_over(length: int) -> None:
    graph = MergeGraph.from_merges([("a", "a"), ("aa", "aa"), ("aaaa", "aaaa")])
    eights, rest = divmod(length, 8)
    expected = ["a" * 8] * eights + ["a" * n for n in (4, 2, 1) if rest & n]
    assert tokens_of(segment_plain(graph, ["a" * length]), graph, 0) == expected

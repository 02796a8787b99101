"""Derivations: the same segmentation as the kernel's, and trees that hold together."""

from itertools import pairwise

import oracles
import pytest
from effort import examples, one_of
from hypothesis import example, given
from strategies import graph_of, segment_plain, with_words

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.merging import derive


def closed_merges(found):
    """For the gap behind each atom, the id of the merge that closed it."""
    return [None if v is None else found.vertices[v].merge for v in found.closed_by()]


def tokens_of(found):
    return [found.vertices[root].type for root in found.roots]


def assert_same(graph, segmentation, word):
    words = segmentation.words
    found = derive(graph, words, word)
    start, end = (int(offset) for offset in words.word_offsets[word : word + 2])
    assert tokens_of(found) == segmentation.tokens(word)
    ids = segmentation.arrays.merge_ids
    closed = segmentation.closed_by[start:end]
    assert closed_merges(found) == [int(ids[c]) if c >= 0 else None for c in closed]
    ends = [start + found.vertices[root].last for root in found.roots]
    assert ends == [atom for atom, _ in segmentation.token_ends(word)]
    assert_is_forest(graph, words, word, found)
    return found


def assert_is_forest(graph, words, word, found):
    """Every vertex but the roots is the child of one later vertex, and spans join up."""
    start, end = words.word_offsets[word : word + 2]
    atoms = words.atoms[start:end].tolist()
    assert [v.type for v in found.vertices[: found.atom_count]] == atoms
    parents = [child for vertex in found.vertices for child in vertex.children]
    assert sorted([*parents, *found.roots]) == list(range(len(found.vertices)))
    for number, vertex in enumerate(found.vertices):
        children = [found.vertices[child] for child in vertex.children]
        if not children:
            assert vertex.merge is None
            assert vertex.first == vertex.last == number
            continue
        _, parts, result = graph.merge(vertex.merge)
        assert (vertex.type, tuple(c.type for c in children)) == (result, parts)
        assert all(a.last + 1 == b.first for a, b in pairwise(children))
        assert (vertex.first, vertex.last) == (children[0].first, children[-1].last)
        assert all(child < number for child in vertex.children)


@examples(400)
@given(with_words())
@example(([("ab", "c"), ("a", "b"), ("b", "c")], ["abc", "abcabc"]))
@example(([("a", "b", "a")], ["ababa", "ababab", "abaaba"]))
@example(([("b", "c"), ("a", "a", "bc", "a"), ("a",) * 5], ["aabcaaaaabca"]))
@example(([("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc"), ("a", "b")], ["abc", "dabcd"]))
def test_as_segment(drawn):
    merges, words = drawn
    graph = graph_of(merges)
    segmentation = segment_plain(graph, words)
    for number, word in enumerate(words):
        found = assert_same(graph, segmentation, number)
        tokens, closed = oracles.segment(oracles.listed(merges), word)
        assert closed_merges(found) == closed
        spans = [found.vertices[root] for root in found.roots]
        assert [word[span.first : span.last + 1] for span in spans] == tokens


@examples(100)
@given(with_words())
def test_as_segment_after_knockouts(drawn):
    merges, words = drawn
    graph = graph_of(merges)
    removable = [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]
    graph.knockout(removable[::2])
    segmentation = segment_plain(graph, words)
    for number in range(len(words)):
        assert_same(graph, segmentation, number)


def test_an_atom_that_came_later_stands_alone():
    """A state before an edit that widened the alphabet, with words encoded after it."""
    merges = [("a", "b"), ("ab", "a")]
    earlier = MergeGraph.from_merges(merges)
    later = MergeGraph([*earlier.types, "x"], earlier.merges().values())
    words = segment_plain(later, ["abxaba"]).words
    found = derive(earlier, words, 0)
    spans = [found.vertices[root] for root in found.roots]
    assert [(span.first, span.last) for span in spans] == [(0, 1), (2, 2), (3, 5)]
    assert tokens_of(found)[1] == later.ids["x"]


@pytest.mark.slow
@pytest.mark.parametrize("merges", one_of([("a", "a")], [("a" * n, "a") for n in range(1, 500)]))
def test_deep_trees_of_long_words_need_no_recursion(merges):
    graph = MergeGraph.from_merges(merges)
    segmentation = segment_plain(graph, ["a" * 500])
    found = derive(graph, segmentation.words, 0)
    assert tokens_of(found) == segmentation.tokens(0)
    assert found == derive(graph, segmentation.words, 0)
    assert_same(graph, segmentation, 0)

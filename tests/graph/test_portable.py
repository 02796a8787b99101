"""Edits that leave only pair merges."""

from collections import Counter
from itertools import pairwise

import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, check_graph, graph_of, segment_plain

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.merging import unreachable_types


def portable(merges, drop):
    """The pair merges that remain, in order, by strings."""
    kept = []
    makers = Counter(map("".join, merges.values()))
    gone = set()

    def tokens_of(text):
        return oracles.segment(oracles.listed(kept), text)[0]

    for _, parts in sorted(merges.items()):
        result = "".join(parts)
        if parts in kept or result in drop:
            makers[result] -= 1
            if not makers[result]:
                gone.add(result)
            continue
        if len(parts) == 2 and gone.isdisjoint(parts):
            kept.append(parts)
            continue
        before, tokens, made = len(kept), tokens_of(result), list[str]()
        while len(tokens) > 2:
            joins = [x + y for x, y in pairwise(tokens)]
            at = next((i for i, t in enumerate(joins) if makers[t] and t not in drop), None)
            if at is None:
                break
            if (tokens[at], tokens[at + 1]) not in kept[before:]:
                kept.append((tokens[at], tokens[at + 1]))
                made.append(joins[at])
            tokens[at : at + 2] = [joins[at]]
        chain = [*kept[before:], tuple(tokens)]
        is_new = set(chain).isdisjoint(kept[:before])
        kept.append(tuple(tokens))
        if len(tokens) != 2 or not is_new or tokens_of(result) != [result]:
            del kept[before:], made[:]
            makers[result] -= 1
            if not makers[result]:
                gone.add(result)
        makers.update(made)
    while True:
        left = [p for p in kept if gone.isdisjoint((*p, "".join(p)))]
        gone |= {"".join(p) for p in kept} - set(map("".join, left))
        if left == kept:
            return kept
        kept = left


@examples(300)
@given(MERGES, st.data())
def test_portable_is_as_by_strings(merges, data):
    graph = graph_of(merges)
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    graph.knockout(data.draw(st.lists(st.sampled_from(types), unique=True)) if types else [])
    plain = {
        merge.rank: tuple(graph.types[part] for part in merge.parts)
        for merge in graph.merges().values()
    }
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    drop = data.draw(st.lists(st.sampled_from(types), unique=True, max_size=3)) if types else []
    before, was = graph.recipe(), graph.state
    change = graph.portable(drop)
    check_graph(graph)
    expected = portable(plain, drop)
    found = [tuple(graph.types[p] for p in merge.parts) for merge in graph.merges().values()]
    assert found == expected
    assert not graph.has_tuples
    # What a kept merge makes is formed unless an earlier pair takes a part of it away.
    words = [graph.types[n] for n in graph.type_ids() if set(graph.types[n]) <= set("abc")]
    tokens = segment_plain(graph, words)
    for number, word in enumerate(words):
        texts = [graph.types[token] for token in tokens.tokens(number)]
        assert texts == oracles.segment(oracles.listed(expected), word)[0]
    recipe = graph.recipe()
    if not change.is_empty:
        graph.undo()
    assert (graph.recipe(), graph.state) == (before, was)
    other = graph_of(merges)
    other.replay(recipe)
    if not change.is_empty:
        graph.redo()
    assert other.state == graph.state


def test_a_chain_goes_through_types_that_are_there():
    graph = MergeGraph.from_merges([("b", "c"), ("a", "bc"), ("a", "b"), ("abc", "a")])
    graph.knockout(["bc"])  # abc is a + b + c now
    without = graph.after(graph.preview_portable(["abc"]))
    assert [without.describe(merge) for merge in without.merge_ids()] == ["a + b → ab"]
    graph.portable()
    found = [graph.describe(merge) for merge in graph.merge_ids()]
    assert found == ["a + b → ab", "ab + c → abc", "abc + a → abca"]
    assert not unreachable_types(graph)


@pytest.mark.parametrize(("ties", "parts"), [({}, "a + bcd"), ({1: 0, 2: 0}, "ab + cd")])
def test_of_tied_pairs_the_left_one_comes_first(ties, parts):
    merges = [("c", "d"), ("b", "c", "d"), ("a", "b"), ("a", "b", "c", "d")]
    graph = MergeGraph.from_merges(merges)
    graph = MergeGraph(graph.types, graph.merges().values(), ties=ties)
    graph.portable()
    assert graph.describe(graph.merge_ids()[-1]) == f"{parts} → abcd"
    assert not unreachable_types(graph)


def test_a_chain_has_no_pair_twice():
    graph = MergeGraph.from_merges([("a", "b"), ("x", "y", "x", "y"), ("x", "y")])
    graph.portable()
    assert [graph.describe(merge) for merge in graph.merge_ids()] == [
        "a + b → ab",
        "x + y → xy",
        "xy + xy → xyxy",
    ]

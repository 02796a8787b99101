"""Knocking out by blame or by a baseline, with scores before and after."""

import math

import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import small_reference, small_tokeniser
from strategies import MERGES, graph_of

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.knockout import KnockoutSettings, baseline_types, knock_out, share_of_leaves
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.score.boundaries import Benchmark, score_report
from morphgraph.tokeniser.merging import segment

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("undo", "ing")]
# Both lines are one token each. un + do is wrong in one of two words (R = 1/2), undo + ing in one
# of one (R = 1), the others in none.
LINES = ("un do ing", "undo")


def removed(reference, settings):
    tokeniser = small_tokeniser(UNDO)
    result = knock_out(tokeniser, Benchmark.build(tokeniser, reference), settings)
    gone = removed_by(tokeniser, result)
    assert all(text not in tokeniser.graph for text in gone)
    assert tokeniser.vocabulary_size == 12 - len(gone)
    assert ("learned" in result.change.step) is (settings.select == "blame")
    return gone


def removed_by(tokeniser, result):
    return [tokeniser.graph.types[number] for number in result.change.removed_types]


def score_of(tokeniser, reference):
    benchmark = Benchmark.build(tokeniser, reference)
    return benchmark.scores(segment(tokeniser.graph, benchmark.words))[0]


def test_golden():
    tokeniser = small_tokeniser(UNDO)
    reference = small_reference(*LINES)
    before = score_of(tokeniser, reference)
    result = knock_out(tokeniser, Benchmark.build(tokeniser, reference))
    assert removed_by(tokeniser, result) == ["undoing", "undo"]
    # Before: no split at all. After: un|do|ing and un|do, so 2 of 3 splits are right.
    after = score_of(tokeniser, reference)
    assert (before.true_positives, before.predicted, before.relevant) == (0, 0, 2)
    assert (after.true_positives, after.predicted, after.relevant) == (2, 3, 2)
    # N: u+n 2, d+o 2, un+do 2, i+n 1, in+g 1, undo+ing 1: 3 of 9 joins, 2 of 6 merges.
    assert result.dropout_rate == pytest.approx(3 / 9)
    assert result.share_of_merges == pytest.approx(2 / 6)
    leaves = share_of_leaves(tokeniser.graph)
    assert leaves == pytest.approx(1 / 3), "undoing, of in, ing and undoing"
    assert tokeniser.vocabulary_size == 10
    assert tokeniser.graph.history == (result.change,)
    benchmark = Benchmark.build(tokeniser, reference)
    scores = benchmark.scores(segment(tokeniser.graph, benchmark.words))
    report = score_report(benchmark, scores, "signed")
    assert report["entries"] == 2
    assert report["skipped"] == {}
    assert report["signature"] == "signed"


def test_settings():
    reference = small_reference(*LINES)

    def with_(**settings):
        return removed(reference, KnockoutSettings(**settings))

    assert with_(threshold=0.6) == ["undoing"]
    assert with_(count=1) == ["undoing"]
    assert with_(count=0) == []
    shares = [len(with_(select="last", percent=percent)) for percent in (0, 24, 26, 100)]
    assert shares == [0, 1, 2, 6], "of six types, rounded"
    assert with_(minimum_vocabulary=11) == ["undoing"]
    assert with_(select="last") == ["undoing", "ing"], "as many as blame would remove"
    assert with_(select="last", count=3) == ["undoing", "ing", "in"]
    assert with_(select="leaves", count=1) == ["undoing"]
    with refused():
        with_(select="leaves")
    with refused():
        with_(select="last", count=7)
    assert len(with_(select="random", count=4)) == 4
    assert with_(select="random", seed=5) == with_(select="random", seed=5)
    assert set(with_(threshold=0.5, count=1, cascade=True)) == {"undoing"}
    assert with_(scope="whole-word") == [], "the reference has no whole words"


CHAIN = [("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "cd"), ("abc", "cd")]


@given(MERGES, st.data())
def test_last_types(merges, data):
    produced = list(dict.fromkeys("".join(parts) for parts in merges))
    count = data.draw(st.integers(0, len(produced)))
    assert baseline_types(graph_of(merges), "last", count) == produced[::-1][:count]


@given(MERGES, st.data())
def test_last_leaves(merges, data):
    """Of the produced types that no merge uses, the last ones."""
    used = {part for parts in oracles.listed(merges).values() for part in parts}
    produced = dict.fromkeys("".join(parts) for parts in merges)
    leaves = [text for text in produced if text not in used]
    graph = graph_of(merges)
    assert baseline_types(graph, "leaves", len(leaves)) == leaves[::-1]
    chosen = baseline_types(graph, "leaves", data.draw(st.integers(0, len(leaves))))
    assert chosen == leaves[::-1][: len(chosen)]
    late = ["".join(parts) for parts in merges][len(merges) // 2 :]
    share = sum(text in leaves for text in late) / len(late) if late else math.nan
    assert share_of_leaves(graph) == pytest.approx(share, nan_ok=True)
    changed = graph.knockout(chosen)
    assert not changed.rewired, "removing leaves rewires nothing"
    assert baseline_types(graph, "leaves", len(leaves) - len(chosen)) == leaves[::-1][len(chosen) :]
    assert share_of_leaves(graph) == pytest.approx(share, nan_ok=True), "of the graph as loaded"


def test_random_types():
    graph = MergeGraph.from_merges(CHAIN)
    drawn = baseline_types(graph, "random", 3, seed=1)
    assert len(set(drawn)) == 3
    assert set(drawn) <= {"ab", "abc", "cd", "cdcd", "abccd"}
    assert baseline_types(graph, "random", 3, seed=1) == drawn
    assert any(baseline_types(graph, "random", 3, seed=seed) != drawn for seed in range(2, 6))
    everything = {
        text for seed in range(40) for text in baseline_types(graph, "random", 1, seed=seed)
    }
    assert everything == {"ab", "abc", "cd", "cdcd", "abccd"}, "every type may be drawn"


BOTH = (KnockoutSettings, ReBPESettings)


@pytest.mark.parametrize(
    ("kinds", "name", "value"),
    [
        *((BOTH, "threshold", value) for value in (50, math.nan, "0.5", True)),
        (BOTH, "scope", "foo"),
        (BOTH, "weighting", "words"),
        (BOTH[:1], "seed", -1),
        (BOTH, "minimum_vocabulary", 1.5),
        (BOTH[:1], "select", "foo"),
        (BOTH[:1], "count", -1),
        (BOTH[:1], "percent", 101),
        (BOTH[1:], "iterations", -1),
        (BOTH[1:], "minimum_good", 0),
        (BOTH[1:], "minimum_ratio", 2),
        (BOTH[1:], "maximum_vocabulary", "1"),
    ],
)
def test_values_that_mean_nothing(kinds, name, value):
    for kind in kinds:
        with refused():
            kind(**{name: value})

"""Blame, its candidates, and the curve over thresholds."""

import math
from dataclasses import replace

import numpy as np
import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from small import blame_table, small_reference, small_tokeniser
from strategies import well_formed

import morphgraph as mg
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.blame import blame
from morphgraph.refine.knockout import candidate_types, decided_threshold, threshold_curve
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g")]
LINES = st.lists(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1), min_size=1)


def counts_of(found):
    """N and B of the merges that were applied, by merge id."""
    merge_ids = found.arrays.merge_ids.tolist()
    both = zip(merge_ids, found.applied.tolist(), found.blamed.tolist(), strict=True)
    return {merge: (n, b) for merge, n, b in both if n}


def test_golden():
    # undoing, gold un|do|ing: u+n closes a gap inside un, d+o inside do, un+do on the boundary
    # un|do (blamed), i+n and in+g inside ing.
    # undo, gold undo: u+n, d+o, un+do, none on a boundary.
    # ding, gold d|ing: i+n, in+g.
    tokeniser = small_tokeniser(UNDO)
    reference = small_reference("un do ing", "undo", "d ing", counts=[5, 2, 1])
    benchmark = Benchmark.build(tokeniser, reference)
    segmentation = segment(tokeniser.graph, benchmark.words)
    found = blame(benchmark, segmentation)
    assert counts_of(found) == {0: (2, 0), 1: (2, 0), 2: (2, 1), 3: (2, 0), 4: (2, 0)}
    assert found.ratio.tolist() == [0, 0, 0.5, 0, 0]
    assert [found.place(merge) for merge in (4, 5)] == [4, None]  # 5 would be new
    weighted = blame(benchmark, segmentation, weighting="tokens")
    assert counts_of(weighted) == {0: (7, 0), 1: (7, 0), 2: (7, 5), 3: (6, 0), 4: (6, 0)}
    held = blame(benchmark, segmentation, among=np.array([False, True, True]))
    assert counts_of(held) == {0: (1, 0), 1: (1, 0), 2: (1, 0), 3: (1, 0), 4: (1, 0)}
    spared = Benchmark.build(tokeniser, replace(reference, exempt=frozenset(["undoing"])))
    assert counts_of(blame(spared, segmentation)) == counts_of(held)
    assert spared.score(segmentation, "morphemic", "types") == benchmark.score(
        segmentation, "morphemic", "types"
    ), "exempt words are scored"
    assert candidate_types(tokeniser, found) == ["undo"]
    assert candidate_types(tokeniser, found, 0.51) == []
    assert found.dropout_rate(found.candidates()) == 2 / 10
    table = blame_table(tokeniser, found)
    assert table.loc[2, ["rank", "type", "merge", "parts", "N", "B", "R"]].tolist() == [
        2, "undo", "un + do", 2, 2, 1, 0.5,
    ]  # fmt: skip


def test_whole_word_blame():
    # By whole words, un + do is right in undoing; what has no whole words is not counted.
    tokeniser = small_tokeniser(UNDO)
    reference = small_reference("un do ing / undoing", "un do", "un do / un do")
    benchmark = Benchmark.build(tokeniser, reference)
    segmentation = segment(tokeniser.graph, benchmark.words)
    assert counts_of(blame(benchmark, segmentation))[2] == (3, 3)
    assert counts_of(blame(benchmark, segmentation, scope="whole-word"))[2] == (2, 1)


@examples(150)
@given(merges=well_formed(), lines=LINES, data=st.data())
def test_as_counted_naively(merges, lines, data):
    merges = list(dict.fromkeys(merges))
    tokeniser = small_tokeniser(merges, "abc")
    weights = [data.draw(st.integers(0, 5)) for _ in lines]
    frequencies = {"".join(line): float(w) for line, w in zip(lines, weights, strict=True)}
    benchmark = Benchmark.build(tokeniser, small_reference(*map(" ".join, lines)), frequencies)
    segmentation = segment(tokeniser.graph, benchmark.words)
    plain = oracles.listed(merges)
    closed = [oracles.segment(plain, "".join(line))[1] for line in lines]
    # A gap is named by the atom on its left here, by the characters on its left in a reference.
    gold = [{at - 1 for at in oracles.boundaries(line)} for line in lines]
    for weighting, used in (
        ("types", [1.0] * len(lines)),
        ("tokens", [frequencies["".join(line)] for line in lines]),
    ):
        joined, blamed = oracles.count_joins(closed, gold, used)
        found = blame(benchmark, segmentation, weighting=weighting)
        expected = {rank: (n, blamed[rank]) for rank, n in joined.items() if n}
        assert counts_of(found) == expected
        for threshold in (0.0, 0.3, 0.5, 1.0):
            candidates = found.arrays.merge_ids[found.candidates(threshold)].tolist()
            assert candidates == oracles.candidates(joined, blamed, threshold)
        total = sum(joined.values())
        rate = found.dropout_rate(found.candidates())
        if total:
            chosen = oracles.candidates(joined, blamed, 0.5)
            assert rate == pytest.approx(sum(joined[rank] for rank in chosen) / total)
        else:
            assert math.isnan(rate)
    once = counts_of(blame(benchmark, segmentation, tuples_once=True))
    assert once == applications(plain, lines, gold)


def applications(merges, lines, gold):
    """How often each merge was applied, and how often one of its joins is a gold boundary."""
    found = {}
    for line, boundaries in zip(lines, gold, strict=True):
        seen = {}
        for gap, rank in enumerate(oracles.segment(merges, "".join(line))[1]):
            if rank is not None:
                seen.setdefault(rank, []).append(gap)
        for rank, gaps in seen.items():
            step = len(merges[rank]) - 1  # so many neighbouring gaps are one application
            for at in range(0, len(gaps), step):
                n, b = found.get(rank, (0, 0))
                crossed = bool(boundaries.intersection(gaps[at : at + step]))
                found[rank] = (n + 1, b + crossed)
    return found


@pytest.mark.slow
@examples(60)
@given(merges=well_formed(), lines=LINES, data=st.data())
def test_threshold_curve_is_knocking_out_from_scratch(merges, lines, data):
    whole = data.draw(st.booleans())
    tokeniser = small_tokeniser(list(dict.fromkeys(merges)), "abc", ignore_merges=whole)
    benchmark = Benchmark.build(tokeniser, small_reference(*map(" ".join, lines)))
    found = blame(benchmark, segment(tokeniser.graph, benchmark.words))
    thresholds = data.draw(st.permutations([0.01, 0.2, 0.34, 0.5, 0.75, 1.0]))
    curve = threshold_curve(tokeniser, benchmark, found, thresholds=thresholds)
    assert [point.threshold for point in curve] == thresholds
    assert not tokeniser.graph.history, "the tokeniser is not changed"
    for point in curve:
        graph = tokeniser.graph.copy()
        gone = candidate_types(tokeniser, found, point.threshold)
        graph.knockout(gone)
        score = benchmark.score(segment(graph, benchmark.words), "morphemic", "types")
        results = found.arrays.results.tolist()
        places = [i for i, made in enumerate(results) if graph.types[made] in gone]
        rate = found.dropout_rate(np.array(places, np.int64))
        np.testing.assert_equal(
            (point.removed, point.dropout_rate, point.precision, point.recall, point.f1),
            (len(gone), rate, score.precision, score.recall, score.f1),
        )


def test_threshold_curve_leaves_added_tokens_that_merges_make():
    """They are to blame as others are, but cannot be knocked out."""
    tokeniser = small_tokeniser([("a", "b"), ("b", "c")], "abc")
    tokeniser.graph.fixed = frozenset({tokeniser.graph.id_of("ab")})
    benchmark = Benchmark.build(tokeniser, small_reference("a b", "b c"))
    found = blame(benchmark, segment(tokeniser.graph, benchmark.words))
    (point,) = threshold_curve(tokeniser, benchmark, found, thresholds=[0.5])
    assert (point.removed, point.recall) == (1, 0.5)
    assert point.dropout_rate == 0.5, "b + c closed one of two joins"


def test_the_threshold_is_decided_on_words_that_neither_taught_nor_score():
    tokeniser, gold = load_tokeniser("demo:en"), mg.read_gold("demo:en")
    rest, scored = gold.split()
    taught, deciding = rest.split(1 / 8)
    assert len(scored) > len(deciding) > len(rest) / 10
    assert not {*scored.texts} & {*deciding.texts}
    learned = Benchmark.on(taught, tokeniser)
    blamed = blame(learned, segment(tokeniser.graph, learned.words))
    f1 = {}
    for threshold in (step / 100 for step in range(1, 100)):
        edited = tokeniser.fork()
        edited.graph.knockout(candidate_types(tokeniser, blamed, threshold))
        on = Benchmark.on(deciding, edited)
        f1[threshold] = on.scores(segment(edited.graph, on.words))[0].f1
    decided = decided_threshold(tokeniser, rest, "morphemic", "types")
    assert decided == max(f1, key=lambda t: f1[t])
    assert mg.load("demo:en").thresholds(gold).decided == decided
    few = gold.subset(np.arange(2))
    assert decided_threshold(tokeniser, few, "morphemic", "types") is None

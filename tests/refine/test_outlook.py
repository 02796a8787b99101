"""What is said of an edit before it is made is what comes of it."""

import numpy as np
import pytest
from small import blame_table

import morphgraph as mg
from morphgraph.draw.blame_spread import BlameSpread
from morphgraph.draw.word_lines import rows_ahead
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine import KnockoutSettings
from morphgraph.refine.blame import blame
from morphgraph.refine.knockout import candidate_types, knock_out, segment_without
from morphgraph.refine.outlook import Outlook
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment


@pytest.fixture(scope="module")
def sides():
    tokeniser = load_tokeniser("demo:en")
    return Benchmark.on(mg.read_gold("demo:en"), tokeniser).split()


@pytest.mark.parametrize("threshold", [0.01, 0.34, 0.5, 0.99])
def test_a_knockout_is_as_it_was_foreseen(sides, threshold):
    rest, kept = sides
    tokeniser = load_tokeniser("demo:en")
    before = segment(tokeniser.graph, kept.words)
    blamed = blame(rest, segment(tokeniser.graph, rest.words))
    ahead = Outlook(kept, before, segment_without(tokeniser, kept, blamed, threshold))
    knock_out(tokeniser, rest, KnockoutSettings(threshold=threshold))
    made = segment(tokeniser.graph, kept.words)
    assert np.array_equal(ahead.after.token_at, made.token_at)
    scores = tuple(kept.scores(each)[0].f1 for each in (before, made))
    assert ahead.f1 == pytest.approx(scores)
    assert ahead.tokens_per_word == (before.token_count / len(kept), made.token_count / len(kept))
    texts = kept.words.texts
    better = [n for n, text in enumerate(texts) if gain(kept, before, made, n) > 0]
    worse = [n for n, text in enumerate(texts) if gain(kept, before, made, n) < 0]
    assert (ahead.better, ahead.worse) == (len(better), len(worse))
    assert {int(n) for n in ahead.changed[: len(better)]} == set(better)
    for row in rows_ahead(ahead, ahead.changed[:20].tolist()):
        assert "".join(text for text, _, _ in row.pieces) == row.word == texts[row.number]
        assert row.gain == gain(kept, before, made, row.number)
        assert row.gold.replace("|", "") == row.word


def gain(kept, before, made, word):
    """How many more gaps of a word are as in gold, one by one."""
    gold = set(kept.cuts("morphemic").of_word(word))
    right = []
    for each in (before, made):
        splits = set(each.splits(word))
        right.append(len(splits & gold) - len(splits - gold))
    return right[1] - right[0]


def test_the_interval_is_that_of_words_drawn_again_and_again(sides):
    rest, kept = sides
    tokeniser = load_tokeniser("demo:en")
    blamed = blame(rest, segment(tokeniser.graph, rest.words))
    before = segment(tokeniser.graph, kept.words)
    ahead = Outlook(kept, before, segment_without(tokeniser, kept, blamed, 0.5))
    drawn = np.random.default_rng(1).integers(0, len(kept), (2000, len(kept)))
    golds = [set(kept.cuts("morphemic").of_word(word)) for word in range(len(kept))]

    def f1(each):
        splits = [set(each.splits(word)) for word in range(len(kept))]
        hits = np.array([2 * len(one & gold) for one, gold in zip(splits, golds, strict=True)])
        both = np.array([len(one) + len(gold) for one, gold in zip(splits, golds, strict=True)])
        return hits[drawn].sum(axis=1) / both[drawn].sum(axis=1)

    low, high = np.percentile(f1(ahead.after) - f1(before), [2.5, 97.5])
    assert (ahead.interval.low, ahead.interval.high) == pytest.approx((low, high), abs=0.006)


def test_the_spread_counts_the_table_and_lists_the_worst_that_go():
    tokeniser = load_tokeniser("demo:en")
    benchmark = Benchmark.on(mg.read_gold("demo:en"), tokeniser)
    blamed = blame(benchmark, segment(tokeniser.graph, benchmark.words))
    spread, table = BlameSpread.of(tokeniser, blamed), blame_table(tokeniser, blamed)
    applied = table[table["N"] > 0]
    assert spread.steps.sum() == sum(spread.cells.values()) == len(applied)
    for threshold in (0.01, 0.15, 0.34, 0.5, 0.99):
        least = round(100 * threshold)
        going = applied[applied["R"] >= threshold]
        assert spread.steps[least:].sum() == len(going)
        listed = [merge for merge in spread.worst if merge.step >= least][:10]
        assert [m.wrong for m in listed] == sorted(going["B"], reverse=True)[:10]
        assert {tokeniser.graph.types[m.number] for m in listed} <= set(
            candidate_types(tokeniser, blamed, threshold)
        )

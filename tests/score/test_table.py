"""Tables of scores: estimates, tests, marks, failures, the ideal row."""

import math

import numpy as np
import pytest
from refusals import refused
from small import small_reference

from morphgraph.core.errors import MorphGraphError
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet
from morphgraph.score.metrics import METRICS, USUAL, Tally
from morphgraph.score.outcome import Outcome, ideal, outcome_of
from morphgraph.score.table import Estimate, ScoreTable, SegmentationFailure, outcomes_of
from morphgraph.score.uncertainty import (
    Draws,
    Interval,
    approximate_randomisation,
    bootstrap_intervals,
)
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import Flota
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tables.score_views import ScoreView
from morphgraph.tables.scores import scores_table
from morphgraph.tables.writing import to_markdown
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

COUNTED = {
    "un do ing / undoing": 3,
    "dog / dog": 10,
    "dog s / dogs": 4,
    "house boat / house boat": 1,
    "dog s house / dog s house": 6,
    "un able": 5,
    "un do able / undoable": 2,
}


def gold_set(times=6):
    counts = [count + number % 3 for number, count in enumerate([*COUNTED.values()] * times)]
    return GoldSet.of(small_reference(*[*COUNTED] * times, counts=counts))


def vocabulary(*types):
    return SubwordVocabulary((*types, *"abdeghilnosu"))


MORPHS = Greedy(vocabulary("un", "do", "ing", "dog", "house", "boat", "able"))
WORDS = Greedy(vocabulary("undo", "ing", "dogs", "houseb", "oat", "able", "un"))
LETTERS = Greedy(vocabulary())
FEW = Flota(vocabulary("un", "do", "ing", "dogs", "house", "able"), 1)


def outcomes(on, *segmenters):
    return [outcome_of(s, on, f"#{number}") for number, s in enumerate(segmenters)]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_as_each_score_alone(scope, weighting):
    """Value, interval and p-value do not depend on what else is in the table."""
    found = outcomes(gold_set(), MORPHS, WORDS, LETTERS, FEW)
    draws = Draws(resamples=200, trials=150, seed=5)
    table = ScoreTable(found, scope, weighting, tuple(METRICS), baseline=1, draws=draws)
    tallies = [Tally(outcome, scope, weighting) for outcome in found]
    alone = [{name: metric.of(tally) for name, metric in METRICS.items()} for tally in tallies]
    tested = 0
    for number in range(4):
        for name, ratio in alone[number].items():
            estimate = table.estimates[number][name]
            assert estimate.value == ratio.value or np.isnan([estimate.value, ratio.value]).all()
            [interval] = bootstrap_intervals([ratio], resamples=200, seed=5)
            # But for the last bit, in which a sum may differ by how many columns it has.
            ends = [(one.low, one.high) for one in (estimate.interval, interval)]
            assert ends[0] == pytest.approx(ends[1], rel=1e-12, nan_ok=True)
            [[p, _]] = approximate_randomisation([[ratio, alone[1][name]]], 1, trials=150, seed=5)
            if number == 1 or math.isnan(p):
                assert math.isnan(estimate.p)
            else:
                tested += estimate.p < 0.05
                assert estimate.p == p
            if not math.isnan(ratio.value):
                assert estimate.interval.low <= ratio.value <= estimate.interval.high
    assert tested, "some differences are significant"


MARKS = [
    *((0.0, "***"), (0.000999, "***"), (0.001, "**"), (0.0099, "**"), (0.01, "*"), (0.049, "*")),
    *((0.05, ""), (1.0, ""), (math.nan, "")),
]


@pytest.mark.parametrize("p, mark", MARKS)
def test_marks(p, mark):
    assert Estimate(0.5, Interval(0.4, 0.6), p).mark == mark


def test_no_baseline_and_no_resamples():
    table = ScoreTable(outcomes(gold_set(), MORPHS, WORDS), draws=Draws(resamples=0))
    for number in (0, 1):
        found = table.estimates[number]
        assert list(found) == list(USUAL)
        assert np.isnan([e.p for e in found.values()]).all()
        assert np.isnan([e.interval.low for e in found.values()]).all()
        assert not np.isnan([e.value for e in found.values()]).any()
    assert "|test:" not in table.signature and "interval:" not in table.signature


class Broken(Greedy):
    """Cannot segment."""

    def encode(self, words, *, bare=False):
        raise MorphGraphError("small.txt: it has no types.\nUse another one.")


def unmade():
    raise MorphGraphError("Trimmed BPE needs word counts.")


def mixed():
    labelled = [("a", MORPHS), ("b", unmade), ("c", Broken(vocabulary())), ("d", lambda: LETTERS)]
    return outcomes_of(labelled, gold_set())


def test_failures_are_kept_as_such():
    found = mixed()
    assert [isinstance(outcome, Outcome) for outcome in found] == [True, False, False, True]
    assert found[1] == SegmentationFailure("b", "Trimmed BPE needs word counts.")
    assert found[2] == SegmentationFailure("c", "small.txt: it has no types.\nUse another one.")
    assert [outcome.label for outcome in found] == ["a", "b", "c", "d"]


def test_a_failure_has_no_score_and_changes_none():
    found = mixed()
    how = {"metrics": tuple(METRICS), "baseline": 0, "draws": Draws(resamples=60, trials=60)}
    table, without = ScoreTable(found, **how), ScoreTable([found[0], found[3]], **how)
    assert [row is None for row in table.estimates] == [False, True, True, False]
    assert repr(table.estimates[0]) == repr(without.estimates[0])
    assert repr(table.estimates[3]) == repr(without.estimates[1])
    assert table.signature_of(3) == without.signature_of(1)
    assert table.labels == ["a", "b", "c", "d"]
    assert table.signature_of(2) == "failed: small.txt: it has no types. Use another one."
    assert f"|tokeniser:{MORPHS.signature()} failed {LETTERS.signature()}|" in table.signature
    untested = ScoreTable(found, baseline=1, draws=Draws(resamples=0))
    assert np.isnan([e.p for n in (0, 3) for e in untested.estimates[n].values()]).all()
    assert "|test:" not in untested.signature_of(0), "a baseline that failed is none"


def test_outcomes_on_different_gold_sets_are_refused():
    one, other = gold_set(), gold_set(2)
    with refused():
        ScoreTable([*outcomes(one, MORPHS), *outcomes(other, MORPHS)])
    table = ScoreTable([*outcomes(one, MORPHS), SegmentationFailure("x", "no"), ideal(one)])
    assert table.gold_set is one


def test_the_ideal_row():
    on = gold_set(1)
    table = ScoreTable([*outcomes(on, MORPHS), ideal(on)], baseline=0, draws=Draws(resamples=50))
    assert table.estimates[1]["f1"].interval == Interval(1.0, 1.0)
    assert np.isnan([e.p for e in table.estimates[1].values()]).all(), "the gold is no tokeniser"
    assert "|tokeniser:gold|" in table.signature_of(1)


QUICK = Draws(resamples=100, trials=100)


def test_dropout_is_averaged_over_seeds():
    tokeniser = load_tokeniser("demo:en")
    gold_set = GoldSet.of(read_reference("demo:en"))
    made = [("BPE", Bte(tokeniser)), ("dropout", Dropout(tokeniser, 0.3, seed=4))]
    how = {"metrics": ("f1", "over"), "draws": QUICK}
    table = ScoreTable(outcomes_of(made, gold_set, runs=3), **how, baseline=0)
    runs = [[("one", Dropout(tokeniser, 0.3, seed))] for seed in (4, 5, 6)]
    alone = [ScoreTable(outcomes_of(run, gold_set), **how) for run in runs]
    plain, mean = table.estimates
    for name in ("f1", "over"):
        values = [one.estimates[0][name].value for one in alone]
        assert len(set(values)) == 3
        assert mean[name].value == pytest.approx(np.mean(values))
        assert mean[name].deviation == pytest.approx(np.std(values, ddof=1))
        assert mean[name].interval.low < mean[name].value < mean[name].interval.high
        assert np.isnan(plain[name].deviation)
    assert mean["over"].p < 0.05
    assert "|runs:mean of 3 seeds in a row|" in table.signature
    assert "dropout(p=0.3,seed=4)" in table.signature_of(1)
    (same,) = ScoreTable(outcomes_of(made[:1], gold_set), **how).estimates
    assert plain["f1"].value == pytest.approx(same["f1"].value)
    assert plain["f1"].interval.low == pytest.approx(same["f1"].interval.low)
    assert ScoreView(table).to_frame().loc["dropout", "f1 sd"] == mean["f1"].deviation
    text = to_markdown(scores_table([table]))
    assert f"± {100 * mean['f1'].deviation:.2f}" in text and "Means over seeds, ±" in text
    # Without dropout, or at its ends, there is nothing to average.
    assert ScoreTable(outcomes_of([("p", Dropout(tokeniser, 0.0))], gold_set, runs=3)).runs == 1

"""Intervals and paired tests: against the plainest resampling, scipy, and by simulation."""

import random

import numpy as np
import pytest
from effort import share_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from morphgraph.kernels.resampling import draw_counts, draw_signs
from morphgraph.score.uncertainty import (
    Ratio,
    approximate_randomisation,
    bootstrap_intervals,
    interval_of_mean,
    student,
    student_p,
    welch_p,
)


def f1(entries):
    """F1 of entries of (hits, predicted, relevant)."""
    hits, predicted, relevant = np.array(entries, np.float64).reshape(-1, 3).T
    return Ratio(2 * hits, predicted + relevant, relevant)


def some_entries(count, seed, most=3):
    draw = random.Random(seed)
    entries = []
    for _ in range(count):
        relevant, predicted = draw.randint(1, 3), draw.randint(0, most)
        entries.append((draw.randint(0, min(relevant, predicted)), predicted, relevant))
    return entries


def naive_score(entries):
    hits, predicted, relevant = (sum(column) for column in zip(*entries, strict=True))
    return 2 * hits / (predicted + relevant)


def test_as_scipys_percentile_bootstrap():
    entries = np.array(some_entries(400, 5), np.float64)

    def score(hits, predicted, relevant, axis=-1):
        both, given, wanted = (np.sum(each, axis=axis) for each in (hits, predicted, relevant))
        return 2 * both / (given + wanted)

    theirs = stats.bootstrap(
        tuple(entries.T), score, paired=True, method="percentile", n_resamples=5000, rng=3
    ).confidence_interval
    [ours] = bootstrap_intervals([f1(entries.tolist())], resamples=5000)
    assert ours.low == pytest.approx(theirs.low, abs=0.005)
    assert ours.high == pytest.approx(theirs.high, abs=0.005)
    ratio = f1(some_entries(300, 1))
    assert bootstrap_intervals([ratio]) == bootstrap_intervals([ratio]), "a seed gives the same"
    assert bootstrap_intervals([ratio]) != bootstrap_intervals([ratio], seed=1)


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say():
    # Samples of a known population: about 95 in 100 intervals must hold its score. By the binomial
    # distribution, fewer than 88 or more than 99.5 % of 400 have a chance of less than 1e-6.
    trials = share_of(400, 100)
    population = np.array(some_entries(50_000, 7), np.float64)
    truth = f1(population.tolist()).value
    random_numbers = np.random.default_rng(11)
    covered = 0
    for trial in range(trials):
        sample = population[random_numbers.integers(0, len(population), 200)]
        [found] = bootstrap_intervals([f1(sample.tolist())], resamples=400, seed=trial)
        covered += found.low <= truth <= found.high
    low, high = stats.binom.ppf([1e-6, 1 - 1e-6], trials, 0.945)
    assert low <= covered <= high


def test_chunks_make_no_difference(monkeypatch):
    ratios = [f1(some_entries(100, seed)) for seed in (1, 2)]
    intervals = bootstrap_intervals(ratios)
    tests = approximate_randomisation([ratios], 0)
    monkeypatch.setattr("morphgraph.score.uncertainty._CHUNK", 700)
    assert bootstrap_intervals(ratios) == intervals
    assert approximate_randomisation([ratios], 0)[0][1] == tests[0][1]


def test_undefined():
    [empty] = bootstrap_intervals([f1([])])
    assert np.isnan(empty.low)
    nothing_to_find = f1([(0, 1, 0), (0, 2, 0)])
    assert np.isnan(nothing_to_find.value)
    assert np.isnan(bootstrap_intervals([nothing_to_find])[0].high)
    assert bootstrap_intervals([]) == []
    [both] = approximate_randomisation([[nothing_to_find, nothing_to_find]], 0)
    assert np.isnan(both).all()


@given(st.integers(1, 200), st.integers(0, 2**32), st.integers(0, 5))
def test_what_is_drawn(entries, seed, first):
    counts, signs = np.empty((3, entries)), np.empty((3, entries))
    draw_counts(seed, first, counts)
    assert (counts.sum(axis=1) == entries).all()
    draw_signs(seed, first, signs)
    assert set(np.unique(signs)) <= {0.0, 1.0}
    again = np.empty((1, entries))
    draw_counts(seed, first + 2, again)
    assert (again[0] == counts[2]).all(), "a row does not depend on where its chunk begins"


def test_all_entries_are_drawn_alike():
    counts, signs = np.empty((2000, 50)), np.empty((2000, 50))
    draw_counts(0, 0, counts)
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-4
    # how often one entry is drawn is binomial
    observed = np.bincount(counts.ravel().astype(int), minlength=5)[:5]
    expected = stats.binom.pmf(range(5), 50, 1 / 50) * counts.size
    assert np.abs(observed / expected - 1).max() < 0.1
    draw_signs(0, 0, signs)
    assert np.abs(signs.mean(axis=0) - 0.5).max() < 0.06
    assert abs(np.corrcoef(signs[:, 0], signs[:, 1])[0, 1]) < 0.1


def test_p_as_all_permutations_give_it():
    # Eight entries have 256 ways of swapping: with many trials, p is the share of those that reach
    # the difference.
    one, other = some_entries(8, 3, most=2), some_entries(8, 4, most=3)
    difference = abs(naive_score(other) - naive_score(one))
    reached = 0
    for swaps in range(256):
        a = [other[i] if swaps >> i & 1 else one[i] for i in range(8)]
        b = [one[i] if swaps >> i & 1 else other[i] for i in range(8)]
        reached += abs(naive_score(b) - naive_score(a)) >= difference - 1e-12
    [[_, found]] = approximate_randomisation([[f1(one), f1(other)]], 0, trials=20_000)
    assert found == pytest.approx(reached / 256, abs=0.015)


def test_equal_tokenisers_do_not_differ_and_different_ones_do():
    entries = some_entries(500, 9)
    right = [(relevant, relevant, relevant) for _, _, relevant in entries]
    scores = [[f1(entries), f1(entries), f1(right)]]
    [[none, same, better]] = approximate_randomisation(scores, 0)
    assert np.isnan(none)
    assert same == 1
    assert better == pytest.approx(1 / 1001)


def over_runs(values, most=np.inf):
    array = np.array(values)
    known = array.mean(), array.std(ddof=1), len(array)
    found = interval_of_mean(*known, least=array.min(), most=most)
    return found.low, found.high


@given(st.floats(-60, 60), st.one_of(st.floats(0.5, 50), st.floats(50, 20_000)))
def test_p_of_student_is_scipys(t, freedom):
    assert student_p(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-7)


def test_welchs_test_is_scipys():
    draw = np.random.default_rng(3)
    for sizes in ((3, 3), (2, 10), (10, 10), (5, 400)):
        for distance in (0.0, 0.5, 4.0, 30.0):
            groups = [draw.normal(distance * n, 1 + n / 9, n) for n in sizes]
            ours = welch_p(*((g.mean(), g.std(ddof=1), len(g)) for g in groups))
            theirs = stats.ttest_ind(*groups, equal_var=False)
            assert ours == pytest.approx(theirs.pvalue, rel=1e-7), (sizes, distance)
    assert np.isnan(welch_p((1.0, 0.0, 3), (2.0, 0.0, 3)))
    assert np.isnan(welch_p((1.0, np.nan, 1), (2.0, 1.0, 3)))


def test_student_s_quantiles_are_those_of_scipy():
    for freedom in (*range(1, 200), 1_000, 10**6):
        assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=6e-4)


@pytest.mark.parametrize("count", [2, 3, 10, 31, 32, 33, 500])
def test_positive_runs_have_an_interval_of_the_logarithm(count):
    values = np.random.default_rng(count).gamma(4, 1, count)
    mean, error = values.mean(), stats.sem(values)
    expected = stats.t.interval(0.95, count - 1, np.log(mean), error / mean)
    assert over_runs(list(values)) == pytest.approx(np.exp(expected), rel=2e-3)
    # Nothing depends on the unit.
    assert over_runs(list(1e6 * values)) == pytest.approx(1e6 * np.exp(expected), rel=2e-3)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50))
def test_an_interval_holds_the_mean_and_never_goes_below_nothing(values):
    low, high = over_runs(values)
    assert 0 <= low <= np.mean(values) * (1 + 1e-9)
    assert np.mean(values) <= high * (1 + 1e-9)


def test_runs_with_a_zero_and_shares_are_cut_off_where_they_end():
    assert over_runs([0.0, 2.0]) == (0, pytest.approx(1 + 12.706))
    assert over_runs([0.0, 0.0]) == (0, 0)
    assert over_runs([0.9, 0.98], most=1) == (
        pytest.approx(0.94 * np.exp(-12.706 * 0.04 / 0.94)), 1)  # fmt: skip
    assert over_runs([-1.0, 1.0]) == (pytest.approx(-12.706), pytest.approx(12.706))
    assert np.isnan(interval_of_mean(1.0, np.nan, 1, least=1.0).low)


@pytest.mark.parametrize("count", [2, 3, 40])
def test_95_percent_of_intervals_hold_the_true_mean(count):
    """10,000 times: 0.95 ± 0.008 by chance; with 1.96 it is 0.93 of 40 runs, 0.68 of two."""
    draw = np.random.default_rng(1).gamma(4, 1, (10_000, count))
    held = [low <= 4 <= high for low, high in map(over_runs, draw.tolist())]
    assert 0.942 < np.mean(held) < 0.958

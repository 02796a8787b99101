"""The uncertainty of scores: bootstrap intervals, and paired tests between two tokenisers.

A score is a ratio of sums over entries. So is it of any resample, whose sums are one product of
matrices for all scores of all tokenisers.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

from morphgraph.core.system import usual_threads
from morphgraph.kernels import worth_loading

RESAMPLES = 1000
TRIALS = 1000
_DRAWS_PER_ATOM = 200
"""How many random numbers are drawn without a kernel in the time that an atom takes."""
_CHUNK = 2_000_000
"""Random numbers held at a time, so that memory stays small whatever the number of entries."""

Matrix = npt.NDArray[np.float64]
Draw = Callable[[int, int, Matrix], None]
"""From a seed and the number of the first row, fills rows of random weights of the entries."""


@dataclass(frozen=True)
class Interval:
    """A 95 % interval, from ``low`` to ``high``; NaN if undefined."""

    low: float
    high: float


NO_INTERVAL = Interval(np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class Ratio:
    """A score as a ratio of sums over entries: Σ ``part`` ÷ Σ ``whole``.

    Both: float64, one number for each entry. It is undefined, NaN, where Σ ``whole`` is 0, or where
    Σ ``needed`` is, if that is given.

    >>> Ratio(np.array([1.0, 0.0]), np.array([2.0, 2.0])).value
    0.25
    """

    part: Matrix
    whole: Matrix
    needed: Matrix | None = None

    @property
    def value(self) -> float:
        """The score of all entries."""
        return float(self.of_sums(np.array([[column.sum() for column in self.columns]]))[0])

    @property
    def columns(self) -> list[Matrix]:
        """Its two or three arrays."""
        return [self.part, self.whole, *([] if self.needed is None else [self.needed])]

    def of_sums(self, sums: Matrix) -> Matrix:
        """The score for each row of sums of its columns; NaN where undefined."""
        defined = sums[:, 1] > _NOTHING * self.whole.sum()
        if self.needed is not None:
            defined &= sums[:, 2] > _NOTHING * self.needed.sum()
        scores = np.full(len(sums), np.nan)
        np.divide(sums[:, 0], sums[:, 1], out=scores, where=defined)
        return scores


@dataclass(frozen=True, eq=False)
class MeanRatio:
    """The mean of a score over runs of a random method, each a ratio over the same entries.

    >>> right, wrong = Ratio(np.ones(2), np.ones(2)), Ratio(np.zeros(2), np.ones(2))
    >>> mean = MeanRatio((right, wrong))
    >>> mean.value, round(mean.deviation, 3)
    (0.5, 0.707)
    """

    ratios: tuple[Ratio, ...]

    @property
    def value(self) -> float:
        """The mean; undefined where one of them is."""
        return float(np.mean([ratio.value for ratio in self.ratios]))

    @property
    def deviation(self) -> float:
        """The standard deviation of the runs (n − 1 in the denominator)."""
        return float(np.std([ratio.value for ratio in self.ratios], ddof=1))

    @property
    def columns(self) -> list[Matrix]:
        """The arrays of all runs."""
        return [column for ratio in self.ratios for column in ratio.columns]

    def of_sums(self, sums: Matrix) -> Matrix:
        """The mean for each row of sums of its columns."""
        ends = np.cumsum([len(ratio.columns) for ratio in self.ratios])
        parts = np.split(sums, ends[:-1], axis=1)
        scores = [ratio.of_sums(part) for ratio, part in zip(self.ratios, parts, strict=True)]
        mean: Matrix = np.mean(scores, axis=0)
        return mean


Score = Ratio | MeanRatio

_NOTHING = 1e-12
"""Sums up to this share of all, and differences of this size, are 0 but for rounding."""


def bootstrap_intervals(
    ratios: Sequence[Score],
    baseline: int | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Interval]:
    """The 95 % bootstrap intervals of scores over the same entries, or of their differences to one.

    Entries are drawn with replacement, the same ones for all scores, so that what two have in
    common cancels out; an interval is between the 2.5th and 97.5th percentile over the resamples in
    which the score is defined. Source: Efron 1979; Koehn 2004 for scores of language technology.

    >>> ones = np.ones(50)
    >>> bootstrap_intervals([Ratio(ones, ones)])
    [Interval(low=1.0, high=1.0)]
    """
    resampled = _resampled(ratios, resamples, seed)
    base = 0 if baseline is None else resampled[baseline]
    return [_percentiles(scores - base) for scores in resampled]


@dataclass(frozen=True)
class Draws:
    """How intervals and tests are drawn; 0 resamples for no intervals."""

    resamples: int = RESAMPLES
    trials: int = TRIALS
    seed: int = 0

    def intervals(self, ratios: Sequence[Score], baseline: int | None = None) -> list[Interval]:
        """Return the bootstrap intervals of scores; undefined ones without resamples."""
        if not self.resamples:
            return [NO_INTERVAL] * len(ratios)
        return bootstrap_intervals(ratios, baseline, resamples=self.resamples, seed=self.seed)

    @property
    def named(self) -> dict[str, str]:
        """How intervals were drawn, for a signature."""
        if not self.resamples:
            return {}
        return {"interval": f"bootstrap {self.resamples} seed {self.seed}"}


USUAL_DRAWS = Draws()


def _resampled(ratios: Sequence[Score], resamples: int, seed: int) -> list[Matrix]:
    """Return each score in every resample, the same resamples for all."""
    if not ratios:
        return []
    everything, places = _side_by_side(ratios)
    draw: Draw = plain_counts
    if worth_loading(len(everything) * resamples // _DRAWS_PER_ATOM):
        from morphgraph.kernels.resampling import draw_counts

        draw = draw_counts
    sums = _weighted_sums(draw, everything, resamples, seed)
    return [ratio.of_sums(sums[:, columns]) for ratio, columns in zip(ratios, places, strict=True)]


_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def _mixed(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """SplitMix64's output for states."""
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))


def plain_counts(seed: int, first: int, counts: Matrix) -> None:
    """Draw what `kernels.resampling.draw_counts` does, without a kernel."""
    rows, entries = counts.shape
    numbers = np.arange(first + 1, first + rows + 1, dtype=np.uint64)
    starts = _mixed(np.uint64(seed) ^ _mixed(numbers * _STEP))
    steps = np.arange(1, (entries + 1) // 2 + 1, dtype=np.uint64) * _STEP
    size = np.uint64(entries)
    for row in range(rows):
        bits = _mixed(starts[row] + steps)
        halves = np.stack([bits & np.uint64(0xFFFFFFFF), bits >> np.uint64(32)], axis=1).ravel()
        drawn = (halves[:entries] * size) >> np.uint64(32)
        counts[row] = np.bincount(drawn.astype(np.int64), minlength=entries)


_STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160),
    *(2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056),
    *(2.052, 2.048, 2.045, 2.042),
)
"""The 97.5th percentile of Student's t by degrees of freedom, from 1."""
_NORMAL = 1.959964
"""That of the normal distribution."""


def student(freedom: int) -> float:
    """The 97.5th percentile of Student's t, from 1 degree of freedom; right to 3 digits.

    Beyond the table by the expansion of Fisher & Cornish 1960.

    >>> student(2), round(student(31), 3), round(student(10**6), 3)
    (4.303, 2.039, 1.96)
    """
    if freedom <= len(_STUDENT):
        return _STUDENT[freedom - 1]
    z = _NORMAL
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def interval_of_mean(
    mean: float, deviation: float, count: int, least: float, most: float = np.inf
) -> Interval:
    """The 95 % interval of a mean over runs, by Student's t; NaN for fewer than two.

    ``deviation``: the standard deviation of the ``count`` runs (n − 1 in the denominator);
    ``least``: the smallest value. Where all are positive, it is an interval of the logarithm of the
    mean (by the delta method); with a 0 among them, it is cut off there. ``most``: what cannot be
    exceeded.

    >>> found = interval_of_mean(0.5, 0.1, 4, least=0.4)
    >>> round(found.low, 3), round(found.high, 3)
    (0.364, 0.687)
    """
    if count < 2:
        return NO_INTERVAL
    half = student(count - 1) * deviation / count**0.5
    if least > 0:
        factor = float(np.exp(half / mean))
        return Interval(mean / factor, min(mean * factor, most))
    low = mean - half
    return Interval(low if least < 0 else max(low, 0.0), min(mean + half, most))


def student_p(t: float, freedom: float) -> float:
    """The two-sided p of a value of Student's t, at any degrees of freedom above 0.

    >>> round(student_p(12.706, 1), 4), student_p(0.0, 3)
    (0.05, 1.0)
    """
    square = t * t
    within, beyond = freedom / (freedom + square), square / (freedom + square)
    if square > 1:
        return _beta(within, beyond, freedom / 2, 0.5)
    return 1 - _beta(beyond, within, 0.5, freedom / 2) if square else 1.0


def _beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its series; ``rest`` is 1 − x, exactly."""
    term, total, n = 1.0, 1.0, 0
    while term > total * 1e-17:
        term *= x * (a + b + n) / (a + 1 + n)
        total, n = total + term, n + 1
    log = a * math.log(x) + b * math.log(rest) if x else -math.inf
    return total * math.exp(log + math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b))


Moments = tuple[float, float, int]
"""Mean, standard deviation (n − 1 in the denominator) and number of some values."""


def welch_p(one: Moments, other: Moments) -> float:
    """The two-sided p of the difference of two means, by Welch's test; NaN where undefined.

    It is for independent samples, each of two or more. Source: Welch 1947.

    >>> round(welch_p((1.0, 1.0, 3), (3.0, 1.0, 3)), 4)
    0.0705
    """
    shares = [(sd**2 / n, n) for _, sd, n in (one, other) if n > 1]
    variance = sum(share for share, _ in shares)
    if len(shares) < 2 or not variance > 0:
        return np.nan
    freedom = variance**2 / sum(share**2 / (n - 1) for share, n in shares)
    return student_p((one[0] - other[0]) / math.sqrt(variance), freedom)


def paired_p(differences: npt.NDArray[Any]) -> float:
    """The two-sided p that the mean of paired differences is 0, by Student's t; NaN if undefined.

    >>> round(paired_p(np.array([1, 2, 3])), 4)
    0.0742
    """
    deviation = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    if not deviation > 0:
        return np.nan
    t = float(np.mean(differences)) / deviation * len(differences) ** 0.5
    return student_p(t, len(differences) - 1)


def _side_by_side(ratios: Sequence[Score]) -> tuple[Matrix, list[list[int]]]:
    """Return the distinct columns of all ratios as one matrix, and the column numbers of each."""
    number_of: dict[bytes, int] = {}
    distinct: list[Matrix] = []
    places = []
    for ratio in ratios:
        numbers = []
        for column in ratio.columns:
            key = blake2b(column.tobytes(), digest_size=16).digest()
            if key not in number_of:
                number_of[key] = len(distinct)
                distinct.append(column)
            numbers.append(number_of[key])
        places.append(numbers)
    return np.stack(distinct, axis=1), places


def _percentiles(scores: Matrix) -> Interval:
    defined = scores[~np.isnan(scores)]
    if not len(defined):
        return NO_INTERVAL
    return Interval(*map(float, np.percentile(defined, [2.5, 97.5])))


def approximate_randomisation(
    scores: Sequence[Sequence[Score]], baseline: int, *, trials: int = TRIALS, seed: int = 0
) -> list[list[float]]:
    """p-values of the differences between a baseline and other tokenisers, over the same entries.

    ``scores``: for each kind of score, that of each tokeniser; ``baseline`` is the number of one.
    In each trial, the outcomes of two for every entry are swapped with probability ½; p is (1 +
    trials in which the scores differ at least as much as in truth) ÷ (1 + trials), two-sided. NaN
    for the baseline itself and where a score is undefined. Source: Noreen 1989; Yeh 2000.
    """
    from morphgraph.kernels.resampling import draw_signs

    flat = [ratio for ratios in scores for ratio in ratios]
    if not flat:
        return [[] for _ in scores]
    everything, places = _side_by_side(flat)
    swapped = _weighted_sums(draw_signs, everything, trials, seed)
    totals = everything.sum(axis=0)

    def p_value(one: int, other: int) -> float:
        difference = flat[other].value - flat[one].value
        if one == other or np.isnan(difference):
            return np.nan
        here, there = places[one], places[other]
        moved = swapped[:, there] - swapped[:, here]
        differences = np.abs(
            flat[other].of_sums(totals[there] - moved) - flat[one].of_sums(totals[here] + moved)
        )
        # A trial in which a score is undefined speaks for no difference.
        reached = int((~(differences < abs(difference) - _NOTHING)).sum())
        return (1 + reached) / (1 + trials)

    numbers = iter(range(len(flat)))
    rows = [[next(numbers) for _ in ratios] for ratios in scores]
    return [[p_value(row[baseline], number) for number in row] for row in rows]


def _weighted_sums(draw: Draw, columns: Matrix, rows: int, seed: int) -> Matrix:
    """Sums of columns, (entries, k), under ``rows`` rows of random weights: (rows, k)."""
    entries = len(columns)
    sums = np.zeros((rows, columns.shape[1]))
    height = max(1, min(rows, _CHUNK // max(entries, 1)))

    def run(start: int) -> None:
        weights = np.empty((min(height, rows - start), entries))
        draw(seed, start, weights)
        sums[start : start + len(weights)] = weights @ columns

    # Threads of the matrix library below these two would wait for each other, busily.
    with (
        _matrix_threads().limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(usual_threads()) as pool,
    ):
        list(pool.map(run, range(0, rows, height)))
    return sums


@cache
def _matrix_threads() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

"""Tokenisers against a reference: scores with intervals and tests, one row each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.predictions import Predictions
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS, USUAL, Tally, check_metrics
from morphgraph.score.outcome import Outcome, outcome_of, outcome_of_predictions
from morphgraph.score.uncertainty import (
    USUAL_DRAWS,
    Draws,
    Interval,
    MeanRatio,
    Score,
    approximate_randomisation,
    difference_intervals,
)
from morphgraph.tokeniser.words import RandomSegmenter, Segmenter

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Marks of p-values below these."""


@dataclass(frozen=True)
class SegmentationFailure:
    """A tokeniser that could not segment the words, and why."""

    label: str
    message: str


@dataclass(frozen=True)
class Estimate:
    """A score, its 95 % interval, and the p-value of its difference to the baseline; NaN where
    undefined. ``deviation``: the standard deviation, where the score is a mean over runs.
    """

    value: float
    interval: Interval
    p: float
    deviation: float = np.nan

    @property
    def mark(self) -> str:
        """Stars for significance: ``*`` p < 0.05, ``**`` p < 0.01, ``***`` p < 0.001.

        >>> Estimate(0.5, Interval(0.4, 0.6), 0.02).mark
        '*'
        """
        return significance_mark(self.p)


def significance_mark(p: float) -> str:
    """Stars for a p-value; none where it is undefined."""
    return next((mark for level, mark in LEVELS if p < level), "")


class ScoreTable:
    """Scores of several tokenisers on the same entries, under one scope and weighting.

    ``outcomes``: at least one, all on the same gold set. ``baseline``: the number of the one that
    others are tested against, None for none. ``draws``: how intervals and p-values are made. Where
    an outcome has several runs, its scores are their means; intervals and tests are of the means.
    """

    def __init__(
        self,
        outcomes: Sequence[Outcome | SegmentationFailure],
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        metrics: Sequence[str] = USUAL,
        *,
        baseline: int | None = None,
        draws: Draws = USUAL_DRAWS,
    ) -> None:
        known = [outcome for outcome in outcomes if isinstance(outcome, Outcome)]
        if len({id(outcome.gold_set) for outcome in known}) > 1:
            raise MorphGraphError("Scores of different references cannot be in one table.")
        if baseline is not None and not 0 <= baseline < len(outcomes):
            raise MorphGraphError(
                f"There is no tokeniser {baseline}, only {len(outcomes)} of them."
            )
        metrics = check_metrics(metrics)
        self.outcomes = tuple(outcomes)
        self.scope: Scope = scope
        self.weighting: Weighting = weighting
        self.metrics = tuple(metrics)
        self.baseline = baseline
        self.draws = draws

    @property
    def labels(self) -> list[str]:
        """The name of each tokeniser."""
        return [outcome.label for outcome in self.outcomes]

    @cached_property
    def estimates(self) -> list[dict[str, Estimate] | None]:
        """The scores of each tokeniser by name of the metric; None for one that failed."""
        ratios = self._ratios
        known = [number for number, found in enumerate(ratios) if found]
        flat = [ratio for number in known for ratio in ratios[number].values()]
        intervals = iter(self.draws.intervals(flat))
        tests = self._tests(known)
        rows: list[dict[str, Estimate] | None] = [None] * len(ratios)
        for place, number in enumerate(known):
            rows[number] = {
                name: self._estimate(number, ratio, next(intervals), tests[name][place])
                for name, ratio in ratios[number].items()
            }
        return rows

    @cached_property
    def _ratios(self) -> list[dict[str, Score]]:
        return [
            {} if isinstance(outcome, SegmentationFailure) else self._scores(outcome, self.metrics)
            for outcome in self.outcomes
        ]

    @cached_property
    def runs(self) -> int:
        """How many runs scores are means over, 1 for none."""
        return max(len(o.runs) if isinstance(o, Outcome) else 1 for o in self.outcomes)

    def _scores(self, outcome: Outcome, names: Sequence[str]) -> dict[str, Score]:
        tallies = [Tally(run, self.scope, self.weighting) for run in outcome.runs]
        found: dict[str, Score] = {}
        for name in names:
            ratios = tuple(METRICS[name].of(tally) for tally in tallies)
            # Beside a mean, what is not random counts as often, so that runs can be swapped.
            ratios *= self.runs if len(ratios) == 1 else 1
            found[name] = MeanRatio(ratios) if self.runs > 1 else ratios[0]
        return found

    def _estimate(self, number: int, score: Score, interval: Interval, p: float) -> Estimate:
        outcome = self.outcomes[number]
        is_mean = isinstance(outcome, Outcome) and bool(outcome.more_runs)
        deviation = score.deviation if is_mean and isinstance(score, MeanRatio) else np.nan
        return Estimate(score.value, interval, p, deviation)

    def _tests(self, known: list[int]) -> dict[str, list[float]]:
        """p-values of each metric against the baseline, for those that did not fail."""
        if self.baseline not in known:
            return {name: [np.nan] * len(known) for name in self.metrics}
        tests = approximate_randomisation(
            [[self._ratios[number][name] for number in known] for name in self.metrics],
            known.index(self.baseline),
            trials=self.draws.trials,
            seed=self.draws.seed,
        )
        for place, number in enumerate(known):
            if not self._is_tested(number):
                for row in tests:
                    row[place] = np.nan
        return dict(zip(self.metrics, tests, strict=True))

    def _is_tested(self, number: int) -> bool:
        """Whether a difference to the baseline says something: not if it is the gold, nor if one of
        the two was learned from these very words and the other one has not seen them.
        """
        outcome, baseline = self.outcomes[number], self.outcomes[self.baseline or 0]
        return (
            isinstance(outcome, Outcome)
            and isinstance(baseline, Outcome)
            and not outcome.is_gold
            and outcome.held_in == baseline.held_in
        )

    def of(self, number: int, names: Sequence[str]) -> dict[str, Estimate]:
        """Some scores of a row, also such as are not in the table; none of one that failed."""
        outcome, known = self.outcomes[number], self.estimates[number]
        if isinstance(outcome, SegmentationFailure) or known is None:
            return {}
        missing = self._scores(outcome, [name for name in names if name not in known])
        intervals = self.draws.intervals(list(missing.values()))
        more = {
            name: self._estimate(number, score, interval, np.nan)
            for (name, score), interval in zip(missing.items(), intervals, strict=True)
        }
        return {name: known[name] if name in known else more[name] for name in names}

    def differences(self, name: str) -> list[Interval]:
        """The 95 % intervals of a score's differences to the baseline; NaN for what failed."""
        known = [number for number, found in enumerate(self._ratios) if found]
        intervals = [Interval(np.nan, np.nan)] * len(self.outcomes)
        if self.baseline in known:
            ratios = [self._ratios[number][name] for number in known]
            found = difference_intervals(
                ratios,
                known.index(self.baseline),
                resamples=self.draws.resamples,
                seed=self.draws.seed,
            )
            for number, interval in zip(known, found, strict=True):
                intervals[number] = interval
        return intervals

    @property
    def gold_set(self) -> GoldSet | None:
        """What all are measured by; None if all failed."""
        return next((o.gold_set for o in self.outcomes if isinstance(o, Outcome)), None)

    @cached_property
    def settings(self) -> dict[str, str]:
        """What scores depend on beside the reference and the tokenisers."""
        runs = {"runs": f"mean of {self.runs} seeds in a row"} if self.runs > 1 else {}
        return {"scores": f"{self.scope} {self.weighting}", **runs, **self.draws.named}

    def signature_of(self, number: int) -> str:
        """One line that names all that a row's scores depend on; the error of one that failed."""
        outcome = self.outcomes[number]
        if isinstance(outcome, SegmentationFailure):
            return f"failed: {' '.join(outcome.message.split())}"
        return outcome.signature(**self.settings, **self._test_named(number))

    def _test_named(self, number: int) -> dict[str, str]:
        if self.baseline is None or number == self.baseline or not self._is_tested(number):
            return {}
        baseline = self.outcomes[self.baseline]
        if isinstance(baseline, SegmentationFailure):
            return {}
        return {"test": f"{self.draws.test_named} against {baseline.tokeniser}"}

    @cached_property
    def signature(self) -> str:
        """One line for the whole table: all its tokenisers, each by its own signature."""
        gold_set = self.gold_set
        if gold_set is None:
            return ""
        names = [o.tokeniser if isinstance(o, Outcome) else "failed" for o in self.outcomes]
        more = dict(self.settings)
        if self.baseline is not None:
            more["test"] = f"{self.draws.test_named} against {names[self.baseline]}"
        return gold_set.signature_of(" ".join(dict.fromkeys(names)), **more)


def outcomes_of(
    segmenters: Sequence[
        tuple[str, Segmenter | Predictions | Callable[[], Segmenter | Predictions]]
    ],
    gold_set: GoldSet,
    runs: int = 1,
) -> list[Outcome | SegmentationFailure]:
    """The outcome of each labelled segmenter, of what makes one, or of another program's
    predictions; a failure stays a failure. ``runs``: this many of BPE-dropout, with consecutive
    seeds.
    """
    found: list[Outcome | SegmentationFailure] = []
    for label, given in segmenters:
        try:
            made = given() if callable(given) else given
            if isinstance(made, Predictions):
                found.append(outcome_of_predictions(made, gold_set, label))
            else:
                found.append(_outcome_of_runs(made, gold_set, label, runs))
        except MorphGraphError as error:
            found.append(SegmentationFailure(label, str(error)))
    return found


def _outcome_of_runs(made: Segmenter, gold_set: GoldSet, label: str, runs: int) -> Outcome:
    found = outcome_of(made, gold_set, label)
    if not isinstance(made, RandomSegmenter) or not made.is_random:
        return found
    others = (made.reseeded(made.seed + number) for number in range(1, runs))
    return replace(found, more_runs=tuple(outcome_of(one, gold_set, label) for one in others))

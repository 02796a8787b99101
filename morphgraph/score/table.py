"""A table of tokenisers against a reference: scores with intervals and tests."""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

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
)
from morphgraph.segment.segmenter import Segmenter

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""The p-values below which a mark is added."""


@dataclass(frozen=True)
class SegmentationFailure:
    """A tokeniser that could not segment the words, and the reason."""

    label: str
    message: str


@dataclass(frozen=True)
class Estimate:
    """A score, its interval, its p against the baseline, and its deviation over runs, or NaN."""

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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data; its deviation only over runs."""
        interval = [self.interval.low, self.interval.high]
        known = {"value": self.value, "interval": interval, "p": self.p}
        return known if math.isnan(self.deviation) else known | {"deviation": self.deviation}


def significance_mark(p: float) -> str:
    """Return stars for a p-value; none where it is undefined."""
    return next((mark for level, mark in LEVELS if p < level), "")


@dataclass(eq=False, repr=False)
class ScoreTable:
    """Scores of several tokenisers on the same entries, under one scope and weighting.

    ``baseline``: the index of the one that others are tested against, or None. Where an outcome has
    several runs, its scores are their means; intervals and tests are of the means.
    """

    outcomes: Sequence[Outcome | SegmentationFailure]
    scope: Scope = "morphemic"
    weighting: Weighting = "types"
    metrics: Sequence[str] = USUAL
    _: KW_ONLY
    baseline: int | None = None
    draws: Draws = USUAL_DRAWS

    def __post_init__(self) -> None:
        self.metrics = check_metrics(self.metrics)
        self._known = {n: o for n, o in enumerate(self.outcomes) if isinstance(o, Outcome)}
        if len({id(outcome.gold_set) for outcome in self._known.values()}) > 1:
            raise MorphGraphError("Scores of different references cannot be in one table.")

    @property
    def labels(self) -> list[str]:
        """The name of each tokeniser."""
        return [outcome.label for outcome in self.outcomes]

    @cached_property
    def estimates(self) -> list[dict[str, Estimate] | None]:
        """The scores of each tokeniser by metric; None for one that failed."""
        flat = [score for scores in self._scores.values() for score in scores.values()]
        intervals = iter(self.draws.intervals(flat))
        rows: list[dict[str, Estimate] | None] = [None] * len(self.outcomes)
        for place, (number, scores) in enumerate(self._scores.items()):
            rows[number] = {
                name: self._estimate(number, score, next(intervals), self._tests[name][place])
                for name, score in scores.items()
            }
        return rows

    @cached_property
    def _scores(self) -> dict[int, dict[str, Score]]:
        return {n: self._scores_of(outcome, self.metrics) for n, outcome in self._known.items()}

    @cached_property
    def runs(self) -> int:
        """The number of runs that scores are means over, 1 if not means."""
        return max((len(outcome.runs) for outcome in self._known.values()), default=1)

    def _scores_of(self, outcome: Outcome, names: Sequence[str]) -> dict[str, Score]:
        tallies = [Tally(run, self.scope, self.weighting) for run in outcome.runs]
        scores: dict[str, Score] = {}
        for name in names:
            ratios = tuple(METRICS[name].of(tally) for tally in tallies)
            # A deterministic score is repeated beside a mean, so that runs can be swapped.
            ratios *= self.runs if len(ratios) == 1 else 1
            scores[name] = MeanRatio(ratios) if self.runs > 1 else ratios[0]
        return scores

    def _estimate(self, number: int, score: Score, interval: Interval, p: float) -> Estimate:
        is_random = bool(self._known[number].more_runs)
        deviation = score.deviation if is_random and isinstance(score, MeanRatio) else np.nan
        p = p if self._is_tested(number) else np.nan
        return Estimate(score.value, interval, p, deviation)

    @cached_property
    def _tests(self) -> dict[str, list[float]]:
        """The p-values of each metric against the baseline, of tokenisers that did not fail."""
        known = list(self._known)
        if self.baseline not in known:
            return {name: [np.nan] * len(known) for name in self.metrics}
        tests = approximate_randomisation(
            [[self._scores[number][name] for number in known] for name in self.metrics],
            known.index(self.baseline),
            trials=self.draws.trials,
            seed=self.draws.seed,
        )
        return dict(zip(self.metrics, tests, strict=True))

    def _is_tested(self, number: int) -> bool:
        """Whether a difference means something: not for the gold, nor if only one is held in."""
        outcome, baseline = self._known.get(number), self._known.get(self.baseline or 0)
        if outcome is None or baseline is None or outcome.is_gold:
            return False
        return outcome.held_in == baseline.held_in

    def of(self, number: int, names: Sequence[str]) -> dict[str, Estimate]:
        """Return scores of a row, including metrics outside the table; none if it failed."""
        known = self.estimates[number]
        if known is None:
            return {}
        missing = self._scores_of(self._known[number], [n for n in names if n not in known])
        intervals = self.draws.intervals(list(missing.values()))
        more = {
            name: self._estimate(number, score, interval, np.nan)
            for (name, score), interval in zip(missing.items(), intervals, strict=True)
        }
        return {name: {**more, **known}[name] for name in names}

    @property
    def gold_set(self) -> GoldSet | None:
        """The gold set that all are scored on; None if all failed."""
        return next((outcome.gold_set for outcome in self._known.values()), None)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the rows, without repetitions."""
        return tuple(dict.fromkeys(n for outcome in self._known.values() for n in outcome.notes))

    @cached_property
    def settings(self) -> dict[str, str]:
        """The settings that scores depend on beside the reference and the tokenisers."""
        runs = {"runs": f"mean of {self.runs} seeds in a row"} if self.runs > 1 else {}
        return {"scores": f"{self.scope} {self.weighting}", **runs, **self.draws.named}

    def signature_of(self, number: int) -> str:
        """Return one line with everything that a row's scores depend on, or its error."""
        outcome = self.outcomes[number]
        if isinstance(outcome, SegmentationFailure):
            return f"failed: {' '.join(outcome.message.split())}"
        is_tested = number != self.baseline and self._is_tested(number)
        return outcome.signature(**self.settings, **(self._test if is_tested else {}))

    @property
    def _test(self) -> dict[str, str]:
        """The test of differences to the baseline, for signatures."""
        if self.baseline is None:
            return {}
        baseline = self._known.get(self.baseline)
        named = "failed" if baseline is None else baseline.tokeniser
        test = f"approximate randomisation {self.draws.trials} seed {self.draws.seed}"
        return {"test": f"{test} against {named}"}

    @cached_property
    def signature(self) -> str:
        """One line for the whole table, with the signature of each tokeniser."""
        gold_set = self.gold_set
        if gold_set is None:
            return ""
        names = [o.tokeniser if isinstance(o, Outcome) else "failed" for o in self.outcomes]
        named = " ".join(dict.fromkeys(names))
        return gold_set.signature_of(named, **self.settings, **self._test)


def outcomes_of(
    segmenters: Sequence[
        tuple[str, Segmenter | Predictions | Callable[[], Segmenter | Predictions]]
    ],
    gold_set: GoldSet,
    runs: int = 1,
) -> list[Outcome | SegmentationFailure]:
    """Return the outcome or failure of each segmenter; ``runs``: of dropout, by seeds in a row."""
    outcomes: list[Outcome | SegmentationFailure] = []
    for label, given in segmenters:
        try:
            segmenter = given() if callable(given) else given
            if isinstance(segmenter, Predictions):
                outcomes.append(outcome_of_predictions(segmenter, gold_set, label))
            else:
                others = [outcome_of(one, gold_set, label) for one in segmenter.reseeded(runs - 1)]
                outcome = outcome_of(segmenter, gold_set, label)
                outcomes.append(replace(outcome, more_runs=tuple(others)))
        except MorphGraphError as error:
            outcomes.append(SegmentationFailure(label, str(error)))
    return outcomes

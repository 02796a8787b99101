"""A table of tokenisers against a reference: scores with intervals and tests."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.entry import Entry, MorphemeKind
from morphgraph.reference.predictions import Predictions
from morphgraph.score.boundaries import BoundaryTally, boundary_positions
from morphgraph.score.gold_set import Counts, Flags, GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS, USUAL, Tally, check_metrics
from morphgraph.score.outcome import Outcome, outcome_of, outcome_of_predictions
from morphgraph.score.uncertainty import (
    NO_INTERVAL,
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
        found: dict[str, Score] = {}
        for name in names:
            ratios = tuple(METRICS[name].of(tally) for tally in tallies)
            # A deterministic score is repeated beside a mean, so that runs can be swapped.
            ratios *= self.runs if len(ratios) == 1 else 1
            found[name] = MeanRatio(ratios) if self.runs > 1 else ratios[0]
        return found

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

    def differences(self, name: str) -> list[Interval]:
        """Return the 95 % intervals of a score's differences to the baseline; NaN if failed."""
        known = list(self._known)
        intervals = [NO_INTERVAL] * len(self.outcomes)
        if self.baseline in known:
            scores = [self._scores[number][name] for number in known]
            found = self.draws.intervals(scores, known.index(self.baseline))
            for number, interval in zip(known, found, strict=True):
                intervals[number] = interval
        return intervals

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
        how = f"approximate randomisation {self.draws.trials} seed {self.draws.seed}"
        return {"test": f"{how} against {named}"}

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
    found: list[Outcome | SegmentationFailure] = []
    for label, given in segmenters:
        try:
            made = given() if callable(given) else given
            if isinstance(made, Predictions):
                found.append(outcome_of_predictions(made, gold_set, label))
            else:
                others = [outcome_of(one, gold_set, label) for one in made.reseeded(runs - 1)]
                outcome = outcome_of(made, gold_set, label)
                found.append(replace(outcome, more_runs=tuple(others)))
        except MorphGraphError as error:
            found.append(SegmentationFailure(label, str(error)))
    return found


GROUPINGS: Mapping[str, str] = {
    "formation": "How words are formed",
    "length": "Characters of a word",
    "frequency": "Corpus frequency of a word",
    "morphs": "Morphs of a word",
}
"""The ways to group words, with their titles."""

BREAKDOWNS: Mapping[str, str] = {
    "boundaries": "What meets at a boundary",
    "affixes": "Affix",
    **GROUPINGS,
}
"""All ways to break scores down; boundaries and affixes have only recall."""

_UNKNOWN = "unknown"
_FORMATIONS = (
    *("simple", "prefixed", "suffixed", "prefixed and suffixed", "compound"),
    *("compound with affixes", "inflected", "derived", "derived and inflected", "with affixes"),
    _UNKNOWN,
)
_LENGTHS, _LONGER = ("1–4", "5–7", "8–10", "11–13", "14–17", "18+"), (5, 8, 11, 14, 18)
_AROUND = (MorphemeKind.INTERFIX, MorphemeKind.INFIX)
_AFFIXES = (MorphemeKind.PREFIX, MorphemeKind.SUFFIX, *_AROUND)
_MOST_AFFIXES = 30


def word_groups(gold_set: GoldSet, grouping: str) -> dict[str, Flags]:
    """Partition the entries of a reference by one of `GROUPINGS`; no group is empty.

    Formations follow from the kinds of morphs, else from the source's own categories, else from
    whole words. Frequencies are those of the list, by powers of ten; a word outside it is unknown.
    """
    entries = gold_set.reference.entries
    names: Sequence[str] | dict[int, str]
    if grouping == "formation":
        names = _FORMATIONS
        codes = np.array([names.index(formation_of(entry)) for entry in entries])
    elif grouping == "length":
        names, codes = _LENGTHS, np.digitize(gold_set.lengths, _LONGER)
    elif grouping == "morphs":
        names = ("0", "1", "2", "3", "4", "5", "6+")
        codes = np.array([min(len(entry.morphs), 6) for entry in entries])
    else:
        weights, zero, unknown = gold_set.token_weights, -998, -999
        powers = np.log10(weights, out=np.full(len(weights), float(zero)), where=weights > 0)
        codes = np.where(gold_set.frequency_known, np.floor(powers + 1e-12), unknown).astype(int)
        bands = set(codes.tolist()) - {zero, unknown}
        names = {code: f"{_ten(code)} to {_ten(code + 1)}" for code in bands}
        names |= {zero: "0", unknown: _UNKNOWN}
    return {names[code]: codes == code for code in np.unique(codes).tolist()}


def _ten(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"


def formation_of(entry: Entry) -> str:
    """Return how a word is formed, as far as its source says.

    >>> from morphgraph.reference.entry import MorphemeKind
    >>> formation_of(Entry("undo", ("un", "do"), kinds=(MorphemeKind.PREFIX, MorphemeKind.FREE)))
    'prefixed'
    >>> formation_of(Entry("dogs", ("dog", "s"), processes=("inflection",)))
    'inflected'
    """
    if len(entry.morphs) == 1 and entry.processes is None:
        return "simple"
    if entry.kinds is not None and None not in entry.kinds:
        named = (("prefixed", MorphemeKind.PREFIX), ("suffixed", MorphemeKind.SUFFIX))
        affixes = [name for name, kind in named if kind in entry.kinds]
        is_compound = entry.kinds.count(MorphemeKind.FREE) > 1
    elif entry.processes is not None:
        named_too = (("derived", "derivation"), ("inflected", "inflection"))
        affixes = [name for name, process in named_too if process in entry.processes]
        is_compound = "compound" in entry.processes
    elif entry.whole_words is not None:
        affixes = ["with affixes"] if entry.whole_words != entry.morphs else []
        is_compound = len(entry.whole_words) > 1
    else:
        return _UNKNOWN
    if is_compound:
        return "compound with affixes" if affixes else "compound"
    return " and ".join(affixes) or "simple"


def boundary_groups(gold_set: GoldSet, by: str) -> dict[str, Counts]:
    """Group the morph boundaries of a reference, as indices into ``cuts("morphemic")``.

    ``by``: "boundaries" (after a prefix, before a suffix, at an interfix, infix or hyphen, or
    between parts of a compound) or "affixes" (``un-``, ``-ing``, ``-s-``; in entries without kinds,
    each morph counts as written). The largest groups come first.
    """
    named = _named_boundaries if by == "boundaries" else _affixes_at_boundaries

    def grouped() -> dict[str, Counts]:
        found: dict[str, dict[int, None]] = {}  # a boundary between two “ha” counts once for “ha”
        first = 0
        for entry in gold_set:
            for name, number in named(entry):
                found.setdefault(name, {})[first + number] = None
            first += max(len(entry.morphs) - 1, 0)
        listed = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
        return {name: np.array(list(numbers), np.int64) for name, numbers in listed}

    return gold_set.reference.cache.get("boundaries", by, grouped)


def _named_boundaries(entry: Entry) -> Iterator[tuple[str, int]]:
    kinds = entry.kinds or (None,) * len(entry.morphs)
    otherwise = "affix" if entry.whole_words is not None and entry.kinds is None else _UNKNOWN
    between_words = set(boundary_positions(entry.whole_words or ("",)))
    for number, place in enumerate(boundary_positions(entry.morphs)):
        both = kinds[number : number + 2]
        if MorphemeKind.HYPHEN in both:
            yield "hyphen", number
        elif MorphemeKind.INTERFIX in both:
            yield "interfix", number
        elif MorphemeKind.INFIX in both:
            yield "infix", number
        elif place in between_words or both == (MorphemeKind.FREE, MorphemeKind.FREE):
            yield "compound", number
        elif both[0] is MorphemeKind.PREFIX:
            yield "prefix", number
        else:
            yield "suffix" if both[1] is MorphemeKind.SUFFIX else otherwise, number


def _affixes_at_boundaries(entry: Entry) -> Iterator[tuple[str, int]]:
    for at, morph in enumerate(entry.morphs):
        kind = entry.kinds[at] if entry.kinds else None
        if entry.kinds is None or kind in _AFFIXES:
            if at > 0 and kind is not MorphemeKind.PREFIX:
                yield affix_name(morph, kind), at - 1
            if at < len(entry.morphs) - 1 and kind is not MorphemeKind.SUFFIX:
                yield affix_name(morph, kind), at


def affix_name(morph: str, kind: MorphemeKind | None) -> str:
    """Return an affix in lower case, with hyphens where it attaches.

    >>> affix_name("Un", MorphemeKind.PREFIX), affix_name("ing", MorphemeKind.SUFFIX)
    ('un-', '-ing')
    """
    before = "-" if kind in (MorphemeKind.SUFFIX, *_AROUND) else ""
    after = "-" if kind in (MorphemeKind.PREFIX, *_AROUND) else ""
    return f"{before}{morph.lower()}{after}"


@dataclass(frozen=True)
class Breakdown:
    """One score of each of ``labels`` in ``groups`` (name and size) of words or boundaries."""

    by: str
    metric: str
    labels: tuple[str, ...]
    groups: tuple[tuple[str, int], ...]
    rows: tuple[tuple[Estimate, ...], ...]
    signature: str

    @property
    def counted(self) -> str:
        """What the sizes of groups count."""
        return "words" if self.by in GROUPINGS else "boundaries"

    def to_dict(self) -> dict[str, Any]:
        """Return a row for each tokeniser and group, as JSON data."""
        rows = [
            {"tokeniser": label, "group": name, self.counted: size, **estimate.to_dict()}
            for label, row in zip(self.labels, self.rows, strict=True)
            for (name, size), estimate in zip(self.groups, row, strict=True)
        ]
        return {"by": self.by, "score": self.metric, "rows": rows, "signature": self.signature}


def check_breakdown(by: str) -> None:
    """Raise `MorphGraphError` unless ``by`` is one of `BREAKDOWNS`."""
    if by not in BREAKDOWNS:
        raise MorphGraphError(f"“{by}” is not a breakdown. Use one of: {', '.join(BREAKDOWNS)}.")


def break_down(
    outcomes: Sequence[Outcome],
    by: str,
    metric: str = "f1",
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    draws: Draws = USUAL_DRAWS,
) -> Breakdown:
    """Break down a score; intervals are over all entries. `MorphGraphError` for a wrong ``by``."""
    check_breakdown(by)
    if by not in GROUPINGS:
        metric, scope = "recall", "morphemic"
    labels = tuple(outcome.label for outcome in outcomes)
    if not outcomes:
        return Breakdown(by, metric, labels, (), (), "")
    gold_set = outcomes[0].gold_set
    if by in GROUPINGS:
        words, known = word_groups(gold_set, by), gold_set.has_gold(scope)
        groups = [(name, int((among & known).sum())) for name, among in words.items()]
        tallies = [Tally(outcome, scope, weighting) for outcome in outcomes]
        ratios = [
            [METRICS[metric].of(tally.within(among)) for among in words.values()]
            for tally in tallies
        ]
    else:
        most = _MOST_AFFIXES if by == "affixes" else None
        chosen = list(boundary_groups(gold_set, by).items())[:most]
        groups = [(name, len(numbers)) for name, numbers in chosen]
        parts = [gold_set.cuts("morphemic").only(numbers) for _, numbers in chosen]
        weight = gold_set.weights(weighting)
        ratios = [
            [BoundaryTally(outcome.cuts, part, weight).recall for part in parts]
            for outcome in outcomes
        ]
    intervals = iter(draws.intervals([ratio for row in ratios for ratio in row]))
    rows = [[Estimate(each.value, next(intervals), np.nan) for each in row] for row in ratios]
    signature = gold_set.signature_of(
        " ".join(outcome.tokeniser for outcome in outcomes),
        scores=f"{scope} {weighting} {metric} by {by}",
        **draws.named,
    )
    return Breakdown(by, metric, labels, tuple(groups), tuple(map(tuple, rows)), signature)

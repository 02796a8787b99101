"""A table of tokenisers against a reference: scores with intervals and tests."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

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
    Ratio,
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
    """A score, its 95 % interval, and the p-value of its difference to the baseline.

    NaN where undefined. ``deviation``: the standard deviation, where the score is a mean over runs.
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
    """Return stars for a p-value; none where it is undefined."""
    return next((mark for level, mark in LEVELS if p < level), "")


class ScoreTable:
    """Scores of several tokenisers on the same entries, under one scope and weighting.

    ``outcomes``: at least one, all on the same gold set. ``baseline``: the index of the one that
    others are tested against, or None. ``draws``: how intervals and p-values are computed. Where an
    outcome has several runs, its scores are their means; intervals and tests are of the means.
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
        self.outcomes = tuple(outcomes)
        self._known = {n: o for n, o in enumerate(outcomes) if isinstance(o, Outcome)}
        self.scope: Scope = scope
        self.weighting: Weighting = weighting
        self.metrics = check_metrics(metrics)
        self.baseline = baseline
        self.draws = draws

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
        return {
            name: [
                p if self._is_tested(number) else np.nan
                for number, p in zip(known, row, strict=True)
            ]
            for name, row in zip(self.metrics, tests, strict=True)
        }

    def _is_tested(self, number: int) -> bool:
        """Return whether the difference to the baseline is meaningful.

        It is not for the gold, nor if only one of the two was learned from these very words.
        """
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
        return {"test": f"{self.draws.test_named} against {named}"}

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
    """Return the outcome of each labelled segmenter, factory or set of predictions.

    A failure is kept as one. ``runs``: the number of runs of BPE-dropout, with consecutive seeds.
    """
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

_LENGTHS = ((1, 4), (5, 7), (8, 10), (11, 13), (14, 17), (18, None))
_AFFIXES = (MorphemeKind.PREFIX, MorphemeKind.SUFFIX, MorphemeKind.INTERFIX)
_UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Group:
    """Some entries of a reference, selected by a mask (bool, one for each entry)."""

    name: str
    entries: Flags


@dataclass(frozen=True)
class GroupScore:
    """A group's scores by metric, and its number of entries or boundaries."""

    name: str
    size: int
    scores: Mapping[str, Estimate]


def word_groups(gold_set: GoldSet, grouping: str) -> list[Group]:
    """Partition the entries of a reference by one of `GROUPINGS`; no group is empty.

    Formations follow from the kinds of morphs, else from the source's own categories, else from
    whole words. Frequencies are those of the list; a word outside it is *unknown*.
    """
    entries = gold_set.reference.entries
    if grouping == "length":
        names = [_name_of(length, _LENGTHS) for length in gold_set.lengths.tolist()]
        order: Iterable[str] = [_range(*edges) for edges in _LENGTHS]
    elif grouping == "morphs":
        names = [str(min(len(entry.morphs), 6)).replace("6", "6+") for entry in entries]
        order = ["1", "2", "3", "4", "5", "6+"]
    elif grouping == "frequency":
        names, order = _bands(gold_set)
    else:
        names = [formation_of(entry) for entry in entries]
        order = ("simple", "prefixed", "suffixed", "prefixed and suffixed", "compound",
                 "compound with affixes", "inflected", "derived", "derived and inflected",
                 "with affixes", _UNKNOWN)  # fmt: skip
    listed = np.array(names)
    found = [Group(name, listed == name) for name in dict.fromkeys([*order, *sorted(set(names))])]
    return [group for group in found if group.entries.any()]


def _range(low: int, high: int | None) -> str:
    return f"{low}+" if high is None else f"{low}–{high}"


def _name_of(number: int, ranges: Sequence[tuple[int, int | None]]) -> str:
    return next(_range(*r) for r in ranges if r[1] is None or number <= r[1])


def _bands(gold_set: GoldSet) -> tuple[list[str], list[str]]:
    """Return the power of ten below each word's frequency, and the band names in order."""
    weights, known = gold_set.token_weights, gold_set.frequency_known
    some = known & (weights > 0)
    tens = np.zeros(len(weights), int)
    tens[some] = np.floor(np.log10(weights[some]) + 1e-12)
    names = np.where(known, "0", "unknown").astype(object)
    bands = {int(ten): f"{_ten(int(ten))} to {_ten(int(ten) + 1)}" for ten in np.unique(tens[some])}
    for ten, band in bands.items():
        names[some & (tens == ten)] = band
    return names.tolist(), ["unknown", "0", *bands.values()]


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


def group_scores(
    outcomes: Sequence[Outcome],
    groups: Sequence[Group],
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    metrics: Sequence[str] = ("precision", "recall", "f1", "exact"),
    draws: Draws = USUAL_DRAWS,
) -> list[list[GroupScore]]:
    """Score each group for each outcome, with intervals over all entries of the reference.

    All outcomes are on the same gold set.
    """
    ratios: list[list[dict[str, Ratio]]] = []
    sized: list[tuple[str, int]] = []
    for outcome in outcomes:
        whole = Tally(outcome, scope, weighting)
        parts = [whole.within(group.entries) for group in groups]
        ratios.append([{name: METRICS[name].of(part) for name in metrics} for part in parts])
        sized = [(group.name, int((group.entries & whole.known).sum())) for group in groups]
    return _estimated(sized, ratios, draws)


def _estimated(
    groups: Sequence[tuple[str, int]],
    ratios: Sequence[Sequence[Mapping[str, Ratio]]],
    draws: Draws,
) -> list[list[GroupScore]]:
    """Return group scores with intervals, all computed on the same resamples."""
    flat = [ratio for row in ratios for each in row for ratio in each.values()]
    intervals = iter(draws.intervals(flat))

    def score(name: str, size: int, each: Mapping[str, Ratio]) -> GroupScore:
        scores = {k: Estimate(ratio.value, next(intervals), np.nan) for k, ratio in each.items()}
        return GroupScore(name, size, scores)

    return [
        [score(*group, each) for group, each in zip(groups, row, strict=True)] for row in ratios
    ]


class GoldBoundaries:
    """The morph boundaries of a reference, named by the morphs that meet at each.

    ``names``: for each boundary (in the order of ``gold_set.cuts("morphemic")``) whether it is
    after a prefix, before a suffix, at an interfix or hyphen, or between parts of a compound.
    """

    def __init__(self, gold_set: GoldSet) -> None:
        self.gold_set = gold_set
        self._cuts = gold_set.cuts("morphemic")

    @cached_property
    def names(self) -> npt.NDArray[np.str_]:
        """The name of each boundary."""
        return np.array(
            [name for entry in self.gold_set for name in _boundary_names(entry)], np.str_
        )

    @cached_property
    def affixes(self) -> dict[str, Counts]:
        """The indices of the boundaries of each affix (``un-``, ``-ing``, ``-s-``).

        The most frequent come first. In entries without kinds, each morph counts as written.
        """
        found: dict[str, dict[int, None]] = {}  # a boundary between two “ha” counts once for “ha”
        first = 0
        for entry in self.gold_set:
            last = len(entry.morphs) - 1
            for at, morph in enumerate(entry.morphs):
                kind = entry.kinds[at] if entry.kinds else None
                if last and (entry.kinds is None or kind in _AFFIXES):
                    # The boundary before a morph is boundary at - 1 of its word.
                    sides = {-1: at > 0 and kind is not MorphemeKind.PREFIX}
                    sides[0] = at < last and kind is not MorphemeKind.SUFFIX
                    edges = [first + at + side for side, counts in sides.items() if counts]
                    found.setdefault(affix_name(morph, kind), {}).update(dict.fromkeys(edges))
            first += last
        listed = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
        return {name: np.array(list(edges), np.int64) for name, edges in listed if edges}

    @cached_property
    def owners(self) -> Counts:
        """The entry of each boundary."""
        return self._cuts.keys >> 32

    def by_kind(
        self,
        outcomes: Sequence[Outcome],
        weighting: Weighting = "types",
        draws: Draws = USUAL_DRAWS,
    ) -> list[list[GroupScore]]:
        """Return each outcome's recall of each kind of boundary, the most frequent first."""
        kinds, sizes = np.unique(self.names, return_counts=True)
        ordered = kinds[np.argsort(-sizes, kind="stable")].tolist()
        chosen = [(kind, np.flatnonzero(self.names == kind)) for kind in ordered]
        return self._recall(outcomes, weighting, chosen, draws)

    def by_affix(
        self,
        outcomes: Sequence[Outcome],
        weighting: Weighting = "types",
        draws: Draws = USUAL_DRAWS,
        limit: int = 30,
    ) -> list[list[GroupScore]]:
        """Return each outcome's recall of the boundaries of the most frequent affixes."""
        return self._recall(outcomes, weighting, list(self.affixes.items())[:limit], draws)

    def _recall(
        self,
        outcomes: Sequence[Outcome],
        weighting: Weighting,
        chosen: Sequence[tuple[str, Counts]],
        draws: Draws,
    ) -> list[list[GroupScore]]:
        weight = self.gold_set.weights(weighting)
        parts = [self._cuts.only(edges) for _, edges in chosen]
        ratios = [
            [{"recall": BoundaryTally(outcome.cuts, part, weight).recall} for part in parts]
            for outcome in outcomes
        ]
        return _estimated([(name, len(edges)) for name, edges in chosen], ratios, draws)


def affix_name(morph: str, kind: MorphemeKind | None) -> str:
    """Return an affix in lower case, with hyphens where it attaches.

    >>> affix_name("Un", MorphemeKind.PREFIX), affix_name("ing", MorphemeKind.SUFFIX)
    ('un-', '-ing')
    """
    text = morph.lower()
    before = "-" if kind in (MorphemeKind.SUFFIX, MorphemeKind.INTERFIX) else ""
    after = "-" if kind in (MorphemeKind.PREFIX, MorphemeKind.INTERFIX) else ""
    return f"{before}{text}{after}"


def _boundary_names(entry: Entry) -> list[str]:
    if len(entry.morphs) < 2:
        return []
    kinds = entry.kinds or (None,) * len(entry.morphs)
    otherwise = "affix" if entry.whole_words is not None and entry.kinds is None else _UNKNOWN
    between_words = set(boundary_positions(entry.whole_words or ("",)))
    places = boundary_positions(entry.morphs)
    return [
        _boundary_name(*pair, "compound" if place in between_words else otherwise)
        for pair, place in zip(pairwise(kinds), places, strict=True)
    ]


def _boundary_name(left: MorphemeKind | None, right: MorphemeKind | None, otherwise: str) -> str:
    """Name the boundary between morphs of two kinds; ``otherwise`` is the fallback."""
    both = (left, right)
    if MorphemeKind.HYPHEN in both:
        return "hyphen"
    if MorphemeKind.INTERFIX in both:
        return "interfix"
    if otherwise == "compound" or both == (MorphemeKind.FREE, MorphemeKind.FREE):
        return "compound"
    if left is MorphemeKind.PREFIX:
        return "prefix"
    return "suffix" if right is MorphemeKind.SUFFIX else otherwise


@dataclass(frozen=True)
class Breakdown:
    """One score of several tokenisers, broken down one way, with its signature's fields.

    ``rows``: the scores of each of ``labels``, all in the same groups.
    """

    by: str
    metric: str
    labels: tuple[str, ...]
    rows: tuple[tuple[GroupScore, ...], ...]
    signature: str

    @property
    def counted(self) -> str:
        """What the sizes of groups count."""
        return "words" if self.by in GROUPINGS else "boundaries"

    @property
    def groups(self) -> tuple[GroupScore, ...]:
        """The groups with the first tokeniser's scores; empty if there is nothing to show."""
        return self.rows[0] if self.rows else ()

    def estimates(self, number: int) -> list[Estimate]:
        """Return the scores of a tokeniser, one for each group."""
        return [group.scores[self.metric] for group in self.rows[number]]


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
    gold: GoldBoundaries | None = None,
    draws: Draws = USUAL_DRAWS,
) -> Breakdown:
    """Break down a score of outcomes on one gold set by one of `BREAKDOWNS`.

    ``gold``: the boundaries of the gold set, if already computed. Raises `MorphGraphError`.
    """
    check_breakdown(by)
    if by not in GROUPINGS:
        metric, scope = "recall", "morphemic"
    labels = tuple(outcome.label for outcome in outcomes)
    if not outcomes:
        return Breakdown(by, metric, labels, (), "")
    gold_set = outcomes[0].gold_set
    if by in GROUPINGS:
        groups = word_groups(gold_set, by)
        rows = group_scores(outcomes, groups, scope, weighting, [metric], draws)
    else:
        gold = gold or GoldBoundaries(gold_set)
        found = gold.by_kind if by == "boundaries" else gold.by_affix
        rows = found(outcomes, weighting, draws)
    signature = gold_set.signature_of(
        " ".join(outcome.tokeniser for outcome in outcomes),
        scores=f"{scope} {weighting} {metric} by {by}",
        **draws.named,
    )
    return Breakdown(by, metric, labels, tuple(map(tuple, rows)), signature)

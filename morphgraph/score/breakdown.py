"""Scores of some of the words or boundaries: by formation, length, frequency, morphs, affix."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind
from morphgraph.score.boundaries import BoundaryTally, boundary_positions
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS, Tally
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate
from morphgraph.score.uncertainty import USUAL_DRAWS, Draws, Ratio

GROUPINGS: Mapping[str, str] = {
    "formation": "How words are formed",
    "length": "Characters of a word",
    "frequency": "Corpus frequency of a word",
    "morphs": "Morphs of a word",
}
"""How words are put into groups → what to call it."""

BREAKDOWNS: Mapping[str, str] = {
    "boundaries": "What meets at a boundary",
    "affixes": "Affix",
    **GROUPINGS,
}
"""All ways to break scores down; of boundaries and affixes there is only recall."""

_LENGTHS = ((1, 4), (5, 7), (8, 10), (11, 13), (14, 17), (18, None))
_AFFIXES = (MorphemeKind.PREFIX, MorphemeKind.SUFFIX, MorphemeKind.INTERFIX)
_UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Group:
    """Some entries of a reference: which ones (bool, one for each)."""

    name: str
    entries: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class GroupScore:
    """Scores of a group by name of the metric, and how many entries or boundaries it has."""

    name: str
    size: int
    scores: Mapping[str, Estimate]


def word_groups(gold_set: GoldSet, grouping: str) -> list[Group]:
    """The entries of a reference in groups that share none, by one of `GROUPINGS`; none is empty.

    Formations follow from the kinds of morphs, else from the source's own categories, else by whole
    words. Frequencies are those in the list; a word that is not in it is *unknown*.
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
    """The power of ten below the frequency of each word, and the names in order."""
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
    """How a word is formed, as far as its source says.

    >>> from morphgraph.reference.free_and_bound import MorphemeKind
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
    """For each outcome the scores of each group, with intervals over all entries of the reference.

    All outcomes are on the same gold set.
    """
    ratios: list[list[dict[str, Ratio]]] = []
    sizes: list[int] = []
    for outcome in outcomes:
        whole = Tally(outcome, scope, weighting)
        parts = [whole.within(group.entries) for group in groups]
        ratios.append([{name: METRICS[name].of(part) for name in metrics} for part in parts])
        sizes = [int((group.entries & whole.known).sum()) for group in groups]
    return _estimated([group.name for group in groups], sizes, ratios, draws)


def _estimated(
    names: Sequence[str],
    sizes: Sequence[int],
    ratios: Sequence[Sequence[Mapping[str, Ratio]]],
    draws: Draws,
) -> list[list[GroupScore]]:
    """With the intervals of all at once, for they take the same resamples."""
    flat = [ratio for row in ratios for each in row for ratio in each.values()]
    intervals = iter(draws.intervals(flat))
    return [
        [
            GroupScore(
                name,
                size,
                {
                    key: Estimate(ratio.value, next(intervals), np.nan)
                    for key, ratio in each.items()
                },
            )
            for name, size, each in zip(names, sizes, row, strict=True)
        ]
        for row in ratios
    ]


class GoldBoundaries:
    """The morph boundaries of a reference, each by what meets there.

    ``names``: for each boundary (in the order of ``gold_set.cuts("morphemic")``) whether it is
    behind a prefix, before a suffix, at an interfix or a hyphen, or between parts of a compound.
    """

    def __init__(self, gold_set: GoldSet) -> None:
        self.gold_set = gold_set
        self._cuts = gold_set.cuts("morphemic")

    @cached_property
    def names(self) -> npt.NDArray[np.str_]:
        """What meets at each boundary."""
        found: list[str] = []
        for entry in self.gold_set.reference.entries:
            if len(entry.morphs) > 1:
                found += _meetings(entry)
        return np.array(found, np.str_)

    @cached_property
    def affixes(self) -> dict[str, npt.NDArray[np.int64]]:
        """Each affix as people write it (``un-``, ``-ing``, ``-s-``) → numbers of its boundaries.

        The most frequent first. Of entries without kinds, each morph counts as it stands.
        """
        found: dict[str, dict[int, None]] = {}  # a boundary between two “ha” is one of “ha”
        first = 0
        for entry in self.gold_set.reference.entries:
            last = len(entry.morphs) - 1
            for at, morph in enumerate(entry.morphs):
                kind = entry.kinds[at] if entry.kinds else None
                if last and (entry.kinds is None or kind in _AFFIXES):
                    # The boundary before a morph is number at - 1 of its word.
                    edges = []
                    if at > 0 and kind is not MorphemeKind.PREFIX:
                        edges.append(first + at - 1)
                    if at < last and kind is not MorphemeKind.SUFFIX:
                        edges.append(first + at)
                    found.setdefault(affix_name(morph, kind), {}).update(dict.fromkeys(edges))
            first += last
        listed = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
        return {name: np.array(list(edges), np.int64) for name, edges in listed if edges}

    @cached_property
    def owners(self) -> npt.NDArray[np.int64]:
        """The entry of each boundary."""
        return self._cuts.keys >> 32

    def by_kind(
        self,
        outcomes: Sequence[Outcome],
        weighting: Weighting = "types",
        draws: Draws = USUAL_DRAWS,
    ) -> list[list[GroupScore]]:
        """For each outcome the recall of the boundaries of each kind; the most frequent first."""
        kinds, sizes = np.unique(self.names, return_counts=True)
        order = np.argsort(-sizes, kind="stable")
        return self._recall(
            outcomes,
            weighting,
            [(str(kinds[i]), np.flatnonzero(self.names == kinds[i])) for i in order],
            draws,
        )

    def by_affix(
        self,
        outcomes: Sequence[Outcome],
        weighting: Weighting = "types",
        draws: Draws = USUAL_DRAWS,
        limit: int = 30,
    ) -> list[list[GroupScore]]:
        """For each outcome the recall of the boundaries of the most frequent affixes."""
        return self._recall(outcomes, weighting, list(self.affixes.items())[:limit], draws)

    def _recall(
        self,
        outcomes: Sequence[Outcome],
        weighting: Weighting,
        chosen: Sequence[tuple[str, npt.NDArray[np.int64]]],
        draws: Draws,
    ) -> list[list[GroupScore]]:
        weight = self.gold_set.weights(weighting)
        parts = [self._cuts.only(edges) for _, edges in chosen]
        ratios = [
            [{"recall": BoundaryTally(outcome.cuts, part, weight).recall} for part in parts]
            for outcome in outcomes
        ]
        return _estimated([name for name, _ in chosen], [len(e) for _, e in chosen], ratios, draws)


def affix_name(morph: str, kind: MorphemeKind | None) -> str:
    """An affix with hyphens where it is bound, in lower case.

    >>> affix_name("Un", MorphemeKind.PREFIX), affix_name("ing", MorphemeKind.SUFFIX)
    ('un-', '-ing')
    """
    text = morph.lower()
    before = "-" if kind in (MorphemeKind.SUFFIX, MorphemeKind.INTERFIX) else ""
    after = "-" if kind in (MorphemeKind.PREFIX, MorphemeKind.INTERFIX) else ""
    return f"{before}{text}{after}"


def _meetings(entry: Entry) -> list[str]:
    kinds = entry.kinds or (None,) * len(entry.morphs)
    otherwise = "affix" if entry.whole_words is not None and entry.kinds is None else _UNKNOWN
    between_words = set(boundary_positions(entry.whole_words or ("",)))
    places = boundary_positions(entry.morphs)
    return [
        _meeting(*pair, "compound" if place in between_words else otherwise)
        for pair, place in zip(pairwise(kinds), places, strict=True)
    ]


def _meeting(left: MorphemeKind | None, right: MorphemeKind | None, otherwise: str) -> str:
    """What meets between morphs of two kinds; ``otherwise``: what whole words show."""
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
    """One score of several tokenisers, broken down one way, with all that it depends on.

    ``rows``: for each of ``labels`` its scores, in the same groups.
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
        """The groups, with the scores of the first tokeniser; none if there is nothing to show."""
        return self.rows[0] if self.rows else ()

    def estimates(self, number: int) -> list[Estimate]:
        """The scores of a tokeniser, one for each group."""
        return [group.scores[self.metric] for group in self.rows[number]]


def check_breakdown(by: str) -> None:
    """`MorphGraphError` unless it is one of `BREAKDOWNS`."""
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
    """A score of outcomes on one gold set, by one of `BREAKDOWNS`; `MorphGraphError` if unknown.

    ``gold``: the boundaries of the gold set, if they are at hand.
    """
    check_breakdown(by)
    rows: list[list[GroupScore]] = []
    signature = ""
    if by not in GROUPINGS:
        metric, scope = "recall", "morphemic"
    if outcomes:
        gold_set = outcomes[0].gold_set
        if by in GROUPINGS:
            groups = word_groups(gold_set, by)
            rows = group_scores(outcomes, groups, scope, weighting, [metric], draws)
        else:
            gold = gold or GoldBoundaries(gold_set)
            rows = (gold.by_kind if by == "boundaries" else gold.by_affix)(
                outcomes, weighting, draws
            )
        signature = gold_set.signature_of(
            " ".join(outcome.tokeniser for outcome in outcomes),
            scores=f"{scope} {weighting} {metric} by {by}",
            **draws.named,
        )
    labels = tuple(outcome.label for outcome in outcomes)
    return Breakdown(by, metric, labels, tuple(map(tuple, rows)), signature)

"""Scores of parts of a reference: by formation, length, frequency, morphs or affix."""

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
    entries: npt.NDArray[np.bool_]


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
    """Score each group for each outcome, with intervals over all entries of the reference.

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
    """Return group scores with intervals, all computed on the same resamples."""
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
        found: list[str] = []
        for entry in self.gold_set.reference.entries:
            if len(entry.morphs) > 1:
                found += _boundary_names(entry)
        return np.array(found, np.str_)

    @cached_property
    def affixes(self) -> dict[str, npt.NDArray[np.int64]]:
        """The indices of the boundaries of each affix (``un-``, ``-ing``, ``-s-``).

        The most frequent come first. In entries without kinds, each morph counts as written.
        """
        found: dict[str, dict[int, None]] = {}  # a boundary between two “ha” counts once for “ha”
        first = 0
        for entry in self.gold_set.reference.entries:
            last = len(entry.morphs) - 1
            for at, morph in enumerate(entry.morphs):
                kind = entry.kinds[at] if entry.kinds else None
                if last and (entry.kinds is None or kind in _AFFIXES):
                    # The boundary before a morph is boundary at - 1 of its word.
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
        """Return each outcome's recall of each kind of boundary, the most frequent first."""
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
        """Return each outcome's recall of the boundaries of the most frequent affixes."""
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
    """Return an affix in lower case, with hyphens where it attaches.

    >>> affix_name("Un", MorphemeKind.PREFIX), affix_name("ing", MorphemeKind.SUFFIX)
    ('un-', '-ing')
    """
    text = morph.lower()
    before = "-" if kind in (MorphemeKind.SUFFIX, MorphemeKind.INTERFIX) else ""
    after = "-" if kind in (MorphemeKind.PREFIX, MorphemeKind.INTERFIX) else ""
    return f"{before}{text}{after}"


def _boundary_names(entry: Entry) -> list[str]:
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

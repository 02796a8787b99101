"""Scores of some words or boundaries only, in groups: how words are formed, how long they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.entry import Entry, MorphemeKind, Reference
from morphgraph.score.boundaries import BoundaryTally, boundary_positions
from morphgraph.score.gold_set import Counts, Flags, GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS, Tally
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate
from morphgraph.score.uncertainty import USUAL_DRAWS, Draws

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


def only_formed(reference: Reference, formation: str) -> Reference:
    """Return the entries of a reference that are formed so; `MorphGraphError` if none is."""
    entries = [entry for entry in reference.entries if formation_of(entry) == formation]
    if not entries:
        known = ", ".join(sorted({formation_of(entry) for entry in reference.entries}))
        raise MorphGraphError(
            f"No word of {reference.name} is “{formation[:40]}”. Its words are: {known}."
        )
    name = f"{reference.name} ({formation})"
    return replace(reference, name=name, entries=tuple(entries), unaligned=())


def boundary_groups(gold_set: GoldSet, by: str) -> dict[str, Counts]:
    """Group the morph boundaries of a reference, as indices into ``cuts("morphemic")``.

    ``by``: "boundaries" (after a prefix, before a suffix, at an interfix, infix or hyphen, or
    between parts of a compound) or "affixes" (``un-``, ``-ing``, ``-s-``; in entries without kinds,
    each morph counts as written). The largest groups come first.
    """
    named = _named_boundaries if by == "boundaries" else _affixes_at_boundaries

    def grouped() -> dict[str, Counts]:
        groups: dict[str, dict[int, None]] = {}  # a boundary between two “ha” counts once for “ha”
        first = 0
        for entry in gold_set:
            for name, number in named(entry):
                groups.setdefault(name, {})[first + number] = None
            first += max(len(entry.morphs) - 1, 0)
        listed = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
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

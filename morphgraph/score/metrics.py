"""Every score of a tokeniser against a reference, as ratios of sums over entries."""

import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import numpy as np

from morphgraph.core.errors import MorphGraphError, nearest
from morphgraph.core.glossary import GLOSSARY
from morphgraph.core.plugins import Registry
from morphgraph.kernels import worth_loading
from morphgraph.score.boundaries import Array, BoundaryTally, WordNumbers
from morphgraph.score.gold_set import Flags, Scope, Weighting
from morphgraph.score.outcome import Outcome, Strings, gold_strings
from morphgraph.score.uncertainty import Ratio


class Tally(BoundaryTally):
    """The counts that scores are made of: one for each entry, under a scope and weighting."""

    def __init__(self, outcome: Outcome, scope: Scope, weighting: Weighting) -> None:
        self.outcome = outcome
        self.scope: Scope = scope
        self.weighting: Weighting = weighting
        gold_set = outcome.gold_set
        super().__init__(outcome.cuts, gold_set.cuts(scope), gold_set.weight(scope, weighting))
        self.known = gold_set.has_gold(scope)
        self.ones = np.ones(len(self.weight))
        self.unaligned = gold_set.all_weights(weighting)[len(self.weight) :]

    def within(self, entries: Flags) -> "Tally":
        """Return the same with the weight of all other entries set to 0."""
        part = copy(self)
        part.weight = np.where(entries, self.weight, 0.0)
        part.unaligned = np.zeros_like(self.unaligned)
        return part

    def ratio(
        self, part: WordNumbers, whole: WordNumbers, needed: WordNumbers | None = None
    ) -> Ratio:
        """Return a ratio of weighted sums, without unaligned entries."""
        columns = super().ratio(part, whole, needed).columns
        return Ratio(*(np.append(each, np.zeros_like(self.unaligned)) for each in columns))

    @cached_property
    def gold(self) -> Strings:
        """The gold segments of each word, as strings."""
        return gold_strings(self.outcome.gold_set, self.scope)

    @cached_property
    def _underlying(self) -> Strings:
        return gold_strings(self.outcome.gold_set, self.scope, underlying=True)

    @cached_property
    def common(self) -> Array:
        """Longest common subsequence of morphs and pieces."""
        return longest_common(self.gold, self.outcome.strings)

    @cached_property
    def distance(self) -> Array:
        """Levenshtein distance between morphs and pieces, with a separator between each two."""
        return edit_distances(self.gold, self.outcome.strings)

    @cached_property
    def common_underlying(self) -> Array:
        """Longest common subsequence of the source's own morphemes and pieces."""
        return longest_common(self._underlying, self.outcome.morphemes)

    @cached_property
    def distance_underlying(self) -> Array:
        """Levenshtein distance between the source's own morphemes and pieces."""
        return edit_distances(self._underlying, self.outcome.morphemes)

    @property
    def underlying(self) -> WordNumbers:
        """The number of the source's own morphemes."""
        return self._underlying.counts

    @property
    def morphemes(self) -> WordNumbers:
        """Pieces covered by tokens, or the morphemes that a program wrote instead."""
        return self.outcome.morphemes.counts

    @property
    def is_cut(self) -> Flags:
        """Whether a word has at least two tokens, without lone markers."""
        return self.outcome.parts > 1

    def share(self, which: Flags) -> Ratio:
        """Return the share of entries in which a condition holds."""
        return self.ratio(which, self.ones)

    def of_source(self, part: WordNumbers, whole: WordNumbers) -> Ratio:
        """Return a ratio against the source's morphemes, of which whole words have none."""
        weight = np.append(self.weight, self.unaligned) * (self.scope == "morphemic")
        return Ratio(part * weight, whole * weight)

    def mean(self, part: Array, whole: Array) -> Ratio:
        """Return the mean of a ratio over entries, without those where it is undefined."""
        defined = whole > 0
        return self.ratio(np.divide(part, whole, out=np.zeros_like(part), where=defined), defined)


@dataclass(frozen=True)
class Metric:
    """A score; ``better``: 1 if more is better, -1 if less is, 0 if that depends."""

    title: str
    meaning: str
    of: Callable[[Tally], Ratio]
    better: Literal[-1, 0, 1] = 1
    unit: Literal["%", ""] = "%"


def _macro_f1(tally: Tally) -> Ratio:
    both = np.where(tally.relevant > 0, tally.predicted + tally.relevant, 0.0)
    return tally.mean(2 * tally.hits, both)


def _morphscore(tally: Tally) -> Ratio:
    listed = tally.is_cut & (tally.relevant == 1)
    return tally.ratio(tally.hits * listed, listed)


def _morphscore_mean(whole: str, single: bool) -> Callable[[Tally], Ratio]:
    """The mean of hits ÷ ``whole``; a word of one token counts 1, or is left out."""

    def of(tally: Tally) -> Ratio:
        shares = tally.hits / np.maximum(getattr(tally, whole), 1)
        known = tally.relevant > 0 if single else (tally.relevant > 0) & tally.is_cut
        return tally.ratio(np.where(tally.is_cut, shares, 1.0) * known, known)

    return of


_FORMULAS: Mapping[str, Callable[[Tally], Ratio]] = {
    "precision": lambda t: t.precision,
    "recall": lambda t: t.recall,
    "f1": lambda t: t.f1,
    "macro_precision": lambda t: t.mean(t.hits, t.predicted),
    "macro_recall": lambda t: t.mean(t.hits, t.relevant),
    "macro_f1": _macro_f1,
    "exact": lambda t: t.share(t.is_exact),
    "over": lambda t: t.share(t.wrong > 0),
    "under": lambda t: t.share(t.missed > 0),
    "morph_precision": lambda t: t.ratio(t.common, t.outcome.pieces),
    "morph_recall": lambda t: t.ratio(t.common, t.relevant + 1),
    "morph_f1": lambda t: t.ratio(2 * t.common, t.outcome.pieces + t.relevant + 1),
    "distance": lambda t: t.ratio(t.distance, t.ones),
    "morpheme_precision": lambda t: t.of_source(t.common_underlying, t.morphemes),
    "morpheme_recall": lambda t: t.of_source(t.common_underlying, t.underlying),
    "morpheme_f1": lambda t: t.of_source(2 * t.common_underlying, t.morphemes + t.underlying),
    "morpheme_distance": lambda t: t.of_source(
        t.distance_underlying, np.ones_like(t.distance_underlying)
    ),
    "fertility": lambda t: t.ratio(t.outcome.tokens, t.ones),
    "characters": lambda t: t.ratio(
        t.outcome.gold_set.lengths - t.outcome.left_out, t.outcome.tokens
    ),
    "left_out": lambda t: t.ratio(t.outcome.left_out, t.outcome.gold_set.lengths),
    "inside": lambda t: t.ratio(t.outcome.inside, t.ones),
    "morphscore": _morphscore,
    "morphscore_precision": _morphscore_mean("predicted", single=False),
    "morphscore_recall": _morphscore_mean("relevant", single=False),
    "morphscore_precision_all": _morphscore_mean("predicted", single=True),
    "morphscore_recall_all": _morphscore_mean("relevant", single=True),
}

_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GROUPS: Mapping[str, tuple[str, ...]] = {group: tuple(names) for group, names in _TOLD.items()}
"""Our own scores by what they are of."""
_GLOSSED = {name.lower(): {"meaning": term.meaning} for name, term in GLOSSARY.items()}
OURS = SimpleNamespace(
    **{
        name: Metric(of=_FORMULAS[name], **_GLOSSED.get(name, {}) | told)
        for group in _TOLD.values()
        for name, told in group.items()
    }
)
"""Our own scores, for their entry points."""
METRICS = Registry("morphgraph.metrics", Metric, first=[*vars(OURS)])
"""All scores by name, in table order."""
USUAL = ("precision", "recall", "f1", "exact", "over", "under", "morph_f1", "distance", "fertility")


def check_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Expand names of metrics, groups and ``all``; `MorphGraphError` if unknown.

    >>> check_metrics(["boundaries", "exact"])
    ('precision', 'recall', 'f1', 'exact')
    """
    expanded: list[str] = []
    for name in map(str.strip, names):
        if name != "all" and name not in GROUPS and name not in METRICS:
            known = ["all", *GROUPS, *METRICS]
            raise MorphGraphError(
                f"“{name}” is not a score.{nearest(name, known)} Use any of: {', '.join(known)}."
            )
        expanded += METRICS if name == "all" else GROUPS.get(name, (name,))
    return tuple(dict.fromkeys(expanded))


def longest_common(gold: Strings, found: Strings) -> Array:
    """Return the length of the longest common subsequence of each word's strings."""
    if worth_loading(len(gold.points) + len(found.points)):
        from morphgraph.kernels.alignment import longest_common_by_word

        arrays = (gold.points, gold.strings, gold.words, found.points, found.strings, found.words)
        return np.asarray(longest_common_by_word(*arrays), np.float64)
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist

    return np.asarray(cpdist(gold.lists, found.lists, scorer=LCSseq.similarity), np.float64)


def edit_distances(gold: Strings, found: Strings) -> Array:
    """Return the Levenshtein distance of each word's strings, joined by a separator."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    between = sys.maxunicode
    behind = between - 1
    while any(np.isin(strings.points, (between, behind)).any() for strings in (gold, found)):
        between, behind = behind, behind - 1
    one, other = (_joined(strings, between, behind) for strings in (gold, found))
    return np.asarray(cpdist(one, other, scorer=Levenshtein.distance), np.float64)


def _joined(strings: Strings, between: int, behind: int) -> list[str]:
    """Join the strings of each word, separated by ``between``, and end it with ``behind``.

    Both are characters that occur in no string; words are separated at ``behind``.
    """
    points = np.insert(strings.points, strings.strings[1:], between)
    has_any = strings.counts > 0
    last = strings.words[1:][has_any]
    points[strings.strings[last] + last - 1] = behind
    words = points.tobytes().decode("utf-32-le", "surrogatepass").split(chr(behind))[:-1]
    if has_any.all():
        return words
    each = iter(words)
    return [next(each) if some else "" for some in has_any]

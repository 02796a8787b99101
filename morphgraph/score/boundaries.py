"""Boundary precision, recall and F1 of a segmentation against a gold reference."""

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from morphgraph.reference.entry import Reference
from morphgraph.score.gold_set import (
    SCOPES,
    WEIGHTINGS,
    Cuts,
    GoldSet,
    Scope,
    Weighting,
    cuts_of,
    splits_inside_characters,
)
from morphgraph.score.uncertainty import Ratio
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Segmentation, Words

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[np.float64]
WordNumbers = npt.NDArray[Any]
"""Numbers or truth values, one for each word."""


@dataclass(frozen=True)
class BoundaryScore:
    """Micro precision, recall and F1 of word-internal splits, with the underlying counts.

    ``predicted``: splits; ``relevant``: gold boundaries; ``true_positives``: both. Weighted by 1
    for each entry ("types") or by its corpus frequency ("tokens"). ``splits_inside_characters``
    are splits between the bytes of one character, which are not gaps. A ratio with nothing in its
    denominator is undefined: NaN. Source: Bauwens & Delobelle 2024, §4.1.

    >>> score = BoundaryScore("morphemic", "types", 6, 8, 12)
    >>> score.precision, score.recall, score.f1
    (0.75, 0.5, 0.6)
    """

    scope: Scope
    weighting: Weighting
    true_positives: float
    predicted: float
    relevant: float
    splits_inside_characters: float = 0.0

    @property
    def precision(self) -> float:
        """True positives ÷ predicted."""
        return _ratio(self.true_positives, self.predicted)

    @property
    def recall(self) -> float:
        """True positives ÷ relevant."""
        return _ratio(self.true_positives, self.relevant)

    @property
    def f1(self) -> float:
        """2 × true positives ÷ (predicted + relevant): the harmonic mean of precision and recall.

        Undefined, like the recall, without gold boundaries; 0 for a tokeniser that never splits
        where there are some.
        """
        return _ratio(2 * self.true_positives, self.predicted + self.relevant, self.relevant)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data: null for undefined values, integers for whole counts."""
        return {
            "scope": self.scope,
            "weighting": self.weighting,
            "true_positives": _whole(self.true_positives),
            "predicted": _whole(self.predicted),
            "relevant": _whole(self.relevant),
            "precision": or_none(self.precision),
            "recall": or_none(self.recall),
            "f1": or_none(self.f1),
            "splits_inside_characters": _whole(self.splits_inside_characters),
        }


def undefined_score(scope: Scope, weighting: Weighting) -> BoundaryScore:
    """Return a score of zero counts, all of whose ratios are undefined."""
    return BoundaryScore(scope, weighting, *[math.nan] * 4)


class BoundaryTally:
    """The one count of boundaries, used wherever splits are scored against gold boundaries.

    ``hits``: splits that are gold boundaries; ``predicted``: splits; ``relevant``: gold boundaries;
    ``weight``: of each word in sums, 0 without gold. All are float64, one number for each word.
    """

    def __init__(self, cuts: Cuts, gold: Cuts, weight: Array) -> None:
        self.weight = weight
        self.predicted = cuts.counts.astype(np.float64)
        self.relevant = gold.counts.astype(np.float64)
        self.hits = cuts.shared(gold).astype(np.float64)

    def recount(self, cuts: Cuts, gold: Cuts, words: npt.NDArray[np.bool_]) -> None:
        """Recount the words (bool, one for each) whose cuts have changed."""
        self.predicted[words] = cuts.counts[words]
        self.hits[words] = cuts.shared(gold)[words]

    @property
    def wrong(self) -> Array:
        """Splits that are not gold boundaries."""
        return self.predicted - self.hits

    @property
    def missed(self) -> Array:
        """Gold boundaries that are not splits."""
        return self.relevant - self.hits

    @property
    def is_exact(self) -> npt.NDArray[np.bool_]:
        """Whether each word is cut exactly as in the gold."""
        exact: npt.NDArray[np.bool_] = (self.wrong == 0) & (self.missed == 0)
        return exact

    @property
    def precision(self) -> Ratio:
        """Hits ÷ splits."""
        return self.ratio(self.hits, self.predicted)

    @property
    def recall(self) -> Ratio:
        """Hits ÷ gold boundaries."""
        return self.ratio(self.hits, self.relevant)

    @property
    def f1(self) -> Ratio:
        """2 × hits ÷ (splits + gold boundaries); undefined without gold boundaries."""
        return self.ratio(2 * self.hits, self.predicted + self.relevant, self.relevant)

    def weighted(self, weight: Array) -> Self:
        """Return the same counts with other weights."""
        other = copy(self)
        other.weight = weight
        return other

    def ratio(
        self, part: WordNumbers, whole: WordNumbers, needed: WordNumbers | None = None
    ) -> Ratio:
        """Return a ratio of weighted sums."""
        weight = self.weight
        return Ratio(part * weight, whole * weight, None if needed is None else needed * weight)

    def score(
        self, scope: Scope, weighting: Weighting, inside: npt.NDArray[np.int64]
    ) -> BoundaryScore:
        """Return the weighted sums; ``inside``: splits inside characters of each word."""
        counts = (self.hits, self.predicted, self.relevant, inside)
        # A dot product would wait for BLAS threads.
        sums = (float((self.weight * each).sum()) for each in counts)
        return BoundaryScore(scope, weighting, *sums)


def _ratio(part: float, whole: float, needed: float = 1.0) -> float:
    return part / whole if whole and needed else math.nan


def or_none(value: float) -> float | None:
    """Return a number for JSON: None if undefined."""
    return None if math.isnan(value) else value


def _whole(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    return int(value) if float(value).is_integer() else value


@dataclass(frozen=True)
class EncodedGold:
    """The gold boundaries of one scope, mapped to the atoms of encoded words.

    ``boundary``: uint8, as long as ``words.atoms``: 1 where the gap after an atom is a gold
    boundary. ``relevant``: int32, the number of gold boundaries of each word, including any inside
    an atom. ``has_gold``: bool, whether the word's entry has a segmentation of this scope; words
    without one count in no score.
    """

    boundary: npt.NDArray[np.uint8]
    relevant: npt.NDArray[np.int32]
    has_gold: npt.NDArray[np.bool_]


def boundary_positions(morphs: Sequence[str]) -> list[int]:
    """Return where morphs meet, as the number of characters to the left.

    >>> boundary_positions(("un", "break", "able"))
    [2, 7]
    """
    positions = []
    at = 0
    for morph in morphs[:-1]:
        at += len(morph)
        positions.append(at)
    return positions


@dataclass(frozen=True, kw_only=True, repr=False)
class Benchmark(GoldSet):
    """A gold set encoded once for one tokeniser, to be scored any number of times.

    Word i of ``words`` is entry i of ``reference``. ``alphabet``: the atoms added by edits that the
    words are encoded with.
    """

    words: Words
    alphabet: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        tokeniser: BpeTokeniser,
        reference: Reference,
        frequencies: Mapping[str, float] | None = None,
        frequency_source: str = "",
        *,
        bare: bool = False,
    ) -> "Benchmark":
        """Encode the words of a reference, as in running text or as ``bare`` strings."""
        gold_set = GoldSet.of(reference, frequencies, frequency_source, bare=bare)
        return cls.on(gold_set, tokeniser)

    @classmethod
    def on(cls, gold_set: GoldSet, tokeniser: BpeTokeniser) -> "Benchmark":
        """Encode the words of a gold set with a tokeniser."""
        return cls(
            **{field.name: getattr(gold_set, field.name) for field in fields(GoldSet)},
            words=tokeniser.encode(gold_set.texts, bare=gold_set.bare),
            alphabet=tokeniser.alphabet,
        )

    def encoded_for(self, tokeniser: BpeTokeniser) -> "Benchmark":
        """Return this, or a new encoding if edits have changed the tokeniser's alphabet since."""
        if self.alphabet == tokeniser.alphabet:
            return self
        words = tokeniser.encode(self.words.texts, bare=self.bare)
        return replace(self, words=words, alphabet=tokeniser.alphabet)

    def subset(self, entries: npt.NDArray[np.int64]) -> Self:
        """Return the benchmark of some entries, in this order."""
        return replace(super().subset(entries), words=self.words.subset(entries))

    @cached_property
    def identity(self) -> object:
        """Equal to itself only: what is derived from these words is kept by this."""
        return object()

    @cached_property
    def morphemic(self) -> EncodedGold:
        """The boundaries between morphs."""
        return self._gold("morphemic")

    @cached_property
    def whole_word(self) -> EncodedGold:
        """The boundaries between whole words, where the reference has them."""
        return self._gold("whole-word")

    def gold(self, scope: Scope) -> EncodedGold:
        """Return the boundaries of a scope."""
        return self.morphemic if scope == "morphemic" else self.whole_word

    def _gold(self, scope: Scope) -> EncodedGold:
        cuts = self.cuts(scope)
        boundary = np.zeros(len(self.words.atoms), np.uint8)
        boundary[self.words.gaps_at(cuts.keys >> 32, cuts.positions)] = 1
        return EncodedGold(boundary, cuts.counts.astype(np.int32), self.has_gold(scope))

    def score(
        self, segmentation: Segmentation, scope: Scope, weighting: Weighting
    ) -> BoundaryScore:
        """Score a segmentation of this benchmark's words.

        NaN for a scope that the reference lacks, or for tokens without frequencies.
        """
        return self._scores(segmentation, (scope,), (weighting,))[0]

    def scores(self, segmentation: Segmentation) -> list[BoundaryScore]:
        """Return the scores of every scope under every weighting: four."""
        return self._scores(segmentation, SCOPES, WEIGHTINGS)

    def _scores(
        self, segmentation: Segmentation, scopes: Sequence[Scope], weightings: Sequence[Weighting]
    ) -> list[BoundaryScore]:
        cuts, inside = cuts_of(segmentation), splits_inside_characters(segmentation)
        found = []
        for scope in scopes:
            tally: BoundaryTally | None = None
            for weighting in weightings:
                if not self.is_scored(scope, weighting):
                    found.append(undefined_score(scope, weighting))
                    continue
                weight = self.weight(scope, weighting)
                if tally is None:
                    tally = BoundaryTally(cuts, self.cuts(scope), weight)
                found.append(tally.weighted(weight).score(scope, weighting, inside))
        return found

    def signature(self, tokeniser: BpeTokeniser, **more: str) -> str:
        """Return one line with everything that the scores depend on; ``more`` adds fields."""
        return self.signature_of(Bte(tokeniser).signature(), **more)


def score_frame(
    scores: Sequence[BoundaryScore], before: Sequence[BoundaryScore] | None = None
) -> "pd.DataFrame":
    """Return a row for each score: ratios in percent, plain counts, NaN where undefined.

    ``before`` adds the differences from earlier scores, in percentage points.
    """
    import pandas as pd

    rows = []
    for number, score in enumerate(scores):
        row: dict[str, object] = {"scope": score.scope, "over": score.weighting}
        for name, label in (("precision", "precision"), ("recall", "recall"), ("f1", "F1")):
            value = 100 * getattr(score, name)
            row[label] = value
            if before is not None:
                row[f"Δ {label}"] = value - 100 * getattr(before[number], name)
        row["true positives"] = score.true_positives
        row["predicted"] = score.predicted
        row["relevant"] = score.relevant
        row["splits inside a character"] = score.splits_inside_characters
        rows.append(row)
    return pd.DataFrame(rows)


def score_report(
    benchmark: Benchmark, scores: list[BoundaryScore], signature: str
) -> Mapping[str, Any]:
    """Return scores as JSON data, with the entries, skipped lines by reason, and the signature."""
    return {
        "scores": [score.to_dict() for score in scores],
        "entries": len(benchmark.reference),
        "skipped": {skip.reason: skip.count for skip in benchmark.reference.skipped},
        "signature": signature,
    }

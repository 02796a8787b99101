"""Boundary precision, recall and F1 of a segmentation against a gold reference."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from morphgraph.reference.entry import Reference
from morphgraph.score.gold_set import (
    SCOPES,
    WEIGHTINGS,
    Counts,
    Cuts,
    Flags,
    GoldSet,
    Scope,
    Weighting,
    sums_by_word,
)
from morphgraph.score.uncertainty import Ratio
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import INSIDE_CHARACTER, Segmentation, Words

Array = npt.NDArray[np.float64]
WordNumbers = npt.NDArray[Any]
"""Numbers or truth values, one for each word."""


def cuts_of(segmentation: Segmentation, only: Flags | None = None) -> Cuts:
    """Return where a segmentation splits words, the basis of every score; ``only``: of these."""
    words = segmentation.words
    is_cut = segmentation.is_split & (words.gap_position > 0)
    if only is not None:
        is_cut &= only[words.word_of_atom]
    gaps = np.flatnonzero(is_cut)
    owner = words.word_of_atom[gaps].astype(np.int64)
    return Cuts.at(owner, words.gap_position[gaps].astype(np.int64), len(words))


def splits_inside_characters(segmentation: Segmentation) -> Counts:
    """Count each word's splits between bytes of one character, which are not gaps."""
    words = segmentation.words
    inside = segmentation.is_split & (words.gap_position == INSIDE_CHARACTER)
    return sums_by_word(inside, words.word_offsets)


def boundary_positions(morphs: Sequence[str]) -> list[int]:
    """Return where morphs meet, as the number of characters to the left.

    >>> boundary_positions(("un", "break", "able"))
    [2, 7]
    """
    return list(accumulate(map(len, morphs[:-1])))


@dataclass(frozen=True)
class BoundaryScore:
    """Micro precision, recall and F1 of word-internal splits, with the underlying counts.

    ``predicted``: splits; ``relevant``: gold boundaries; ``true_positives``: both. Weighted by 1
    for each entry ("types") or by its corpus frequency ("tokens"). A ratio with nothing in its
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
        return self.true_positives / self.predicted if self.predicted else math.nan

    @property
    def recall(self) -> float:
        """True positives ÷ relevant."""
        return self.true_positives / self.relevant if self.relevant else math.nan

    @property
    def f1(self) -> float:
        """2 × true positives ÷ (predicted + relevant); undefined without gold boundaries."""
        both = self.predicted + self.relevant
        return 2 * self.true_positives / both if self.relevant else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data: null for undefined values, integers for whole counts."""
        ratios = {name: or_none(getattr(self, name)) for name in ("precision", "recall", "f1")}
        counts = ("true_positives", "predicted", "relevant")
        return {
            "scope": self.scope,
            "weighting": self.weighting,
            **{name: _whole(getattr(self, name)) for name in counts},
            **ratios,
            "splits_inside_characters": _whole(self.splits_inside_characters),
        }


def or_none(value: float) -> float | None:
    """Return a number for JSON: None if undefined."""
    return None if math.isnan(value) else value


def _whole(value: float) -> float | int | None:
    return int(value) if float(value).is_integer() else or_none(value)


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

    def recount(self, cuts: Cuts, gold: Cuts, words: Flags) -> None:
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
    def is_exact(self) -> Flags:
        """Whether each word is cut exactly as in the gold."""
        exact: Flags = (self.wrong == 0) & (self.missed == 0)
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

    def ratio(
        self, part: WordNumbers, whole: WordNumbers, needed: WordNumbers | None = None
    ) -> Ratio:
        """Return a ratio of weighted sums."""
        weight = self.weight
        return Ratio(part * weight, whole * weight, None if needed is None else needed * weight)


def scores_of(
    gold_set: GoldSet,
    cuts: Cuts,
    inside: Counts,
    scopes: Sequence[Scope] = SCOPES,
    weightings: Sequence[Weighting] = WEIGHTINGS,
    among: Flags | None = None,
) -> list[BoundaryScore]:
    """Score cuts under each scope and weighting, NaN without either; ``inside``: see `Outcome`.

    ``among``: only these words count.
    """
    scores = []
    for scope in scopes:
        counts: Sequence[WordNumbers] = ()
        for weighting in weightings:
            sums = [math.nan] * 4
            if gold_set.is_scored(scope, weighting):
                weight = gold_set.weight(scope, weighting)
                weight = weight if among is None else np.where(among, weight, 0.0)
                if not counts:
                    tally = BoundaryTally(cuts, gold_set.cuts(scope), weight)
                    counts = (tally.hits, tally.predicted, tally.relevant, inside)
                # A dot product would wait for BLAS threads.
                sums = [float((weight * each).sum()) for each in counts]
            scores.append(BoundaryScore(scope, weighting, *sums))
    return scores


@dataclass(frozen=True, kw_only=True, repr=False)
class Benchmark(GoldSet):
    """A gold set encoded once for one tokeniser, with the alphabet that it had then."""

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
        words = tokeniser.encode(gold_set.texts, bare=gold_set.bare)
        return cls.encoded(gold_set, words, tokeniser)

    @classmethod
    def encoded(cls, gold_set: GoldSet, words: Words, tokeniser: BpeTokeniser) -> "Benchmark":
        """Combine a gold set with its words as a tokeniser encodes them."""
        known = {field.name: getattr(gold_set, field.name) for field in fields(GoldSet)}
        return cls(**known, words=words, alphabet=tokeniser.alphabet)

    def encoded_for(self, tokeniser: BpeTokeniser) -> "Benchmark":
        """Return this, or a new encoding if edits have changed the tokeniser's alphabet since."""
        return self if self.alphabet == tokeniser.alphabet else Benchmark.on(self, tokeniser)

    def subset(self, entries: npt.NDArray[np.int64]) -> Self:
        """Return the benchmark of some entries, in this order."""
        return replace(super().subset(entries), words=self.words.subset(entries))

    @cached_property
    def identity(self) -> object:
        """A key for what is derived from these words; it equals only itself."""
        return object()

    def gold_gaps(self, scope: Scope = "morphemic") -> npt.NDArray[np.uint8]:
        """Return 1 for each atom of ``words`` with a gold boundary after it, else 0."""
        if scope not in self._gold_gaps:
            cuts = self.cuts(scope)
            is_boundary = np.zeros(len(self.words.atoms), np.uint8)
            is_boundary[self.words.gaps_at(cuts.words, cuts.positions)] = 1
            self._gold_gaps[scope] = is_boundary
        return self._gold_gaps[scope]

    @cached_property
    def _gold_gaps(self) -> dict[Scope, npt.NDArray[np.uint8]]:
        return {}

    def score(
        self,
        segmentation: Segmentation,
        scope: Scope,
        weighting: Weighting,
        among: Flags | None = None,
    ) -> BoundaryScore:
        """Score a segmentation of this benchmark's words; NaN without gold or frequencies.

        ``among``: of which words.
        """
        cuts, inside = cuts_of(segmentation), splits_inside_characters(segmentation)
        return scores_of(self, cuts, inside, (scope,), (weighting,), among=among)[0]

    def scores(self, segmentation: Segmentation, among: Flags | None = None) -> list[BoundaryScore]:
        """Return the scores of every scope under every weighting: four; ``among``: of words."""
        cuts, inside = cuts_of(segmentation), splits_inside_characters(segmentation)
        return scores_of(self, cuts, inside, among=among)

    def signature(self, tokeniser: BpeTokeniser, **more: str) -> str:
        """Return one line with everything that the scores depend on; ``more`` adds fields."""
        return self.signature_of(Bte(tokeniser).signature(), **more)


def score_report(
    benchmark: Benchmark, scores: list[BoundaryScore], signature: str
) -> Mapping[str, Any]:
    """Return scores as JSON data, with the entries, skipped lines by reason, and the signature."""
    return {
        "scores": [score.to_dict() for score in scores],
        "entries": len(benchmark.reference),
        "skipped": {skip.reason: skip.count for skip in benchmark.reference.left_out},
        "signature": signature,
    }

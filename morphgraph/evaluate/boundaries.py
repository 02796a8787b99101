"""Boundary precision, recall and F1 of a segmentation against a gold reference."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from morphgraph.errors import MorphGraphError
from morphgraph.files.tokeniser import Tokeniser, base_name
from morphgraph.reading import checksum
from morphgraph.reference.entry import Reference
from morphgraph.segment import Segmentation, Words

Scope = Literal["morphemic", "whole-word"]
Weighting = Literal["types", "tokens"]
_BARE = "bare words"
COUNTS_IN_REFERENCE = "counts in the reference"
SCOPES: tuple[Scope, ...] = ("morphemic", "whole-word")
WEIGHTINGS: tuple[Weighting, ...] = ("types", "tokens")


@dataclass(frozen=True)
class BoundaryScore:
    """Micro precision, recall and F1 of word-internal splits, with the counts behind them.

    ``predicted``: splits; ``relevant``: gold boundaries; ``true_positives``: both. Weighted by 1
    for each entry ("types") or by its corpus frequency ("tokens"). ``splits_inside_characters``
    are splits between the bytes of one character, which are no gaps. A ratio with nothing in its
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
        """2 × true positives ÷ (predicted + relevant): the harmonic mean of the other two.

        Without gold boundaries there is nothing to find, so it is undefined like the recall; a
        tokeniser that never splits where there are some has 0.
        """
        return _ratio(2 * self.true_positives, self.predicted + self.relevant, self.relevant)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; undefined values are null, whole counts are integers."""
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


def _ratio(part: float, whole: float, needed: float = 1.0) -> float:
    return part / whole if whole and needed else math.nan


def or_none(value: float) -> float | None:
    """A number as JSON holds it: None if undefined."""
    return None if math.isnan(value) else value


def _whole(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    return int(value) if float(value).is_integer() else value


@dataclass(frozen=True)
class Gold:
    """One scope of a reference, laid over encoded words.

    ``boundary``: uint8, as long as ``words.atoms``: 1 where the gap behind an atom is a gold
    boundary. ``relevant``: int32, how many gold boundaries each word has, also those that fall
    inside an atom. ``has_gold``: bool, whether the word's entry has a segmentation of this scope;
    words without one count in no score.
    """

    boundary: npt.NDArray[np.uint8]
    relevant: npt.NDArray[np.int32]
    has_gold: npt.NDArray[np.bool_]


def boundary_positions(morphs: Sequence[str]) -> list[int]:
    """Where morphs meet, as numbers of characters to the left.

    >>> boundary_positions(("un", "break", "able"))
    [2, 7]
    """
    positions = []
    at = 0
    for morph in morphs[:-1]:
        at += len(morph)
        positions.append(at)
    return positions


@dataclass(frozen=True)
class Benchmark:
    """A reference made ready for one tokeniser: encoded once, scored as often as one likes.

    ``frequencies`` gives the corpus frequency of words; unknown ones count 1. Word i of ``words``
    is entry i of ``reference``. ``alphabet``: the atoms added by edits that the words are encoded
    with.
    """

    reference: Reference
    words: Words
    frequencies: Mapping[str, float] | None = None
    frequency_source: str = ""
    preprocessing: str = "running text"
    drawn: str = ""
    alphabet: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        tokeniser: Tokeniser,
        reference: Reference,
        frequencies: Mapping[str, float] | None = None,
        frequency_source: str = "",
        *,
        bare: bool = False,
    ) -> "Benchmark":
        """Encode the words of a reference, as they stand in running text or ``bare``."""
        if not reference.entries:
            raise MorphGraphError("There are no words to score. Choose a reference with entries.")
        words = tokeniser.encode([entry.word for entry in reference.entries], bare=bare)
        if frequencies is None and reference.has_counts:
            frequencies = {}
            frequency_source = COUNTS_IN_REFERENCE
        shown = _BARE if bare else "running text"
        return cls(
            reference, words, frequencies, frequency_source, shown, alphabet=tokeniser.alphabet
        )

    @property
    def bare(self) -> bool:
        """Whether words are encoded as whole texts of their own."""
        return self.preprocessing == _BARE

    def encoded_for(self, tokeniser: Tokeniser) -> "Benchmark":
        """This, or the same encoded anew if edits have changed the tokeniser's alphabet since."""
        if self.alphabet == tokeniser.alphabet:
            return self
        words = tokeniser.encode(self.words.texts, bare=self.bare)
        return replace(self, words=words, alphabet=tokeniser.alphabet)

    def subset(self, entries: npt.NDArray[np.int64]) -> "Benchmark":
        """Only these entries, in this order."""
        reference = replace(
            self.reference, entries=tuple(self.reference.entries[i] for i in entries)
        )
        return replace(self, reference=reference, words=self.words.subset(entries))

    def held_out(self, entries: npt.NDArray[np.int64], share: float, seed: int) -> "Benchmark":
        """Only these entries, which a seed drew; the signature says so."""
        return replace(self.subset(entries), drawn=f"holdout {share:g} seed {seed}")

    @cached_property
    def morphemic(self) -> Gold:
        """The boundaries between morphs."""
        return self._gold([entry.morphs for entry in self.reference.entries])

    @cached_property
    def whole_word(self) -> Gold:
        """The boundaries between whole words, where the reference has them."""
        return self._gold([entry.whole_words for entry in self.reference.entries])

    def gold(self, scope: Scope) -> Gold:
        """The boundaries of a scope."""
        return self.morphemic if scope == "morphemic" else self.whole_word

    def _gold(self, segmentations: Sequence[Sequence[str] | None]) -> Gold:
        relevant = np.array([len(s) - 1 if s else 0 for s in segmentations], np.int32)
        positions = [p for s in segmentations if s for p in boundary_positions(s)]
        owners = np.repeat(np.arange(len(relevant), dtype=np.int64), relevant)
        boundary = np.zeros(len(self.words.atoms), np.uint8)
        boundary[self.words.gaps_at(owners, np.array(positions, np.int64))] = 1
        return Gold(boundary, relevant, np.array([s is not None for s in segmentations]))

    @cached_property
    def token_weights(self) -> npt.NDArray[np.float64]:
        """Each entry's corpus frequency; 1 if unknown."""
        known = self.frequencies or {}
        if self.frequency_source == COUNTS_IN_REFERENCE:
            counts = [entry.count for entry in self.reference.entries]
            return np.array([1.0 if count is None else count for count in counts], np.float64)
        weights = []
        for entry in self.reference.entries:
            word = entry.word
            # Frequency lists are often in lower case, wordfreq's is case-folded.
            spellings = (word, word.lower(), word.casefold())
            weights.append(next((known[s] for s in spellings if s in known), 1.0))
        return np.array(weights, np.float64)

    def weights(self, weighting: Weighting) -> npt.NDArray[np.float64]:
        """The weight of each entry: ones, or its corpus frequency."""
        if weighting == "types":
            return np.ones(len(self.words))
        if self.frequencies is None:
            raise MorphGraphError(
                "Scores over word tokens need word frequencies. Give counts, or a language that "
                "wordfreq knows."
            )
        return self.token_weights

    @property
    def weightings(self) -> tuple[Weighting, ...]:
        """The weightings that can be computed."""
        return ("types",) if self.frequencies is None else ("types", "tokens")

    def score(
        self, segmentation: Segmentation, scope: Scope, weighting: Weighting
    ) -> BoundaryScore:
        """Score a segmentation of this benchmark's words; NaN if it cannot be scored.

        That is: a scope that the reference does not have, or tokens without frequencies.
        """
        from morphgraph.kernels import segmenting

        gold = self.gold(scope)
        if weighting not in self.weightings or not gold.has_gold.any():
            return BoundaryScore(scope, weighting, *[math.nan] * 4)
        weights = np.where(gold.has_gold, self.weights(weighting), 0.0)
        predicted, hits, inside = segmenting.count_boundaries(
            segmentation.closed_by,
            self.words.word_offsets,
            weights,
            self.words.gap_position,
            gold.boundary,
        )
        relevant = float(weights @ gold.relevant)
        return BoundaryScore(scope, weighting, hits, predicted, relevant, inside)

    def scores(self, segmentation: Segmentation) -> list[BoundaryScore]:
        """Every scope with every weighting: four scores."""
        return [
            self.score(segmentation, scope, weighting)
            for scope in SCOPES
            for weighting in WEIGHTINGS
        ]

    def _frequencies_named(self) -> str:
        """Where frequencies come from, with a checksum of the weights that they give the words."""
        if self.frequencies is None:
            return "none"
        return f"{base_name(self.frequency_source)}@{checksum(self.token_weights.tobytes())}"

    def signature(self, tokeniser: Tokeniser, **more: str) -> str:
        """One line that names all that the scores depend on; ``more`` fields may be added."""
        from morphgraph import __version__

        reference = self.reference
        fields = {
            "reference": f"{base_name(reference.name)}@{reference.checksum}",
            "format": reference.format,
            "entries": f"{len(reference)}" + (f" ({self.drawn})" if self.drawn else ""),
            "frequencies": self._frequencies_named(),
            "words": self.preprocessing,
            "tokeniser": tokeniser.signature(),
            **more,
            "version": __version__,
        }
        # A name from outside must not look like a field of its own.
        return "|".join(f"{key}:{value.replace('|', '/')}" for key, value in fields.items())

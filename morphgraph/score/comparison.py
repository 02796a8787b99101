"""Words cut by tokenisers, against the gold: side by side, part by part, and by errors."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from morphgraph.core import __version__
from morphgraph.core.files import checksum
from morphgraph.core.text import SHOWN_MARKER, unique_labels
from morphgraph.kernels import DROPPED
from morphgraph.reference.entry import Entry, Reference
from morphgraph.reference.predictions import Predictions
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.gold_set import BARE, RUNNING_TEXT, Flags, GoldSet, Scope, signature_line
from morphgraph.score.metrics import Tally
from morphgraph.score.outcome import Outcome, outcome_of, outcome_of_predictions
from morphgraph.score.table import ScoreTable
from morphgraph.score.uncertainty import USUAL_DRAWS
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP, Segmentation

Boundary = Literal["start", "right", "wrong", "missed", "split", "inside", "marker"]
"""The left edge of a piece: a word's start, a split on a gold boundary, a split elsewhere, a missed
gold boundary, a split of a word without gold, a split between bytes of one character, which no
score counts, or the end of a marker that is a token of its own.
"""
RIGHT_SPLIT, WRONG_SPLIT, MISSED = "|", "·", "‿"
"""Marks in a word: a split on a gold boundary, a split elsewhere, a missed gold boundary."""


# ------------------------------------------------------------------------------ one word


@dataclass(frozen=True, slots=True)
class WordPart:
    """Part of a word between two splits or gold boundaries; bytes are written ``⟨D1⟩``."""

    text: str
    boundary: Boundary
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class SegmentedWord:
    """One word segmented by one method; ``exact``: as in the gold, None without one.

    Without ``pieces``, another program's file lacks the word.
    """

    tokens: tuple[str, ...]
    pieces: tuple[WordPart, ...]
    exact: bool | None


def gap_signs(splits: Iterable[int], gold: Iterable[int]) -> dict[int, str]:
    """Return the signs of a word's gaps by place, for right and wrong splits and missed ones."""
    signs = dict.fromkeys(gold, MISSED)
    for split in splits:
        signs[split] = RIGHT_SPLIT if split in signs else WRONG_SPLIT
    return signs


def marked_word(text: str, splits: Iterable[int], gold: Iterable[int]) -> str:
    """Mark a word's gaps: ``|`` right split, ``·`` wrong split, ``‿`` missed boundary.

    >>> marked_word("undoing", [2, 3], [2, 4])
    'un|d·o‿ing'
    """
    signs = gap_signs(splits, gold)
    return "".join(signs.get(i, "") + character for i, character in enumerate(text))


def _word_parts(outcome: Outcome, word: int, gold: Sequence[str]) -> tuple[WordPart, ...]:
    """Divide a word at its splits and at the boundaries of its gold morphs, if it has any."""
    text, segmentation = outcome.gold_set.texts[word], outcome.segmentation
    signs = gap_signs(outcome.splits(word), boundary_positions(gold))
    named: dict[str, Boundary] = {RIGHT_SPLIT: "right", WRONG_SPLIT: "wrong", MISSED: "missed"}
    if not gold:
        named[WRONG_SPLIT] = "split"
    broken: dict[int, list[tuple[str, bool]]] = {}
    parts = []
    if segmentation is not None:
        words, broken = segmentation.words, _broken_characters(segmentation, word)
        first = int(words.word_offsets[word])
        has_marker = (
            words.word_offsets[word + 1] - first > 1 and words.gap_position[first] == NO_GAP
        )
        if has_marker and segmentation.token_at[first] >= 0:
            parts.append(WordPart(SHOWN_MARKER, "marker"))
    covered = outcome.covered[outcome.gold_set.character_offsets[word] :]
    for place, character in enumerate(text):
        edge = named[signs[place]] if place in signs else None
        pieces = broken.get(place, [(character, False)])
        for number, (shown, is_dropped) in enumerate(pieces):
            if number:
                parts.append(WordPart(shown, "inside", is_dropped))
            elif edge is not None or not place:
                parts.append(WordPart(shown, edge or "start", not covered[place]))
            else:
                parts[-1] = replace(parts[-1], text=parts[-1].text + shown)
    return tuple(parts)


def _broken_characters(segmentation: Segmentation, word: int) -> dict[int, list[tuple[str, bool]]]:
    """Return the characters that are in several tokens, by index: parts, and if each is in none."""
    words = segmentation.words
    start, end = words.word_offsets[word : word + 2].tolist()
    positions = words.gap_position[start:end]
    broken: dict[int, list[tuple[str, bool]]] = {}
    if not (positions == INSIDE_CHARACTER).any():
        return broken
    character, first = 0, start
    for place in np.flatnonzero(positions != INSIDE_CHARACTER).tolist():
        last = start + place + 1
        inside = first + 1 + np.flatnonzero(segmentation.is_split[first : last - 1])
        if len(inside):
            data = words.texts[word][character].encode("utf-8", "surrogatepass")
            names = [f"⟨{byte:02X}⟩" for byte in data]
            if len(data) != last - first:
                names = [f"⟨{number + 1}/{last - first}⟩" for number in range(last - first)]
            broken[character] = [
                (
                    "".join(names[one - first : other - first]),
                    bool((segmentation.token_at[one:other] == DROPPED).all()),
                )
                for one, other in pairwise((first, *inside.tolist(), last))
            ]
        character, first = max(int(positions[place]), character), last
    return broken


# ------------------------------------------------------------------------------ side by side


@dataclass(frozen=True)
class ComparedWord:
    """One word segmented by all methods, and its gold morphs, if known."""

    text: str
    gold: tuple[str, ...] | None
    cells: tuple[SegmentedWord, ...]


class Comparison:
    """Words or sentences segmented by several methods, and the gold morphs of each, or None.

    ``outcomes``: the methods' segmentations of these very words, where they are known.
    """

    def __init__(
        self,
        segmenters: Sequence[Segmenter | Predictions],
        texts: Sequence[str],
        gold: Sequence[Sequence[str] | None],
        *,
        labels: Sequence[str] | None = None,
        bare: bool = False,
        outcomes: Sequence[Outcome] = (),
    ) -> None:
        self.texts = tuple(texts)
        self.gold = tuple(None if morphs is None else tuple(morphs) for morphs in gold)
        self.labels = tuple(labels or unique_labels([each.name for each in segmenters]))
        pairs = zip(self.texts, self.gold, strict=True)
        entries = tuple(Entry(text, morphs or ()) for text, morphs in pairs)
        self._gold_set = GoldSet(
            reference=Reference("", "", entries, (), ""),
            preprocessing=BARE if bare else RUNNING_TEXT,
        )
        outcomes = outcomes or [
            outcome_of_predictions(each, self._gold_set)
            if isinstance(each, Predictions)
            else outcome_of(each, self._gold_set)
            for each in segmenters
        ]
        labelled = zip(outcomes, self.labels, strict=True)
        self.outcomes = [replace(outcome, label=label) for outcome, label in labelled]

    @cached_property
    def rows(self) -> list[ComparedWord]:
        """One row for each text."""
        return list(map(self.row, range(len(self.texts))))

    def row(self, number: int) -> ComparedWord:
        """Return the row of a text by its place."""
        gold = self.gold[number]
        cells = tuple(
            _segmented(outcome, number, bool(exact[number]) if gold else None)
            for outcome, exact in zip(self.outcomes, self._exact, strict=True)
        )
        return ComparedWord(self.texts[number], gold, cells)

    @cached_property
    def _exact(self) -> list[Flags]:
        return [Tally(outcome, "morphemic", "types").is_exact for outcome in self.outcomes]

    @cached_property
    def scores(self) -> ScoreTable:
        """The boundary scores of each method over the words with gold."""
        return ScoreTable(self.outcomes, metrics=("precision", "recall", "f1", "exact"))

    @cached_property
    def tokens_per_word(self) -> list[float]:
        """The mean number of tokens of each method, over words without gold, too."""
        words = len(self.texts) or math.nan
        return [float(outcome.tokens.sum() / words) for outcome in self.outcomes]

    @cached_property
    def signature(self) -> str:
        """One line with everything that the scores depend on: words, gold, methods, version."""
        known = sum(morphs is not None for morphs in self.gold)
        words = checksum(json.dumps(self.texts, ensure_ascii=False).encode())
        gold = checksum(json.dumps(self.gold, ensure_ascii=False).encode())
        fields = {
            "compared": f"{len(self.texts)}@{words}",
            "gold": f"{known}@{gold}",
            "words": self._gold_set.preprocessing,
            "methods": " ".join(outcome.tokeniser for outcome in self.outcomes),
            **USUAL_DRAWS.named,
            "version": __version__,
        }
        return signature_line(fields)

    @cached_property
    def agreement(self) -> npt.NDArray[np.float64]:
        """The share of words that each pair of methods cuts at the same places."""
        cuts = [outcome.cuts for outcome in self.outcomes]
        words = len(self.texts) or math.nan
        return np.array([[one.same_words(other).sum() / words for other in cuts] for one in cuts])

    def disputed(self) -> list[int]:
        """Indices of the texts that two methods cut differently, the most disputed first.

        The dispute over a gap is the size of the minority; the gaps of a text add up.
        """
        keys = [outcome.cuts.keys for outcome in self.outcomes]
        if not keys:
            return []
        places, split_by = np.unique(np.concatenate(keys), return_counts=True)
        minority = np.minimum(split_by, len(keys) - split_by)
        disputes = np.bincount(places >> 32, minority, len(self.texts))
        order = np.argsort(-disputes, kind="stable")
        return [int(number) for number in order if disputes[number]]


def _segmented(outcome: Outcome, number: int, exact: bool | None) -> SegmentedWord:
    """Return a word of an outcome."""
    entry, tokens = outcome.gold_set.reference.entries[number], tuple(outcome.token_texts(number))
    if outcome.predicted is not None:
        if not any(outcome.predicted[number].underlying or ()):
            return SegmentedWord((), (), exact)
        tokens = tokens or (entry.word,)
    return SegmentedWord(tokens, _word_parts(outcome, number, entry.morphs), exact)


# ------------------------------------------------------------------------------ by errors


def worst_words(outcome: Outcome, scope: Scope = "morphemic") -> npt.NDArray[np.int64]:
    """Return the entries with errors: those with most first, then the most frequent.

    An error is a split that is no gold boundary of the scope, or a gold boundary without a split.
    """
    tally = Tally(outcome, scope, "types")
    errors = np.where(tally.known, tally.wrong + tally.missed, 0)
    numbers, weight = np.flatnonzero(errors), outcome.gold_set.token_weights
    return numbers[np.lexsort((numbers, -weight[numbers], -errors[numbers]))]

"""Pipelines that prepare words for training, each a list of small steps over word counts.

Merges never cross the pieces of a pipeline. `morphgraph.segment.training` expresses the same
cutting as a normaliser and pre-tokeniser of Hugging Face's library, for the trained tokeniser's
file, so that words are cut in use as in training.

Text is counted first (`corpus.text`): every pipeline splits at white space before any step that
could look across it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from string import ascii_letters, ascii_lowercase
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.rules import (
    COVERAGE,
    covered_characters,
    isolate_outer_punctuation,
    isolate_punctuation,
    keep_whole,
    mark_capitals,
    modern,
    scripts,
    split_at_hyphens,
    split_at_white_space,
    split_by_gpt2_pattern,
    usual_script,
)
from morphgraph.corpus.word_array import (
    BATCH_SIZE,
    CountedArray,
    WordArray,
    concatenate_counts,
    counted_array,
    move_shared_counts,
    sum_duplicates,
)
from morphgraph.tokeniser.byte_level import BYTE_TO_CHAR, encode

if TYPE_CHECKING:
    from morphgraph.kernels import Int64

LONGEST_TRAINING_WORD = 60
START_MARKERS = {"bytes": "Ġ", "characters": "▁", "unmarked": ""}
"""The start-of-word marker of each kind of atoms."""


@dataclass(frozen=True)
class PreparedCorpus:
    """Pieces to train on, with their counts.

    ``alphabet``: atoms required even if no piece contains them. ``dropped``: the number of running
    words left out, by reason. ``kind``: whether atoms are ``bytes`` in GPT-2's characters with Ġ,
    ``characters`` with ▁, or ``unmarked`` characters.
    """

    pipeline: str
    kind: str
    counts: WordCounts
    alphabet: tuple[str, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pipeline:
    """A way to prepare words: ``words`` selects and splits them, ``pieces`` cuts each one.

    ``byte_pieces`` replaces ``pieces`` if atoms are bytes. ``minimum_count``: rarer words are
    dropped. ``kind``: the atoms that the source uses. ``marked``: words get a start-of-word marker.
    ``covered``: rare characters are left out. ``selective``: so are long words and those in a
    foreign script. ``untouched`` accepts characters that no rule changes, so that words of them are
    pieces already; with ``selective``, letters of one script, with ``covered``, some that are
    always kept.
    """

    name: str
    description: str
    words: Callable[[Mapping[str, int] | WordCounts], Mapping[str, int]]
    pieces: Callable[[str, str], list[str]]
    minimum_count: int = 1
    kind: str = "bytes"
    marked: bool = True
    covered: bool = False
    selective: bool = False
    byte_pieces: Callable[[str, str], list[str]] | None = None
    untouched: Callable[[str], bool] = str.isalpha


def prepare(
    pipeline: str,
    counts: Mapping[str, int] | WordCounts,
    *,
    kind: str | None = None,
    minimum_count: int | None = None,
    longest: int = LONGEST_TRAINING_WORD,
    coverage: float = COVERAGE,
) -> PreparedCorpus:
    """Prepare words for training with one of the `PIPELINES`.

    ``kind`` replaces the atoms of the pipeline's source, for methods that need others;
    ``minimum_count`` replaces its threshold. Raises `MorphGraphError` if no words remain.

    >>> prepared = prepare("knockout", {"don't": 3, "co-op": 2}, minimum_count=1)
    >>> dict(prepared.counts.items())
    {'Ġdon': 3, "Ġ'": 3, 'Ġt': 3, 'Ġco': 2, '-': 2, 'op': 2}
    """
    chosen = pipeline_named(pipeline)
    kind = kind or chosen.kind
    if kind not in START_MARKERS:
        raise MorphGraphError(
            f"There are no atoms {kind!r}. Choose one of {', '.join(START_MARKERS)}."
        )
    if not isinstance(counts, WordCounts):
        counts = WordCounts.from_mapping(counts)
    counts = _in_array(counts)
    # Rules need not be idempotent: dogs'. becomes dogs', which becomes dogs.
    words = counts if counts.pipeline == pipeline else _by_rules(chosen, counts)
    least = chosen.minimum_count if minimum_count is None else minimum_count
    choice = _Selection(chosen, words, least, longest)
    marker = START_MARKERS[kind] if chosen.marked else ""
    alphabet: frozenset[str] = frozenset()
    if chosen.covered:
        covered = covered_characters(choice.characters(), coverage)
        alphabet = frozenset(mark_capitals("".join(covered))) | set(marker)
    try:
        pieces = _pieces(choice, kind, marker, alphabet)
    except UnicodeEncodeError as error:
        raise MorphGraphError(
            f"The word {error.object.strip()!r} has a lone surrogate and no UTF-8 form. Remove it."
        ) from error
    if kind == "bytes":
        alphabet = frozenset(BYTE_TO_CHAR)
    elif not chosen.marked and kind == "characters":
        alphabet |= {"▁"}
    if not len(pieces):
        raise MorphGraphError(
            f"The pipeline {pipeline} leaves no word to train on"
            + "".join(f"; {counted(n, 'word')}: {reason}" for reason, n in choice.dropped.items())
            + ". Give more words, or a smaller least count."
        )
    return PreparedCorpus(pipeline, kind, pieces, tuple(sorted(alphabet)), dict(choice.dropped))


Portion = tuple[CountedArray | None, Mapping[str, int]]
"""An array of words that no rule changes, if there is one, and all other words."""


def _in_array(counts: WordCounts) -> WordCounts:
    """Return many words as an array, unless no array can hold them."""
    if len(counts) <= BATCH_SIZE or isinstance(counts.words, WordArray):
        return counts
    try:
        return replace(counts, words=WordArray.of_strings(counts.words), counts=counts.numbers())
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, or more than 64 bits
        return counts


def _portions(chosen: Pipeline, counts: WordCounts) -> Iterator[Portion]:
    """Yield the words in portions; those not in an array are few and form one portion."""
    words = counts.words
    if not isinstance(words, WordArray):
        yield None, dict(counts.items())
        return
    numbers = counts.numbers()
    for start in range(0, max(len(words), 1), BATCH_SIZE):
        some, counted_ = words[start : start + BATCH_SIZE], numbers[start : start + BATCH_SIZE]
        kept = some.consist_of(chosen.untouched)
        others = zip(some.where(~kept), counted_[~kept].tolist(), strict=True)
        yield (some.where(kept), counted_[kept]), dict(others)


def _by_rules(chosen: Pipeline, counts: WordCounts) -> WordCounts:
    """Apply a pipeline's word rules."""
    total = _Sum()
    for untouched, others in _portions(chosen, counts):
        total.add(untouched, chosen.words(others))
    return total.counts()


def _pieces(choice: _Selection, kind: str, marker: str, alphabet: frozenset[str]) -> WordCounts:
    """Cut words into pieces, in the form that trainers take."""
    chosen, as_bytes = choice.chosen, kind == "bytes"
    cut = (chosen.byte_pieces if as_bytes else None) or chosen.pieces
    before = " " if marker and as_bytes else marker

    def pieces_of(word: str) -> Iterator[str]:
        for piece in cut(word, before):
            for part in _covered_parts(piece, alphabet) if chosen.covered else (piece,):
                yield encode(part) if as_bytes else part

    (example,) = pieces_of("a")
    total = _Sum()
    for untouched, others in choice.kept():
        pieces: Counter[str] = Counter()
        for word, count in others.items():
            for piece in pieces_of(word):
                pieces[piece] += count
        if untouched is not None:
            words, numbers = untouched
            untouched = words.with_prefix(example[:-1], byte_level=as_bytes), numbers
        total.add(untouched, pieces)
    return total.counts()


class _Selection:
    """The words that are frequent and short enough and, if required, in the usual script.

    ``dropped``: the number of running words left out, by reason.
    """

    def __init__(self, chosen: Pipeline, words: WordCounts, least: int, longest: int) -> None:
        self.chosen, self.words, self.least, self.longest = chosen, words, least, longest
        self.usual = usual_script(self._of_each_script()) if chosen.selective else ""
        self.dropped: Counter[str] = Counter()

    def kept(self) -> Iterator[Portion]:
        """Yield the selected words in portions."""
        self.dropped.clear()
        for untouched, others in _portions(self.chosen, self.words):
            left = None if untouched is None else self._kept_in_array(*untouched)
            yield left, {word: n for word, n in others.items() if word and self._keeps(word, n)}

    def characters(self) -> Iterator[tuple[str, int]]:
        """Yield words, or the characters of word arrays, with their counts."""
        for untouched, others in self.kept():
            if untouched is not None:
                yield from untouched[0].character_counts(untouched[1])
            yield from others.items()

    def _of_each_script(self) -> Iterator[tuple[str, int]]:
        for untouched, others in _portions(self.chosen, self.words):
            if untouched is not None:
                yield "a", sum(untouched[1].tolist())
            yield from others.items()

    def _wrong(self, word: str, count: Any, length: Any) -> Iterator[tuple[str, Any]]:
        """Yield each reason to leave out a word, and whether it holds, or for which words."""
        yield f"rarer than {self.least}", count < self.least
        if self.chosen.selective:
            yield f"longer than {self.longest} characters", length > self.longest
            yield "letters of a foreign script", not scripts(word) <= {self.usual}

    def _keeps(self, word: str, count: int) -> bool:
        for reason, wrong in self._wrong(word, count, len(word)) if count > 0 else ():
            if wrong:
                self.dropped[reason] += count
                return False
        return count > 0

    def _kept_in_array(self, words: WordArray, numbers: Int64) -> CountedArray:
        """Return the selected ones among words that no rule changes."""
        kept = numbers > 0
        for reason, wrong in self._wrong("a", numbers, words.lengths()):
            out = kept & wrong
            if out.any():
                self.dropped[reason] += sum(numbers[out].tolist())
            kept &= ~out
        return words.where(kept), numbers[kept]


class _Sum:
    """Adds up portions of counts: no word is in two arrays, but any may be in several mappings."""

    def __init__(self) -> None:
        self._arrays: list[CountedArray] = []
        self._others: list[Mapping[str, int]] = []
        self._more: list[CountedArray] = []

    def add(self, array: CountedArray | None, others: Mapping[str, int]) -> None:
        if array is None:
            self._others.append(others)
            return
        self._arrays.append(array)
        self._more.append(counted_array(others))

    def counts(self) -> WordCounts:
        if not self._arrays:
            (only,) = self._others
            return WordCounts.from_mapping(only)
        others = sum_duplicates(*concatenate_counts(self._more))
        words, numbers = move_shared_counts(concatenate_counts(self._arrays), others)
        return WordCounts(*concatenate_counts([(words, numbers), others]))


def _covered_parts(piece: str, alphabet: frozenset[str]) -> list[str]:
    """Cut a piece at characters outside the alphabet, which no merge may contain (ours)."""
    kept = "".join(character if character in alphabet else "\0" for character in piece)
    return [part for part in kept.split("\0") if part]


PIPELINES: dict[str, Pipeline] = {
    pipeline.name: pipeline
    for pipeline in (
        Pipeline(
            "plain",
            "Words as they stand, behind a marker, and cut as GPT-2 cuts text if atoms are bytes; "
            "nothing is left out.",
            split_at_white_space,
            keep_whole,
            byte_pieces=split_by_gpt2_pattern,
        ),
        Pipeline(
            "knockout",
            "Marks are words, hyphens are pieces; words rarer than 10, longer than 60 characters "
            "or in a foreign script are left out (Bauwens & Delobelle 2024, §B.1).",
            isolate_punctuation,
            split_at_hyphens,
            minimum_count=10,
            selective=True,
            untouched=ascii_letters.__contains__,
        ),
        Pipeline(
            "rebpe",
            "NFKC; marks, contractions, digits in threes and hyphens apart; capitals as signs; "
            "words rarer than 5 and rare characters are left out "
            "(Bauwens & de Lhoneux 2026, §B.1).",
            isolate_outer_punctuation,
            modern,
            minimum_count=5,
            kind="characters",
            covered=True,
            untouched=ascii_lowercase.__contains__,
        ),
        Pipeline(
            "spaces",
            "Every space is a token of its own; no other type has one (Gow-Smith et al. 2022).",
            split_at_white_space,
            keep_whole,
            marked=False,
        ),
        Pipeline(
            "no-spaces",
            "As spaces, but without the tokens for spaces (Gow-Smith et al. 2022).",
            split_at_white_space,
            keep_whole,
            marked=False,
        ),
    )
}
"""The pipelines by name."""


def pipeline_named(name: str) -> Pipeline:
    """Return one of the `PIPELINES`; `MorphGraphError` if none has this name."""
    if name not in PIPELINES:
        raise MorphGraphError(
            f"There is no pipeline {name!r}. Choose one of {', '.join(PIPELINES)}."
        )
    return PIPELINES[name]

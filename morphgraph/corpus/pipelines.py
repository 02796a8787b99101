"""What happens to words before training: pipelines, each a list of small steps over word counts.

A pipeline's pieces are what merges never cross. The same cutting is written a second time as a
normaliser and pre-tokeniser of Hugging Face's library (`morphgraph.training.components`), which
goes into the trained tokeniser's file, so that words are cut in use as they were in training.

Text is counted first (`corpus.text`): every pipeline splits on white space before it does anything
that could look across it.
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
    apart_from_punctuation,
    as_they_are,
    at_each_hyphen,
    by_gpt2_pattern,
    covered_characters,
    mark_capitals,
    modern,
    scripts,
    uncut,
    usual_script,
    without_outer_marks,
)
from morphgraph.corpus.word_array import (
    AT_ONCE,
    CountedArray,
    WordArray,
    counted_array,
    joined,
    summed,
    without_common,
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

    ``alphabet``: atoms that the tokeniser must have even where no piece has them. ``dropped``: how
    many running words were left out, by reason. ``kind``: what atoms are: ``bytes`` in GPT-2's
    characters behind Ġ, ``characters`` behind ▁, or characters ``unmarked``.
    """

    pipeline: str
    kind: str
    counts: WordCounts
    alphabet: tuple[str, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pipeline:
    """A way to prepare words: ``words`` chooses and splits them, ``pieces`` cuts each one.

    ``byte_pieces``: what cuts them instead where atoms are bytes.
    ``minimum_count``: rarer words are dropped. ``kind``: the atoms that the source uses.
    ``marked``: words get a start-of-word marker. ``covered``: rare characters are left out.
    ``selective``: so are long words and those in a foreign script. ``untouched``: which characters
    no rule looks at, so that words of them are pieces as they stand; with ``selective``, letters of
    one script, with ``covered``, some that are always kept.
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
    """Prepare words for training by one of the `PIPELINES`.

    ``kind`` replaces the atoms that the pipeline's source uses, for methods that need others;
    ``minimum_count`` replaces its threshold. Raises `MorphGraphError` where nothing is left.

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
    # Rules for words need not leave their own results alone: dogs'. gives dogs', which gives dogs.
    words = counts if counts.pipeline == pipeline else _by_rules(chosen, counts)
    least = chosen.minimum_count if minimum_count is None else minimum_count
    choice = _Choice(chosen, words, least, longest)
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
"""Words that the rules leave as they are, if there is an array of such, and all others."""


def _in_array(counts: WordCounts) -> WordCounts:
    """The same words in an array, if there are many; they stay where no array can hold them."""
    if len(counts) <= AT_ONCE or isinstance(counts.words, WordArray):
        return counts
    try:
        return replace(counts, words=WordArray.of_strings(counts.words), counts=counts.numbers())
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, or more than 64 bits
        return counts


def _portions(chosen: Pipeline, counts: WordCounts) -> Iterator[Portion]:
    """The words, some at a time; those that are not in an array are few, and one portion."""
    words = counts.words
    if not isinstance(words, WordArray):
        yield None, dict(counts.items())
        return
    numbers = counts.numbers()
    for start in range(0, max(len(words), 1), AT_ONCE):
        some, counted_ = words[start : start + AT_ONCE], numbers[start : start + AT_ONCE]
        kept = some.made_of(chosen.untouched)
        others = zip(some.where(~kept), counted_[~kept].tolist(), strict=True)
        yield (some.where(kept), counted_[kept]), dict(others)


def _by_rules(chosen: Pipeline, counts: WordCounts) -> WordCounts:
    """The words that the rules of a pipeline make of words."""
    total = _Sum()
    for untouched, others in _portions(chosen, counts):
        total.add(untouched, chosen.words(others))
    return total.counts()


def _pieces(choice: _Choice, kind: str, marker: str, alphabet: frozenset[str]) -> WordCounts:
    """The pieces of the words, as a trainer takes them."""
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
            untouched = words.behind(example[:-1], byte_level=as_bytes), numbers
        total.add(untouched, pieces)
    return total.counts()


class _Choice:
    """The words that are frequent and short enough and, if asked for, in the usual script.

    ``dropped``: how many running words were left out, by reason.
    """

    def __init__(self, chosen: Pipeline, words: WordCounts, least: int, longest: int) -> None:
        self.chosen, self.words, self.least, self.longest = chosen, words, least, longest
        self.usual = usual_script(self._of_each_script()) if chosen.selective else ""
        self.dropped: Counter[str] = Counter()

    def kept(self) -> Iterator[Portion]:
        """The words, some at a time."""
        self.dropped.clear()
        for untouched, others in _portions(self.chosen, self.words):
            left = None if untouched is None else self._left(*untouched)
            yield left, {word: n for word, n in others.items() if word and self._keeps(word, n)}

    def characters(self) -> Iterator[tuple[str, int]]:
        """Words, or instead of many their characters, with how often they occur."""
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
        """Reasons to leave out a word, and whether they hold; or for each of some words like it."""
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

    def _left(self, words: WordArray, numbers: Int64) -> CountedArray:
        """Of words that no rule changes, those that are kept."""
        kept = numbers > 0
        for reason, wrong in self._wrong("a", numbers, words.lengths()):
            out = kept & wrong
            if out.any():
                self.dropped[reason] += sum(numbers[out].tolist())
            kept &= ~out
        return words.where(kept), numbers[kept]


class _Sum:
    """Counts that come in portions, put together: of arrays no word is in two, of others any."""

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
        others = summed(*joined(self._more))
        words, numbers = without_common(joined(self._arrays), others)
        return WordCounts(*joined([(words, numbers), others]))


def _covered_parts(piece: str, alphabet: frozenset[str]) -> list[str]:
    """A piece cut at characters outside the alphabet, which no merge may contain (ours)."""
    kept = "".join(character if character in alphabet else "\0" for character in piece)
    return [part for part in kept.split("\0") if part]


PIPELINES: dict[str, Pipeline] = {
    pipeline.name: pipeline
    for pipeline in (
        Pipeline(
            "plain",
            "Words as they stand, behind a marker, and cut as GPT-2 cuts text if atoms are bytes; "
            "nothing is left out.",
            as_they_are,
            uncut,
            byte_pieces=by_gpt2_pattern,
        ),
        Pipeline(
            "knockout",
            "Marks are words, hyphens are pieces; words rarer than 10, longer than 60 characters "
            "or in a foreign script are left out (Bauwens & Delobelle 2024, §B.1).",
            apart_from_punctuation,
            at_each_hyphen,
            minimum_count=10,
            selective=True,
            untouched=ascii_letters.__contains__,
        ),
        Pipeline(
            "rebpe",
            "NFKC; marks, contractions, digits in threes and hyphens apart; capitals as signs; "
            "words rarer than 5 and rare characters are left out "
            "(Bauwens & de Lhoneux 2026, §B.1).",
            without_outer_marks,
            modern,
            minimum_count=5,
            kind="characters",
            covered=True,
            untouched=ascii_lowercase.__contains__,
        ),
        Pipeline(
            "spaces",
            "Every space is a token of its own; no other type has one (Gow-Smith et al. 2022).",
            as_they_are,
            uncut,
            marked=False,
        ),
        Pipeline(
            "no-spaces",
            "As spaces, but without the tokens for spaces (Gow-Smith et al. 2022).",
            as_they_are,
            uncut,
            marked=False,
        ),
    )
}
"""The pipelines by name."""


def pipeline_named(name: str) -> Pipeline:
    """One of the `PIPELINES`; `MorphGraphError` if there is none of this name."""
    if name not in PIPELINES:
        raise MorphGraphError(
            f"There is no pipeline {name!r}. Choose one of {', '.join(PIPELINES)}."
        )
    return PIPELINES[name]

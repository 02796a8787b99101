"""Pipelines that prepare words for training, each a list of small steps over word counts.

Merges never cross the pieces of a pipeline. `morphgraph.segment.training` expresses the same
cutting as a normaliser and pre-tokeniser of Hugging Face's library, for the trained tokeniser's
file, so that words are cut in use as in training.

Text is counted first (`corpus.texts`): every pipeline splits at white space before any step that
could look across it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_letters, ascii_lowercase
from typing import Any

from morphgraph.core.errors import MorphGraphError, check_choice
from morphgraph.core.text import counted
from morphgraph.corpus.counts import LanguageCounts, WordCounts
from morphgraph.corpus.word_array import (
    BATCH_SIZE,
    CountedArray,
    concatenate_counts,
    counted_array,
    sum_duplicates,
)
from morphgraph.tokeniser.parts import CAPITAL
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, printable_bytes

COVERAGE = 0.9999
KEPT_ASCII = frozenset(map(chr, range(33, 123)))

_APOSTROPHES = "'’"
AT_CONTRACTION = re.compile(r"(n['’]t|['’](?:s|re|ve|m|ll|d))(?=$|[-'’])", re.IGNORECASE)
"""An English contraction, before the word's end, a hyphen or an apostrophe."""
AT_DIGITS = re.compile(r"(\d{1,3}(?=(?:\d{3})*(?!\d)))")
"""Runs of digits, in threes from the right."""
AT_HYPHENS = re.compile(r"(-+)")
EAST_ASIAN = "EAST ASIAN"
EAST_ASIAN_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}
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
class PreparedLanguages(PreparedCorpus):
    """Pieces of several languages: those of each one, and in ``counts`` those of all together."""

    languages: LanguageCounts = field(kw_only=True)


@dataclass(frozen=True)
class Pipeline:
    """A way to prepare words: ``split`` takes text apart into them, ``pieces`` cuts each one.

    ``byte_pieces`` replaces ``pieces`` if atoms are bytes. ``minimum_count``: rarer words are
    dropped. ``kind``: the atoms that the source uses. ``marked``: words get a start-of-word marker.
    ``covered``: rare characters are left out. ``selective``: so are long words and those in a
    foreign script. ``untouched`` accepts characters that no rule changes, so that words of them are
    pieces already; with ``selective``, letters of one script, with ``covered``, some that are
    always kept.
    """

    name: str
    description: str
    split: Callable[[str], Iterable[str]]
    pieces: Callable[[str, str], list[str]]
    minimum_count: int = 1
    kind: str = "bytes"
    marked: bool = True
    covered: bool = False
    selective: bool = False
    byte_pieces: Callable[[str, str], list[str]] | None = None
    untouched: Callable[[str], bool] = str.isalpha

    def words(self, counts: Mapping[str, int] | WordCounts) -> Counter[str]:
        """Split counted pieces of text, none of which has a word that crosses its ends."""
        return recounted(counts.items(), self.split)


def recounted(
    counts: Iterable[tuple[str, int]], split: Callable[[str], Iterable[str]]
) -> Counter[str]:
    """Split counted texts; return the total count of each part.

    >>> recounted([("to be", 2), ("be", 1)], str.split)
    Counter({'be': 3, 'to': 2})
    """
    totals: Counter[str] = Counter()
    for text, count in counts:
        for part in split(text):
            totals[part] += count
    return totals


def prepare(
    pipeline: str,
    counts: Mapping[str, int] | WordCounts | LanguageCounts,
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
    {'Ġdon': 3, 'Ġt': 3, "Ġ'": 3, 'Ġco': 2, '-': 2, 'op': 2}
    """
    if isinstance(counts, LanguageCounts):
        return prepare_languages(pipeline, counts, kind=kind, minimum_count=minimum_count)
    chosen = pipeline_named(pipeline)
    kind = kind or chosen.kind
    check_choice("kind", kind, tuple(START_MARKERS))
    if not isinstance(counts, WordCounts):
        counts = WordCounts.from_mapping(counts)
    words = counted_array(counts.words, counts.counts)
    # Rules need not be idempotent: dogs'. becomes dogs', which becomes dogs.
    if counts.pipeline != pipeline:
        portions = _portions(chosen, words)
        words = _summed((untouched, chosen.words(others)) for untouched, others in portions)
    least = chosen.minimum_count if minimum_count is None else minimum_count
    words, dropped = _selected(chosen, words, least, longest)
    marker = START_MARKERS[kind] if chosen.marked else ""
    alphabet: frozenset[str] = frozenset()
    if chosen.covered:
        covered = covered_characters(_characters(words), coverage)
        alphabet = frozenset(mark_capitals("".join(covered))) | set(marker)
    pieces = WordCounts(*_summed(_pieces(chosen, words, kind, marker, alphabet)))
    if kind == "bytes":
        alphabet = frozenset(BYTE_TO_CHAR)
    elif not chosen.marked and kind == "characters":
        alphabet |= {"▁"}
    if not len(pieces):
        raise MorphGraphError(
            f"The pipeline {pipeline} leaves no word to train on"
            + "".join(f"; {counted(n, 'word')}: {reason}" for reason, n in dropped.items())
            + ". Give more words, or a smaller least count."
        )
    return PreparedCorpus(pipeline, kind, pieces, tuple(sorted(alphabet)), dict(dropped))


def prepare_languages(
    pipeline: str,
    counts: LanguageCounts,
    *,
    kind: str | None = None,
    minimum_count: int | None = None,
) -> PreparedLanguages:
    """Prepare words of several languages, each for itself; development texts lose no rare words.

    Errors as those of `prepare`, with the name of the language.

    >>> both = LanguageCounts({"en": WordCounts(["low"], [5]), "nl": WordCounts(["laag"], [3])})
    >>> dict(prepare_languages("plain", both).counts.items())
    {'Ġlow': 5, 'Ġlaag': 3}
    """
    alphabet: set[str] = set()
    dropped: Counter[str] = Counter()

    def prepared(texts: Mapping[str, WordCounts], least: int | None) -> dict[str, PreparedCorpus]:
        corpora = {}
        for name, words in texts.items():
            try:
                corpora[name] = prepare(pipeline, words, kind=kind, minimum_count=least)
            except MorphGraphError as error:
                raise MorphGraphError(f"{name}: {error}") from error
        return corpora

    training = prepared(counts.languages, minimum_count)
    development = prepared(counts.development, 1)
    for each in training.values():
        alphabet.update(each.alphabet)
        dropped.update(each.dropped)
    parts = [counted_array(each.counts.words, each.counts.counts) for each in training.values()]
    return PreparedLanguages(
        pipeline,
        next(iter(training.values())).kind,
        WordCounts(*sum_duplicates(*concatenate_counts(parts))),
        tuple(sorted(alphabet)),
        dict(dropped),
        languages=LanguageCounts(
            {name: each.counts for name, each in training.items()},
            {name: each.counts for name, each in development.items()},
        ),
    )


Portion = tuple[CountedArray, Mapping[str, int]]
"""Some words that no rule changes, as an array, and others."""


def _batches(counts: CountedArray) -> Iterator[CountedArray]:
    words, numbers = counts
    for start in range(0, max(len(words), 1), BATCH_SIZE):
        yield words[start : start + BATCH_SIZE], numbers[start : start + BATCH_SIZE]


def _portions(chosen: Pipeline, counts: CountedArray) -> Iterator[Portion]:
    for words, numbers in _batches(counts):
        kept = words.consist_of(chosen.untouched)
        others = zip(words.where(~kept), numbers[~kept].tolist(), strict=True)
        yield (words.where(kept), numbers[kept]), dict(others)


def _summed(portions: Iterable[Portion]) -> CountedArray:
    parts: list[CountedArray] = []
    for array, others in portions:
        parts += [array, counted_array(others, others.values())]
    return sum_duplicates(*concatenate_counts(parts))


def _pieces(
    chosen: Pipeline, counts: CountedArray, kind: str, marker: str, alphabet: frozenset[str]
) -> Iterator[Portion]:
    """Cut words into pieces, in the form that trainers take."""
    as_bytes = kind == "bytes"
    cut = (chosen.byte_pieces if as_bytes else None) or chosen.pieces
    before = " " if marker and as_bytes else marker

    def pieces_of(word: str) -> Iterator[str]:
        for piece in cut(word, before):
            for part in _covered_parts(piece, alphabet) if chosen.covered else (piece,):
                yield printable_bytes(part) if as_bytes else part

    (example,) = pieces_of("a")
    for (words, numbers), others in _portions(chosen, counts):
        pieces = recounted(others.items(), pieces_of)
        yield (words.with_prefix(example[:-1], byte_level=as_bytes), numbers), pieces


def _selected(
    chosen: Pipeline, counts: CountedArray, least: int, longest: int
) -> tuple[CountedArray, Counter[str]]:
    """Leave out words that are too rare and, if selective, too long or in a foreign script.

    Also return the number of running words left out, by reason.
    """
    usual = usual_script(_by_script(chosen, counts)) if chosen.selective else ""
    dropped: Counter[str] = Counter()
    parts: list[CountedArray] = []
    for words, numbers in _batches(counts):
        lengths = words.lengths()
        reasons = {f"rarer than {least}": numbers < least}
        if chosen.selective:
            reasons[f"longer than {longest} characters"] = lengths > longest
            reasons["letters of a foreign script"] = ~words.consist_of(_only_in(usual))
        kept = (numbers > 0) & (lengths > 0)
        for reason, wrong in reasons.items():
            if (kept & wrong).any():
                dropped[reason] += sum(numbers[kept & wrong].tolist())
            kept &= ~wrong
        parts.append((words.where(kept), numbers[kept]))
    return concatenate_counts(parts), dropped


def _by_script(chosen: Pipeline, counts: CountedArray) -> Iterator[tuple[str, int]]:
    """Yield words, or one of the same script, with their counts."""
    for (_, numbers), others in _portions(chosen, counts):
        yield "a", sum(numbers.tolist())
        yield from others.items()


def _characters(counts: CountedArray) -> Iterator[tuple[str, int]]:
    for words, numbers in _batches(counts):
        yield from words.character_counts(numbers)


def _covered_parts(piece: str, alphabet: frozenset[str]) -> list[str]:
    """Cut a piece at characters outside the alphabet, which no merge may contain (ours)."""
    kept = "".join(character if character in alphabet else "\0" for character in piece)
    return [part for part in kept.split("\0") if part]


# ------------------------------------------------------------------------- choosing the words


def isolate_punctuation(text: str) -> list[str]:
    """Isolate each punctuation mark except hyphens, and split at white space.

    Punctuation is Unicode's (categories P…). Source: Bauwens & Delobelle 2024, §B.1.

    >>> isolate_punctuation("don't co-op")
    ['don', "'", 't', 'co-op']
    """
    if not text.isalnum():
        text = "".join(f" {char} " if is_punctuation(char) else char for char in text)
    return text.split()


def isolate_outer_punctuation(text: str) -> list[str]:
    """Apply NFKC and isolate runs of a mark, except hyphens and inner apostrophes.

    Source: Bauwens & de Lhoneux 2026, §B.1. Punctuation is Unicode's (categories P…); hyphens are
    no marks here, as they are isolated later; an apostrophe (' or ’), or a run of one, is inner if
    it touches neither the word's start nor its end.

    >>> isolate_outer_punctuation("(don't)... 'rock’n’roll' ﬁne")
    ['(', "don't", ')', '...', "'", 'rock’n’roll', "'", 'fine']
    """
    parts = unicodedata.normalize("NFKC", text).split()
    return [piece for part in parts for piece in split_outer_punctuation(part)]


def split_outer_punctuation(word: str) -> list[str]:
    """Split a word at its punctuation (see `isolate_outer_punctuation`).

    >>> split_outer_punctuation("what?!!"), split_outer_punctuation("''tis-'")
    (['what', '?', '!!'], ["''", 'tis-', "'"])
    """
    if word.isalnum():
        return [word]
    pieces: list[str] = []
    start = at = 0
    while at < len(word):
        end = at + 1
        if is_punctuation(word[at]):
            while end < len(word) and word[end] == word[at]:
                end += 1
            inner = at > 0 and end < len(word) and word[at] in _APOSTROPHES
            if not inner:
                pieces += [word[start:at], word[at:end]]
                start = end
        at = end
    return [piece for piece in (*pieces, word[start:]) if piece]


def is_punctuation(character: str) -> bool:
    """Return whether a character is punctuation other than a hyphen.

    >>> is_punctuation("("), is_punctuation("-"), is_punctuation("+")
    (True, False, False)
    """
    return character != "-" and unicodedata.category(character).startswith("P")


def scripts(word: str) -> set[str]:
    """Return the scripts of a word's letters by their Unicode names; East Asian ones count as one.

    >>> sorted(scripts("naïve")), sorted(scripts("αβ-vitamin")), scripts("42")
    (['LATIN'], ['GREEK', 'LATIN'], set())
    """
    names = set()
    for character in word if not word.isascii() else word[:0]:
        if not character.isascii() and (name := script_of(character)):
            names.add(EAST_ASIAN if name in EAST_ASIAN_SCRIPTS else name)
    if any(character.isascii() and character.isalpha() for character in word):
        names.add("LATIN")
    return names


@lru_cache(maxsize=8)
def _only_in(script: str) -> Callable[[str], bool]:
    """Return whether a character is a letter of this script, or none."""
    return lambda character: scripts(character) <= {script}


@lru_cache(maxsize=1 << 16)
def script_of(character: str) -> str:
    """Return the script of a letter by its Unicode name; empty for other characters.

    >>> script_of("é"), script_of("字"), script_of("7")
    ('LATIN', 'CJK', '')
    """
    if not character.isalpha():
        return ""
    plain = unicodedata.normalize("NFKC", character)[0]
    name = unicodedata.name(plain, "UNKNOWN").split(" ")[0]
    return "" if name in ("MODIFIER", "COMBINING") else name


def usual_script(words: Iterable[tuple[str, int]]) -> str:
    """Return the script of most running words; any other is foreign (ours).

    >>> usual_script([("слово", 3), ("word", 2)])
    'CYRILLIC'
    """
    running = recounted(words, scripts)
    return max(running, key=lambda script: (running[script], script), default="LATIN")


def covered_characters(
    words: Iterable[tuple[str, int]], coverage: float = COVERAGE
) -> frozenset[str]:
    """Return the most frequent characters with this share of the text, and ASCII 33 to 122.

    Ties go to the smaller code point. Source: Kudo & Richardson 2018 (character coverage); Bauwens
    & de Lhoneux 2026, §B.1 (the range).

    >>> sorted(covered_characters([("é", 9), ("ñ", 1)], 0.9) - KEPT_ASCII)
    ['é']
    """
    frequencies = recounted(words, iter)
    wanted, reached = coverage * sum(frequencies.values()), 0
    kept = set(KEPT_ASCII)
    for character in sorted(frequencies, key=lambda c: (-frequencies[c], c)):
        if reached >= wanted:
            break
        kept.add(character)
        reached += frequencies[character]
    return frozenset(kept)


# ------------------------------------------------------------------------- cutting one word


def keep_whole(word: str, marker: str) -> list[str]:
    """Return the word with its marker, uncut."""
    return [_marked(word, marker)]


def split_by_gpt2_pattern(word: str, marker: str) -> list[str]:
    """Split the marked word by the pattern of GPT-2's byte-level pre-tokeniser.

    Source: Radford et al. 2019 (letters, digits, other signs and English contractions apart).

    >>> split_by_gpt2_pattern("children's", " "), split_by_gpt2_pattern("4th", " ")
    ([' children', "'s"], [' 4', 'th'])
    """
    text = _marked(word, marker)
    if word.isalpha():
        return [text]
    return [text[start:end] for _, (start, end) in _gpt2().pre_tokenize_str(text)]


@lru_cache(maxsize=1)
def _gpt2() -> Any:
    from tokenizers.pre_tokenizers import ByteLevel

    return ByteLevel(add_prefix_space=False, use_regex=True)


def split_at_hyphens(word: str, marker: str) -> list[str]:
    """Split the marked word before and after each hyphen.

    >>> split_at_hyphens("co-op", "▁")
    ['▁co', '-', 'op']
    """
    return split_off(re.compile("(-)"), _marked(word, marker))


def modern(word: str, marker: str) -> list[str]:
    """Split contractions, apostrophes, digits and hyphens, in this order, and mark capitals.

    Each piece left by the first two steps gets a marker, from which digits and hyphens are split.
    Source: Bauwens & de Lhoneux 2026, §B.1.

    >>> modern("L'Oréal's", "▁")
    ['▁⇧l', "▁'⇧oréal", "▁'s"]
    >>> modern("Covid-19", "▁")
    ['▁⇧covid', '-', '19']
    """
    if word.isalpha():
        return [mark_capitals(_marked(word, marker))]
    pieces = [part for each in split_off(AT_CONTRACTION, word) for part in split_apostrophes(each)]
    pieces = [part for piece in pieces for part in split_off(AT_DIGITS, _marked(piece, marker))]
    return [mark_capitals(part) for piece in pieces for part in split_off(AT_HYPHENS, piece)]


def _marked(word: str, marker: str) -> str:
    # Like Hugging Face's Metaspace, this adds no second marker.
    return word if marker == "▁" and word.startswith("▁") else marker + word


def split_off(pattern: re.Pattern[str], word: str) -> list[str]:
    """Make what a pattern of one group matches pieces of their own.

    >>> split_off(AT_CONTRACTION, "don't"), split_off(AT_CONTRACTION, "o'clock")
    (['do', "n't"], ["o'clock"])
    >>> split_off(AT_DIGITS, "▁1234567"), split_off(AT_HYPHENS, "a--b-c")
    (['▁', '1', '234', '567'], ['a', '--', 'b', '-', 'c'])
    """
    return [piece for piece in pattern.split(word) if piece]


def split_apostrophes(word: str) -> list[str]:
    """Split at apostrophes, which join the longer side, or the left one in a tie (ours).

    A side extends to the next apostrophe or the word's end; a run of apostrophes between empty
    sides stands alone; n't stays whole (ours).

    >>> split_apostrophes("l'eau"), split_apostrophes("aujourd'hui")
    (['l', "'eau"], ["aujourd'", 'hui'])
    >>> split_apostrophes("rock'n'roll")
    ["rock'", 'n', "'roll"]
    """
    if not any(mark in word for mark in _APOSTROPHES) or word.lower() in ("n't", "n’t"):
        return [word]
    sides = re.split("(['’])", word)
    pieces: list[str] = []
    taken = alone = ""
    for at in range(0, len(sides), 2):
        side, mark = sides[at], "".join(sides[at + 1 : at + 2])
        following = len(sides[at + 2]) if mark else 0
        if side:
            own, taken = taken, "" if len(side) >= following else mark
            pieces += [alone, own + side + (mark if not taken else "")]
            alone = ""
        elif following:
            taken = mark
        else:
            alone += mark
    return [piece for piece in (*pieces, alone) if piece]


# ------------------------------------------------------------------------- capitals


@lru_cache(maxsize=1)
def _capitals() -> dict[str, str]:
    """Return each lower-case form and its capital, for characters that NFKC keeps."""
    capitals = {}
    for code in range(0x110000):
        character = chr(code)
        lower = character.lower()
        if lower != character and unicodedata.normalize("NFKC", character) == character:
            capitals[lower] = character
    return capitals


def mark_capitals(text: str) -> str:
    """Lower-case a text reversibly, with ⇧ before each former capital.

    ⇧ itself is doubled. Letters are lower-cased one by one, so a final Σ becomes σ.

    >>> mark_capitals("McDonald"), mark_capitals("⇧")
    ('⇧mc⇧donald', '⇧⇧')
    """
    if text.islower() and CAPITAL not in text:
        return text
    return "".join(
        CAPITAL + lower
        if (lower := character.lower()) != character or character == CAPITAL
        else character
        for character in text
    )


def restore_capitals(text: str) -> str:
    """The inverse of `mark_capitals`, for text in NFKC.

    >>> restore_capitals("⇧mc⇧donald"), restore_capitals("⇧⇧")
    ('McDonald', '⇧')
    """
    characters = iter(text)
    restored = []
    for character in characters:
        if character == CAPITAL:
            character = next(characters, CAPITAL)
            character = _capitals().get(character, character.upper())
        restored.append(character)
    return unicodedata.normalize("NFKC", "".join(restored))


# ------------------------------------------------------------------------- the pipelines

PIPELINES: dict[str, Pipeline] = {
    pipeline.name: pipeline
    for pipeline in (
        Pipeline(
            "plain",
            "Words as they stand, behind a marker, and cut as GPT-2 cuts text if atoms are bytes; "
            "nothing is left out.",
            str.split,
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
            str.split,
            keep_whole,
            marked=False,
        ),
        Pipeline(
            "no-spaces",
            "As spaces, but without the tokens for spaces (Gow-Smith et al. 2022).",
            str.split,
            keep_whole,
            marked=False,
        ),
    )
}
"""The pipelines by name."""


def pipeline_named(name: str) -> Pipeline:
    """Return one of the `PIPELINES`; `MorphGraphError` if none has this name."""
    check_choice("pipeline", name, tuple(PIPELINES))
    return PIPELINES[name]

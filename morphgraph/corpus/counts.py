"""Word counts, the input of every trainer, from a file or from the wordfreq package."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from morphgraph.core.errors import FileFormatError, MorphGraphError, require
from morphgraph.core.isolated import read_isolated
from morphgraph.core.limits import COUNTED_CHARACTERS, COUNTED_WORDS
from morphgraph.corpus.text_files import PARQUET_START, Parquet, on_disk
from morphgraph.corpus.word_array import CountedArray, WordArray, concatenate_counts, sum_duplicates

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


LARGEST_FILE = 2**30
LARGEST_COUNT = 10**15

WHOLE_TEXTS = "whole texts"
"""What stands for a pipeline where each word is a text, such as a title, that nothing has cut."""

_BLOCK = 2**23
"""The bytes read at once."""
_LONGEST_LINE = 2**20
_FORM = "Write one word per line: the word, a tab or a space, and its count"
_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_INTEGERS = (*_SIGNED, *(f"U{kind}" for kind in _SIGNED))
_USUAL = re.compile(r"(?:\S+[\t ][0-9]{1,15}\r?\n)*+")
"""Lines of a word, one tab or space, and digits."""


@dataclass(frozen=True)
class WordCounts:
    """Words and their counts; apart from the words, a tenth of a dictionary's memory.

    `counts[i]` belongs to `words[i]`; words are unique, and counts at least 0. `pipeline` names the
    pipeline whose rules produced the words, if any, or is `WHOLE_TEXTS`.

    >>> WordCounts.from_mapping({"low": 5, "lower": 2}).total
    7
    """

    words: Sequence[str]
    counts: Sequence[int] | npt.NDArray[np.int64]
    pipeline: str | None = None

    def __post_init__(self) -> None:
        if len(self.words) != len(self.counts):
            raise MorphGraphError(
                f"{len(self.words)} words but {len(self.counts)} counts. Give one count per word."
            )

    @classmethod
    def from_mapping(cls, counts: Mapping[str, int]) -> WordCounts:
        """Take words and counts from a dictionary, in its order."""
        return cls(list(counts), list(counts.values()))

    def __len__(self) -> int:
        return len(self.words)

    def items(self) -> Iterator[tuple[str, int]]:
        """Iterate over pairs of word and count."""
        return zip(self.words, map(int, self.counts), strict=True)

    @property
    def total(self) -> int:
        """The number of running words."""
        return sum(map(int, self.counts))


@dataclass(frozen=True)
class LanguageCounts:
    """Word counts of several languages by name, and of a development text of each, if any.

    >>> LanguageCounts({"en": WordCounts(["low"], [5]), "nl": WordCounts(["laag"], [3])}).names
    ['en', 'nl']
    """

    languages: Mapping[str, WordCounts]
    development: Mapping[str, WordCounts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.development and set(self.development) != set(self.languages):
            one = min(set(self.development) ^ set(self.languages))
            raise MorphGraphError(
                f"{one} has a training text or a development text, but not both. Give both for "
                "every language, or no development text."
            )

    def __len__(self) -> int:
        return sum(map(len, self.languages.values()))

    @property
    def names(self) -> list[str]:
        """The names of the languages, in order."""
        return list(self.languages)


def read_word_counts(path: str | Path) -> WordCounts:
    """Read word counts from a UTF-8 file with one word per line: `word⇥count` or `word count`.

    A Parquet file needs the columns `word`, of strings, and `count`, of whole numbers. In a line
    with a tab, the word may contain spaces; surrounding blanks are removed. Counts of the same word
    are added; words with a count of 0, and empty lines, are ignored. Raises `FileFormatError` if
    the file is empty, larger than a gigabyte, not UTF-8, or has a line of another form, an empty
    word, a negative count or one above 10¹⁵.
    """
    path = Path(path)
    name = path.name
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            problem = f"the file has {size:,} bytes; the limit is {LARGEST_FILE:,}"
            raise FileFormatError(name, "", problem, "Leave out rare words.")
        with path.open("rb") as file:
            # Peek without consuming: the file may be a pipe.
            if file.peek(4).startswith(PARQUET_START):
                return _parse_parquet(path if path.is_file() else file.read(), name)
            return _of_lines(file, name)
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise FileFormatError(name, "", problem, "Check the path.") from error


def parse_word_counts(data: bytes, name: str) -> WordCounts:
    """Read word counts from the bytes of a file, as `read_word_counts` does."""
    if data.startswith(PARQUET_START):
        return _parse_parquet(data, name)
    return _of_lines(io.BytesIO(data), name)


# ------------------------------------------------------------------------- lines


def _of_lines(file: IO[bytes], name: str) -> WordCounts:
    """Return the counts of lines, in order of first occurrence.

    Blocks of lines of the usual form are parsed together, all others line by line, with the same
    result.
    """
    block, first = file.read(_BLOCK), 1
    problems: list[FileFormatError] = []
    parts: list[CountedArray] = []
    characters = lines = 0
    while block:
        rest = file.readline(_LONGEST_LINE)
        if len(rest) == _LONGEST_LINE and not rest.endswith(b"\n"):
            line = first + block.count(b"\n")
            problem = f"the line has more than {_LONGEST_LINE:,} bytes"
            raise FileFormatError(name, f"line {line:,}", problem, f"{_FORM}.")
        block += rest
        words, numbers = _of_block(block, first, name, problems)
        if problems and (lines or words):
            raise problems[0]
        lines += len(words)
        characters += int(words.lengths().sum())
        COUNTED_WORDS.check(lines, name)
        COUNTED_CHARACTERS.check(characters, name)
        parts.append((words, numbers))
        first += block.count(b"\n")
        block = file.read(_BLOCK)
    if problems or not lines:
        problem, fix = "the file has no words", f"{_FORM}."
        if problems:
            problem = "no line is a word and a count"
            fix = f"{_FORM}; or count the words of a text with `morphgraph count`."
        raise FileFormatError(name, "", problem, fix)
    return WordCounts(*sum_duplicates(*concatenate_counts(parts)))


def _of_block(block: bytes, first: int, name: str, problems: list[FileFormatError]) -> CountedArray:
    """Return the words of whole lines in their order; ``first`` is the first line's number."""
    import numpy as np

    try:
        text = block.decode("utf-8-sig" if first == 1 else "utf-8")
    except UnicodeDecodeError:
        text = ""
    if text and _USUAL.fullmatch(text):
        cells = text.split()
        words = WordArray.of_strings(cells[::2])
        numbers = np.fromiter(map(int, cells[1::2]), np.int64, len(words))
        return words.where(numbers > 0), numbers[numbers > 0]
    pairs = [*_one_by_one(block.split(b"\n"), first, name, problems)]
    words = WordArray.of_strings([word for word, _ in pairs])
    return words, np.array([count for _, count in pairs], np.int64)


def _one_by_one(
    lines: Iterable[bytes], first: int, name: str, problems: list[FileFormatError]
) -> Iterator[tuple[str, int]]:
    """Yield each line's word and count; stop after the first error once there is a word."""
    words = False
    for number, raw in enumerate(lines, first):
        if problems and words:
            return
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n \t")
            if line:
                word, count = _parse_line(line)
                if count:
                    words = True
                    yield word, count
        except ValueError as error:
            if not problems:  # only one is reported, and a large file may have millions
                problem, fix = str(error), f"{_FORM}."
                if isinstance(error, UnicodeDecodeError):
                    problem, fix = "it is not valid UTF-8", "Save the file as UTF-8."
                problems.append(FileFormatError(name, f"line {number}", problem, fix))


def _parse_line(line: str) -> tuple[str, int]:
    parts = line.rsplit("\t", 1) if "\t" in line else line.rsplit(None, 1)
    if len(parts) != 2:
        raise ValueError("the count is missing")
    word, digits = parts[0].rstrip(), parts[1].strip()
    if "\t" in word:
        raise ValueError("there are three columns")
    if digits.startswith("-") and digits[1:].isdecimal():
        raise ValueError(f"the count {digits} is negative")
    if "\r" in word:
        raise ValueError("there is a carriage return inside the line")
    if not (digits.isascii() and digits.isdecimal()):
        raise ValueError(f"the count {digits[:40]!r} is not a whole number")
    if len(digits.lstrip("0")) > 16 or int(digits) > LARGEST_COUNT:
        raise ValueError("the count is larger than 10¹⁵")
    return word, int(digits)


# ------------------------------------------------------------------------- Parquet


def _parse_parquet(source: Path | bytes, name: str) -> WordCounts:
    """Return the counts of a Parquet file.

    Another process reads it first; what it reads within its limits is safe here.
    """
    with on_disk(source) as path:
        rows, characters, pipeline = read_isolated(check_parquet_counts, path, name)
        COUNTED_WORDS.check(rows, name)
        COUNTED_CHARACTERS.check(characters, name)
        words, counts = sum_duplicates(*_parquet_counts(Parquet(path, name)))
    if not words:
        raise FileFormatError(name, "", "it has no words", "Count texts with words.")
    return WordCounts(words, counts, pipeline)


def _parquet_counts(table: Parquet) -> CountedArray:
    """Return the words of a file, which may occur more than once, with counts above 0."""
    import numpy as np

    some = f"from {table.rows_of} where count > 0"
    sizes = table.streamed(
        f"select strlen(word)::integer as length, count::bigint as count {some}"
    ).fetchnumpy()
    texts = table.streamed(
        f"select string_agg(word, '') {some} group by file_row_number // 65536 "
        "order by min(file_row_number)"
    )
    text = b"".join(part.encode() for (part,) in iter(texts.fetchone, None))
    ends = np.cumsum(np.asarray(sizes["length"], np.int64))
    words = WordArray(np.frombuffer(text, np.uint8), ends)
    return words, np.asarray(sizes["count"], np.int64)


def check_parquet_counts(path: str, name: str) -> tuple[int, int, str | None]:
    """Return the rows of a file of counts, its characters, and the pipeline that it names."""
    table = Parquet(path, name)
    for column, wanted, kinds in (
        ("word", "strings", ("VARCHAR",)),
        ("count", "whole numbers", _INTEGERS),
    ):
        kind = table.columns.get(column)
        if kind is None:
            raise _wrong(name, "", f"it has no column called “{column}”")
        if kind not in kinds:
            problem = f"the column “{column}” has {kind.lower()[:40]} instead of {wanted}"
            raise _wrong(name, "", problem)
    wrong = f"coalesce(word, '') = '' or coalesce(count, -1) not between 0 and {LARGEST_COUNT}"
    [(rows, size, characters, row)] = table.query(
        "select count(*), coalesce(sum(strlen(word))::bigint, 0), "
        "coalesce(sum(length(word))::bigint, 0), "
        f"min(file_row_number) filter ({wrong}) from {table.rows_of}"
    )
    table.check_unpacked(size + rows)
    if row is not None:
        [(word, count)] = table.query(
            f"select word, count from {table.rows_of} where file_row_number = {row}"
        )
        problem = "the count is larger than 10¹⁵"
        if not word:
            problem = "the word is " + ("missing" if word is None else "empty")
        elif count is None:
            problem = "the count is missing"
        elif count < 0:
            problem = f"the count {count} is negative"
        raise _wrong(name, f"row {row + 1:,}", problem)
    try:
        about = json.loads(table.marked or b"{}")
    except (ValueError, RecursionError):
        about = None
    pipeline = about.get("pipeline") if isinstance(about, dict) else None
    return rows, characters, pipeline if isinstance(pipeline, str) else None


def _wrong(name: str, place: str, problem: str) -> FileFormatError:
    fix = "Give a column “word” of strings and a column “count” of whole numbers from 0 on."
    return FileFormatError(name, place, problem, fix)


# ------------------------------------------------------------------------- others


WordCountsLike = WordCounts | Mapping[str, float] | str | os.PathLike[str]
"""What `to_word_counts` takes."""


def to_word_counts(source: WordCountsLike) -> WordCounts:
    """Return word counts from a mapping, a file, ``wordfreq:en``, or word counts themselves."""
    if isinstance(source, WordCounts):
        return source
    if isinstance(source, Mapping):
        return WordCounts.from_mapping({word: int(count) for word, count in source.items()})
    name = str(source)
    if name.startswith("wordfreq:"):
        return wordfreq_counts(name.removeprefix("wordfreq:"))
    return read_word_counts(name)


def to_language_counts(
    languages: Mapping[str, WordCountsLike], development: Mapping[str, WordCountsLike] | None = None
) -> LanguageCounts:
    """Return the word counts of several languages from anything that `to_word_counts` takes."""
    given = (languages, development or {})
    return LanguageCounts(
        *({name: to_word_counts(n) for name, n in each.items()} for each in given)
    )


def wordfreq_counts(language: str, *, wordlist: str = "best") -> WordCounts:
    """Convert the word frequencies of wordfreq to counts per 10⁹ running words.

    `language` is a code such as "en", "de" or "fi"; `wordlist` is "small", "large", or "best" for
    the larger of those that the language has. Frequencies are rounded to a hundredth of a decade,
    so many words have the same count. The order is that of wordfreq, most frequent first. Raises
    `MorphGraphError` for a language that wordfreq does not have. Source: Speer 2022, "wordfreq",
    version 3.

    >>> wordfreq_counts("nl", wordlist="small").words[:3]
    ['de', 'van', 'het']
    """
    require("A word list of wordfreq", "wordfreq")
    import wordfreq

    available = wordfreq.available_languages(wordlist)
    if language not in available:
        raise MorphGraphError(
            f"wordfreq has no {wordlist} word list for {language!r}. "
            f"Use one of: {', '.join(sorted(available))}."
        )
    frequencies = wordfreq.get_frequency_dict(language, wordlist)
    counts = {word: round(frequency * 1e9) for word, frequency in frequencies.items()}
    return WordCounts.from_mapping({word: count for word, count in counts.items() if count})

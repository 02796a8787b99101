"""Word counts, the input of every trainer, from a file or from the wordfreq package."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from morphgraph.core.errors import FileFormatError, MorphGraphError, require
from morphgraph.corpus.counts_lines import LARGEST_COUNT, counts_of_lines
from morphgraph.corpus.counts_parquet import MARK, parquet_columns
from morphgraph.corpus.parquet import starts_as_parquet
from morphgraph.corpus.word_array import concatenate_counts, sum_duplicates

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from morphgraph.kernels import Int64

__all__ = ["MARK", "WordCounts", "parse_word_counts", "read_word_counts", "to_word_counts"]

COUNTS_FILE = "_counts.json"
"""The file of metadata in a folder of Parquet files with counts."""

LARGEST_FILE = 2**30
WORDLISTS = ("small", "large", "best")


@dataclass(frozen=True)
class WordCounts:
    """Words and their counts, side by side, in a tenth of a dictionary's memory beside the words.

    `counts[i]` belongs to `words[i]`; words are unique, and counts at least 0. `pipeline` names the
    pipeline whose rules produced the words, if any.

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

    def numbers(self) -> Int64:
        """The counts as an array."""
        import numpy as np

        return np.asarray(self.counts, np.int64)

    @property
    def total(self) -> int:
        """The number of running words."""
        return sum(map(int, self.counts))


def read_word_counts(path: str | Path, *, largest_file: int = LARGEST_FILE) -> WordCounts:
    """Read word counts from a UTF-8 file with one word per line: `word⇥count` or `word count`.

    A Parquet file, or a folder of them, needs the columns `word`, of strings, and `count`, of whole
    numbers. In a line with a tab, the word may contain spaces; surrounding blanks are removed.
    Counts of the same word are added; words with a count of 0, and empty lines, are ignored. Raises
    `FileFormatError` if the file is empty, larger than `largest_file` bytes, not UTF-8, or has a
    line of another form, an empty word, a negative count or one above 10¹⁵.
    """
    path = Path(path)
    name = path.name
    try:
        if path.is_dir():
            return _of_folder(path)
        size = path.stat().st_size
        if size > largest_file:
            raise FileFormatError(
                name,
                "",
                f"the file has {size:,} bytes, more than {largest_file:,}",
                "Leave out rare words.",
            )
        with path.open("rb") as file:
            # Peek without consuming: the file may be a pipe.
            if starts_as_parquet(file.peek(4)):
                return _of_parquet(file, name)
            return _of_lines(file, name)
    except OSError as error:
        raise FileFormatError(
            name, "", f"cannot be read ({error.strerror})", "Check the path."
        ) from error


def _of_folder(path: Path) -> WordCounts:
    files = sorted(path.glob("*.parquet"))
    if not files:
        problem = "the folder has no Parquet files"
        raise FileFormatError(path.name, "", problem, "Give what morphgraph count has written.")
    parts, pipelines = [], set()
    for file in files:
        with file.open("rb") as opened:
            found, pipeline = parquet_columns(opened, f"{path.name}/{file.name}", LARGEST_COUNT)
        parts.append(found)
        pipelines.add(pipeline)
    if len(pipelines) > 1:
        problem = "its files were counted by different pipelines"
        raise FileFormatError(path.name, "", problem, "Give one counting at a time.")
    rows = sum(len(words) for words, _ in parts)
    words, counts = sum_duplicates(*concatenate_counts([*parts]))
    if len(words) < rows and len(words) < sum(len(sum_duplicates(*part)[0]) for part in parts):
        problem = "a word is in two of its files"
        raise FileFormatError(path.name, "", problem, "Give one counting at a time.")
    if not words:
        raise FileFormatError(path.name, "", "it has no words", "Count texts with words.")
    return WordCounts(words, counts, pipelines.pop())


def parse_word_counts(data: bytes, name: str) -> WordCounts:
    """Read word counts from the bytes of a file, as `read_word_counts` does."""
    if starts_as_parquet(data):
        return _of_parquet(io.BytesIO(data), name)
    return _of_lines(io.BytesIO(data), name)


def _of_lines(file: IO[bytes], name: str) -> WordCounts:
    found = counts_of_lines(file, name)
    return WordCounts.from_mapping(found) if isinstance(found, dict) else WordCounts(*found)


def _of_parquet(file: IO[bytes], name: str) -> WordCounts:
    found, pipeline = parquet_columns(file, name, LARGEST_COUNT)
    words, numbers = sum_duplicates(*found)
    if not words:
        raise FileFormatError(name, "", "the file has no words", "Count texts with words.")
    return WordCounts(words, numbers, pipeline)


def to_word_counts(source: WordCounts | Mapping[str, float] | str | os.PathLike[str]) -> WordCounts:
    """Return word counts from a mapping, a file, ``wordfreq:en``, or word counts themselves."""
    if isinstance(source, WordCounts):
        return source
    if isinstance(source, Mapping):
        return WordCounts.from_mapping({word: int(count) for word, count in source.items()})
    name = str(source)
    if name.startswith("wordfreq:"):
        return wordfreq_counts(name.removeprefix("wordfreq:"))
    return read_word_counts(name)


def wordfreq_counts(
    language: str, *, wordlist: str = "best", scale: float = 1e9, minimum_count: int = 1
) -> WordCounts:
    """Convert the word frequencies of wordfreq to counts: round(frequency × `scale`).

    `language` is a code such as "en", "de" or "fi"; `wordlist` is "small", "large", or "best" for
    the larger of those that the language has. Frequencies are shares of running words, rounded to a
    hundredth of a decade, so with the default scale a count is per 10⁹ running words, and many
    words have the same count. Words with a count below `minimum_count` are left out; the order is
    that of wordfreq, most frequent first. Raises `MorphGraphError` for a language or list that
    wordfreq does not have. Source: Speer 2022, "wordfreq", version 3.

    >>> wordfreq_counts("nl", wordlist="small").words[:3]
    ['de', 'van', 'het']
    """
    require("Words of wordfreq", "wordfreq")
    import wordfreq

    if wordlist not in WORDLISTS:
        raise MorphGraphError(
            f"There is no word list {wordlist!r}. Choose one of {', '.join(WORDLISTS)}."
        )
    available = wordfreq.available_languages(wordlist)
    if language not in available:
        raise MorphGraphError(
            f"wordfreq has no {wordlist} word list for {language!r}. "
            f"Choose one of {', '.join(sorted(available))}."
        )
    words: list[str] = []
    counts: list[int] = []
    for word, frequency in wordfreq.get_frequency_dict(language, wordlist).items():
        count = round(frequency * scale)
        if count >= minimum_count:
            words.append(word)
            counts.append(count)
    return WordCounts(words, counts)

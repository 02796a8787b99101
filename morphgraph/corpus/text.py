"""Word counts from running text: plain text, or a column of a csv or parquet file, in a stream.

What is counted is what white space separates; pipelines (`corpus.pipelines`) do the rest.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import TEXT_WORDS
from morphgraph.corpus.counts import LARGEST_FILE, WordCounts
from morphgraph.corpus.parquet import (
    broken_parquet,
    open_parquet,
    parquet_batches,
    starts_as_parquet,
)

CHUNK = 1_000_000
"""So many characters, and the text that exceeds them, are handed on at once."""

LONGEST_LINE = 2**24
"""A table with a longer line, in bytes, is refused, and with a longer text, in characters."""

LONGEST_WORD = 2**20
"""Longer words, in bytes, are refused: they are no text, and many of them would fill the memory."""

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
"""The endings of packed files."""

Progress = Callable[[float], None] | None
OnBad = Callable[[FileFormatError], None]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_USUAL = ("text", "sentence", "content")


def read_text(
    source: str | os.PathLike[str] | bytes,
    name: str | None = None,
    *,
    column: str | None = None,
    largest_file: int = LARGEST_FILE,
    progress: Progress = None,
) -> WordCounts:
    """Count the words of a file, or of its bytes: plain text, csv, tsv or parquet, by its name.

    ``column`` names the column of a table; without it, the only one, or one called text, sentence
    or content, is taken. A file of any other name is a csv if ``column`` is given, else plain text.
    ``progress`` is called now and then with a number from 0 to 1; an exception that it raises ends
    the reading. Raises `FileFormatError`, with file and place, where the file is missing, empty or
    larger than ``largest_file`` bytes, is not UTF-8, is no table of its kind, lacks the column, or
    has too many different words.
    """
    file, shown, size = open_text(source, name, largest_file)
    with file:
        counts: Counter[str] = Counter()
        for share, texts in chunks(file, shown, size, column):
            for text in texts:
                counts.update(text.split())
            if len(counts) > TEXT_WORDS.value:
                found = f"it has {len(counts):,} different words and more"
                fix = "Count a part of it, count elsewhere and leave out rare words"
                raise TEXT_WORDS.exceeded(shown, "", found, fix)
            if progress is not None:
                progress(share)
    if not counts:
        raise FileFormatError(shown, "", "it has no words", "Choose a file or column with text.")
    if progress is not None:
        progress(1.0)
    return _in_order(counts)


def text_columns(source: str | os.PathLike[str] | bytes, name: str | None = None) -> list[str]:
    """The columns of a csv, tsv or parquet file that may hold text; none for plain text."""
    file, shown, _ = open_text(source, name, LARGEST_FILE)
    with file:
        if is_parquet(file):
            return text_fields(open_parquet(file, shown))
        if separator_of(shown) is None:
            return []
        return _header(_rows(file, shown, separator_of(shown) or ","), shown)


# ------------------------------------------------------------------------- files


def _in_order(counts: Counter[str]) -> WordCounts:
    return WordCounts.from_mapping(dict(counts.most_common()))


def open_text(
    source: str | os.PathLike[str] | bytes, name: str | None, largest: int | None
) -> tuple[IO[bytes], str, int]:
    """The file, what errors call it, and its size in bytes; not more than ``largest``, if given."""
    if isinstance(source, bytes):
        shown, size = name or "the text", len(source)
        file: IO[bytes] = io.BytesIO(source)
    else:
        path = Path(source)
        shown = name or str(path)
        try:
            file = path.open("rb")
            size = os.fstat(file.fileno()).st_size
        except (OSError, ValueError) as error:
            problem = (getattr(error, "strerror", None) or str(error)).lower()
            fix = "Check the path and its permissions."
            raise FileFormatError(shown, "", problem, fix) from error
    if largest is not None and size > largest:
        file.close()
        raise FileFormatError(
            shown,
            "",
            f"the file has {size:,} bytes, more than {largest:,}",
            "Count the words of a part of it.",
        )
    return file, shown, size


def chunks(
    file: IO[bytes], name: str, size: int, column: str | None
) -> Iterator[tuple[float, list[str]]]:
    """The texts in lists of about a million characters, and the share of the file read by then."""
    if is_parquet(file):
        yield from _parquet_chunks(file, name, column)
        return
    yield from table_texts(file, name, size, column)


def table_texts(
    file: IO[bytes], name: str, size: int, column: str | None, bad: OnBad | None = None
) -> Iterator[tuple[float, list[str]]]:
    """As `chunks`, of lines, or of a table with separators; ``bad`` gets errors instead."""
    separator = separator_of(name)
    texts: Iterator[str] = _lines(file, name)
    if separator is not None or column is not None:
        texts = _cells(_rows(file, name, separator or ",", bad), name, column, bad)
    chunk: list[str] = []
    length = 0
    for text in texts:
        chunk.append(text)
        length += len(text)
        if length > CHUNK:
            # What is counted is characters, so the share is a guess that stays below 1.
            yield min(file.tell() / max(size, 1), 1.0), chunk
            chunk, length = [], 0
    yield 1.0, chunk


def _lines(
    file: IO[bytes], name: str, longest: int = -1, bad: OnBad | None = None
) -> Iterator[str]:
    lines = _whole_or_cut(file) if longest < 0 else iter(partial(file.readline, longest), b"")
    number = 0
    ended = True
    for line in lines:
        number, ended = number + ended, line.endswith(b"\n")
        try:
            if len(line) == longest and not line.endswith(b"\n"):
                problem = f"the line has {longest:,} bytes or more"
                fix = "Cut it into several lines."
                raise FileFormatError(name, f"line {number:,}", problem, fix)
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                problem = f"byte 0x{line[error.start]:02X} is not valid UTF-8"
                fix = "Save the file as UTF-8."
                raise FileFormatError(name, f"line {number:,}", problem, fix) from error
        except FileFormatError as error:
            if bad is None:
                raise
            bad(error)


def _whole_or_cut(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of running text; one that is longer than a chunk is cut at its spaces.

    As a whole, its words would take many times its length in memory.
    """
    held = b""
    while part := file.readline(CHUNK):
        part, held = held + part, b""
        if len(part) >= CHUNK and not part.endswith(b"\n"):
            end = part.rfind(b" ") + 1
            part, held = part[:end], part[end:]
        if part:
            yield part
    if held:
        yield held


# ------------------------------------------------------------------------- csv


def separator_of(name: str) -> str | None:
    """What separates the columns of a table of this name; None for plain text."""
    return _SEPARATORS.get(ending_of(name))


def ending_of(name: str) -> str:
    """The ending of a file's name in lower case, without what says that it is packed.

    >>> ending_of("a.b/Titles.CSV.gz"), ending_of("a.b/titles")
    ('.csv', '')
    """
    plain = name.lower()
    for ending in PACKED:
        plain = plain.removesuffix(ending)
    return Path(plain).suffix


def _rows(
    file: IO[bytes], name: str, separator: str, bad: OnBad | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that are not empty, with the lines at which they end."""
    # The usual limit, 131,072 characters, is less than a long text has; the same for all threads.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    lines = _lines(file, name, LONGEST_LINE, bad)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            wrong = FileFormatError(
                name,
                f"line {reader.line_num:,}",
                f"this is not a table ({error})",
                "Correct the line; quotes inside a quoted text are doubled.",
            )
            if bad is None:
                raise wrong from error
            bad(wrong)
            continue
        if row:
            yield reader.line_num, row


def _header(rows: Iterator[tuple[int, list[str]]], name: str) -> list[str]:
    first = next(rows, None)
    if first is None:
        raise FileFormatError(name, "", "the file is empty", "Choose a file with a header line.")
    return first[1]


def _cells(
    rows: Iterator[tuple[int, list[str]]], name: str, column: str | None, bad: OnBad | None = None
) -> Iterator[str]:
    return (text for _, text in _labelled(rows, name, column, None, bad))


def labelled_cells(
    file: IO[bytes], name: str, column: str | None, by: str | None, bad: OnBad
) -> Iterator[tuple[str, str]]:
    """The texts of a table with separators, each behind what the column ``by`` says of it."""
    return _labelled(_rows(file, name, separator_of(name) or ",", bad), name, column, by, bad)


def _labelled(
    rows: Iterator[tuple[int, list[str]]],
    name: str,
    column: str | None,
    by: str | None,
    bad: OnBad | None,
) -> Iterator[tuple[str, str]]:
    columns = _header(rows, name)
    place, label = places_of(columns, column, by, name, "line 1")
    for line, row in rows:
        if len(row) > len(columns):
            problem = f"it has {len(row)} fields, the header has {len(columns)}"
            fix = "Put texts that contain the separator in quotes."
            wrong = FileFormatError(name, f"line {line:,}", problem, fix)
            if bad is None:
                raise wrong
            bad(wrong)
        elif place < len(row):
            said = "" if label is None or label >= len(row) else row[label].strip()
            if label is not None and bad is not None and not said:
                bad(without_label(name, f"line {line:,}", by))
                continue
            yield said, row[place]


def places_of(
    columns: list[str], column: str | None, by: str | None, name: str, place: str
) -> tuple[int, int | None]:
    """The numbers of the column with the text and of the one that says what it is, if asked for."""
    label = None if by is None else columns.index(chosen_column(columns, by, name, place))
    others = [text for text in columns if text != by]
    return columns.index(chosen_column(others, column, name, place)), label


def without_label(name: str, place: str, by: str | None) -> FileFormatError:
    """The error of a text of which its column does not say what it is."""
    problem = f"its “{(by or '')[:40]}” is empty, or no text"
    return FileFormatError(name, place, problem, "Fill it in, or leave it out: --bad-lines skip.")


def chosen_column(columns: list[str], column: str | None, name: str, place: str) -> str:
    listed = ", ".join(f"“{text[:40]}”" for text in columns[:20]) or "none with text"
    if column is not None:
        if column in columns:
            return column
        problem = f"there is no column “{column[:40]}”"
        raise FileFormatError(name, place, problem, f"Its columns: {listed}.")
    usual = [text for text in columns if text.strip().lower() in _USUAL]
    found = columns if len(columns) == 1 else usual
    if len(found) != 1:
        problem = "it has several columns" if len(columns) > 1 else "it has no column of text"
        raise FileFormatError(name, place, problem, f"Name the one with the text: {listed}.")
    return found[0]


# ------------------------------------------------------------------------- parquet


def is_parquet(file: IO[bytes]) -> bool:
    """Whether a file that stands at its start begins as parquet does; it stays there."""
    if not file.seekable():
        return False
    start = file.read(4)
    file.seek(0)
    return starts_as_parquet(start)


def text_fields(table: Any) -> list[str]:
    from pyarrow import types

    found = []
    for field in table.schema_arrow:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
            found.append(field.name)
    return found


def _parquet_chunks(
    file: IO[bytes], name: str, column: str | None
) -> Iterator[tuple[float, list[str]]]:
    table = open_parquet(file, name)
    fields = text_fields(table)
    chosen = chosen_column(fields, column, name, "its columns of text")
    rows, done = max(table.metadata.num_rows, 1), 0
    # Small batches keep long texts out of memory; short ones are gathered.
    texts: list[str] = []
    length = 0
    for batch in parquet_batches(file, table, [chosen], 500, name):
        try:
            found = [text for text in batch.column(0).to_pylist() if text]
        except ValueError as error:  # such as text that is not UTF-8
            raise broken_parquet(name, error) from error
        done += batch.num_rows
        texts += found
        length += sum(map(len, found))
        if length > CHUNK:
            yield min(done / rows, 1.0), texts
            texts, length = [], 0
    yield 1.0, texts

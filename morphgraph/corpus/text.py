"""Texts line by line: plain text, csv, tsv, JSON lines and Parquet, with the place of bad lines.

DuckDB reads what is large and sound (`corpus.counting_sql`); this reads all else, reports what is
wrong and where, and skips bad lines on request.
"""

import codecs
import csv
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from morphgraph.core.errors import FileFormatError
from morphgraph.core.isolated import read_isolated
from morphgraph.core.limits import TEXT_WORDS
from morphgraph.corpus.counts import LARGEST_FILE, WordCounts
from morphgraph.corpus.text_files import Parquet, TextKind, ending_of, kind_of, on_disk

LONGEST_LINE = 2**24
"""The limit in bytes of a line or text in a table or JSON."""

LONGEST_WORD = 2**20
"""The limit in bytes of a word: longer ones are not text, and many would exhaust memory."""

BadLines = Literal["stop", "skip"]
Progress = Callable[[float], None] | None

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_USUAL = ("text", "sentence", "content")
_CHUNK = 2**20
_LONGEST_TEXT = 2**20
_SPACES: tuple[bytes, ...] = (b" ", b"\n", b"\t", b"\r", b"\v", b"\f")


@dataclass
class BadTexts:
    """Unreadable texts that were left out: how many, and the first ones."""

    policy: BadLines = "stop"
    count: int = 0
    first: list[str] = field(default_factory=list)

    def __call__(self, error: FileFormatError) -> None:
        if self.policy == "stop":
            raise error
        self.count += 1
        if len(self.first) < 5:
            self.first.append(": ".join(str(error).rsplit(f". {error.fix}", 1)[:1]))


def read_text(
    source: str | os.PathLike[str] | bytes,
    name: str | None = None,
    *,
    column: str | None = None,
    progress: Progress = None,
) -> WordCounts:
    """Count the words of a file or its bytes: plain text, csv, tsv, JSON lines or Parquet by name.

    ``column`` names the column or field of the text; by default, it is the only one, or one called
    text, sentence or content. A file of any other name is a csv if ``column`` is given, else plain.
    ``progress`` is called repeatedly with a number from 0 to 1; an exception that it raises ends
    the reading. Raises `FileFormatError`, with file and place, if the file is missing, empty,
    larger than a gigabyte, not UTF-8 or no table of its kind, lacks the column, or has
    too many different words.
    """
    file, shown, size, kind = _open_text(source, name, column)
    with file:
        if kind == "parquet":
            with on_disk(source if isinstance(source, bytes) else Path(source)) as path:
                counts = Counter(dict(read_isolated(count_parquet, str(path), shown, column)))
        else:
            counts = _counted(file, shown, kind, column, size, progress)
    if not counts:
        raise FileFormatError(shown, "", "it has no words", "Choose a file or column with text.")
    if progress is not None:
        progress(1.0)
    return WordCounts.from_mapping(dict(counts.most_common()))


def _counted(
    file: IO[bytes], name: str, kind: TextKind, column: str | None, size: int, progress: Progress
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for texts in texts_in(file, name, kind, column, BadTexts(), longest_word=size):
        counts.update(texts.decode().split())
        if len(counts) > TEXT_WORDS.value:
            found = f"it has {len(counts):,} different words and more"
            fix = "Count a part of it, count elsewhere and leave out rare words"
            raise TEXT_WORDS.exceeded(name, "", found, fix)
        if progress is not None:
            progress(min(file.tell() / max(size, 1), 1.0))
    return counts


def count_parquet(path: str, name: str, column: str | None) -> list[tuple[str, int]]:
    """Count the words of a Parquet file, as `read_text` does, in a process of its own."""
    with Path(path).open("rb") as file:
        return [*_counted(file, name, "parquet", column, 0, None).items()]


def text_columns(source: str | os.PathLike[str] | bytes, name: str | None = None) -> list[str]:
    """Return the columns of a csv, tsv or Parquet file that may hold text; none for plain text."""
    file, shown, _, kind = _open_text(source, name, None)
    with file:
        if kind == "parquet":
            with on_disk(source if isinstance(source, bytes) else Path(source)) as path:
                return list(map(str, read_isolated(parquet_columns, str(path), shown)))
        return _header(_rows(file, shown, BadTexts()), shown) if kind == "table" else []


def _open_text(
    source: str | os.PathLike[str] | bytes, name: str | None, column: str | None
) -> tuple[IO[bytes], str, int, TextKind]:
    """Return the file, its name in errors, its size in bytes, and its kind."""
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
    if size > LARGEST_FILE:
        file.close()
        problem = f"the file has {size:,} bytes, more than {LARGEST_FILE:,}"
        raise FileFormatError(shown, "", problem, "Count the words of a part of it.")
    start = b""
    if file.seekable():
        start = file.read(4)
        file.seek(0)
    return file, shown, size, kind_of(start, shown, column)


# ------------------------------------------------------------------------- texts


def texts_in(
    file: IO[bytes],
    name: str,
    kind: TextKind,
    column: str | None,
    bad: BadTexts,
    longest_word: int = LONGEST_WORD,
) -> Iterator[bytes]:
    """Yield the texts of a file in UTF-8, about a megabyte at a time, never ending inside a word.

    Lines that cannot be read, and more than ``longest_word`` bytes without white space, are
    reported to ``bad``.
    """
    if kind == "plain":
        yield from _pieces(file, name, bad, longest_word)
        return
    for found in labelled_texts(file, name, kind, column, None, bad):
        yield b"\n".join(found.get("", ()))


def labelled_texts(
    file: IO[bytes], name: str, kind: TextKind, column: str | None, by: str | None, bad: BadTexts
) -> Iterator[dict[str, list[bytes]]]:
    """Yield batches of a file's texts, grouped by the column or field ``by``.

    Each line of plain text of up to a megabyte, and each cell of a table, is a text. Without
    ``by``, all have the label ``""``. Plain text has no columns: ``by`` is a `FileFormatError`.
    """
    if kind == "plain" and by is not None:
        problem = f"plain text has no column “{by[:40]}”"
        raise FileFormatError(name, "", problem, "Give a table, JSON lines or Parquet.")
    found: dict[str, list[bytes]] = {}
    size = 0
    for label, text in each_text(file, name, kind, column, by, bad):
        found.setdefault(label, []).append(text)
        size += len(text) + 1
        if size > _CHUNK:
            yield found
            found, size = {}, 0
    yield found


_Texts = Iterator[tuple[str, bytes]]
"""Labels and texts."""


def each_text(
    file: IO[bytes], name: str, kind: TextKind, column: str | None, by: str | None, bad: BadTexts
) -> _Texts:
    """Yield the texts of a file in order, each with its label; see `labelled_texts`."""
    texts = {"parquet": _cells, "table": _fields, "json": _objects, "plain": _plain_lines}[kind]
    return texts(file, name, column, by, bad)


def _plain_lines(
    file: IO[bytes], name: str, column: str | None, by: str | None, bad: BadTexts
) -> _Texts:
    rest = b""
    for lines in _pieces(file, name, bad, LONGEST_WORD):
        *texts, rest = (rest + lines).replace(b"\r\n", b"\n").split(b"\n")
        if len(rest) > _LONGEST_TEXT:
            texts, rest = [*texts, rest], b""
        yield from (("", text) for text in texts)
    yield "", rest


def _pieces(file: IO[bytes], name: str, bad: BadTexts, longest: int) -> Iterator[bytes]:
    """Yield batches of lines in UTF-8; lines longer than a batch are cut between words."""
    rest, line, is_dropped = b"", 1, False

    def checked(piece: bytes) -> bytes:
        nonlocal line
        first, line = line, line + piece.count(b"\n")
        return _good_lines(piece, first, name, bad)

    data = file.read(_CHUNK).removeprefix(codecs.BOM_UTF8)
    while data:
        end = data.rfind(b"\n") + 1 or max(map(data.rfind, _SPACES)) + 1
        if is_dropped and end:
            start = min(at for at in map(data.find, _SPACES) if at >= 0)
            yield checked(data[start:end])
            rest, is_dropped = data[end:], False
        elif end:
            yield checked(rest + data[:end])
            rest = data[end:]
        elif not is_dropped:
            rest += data
        if len(rest) > longest:
            problem = f"there are more than {longest:,} bytes without white space"
            bad(FileFormatError(name, f"line {line:,}", problem, "Leave out what is not text."))
            rest, is_dropped = b"", True
        data = file.read(_CHUNK)
    if rest:
        yield checked(rest)


def _good_lines(piece: bytes, first: int, name: str, bad: BadTexts) -> bytes:
    """Return the lines in UTF-8; others become empty, so that line numbers stay right."""
    if piece.isascii():
        return piece
    with suppress(UnicodeDecodeError):
        piece.decode()
        return piece
    lines = piece.split(b"\n")
    for place, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            bad(_not_utf8(name, first + place, error))
            lines[place] = b""
    return b"\n".join(lines)


def text_lines(file: IO[bytes], name: str, bad: BadTexts) -> Iterator[str]:
    """Yield the lines of a file as they are; a bad one is empty, so that numbers stay right."""
    number, ended = 0, True
    while line := file.readline(LONGEST_LINE):
        if not ended:  # the rest of a line that is too long
            ended = line.endswith(b"\n")
            continue
        number, ended = number + 1, line.endswith(b"\n") or len(line) < LONGEST_LINE
        text = ""
        if ended:
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                bad(_not_utf8(name, number, error))
        else:
            problem = f"there are {LONGEST_LINE:,} bytes or more in one line"
            bad(FileFormatError(name, f"line {number:,}", problem, "Cut it into several."))
        yield text


def _not_utf8(name: str, line: int, error: UnicodeDecodeError) -> FileFormatError:
    problem = f"byte 0x{error.object[error.start]:02X} is not valid UTF-8"
    return FileFormatError(name, f"line {line:,}", problem, "Save the file as UTF-8.")


# ------------------------------------------------------------------------- columns


def chosen_column(columns: list[str], column: str | None, name: str, place: str) -> str:
    """Return the text column: the one asked for, the only one, or one with a usual name."""
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


def _chosen(
    columns: list[str], column: str | None, by: str | None, name: str, place: str, *others: str
) -> tuple[str, str | None]:
    """Return the text column and, if asked for, that of labels, which may be one of ``others``."""
    label = None if by is None else chosen_column([*columns, *others], by, name, place)
    return chosen_column([each for each in columns if each != by], column, name, place), label


def _without_label(name: str, place: str, by: str | None) -> FileFormatError:
    problem = f"its “{(by or '')[:40]}” is empty, or no text"
    return FileFormatError(name, place, problem, "Fill it in, or leave it out: --bad-lines skip.")


# csv and tsv


def _rows(file: IO[bytes], name: str, bad: BadTexts) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty rows of a table, with the line at which each ends."""
    # The default limit of 131,072 characters is too low for long texts; it is global.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    separator = _SEPARATORS.get(ending_of(name), ",")
    reader = csv.reader(text_lines(file, name, bad), delimiter=separator, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"this is not a table ({error})"
            fix = "Correct the line; quotes inside a quoted text are doubled."
            bad(FileFormatError(name, f"line {reader.line_num:,}", problem, fix))
            continue
        if row:
            yield reader.line_num, row


def _header(rows: Iterator[tuple[int, list[str]]], name: str) -> list[str]:
    first = next(rows, None)
    if first is None:
        raise FileFormatError(name, "", "the file is empty", "Choose a file with a header line.")
    return first[1]


def _fields(
    file: IO[bytes], name: str, column: str | None, by: str | None, bad: BadTexts
) -> _Texts:
    rows = _rows(file, name, bad)
    columns = _header(rows, name)
    text, label_ = _chosen(columns, column, by, name, "line 1")
    place, label = columns.index(text), None if label_ is None else columns.index(label_)
    for line, row in rows:
        if len(row) > len(columns):
            problem = f"it has {len(row)} fields, the header has {len(columns)}"
            fix = "Put texts that contain the separator in quotes."
            bad(FileFormatError(name, f"line {line:,}", problem, fix))
        elif place < len(row):
            said = "" if label is None or label >= len(row) else row[label].strip()
            if label is not None and not said:
                bad(_without_label(name, f"line {line:,}", by))
            else:
                yield said, row[place].encode()


# JSON lines


def json_column(line: str | bytes, name: str, number: int) -> str | None:
    """Return the text field of an object in a line; None if it has none, or is no object."""
    with suppress(ValueError, RecursionError):
        row = json.loads(line)
        pairs = row.items() if isinstance(row, dict) else ()
        if fields := [key for key, value in pairs if isinstance(value, str)]:
            return chosen_column(fields, None, name, f"line {number:,}")
    return None


def _objects(
    file: IO[bytes], name: str, column: str | None, by: str | None, bad: BadTexts
) -> _Texts:
    for number, line in enumerate(text_lines(file, name, bad), start=1):
        if not line.strip():
            continue
        if column is None:
            column = json_column(line, name, number)
        try:
            yield _of_object(json.loads(line), column or "", by)
        except (ValueError, RecursionError) as error:
            problem = f"this is not a JSON object with text ({str(error)[:80]})"
            fix = "Correct it, or leave it out: --bad-lines skip."
            bad(FileFormatError(name, f"line {number:,}", problem, fix))


def _of_object(row: Any, column: str, by: str | None) -> tuple[str, bytes]:
    if not isinstance(row, dict):
        raise ValueError("it is no object")
    for wanted in (column, *([] if by is None else [by])):
        if wanted not in row:
            raise ValueError(f"it has no field “{wanted[:40]}”")
    text = "" if row[column] is None else row[column]
    if not isinstance(text, str):
        raise ValueError(f"its field “{column[:40]}” is no text")
    label = "" if by is None else row[by]
    if not isinstance(label, str) or (by is not None and not label.strip()):
        raise ValueError(f"its field “{(by or '')[:40]}” is empty, or no text")
    return label.strip(), text.encode()


# Parquet


def parquet_columns(path: str, name: str) -> list[str]:
    """Return the columns of a Parquet file that hold texts."""
    return text_fields(Parquet(path, name))


def text_fields(table: Parquet) -> list[str]:
    """Return the columns that hold texts; `FileFormatError` for a file of word counts."""
    if table.marked is not None:
        problem = "this is a file of word counts, not of text"
        fix = "Give it as word counts, as it is."
        raise FileFormatError(table.name, "", problem, fix)
    return [column for column, kind in table.columns.items() if kind == "VARCHAR"]


def sql_name(column: str) -> str:
    """Return a column's name in SQL."""
    return '"' + column.replace('"', '""') + '"'


def _cells(file: IO[bytes], name: str, column: str | None, by: str | None, bad: BadTexts) -> _Texts:
    table = Parquet(file.name, name)
    fields = text_fields(table)
    text, label = _chosen(fields, column, by, name, "its columns of text", *table.columns)
    said = "''" if label is None else f"{sql_name(label)}::varchar"
    chosen = f"{sql_name(text)} as text, {said} as label"
    ignored, replaced = (
        f"(select {chosen} from {table.rows_of[:-1]}, utf8_validation = '{way}'))"
        for way in ("ignore", "replace")
    )
    # What is not valid UTF-8 differs between the two.
    is_wrong = "a.text is distinct from b.text or a.label is distinct from b.label"
    rows = table.streamed(
        f"select a.text, a.label, {is_wrong} from {ignored} a positional join {replaced} b"
    )
    row = size = 0
    while some := rows.fetchmany(256):
        for text, said, wrong in some:
            row += 1
            said, data = (said or "").strip(), (text or "").encode()
            size += len(data) + 1
            if wrong:
                problem = "its text is not valid UTF-8"
                bad(FileFormatError(name, f"row {row:,}", problem, "Save the file again."))
            elif by is not None and not said:
                bad(_without_label(name, f"row {row:,}", by))
            else:
                yield said, data
        table.check_unpacked(size)

"""From a path or bytes to lines of text, without guessing an encoding."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import TypeVar

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import text_memory
from morphgraph.core.limits import (
    LINE_CHARACTERS,
    REFERENCE_LINES,
    TEXT_MEMORY,
    WORD_CHARACTERS,
    WORD_MORPHEMES,
)
from morphgraph.core.signatures import recognised
from morphgraph.reference.entry import Entry, Skipped

MAX_LINE_CHARACTERS = LINE_CHARACTERS.value
MAX_WORD_CHARACTERS = WORD_CHARACTERS.value
MAX_MORPHEMES = WORD_MORPHEMES.value

_BOMS = (  # UTF-32 first: its mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_EXCEL_HINT = re.compile(r'\s*"?sep=(?:\\t|\W)?"?\s*', re.IGNORECASE)

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)

NumberedLine = tuple[int, str]  # 1-based number in the file, text without its line end
Line = TypeVar("Line")
Row = TypeVar("Row")


class Unusable(ValueError):
    """Why a line cannot be used; ``unaligned``: its entry without morphs, if it can have one."""

    unaligned: Entry | None = None


class Skips:
    """Counts, by reason, the lines that a reader skips.

    ``unaligned``: entries without morphs; ``layers``: how many lines each layer has; ``header``: a
    first line that looks like one.
    """

    def __init__(self) -> None:
        self._lines: dict[str, list[int]] = {}
        self.unaligned: list[Entry] = []
        self.layers: Counter[str] = Counter()
        self.header: Skipped | None = None

    def add(self, reason: str, line: int) -> None:
        """Count one line; lines may come in any order."""
        self._lines.setdefault(reason, []).append(line)

    def sorted(self) -> tuple[Skipped, ...]:
        """Return the reasons, the most frequent first; ties by their first line."""
        reasons = [Skipped(reason, len(lines), min(lines)) for reason, lines in self._lines.items()]
        return tuple(sorted(reasons, key=lambda s: (-s.count, s.first_line, s.reason)))

    def usable(
        self, lines: Iterable[tuple[int, Line]], read: Callable[[int, Line], Row], place: str = ""
    ) -> list[Row]:
        """Read each numbered line, and count those that are `Unusable`, for a reason at a place."""
        rows = []
        for number, line in lines:
            try:
                rows.append(read(number, line))
            except Unusable as reason:
                self.add(f"{reason}{place}", number)
                if reason.unaligned is not None:
                    self.unaligned.append(reason.unaligned)
        return rows


def decode_text(data: bytes, name: str, encoding: str | None = None) -> str:
    """Decode bytes by their byte order mark, else as UTF-8, unless `encoding` is given.

    Raises `FileFormatError` for a binary file, and at the first byte that does not decode: a wrong
    letter would be worse than no file.
    """
    if what := recognised(data, "gold")[0]:
        fix = "Give words and their morphs as text in UTF-8, such as tab-separated."
        raise FileFormatError(name, "", f"this is {what}, not text with words", fix)
    REFERENCE_LINES.check(max(data.count(b"\n"), data.count(b"\r")), name)
    TEXT_MEMORY.check(text_memory(data), name)
    marked = next((codec for bom, codec in _BOMS if data.startswith(bom)), None)
    codec = encoding or marked or "utf-8"
    try:
        text = data.decode(codec)
    except LookupError as error:
        problem, fix = f"the encoding {encoding!r} is unknown", "Use a name such as windows-1252."
        raise FileFormatError(name, "", problem, fix) from error
    except UnicodeError as error:
        fix = "Save the file as UTF-8, or choose its encoding, such as windows-1252."
        raise FileFormatError(name, *_undecodable(data, error, codec), fix) from error
    if "\0" in text:
        line = text.partition("\0")[0].count("\n") + 1
        problem = "there is a NUL character: this is binary, or UTF-16 without a byte order mark"
        raise FileFormatError(name, f"line {line}", problem, "Save it as text in UTF-8.")
    return text.removeprefix("\ufeff")


def nothing_read(
    name: str,
    label: str,
    formats: Iterable[str],
    skipped: Sequence[Skipped],
    unit: str = "line",
    otherwise: str = "there is only a header",
) -> FileFormatError:
    """Return the error for a file of a format without a single line, or row, that can be used."""
    reasons = "; ".join(f"{s.count:,} × {s.reason} (first: {unit} {s.first_line})" for s in skipped)
    return FileFormatError(
        name,
        f"{unit} {skipped[0].first_line}" if skipped else "",
        f"no {unit} can be read as {label}: " + (reasons or otherwise),
        f"Check the file, or choose another format: {', '.join(formats)}",
        quotes=unit != "line",  # rows are named with their sheet
    )


def has_mark(data: bytes) -> bool:
    """Return whether a byte order mark says in what encoding bytes are."""
    return any(data.startswith(bom) for bom, _ in _BOMS)


def _undecodable(data: bytes, error: UnicodeError, codec: str) -> tuple[str, str]:
    """Return the place of an error in decoding, and the problem there."""
    if not isinstance(error, UnicodeDecodeError):
        return "", f"the file is not in {codec} ({error})"
    place = f"byte {error.start + 1}"
    if not codec.lower().startswith(("utf-16", "utf-32")):
        place = f"line {len(data[: error.start + 1].splitlines())}"
    problem = f"byte 0x{data[error.start] if data[error.start :] else 0:02X} is not valid"
    return place, f"{problem} {'UTF-8' if codec == 'utf-8' else codec}"


def split_lines(text: str) -> list[NumberedLine]:
    r"""Return the non-blank lines with their 1-based numbers.

    A first one that tells Excel the separator is left out. Lines end with \n, \r\n or \r only: the
    exotic line ends of `str.splitlines` stay in the text.

    >>> split_lines("sep=;\r\n\nundo;un do")
    [(3, 'undo;un do')]
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line and not line.isspace()]
    return lines[1:] if len(lines) > 1 and _EXCEL_HINT.fullmatch(lines[0][1]) else lines


def drop_long_lines(lines: list[NumberedLine], skips: Skips) -> list[NumberedLine]:
    """Return the lines of at most `MAX_LINE_CHARACTERS`, counting the others as skipped."""
    for number, line in lines:
        if len(line) > MAX_LINE_CHARACTERS:
            skips.add(f"line longer than {MAX_LINE_CHARACTERS:,} characters", number)
    return [numbered for numbered in lines if len(numbered[1]) <= MAX_LINE_CHARACTERS]


def check_word(word: str) -> str:
    """Raise `Unusable` unless a word can be an entry; return it."""
    if not word:
        raise Unusable("no word")
    if len(word) > MAX_WORD_CHARACTERS:
        raise Unusable(f"word longer than {MAX_WORD_CHARACTERS} characters")
    if len(word.split()) > 1 or word[0].isspace() or word[-1].isspace():
        raise Unusable("word with a space")
    return word


def is_word(text: str) -> bool:
    """Return whether a text can be the word of an entry."""
    try:
        return bool(check_word(text))
    except Unusable:
        return False


def check_morphemes(morphemes: Sequence[str]) -> None:
    """Raise `Unusable` without any morpheme, or with too many."""
    if not any(morphemes):
        raise Unusable("no morphs")
    if len(morphemes) > MAX_MORPHEMES:
        raise Unusable(f"more than {MAX_MORPHEMES} morphemes")


def is_number(cell: str) -> bool:
    """Return whether a cell is a finite decimal number, as counts are."""
    return _NUMBER.fullmatch(cell) is not None and isfinite(float(cell))


def tab_cells(line: str) -> list[str]:
    """Return the stripped cells of a line between tabs."""
    return [cell.strip() for cell in line.split("\t")]


def unquoted_cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line, without quotes."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return line.split(separator)


def quoted_cells(line: str, separator: str) -> list[str]:
    """Return the stripped cells of a line, without quotes."""
    return [cell.strip() for cell in unquoted_cells(line, separator)]


def named_columns(header: str, names: Sequence[str]) -> tuple[str, list[int]] | None:
    """Return a header's separator and the index of each named column, or None if one is missing.

    Columns may be in any order or case, among others.

    >>> named_columns(',Full_word,"rest"', ("full_word", "rest"))
    (',', [1, 2])
    """
    separator = max(",;\t", key=header.count)
    cells = [cell.lower() for cell in quoted_cells(header, separator)]
    if not all(name.lower() in cells for name in names):
        return None
    return separator, [cells.index(name.lower()) for name in names]

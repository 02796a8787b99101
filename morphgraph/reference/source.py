"""From a path or bytes to lines of text, without ever guessing an encoding."""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Sequence

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import check_size, read_bytes
from morphgraph.reference.entry import Skipped

MAX_LINE_CHARACTERS = 10_000
MAX_WORD_CHARACTERS = 200
MAX_MORPHEMES = 200

_BOMS = (  # UTF-32 first: its mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY = (
    (b"PK\x03\x04", "a zip archive or an Excel file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls), or one with a password"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF-", "a PDF"),
)

NumberedLine = tuple[int, str]  # 1-based number in the file, text without its line end


class Skips:
    """Counts the lines a reader leaves out, by reason."""

    def __init__(self) -> None:
        self._reasons: dict[str, list[int]] = {}

    def add(self, reason: str, line: int) -> None:
        """Count one line; readers call it in any order of lines."""
        tally = self._reasons.setdefault(reason, [0, line])
        tally[0] += 1
        tally[1] = min(tally[1], line)

    def sorted(self) -> tuple[Skipped, ...]:
        """The reasons, the most frequent first; equally frequent ones by their first line."""
        found = [Skipped(reason, n, first) for reason, (n, first) in self._reasons.items()]
        return tuple(sorted(found, key=lambda s: (-s.count, s.first_line, s.reason)))


def load_bytes(source: str | os.PathLike[str] | bytes, name: str) -> bytes:
    """The bytes of a file, or the bytes given; an error if there are none, or too many."""
    if isinstance(source, bytes):
        check_size(name, len(source))
        return source
    return read_bytes(source, name)


def decode_text(data: bytes, name: str, encoding: str | None = None) -> str:
    """The text of the bytes: by their byte order mark, else UTF-8, unless `encoding` is given.

    Raises `FileFormatError` for a binary file, and at the first byte that does not decode: a
    wrong letter would be worse than no file.
    """
    for magic, what in _BINARY:
        if data.startswith(magic):
            raise FileFormatError(
                name, "", f"this is {what}, not text", "Export it as tab-separated text in UTF-8."
            )
    marked = next((codec for bom, codec in _BOMS if data.startswith(bom)), None)
    try:
        text = data.decode(encoding or marked or "utf-8")
    except LookupError as error:
        raise FileFormatError(
            name, "", f"the encoding {encoding!r} is unknown", "Use a name such as windows-1252."
        ) from error
    except UnicodeDecodeError as error:
        raise _undecodable(data, name, error, encoding or marked) from error
    except UnicodeError as error:
        raise FileFormatError(
            name, "", f"the file is not in {encoding or marked} ({error})", "Save it as UTF-8."
        ) from error
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        problem = "there is a NUL character: this is a binary file, or UTF-16 without its mark"
        raise FileFormatError(name, f"line {line}", problem, "Save it as text in UTF-8.")
    return text.removeprefix("\ufeff")


def decode_windows_1252(data: bytes) -> str | None:
    """The text of the bytes in windows-1252, or None if they cannot be that."""
    if any(data.startswith(bom) for bom, _ in _BOMS) or b"\0" in data:
        return None
    try:
        return data.decode("windows-1252")
    except UnicodeDecodeError:
        return None


def _undecodable(
    data: bytes, name: str, error: UnicodeDecodeError, encoding: str | None
) -> FileFormatError:
    place = f"byte {error.start + 1}"
    if encoding is None or not encoding.lower().startswith(("utf-16", "utf-32")):
        before = data[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        line = before.count(b"\n") + 1
        place = f"line {line}"
    byte = data[error.start] if error.start < len(data) else 0
    return FileFormatError(
        name,
        place,
        f"the byte 0x{byte:02X} is not {encoding or 'UTF-8'}",
        "Save the file as UTF-8, or choose its encoding, such as windows-1252.",
    )


def split_lines(text: str) -> list[NumberedLine]:
    r"""The lines that are not blank, with their 1-based numbers.

    Lines end with \n, \r\n or \r only: the exotic line ends of `str.splitlines` stay in the text.

    >>> split_lines("a\r\n\nb")
    [(1, 'a'), (3, 'b')]
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return [(i, line) for i, line in enumerate(text.split("\n"), 1) if line and not line.isspace()]


def drop_long_lines(lines: list[NumberedLine], skips: Skips) -> list[NumberedLine]:
    """The lines of at most `MAX_LINE_CHARACTERS`; the others are counted as skipped."""
    kept = []
    for number, line in lines:
        if len(line) > MAX_LINE_CHARACTERS:
            skips.add(f"line longer than {MAX_LINE_CHARACTERS:,} characters", number)
        else:
            kept.append((number, line))
    return kept


def word_problem(word: str) -> str | None:
    """Why a word cannot be an entry, or None if it can.

    >>> word_problem("Costa Rica")
    'word with a space'
    """
    if not word:
        return "no word"
    if len(word) > MAX_WORD_CHARACTERS:
        return f"word longer than {MAX_WORD_CHARACTERS} characters"
    if len(word.split()) > 1 or word[0].isspace() or word[-1].isspace():
        return "word with a space"
    return None


def table_cells(line: str, separator: str) -> list[str]:
    """The cells of a line, without quotes and the spaces around them."""
    try:
        cells = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


def table_header(line: str, columns: Sequence[str]) -> tuple[str, dict[str, int]] | None:
    """The separator and the place of each column, or None if one of them is not named.

    The columns, given in lower case, may stand in any order and among others.

    >>> table_header(',Full_word,"rest"', ("full_word", "rest"))
    (',', {'full_word': 1, 'rest': 2})
    """
    separator = max(",;\t", key=line.count)
    names = [cell.lower() for cell in table_cells(line, separator)]
    if not all(column in names for column in columns):
        return None
    return separator, {column: names.index(column) for column in columns}

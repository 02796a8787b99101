"""MorphoLex: an Excel workbook with one sheet for each number of affixes and roots.

Sheets named like `0-1-1` (prefixes, roots, suffixes) are read, by their columns `Word` and
`MorphoLexSegm`, and `Nmorph` if there is one. In a segmentation, `<a<` is a prefix, `(litera)` a
root, `>ate>` a suffix, and braces hold a unit that can stand alone: `{<a<(litera)>ate>}`,
`{(sure)}{(foot)}>ness>`. Morphemes are canonical and are aligned to the word; inflections are not
segmented. An underscore only distinguishes morphemes of equal spelling.

An outermost unit in braces is one whole word; affixes outside join the adjacent unit.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from math import inf, isnan, nan
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from morphgraph.core import isolated
from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import REFERENCE_LINES
from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry, MorphemeKind, pieces, processes_of
from morphgraph.reference.source import (
    MAX_LINE_CHARACTERS,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    usable_rows,
)

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

_SHEET = re.compile(r"\d+-\d+-\d+", re.ASCII)
_TOKEN = re.compile(r"<([^<>(){}]+)<|\(([^<>(){}]+)\)|>([^<>(){}]+)>|([{}])")
_KINDS = (MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.SUFFIX)
_BRACKETS = frozenset("<>(){}")
_COLUMNS = ("word", "morpholexsegm", "nmorph")
_MOST_COLUMNS = 256
"""The columns searched for the three."""


class Parsed(NamedTuple):
    """A segmentation: morphemes, their kinds, and the index of each one's whole word."""

    morphemes: list[str]
    kinds: list[MorphemeKind]
    pieces: list[int]


def parse_segmentation(text: str) -> Parsed | None:
    """Parse a segmentation, or return None where it is malformed.

    >>> parse_segmentation("{(sure)}{(foot)}>ness>").pieces
    [0, 1, 1]
    >>> parse_segmentation("{<a<(litera)>ate>}").morphemes
    ['a', 'litera', 'ate']
    """
    morphemes: list[str] = []
    kinds: list[MorphemeKind] = []
    outer: list[MorphemeKind] = []  # kinds of the outermost elements, a unit in braces as one
    owners: list[int] = []  # index in `outer` for each morpheme
    depth = at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        at = found.end()
        if found.group(4) == "{":
            if depth == 0:
                outer.append(MorphemeKind.FREE)
            depth += 1
        elif found.group(4):
            depth -= 1
            if depth < 0:
                return None
        else:
            kind = _KINDS[(found.lastindex or 1) - 1]
            morpheme = found.group(found.lastindex or 1).replace("_", "").strip()
            if not morpheme:
                return None
            if depth == 0:
                outer.append(kind)
            morphemes.append(morpheme)
            kinds.append(kind)
            owners.append(len(outer) - 1)
    if depth or not morphemes:
        return None
    numbers = pieces(outer)
    return Parsed(morphemes, kinds, [numbers[owner] for owner in owners])


def _text(value: Any) -> str:
    """Return a cell's text; `true` and `false`, which spreadsheets read as booleans, too."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.strip() if isinstance(value, str) else ""


def _number(value: Any) -> float:
    try:
        return float(value) if isinstance(value, int | float) else nan
    except OverflowError:
        return inf


def _row(number: int, cells: tuple[str, str, float]) -> SourceRow:
    """A row, from its cells of the three columns."""
    word, segmentation, morphs = cells
    if not word or not _BRACKETS.isdisjoint(word):
        raise Unusable("the cell of the word holds something else")
    check_word(word)
    if not segmentation:
        raise Unusable("no segmentation")
    parsed = parse_segmentation(segmentation) if len(segmentation) <= MAX_LINE_CHARACTERS else None
    if parsed is None:
        raise Unusable("segmentation not well-formed")
    morphemes, kinds, numbers = parsed
    check_morphemes(morphemes)
    if not isnan(morphs) and morphs != len(morphemes):
        raise Unusable("Nmorph is not the number of morphemes")
    formed = processes_of(kinds)
    return SourceRow(number, word, morphemes, numbers, kinds=kinds, processes=formed)


def _places(book: _Book, title: str, name: str) -> list[int | None]:
    """Return where the first row of a sheet names the three columns; the last is optional."""
    _, header = next(book.rows(title, _MOST_COLUMNS, last=1), (1, ()))
    names = [cell.strip().lower() if isinstance(cell, str) else "" for cell in header]
    places = [names.index(column) if column in names else None for column in _COLUMNS]
    if None in places[:2]:
        raise FileFormatError(
            name,
            f"sheet {title}, row 1",
            "no columns Word and MorphoLexSegm",
            "Name the columns as in MorphoLex, or rename the sheet if it is not from MorphoLex.",
        )
    return places


def rows_of(data: bytes, name: str) -> list[tuple[str, int, str, str, float]]:
    """Return the rows of all sheets named N-N-N: the sheet, the row's number and three cells.

    The third is NaN where it is missing or not a number. `FileFormatError` as in `read_morpholex`.
    """
    found = []
    with _open_book(data, name) as book:
        titles = [title for title in book.titles if _SHEET.fullmatch(title)]
        if not titles:
            others = ", ".join(title[:40] for title in book.titles[:10]) or "none"
            raise FileFormatError(
                name,
                "",
                f"no sheet is named like 0-1-1 (prefixes-roots-suffixes); its sheets: {others}",
                "Choose a MorphoLex workbook, or save your list as tab-separated text.",
            )
        for title in titles:
            places = _places(book, title, name)
            width = 1 + max(place for place in places if place is not None)
            for number, row in book.rows(title, width, first=2):
                word, parts, morphs = (None if at is None else row[at] for at in places)
                found.append((title, number, _text(word), _text(parts), _number(morphs)))
    return found


def read_morpholex(data: bytes, name: str, skips: Skips) -> list[Entry]:
    """Read a MorphoLex workbook (Sánchez-Gutiérrez et al. 2018) in a separate process.

    An entry's line is the row in its sheet; the reasons for skipped rows name the sheet. Raises
    `FileFormatError` for a file that is not a workbook, is damaged or encrypted, takes too much
    memory or time, has no sheet named N-N-N, or lacks the columns in one.
    """
    found = isolated.read_isolated(rows_of, data, name)
    REFERENCE_LINES.check(len(found), name)
    rows: list[SourceRow] = []
    for title, its_rows in groupby(found, itemgetter(0)):
        numbered = ((number, tuple(cells)) for _, number, *cells in its_rows)
        rows += usable_rows(numbered, skips, _row, f" (sheet {title})")
    return entries_from(rows)


# ------------------------------------------------------------------------------ workbooks

_ZIP_START = b"PK\x03\x04"
_ENCRYPTED = 1


def is_zip(data: bytes) -> bool:
    """Return whether bytes start like a zip archive, as workbooks do."""
    return data.startswith(_ZIP_START)


class _Book:
    """An open workbook: its sheet names, and their rows on demand."""

    def __init__(self, workbook: Workbook, name: str) -> None:
        self._workbook, self._name = workbook, name
        self.titles: tuple[str, ...] = tuple(sheet.title for sheet in workbook.worksheets)

    def rows(
        self, title: str, width: int, first: int = 1, last: int | None = None
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield the rows that hold anything in their first `width` cells.

        Each is its 1-based number in the sheet and the values of these cells.
        """
        sheet: Any = self._workbook[title]
        # A sheet's declared size may be wrong, and rows beyond it would be lost.
        sheet.reset_dimensions()
        rows = sheet.iter_rows(min_row=first, max_row=last, max_col=width, values_only=True)
        with _as_format_errors(self._name, f"sheet {title}"):
            for number, cells in enumerate(rows, first):
                if any(cell is not None for cell in cells):
                    yield number, cells


@contextmanager
def _open_book(data: bytes, name: str) -> Iterator[_Book]:
    """Open the bytes of an .xlsx file; `FileFormatError` says what is wrong with them."""
    import openpyxl

    with _as_format_errors(name, ""):
        for problem, fix in _problems(data):
            raise FileFormatError(name, "", problem, fix)
        workbook = openpyxl.load_workbook(
            io.BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
    try:
        yield _Book(workbook, name)
    finally:
        workbook.close()


@contextmanager
def _as_format_errors(name: str, place: str) -> Iterator[None]:
    """Turn any error of an untrusted file into a `FileFormatError`."""
    try:
        yield
    except (FileFormatError, MemoryError):
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise FileFormatError(
            name,
            place,
            "the zip archive or Excel file is damaged or cut off",
            "Copy or download it again. Export it as tab-separated text if it is not a MorphoLex "
            "workbook.",
        ) from error
    # openpyxl raises many kinds of errors on malformed workbooks; none may escape.
    except Exception as error:
        raise FileFormatError(
            name,
            place,
            f"the workbook cannot be read ({type(error).__name__})",
            "Open it in a spreadsheet program and save it as .xlsx again.",
        ) from error


def _problems(data: bytes) -> Iterator[tuple[str, str]]:
    """Return why an archive is not a readable workbook, and what to do."""
    if not is_zip(data):
        yield "this is not an Excel file (.xlsx)", "Choose another file or format."
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
    if any(member.flag_bits & _ENCRYPTED for member in members):
        yield "the archive is encrypted", "Save it without a password."
    names = {member.filename for member in members}
    if "[Content_Types].xml" not in names or not any(n.startswith("xl/") for n in names):
        yield "this is a zip archive, but not an Excel file", "Unpack it, and choose a file in it."

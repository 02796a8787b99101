"""MorphoLex: an Excel workbook with one sheet for each number of affixes and roots.

Sheets named like `0-1-1` are read, by their columns `Word` and `MorphoLexSegm`, and `Nmorph` if
there is one; docs/reference/formats.md explains segmentations such as `{(sure)}{(foot)}>ness>`.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from itertools import groupby
from math import inf, isnan, nan
from operator import itemgetter
from typing import Any

from morphgraph.core import isolated
from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import REFERENCE_LINES
from morphgraph.core.packed import ZIP_START
from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry, MorphemeKind, pieces, processes_of
from morphgraph.reference.readers import Reader
from morphgraph.reference.source import (
    MAX_LINE_CHARACTERS,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
)

_SHEET = re.compile(r"\d+-\d+-\d+", re.ASCII)
_TOKEN = re.compile(r"<[^<>(){}]+<|\([^<>(){}]+\)|>[^<>(){}]+>|.", re.S)
_FREE, _PREFIX, _SUFFIX = MorphemeKind.FREE, MorphemeKind.PREFIX, MorphemeKind.SUFFIX
_KINDS = {"{": _FREE, "(": _FREE, "<": _PREFIX, ">": _SUFFIX}
_ENCRYPTED = 1
_BRACKETS = frozenset("<>(){}")
_COLUMNS = ("word", "morpholexsegm", "nmorph")
_MOST_COLUMNS = 256
"""The columns searched for the three."""


def parse_segmentation(text: str) -> tuple[list[str], list[MorphemeKind], list[int]]:
    """Return the morphemes, their kinds, and the index of each one's whole word.

    `Unusable` where it is malformed. An underscore only distinguishes morphemes of equal spelling.
    """
    malformed = Unusable("segmentation not well-formed")
    morphemes: list[str] = []
    kinds: list[MorphemeKind] = []
    outer: list[MorphemeKind] = []  # kinds of the outermost elements, a unit in braces as one
    owners: list[int] = []  # index in `outer` for each morpheme
    depth = 0
    for token in _TOKEN.findall(text[: MAX_LINE_CHARACTERS + 1]):
        sign, morpheme = token[0], token[1:-1].replace("_", "").strip()
        if depth == 0 and sign in _KINDS:
            outer.append(_KINDS[sign])
        if morpheme:
            morphemes.append(morpheme)
            kinds.append(_KINDS[sign])
            owners.append(len(outer) - 1)
        elif token not in ("{", "}"):
            raise malformed
        depth += (token == "{") - (token == "}")
        if depth < 0:
            raise malformed
    if depth or not morphemes or len(text) > MAX_LINE_CHARACTERS:
        raise malformed
    numbers = pieces(outer)
    return morphemes, kinds, [numbers[owner] for owner in owners]


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
    morphemes, kinds, numbers = parse_segmentation(segmentation)
    check_morphemes(morphemes)
    if not isnan(morphs) and morphs != len(morphemes):
        raise Unusable("Nmorph is not the number of morphemes")
    formed = processes_of(kinds)
    return SourceRow(number, word, morphemes, numbers, kinds=kinds, processes=formed)


def rows_of(data: bytes, name: str) -> list[tuple[str, int, str, str, float]]:
    """Return the rows of all sheets named N-N-N: the sheet, the row's number and three cells.

    The third is NaN where it is missing or not a number. `FileFormatError` as in `read_morpholex`.
    """
    import openpyxl

    place = ""
    cells = []
    try:
        _check_archive(data, name)
        stream = io.BytesIO(data)
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        titles = [sheet.title for sheet in book.worksheets]
        for title in filter(_SHEET.fullmatch, titles):
            place, sheet = f"sheet {title}", book[title]
            # A sheet's declared size may be wrong, and rows beyond it would be lost.
            sheet.reset_dimensions()
            places = _places(sheet, place, name)
            width = 1 + max(at for at in places if at is not None)
            rows = sheet.iter_rows(min_row=2, max_col=width, values_only=True)
            for number, row in enumerate(rows, 2):
                if any(cell is not None for cell in row):
                    word, parts, morphs = (None if at is None else row[at] for at in places)
                    cells.append((title, number, _text(word), _text(parts), _number(morphs)))
    except (FileFormatError, MemoryError):
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        problem = "the zip archive or Excel file is damaged or cut off"
        fix = "Copy or download it again. Export it as tab-separated text if it is not a MorphoLex "
        raise FileFormatError(name, place, problem, f"{fix}workbook.") from error
    except Exception as error:  # openpyxl raises many kinds of errors on malformed workbooks
        problem = f"the workbook cannot be read ({type(error).__name__})"
        fix = "Open it in a spreadsheet program and save it as .xlsx again."
        raise FileFormatError(name, place, problem, fix) from error
    if not place:
        others = ", ".join(title[:40] for title in titles[:10]) or "none"
        problem = f"no sheet is named like 0-1-1 (prefixes-roots-suffixes); its sheets: {others}"
        fix = "Choose a MorphoLex workbook, or save your list as tab-separated text."
        raise FileFormatError(name, "", problem, fix)
    return cells


def _check_archive(data: bytes, name: str) -> None:
    """Raise `FileFormatError` for an archive that is not a readable workbook."""
    problem, fix = "", "Unpack it, and choose a file in it."
    if not data.startswith(ZIP_START):
        problem, fix = "this is not an Excel file (.xlsx)", "Choose another file or format."
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
        names = {member.filename for member in members}
        if any(member.flag_bits & _ENCRYPTED for member in members):
            problem, fix = "the archive is encrypted", "Save it without a password."
        elif "[Content_Types].xml" not in names or not any(n.startswith("xl/") for n in names):
            problem = "this is a zip archive, but not an Excel file"
    if problem:
        raise FileFormatError(name, "", problem, fix)


def _places(sheet: Any, place: str, name: str) -> list[int | None]:
    """Return where the first row of a sheet names the three columns; the last is optional."""
    rows = sheet.iter_rows(max_row=1, max_col=_MOST_COLUMNS, values_only=True)
    names = [cell.strip().lower() if isinstance(cell, str) else "" for cell in next(rows, ())]
    places = [names.index(column) if column in names else None for column in _COLUMNS]
    if None in places[:2]:
        problem = "no columns Word and MorphoLexSegm"
        fix = "Name the columns as in MorphoLex, or rename the sheet if it is not from MorphoLex."
        raise FileFormatError(name, f"{place}, row 1", problem, fix)
    return places


def read_morpholex(data: bytes, name: str, skips: Skips) -> list[Entry]:
    """Read a MorphoLex workbook (Sánchez-Gutiérrez et al. 2018) in a separate process.

    An entry's line is the row in its sheet; the reasons for skipped rows name the sheet. Raises
    `FileFormatError` for a file that is not a workbook, is damaged or encrypted, takes too much
    memory or time, has no sheet named N-N-N, or lacks the columns in one.
    """
    cells_of_rows = isolated.read_isolated(rows_of, data, name)
    REFERENCE_LINES.check(len(cells_of_rows), name)
    rows: list[SourceRow] = []
    for title, its_rows in groupby(cells_of_rows, itemgetter(0)):
        numbered = ((number, tuple(cells)) for _, number, *cells in its_rows)
        rows += skips.usable(numbered, _row, f" (sheet {title})")
    return entries_from(rows)


MORPHOLEX = Reader("MorphoLex workbook", read=read_morpholex, begins=ZIP_START)

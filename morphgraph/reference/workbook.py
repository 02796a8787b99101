"""Opening an .xlsx file without trusting it: what it unpacks to is known before it is unpacked.

An .xlsx file is a zip archive of XML. Refused before any of it is parsed: damaged and encrypted
archives, archives that are no workbook, those that unpack to too much or hold too many files or
XML elements, and XML with a document type, as only that can define entities.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from xml.parsers import expat

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import (
    BOOK_BYTES,
    BOOK_ELEMENTS,
    BOOK_FILES,
    BOOK_PARTS_BYTES,
    BOOK_ROWS,
    EMPTY_ROWS,
    ROW_ELEMENTS,
)
from morphgraph.core.text import shortened

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

MAX_COLUMNS = 256
"""Columns among which a header is looked for."""

ZIP_START = b"PK\x03\x04"
_DIRECTORY_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 1


def is_zip(data: bytes) -> bool:
    """Whether bytes start like a zip archive, as workbooks do."""
    return data.startswith(ZIP_START)


class Book:
    """An open workbook: the names of its sheets, and their rows one by one."""

    def __init__(self, workbook: Workbook, name: str) -> None:
        self._workbook, self._name, self._read, self._empty = workbook, name, 0, 0
        self._most_empty = EMPTY_ROWS.value
        self.titles: tuple[str, ...] = tuple(sheet.title for sheet in workbook.worksheets)

    def rows(
        self, title: str, width: int, first: int = 1, last: int | None = None
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """The rows that hold anything in their first `width` cells.

        Each is its 1-based number in the sheet and the values of these cells.
        """
        sheet: Any = self._workbook[title]
        # The size that the file claims for a sheet may be wrong, and rows beyond it would be lost.
        sheet.reset_dimensions()
        rows = sheet.iter_rows(min_row=first, max_row=last, max_col=width, values_only=True)
        found = self._filled(enumerate(rows, first), title)
        while True:
            with _clear_errors(self._name, f"sheet {title}"):
                row = next(found, None)
            if row is None:
                return
            self._read += 1
            if self._read > BOOK_ROWS.value:
                raise self._too_many(title, row[0], f"{BOOK_ROWS.value:,} rows")
            yield row

    def _filled(
        self, rows: Iterator[tuple[int, tuple[Any, ...]]], title: str
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """The rows that are not empty; openpyxl gives one for each number that has none."""
        empty: tuple[Any, ...] | None = None  # mostly the same one each time
        for row in rows:
            if row[1] is not empty:
                if any(cell is not None for cell in row[1]):
                    yield row
                    continue
                empty = row[1]
            self._empty += 1
            if self._empty > self._most_empty:
                raise self._too_many(title, row[0], f"{EMPTY_ROWS.value:,} empty rows")

    def _too_many(self, title: str, row: int, what: str) -> FileFormatError:
        return FileFormatError(
            self._name,
            f"sheet {title}, row {row:,}",
            f"the workbook has more than {what}",
            "Delete the empty rows and what is not needed.",
        )


@contextmanager
def open_book(data: bytes, name: str) -> Iterator[Book]:
    """Open the bytes of an .xlsx file; a `FileFormatError` says what is wrong with them."""
    import openpyxl

    with _clear_errors(name, ""):
        check_archive(data, name)
        workbook = openpyxl.load_workbook(
            io.BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
    try:
        yield Book(workbook, name)
    finally:
        workbook.close()


@contextmanager
def _clear_errors(name: str, place: str) -> Iterator[None]:
    """Whatever fails on a file from anywhere is the file's fault, and is said so."""
    try:
        yield
    except FileFormatError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise FileFormatError(
            name,
            place,
            "the zip archive or Excel file is damaged or cut off",
            "Copy or download it again. Export it as tab-separated text if it is not a MorphoLex "
            "workbook.",
        ) from error
    # openpyxl raises errors of many kinds on malformed workbooks; none may pass.
    except Exception as error:
        raise FileFormatError(
            name,
            place,
            f"the workbook cannot be read ({type(error).__name__})",
            "Open it in a spreadsheet program and save it as .xlsx again.",
        ) from error


def check_archive(data: bytes, name: str) -> None:
    """Refuse an archive that is not a workbook, is encrypted, or could do harm; see the module."""
    for problem, fix in _problems(data):
        raise FileFormatError(name, "", problem, fix)


def _problems(data: bytes) -> Iterator[tuple[str, str]]:
    """What is wrong with an archive and what to do, looked for only up to the first problem."""
    if not is_zip(data):
        yield "this is not an Excel file (.xlsx)", "Choose another file or format."
    if data.count(_DIRECTORY_ENTRY) > BOOK_FILES.value:  # counted before a list of them is made
        yield f"the archive holds more than {BOOK_FILES.value:,} files", "Choose a workbook."
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        names = {member.filename for member in members}
        if any(member.flag_bits & _ENCRYPTED for member in members):
            yield "the archive is encrypted", "Save it without a password."
        if "[Content_Types].xml" not in names or not any(n.startswith("xl/") for n in names):
            problem = "this is a zip archive, but not an Excel file"
            yield problem, "Unpack it, and choose a file in it."
        beside = [m for m in members if not m.filename.startswith("xl/worksheets/")]
        for what, chosen, limit in (
            ("the workbook", members, BOOK_BYTES.value),
            ("what is beside its sheets", beside, BOOK_PARTS_BYTES.value),
        ):
            size = sum(member.file_size for member in chosen)
            if size > limit:
                problem = f"{what} unpacks to {size:,} bytes, the limit is {limit:,}"
                yield problem, "Delete the sheets that are not needed."
        left = BOOK_ELEMENTS.value
        for member in members:
            with archive.open(member) as stream:
                scanned = scan(stream, left)
            left -= scanned.elements
            what = ""
            if scanned.has_document_type:
                what = "declares a document type, which no spreadsheet program writes"
            elif scanned.is_too_large:
                what = (
                    f"has too many XML elements, the limit is {BOOK_ELEMENTS.value:,}, and "
                    f"{ROW_ELEMENTS.value:,} in a row"
                )
            if what:
                problem = f"{shortened(repr(member.filename), 80)} {what}"
                yield problem, "Do not trust this file; save what is needed as a new .xlsx."


class _Enough(Exception):
    """The rest of the XML does not matter."""


@dataclass
class Scanned:
    """What a file of XML holds, as far as it was read."""

    elements: int = 0
    has_document_type: bool = False
    is_too_large: bool = False


def scan(stream: IO[bytes], limit: int) -> Scanned:
    """Count elements and attributes of XML, and look for a document type, keeping none of them.

    It stops at a document type, at more than `limit`, and at more in one row than may be.

    >>> scan(io.BytesIO(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), 9).has_document_type
    True
    >>> scan(io.BytesIO(b"<a><row r='1'/></a>"), 9)
    Scanned(elements=3, has_document_type=False, is_too_large=False)
    """
    found = Scanned()
    row_limit, row_elements = limit, ROW_ELEMENTS.value

    def declared(*_: object) -> None:
        found.has_document_type = True
        raise _Enough

    def begun(name: str, attributes: dict[str, str]) -> None:
        nonlocal row_limit
        found.elements += 1 + len(attributes)
        if name == "row" or name.endswith(":row"):
            row_limit = min(limit, found.elements + row_elements)
        if found.elements > row_limit:
            found.is_too_large = True
            raise _Enough

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = declared
    parser.StartElementHandler = begun
    try:
        while chunk := stream.read(65_536):
            parser.Parse(chunk, False)
    except (_Enough, expat.ExpatError):  # what is not XML holds no elements
        pass
    return found

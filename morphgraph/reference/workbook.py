"""Read an .xlsx file, a zip archive of XML, in a separate process (`core.isolated`)."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import FileFormatError, require

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

ZIP_START = b"PK\x03\x04"
_ENCRYPTED = 1


def is_zip(data: bytes) -> bool:
    """Return whether bytes start like a zip archive, as workbooks do."""
    return data.startswith(ZIP_START)


class Book:
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
def open_book(data: bytes, name: str) -> Iterator[Book]:
    """Open the bytes of an .xlsx file; `FileFormatError` says what is wrong with them."""
    require(f"{name}, a workbook,", "openpyxl")
    import openpyxl

    with _as_format_errors(name, ""):
        for problem, fix in _problems(data):
            raise FileFormatError(name, "", problem, fix)
        workbook = openpyxl.load_workbook(
            io.BytesIO(data), read_only=True, data_only=True, keep_links=False
        )
    try:
        yield Book(workbook, name)
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

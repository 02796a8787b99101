"""References in Parquet, read by DuckDB in a process of its own as the csv of their columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from morphgraph.core.errors import FileFormatError
from morphgraph.core.isolated import read_isolated
from morphgraph.core.limits import REFERENCE_LINES
from morphgraph.corpus.text_files import Parquet, on_disk, sql_name


def as_csv(data: bytes, name: str, columns: Iterable[str]) -> bytes:
    """Return the named columns of a Parquet file as csv, of which line n + 1 is row n.

    Case does not matter; a list in a cell is divided by spaces. `FileFormatError` if there is no
    such column, or the file is damaged or too large.
    """
    with on_disk(data) as path:
        return bytes(read_isolated(csv_of, path, name, sorted(columns)))


def csv_of(path: str, name: str, columns: list[str]) -> bytes:
    """Make the csv, in the process of its own."""
    table = Parquet(path, name)
    chosen = {own: kind for own, kind in table.columns.items() if own.lower() in columns}
    if not chosen:
        listed = ", ".join(each[:40] for each in list(table.columns)[:20])
        fix = "Call the columns word and morphs, or as in one of the formats of tables."
        raise FileFormatError(name, "", f"no column is known from a reference: {listed}", fix)
    cells = ", ".join(_as_text(sql_name(own), kind) for own, kind in chosen.items())
    REFERENCE_LINES.check(table.query(f"select count(*) from {table.rows_of}")[0][0], name)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(chosen)
    rows = table.streamed(f"select {cells} from {table.rows_of}")
    while some := rows.fetchmany(1024):
        writer.writerows([" ".join(cell.splitlines()) for cell in row] for row in some)
        table.check_unpacked(written.tell())
    return written.getvalue().encode()


def _as_text(column: str, kind: str) -> str:
    """Return what makes a text of a cell; a missing one, or NaN, is empty."""
    if kind == "VARCHAR[]":
        column = f"array_to_string({column}, ' ')"
    text = f"{column}::varchar"
    text = f"nullif({text}, 'nan')" if kind in ("FLOAT", "DOUBLE") else text
    return f"coalesce({text}, '')"

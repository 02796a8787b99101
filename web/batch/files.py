"""What a run left in its folder, read with care: anything may be missing, damaged or hostile."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import decode_utf8, read_bytes
from morphgraph.tables.model import cell_texts

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.batch.configuration import Evaluation
    from morphgraph.batch.report_data import TableSpec
    from morphgraph.tables.model import Table

MOST_ROWS = 2_000_000
LARGEST_RESULTS = 2**30
"""A small file can hold billions of equal rows: what would fill the memory is refused."""
_FIX = "Choose the results.parquet of a run, or start the run again."


def results_from(data: bytes, name: str, *, may_be_empty: bool = False) -> pd.DataFrame:
    """Results in long form from the bytes of a ``results.parquet``; else a `FileFormatError`.

    ``may_be_empty``: whether there may be no rows, as after a run in which no cell was done.
    """
    import pandas as pd
    import pyarrow
    from pyarrow import parquet

    from morphgraph.batch.results import read_results

    try:
        facts = parquet.read_metadata(io.BytesIO(data))
        groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
        schema = facts.schema.to_arrow_schema()
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise FileFormatError(
            name, "", "this is not a Parquet file, or a part of one", _FIX
        ) from error
    size = sum(group.total_byte_size for group in groups)
    if facts.num_rows > MOST_ROWS or size > LARGEST_RESULTS:
        problem = f"it holds {facts.num_rows:,} rows in {size:,} bytes, too much for results"
        raise FileFormatError(name, "", problem, _FIX)
    # Of no rows, Parquet may not know what they would hold.
    for field in schema if facts.num_rows else ():
        if field.name in _NUMBERS and not _is_number(field.type):
            problem = f"a value is not a number, but {field.type}"
            raise FileFormatError(name, f"column {field.name}", problem, _FIX)
    try:
        found = read_results(io.BytesIO(data))  # type: ignore[arg-type]  # pandas takes both
    except FileFormatError as error:
        raise FileFormatError(name, error.place, error.problem, error.fix) from error
    except (LookupError, AttributeError, NotImplementedError) as error:
        raise FileFormatError(name, "", "its columns are none of results", _FIX) from error
    if not isinstance(found, pd.DataFrame) or not found.columns.is_unique:
        raise FileFormatError(name, "", "a column is a duplicate", _FIX)
    _check_numbers(found, name)
    return found if may_be_empty else not_empty(found, name)


_NUMBERS = ("value", "low", "high", "p")


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_null(kind))


def _check_numbers(results: pd.DataFrame, name: str) -> None:
    """Refuse what is infinite: NaN is what has no value."""
    import numpy as np

    for column in _NUMBERS:
        infinite = np.flatnonzero(np.isinf(results[column].to_numpy(float)))
        if len(infinite):
            place = f"column {column}, row {infinite[0] + 1:,}"
            raise FileFormatError(name, place, "a value is not a number, but infinite", _FIX)


def not_empty(results: pd.DataFrame, name: str) -> pd.DataFrame:
    """Results that have rows; else a `FileFormatError`."""
    if not len(results):
        raise FileFormatError(name, "", "it holds no results", _FIX)
    return results


def read_run_results(folder: Path) -> pd.DataFrame:
    """The results of a run from its folder; without rows if no cell was done."""
    return results_from(
        read_bytes(folder / "results.parquet"), "results.parquet", may_be_empty=True
    )


def evaluation_of(folder: Path) -> Evaluation | None:
    """The configuration of a run; None if it cannot be read any more."""
    from morphgraph.batch.configuration import parse_evaluation

    try:
        path = folder / "configuration.yaml"
        return parse_evaluation(decode_utf8(read_bytes(path), path.name), path.name)[0]
    except MorphGraphError:
        return None


def specs_of(evaluation: Evaluation | None, results: pd.DataFrame) -> list[TableSpec]:
    """The tables that a configuration asks for, or the usual ones."""
    from morphgraph.batch.build_tables import usual_tables
    from morphgraph.batch.report_data import TableSpec

    asked = [] if evaluation is None else [TableSpec(**dict(one)) for one in evaluation.tables]
    return asked or usual_tables(results)


def column_titles(table: Table) -> list[str]:
    """The headings of a table's columns, those that are spread before the metric."""
    titles = [column.title for column in table.names]
    for column in table.columns:
        spread = ", ".join(part for part in column.spread if part)
        titles.append(f"{spread}: {column.title}" if spread else column.title)
    return titles


def table_has_intervals(table: Table) -> bool:
    """Whether any cell has an interval, or a spread over seeds."""
    return any(cell_texts(column, cell)[1] for cell, column in table.cells())


def files_in(folder: Path, pattern: str) -> dict[str, bytes]:
    """The files of a folder that match, by name; what cannot be read is left out."""
    found = {}
    for path in sorted(folder.glob(pattern)):
        data = file_content(path)
        if data is not None:
            found[path.name] = data
    return found


def file_content(path: Path) -> bytes | None:
    """The content of a file, None if it cannot be read."""
    try:
        return read_bytes(path)
    except MorphGraphError:
        return None


def first_of(options: Iterable[str], wanted: Iterable[str], most: int = 3) -> list[str]:
    """Those of the wanted that there are, else the first few.

    >>> first_of(["types", "recall", "f1"], ["precision", "recall", "f1"])
    ['recall', 'f1']
    """
    known = list(options)
    return [one for one in wanted if one in known] or known[:most]

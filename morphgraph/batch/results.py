"""The rows of all cells together, in the order of the plan."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.batch.names import vocabulary_metric
from morphgraph.batch.report_data import (
    LATER_COLUMNS,
    LOST,
    RESULT_COLUMNS,
    TASK_COLUMNS,
)
from morphgraph.batch.runner import TaskReport
from morphgraph.batch.store import Store, write_atomically
from morphgraph.batch.tasks import Task
from morphgraph.core.errors import FileFormatError
from morphgraph.tables.model import HELD_IN

if TYPE_CHECKING:
    import pandas as pd

_KINDS = {
    "vocab_size": "Int64",
    "seed": "Int64",
    "entries": "Int64",
    "value": "float64",
    "low": "float64",
    "high": "float64",
    "p": "float64",
}
_TASK_KINDS = {
    "seconds": "float64",
    "cpu_seconds": "float64",
    "peak_memory": "Int64",
    "from_store": "bool",
}
_RELATIVE = vocabulary_metric("relative_tokens")


def collected(cells: Sequence[Task], store: Store) -> pd.DataFrame:
    """The rows of the cells that are done (`RESULT_COLUMNS`)."""
    import numpy as np
    import pyarrow

    known = [(task, table) for task in cells if (table := store.read(task.key)) is not None]
    if not known:
        return _frame([], RESULT_COLUMNS, _KINDS)
    tables = [table.replace_schema_metadata() for _, table in known]
    found = pyarrow.concat_tables(tables).to_pandas()
    rows = [len(table) for table in tables]
    for name in ("cell", *cells[0].columns):
        values = [task.key if name == "cell" else task.columns[name] for task, _ in known]
        found[name] = np.repeat(np.array(values, object), rows)
    held_in = [HELD_IN if task.spec["held_in"] else "" for task, _ in known]
    found["held_in"] = np.repeat(np.array(held_in, object), rows)
    # Figures of a vocabulary and of the run are of no words.
    found.loc[found["scope"] == "", ["words", "held_in"]] = ""
    kinds = {name: _KINDS.get(name, "str") for name in RESULT_COLUMNS}
    return _with_relative_tokens(found[list(RESULT_COLUMNS)].astype(kinds), cells)


def _with_relative_tokens(results: pd.DataFrame, cells: Sequence[Task]) -> pd.DataFrame:
    """Tokens relative to the first tokeniser and method of the same language and corpus.

    A cell knows its own tokens only, so this is made where all of them are together; undefined
    where the first one failed.
    """
    relative = results["metric"] == _RELATIVE
    if not relative.any():
        return results
    first: dict[tuple[str, str], str] = {}
    for task in cells:
        if "relative_tokens" in task.spec["vocabulary"]:
            first.setdefault((task.columns["language"], task.columns["corpus"]), task.key)
    rows = results[relative]
    tokens = rows.set_index("cell")["value"]
    baseline = [
        tokens.get(first[place], float("nan"))
        for place in zip(rows["language"], rows["corpus"], strict=True)
    ]
    results.loc[relative, "value"] = rows["value"].to_numpy() / baseline
    return results


def with_failed(results: pd.DataFrame, reports: Sequence[TaskReport]) -> pd.DataFrame:
    """Results with a row for each cell that failed or was not run, in the plan's order."""
    import pandas as pd

    places = {report.task.key: place for place, report in enumerate(reports)}
    metrics = {state: metric for metric, state in LOST.items()}
    failed = [
        {"cell": report.task.key, **report.task.columns, "metric": metrics[report.state]}
        for report in reports
        if report.task.kind == "cell" and report.state in metrics
    ]
    if not failed:
        return results
    for row in failed:
        for name in ("scope", "weighting", "held_in", "signature"):
            row.setdefault(name, "")
    found = pd.concat([results, _frame(failed, RESULT_COLUMNS, _KINDS)])
    return found.sort_values("cell", key=lambda keys: keys.map(places), kind="stable").reset_index(
        drop=True
    )


def task_frame(reports: Iterable[TaskReport]) -> pd.DataFrame:
    """How each task ended (`TASK_COLUMNS`)."""
    return _frame([report.row() for report in reports], TASK_COLUMNS, _TASK_KINDS)


def _frame(
    rows: Sequence[dict[str, Any]], columns: Sequence[str], kinds: dict[str, str]
) -> pd.DataFrame:
    import pandas as pd

    found = pd.DataFrame(rows, columns=list(columns))
    return found.astype({name: kinds.get(name, "str") for name in columns})


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet, whole or not at all."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    write_atomically(path, buffer.getvalue())


def read_results(path: Path) -> pd.DataFrame:
    """The results of a run, from its ``results.parquet``; else a `FileFormatError`."""
    import pandas as pd
    import pyarrow

    fix = "Choose the results.parquet of a run, or start the run again."
    try:
        found = pd.read_parquet(path)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        problem = f"it cannot be read ({str(error).splitlines()[0][:120]})"
        raise FileFormatError(str(path), "", problem, fix) from error
    for name in LATER_COLUMNS:
        if name not in found.columns:
            found[name] = math.nan if _KINDS.get(name) == "float64" else ""
    missing = [name for name in RESULT_COLUMNS if name not in found.columns]
    if missing:
        raise FileFormatError(str(path), "", f"it has no column {missing[0]}", fix)
    twice = found.columns[found.columns.duplicated()]
    if len(twice):
        raise FileFormatError(str(path), "", f"a column is a duplicate ({twice[0]})", fix)
    for name in (name for name, kind in _KINDS.items() if kind == "Int64"):
        row = _first_not_whole(found[name])
        if row is not None:
            problem = f"{found[name].iloc[row]} is not a whole number"
            raise FileFormatError(str(path), f"column {name}, row {row + 1:,}", problem, fix)
    try:
        kinds = {name: _KINDS.get(name, "str") for name in RESULT_COLUMNS}
        return found[list(RESULT_COLUMNS)].astype(kinds)
    except (TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            str(path), "", f"a column is of another kind ({error})", fix
        ) from error


def _first_not_whole(column: pd.Series[Any]) -> int | None:
    """Where a value first stands that is there but is no whole number; None if there is none."""
    import numpy as np
    import pandas as pd

    if pd.api.types.is_integer_dtype(column):
        return None
    numbers = pd.to_numeric(column, errors="coerce").to_numpy("float64", na_value=np.nan)
    odd = column.notna().to_numpy() & ~(np.abs(numbers) < 2**53)
    odd |= np.isfinite(numbers) & (numbers != np.floor(numbers))
    return int(odd.argmax()) if odd.any() else None

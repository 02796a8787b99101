"""Results: their columns, specifications of tables, and the collection of all cells."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from morphgraph.batch.cell_rows import named_metrics, vocabulary_metric
from morphgraph.batch.tasks import Store, Task
from morphgraph.batch.yaml_reading import ListOrOne, Name, Strict
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.core.text import visible
from morphgraph.tables.model import HELD_IN

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.batch.runner import TaskReport

COLUMN_TITLES = {
    "language": "Language",
    "corpus": "Corpus",
    "tokeniser": "Tokeniser",
    "vocab_size": "Vocabulary size",
    "method": "Method",
    "parameters": "Parameters",
    "reference": "Reference",
    "task": "Task",
    "step": "Step",
    "scope": "Scope",
    "weighting": "Weighting",
    "words": "Words",
    "seed": "Seed",
}
"""The columns of results that identify a score, with their titles."""
DIMENSIONS = tuple(COLUMN_TITLES)
IDENTITY = DIMENSIONS[:-1]
"""The columns that, with the seed, distinguish scores of the same metric."""
ALL_LANGUAGES = "all languages"
"""The language of rows that are over all languages."""
COMPETITORS = ("tokeniser", "method", "parameters", "seed")
"""Rows that differ only in these compete; the best of them is bold."""

_KINDS = {
    **dict.fromkeys(("cell", *IDENTITY), "str"),
    "vocab_size": "Int64",
    "seed": "Int64",
    "step": "Int64",
    "metric": "str",
    **dict.fromkeys(("value", "low", "high", "p"), "float64"),
    "held_in": "str",
    "entries": "Int64",
    "signature": "str",
}
RESULT_COLUMNS = tuple(_KINDS)
_LATER = ("words", "p", "held_in", "task", "step")
"""Columns that results of earlier versions lack."""
_ABSENT: Mapping[str, float | None] = {"float64": nan, "Int64": None}

_TASK_KINDS = {
    "key": "str",
    "kind": "str",
    "label": "str",
    "state": "str",
    "seconds": "float64",
    "cpu_seconds": "float64",
    "peak_memory": "Int64",
    "worker": "str",
    "from_store": "bool",
    "message": "str",
}
TASK_COLUMNS = tuple(_TASK_KINDS)

FAILED, NOT_RUN = "", "not run"
LOST: Mapping[str, Literal["failed", "not run"]] = {FAILED: "failed", NOT_RUN: "not run"}
"""Metrics of rows for cells without scores, and how tables describe them."""


def held_out_words(share: float) -> str:
    """Return the value of ``words`` for scores on a share of unseen words.

    >>> held_out_words(0.5)
    '50 % held out'
    """
    return f"{100 * share:g} % held out"


class TableSpec(Strict):
    """A table of the report."""

    title: Name = Field(description="Its heading.")
    rows: Annotated[ListOrOne[str], Field(min_length=1)] = Field(
        description="Columns of the results that make the rows."
    )
    columns: ListOrOne[str] = Field(
        [], description="Columns of the results to show side by side for each metric."
    )
    metrics: ListOrOne[str] = Field([], description="Which metrics; all if none.")
    where: dict[str, ListOrOne[str]] = Field(
        {}, description="Only results with these values, by column."
    )
    note: str = Field("", description="Text below the table.")
    chart: Literal["bars", "lines", "none"] = Field("bars", description="The chart below it.")

    @model_validator(mode="after")
    def _known_columns(self) -> Self:
        for column in (*self.rows, *self.columns, *self.where):
            if column not in DIMENSIONS:
                known = ", ".join(DIMENSIONS)
                raise ValueError(f"results have no column “{column}”. Use some of: {known}.")
        for metric in self.metrics:
            if metric not in named_metrics():
                known = ", ".join(named_metrics())
                raise ValueError(f"“{metric}” is not a metric. Use some of: {known}.")
        return self


# ------------------------------------------------------------------------------ all cells


def collected(cells: Sequence[Task], store: Store) -> pd.DataFrame:
    """Return the rows of the finished cells (`RESULT_COLUMNS`)."""
    import numpy as np
    import pyarrow

    known = [(task, table) for task in cells if (table := store.read(task.key)) is not None]
    if not known:
        return _frame([], _KINDS)
    tables = [table.replace_schema_metadata() for _, table in known]
    found = pyarrow.concat_tables(tables).to_pandas()
    rows = [len(table) for table in tables]
    for name in ("cell", *cells[0].columns):
        values = [task.key if name == "cell" else task.columns[name] for task, _ in known]
        found[name] = np.repeat(np.array(values, object), rows)
    told = zip(found["parameters"], found.pop("variant"), strict=True)
    found["parameters"] = [", ".join(filter(None, each)) for each in told]
    held_in = [HELD_IN if task.spec["held_in"] else "" for task, _ in known]
    found["held_in"] = np.repeat(np.array(held_in, object), rows)
    # Figures of a vocabulary and of the run are not of words.
    found.loc[found["scope"] == "", ["words", "held_in"]] = ""
    return _with_parity(_with_relative_tokens(found[list(_KINDS)].astype(_KINDS), cells), cells)


def _with_parity(results: pd.DataFrame, cells: Sequence[Task]) -> pd.DataFrame:
    """Add relative tokens of parallel text, and Gini coefficients over languages.

    Both compare the same tokeniser and method; undefined if a language that they need failed, or
    the base language has no token.
    """
    import pandas as pd

    from morphgraph.score.corpus_measures import gini

    texts = {cell.key: cell.spec["parallel"] for cell in cells if "parallel" in cell.spec}
    if not texts:
        return results
    alike = ["corpus", "tokeniser", "vocab_size", "method", "parameters", "reference", "seed"]
    planned: dict[tuple[Any, ...], set[str]] = {}
    for cell in cells:
        if cell.key in texts:
            place = _place_of(cell.columns, alike)
            planned.setdefault(place, set()).add(cell.columns["language"])
    base = next(iter(texts.values()))["base"]
    own = results[results["metric"].str.startswith("parallel.")]
    placed: dict[tuple[str, ...], list[int]] = {}
    for number, row in zip(own.index, own[alike].to_dict("records"), strict=True):
        placed.setdefault(_place_of(row, alike), []).append(number)
    more: list[dict[str, Any]] = []
    for place, numbers in placed.items():
        rows = own.loc[numbers]
        relative = rows[rows["metric"] == "parallel.relative_tokens"]
        tokens = relative[relative["language"] == base]["value"].sum()
        results.loc[relative.index, "value"] = relative["value"] / (tokens or nan)
        for cost in ("line", "byte"):
            costs = rows[rows["metric"] == f"parallel.tokens_per_{cost}"]
            is_whole = set(costs["language"]) == planned[place] and len(costs) > 1
            value = gini(costs["value"].tolist()) if is_whole else nan
            names = {"metric": f"parallel.gini_{cost}", "language": ALL_LANGUAGES, "value": value}
            if len(planned[place]) > 1:
                more.append(dict(costs.iloc[0]) | names)
    return pd.concat([results, _frame(more, _KINDS)], ignore_index=True) if more else results


def _place_of(row: Mapping[Any, Any], names: Sequence[str]) -> tuple[str, ...]:
    """Return the key shared by rows of one tokeniser and method, without ``variant``."""
    return tuple(name_text(row[name]) for name in names)


def _with_relative_tokens(results: pd.DataFrame, cells: Sequence[Task]) -> pd.DataFrame:
    """Add tokens relative to the first tokeniser and method of each language and corpus.

    A cell only knows its own tokens, so this happens here; undefined if the first one failed.
    """
    relative = results["metric"] == vocabulary_metric("relative_tokens")
    if not relative.any():
        return results
    first: dict[tuple[str, str], str] = {}
    for task in cells:
        if "relative_tokens" in task.spec["vocabulary"]:
            first.setdefault((task.columns["language"], task.columns["corpus"]), task.key)
    rows = results[relative]
    tokens = rows.set_index("cell")["value"]
    baseline = [
        tokens.get(first[place], nan)
        for place in zip(rows["language"], rows["corpus"], strict=True)
    ]
    results.loc[relative, "value"] = rows["value"].to_numpy() / baseline
    return results


def with_failed(results: pd.DataFrame, reports: Sequence[TaskReport]) -> pd.DataFrame:
    """Add a row for each cell that failed or was not run, in the plan's order."""
    import pandas as pd

    places = {report.task.key: place for place, report in enumerate(reports)}
    metrics = {state: metric for metric, state in LOST.items()}
    texts = dict.fromkeys(("scope", "weighting", "held_in", "signature"), "")
    lost = [
        {**texts, "cell": report.task.key, **report.task.columns, "metric": metrics[report.state]}
        for report in reports
        if report.task.kind == "cell" and report.state in metrics
    ]
    if not lost:
        return results
    found = pd.concat([results, _frame(lost, _KINDS)])
    return found.sort_values("cell", key=lambda keys: keys.map(places), kind="stable").reset_index(
        drop=True
    )


def task_frame(reports: Iterable[TaskReport]) -> pd.DataFrame:
    """Return how each task ended (`TASK_COLUMNS`)."""
    return _frame([report.row() for report in reports], _TASK_KINDS)


def _frame(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def complete(frame: pd.DataFrame, columns: Sequence[str], what: str) -> pd.DataFrame:
    """Check that a table has all columns, adding them if it is empty without any.

    ``what``: a description of the table, for the `MorphGraphError` if columns are missing.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing and len(frame):
        raise MorphGraphError(
            f"The {what} lack the columns {', '.join(missing)}. Were they written by another "
            "version of morphgraph? Run the evaluation again."
        )
    return frame.reindex(columns=[*frame.columns, *missing]) if missing else frame


def name_text(value: object) -> str:
    """Return a value of a naming column as text; empty where there is none.

    >>> [name_text(value) for value in ("BPE", 8000, 8000.0, float("nan"), None)]
    ['BPE', '8000', '8000', '', '']
    """
    import pandas as pd

    if value is None or (not isinstance(value, str) and bool(pd.isna(value))):  # type: ignore[call-overload]
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return visible(str(value))


# ------------------------------------------------------------------------------ files


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet atomically."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    write_file(path, buffer.getvalue())


def read_results(path: Path) -> pd.DataFrame:
    """Read a run's results from its ``results.parquet``, or raise `FileFormatError`."""
    import pandas as pd
    import pyarrow

    def wrong(problem: str, place: str = "") -> FileFormatError:
        fix = "Choose the results.parquet of a run, or start the run again."
        return FileFormatError(str(path), place, problem, fix)

    try:
        found = pd.read_parquet(path)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise wrong(f"it cannot be read ({str(error).splitlines()[0][:120]})") from error
    for name in _LATER:
        if name not in found.columns:
            found[name] = _ABSENT.get(_KINDS[name], "")
    missing = [name for name in _KINDS if name not in found.columns]
    if missing:
        raise wrong(f"it has no column {missing[0]}")
    twice = found.columns[found.columns.duplicated()]
    if len(twice):
        raise wrong(f"a column is a duplicate ({twice[0]})")
    for name in (name for name, kind in _KINDS.items() if kind == "Int64"):
        row = _first_not_whole(found[name])
        if row is not None:
            problem = f"{found[name].iloc[row]} is not a whole number"
            raise wrong(problem, f"column {name}, row {row + 1:,}")
    try:
        return found[list(_KINDS)].astype(_KINDS)
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong(f"a column is of another kind ({error})") from error


def _first_not_whole(column: pd.Series[Any]) -> int | None:
    """Return the index of the first present value that is not whole; None if none."""
    import numpy as np
    import pandas as pd

    if pd.api.types.is_integer_dtype(column):
        return None
    numbers = pd.to_numeric(column, errors="coerce").to_numpy("float64", na_value=np.nan)
    odd = column.notna().to_numpy() & ~(np.abs(numbers) < 2**53)
    odd |= np.isfinite(numbers) & (numbers != np.floor(numbers))
    return int(odd.argmax()) if odd.any() else None

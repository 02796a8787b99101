"""Results in long form: their metrics and columns, and their collection from all cells."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from morphgraph.batch.tasks import Store, Task, TaskReport
from morphgraph.batch.yaml_reading import ListOrOne, Name, Strict
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import write_file
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import METRICS
from morphgraph.score.vocabulary_figures import FIGURES
from morphgraph.tables.model import ALL_WORDS, Column, Form

if TYPE_CHECKING:
    from morphgraph.batch.plan import Plan

# ------------------------------------------------------------------------------ metrics

FLOTA_METRICS = {
    "flota_coverage": Column("FLOTA coverage (C)", "percent", 1),
    "flota_stem_recall": Column("FLOTA stem recall (R)", "percent", 1),
    "flota_full_match": Column("FLOTA full match (M)", "percent", 1),
}
"""FLOTA's own scores, for methods that take the first, longest or all k tokens."""

_FACTS = {
    "types": Column("Types, |V|", "count"),
    "merges": Column("Merges", "count"),
    "removed": Column("Types knocked out", "count"),
    "iterations": Column("Iterations", "count"),
    "dropout_rate": Column("Effective dropout rate", "percent"),
    "share_of_merges": Column("Merges knocked out, share", "percent"),
}
"""What a cell reports about its method beside the scores."""


@cache
def named_metrics() -> dict[str, Column]:
    """Return every metric that results can hold, by key.

    >>> named_metrics()["f1"].title
    'F1 % ↑'
    """
    from morphgraph.models.downstream.tasks import downstream_metrics

    scores = {
        key: Column(metric.title, "percent" if metric.unit == "%" else "ratio", metric.better)
        for key, metric in METRICS.items()
    }
    forms: dict[str, Form] = {"count": "count", "share": "percent"}
    figures = {
        f"vocabulary.{figure.key}": Column(
            figure.label.removesuffix(", %"), forms.get(figure.form, "number")
        )
        for figure in FIGURES
    }
    tasks = {
        key: Column(metric.title, metric.form, metric.better)
        for key, metric in downstream_metrics().items()
    }
    return scores | FLOTA_METRICS | figures | tasks | _FACTS


def column_of(metric: str, spread: tuple[str, ...] = ()) -> Column:
    """Return the column of a metric by key; an unknown one is titled by its key."""
    known = named_metrics().get(metric) or Column(metric, "number")
    return replace(known, key=metric, spread=spread)


# ------------------------------------------------------------------------------ columns

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
COMPETITORS = ("tokeniser", "method", "parameters", "seed")
"""Rows that differ only in these compete; the best of them is bold."""

_KINDS = {
    **dict.fromkeys(("cell", *IDENTITY), "str"),
    **dict.fromkeys(("vocab_size", "seed", "step"), "Int64"),
    "metric": "str",
    **dict.fromkeys(("value", "low", "high", "p"), "float64"),
    "held_in": "str",
    "entries": "Int64",
    "signature": "str",
}

_TASK_KINDS = {
    **dict.fromkeys(("key", "kind", "label", "state"), "str"),
    **dict.fromkeys(("seconds", "cpu_seconds"), "float64"),
    "peak_memory": "Int64",
    "worker": "str",
    "from_store": "bool",
    "message": "str",
}

FAILED, NOT_RUN = "", "not run"
LOST: Mapping[str, Literal["failed", "not run"]] = {FAILED: "failed", NOT_RUN: "not run"}
"""Metrics of rows for cells without scores, and how tables describe them."""


def words_scored(gold_set: GoldSet) -> str:
    """Return the value of ``words`` for scores on a gold set; seeds have a column of their own.

    >>> import morphgraph as mg
    >>> words_scored(mg.read_gold("demo:en").split(seed=3)[1])
    'kept aside 0.2 by families'
    """
    return ", ".join(str(part).partition(", seed")[0] for part in gold_set.parts) or ALL_WORDS


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
        columns = *self.rows, *self.columns, *self.where
        for what, given, known in (
            ("column", columns, DIMENSIONS),
            ("metric", self.metrics, list(named_metrics())),
        ):
            for name in given:
                if name not in known:
                    listed = ", ".join(known)
                    raise ValueError(f"results have no {what} “{name}”. Use some of: {listed}.")
        return self


# ------------------------------------------------------------------------------ all cells


def collected(cells: Sequence[Task], store: Store) -> pd.DataFrame:
    """Return the rows of the finished cells, as `results_of_rows` does."""
    rows = []
    for task in cells:
        table = store.read(task.key)
        for row in [] if table is None else table.to_pylist():
            names = task.columns["parameters"], row["variant"]
            known = {"cell": task.key, "parameters": ", ".join(filter(None, names))}
            rows.append({**task.columns, **row, **known})
    return results_of_rows(rows)


def with_failed(results: pd.DataFrame, reports: Sequence[TaskReport]) -> pd.DataFrame:
    """Add a row for each cell that failed or was not run, in the plan's order."""
    places = {report.task.key: place for place, report in enumerate(reports)}
    metrics = {state: metric for metric, state in LOST.items()}
    texts = dict.fromkeys(("scope", "weighting", "words", "held_in", "signature"), "")
    lost = [
        {**texts, "cell": report.task.key, **report.task.columns, "metric": metrics[report.state]}
        for report in reports
        if report.task.kind == "cell" and report.state in metrics
    ]
    if not lost:
        return results
    found = pd.concat([results, results_of_rows(lost)])
    found = found.sort_values("cell", key=lambda keys: keys.map(places), kind="stable")
    return found.reset_index(drop=True)


def results_of_rows(rows: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    """Return rows of results as a table with all columns; what a row does not name is missing."""
    return _frame(rows, _KINDS)


def task_frame(rows: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    """Return how each task ended, from its row (`TaskReport.row`)."""
    return _frame(rows, _TASK_KINDS)


def _frame(rows: Iterable[Mapping[Any, Any]], kinds: Mapping[str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(kinds)).astype(kinds)


# ------------------------------------------------------------------------------ files


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet atomically."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    write_file(path, buffer.getvalue())


_OF_RUN = ("name", "languages", "command", "code", "versions")
_OF_CELL = [name for name in DIMENSIONS if name not in ("step", "scope", "weighting")]
_OF_SCORE = ["metric", "scope", "weighting", "step", "value", "low", "high", "p", "entries"]


def write_json(plan: Plan, results: pd.DataFrame, about: Mapping[str, Any], path: Path) -> None:
    """Write ``results.json``: what ran, and for each cell its files and scores, a cell a line.

    ``results``: those of `collected`; ``about``: the facts of ``run.json``.
    """
    tasks = {task.key: task for task in plan.tasks}
    cells = {cell.key: cell for cell in plan.cells}
    results = results.astype(object).where(results.notna(), None)
    rows = []
    # A cell may have rows of several variants.
    for (key, _), part in results.groupby(["cell", "parameters"], sort=False):
        of_cell = part[_OF_CELL].iloc[0].to_dict()
        of_cell["words"] = part["words"].max()  # figures are not of words
        of_cell["held_in"] = bool(part["held_in"].any())
        of_cell["inputs"] = _inputs(cells[str(key)], tasks)
        rows.append({**of_cell, "scores": part[[*_OF_SCORE, "signature"]].to_dict("records")})
    run = {**{name: about[name] for name in _OF_RUN}, "recipe": plan.text}
    known = {"format": "morphgraph results", "version": 2, "run": run}
    head = json.dumps(known, ensure_ascii=False, indent=1).removesuffix("\n}")
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    write_file(path, f'{head},\n "rows": [\n{lines}\n]}}\n'.encode(), " with --out")


def _inputs(cell: Task, tasks: Mapping[str, Task]) -> dict[str, list[str]]:
    """Return the SHA-256 of the files that a cell depends on, by what they are."""
    found = {name: {*_sums(value)} for name, value in cell.spec.items()}
    needs = [tasks[key] for key in cell.needs]
    kinds = [need.kind for need in needs]
    if cell.spec["baseline"]:
        kinds[-1] = "baseline"
    more = [tasks[key] for need in needs for key in need.needs]
    kinds += [need.kind for need in more]
    for kind, need in zip(kinds, [*needs, *more], strict=True):
        found.setdefault(kind, set()).update(_sums(need.spec))
    return {kind: sorted(sums) for kind, sums in found.items() if sums}


def _sums(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (content.partition(".")[0] for content in value.get("content", ()))
        value = [*value.values()]
    if isinstance(value, list):
        yield from chain.from_iterable(map(_sums, value))


def read_results(path: Path) -> pd.DataFrame:
    """Read a run's results from its ``results.parquet``, or raise `FileFormatError`."""
    import pyarrow

    def wrong(problem: str, place: str = "") -> FileFormatError:
        fix = "Choose the results.parquet of a run, or start the run again."
        return FileFormatError(str(path), place, problem, fix)

    try:
        found = pd.read_parquet(path)
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise wrong(f"it cannot be read ({str(error).splitlines()[0][:120]})") from error
    columns: dict[str, Any] = {}
    kind: Any
    for name, kind in _KINDS.items():
        if list(found.columns).count(name) != 1:
            raise wrong(f"it has no column {name}, or several")
        try:
            with np.errstate(invalid="ignore"):  # numbers that are not whole are an error below
                columns[name] = found[name].astype(kind)
        except (TypeError, ValueError, OverflowError) as error:
            raise wrong(f"it is of another kind ({error})", f"column {name}") from error
    return pd.DataFrame(columns)

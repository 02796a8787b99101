"""Results in long form: their metrics and columns, and their collection from all cells."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from morphgraph.batch.distributions import DISTRIBUTIONS, IDEAL
from morphgraph.batch.store import Store, Task, TaskReport
from morphgraph.batch.yaml_reading import ListOrOne, Name, Strict
from morphgraph.core.files import write_file
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import METRICS
from morphgraph.score.vocabulary_figures import FIGURES
from morphgraph.tables.model import ALL_WORDS, Column, Form

# ------------------------------------------------------------------------------ metrics

FLOTA_METRICS = {
    "flota_coverage": Column("FLOTA coverage (C)", "percent", 1),
    "flota_stem_recall": Column("FLOTA stem recall (R)", "percent", 1),
    "flota_full_match": Column("FLOTA full match (M)", "percent", 1),
    "flota_tokens": Column("Tokens per word (FLOTA's words)", "ratio"),
    "flota_tokens_p": Column("p against the standard (paired t-test)", "number"),
}
"""FLOTA's own scores, for the standard method and those that take some of the tokens."""

PHASE_METRICS = {
    "phase_f1": Column("F1 after each phase", "percent"),
    "phase_gain": Column("F1 gained by a phase", "percent"),
    "phase_types": Column("Types after each phase", "count"),
    "phase_changes": Column("Merges changed", "count"),
    "phase_removed": Column("Merges knocked out", "count"),
}
"""What is told of each phase of ReBPE; ``phases`` stands for all of them."""
_OWN_COLUMNS = FLOTA_METRICS | PHASE_METRICS | DISTRIBUTIONS
OWN_METRICS = {*_OWN_COLUMNS, IDEAL}
"""What an evaluation's ``metrics`` may name beside the scores of the library."""

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
    from morphgraph.batch.downstream import TASKS

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
    tasks = {key: column for task in TASKS.values() for key, column in task.metrics.items()}
    return scores | _OWN_COLUMNS | figures | tasks | _FACTS


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

_KINDS: dict[str, Any] = {
    "part": "Int64",
    **dict.fromkeys(("cell", *IDENTITY), "str"),
    **dict.fromkeys(("vocab_size", "seed", "step"), "Int64"),
    "metric": "str",
    **dict.fromkeys(("value", "low", "high", "p"), "float64"),
    "held_in": "str",
    "entries": "Int64",
    "signature": "str",
}

FAILED, NOT_RUN = "", "not run"
LOST: Mapping[str, Literal["failed", "not run"]] = {FAILED: "failed", NOT_RUN: "not run"}
"""Metrics of rows for cells without scores, and how tables describe them."""
_NO_TEXTS = dict.fromkeys(("scope", "weighting", "words", "held_in", "signature"), "")


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
    of: Name | None = Field(None, description="The table or figure of a paper that it repeats.")
    rows: Annotated[ListOrOne[str], Field(min_length=1)] = Field(
        description="Columns of the results that make the rows."
    )
    columns: ListOrOne[str] = Field(
        [], description="Columns of the results to show side by side for each metric."
    )
    metrics: ListOrOne[str] = Field([], description="Which metrics; all if none.")
    choose: str = Field(
        "",
        description="A metric, such as one on development data. Of cells that differ only in "
        "parameters, the best is shown, by its mean over seeds.",
    )
    where: dict[str, ListOrOne[str]] = Field(
        {}, description="Only results with these values, by column."
    )
    average: ListOrOne[str] = Field(
        [], description="Columns of the results over which values are averaged, besides seeds."
    )
    correlation: ListOrOne[str] = Field(
        [], description="Metrics whose correlations over competing rows are shown below the table."
    )
    published: str = Field(
        "",
        description="The paper's figures, shown beside ours: lines of cells separated by “|”. The "
        "first line names columns of the results and metrics; cells may be empty.",
    )
    note: str = Field("", description="Text below the table.")
    relative_to: str = Field(
        "", description="Values are relative to those of the method of this name."
    )
    relative: Literal["ratio", "difference"] = Field(
        "ratio", description="Whether relative values are ratios or differences."
    )
    lines: bool = Field(
        False,
        description="Also draw the scores over steps, vocabulary sizes, or the only parameter in "
        "which rows differ.",
    )

    @model_validator(mode="after")
    def _known_columns(self) -> Self:
        columns = *self.rows, *self.columns, *self.where, *self.average
        chosen = filter(None, [self.choose])
        for what, given, known in (
            ("column", columns, DIMENSIONS),
            ("metric", [*self.metrics, *self.correlation, *chosen], list(named_metrics())),
        ):
            for name in given:
                if name not in known:
                    listed = ", ".join(known)
                    raise ValueError(f"results have no {what} “{name}”. Use any of: {listed}.")
        self.published_rows()
        return self

    def published_rows(self) -> list[tuple[dict[str, str], dict[str, float]]]:
        """Return the names of each published row, and its figures by metric, percent as shares."""
        lines = [line for line in self.published.splitlines() if line.strip()]
        head, *rows = [[cell.strip() for cell in line.split("|")] for line in lines] or [[]]
        known = {*self.rows, *self.columns, *self.metrics}
        for name in head:
            if name not in known:
                raise ValueError(
                    f"published names “{name}”, which is not in the table. Use its rows, columns "
                    f"and metrics: {', '.join(known)}."
                )
        figures = []
        for row in rows:
            if len(row) != len(head):
                raise ValueError(f"published has {row} below {head}. Give each as many cells.")
            given = {name: text for name, text in zip(head, row, strict=True) if text}
            names = {name: text for name, text in given.items() if name in DIMENSIONS}
            try:
                values = {
                    name: float(text) / (100 if column_of(name).form == "percent" else 1)
                    for name, text in given.items()
                    if name not in names
                }
            except ValueError as error:
                raise ValueError(f"published: {error}. Write numbers with a point.") from error
            figures.append((names, values))
        return figures


# ------------------------------------------------------------------------------ all cells


def collected(
    parts: Iterable[Iterable[Task]], reports: Iterable[TaskReport], store: Store
) -> pd.DataFrame:
    """Return the rows of all cells in order; one without scores has a metric of `LOST`.

    ``parts``: the cells of each part of the evaluation, which rows number from 1.
    """
    states, rows = {each.task.key: each.state for each in reports}, []
    for number, task in ((number, task) for number, part in enumerate(parts, 1) for task in part):
        known, state = {"part": number, "cell": task.key, **task.columns}, states[task.key]
        table = store.read(task.key) if state == "done" else None
        if table is None:
            rows.append({**known, **_NO_TEXTS, "metric": NOT_RUN if state == NOT_RUN else FAILED})
            continue
        for row in table.to_pylist():
            names = task.columns["parameters"], row["variant"]
            rows.append({**known, **row, "parameters": ", ".join(filter(None, names))})
    return results_of_rows(rows)


def results_of_rows(rows: Iterable[Mapping[Any, Any]]) -> pd.DataFrame:
    """Return rows of results as a table with all columns; what a row does not name is missing."""
    return pd.DataFrame(list(rows), columns=list(_KINDS)).astype(_KINDS)


# ------------------------------------------------------------------------------ files


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet atomically."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    write_file(path, buffer.getvalue())


_OF_RUN = ("name", "languages", "command", "code", "versions")
_OF_CELL = [name for name in DIMENSIONS if name not in ("step", "scope", "weighting")]
_OF_SCORE = ["metric", "scope", "weighting", "step", "value", "low", "high", "p", "entries"]


def write_json(
    tasks: Mapping[str, Task],
    recipe: str,
    results: pd.DataFrame,
    about: Mapping[str, Any],
    path: Path,
) -> None:
    """Write ``results.json``: what ran, and for each cell its files and scores.

    ``tasks``: by their keys. ``recipe``: the text of the evaluation. ``about``: the facts of the
    run, of which those are written that tell how to repeat it.
    """
    results = results.astype(object).where(results.notna(), None)
    rows = []
    # A cell may have rows of several variants.
    for (_, key, _), part in results.groupby(
        ["part", "cell", "parameters"], sort=False, dropna=False
    ):
        of_cell = part[_OF_CELL].iloc[0].to_dict()
        of_cell["words"] = part["words"].max()  # figures are not of words
        of_cell["held_in"] = bool(part["held_in"].any())
        of_cell["inputs"] = _inputs(tasks[str(key)], tasks)
        rows.append({**of_cell, "scores": part[[*_OF_SCORE, "signature"]].to_dict("records")})
    run = {**{name: about[name] for name in _OF_RUN}, "recipe": recipe}
    document = {"format": "morphgraph results", "version": 2, "run": run, "rows": rows}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    write_file(path, text, " with --out")


def _inputs(cell: Task, tasks: Mapping[str, Task]) -> dict[str, list[str]]:
    """Return the SHA-256 of the files that a cell depends on, by what they are."""
    found = {name: {*_sums(value)} for name, value in cell.spec.items()}
    for number, key in enumerate(cell.needs, 1):
        need = tasks[key]
        is_baseline = cell.spec["baseline"] and number == len(cell.needs)
        found.setdefault("baseline" if is_baseline else need.kind, set()).update(_sums(need.spec))
        for more in need.needs:
            found.setdefault(tasks[more].kind, set()).update(_sums(tasks[more].spec))
    return {kind: sorted(sums) for kind, sums in found.items() if sums}


def _sums(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (content.partition(".")[0] for content in value.get("content", ()))
        value = [*value.values()]
    if isinstance(value, list):
        yield from chain.from_iterable(map(_sums, value))

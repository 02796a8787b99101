"""What a report is made of: a finished run, the tables it asks for, and the figures of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import visible

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.batch.tasks import TaskFailure

Chart = Literal["bars", "lines", "none"]

IDENTITY = (
    "language",
    "corpus",
    "tokeniser",
    "vocab_size",
    "method",
    "parameters",
    "reference",
    "scope",
    "weighting",
    "words",
)
"""The columns of results that tell, with the seed, one score from another of the same metric."""

RESULT_COLUMNS = (
    "cell",
    *IDENTITY,
    "seed",
    "metric",
    "value",
    "low",
    "high",
    "p",
    "held_in",
    "entries",
    "signature",
)
LATER_COLUMNS = ("words", "p", "held_in")
"""Columns that results of earlier versions lack."""

COLUMN_TITLES = {
    "language": "Language",
    "corpus": "Corpus",
    "tokeniser": "Tokeniser",
    "vocab_size": "Vocabulary size",
    "method": "Method",
    "parameters": "Parameters",
    "reference": "Reference",
    "scope": "Scope",
    "weighting": "Weighting",
    "words": "Words",
    "seed": "Seed",
}
"""What people call the columns of results."""

COMPETITORS = ("tokeniser", "method", "parameters", "seed")
"""Rows that differ in these only are competitors; bold is the best of them."""


def held_out_words(share: float) -> str:
    """What ``words`` says of scores over a share of words that no method has seen.

    >>> held_out_words(0.5)
    '50 % held out'
    """
    return f"{100 * share:g} % held out"


TASK_COLUMNS = (
    "key",
    "kind",
    "label",
    "state",
    "seconds",
    "cpu_seconds",
    "peak_memory",
    "worker",
    "from_store",
    "message",
)

FAILED, NOT_RUN = "", "not run"
LOST: Mapping[str, Literal["failed", "not run"]] = {FAILED: "failed", NOT_RUN: "not run"}
"""Metrics of rows that stand for a cell without scores, and what tables say of it."""


@dataclass(frozen=True)
class TableSpec:
    """A table to be made of results.

    ``rows``: columns of the results that make the rows; ``columns``: those that are spread beside
    the metric; ``metrics``: their keys, all of the results if there are none; ``where``: for
    columns of the results, the values that are let in.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    metrics: Sequence[str]
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str = ""
    chart: Chart = "bars"


@dataclass(frozen=True)
class Published:
    """Figures of a paper, measured on other ``data``; ``table``: the title of the one beside it."""

    source: str
    data: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]
    table: str | None = None
    note: str = ""
    url: str = ""


@dataclass(frozen=True)
class FinishedRun:
    """All that the report of an evaluation tells.

    ``results`` and ``tasks`` have the columns `RESULT_COLUMNS` and `TASK_COLUMNS`; a cell that
    failed, or was not run, may have a row in ``results`` whose metric is one of `LOST`. ``run``:
    versions, hashes, command, machine, times; ``configuration``: the YAML as it was given. Without
    ``tables``, `usual_tables` are made.
    """

    title: str
    description: str
    results: pd.DataFrame
    tasks: pd.DataFrame
    failures: Sequence[TaskFailure] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[TableSpec] = ()
    published: Sequence[Published] = ()
    configuration: str = ""


def complete(frame: pd.DataFrame, columns: Sequence[str], what: str) -> pd.DataFrame:
    """A table that has all columns; an empty one without any gets them.

    ``what``: what it is a table of, for `MorphGraphError` if columns are missing.
    """
    missing = [column for column in columns if column not in frame.columns]
    if missing and len(frame):
        raise MorphGraphError(
            f"The {what} lack the columns {', '.join(missing)}. Were they written by another "
            "version of morphgraph? Run the evaluation again."
        )
    return frame.reindex(columns=[*frame.columns, *missing]) if missing else frame


def name_text(value: object) -> str:
    """A value of a column that names things, as text; empty where there is none.

    >>> [name_text(value) for value in ("BPE", 8000, 8000.0, float("nan"), None)]
    ['BPE', '8000', '8000', '', '']
    """
    import pandas as pd

    if value is None or (not isinstance(value, str) and bool(pd.isna(value))):  # type: ignore[call-overload]
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return visible(str(value))

"""One table of an evaluation: what HTML, Markdown, LaTeX and CSV show, and how its cells read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from morphgraph.batch.names import named_metrics
from morphgraph.batch.report_data import HELD_IN, Chart
from morphgraph.core.numbers import UNDEFINED, count_text, percent, ratio_text
from morphgraph.score.metrics import METRICS
from morphgraph.score.table import significance_mark

State = Literal["done", "failed", "not run", "missing"]

TITLES = {
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

_ARROWS = {1: " ↑", -1: " ↓", 0: ""}


@dataclass(frozen=True)
class Cell:
    """A value of a table and where it comes from.

    ``value``: the mean over seeds, NaN where undefined; ``low``, ``high``: its 95 % interval, of a
    single seed only, as is ``p``, that of the difference to the baseline; ``sd``: standard
    deviation (n - 1) over ``defined`` of ``seeds`` values; ``held_in``: whether the method learned
    from the very words that it is scored on.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    sd: float = math.nan
    seeds: int = 0
    defined: int = 0
    state: State = "missing"
    is_best: bool = False
    p: float = math.nan
    held_in: bool = False

    @property
    def mark(self) -> str:
        """Stars for a significant difference to the baseline, as in scores."""
        return significance_mark(self.p)

    @property
    def is_lost(self) -> bool:
        """Whether there is no value because the cell of the evaluation failed or was not run."""
        return self.state in ("failed", "not run")


class Column(NamedTuple):
    """A column of values: those of the columns that are spread, and the metric's key."""

    spread: tuple[str, ...]
    metric: str

    @property
    def title(self) -> str:
        """The metric as a heading: with its unit, and an arrow to where it is better."""
        known = named_metrics().get(self.metric)
        if known is None:
            return self.metric
        unit = " %" if known.form == "percent" else ""
        return f"{known.label}{unit}{_ARROWS[known.better]}"


@dataclass(frozen=True)
class Row:
    """A row of a table: what names it, and its cells. ``group``: those of one number compete."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    group: int = 0


@dataclass(frozen=True)
class Table:
    """A table to be shown.

    ``rows_by``, ``spread_by``: the columns of results that name rows and columns; ``constants``:
    what holds for all of it, by column; ``notes``: sentences for below it.
    """

    title: str
    rows_by: tuple[str, ...]
    spread_by: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    constants: Mapping[str, str]
    signatures: tuple[str, ...]
    notes: tuple[str, ...]
    chart: Chart

    @property
    def heads(self) -> list[tuple[str, list[tuple[str, int]]]]:
        """Rows of headings above the metrics: the title of each, and its texts with their widths.

        >>> columns = tuple(Column((s, w), "f1") for s in "ab" for w in "xy")
        >>> table = Table("", (), ("scope", "weighting"), columns, (), {}, (), (), "none")
        >>> table.heads
        [('Scope', [('a', 2), ('b', 2)]), ('Weighting', [('x', 1), ('y', 1), ('x', 1), ('y', 1)])]
        """
        return [
            (TITLES.get(name, name), list(self._spans(depth)))
            for depth, name in enumerate(self.spread_by)
        ]

    def _spans(self, depth: int) -> Iterator[tuple[str, int]]:
        start = 0
        for place in range(1, len(self.columns) + 1):
            last = place == len(self.columns)
            this = self.columns[start].spread[: depth + 1]
            if last or self.columns[place].spread[: depth + 1] != this:
                yield self.columns[start].spread[depth], place - start
                start = place


def value_text(metric: str, value: float) -> str:
    """A value of a metric as people read it; shares in percent, without the sign.

    >>> value_text("f1", 0.5), value_text("types", 32000), value_text("types", 31999.5)
    ('50.00', '32,000', '31,999.5')
    >>> value_text("distance", 1.25), value_text("vocabulary.renyi", 0.5)
    ('1.25', '0.500')
    >>> value_text("f1", float("nan"))
    'n/a'
    """
    known = named_metrics().get(metric)
    form = "number" if known is None else known.form
    if math.isnan(value):
        return UNDEFINED
    if form == "percent":
        return percent(value)
    if form == "count":
        return count_text(value) if float(value).is_integer() else f"{value:,.1f}"
    return ratio_text(value) if metric in METRICS else f"{value:,.3f}"


def cell_texts(metric: str, cell: Cell) -> tuple[str, str]:
    """A cell as people read it: the value, and what stands beside it: interval or spread.

    >>> cell_texts("f1", Cell(0.5, 0.25, 0.75, seeds=1, defined=1, state="done"))
    ('50.00', '[25.00, 75.00]')
    >>> cell_texts("f1", Cell(0.5, sd=0.01, seeds=3, defined=3, state="done"))
    ('50.00', '± 1.00 (3 seeds)')
    >>> cell_texts("f1", Cell(0.5, seeds=1, defined=1, state="done", held_in=True))
    ('50.00', 'held in')
    >>> cell_texts("f1", Cell(state="failed")), cell_texts("f1", Cell())
    (('failed', ''), ('n/a', ''))
    """
    if cell.is_lost:
        return cell.state, ""
    text = value_text(metric, cell.value)
    if cell.seeds > 1:
        among = f"{cell.seeds}" if cell.defined == cell.seeds else f"{cell.defined} of {cell.seeds}"
        # Of values that are all the same, a spread says nothing.
        spread = f"± {value_text(metric, cell.sd)} " if cell.sd > 0 else ""
        return text, f"{spread}({among} seeds){f' {HELD_IN}' if cell.held_in else ''}"
    beside = HELD_IN if cell.held_in else ""
    if any(map(math.isnan, (cell.value, cell.low, cell.high))):
        return text, beside
    interval = f"[{value_text(metric, cell.low)}, {value_text(metric, cell.high)}]"
    return text, f"{interval} {beside}".rstrip()

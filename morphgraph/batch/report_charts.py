"""The chart of a table: which of its rows are bars, and which are lines over a number."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from morphgraph.batch.report_data import COLUMN_TITLES
from morphgraph.core.text import counted
from morphgraph.draw.evaluation_charts import MOST_PANELS, Bar, Mark, Panel, bar_panels, line_panels
from morphgraph.tables.model import Cell, Column, Table, cell_texts

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_BARS = 60
"""Tables with more rows get no bars: they would be longer than the table."""

_SETTING = re.compile(r"([^=,]+)=([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")
_OWN = ("tokeniser", "vocab_size", "method", "parameters", "seed")
"""What a bar itself shows; the rest is in its heading."""


def chart_of(table: Table) -> go.Figure | None:
    """A figure of a table, in panels for its columns; none if it asks for none or has no numbers.

    Lines are drawn over vocabulary sizes, or over the one setting that the parameters of all rows
    differ in; where there is no such number, bars are drawn instead.
    """
    columns = _known(table)
    if table.chart == "none" or not columns:
        return None
    over = _numbers(table) if table.chart == "lines" else None
    if over is not None:
        return _lines(table, columns, over)
    return _bars(table, columns) if len(table.rows) <= MOST_BARS else None


def chart_note(table: Table) -> str:
    """What a chart leaves out, as a sentence; empty if it is nothing."""
    columns = _known(table)
    if table.chart == "none" or not columns:
        return ""
    over = _numbers(table) if table.chart == "lines" else None
    if over is None and len(table.rows) > MOST_BARS:
        return f"No chart: {len(table.rows):,} rows are too many for one."
    headings = set() if over is None else {heading for _, heading in _names(table, over.place)}
    more = len(columns) * max(1, len(headings)) - MOST_PANELS
    shown = counted(more, "more panel is", "more panels are")
    return f"{shown} not drawn." if more > 0 else ""


def _known(table: Table) -> list[int]:
    """The columns that have a number."""
    return [
        place
        for place in range(len(table.columns))
        if any(not math.isnan(float(row.cells[place].value)) for row in table.rows)
    ]


def _names(table: Table, but: int = -1) -> list[tuple[str, str]]:
    """For each row its own name, and what it stands under; of what tells rows apart, if anything.

    ``but``: the place of a column that both leave out.
    """
    rows, by = [row.names for row in table.rows], table.rows_by
    varying = [n for n in range(len(by)) if n != but and len({names[n] for names in rows}) > 1]
    shown = varying or [n for n in range(len(by)) if n != but]
    own = [n for n in shown if by[n] in _OWN] or shown
    return [
        (
            " · ".join(names[n] for n in own if names[n]),
            " · ".join(names[n] for n in shown if n not in own and names[n]),
        )
        for names in rows
    ]


def _mark(column: Column, cell: Cell) -> Mark:
    scale = 100 if column.form == "percent" else 1
    text, beside = cell_texts(column, cell)
    value, low, high = float(cell.value), cell.low, cell.high
    if not math.isnan(cell.sd):
        low, high = value - cell.sd, value + cell.sd
    return Mark(scale * value, scale * low, scale * high, f"{text} {beside}".rstrip())


def _panel_title(column: Column, heading: str = "") -> str:
    return " · ".join(filter(None, [heading, column.title, ", ".join(filter(None, column.spread))]))


def _bars(table: Table, columns: list[int]) -> go.Figure:
    by = table.rows_by
    colour_by = by.index("method") if "method" in by else None
    bars = [
        Bar(label, heading, label if colour_by is None else row.names[colour_by])
        for row, (label, heading) in zip(table.rows, _names(table), strict=True)
    ]
    panels = [
        Panel(
            _panel_title(table.columns[place]),
            [_mark(table.columns[place], row.cells[place]) for row in table.rows],
        )
        for place in columns
    ]
    return bar_panels(bars, panels)


class Numbers(NamedTuple):
    """What lines are over: its title, the column of names that it is in, its number in each row."""

    title: str
    place: int
    values: list[float]


def _numbers(table: Table) -> Numbers | None:
    if "vocab_size" in table.rows_by:
        place = table.rows_by.index("vocab_size")
        texts = [row.names[place] for row in table.rows]
        if all(text.isdecimal() for text in texts) and len(set(texts)) > 1:
            return Numbers(COLUMN_TITLES["vocab_size"], place, [float(text) for text in texts])
    if "parameters" in table.rows_by:
        place = table.rows_by.index("parameters")
        settings = [
            {key.strip(): value for key, value in _SETTING.findall(row.names[place])}
            for row in table.rows
        ]
        keys = dict.fromkeys(key for one in settings for key in one)
        varying = [key for key in keys if len({one.get(key) for one in settings}) > 1]
        if len(varying) == 1 and all(varying[0] in one for one in settings):
            try:
                return Numbers(varying[0], place, [float(one[varying[0]]) for one in settings])
            except ValueError:  # such as 1.2.3
                return None
    return None


def _lines(table: Table, columns: list[int], over: Numbers) -> go.Figure:
    """A panel for each column of each heading, in which lines are what else tells rows apart."""
    names = _names(table, over.place)
    found = {
        (*name, number): row
        for name, number, row in zip(names, over.values, table.rows, strict=True)
    }
    series = list(dict.fromkeys(label for label, _ in names))
    places = sorted(set(over.values))
    panels = []
    for heading in dict.fromkeys(heading for _, heading in names):
        for place in columns:
            column = table.columns[place]
            rows = [found.get((label, heading, number)) for label in series for number in places]
            marks = [
                Mark(math.nan) if row is None else _mark(column, row.cells[place]) for row in rows
            ]
            panels.append(Panel(_panel_title(column, heading), marks))
    return line_panels(series, places, panels, over.title)

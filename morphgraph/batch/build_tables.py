"""Tables of an evaluation, built from its results in long form, and their charts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from morphgraph.batch.results import (
    COLUMN_TITLES,
    COMPETITORS,
    DIMENSIONS,
    IDENTITY,
    LOST,
    RESULT_COLUMNS,
    TableSpec,
    column_of,
    complete,
    name_text,
)
from morphgraph.core.text import counted
from morphgraph.draw.score_charts import MOST_PANELS, Bar, Mark, Panel, bar_panels, line_panels
from morphgraph.score.uncertainty import NO_INTERVAL, interval_of_mean
from morphgraph.tables.model import (
    ALL_WORDS,
    HELD_IN,
    Cell,
    CellState,
    Column,
    Row,
    Table,
    cell_texts,
    with_best,
)

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_SCORINGS = ["scope", "weighting"]
"""Columns with several values per cell, all missing if the cell failed."""

Names = tuple[str, ...]


def make_table(results: pd.DataFrame, spec: TableSpec) -> Table:
    """Build the table that a specification describes.

    Rows and columns follow the order of the results. A combination without a result is missing, or
    failed if the results say so. If several results would share a cell, the columns in which they
    differ are added to the rows: only seeds are averaged.
    """
    frame = _chosen(results, spec)
    is_lost = frame["metric"].isin(LOST)
    scored = frame[~is_lost]
    rows_by, spread_by = list(dict.fromkeys(spec.rows)), list(dict.fromkeys(spec.columns))
    # The test data are named even if the rows do not ask.
    measured_on = [name for name in ("corpus", "reference", "task") if _varies(frame[name])]
    rows_by += [name for name in measured_on if name not in (*rows_by, *spread_by)]
    if "words" not in (*rows_by, *spread_by) and _varies(scored["words"]):
        spread_by.append("words")  # held-out scores are next to those of all words
    added = _left_open(scored, [*rows_by, *spread_by])
    rows_by += added
    lost = _spread_out(frame[is_lost], scored, "words" in spread_by)
    cells = _cells(scored, [*rows_by, *spread_by, "metric"])
    missing = _missing(lost, [*rows_by, *spread_by])
    columns = _columns(scored, spread_by, spec.metrics, {key[len(rows_by) :] for key in cells})

    def cell(name: Names, column: Column) -> Cell:
        place = (*name, *column.spread)
        found, seeds = cells.get((*place, column.key), (None, set()))
        states = missing.get(place, {})
        if found is None:
            return Cell(state=min(states.values(), default="missing"))
        return replace(found, seeds=found.seeds + len(states.keys() - seeds))

    names = _in_order(_distinct(_together(scored, lost), rows_by))
    rows = [
        Row(name, tuple(cell(name, column) for column in columns), group)
        for name, group in zip(names, _groups(names, rows_by), strict=True)
    ]
    notes = [spec.note] if spec.note else []
    if added:
        notes.append(
            f"Rows also differ in {', '.join(COLUMN_TITLES[name].lower() for name in added)}."
        )
    same = [COLUMN_TITLES[name].lower() for name in rows_by if name not in COMPETITORS]
    return Table(
        spec.title,
        tuple(Column(COLUMN_TITLES[name], key=name) for name in rows_by),
        tuple(
            replace(column, extras=_extras([row.cells[number] for row in rows]))
            for number, column in enumerate(columns)
        ),
        with_best(rows, columns),
        tuple(COLUMN_TITLES[name] for name in spread_by),
        constants=_constants(scored if len(scored) else frame, {*rows_by, *spread_by}),
        signatures=tuple(text for text in dict.fromkeys(scored["signature"]) if text),
        notes=tuple(notes),
        chart=spec.chart,
        bold="the best" + (f" of those with the same {' and '.join(same)}" if same else ""),
        against="the first method that does not learn from the reference",
    )


def usual_tables(results: pd.DataFrame) -> list[TableSpec]:
    """Build tables of all results: scores, figures without scope, and downstream tasks.

    Rows are named by whatever varies.
    """
    frame = _named(results)
    has_scope, is_lost = frame["scope"] != "", frame["metric"].isin(LOST)
    is_task = frame["task"] != ""
    specs = []
    for title, part in (
        ("Scores", frame[~is_task & (has_scope | is_lost)]),
        ("Vocabulary and facts of the run", frame[~is_task & ~has_scope]),
        ("Downstream tasks", frame[is_task]),
    ):
        own = part[~part["metric"].isin(LOST)]
        rows = [name for name in IDENTITY[:-3] if part[name].nunique() > 1]
        spread = [name for name in IDENTITY[-3:] if own[name].nunique() > 1]
        if len(own):
            metrics = list(dict.fromkeys(own["metric"]))
            # Unchecked, as results may have metrics of a later version.
            spec = TableSpec.model_construct(
                title=title, rows=rows or ["method"], columns=spread, metrics=metrics
            )
            specs.append(spec)
    return specs


def _chosen(results: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    """Select the rows of results for a table, failed cells included, by their ``place``."""
    frame = _named(results)
    is_lost = frame["metric"].isin(LOST)
    keep = is_lost | frame["metric"].isin(spec.metrics or frame["metric"])
    for name, values in spec.where.items():
        # A cell without scores has no scope or weighting: all are missing.
        keep &= frame[name].isin([*map(name_text, values)]) | (is_lost & (name in _SCORINGS))
    return frame[keep.astype(bool)].assign(place=range(int(keep.sum())))


def _named(results: pd.DataFrame) -> pd.DataFrame:
    """Return results with all naming columns as text."""
    frame = complete(results, RESULT_COLUMNS, "results")
    names = (*DIMENSIONS, "metric", "held_in", "signature")
    texts = {name: list(map(name_text, frame[name].astype(object))) for name in names}
    numbers = dict.fromkeys(("value", "low", "high", "p"), float)
    return frame.assign(**texts).astype({**dict.fromkeys(names, object), **numbers})


def _varies(names: pd.Series[Any]) -> bool:
    return len(set(names) - {""}) > 1


def _distinct(frame: pd.DataFrame, names: Sequence[str]) -> list[Names]:
    return list(dict.fromkeys(zip(*(frame[name] for name in names), strict=True)))


def _left_open(scored: pd.DataFrame, named: Sequence[str]) -> list[str]:
    """Return the columns that distinguish results of one cell."""
    together = scored.groupby([*named, "metric"], sort=False)
    rest = [name for name in IDENTITY if name not in named]
    return [name for name in rest if (together[name].nunique() > 1).any()]


def _spread_out(lost: pd.DataFrame, scored: pd.DataFrame, by_words: bool) -> pd.DataFrame:
    """Repeat cells without scores for each scope and weighting of the others.

    ``by_words``: those over all words also lack figures that are not of words.
    """
    import pandas as pd

    scorings = scored[_SCORINGS].drop_duplicates() if len(scored) else lost[_SCORINGS][:1]
    lost = lost.drop(columns=_SCORINGS).merge(scorings, how="cross")
    no_words = lost[lost["words"] == ALL_WORDS].assign(words="")
    return pd.concat([lost, no_words]) if by_words else lost


def _together(scored: pd.DataFrame, lost: pd.DataFrame) -> pd.DataFrame:
    """Combine both in the order of the results."""
    import pandas as pd

    return pd.concat([scored, lost]).sort_values("place", kind="stable") if len(lost) else scored


def _in_order(names: Sequence[Names]) -> list[Names]:
    """Sort names by column, by first occurrence, so that equal ones are neighbours.

    >>> _in_order([("b", "x"), ("a", "x"), ("b", "y")])
    [('b', 'x'), ('b', 'y'), ('a', 'x')]
    """
    ranks: list[dict[str, int]] = [{} for _ in (names[0] if names else ())]
    for name in names:
        for rank, part in zip(ranks, name, strict=True):
            rank.setdefault(part, len(rank))
    return sorted(
        names, key=lambda name: [rank[part] for rank, part in zip(ranks, name, strict=True)]
    )


def _cells(scored: pd.DataFrame, named: list[str]) -> dict[Names, tuple[Cell, set[str]]]:
    """Return the cell of each combination, and its seeds; a repeated value counts once."""
    once = scored.drop_duplicates([*named, "seed", "value"])
    found = once.assign(held_in=once["held_in"] == HELD_IN).groupby(named, sort=False)
    numbers = found.agg(
        value=("value", "mean"),
        sd=("value", "std"),
        least=("value", "min"),
        size=("value", "size"),
        defined=("value", "count"),
        low=("low", "first"),
        high=("high", "first"),
        p=("p", "first"),
        held_in=("held_in", "any"),
        seeds=("seed", set),
        task=("task", "first"),
    )
    cells = {}
    rows = numbers.itertuples()
    for key, value, sd, least, size, defined, low, high, p, held_in, seeds, task in rows:
        if size > 1:
            p = math.nan
            over = NO_INTERVAL
            # Training seeds are a sample of all possible ones; those of a method are not.
            if task:
                most = 1.0 if column_of(key[-1]).form == "percent" else math.inf
                over = interval_of_mean(value, sd, defined, least, most)
            low, high = over.low, over.high
        cell = Cell(value, low, high, sd, size, defined, "done", p=p, held_in=held_in)
        cells[key] = (cell, seeds)
    return cells


def _missing(lost: pd.DataFrame, named: Sequence[str]) -> dict[Names, dict[str, CellState]]:
    """Return the seeds that each combination lacks, and why."""
    found: dict[Names, dict[str, CellState]] = {}
    places = zip(*(lost[name] for name in named), strict=True)
    for place, seed, metric in zip(places, lost["seed"], lost["metric"], strict=True):
        states = found.setdefault(place, {})
        states[seed] = min(LOST[metric], states.get(seed, LOST[metric]))
    return found


def _columns(
    scored: pd.DataFrame, spread_by: list[str], metrics: Iterable[str], there: set[Names]
) -> list[Column]:
    """Return all metrics with all spreads that have a value; one without any keeps a column."""
    spreads = _in_order(_distinct(scored, spread_by)) or [("",) * len(spread_by)]
    if "words" in spread_by:  # figures that are not of words come last
        spreads.sort(key=lambda spread: spread[spread_by.index("words")] == "")
    wanted = list(dict.fromkeys(metrics or scored["metric"]))
    lost = [(*spreads[0], m) for m in wanted if not any((*each, m) in there for each in spreads)]
    return [
        column_of(metric, spread)
        for spread in spreads
        for metric in wanted
        if (*spread, metric) in {*there, *lost}
    ]


def _groups(names: Sequence[Names], rows_by: Sequence[str]) -> list[int]:
    """Number the groups of rows that differ only in what competes."""
    places = [place for place, name in enumerate(rows_by) if name not in COMPETITORS]
    numbers: dict[Names, int] = {}
    alike = (tuple(name[place] for place in places) for name in names)
    return [numbers.setdefault(each, len(numbers)) for each in alike]


def _extras(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return what CSV adds to a column's values: whatever any of its cells has."""
    numbers = ("low", "high", "p", "sd")
    found = [n for n in numbers if any(not math.isnan(getattr(cell, n)) for cell in cells)]
    found += ["seeds"] if any(cell.seeds > 1 for cell in cells) else []
    return (*found, *([HELD_IN] if any(cell.held_in for cell in cells) else []))


def _constants(frame: pd.DataFrame, named: set[str]) -> Mapping[str, str]:
    """Return what is the same in all results and in no heading, by title."""
    texts = {name: set(frame[name]) - {""} for name in DIMENSIONS if name not in named}
    return {COLUMN_TITLES[name]: found.pop() for name, found in texts.items() if len(found) == 1}


# ------------------------------------------------------------------------------ charts

MOST_BARS = 60
"""Tables with more rows get no bar chart, which would be longer than the table."""

_SETTING = re.compile(r"([^=,]+)=([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")
_OWN = ("tokeniser", "vocab_size", "method", "parameters", "seed")
"""The columns shown by a bar itself; the rest is in its heading."""


def chart_of(table: Table) -> go.Figure | None:
    """Return the figure of a table, with a panel for each column; None without numbers.

    Lines are drawn over steps, vocabulary sizes, or the only parameter in which rows differ;
    otherwise bars. None if the table asks for no chart.
    """
    columns, over = _known(table), _numbers(table)
    if over is not None and columns:
        return _lines(table, columns, over)
    return _bars(table, columns) if columns and len(table.rows) <= MOST_BARS else None


def chart_note(table: Table) -> str:
    """Describe what a chart leaves out; empty if nothing."""
    columns, over = _known(table), _numbers(table)
    if columns and over is None and len(table.rows) > MOST_BARS:
        return f"No chart: {len(table.rows):,} rows are too many for one."
    headings = set() if over is None else {heading for _, heading in _names(table, over.place)}
    more = len(columns) * max(1, len(headings)) - MOST_PANELS
    shown = counted(more, "more panel is", "more panels are")
    return f"{shown} not drawn." if more > 0 else ""


def _known(table: Table) -> list[int]:
    """Return the columns that have a number, if a chart is requested."""
    return [
        place
        for place in range(len(table.columns))
        if table.chart != "none"
        and any(not math.isnan(float(row.cells[place].value)) for row in table.rows)
    ]


def _names(table: Table, but: int = -1) -> list[tuple[str, str]]:
    """Return each row's own name, and its heading; empty if rows do not differ.

    ``but``: the index of a column to leave out of both.
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
    """The x axis of lines: its title, its column of names, and its number in each row."""

    title: str
    place: int
    values: list[float]


def _numbers(table: Table) -> Numbers | None:
    """Return the x axis of lines, if lines are requested and there is one."""
    if table.chart != "lines":
        return None
    for name in ("step", "vocab_size"):
        if name in table.rows_by:
            place = table.rows_by.index(name)
            texts = [row.names[place] for row in table.rows]
            if all(text.isdecimal() for text in texts) and len(set(texts)) > 1:
                return Numbers(COLUMN_TITLES[name], place, [float(text) for text in texts])
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
    """Return a panel for each column of each heading, with a line per remaining combination."""
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

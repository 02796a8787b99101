"""The report of an evaluation: tables and charts of its results, on a page and in files."""

from __future__ import annotations

import math
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd

from morphgraph.batch.comparing import correlations, tested
from morphgraph.batch.results import (
    COLUMN_TITLES,
    COMPETITORS,
    DIMENSIONS,
    IDENTITY,
    LOST,
    TableSpec,
    collected,
    column_of,
)
from morphgraph.batch.store import Store, TaskReport
from morphgraph.core.files import write_file
from morphgraph.core.text import counted, duration, visible
from morphgraph.draw.score_charts import MOST_PANELS, Mark, Panel, line_panels
from morphgraph.score.uncertainty import NO_INTERVAL, interval_of_mean
from morphgraph.tables.model import (
    HELD_IN,
    Cell,
    Column,
    Row,
    Table,
    cell_texts,
    with_best,
)
from morphgraph.tables.scores import MIXED
from morphgraph.tables.writing import rendered, to_csv, to_latex

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from morphgraph.batch.plan import Plan

Names = tuple[str, ...]
_OF_SILVER = re.compile(r"reference:[^|]*\(silver\)")
"""How signatures of scores on silver begin."""
_SCORINGS = ["scope", "weighting", "words"]
"""Columns with several values per cell, all missing if the cell failed."""

# ------------------------------------------------------------------------------ tables


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
    named = (*rows_by, *spread_by, *spec.average)
    rows_by += [name for name in measured_on if name not in named]
    if "words" not in named and _varies(scored["words"]):
        spread_by.append("words")
    together = scored.groupby([*rows_by, *spread_by, "metric"], sort=False)
    rest = [name for name in IDENTITY if name not in (*rows_by, *spread_by, *spec.average)]
    added = [name for name in rest if (together[name].nunique() > 1).any()]
    rows_by += added
    columns = _columns(scored, spread_by, spec.metrics)
    lost = _spread_out(frame[is_lost], scored)
    lacking = lost.merge(pd.DataFrame({"metric": [*{column.key for column in columns}]}), "cross")
    every = pd.concat([scored, lacking]) if len(lacking) else scored
    cells = _cells(every, [*rows_by, *spread_by, "metric"], spec.average)
    ordered = pd.concat([scored, lost]).sort_values("place", kind="stable") if len(lost) else scored
    own = [place for place, name in enumerate(rows_by) if name not in COMPETITORS]
    groups: dict[Names, int] = {}
    rows = []
    for name in _in_order(dict.fromkeys(_names(ordered, rows_by))):
        group = groups.setdefault(tuple(name[place] for place in own), len(groups))
        places = ((*name, *column.spread, column.key) for column in columns)
        rows.append(Row(name, tuple(cells.get(place, Cell()) for place in places), group))
    rows = [*with_best(tested(rows), columns)]
    related = correlations(rows, columns, spec.correlation, own)
    if spec.published:
        rows, columns = _beside_published(rows, columns, rows_by, spread_by, spec)
    differ = ", ".join(COLUMN_TITLES[name].lower() for name in added)
    same = " and ".join(COLUMN_TITLES[rows_by[place]].lower() for place in own)
    about = scored if len(scored) else frame
    shared = {name: set(about[name]) - {""} for name in DIMENSIONS}
    by_gold = [text for text in scored["signature"] if text.startswith("reference:")]
    mixed = MIXED if len({bool(_OF_SILVER.match(text)) for text in by_gold}) > 1 else ""
    return Table(
        ": ".join(filter(None, (spec.of, spec.title))),
        tuple(Column(COLUMN_TITLES[name], key=name) for name in rows_by),
        tuple(
            replace(column, extras=_extras([row.cells[number] for row in rows]))
            for number, column in enumerate(columns)
        ),
        tuple(rows),
        tuple(COLUMN_TITLES[name] for name in spread_by),
        constants={
            COLUMN_TITLES[name]: found.pop()
            for name, found in shared.items()
            if len(found) == 1 and name not in (*rows_by, *spread_by)
        },
        signatures=tuple(text for text in dict.fromkeys(scored["signature"]) if text),
        notes=tuple(
            filter(
                None, (spec.note, f"Rows also differ in {differ}." * bool(added), *related, mixed)
            )
        ),
        lines=spec.lines,
        bold="the best" + (f" of those with the same {same}" if same else ""),
        against="the first of the same size and seed, by the test that the task names"
        if "".join(frame["task"])
        else "the first method that does not learn from the reference, by paired approximate "
        "randomisation",
    )


def _beside_published(
    rows: Sequence[Row],
    columns: Sequence[Column],
    rows_by: Sequence[str],
    spread_by: Sequence[str],
    spec: TableSpec,
) -> tuple[list[Row], list[Column]]:
    """Put the paper's figures, and ours less theirs, behind ours; what we lack has a row, too."""
    published = spec.published_rows()
    metrics = {metric for _, values in published for metric in values}

    def figure(row: Row | None, names: Mapping[str, str], column: Column) -> float:
        own = dict(zip(spread_by, column.spread, strict=True))
        own |= names if row is None else dict(zip(rows_by, row.names, strict=True))
        for theirs, values in published:
            if column.key in values and all(own.get(name) == theirs[name] for name in theirs):
                return values[column.key]
        return math.nan

    def beside(row: Row | None, names: Mapping[str, str] = MappingProxyType({})) -> Iterator[Cell]:
        for place, column in enumerate(columns):
            ours = Cell("–") if row is None else row.cells[place]
            yield ours
            if column.key in metrics:
                theirs = figure(row, names, column)
                less = math.nan if isinstance(ours.value, str) else ours.value - theirs
                yield from (Cell("" if math.isnan(each) else each) for each in (theirs, less))

    wide: list[Column] = []
    for column in columns:
        wide.append(column)
        if column.key in metrics:
            plain = replace(column, better=0, is_beside=True)
            wide.append(replace(plain, header="published", csv=f"{column.key} published"))
            wide.append(replace(plain, header="difference", csv=f"{column.key} difference"))
    beside_ours = [replace(row, cells=tuple(beside(row))) for row in rows]
    ours = [dict(zip(rows_by, row.names, strict=True)) for row in rows]
    for theirs, _ in published:
        names = {name: theirs.get(name, "") for name in rows_by}
        if not any(all(not text or own[n] == text for n, text in names.items()) for own in ours):
            ours.append(names)
            cells = tuple(beside(None, names))
            beside_ours.append(Row(tuple(names.values()), cells, -1))
    return beside_ours, wide


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
        rows = [name for name in IDENTITY[:-3] if part[name].nunique() > 1] or ["method"]
        spread = [name for name in IDENTITY[-3:] if own[name].nunique() > 1]
        if len(own):
            known: Any = {"title": title, "metrics": list(dict.fromkeys(own["metric"]))}
            # Unchecked, as results may have metrics of a later version.
            specs.append(TableSpec.model_construct(rows=rows, columns=spread, **known))
    return specs


def _chosen(results: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    frame = _best(_named(results), spec.choose)
    is_lost = frame["metric"].isin(LOST)
    keep = is_lost | frame["metric"].isin(spec.metrics or frame["metric"])
    for name, values in spec.where.items():
        # A cell without scores has no scope or weighting: all are missing.
        keep &= frame[name].isin([*map(visible, values)]) | (is_lost & (name in _SCORINGS))
    chosen = frame[keep].assign(place=range(int(keep.sum())), state="done")
    return _relative(chosen, spec) if spec.relative_to else chosen


def _relative(frame: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    """Compare values with the mean over seeds of the same value of a method."""
    alike = ["metric", *(name for name in IDENTITY if name not in COMPETITORS)]
    base = frame[frame["method"] == spec.relative_to].groupby(alike)["value"].mean().rename("base")
    frame = frame.merge(base, "left", on=alike)
    value, base = frame["value"], frame["base"]
    value = value / base if spec.relative == "ratio" else value - base
    return frame.assign(value=value, low=math.nan, high=math.nan, p=math.nan).drop(columns="base")


def _best(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Keep, of cells that differ in parameters alone, the best by the mean of a metric."""
    if not metric:
        return frame
    alike = ["language", "corpus", "reference", "task", "tokeniser", "vocab_size", "method"]
    scores = frame[frame["metric"] == metric].groupby([*alike, "parameters"], sort=False)["value"]
    is_rising = column_of(metric).better < 0
    ranked = scores.mean().reset_index().sort_values("value", ascending=is_rising, kind="stable")
    return frame.merge(ranked.drop_duplicates(alike).drop(columns="value"))


def _named(results: pd.DataFrame) -> pd.DataFrame:
    """Return results with their names as texts, empty where there is none."""
    names = (*DIMENSIONS, "metric", "held_in", "signature")
    texts = {name: results[name].astype("string").fillna("").map(visible) for name in names}
    return results.assign(**texts).astype(dict.fromkeys(names, object))


def _varies(names: pd.Series[Any]) -> bool:
    return len(set(names) - {""}) > 1


def _names(frame: pd.DataFrame, columns: Sequence[str]) -> Iterator[Names]:
    return zip(*(frame[name] for name in columns), strict=True)


def _in_order(names: Mapping[Names, Any]) -> list[Names]:
    """Sort names by column, by first occurrence, or as numbers, so that equal ones are neighbours.

    >>> _in_order(dict.fromkeys([("b", "10"), ("a", "10"), ("b", "2")]))
    [('b', '2'), ('b', '10'), ('a', '10')]
    """
    ranks = [list(dict.fromkeys(parts)) for parts in zip(*names, strict=True)]
    ranks = [sorted(r, key=int) if all(map(str.isdecimal, r)) else r for r in ranks]
    places = [{part: rank for rank, part in enumerate(parts)} for parts in ranks]
    return sorted(names, key=lambda name: [place[p] for place, p in zip(places, name, strict=True)])


def _spread_out(lost: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Repeat cells without scores for each scope, weighting and words of the others."""
    scorings = scored[_SCORINGS].drop_duplicates() if len(scored) else lost[_SCORINGS][:1]
    lost = lost.assign(state=lost["metric"].map(LOST)).drop(columns=[*_SCORINGS, "metric"])
    return lost.merge(scorings, how="cross")


def _cells(frame: pd.DataFrame, named: list[str], average: Sequence[str] = ()) -> dict[Names, Cell]:
    """Return the cell of each combination; a repeated value counts once.

    ``average``: columns over which values are averaged, beside seeds.
    """
    once = frame.drop_duplicates([*named, *average, "seed", "value"])
    over = "seeds"
    if average:
        once = once.assign(seed=once.groupby([*average, "seed"], dropna=False).ngroup())
        over = f"{COLUMN_TITLES[average[0]].lower()}s"
    is_done = once["state"] == "done"
    told = once.assign(is_done=is_done, held_in=once["held_in"] != "")
    numbers: Any = told.groupby(named, sort=False).agg(
        value=("value", "mean"),
        sd=("value", "std"),
        least=("value", "min"),
        done=("is_done", "sum"),
        seeds=("seed", "nunique"),
        defined=("value", "count"),
        low=("low", "first"),
        high=("high", "first"),
        p=("p", "first"),
        held_in=("held_in", "any"),
        task=("task", "first"),
        state=("state", "min"),  # in this order: done, failed, not run
    )
    cells = {}
    for one in numbers.itertuples():
        low, high, p = one.low, one.high, one.p
        if one.done > 1:
            p, of_mean = math.nan, NO_INTERVAL
            # Training seeds are a sample of all possible ones; those of a method are not.
            if one.task:
                most = 1.0 if column_of(one.Index[-1]).form == "percent" else math.inf
                of_mean = interval_of_mean(one.value, one.sd, one.defined, one.least, most)
            low, high = of_mean.low, of_mean.high
        cell = Cell(one.value, low, high, one.sd, one.seeds, one.defined, one.state, p=p)
        cell = replace(cell, over=over)
        cells[one.Index] = replace(cell, held_in=one.held_in) if one.done else Cell(state=one.state)
    return cells


def _columns(scored: pd.DataFrame, spread_by: list[str], metrics: Sequence[str]) -> list[Column]:
    """Return all metrics with all spreads that have a value; one without any keeps a column."""
    nothing = [("",) * len(spread_by)]
    spreads = _in_order(dict.fromkeys(_names(scored, spread_by))) if spread_by else nothing
    spreads = spreads or nothing
    if "words" in spread_by:  # figures that are not of words come last
        spreads.sort(key=lambda spread: spread[spread_by.index("words")] == "")
    there = set(_names(scored, [*spread_by, "metric"]))
    wanted = list(dict.fromkeys(metrics or scored["metric"]))
    lost = {(*spreads[0], m) for m in wanted if not any((*each, m) in there for each in spreads)}
    places = [(spread, metric) for spread in spreads for metric in wanted]
    return [column_of(metric, on) for on, metric in places if (*on, metric) in there | lost]


def _extras(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return what CSV adds to a column's values: whatever any of its cells has."""
    numbers = ("low", "high", "p", "sd")
    shown = [n for n in numbers if any(not math.isnan(getattr(cell, n)) for cell in cells)]
    shown += ["seeds"] if any(cell.seeds > 1 for cell in cells) else []
    return (*shown, *([HELD_IN] if any(cell.held_in for cell in cells) else []))


# ------------------------------------------------------------------------------ charts

_SETTING = re.compile(r"([^=, ]+[^=,]*)=([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?=,|$)")
_OWN = ("tokeniser", "vocab_size", "method", "parameters", "seed")
"""The columns that name a line; the rest is above its panel."""


def chart_of(table: Table) -> tuple[go.Figure | None, str]:
    """Return the lines of a table that asks for them, and what is not drawn of it.

    Each column of each heading is a panel, over steps, vocabulary sizes, or the only parameter in
    which rows differ. None if there is no such number, or no score.
    """
    table = replace(table, rows=tuple(row for row in table.rows if row.group >= 0))
    columns = [
        column
        for column in range(len(table.columns))
        if not table.columns[column].is_beside
        and any(not math.isnan(float(row.cells[column].value)) for row in table.rows)
    ]
    title, place, numbers = _axis(table)
    if not columns or not numbers:
        return None, ""
    rows = list(zip(table.rows, _labels(table, place), strict=True))
    places = sorted(set(numbers))
    headings = list(dict.fromkeys(heading for _, (_, heading) in rows))
    series = list(dict.fromkeys(label for _, (label, _) in rows))
    row_at = {(*name, n): row for (row, name), n in zip(rows, numbers, strict=True)}
    panels = []
    for heading in headings:
        for number in columns:
            each = [row_at.get((label, heading, n)) for label in series for n in places]
            panels.append(_panel(table.columns[number], number, each, heading))
    more = len(panels) - MOST_PANELS
    shown = counted(more, "more panel is", "more panels are")
    return line_panels(series, places, panels, title), f"{shown} not drawn." if more > 0 else ""


def _labels(table: Table, but: int) -> list[tuple[str, str]]:
    """Return each row's own name, and its heading; empty if rows do not differ.

    ``but``: the index of a column to leave out of both.
    """
    by = table.rows_by
    columns = [n for n in range(len(by)) if n != but]
    shown = [n for n in columns if len({row.names[n] for row in table.rows}) > 1] or columns
    own = [n for n in shown if by[n] in _OWN] or shown
    above = [n for n in shown if n not in own]
    return [
        (
            " · ".join(row.names[n] for n in own if row.names[n]),
            " · ".join(row.names[n] for n in above if row.names[n]),
        )
        for row in table.rows
    ]


def _panel(column: Column, place: int, rows: Sequence[Row | None], heading: str = "") -> Panel:
    scale = 100 if column.form == "percent" else 1
    marks = []
    for row in rows:
        cell = Cell() if row is None else row.cells[place]
        value, low, high = float(cell.value), cell.low, cell.high
        if not math.isnan(cell.sd):
            low, high = value - cell.sd, value + cell.sd
        text = "" if row is None else " ".join(cell_texts(column, cell)).rstrip()
        marks.append(Mark(scale * value, scale * low, scale * high, text))
    above = ", ".join(filter(None, column.spread))
    return Panel(" · ".join(filter(None, [heading, column.title, above])), marks)


def _axis(table: Table) -> tuple[str, int, list[float]]:
    """Return the x axis of lines: its title, its column of names, and its number in each row.

    No numbers if the table asks for no lines, or nothing suits.
    """
    known = ("step", "vocab_size", "parameters") if table.lines else ()
    for name in (name for name in known if name in table.rows_by):
        place = table.rows_by.index(name)
        texts = [row.names[place] for row in table.rows]
        if name != "parameters":
            texts = [f"{COLUMN_TITLES[name]}={text}" for text in texts]
        settings = [dict(_SETTING.findall(text)) for text in texts]
        keys = dict.fromkeys(key for one in settings for key in one)
        varying = [key for key in keys if len({one.get(key) for one in settings}) > 1]
        if len(varying) == 1 and all(varying[0] in one for one in settings):
            return varying[0], place, [float(one[varying[0]]) for one in settings]
    return "", -1, []


# ------------------------------------------------------------------------------ files

MOST_FAILURES = 200
"""The largest number of failures listed; the log has all."""
_NAME_LENGTH = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")


def tables_of(plan: Plan, results: pd.DataFrame) -> list[Table]:
    """Return the tables of all parts of an evaluation, those that it asks for or the usual ones."""
    tables = []
    for number, part in enumerate(plan.evaluation.parts, 1):
        of_part = results[results["part"] == number]
        tables += [make_table(of_part, spec) for spec in part.tables or usual_tables(of_part)]
    return tables


def tables_so_far(plan: Plan, folder: Path, *, ended: bool = False) -> list[Table]:
    """Return the tables of a run: of its results once it has ended, before of the cells it has."""
    results = folder / "results.parquet"
    if ended and results.is_file():
        return tables_of(plan, pd.read_parquet(results))
    store = Store(folder)
    reports = [
        TaskReport(cell, "done" if store.path(cell.key).is_file() else "not run")
        for cell in plan.cells
    ]
    return tables_of(plan, collected(plan.parts, reports, store))


def write_report(
    plan: Plan,
    results: pd.DataFrame,
    reports: Sequence[TaskReport],
    facts: Mapping[str, Any],
    folder: Path,
) -> list[Path]:
    """Write ``report.html``, ``report.md`` and each table as LaTeX and CSV to ``folder``.

    ``results``: a cell that failed, or was not run, has a row whose metric is one of `LOST`;
    ``facts``: of the run. Without tables in the configuration, `usual_tables` are made. Returns the
    files written; ``tables/`` is created. Each file replaces an earlier one atomically, so that
    none is ever incomplete.
    """
    from plotly.offline import get_plotlyjs

    asked, tables = plan.evaluation, tables_of(plan, results)
    distinct = dict.fromkeys(text for table in tables for text in table.signatures)
    numbers = {text: number for number, text in enumerate(distinct, 1)}
    sections = [_section(table, numbers) for table in tables]
    known = run_facts(facts)
    left_out = [("", why) for why in plan.left_out]
    failures = [each.failure for each in reports if each.failure is not None]
    content = {
        "title": asked.title or asked.name,
        "description": asked.description,
        "headline": _headline(results, reports, facts["seconds"]),
        "has_rows": any(table.rows for table in tables),
        "sections": sections,
        "left_out": [*((each.of, each.why) for each in asked.missing), *left_out],
        "failures": failures[:MOST_FAILURES],
        "more_failures": max(0, len(failures) - MOST_FAILURES),
        "facts": known,
        "command": known.get("Command", ""),
        "signatures": list(numbers),
        "configuration": plan.text,
        "plotly": get_plotlyjs() if any(section["chart"] for section in sections) else "",
    }
    files = {name: rendered(f"{name}.j2", **content) for name in ("report.html", "report.md")}
    written = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    names = file_names([table.title for table in tables])
    for name, table in zip(names, tables, strict=True):
        written[f"tables/{name}.tex"] = to_latex(table, name).encode("utf-8", "replace")
        written[f"tables/{name}.csv"] = to_csv(table)
    for name, data in written.items():
        write_file(folder / name, data)
    return [folder / name for name in written]


def _section(table: Table, numbers: Mapping[str, int]) -> dict[str, Any]:
    chart, chart_note = chart_of(table)
    own = _ranges([numbers[text] for text in table.signatures])
    notes = [*table.notes, *table.explained, *([f"Signatures: {own}."] if own else [])]
    return {
        "table": table,
        "constants": " · ".join(f"{k}: {text}" for k, text in table.constants.items()),
        "notes": " ".join(notes),
        "chart": None if chart is None else _json(chart),
        "chart_note": chart_note,
    }


def _json(chart: go.Figure) -> str:
    """Return a figure as JSON that is safe inside a script element: it contains no <."""
    from plotly.io.json import to_json_plotly

    figure = chart.to_plotly_json()
    figure["layout"].pop("template", None)
    return str(to_json_plotly(figure))


def file_names(titles: Sequence[str]) -> list[str]:
    """Return unique lower-case ASCII file names for titles that every system allows.

    >>> file_names(["Scores: Rényi & F1", "Scores (Rényi, F1)", "../..", "con"])
    ['scores-renyi-f1', 'scores-renyi-f1-2', 'table', 'table-con']
    """
    names: list[str] = []
    for title in titles:
        ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
        name = re.sub("[^a-z0-9]+", "-", ascii_only.lower()).strip("-")[:_NAME_LENGTH].strip("-")
        name = f"table-{name}" if _RESERVED.fullmatch(name) else name or "table"
        numbered = chain([name], (f"{name}-{number}" for number in count(2)))
        names.append(next(one for one in numbered if one not in names))
    return names


# ------------------------------------------------------------------------------ the run


def _headline(
    results: pd.DataFrame, reports: Sequence[TaskReport], seconds: float
) -> list[tuple[str, str]]:
    states = Counter(each.state for each in reports if each.task.kind == "cell")
    return [
        (f"{states['done']:,} of {states.total():,}", "cells done"),
        *((f"{states[state]:,}", f"cells {state}") for state in LOST.values() if states[state]),
        (f"{(~results['metric'].isin(LOST)).sum():,}", "results"),
        (duration(seconds), "duration"),
    ]


def run_facts(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return all facts of a run as texts; nested names are joined.

    >>> run_facts({"command": ["a", "b c"], "machine": {"cores": 2}, "languages": ["en", "de"]})
    {'Command': "a 'b c'", 'Machine: cores': '2', 'Languages': 'en, de'}
    """
    texts = {}
    for key, value in facts.items():
        for part, each in value.items() if isinstance(value, Mapping) else [("", value)]:
            text = ", ".join(each) if isinstance(each, list) else str(each)
            name = ": ".join(filter(None, (key.capitalize(), part)))
            texts[name] = shlex.join(each) if key == "command" else text
    return texts


def _ranges(numbers: Sequence[int]) -> str:
    """Format numbers, with consecutive ones as ranges.

    >>> _ranges([3, 1, 2, 7]), _ranges([])
    ('1–3, 7', '')
    """
    ranges = []
    for _, run in groupby(enumerate(sorted(set(numbers))), lambda pair: pair[1] - pair[0]):
        first, *rest = [number for _, number in run]
        ranges.append(f"{first}–{rest[-1]}" if rest else f"{first}")
    return ", ".join(ranges)

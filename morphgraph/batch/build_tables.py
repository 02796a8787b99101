"""Tables of an evaluation, made from its results in long form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from morphgraph.batch.names import column_of
from morphgraph.batch.report_data import (
    COLUMN_TITLES,
    COMPETITORS,
    IDENTITY,
    LOST,
    RESULT_COLUMNS,
    TableSpec,
    complete,
    name_text,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.tables.model import ALL_WORDS, HELD_IN, Cell, Column, Row, State, Table, with_best

if TYPE_CHECKING:
    import pandas as pd

_SCORINGS = ("scope", "weighting")
"""What one cell has several of, so that one that failed has none."""

_ANY = "\0"
"""Stands for every scope or weighting."""


def make_table(results: pd.DataFrame, spec: TableSpec) -> Table:
    """The table that a specification asks for.

    Rows and columns stand in the order in which the results have them. A combination without a
    result is missing, or failed if the results say so. What the rows leave open, so that several
    results would share a cell, is added to them: only seeds are averaged. `MorphGraphError` if
    the specification names a column that results do not have.
    """
    _check(spec)
    frame = chosen(results, spec)
    is_lost = frame["metric"].isin(LOST)
    scored = frame[~is_lost]
    rows_by, spread_by = list(dict.fromkeys(spec.rows)), list(dict.fromkeys(spec.columns))
    rows_by += _told_apart(frame, [*rows_by, *spread_by])
    if "words" not in (*rows_by, *spread_by) and len(set(scored["words"].tolist()) - {""}) > 1:
        spread_by.append("words")  # held-out scores stand beside those of all words
    added = _left_open(scored, rows_by, spread_by)
    rows_by += added
    grouped = _grouped(scored, [*rows_by, *spread_by, "metric"])
    spreads = _in_order(_distinct(scored, spread_by)) or [("",) * len(spread_by)]
    if "words" in spread_by:  # what is of no words stands behind both
        spreads.sort(key=lambda spread: spread[spread_by.index("words")] == "")
    metrics = spec.metrics or list(dict.fromkeys(scored["metric"]))
    columns = _columns(grouped, spreads, metrics, len(rows_by))
    lost = _lost(frame[is_lost], scored, rows_by, spread_by)
    lost_names = [names[: len(rows_by)] for names, _, _ in lost]
    names = _in_order(_in_plan_order(frame, rows_by, lost_names))
    rows = [
        Row(name, tuple(_cell(grouped, lost, name, column) for column in columns), group)
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
        signatures=tuple(dict.fromkeys(text for text in scored["signature"].tolist() if text)),
        notes=tuple(notes),
        chart=spec.chart,
        bold="the best" + (f" of those with the same {' and '.join(same)}" if same else ""),
        against="the first method that does not learn from the reference",
    )


def _extras(cells: Sequence[Cell]) -> tuple[str, ...]:
    """What CSV says of a column's cells beside their values: what any of them has."""
    numbers = ("low", "high", "p", "sd")
    found = [n for n in numbers if any(not math.isnan(getattr(cell, n)) for cell in cells)]
    found += ["seeds"] if any(cell.seeds > 1 for cell in cells) else []
    return (*found, *([HELD_IN] if any(cell.held_in for cell in cells) else []))


def _told_apart(frame: pd.DataFrame, named: Sequence[str]) -> list[str]:
    """What results were measured on, where that varies: a table says it even if rows do not ask."""
    return [
        name
        for name in ("corpus", "reference")
        if name not in named and len(set(frame[name].tolist()) - {""}) > 1
    ]


def _check(spec: TableSpec) -> None:
    allowed = (*IDENTITY, "seed")
    unknown = [name for name in (*spec.rows, *spec.columns, *spec.where) if name not in allowed]
    if unknown:
        raise MorphGraphError(
            f"The table “{spec.title}” names the column “{unknown[0]}”, which results do not "
            f"have. Use one of: {', '.join(allowed)}."
        )


def chosen(results: pd.DataFrame, spec: TableSpec) -> pd.DataFrame:
    """The rows of results that a table is made of, failed cells among them."""
    frame = _named(results)
    wanted = spec.metrics or list(frame["metric"])
    keep = frame["metric"].isin([*wanted, *LOST])
    for name, values in spec.where.items():
        allowed = {name_text(value) for value in values}
        texts = frame[name]
        # A cell without scores has no scope or weighting: it lacks all of them.
        is_open = frame["metric"].isin(LOST) & (texts == "") & (name in _SCORINGS)
        keep &= texts.isin(allowed) | is_open
    return frame[keep.astype(bool)]


def _named(results: pd.DataFrame) -> pd.DataFrame:
    """Results with all that names something as text."""
    frame = complete(results, RESULT_COLUMNS, "results")
    names = (*IDENTITY, "seed", "metric", "held_in", "signature")
    texts = {name: list(map(name_text, frame[name].astype(object).tolist())) for name in names}
    return frame.assign(**texts).astype(dict.fromkeys(names, object))


def _texts(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    if not names:
        return iter([()] * len(frame))
    return zip(*(frame[name].tolist() for name in names), strict=True)


def _distinct(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(_texts(frame, names)))


def _left_open(scored: pd.DataFrame, rows_by: list[str], spread_by: list[str]) -> list[str]:
    """The columns in which results differ that would share a cell."""
    named = [*rows_by, *spread_by]
    rest = [name for name in IDENTITY if name not in named]
    seen: dict[tuple[str, ...], tuple[str, ...]] = {}
    found: set[str] = set()
    for key, others in zip(_texts(scored, [*named, "metric"]), _texts(scored, rest), strict=True):
        first = seen.setdefault(key, others)
        found.update(name for name, a, b in zip(rest, first, others, strict=True) if a != b)
    return [name for name in rest if name in found]


def _in_order(names: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Names sorted by column, what came first in a column first, so that alike ones are neighbours.

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


Lost = tuple[tuple[str, ...], str, State]
"""A combination of a cell without scores, its seed, and why it has none."""


def _lost(
    failed: pd.DataFrame, scored: pd.DataFrame, rows_by: list[str], spread_by: list[str]
) -> list[Lost]:
    """What has no scores; a scope or weighting is that of each score in rows, any in columns."""
    open_rows = [name for name in rows_by if name in _SCORINGS]
    scorings = _distinct(scored, open_rows) or [("",) * len(open_rows)]
    found: list[Lost] = []
    for place, seed, metric in zip(
        _texts(failed, [*rows_by, *spread_by]),
        failed["seed"].tolist(),
        failed["metric"].tolist(),
        strict=True,
    ):
        for scoring in scorings:
            known = dict(zip(open_rows, scoring, strict=True))
            known |= dict.fromkeys((name for name in spread_by if name in _SCORINGS), _ANY)
            named = list(zip([*rows_by, *spread_by], place, strict=True))
            names = tuple(known.get(name, part) for name, part in named)
            found.append((names, seed, LOST[metric]))
            if ("words", ALL_WORDS) in named and "words" in spread_by:
                # It lacks what is of no words, too.
                known["words"] = ""
                names = tuple(known.get(name, part) for name, part in named)
                found.append((names, seed, LOST[metric]))
    return found


def _in_plan_order(
    frame: pd.DataFrame, rows_by: list[str], failed: Sequence[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """What names the rows: in the order of the results, a cell that failed at its own place."""
    width = len(rows_by)
    open_places = [place for place, name in enumerate(rows_by) if name in _SCORINGS]

    def bare(name: tuple[str, ...]) -> tuple[str, ...]:
        return tuple("" if place in open_places else name[place] for place in range(width))

    found: dict[tuple[str, ...], None] = {}
    is_failed = frame["metric"].isin(LOST).tolist()
    for name, failed_here in zip(_texts(frame, rows_by), is_failed, strict=True):
        same = [other for other in failed if bare(other) == bare(name)] if failed_here else [name]
        found.update(dict.fromkeys(same))
    return list(found)


MeasuredScore = tuple[float, float, float, float, bool]
"""A score, its interval, its p-value, and whether it is held in."""

Grouped = dict[tuple[str, ...], dict[tuple[str, float], MeasuredScore]]


def _grouped(scored: pd.DataFrame, names: Sequence[str]) -> Grouped:
    """For each combination, its values with their intervals; a repeated one once."""
    found: Grouped = {}
    numbers = zip(
        scored["seed"].tolist(),
        *(scored[name].astype(float).tolist() for name in ("value", "low", "high", "p")),
        (scored["held_in"] == HELD_IN).tolist(),
        strict=True,
    )
    for key, (seed, value, low, high, p, held_in) in zip(
        _texts(scored, names), numbers, strict=True
    ):
        # All undefined values are one, which NaN itself is not.
        same = (seed, math.inf if math.isnan(value) else value)
        found.setdefault(key, {}).setdefault(same, (value, low, high, p, held_in))
    return found


def _columns(
    grouped: Grouped, spreads: Sequence[tuple[str, ...]], metrics: Sequence[str], names: int
) -> list[Column]:
    """All pairs that have a value somewhere; a metric without any keeps a place."""
    there = {key[names:] for key in grouped}
    wanted = list(dict.fromkeys(metrics))
    lost = {m for m in wanted if not any((*spread, m) in there for spread in spreads)}
    return [
        column_of(metric, spread)
        for number, spread in enumerate(spreads)
        for metric in wanted
        if (*spread, metric) in there or (metric in lost and number == 0)
    ]


def _cell(grouped: Grouped, lost: Sequence[Lost], names: tuple[str, ...], column: Column) -> Cell:
    found = grouped.get((*names, *column.spread, column.key), {})
    place = (*names, *column.spread)
    # A cell that failed has a row for each scope and weighting in the rows, none in the columns.
    here = [
        (seed, state)
        for lacking, seed, state in lost
        if all(a in (b, _ANY) for a, b in zip(lacking, place, strict=True))
    ]
    failed = {seed for seed, _ in here}
    if not found:
        return Cell(state=min((state for _, state in here), default="missing"))
    values = list(found.values())
    defined = [value for value, *_ in values if not math.isnan(value)]
    low, high, p = values[0][1:4] if len(values) == 1 else (math.nan,) * 3
    return Cell(
        fmean(defined) if defined else math.nan,
        low,
        high,
        stdev(defined) if len(defined) > 1 else math.nan,
        len(values) + len(failed - {seed for seed, _ in found}),
        len(defined),
        "done",
        p=p,
        held_in=any(held_in for *_, held_in in values),
    )


def _groups(names: Sequence[tuple[str, ...]], rows_by: Sequence[str]) -> list[int]:
    """The number of each row's group: of those that differ in what competes only."""
    numbers: dict[tuple[str, ...], int] = {}
    return [
        numbers.setdefault(
            tuple(n for n, by in zip(name, rows_by, strict=True) if by not in COMPETITORS),
            len(numbers),
        )
        for name in names
    ]


def _constants(frame: pd.DataFrame, named: set[str]) -> dict[str, str]:
    """What is the same in all results and is in no heading, by title."""
    found = {}
    for name in (*IDENTITY, "seed"):
        if name not in named:
            texts = set(frame[name].tolist()) - {""}
            if len(texts) == 1:
                found[COLUMN_TITLES[name]] = texts.pop()
    return found


def usual_tables(results: pd.DataFrame) -> list[TableSpec]:
    """Tables of all results: scores against references, and what has no scope, if there is any.

    Rows are made of what varies.
    """
    frame = _named(results)
    has_scope = frame["scope"] != ""
    failed = frame["metric"].isin(LOST)
    specs = []
    for title, part in (
        ("Scores", frame[has_scope | failed]),
        ("Vocabulary and facts of the run", frame[~has_scope]),
    ):
        metrics = [metric for metric in dict.fromkeys(part["metric"]) if metric not in LOST]
        if not metrics:
            continue
        own = part[~part["metric"].isin(LOST)]
        rows = [name for name in IDENTITY[:-3] if len(set(_texts(part, [name]))) > 1]
        spread = [name for name in IDENTITY[-3:] if len(set(_texts(own, [name]))) > 1]
        specs.append(TableSpec(title, rows or ["method"], spread, metrics))
    return specs

"""Tables of scores: of tokenisers, of groups of words, and of words cut wrongly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import UNDEFINED, base_name, percent, ratio_text, shortened
from morphgraph.score.breakdown import BREAKDOWNS
from morphgraph.score.metrics import METRICS, Metric
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate, ScoreTable, SegmentationFailure
from morphgraph.tables.latex import to_latex
from morphgraph.tables.model import ALL_WORDS, Cell, Column, Form, Row, Table, with_best
from morphgraph.tables.writing import csv_bytes, one_line, to_csv, to_markdown, whole

if TYPE_CHECKING:
    from morphgraph.score.breakdown import Breakdown
    from morphgraph.score.errors import ErrorBrowser
    from morphgraph.score.flota import FlotaScores

_NAME_LENGTH = 60


def score_text(name: str, value: float) -> str:
    """Format a score with 2 digits; shares in percent.

    >>> score_text("f1", 0.5), score_text("fertility", 1.5), score_text("f1", float("nan"))
    ('50.00', '1.50', 'n/a')
    """
    return percent(value) if METRICS[name].unit == "%" else ratio_text(value)


def words_of(table: ScoreTable) -> str:
    """Describe the words of the reference that a table covers."""
    drawn = "" if table.gold_set is None else table.gold_set.drawn
    return f"held out: {drawn}" if drawn else ALL_WORDS


def score_rows(table: ScoreTable) -> list[dict[str, str | float]]:
    """Return a row of plain values for each tokeniser.

    ``label``, ``vocabulary size``, and for each metric, by its name, its value, ``… low`` and ``…
    high`` of its 95 % interval, and ``… p``; then ``error``. Where scores are means over runs, ``…
    sd`` is their standard deviation. Shares are from 0 to 1. Undefined values are NaN, as are all
    those of a tokeniser that failed, whose ``error`` says why; that of others is empty.
    """
    shown = scores_table([table])
    rows: list[dict[str, str | float]] = []
    for row in shown.rows:
        line: dict[str, str | float] = {"label": row.names[0]}
        for column, cell in zip(shown.columns, row.cells, strict=True):
            line[column.csv] = cell.value
            line |= {f"{column.csv} {extra}": getattr(cell, extra) for extra in column.extras}
        rows.append(line | {"error": row.error})
    return rows


def _size(outcome: Outcome | SegmentationFailure) -> float:
    size = None if isinstance(outcome, SegmentationFailure) else outcome.vocabulary_size
    return math.nan if size is None else size


def _form(metric: Metric) -> Form:
    return "percent" if metric.unit == "%" else "ratio"


def _cell(estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell()
    low, high = estimate.interval.low, estimate.interval.high
    return Cell(estimate.value, low, high, estimate.deviation, p=estimate.p, state="done")


def scores_table(tables: Sequence[ScoreTable]) -> Table:
    """Return the scores of tokenisers, a block for each of ``tables``.

    The gold itself, the ceiling of all others, does not compete. `MorphGraphError` without tables.
    """
    names = list(dict.fromkeys(name for table in tables for name in table.metrics))
    if not any(table.outcomes for table in tables) or not names:
        raise MorphGraphError(
            "There are no scores to write. Score at least one tokeniser by at least one metric."
        )
    extras = ("low", "high", "p", *(["sd"] if any(table.runs > 1 for table in tables) else []))
    columns = [Column("|V|", "count", csv="vocabulary size")]
    for name in names:
        metric = METRICS[name]
        form = _form(metric)
        columns.append(Column(metric.title, form, metric.better, name, csv=name, extras=extras))
    rows = [row for block, table in enumerate(tables) for row in _rows(table, block, names)]
    return Table(
        "Scores of tokenisers against gold segmentations",
        (Column("Tokeniser", csv="tokeniser"),),
        tuple(columns),
        with_best(rows, columns),
        blocks=tuple(map(_title, tables)),
        signatures=tuple(dict.fromkeys(table.signature for table in tables if table.signature)),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        bold="the best of its block",
        against="the baseline (†) of the block",
    )


def _rows(table: ScoreTable, block: int, names: Sequence[str]) -> Iterable[Row]:
    place = {
        "reference": _reference(table),
        "scope": table.scope,
        "weighting": table.weighting,
        "words": words_of(table),
    }
    is_tested = any(
        not math.isnan(one.p) for found in table.estimates for one in (found or {}).values()
    )
    for number, (outcome, found) in enumerate(zip(table.outcomes, table.estimates, strict=True)):
        error = outcome.message if isinstance(outcome, SegmentationFailure) else ""
        held_in = isinstance(outcome, Outcome) and outcome.held_in
        alone = isinstance(outcome, Outcome) and outcome.is_gold
        scores = (
            _cell(None if found is None else found[name]) if name in table.metrics else Cell("")
            for name in names
        )
        after = {
            "held in": "yes" if held_in else "no",
            "error": error,
            "signature": table.signature_of(number),
        }
        yield Row(
            (outcome.label,),
            (Cell(_size(outcome)), *scores),
            group=-1 if alone else block,
            block=block,
            error=error,
            is_baseline=is_tested and number == table.baseline,
            held_in=held_in,
            before=tuple(place.items()),
            after=tuple(after.items()),
        )


def _reference(table: ScoreTable) -> str:
    gold_set = table.gold_set
    return UNDEFINED if gold_set is None else base_name(gold_set.reference.name)


def _title(table: ScoreTable) -> str:
    name = shortened(one_line(_reference(table)), _NAME_LENGTH)
    words = words_of(table)
    held_out = "" if words == ALL_WORDS else f", {words}"
    return f"{name}, {table.scope} boundaries over word {table.weighting}{held_out}"


def scores_csv(tables: Sequence[ScoreTable]) -> bytes:
    """Return scores as CSV, one row for each tokeniser of each table, with its signature."""
    return to_csv(scores_table(tables))


def scores_latex(tables: Sequence[ScoreTable]) -> str:
    """Return scores as a LaTeX table."""
    return to_latex(scores_table(tables), "scores", "Scores of tokenisers")


def scores_markdown(tables: Sequence[ScoreTable]) -> str:
    """Return scores as Markdown."""
    return to_markdown(scores_table(tables))


def breakdown_table(found: Breakdown) -> Table:
    """Return a score of each group of words, with a column for each tokeniser."""
    metric = METRICS[found.metric]
    columns = [
        Column(found.counted, "count"),
        *(Column(each, _form(metric)) for each in found.labels),
    ]
    estimates = [found.estimates(number) for number in range(len(found.labels))]
    return Table(
        f"{metric.title}{' %' * (metric.unit == '%')} by {BREAKDOWNS[found.by].lower()}",
        (Column("group"),),
        tuple(columns),
        tuple(
            Row((group.name,), (Cell(group.size), *(_cell(each[place]) for each in estimates)))
            for place, group in enumerate(found.groups)
        ),
        signatures=(found.signature,),
    )


def breakdown_csv(found: Breakdown) -> bytes:
    """Return one row for each group and tokeniser, with its signature; shares are 0 to 1."""
    head = ("group", f"number of {found.counted}", "tokeniser", found.metric, "low", "high")
    rows = [
        (group.name, group.size, label, each.value, each.interval.low, each.interval.high)
        for number, label in enumerate(found.labels)
        for group, each in zip(found.rows[number], found.estimates(number), strict=True)
    ]
    return csv_bytes([(*head, "signature"), *((*row, found.signature) for row in rows)])


def flota_table(found: FlotaScores) -> Table:
    """Return FLOTA's own scores, a row for each method and k."""
    shares = ("coverage C", "stem recall R", "full match M")
    columns = [Column(title, "percent") for title in shares]
    columns += [Column("words", "count"), Column("with a stem", "count")]
    rows = []
    for each in found.scores:
        names = (each.method, "∞" if each.k is None else str(each.k))
        numbers = (each.coverage, each.stem_recall, each.full_match)
        counts = (each.entries, each.entries_with_stem)
        rows.append(Row(names, tuple(map(Cell, (*numbers, *counts)))))
    by = (Column("method"), Column("k", "written"))
    return Table("FLOTA's scores", by, tuple(columns), tuple(rows), signatures=(found.signature,))


def errors_csv(browser: ErrorBrowser, entries: Iterable[int]) -> bytes:
    """Return words with gold segments, tokens and errors, one per row, and the signature."""
    signature = browser.outcome.signature(scores=f"{browser.scope} errors")
    weighted = browser.outcome.gold_set.frequencies is not None
    texts = ("word", "gold", "tokens", "marked", "kind")
    lines = [(*texts, "wrong splits", "missed boundaries", "frequency", "signature")]
    for row in (browser.row(int(entry)) for entry in entries):
        weight = whole(row.weight) if weighted else math.nan
        told = (getattr(row, name) for name in texts)
        lines.append((*told, row.wrong, row.missed, weight, signature))
    return csv_bytes(lines)

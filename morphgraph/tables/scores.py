"""Tables of scores and of segmentations, which display themselves in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import (
    UNDEFINED,
    base_name,
    percent,
    ratio_text,
    shortened,
    visible,
)
from morphgraph.score.comparison import ComparedWord, Comparison
from morphgraph.score.metrics import METRICS, Metric, check_metrics
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import BREAKDOWNS, Estimate, ScoreTable, SegmentationFailure
from morphgraph.tables.model import ALL_WORDS, Cell, Column, Form, Row, Table, with_best
from morphgraph.tables.writing import (
    csv_bytes,
    one_line,
    rendered,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    whole,
    without_formulas,
)

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.score.comparison import ErrorBrowser
    from morphgraph.score.flota import FlotaScores
    from morphgraph.score.table import Breakdown

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


_TITLE = "Comparison of segmentations"


def words_table(comparison: Comparison, rows: Sequence[ComparedWord]) -> Table:
    """Return the table of words by methods: tokens separated by spaces, exact words in bold."""
    return Table(
        _TITLE,
        (Column("Word"), Column("Gold")),
        tuple(Column(label) for label in comparison.labels),
        tuple(
            Row(
                (row.text, " | ".join(row.gold or ())),
                tuple(
                    Cell(
                        " ".join(cell.tokens),
                        is_best=bool(cell.exact),
                        tokens=cell.tokens,
                        pieces=cell.pieces,
                    )
                    for cell in row.cells
                ),
            )
            for row in rows
        ),
        signatures=(comparison.signature,),
        bold="cut just as in the gold",
    )


def summary_table(comparison: Comparison) -> Table:
    """Return the scores of each method over all compared words."""
    shares = (("precision", "precision"), ("recall", "recall"), ("F1", "f1"), ("exact", "exact"))
    columns = [Column(title, "percent", key=key) for title, key in shares]
    columns.insert(3, Column("95 %", "written"))
    columns += [Column("tokens per word", "ratio"), Column("|V|", "count")]
    rows = []
    for found in comparison.summaries:
        cells = [Cell(getattr(found, key)) for _, key in shares]
        interval = f"{percent(found.interval.low)}–{percent(found.interval.high)}"
        cells.insert(3, Cell(interval))
        cells += [Cell(found.fertility), Cell(found.vocabulary_size)]
        rows.append(Row((found.label,), tuple(cells)))
    return Table(
        "Summary",
        (Column("method"),),
        tuple(columns),
        tuple(rows),
        signatures=(*(found.signature for found in comparison.summaries), comparison.signature),
    )


def comparison_csv(comparison: Comparison, rows: Sequence[ComparedWord]) -> bytes:
    """Return rows as CSV: the word, its gold morphs, and the result of each method.

    This is its tokens, separated by spaces, its errors, and whether it is exact.
    """
    told = ("", ": errors", ": exact")
    lines: list[list[object]] = [
        ["word", "gold", *(label + what for label in comparison.labels for what in told)]
    ]
    for row in rows:
        line: list[object] = [row.text, " ".join(row.gold or ())]
        for found in row.cells:
            known = (found.errors, int(found.exact)) if found.exact is not None else [UNDEFINED] * 2
            line += [" ".join(found.tokens), *known]
        lines.append(line)
    return csv_bytes(lines)


def comparison_latex(comparison: Comparison, rows: Sequence[ComparedWord]) -> str:
    """Return rows as a LaTeX table, with tokens separated by a bar."""
    return to_latex(words_table(comparison, rows), "comparison")


def comparison_html(
    comparison: Comparison, rows: Sequence[ComparedWord], title: str = _TITLE
) -> bytes:
    """Return rows and summaries as one stand-alone HTML file; all text is escaped."""
    page = rendered(
        "comparison.html.j2",
        title=title,
        words=words_table(comparison, rows),
        summary=summary_table(comparison),
    )
    return page.encode("utf-8", "replace")


class ScoreView:
    """A table of scores, one row for each tokeniser."""

    def __init__(self, table: ScoreTable) -> None:
        self.table = table

    @property
    def signature(self) -> str:
        """One line with everything that the scores depend on.

        >>> tokeniser.score(gold).signature.partition("|")[0]
        'reference:demo:en@be1dd82ec9f8'
        """
        return self.table.signature

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each tokeniser: its scores, their 95 % intervals and p-values.

        Shares are from 0 to 1, and NaN where undefined.

        >>> list(tokeniser.score(gold).to_frame().columns)[:3]
        ['vocabulary size', 'precision', 'precision low']
        """
        import pandas as pd

        return pd.DataFrame(score_rows(self.table)).set_index("label")

    def to_latex(self) -> str:
        """Return a LaTeX table; it needs adjustbox, array, booktabs, or longtable if long.

        >>> "toprule" in tokeniser.score(gold).to_latex()
        True
        """
        return scores_latex([self.table])

    def to_markdown(self) -> str:
        """Return a Markdown table, with its marks explained and its signature.

        >>> "| F1" in tokeniser.score(gold).to_markdown()
        True
        """
        return scores_markdown([self.table])

    def _repr_html_(self) -> str:
        return without_formulas(to_html(scores_table([self.table])))

    def _shown(self, number: int) -> str:
        found = self.table.estimates[number]
        if found is None:
            return "failed"
        value = self.table.of(number, ["f1"])["f1"].value
        return f"F1 {percent(value)} %"


class TokeniserScore(ScoreView):
    """The scores of one tokeniser; shares are from 0 to 1, NaN where undefined.

    >>> round(tokeniser.score(gold, metrics=["exact"])["exact"], 3)
    0.248
    """

    @property
    def precision(self) -> float:
        """The share of its splits that are gold boundaries.

        >>> round(tokeniser.score(gold).precision, 3)
        0.483
        """
        return self["precision"]

    @property
    def recall(self) -> float:
        """The share of gold boundaries that it splits.

        >>> round(tokeniser.score(gold).recall, 3)
        0.478
        """
        return self["recall"]

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall.

        >>> round(tokeniser.score(gold).f1, 3)
        0.481
        """
        return self["f1"]

    def __getitem__(self, metric: str) -> float:
        """Return a score by name; `MorphGraphError` if there is none of that name."""
        names = check_metrics([metric])
        if len(names) != 1:
            raise MorphGraphError(f"“{metric}” is several scores. Use one: {', '.join(names)}.")
        return self.table.of(0, names)[names[0]].value

    def __repr__(self) -> str:
        """Return the printed line, with its signature."""
        named = (("precision", self.precision), ("recall", self.recall), ("F1", self.f1))
        shares = ", ".join(f"{name} {percent(value)} %" for name, value in named)
        return f"{shares} | {self.signature}"


class ComparedScores(ScoreView):
    """The scores of several tokenisers on the same gold, tested against the first or a baseline.

    >>> print(repr(mg.compare({"a": tokeniser, "b": tokeniser}, gold)).partition(" | ")[0])
    a F1 48.07 %, b F1 48.07 %
    """

    def __repr__(self) -> str:
        """Return one line: the F1 of each, and the signature."""
        rows = enumerate(self.table.labels)
        shown = ", ".join(f"{visible(label)} {self._shown(number)}" for number, label in rows)
        return f"{shown} | {self.signature}"

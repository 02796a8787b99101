"""A comparison to take away: as CSV, as LaTeX, and as a web page of its own."""

from collections.abc import Sequence

from morphgraph.core.text import UNDEFINED, percent
from morphgraph.score.comparison import ComparedWord, Comparison
from morphgraph.tables import model
from morphgraph.tables.latex import to_latex
from morphgraph.tables.model import Cell, Column, Table
from morphgraph.tables.writing import csv_bytes, rendered

_TITLE = "Comparison of segmentations"


def words_table(comparison: Comparison, rows: Sequence[ComparedWord]) -> Table:
    """Words by methods: their tokens, separated by spaces; bold are those cut as in the gold."""
    return Table(
        _TITLE,
        (Column("Word"), Column("Gold")),
        tuple(Column(label) for label in comparison.labels),
        tuple(
            model.Row(
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
    """The scores of each method over all compared words."""
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
        rows.append(model.Row((found.label,), tuple(cells)))
    return Table(
        "Summary",
        (Column("method"),),
        tuple(columns),
        tuple(rows),
        signatures=(*(found.signature for found in comparison.summaries), comparison.signature),
    )


def comparison_csv(comparison: Comparison, rows: Sequence[ComparedWord]) -> bytes:
    """Rows as CSV: the word, its gold morphs, and for each method its tokens, errors and whether
    it is exact; tokens are separated by spaces.
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
    """Rows as a LaTeX table: tokens separated by a bar."""
    return to_latex(words_table(comparison, rows), "comparison")


def comparison_html(
    comparison: Comparison, rows: Sequence[ComparedWord], title: str = _TITLE
) -> bytes:
    """Rows and summaries as one HTML file that needs nothing else; all text is escaped."""
    page = rendered(
        "comparison.html.j2",
        title=title,
        words=words_table(comparison, rows),
        summary=summary_table(comparison),
    )
    return page.encode("utf-8", "replace")

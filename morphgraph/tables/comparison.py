"""A comparison as CSV, as LaTeX, and as a stand-alone web page."""

from collections.abc import Sequence

from morphgraph.core.text import UNDEFINED, percent
from morphgraph.score.comparison import ComparedWord, Comparison
from morphgraph.tables import model
from morphgraph.tables.latex import to_latex
from morphgraph.tables.model import Cell, Column, Table
from morphgraph.tables.writing import csv_bytes, rendered

_TITLE = "Comparison of segmentations"


def words_table(comparison: Comparison, rows: Sequence[ComparedWord]) -> Table:
    """Return the table of words by methods: tokens separated by spaces, exact words in bold."""
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
        rows.append(model.Row((found.label,), tuple(cells)))
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

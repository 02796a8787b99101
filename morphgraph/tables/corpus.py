"""Tables of token counts of a corpus, by file or language, and of language parity."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from morphgraph.score.corpus_measures import CorpusMeasures, TextMeasure
from morphgraph.score.vocabulary_figures import FigureValue, figure_called
from morphgraph.tables.model import Cell, Column, Row, Table
from morphgraph.tables.vocabulary import figure_text, label_of
from morphgraph.tables.writing import csv_bytes, whole

_COUNTS = {"lines": "Lines", "words": "Words", "tokens": "Tokens"}
_RATIOS = ("fertility", "characters_per_token", "bytes_per_token", "renyi")
_COSTS = {
    "tokens_per_line": "Tokens per line",
    "tokens_per_byte": "Tokens per byte",
    "relative_tokens": "Relative to {base}",
}
"""Further columns for parallel text."""

UNITS = {
    "words": "Tokens are those of words, each with a space before it, without other white space.",
    "lines": "Tokens are those of lines as whole texts, white space and all.",
}
"""What is counted, by the unit of the measures."""


def corpus_table(measures: CorpusMeasures, most: int | None = None) -> Table:
    """Return a row for each file or language and tokeniser, the totals last.

    Parallel text adds the cost of a line and of a byte, and tokens relative to the base language.
    ``most``: show at most this many of the files or languages.
    """
    several = len(measures.tokenisers) > 1
    names = [Column(measures.by.capitalize(), key="text")]
    if several:
        names.append(Column("Tokeniser", key="tokeniser"))
    columns = [Column(title, "count", key=key) for key, title in _COUNTS.items()]
    if measures.base is not None:
        for key, title in _COSTS.items():
            columns.append(Column(title.format(base=measures.base), "number", key=key))
    for key in _RATIOS:
        columns.append(Column(label_of(figure_called(key), measures.alpha), "number", key=key))
    columns.append(Column(figure_called("never_used").label, "written", key="never_used"))

    def row(one: TextMeasure, block: int) -> Row:
        shown = (one.text, one.tokeniser) if several else (one.text,)
        return Row(shown, tuple(_cell(one, column.key) for column in columns), -1, block)

    chosen = list(dict.fromkeys(one.text for one in measures.texts))[:most]
    rows = [row(one, 0) for text in chosen for one in measures.texts if one.text == text]
    return Table(
        "Corpus",
        tuple(names),
        tuple(columns),
        (*rows, *(row(one, 1) for one in measures.totals)),
        blocks=("", ""),
        signatures=(measures.signature,),
        notes=(UNITS[measures.unit],),
    )


def _cell(one: TextMeasure, key: str) -> Cell:
    if key == "never_used":
        value = FigureValue(one.never_used, one.ordinary_types)
        return Cell(figure_text(figure_called(key), value))
    return Cell(float(getattr(one, key)))


def parity_table(measures: CorpusMeasures) -> Table:
    """Return Gini coefficients of languages, and the costliest one, by tokeniser."""
    columns = (
        Column("Gini, by line", "number", -1, key="gini_line"),
        Column("Gini, by byte", "number", -1, key="gini_byte"),
        Column("Dearest, by line", key="dearest"),
        Column("× the cheapest", "ratio", key="spread"),
    )
    rows = []
    for tokeniser in measures.tokenisers:
        costs = {one.text: one.tokens_per_line for one in measures.of(tokeniser)}
        dearest = max(costs, key=lambda text: costs[text])
        least = min(costs.values())
        cells = (
            Cell(measures.gini(tokeniser)),
            Cell(measures.gini(tokeniser, "byte")),
            Cell(dearest),
            Cell(costs[dearest] / least if least else math.nan),
        )
        rows.append(Row((tokeniser,), cells))
    return Table(
        "Parity",
        (Column("Tokeniser"),),
        columns,
        tuple(rows),
        signatures=(measures.signature,),
        notes=(UNITS[measures.unit],),
    )


def measured_rows(measures: Iterable[TextMeasure]) -> list[dict[str, Any]]:
    """Return a dictionary for each file or language and tokeniser."""
    own = ("tokens_per_line", "tokens_per_byte")
    return [asdict(one) | {key: getattr(one, key) for key in own} for one in measures]


def corpus_csv(measures: CorpusMeasures) -> bytes:
    """Return the same rows as CSV, the totals last, with the signature."""
    rows = measured_rows((*measures.texts, *measures.totals))
    lines: list[list[object]] = [[*rows[0], "signature"]]
    lines += [
        [*(whole(v) if isinstance(v, float) else v for v in row.values()), measures.signature]
        for row in rows
    ]
    return csv_bytes(lines)


def corpus_json(measures: CorpusMeasures) -> dict[str, Any]:
    """Return all measures as JSON; undefined values are null."""
    found: dict[str, Any] = {
        "by": measures.by,
        "unit": measures.unit,
        "alpha": measures.alpha,
        "texts": _known_rows(measures.texts),
        "all": _known_rows(measures.totals),
        "bad": measures.bad,
        "first_bad": list(measures.first_bad),
    }
    if measures.base is not None:
        found["base"] = measures.base
        found["parity"] = [
            {
                "tokeniser": name,
                "gini_line": _known(measures.gini(name)),
                "gini_byte": _known(measures.gini(name, "byte")),
                "lorenz_line": [list(map(_known, axis.tolist())) for axis in measures.lorenz(name)],
            }
            for name in measures.tokenisers
        ]
    return found | {"signature": measures.signature}


def _known_rows(measures: Iterable[TextMeasure]) -> list[dict[str, Any]]:
    return [{key: _known(value) for key, value in row.items()} for row in measured_rows(measures)]


def _known(value: Any) -> Any:
    """Return a value for JSON: null where it is undefined."""
    if not isinstance(value, float):
        return value
    return None if math.isnan(value) else whole(value)

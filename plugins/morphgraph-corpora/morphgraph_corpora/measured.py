"""Tables of corpora by file or language, and the result that shows them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import base_name, counted, without_nan
from morphgraph.score.vocabulary_figures import FigureValue, figure_called
from morphgraph.tables.figures import figure_text, label_of, whole_numbers
from morphgraph.tables.model import Cell, Column, Row, Table, plain_table
from morphgraph.tables.result import Result
from morphgraph.tables.terminal import text_of
from morphgraph_corpora.measures import CorpusMeasures, TextMeasure, Unit, measure_corpus

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.api.with_merges import Tokeniser

_COUNTS = {"lines": "Lines", "words": "Words", "tokens": "Tokens"}
_RATIOS = ("fertility", "characters_per_token", "bytes_per_token", "renyi")
_COSTS = {
    "tokens_per_line": "Tokens per line",
    "tokens_per_byte": "Tokens per byte",
    "relative_tokens": "Relative to {base}",
    "premium": "Characters, relative",
}
"""Further columns for parallel text."""

UNITS = {
    "words": "Tokens are those of words, each with a space before it, without other white space.",
    "lines": "Tokens are those of lines as whole texts, white space and all.",
}
"""What is counted, by the unit of the measures."""


def corpus_table(measures: CorpusMeasures, most: int | None = None) -> Table:
    """Return a row for each file or language (at most ``most``) and tokeniser, the totals last.

    Parallel text adds the cost of a line and of a byte, and tokens relative to the base language.
    """
    several = len(measures.tokenisers) > 1
    names = [Column(measures.by.capitalize(), key="text"), Column("Tokeniser", key="tokeniser")]
    columns = [Column(title, "count", key=key) for key, title in _COUNTS.items()]
    costs = {} if measures.base is None else _COSTS
    titles = {key: title.format(base=measures.base) for key, title in costs.items()}
    titles |= {key: label_of(figure_called(key), measures.alpha) for key in _RATIOS}
    columns += [Column(title, "number", key=key) for key, title in titles.items()]
    unused = figure_called("never_used")

    def row(one: TextMeasure, block: int) -> Row:
        cells = [Cell(float(getattr(one, column.key))) for column in columns]
        cells.append(Cell(figure_text(unused, FigureValue(one.never_used, one.ordinary_types))))
        return Row((one.text, one.tokeniser)[: 1 + several], tuple(cells), -1, block)

    chosen = list(dict.fromkeys(one.text for one in measures.texts))[:most]
    rows = [row(one, 0) for text in chosen for one in measures.texts if one.text == text]
    return Table(
        "Corpus",
        tuple(names[: 1 + several]),
        (*columns, Column(unused.label, "written", key="never_used")),
        (*rows, *(row(one, 1) for one in measures.totals)),
        blocks=("", ""),
        signatures=(measures.signature,),
        notes=(UNITS[measures.unit],),
        label="corpus",
    )


def parity_table(measures: CorpusMeasures) -> Table:
    """Return Gini coefficients of languages, and the costliest one, by tokeniser."""
    columns = [
        Column("Tokeniser"),
        Column("Gini, by line", "number", -1),
        Column("Gini, by byte", "number", -1),
        Column("Dearest, by line"),
        Column("× the cheapest", "ratio"),
    ]
    rows = []
    for name in measures.tokenisers:
        costs = measures.costs(name)
        dearest, least = max(costs, key=costs.__getitem__), min(costs.values())
        ginis = measures.gini(name), measures.gini(name, "byte")
        rows.append((name, *ginis, dearest, costs[dearest] / least if least else math.nan))
    signatures, notes = (measures.signature,), (UNITS[measures.unit],)
    return plain_table("Parity", columns, rows, signatures=signatures, notes=notes)


def measured_rows(measures: Iterable[TextMeasure]) -> list[dict[str, Any]]:
    """Return a dictionary for each file or language and tokeniser."""
    own = ("tokens_per_line", "tokens_per_byte")
    return [asdict(one) | {key: getattr(one, key) for key in own} for one in measures]


def corpus_frame(measures: CorpusMeasures) -> pd.DataFrame:
    """Return a row for each file or language and tokeniser, the totals last."""
    import pandas as pd

    return pd.DataFrame(measured_rows((*measures.texts, *measures.totals)))


@dataclass(frozen=True, repr=False)
class MeasuredCorpus(Result):
    """The tokens of a corpus under one or several tokenisers, by file or language.

    >>> print(repr(mg.corpora.measure(tokeniser, "text.txt")).partition(" | ")[0])
    7 tokens of 4 words, 1.750 per word
    """

    measures: CorpusMeasures

    @property
    def signature(self) -> str:
        """One line with everything that the measures depend on.

        >>> mg.corpora.measure(tokeniser, "text.txt").signature.partition("@")[0]
        'corpus:text.txt'
        """
        return self.measures.signature

    @property
    def gini(self) -> float:
        """The Gini coefficient of tokens per line, over languages or files.

        >>> mg.corpora.measure(tokeniser, "text.txt").gini
        0.0
        """
        return self.measures.gini(self.measures.tokenisers[0])

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each file or language, and one for all; NaN where undefined.

        >>> list(mg.corpora.measure(tokeniser, "text.txt").to_frame().index)
        ['text.txt', 'all']
        """
        return corpus_frame(self.measures).set_index("text").drop(columns="tokeniser")

    def to_dict(self) -> dict[str, Any]:
        """Return all measures as JSON data.

        >>> mg.corpora.measure(tokeniser, "text.txt").to_dict()["all"][0]["tokens"]
        7
        """
        measures = self.measures
        told: dict[str, Any] = {key: getattr(measures, key) for key in ("by", "unit", "alpha")}
        told |= {"texts": measured_rows(measures.texts), "all": measured_rows(measures.totals)}
        told |= {"bad": measures.bad, "first_bad": list(measures.first_bad)}
        if measures.base is not None:
            told["base"] = measures.base
            told["parity"] = [
                {
                    "tokeniser": name,
                    "gini_line": measures.gini(name),
                    "gini_byte": measures.gini(name, "byte"),
                }
                for name in measures.tokenisers
            ]
        told = whole_numbers(without_nan(told)) | {"alpha": measures.alpha}
        return {**told, "signature": measures.signature}

    def table(self, limit: int = 0) -> Table:
        """Return a row for each file or language, the totals last; ``limit``: 0 for all.

        >>> [row.names for row in mg.corpora.measure(tokeniser, "text.txt").table().rows]
        [('text.txt',), ('all',)]
        """
        return corpus_table(self.measures, limit or None)

    def report(self, width: int | None = None, *, limit: int = 0) -> str:
        """Return it as the terminal shows it, with at most ``limit`` texts, or all.

        >>> mg.corpora.measure(tokeniser, "text.txt").report().split()[0]
        'File'
        """
        shown, texts = self.table(limit), len({one.text for one in self.measures.texts})
        lines = [text_of(shown, width)]
        if limit and texts > limit:
            lines.append(f"{limit:,} of {counted(texts, self.measures.by)}; --limit 0 shows all")
        if self.measures.base is not None:
            lines.append(f"\n{text_of(parity_table(self.measures), width)}")
        return "\n".join([*lines, *shown.notes, *shown.signatures])

    def __repr__(self) -> str:
        total = self.measures.totals[0]
        tokens = f"{counted(total.tokens, 'token')} of {counted(total.words, 'word')}"
        return f"{tokens}, {total.fertility:.3f} per word | {self.signature}"


def measure(
    tokenisers: Tokeniser | Mapping[str, Tokeniser],
    *texts: str | os.PathLike[str],
    column: str | None = None,
    language_column: str | None = None,
    parallel: bool = False,
    base: str | None = None,
    unit: Unit | None = None,
) -> MeasuredCorpus:
    """Measure texts of any size: tokens per word, characters and bytes per token, and so on.

    ``tokenisers``: one, or several by their names in tables. ``texts``: files, folders or patterns,
    as ``morphgraph count`` reads them; ``column``: the one with the text. By file, or by what
    ``language_column`` says. ``parallel``: the same lines in several languages, relative to those
    of ``base``. ``unit``: whether ``words`` are segmented, or ``lines`` as whole texts, as parallel
    ones are.

    >>> int(mg.corpora.measure(tokeniser, "text.txt").to_frame().loc["all", "tokens"])
    7
    """
    named = tokenisers
    if not isinstance(named, Mapping):
        named = {base_name(named.name): named}
    measures = measure_corpus(
        {label: each._segmenter for label, each in named.items()},
        texts,
        column=column,
        language_column=language_column,
        parallel=parallel,
        base=base,
        unit=unit,
    )
    return MeasuredCorpus(measures)

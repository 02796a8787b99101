"""Tables of vocabulary figures, and of corpora by file or language."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from morphgraph.core import __version__
from morphgraph.core.text import UNDEFINED, count_text, counted, percent, without_nan
from morphgraph.score.corpus_measures import CorpusMeasures, TextMeasure
from morphgraph.score.gold_set import reference_fields, signature_line
from morphgraph.score.vocabulary import VocabularyHealth
from morphgraph.score.vocabulary_figures import (
    FIGURES,
    Figure,
    FigureValue,
    figure_called,
    figures_of,
    list_behind,
)
from morphgraph.tables.model import Cell, Column, Row, Table, table_of
from morphgraph.tables.result import Result
from morphgraph.tables.terminal import text_of
from morphgraph.tables.writing import csv_bytes, frame_csv, whole

if TYPE_CHECKING:
    import pandas as pd


def figure_text(figure: Figure, value: FigureValue) -> str:
    """Format the value of a figure for display.

    >>> from morphgraph.score.vocabulary_figures import figure_called
    >>> figure_text(figure_called("never_used"), FigureValue(1234, 8000))
    '1,234 (15.4 %)'
    >>> figure_text(figure_called("never_used"), FigureValue(1, 8000))
    '1 (< 0.1 %)'
    >>> figure_text(figure_called("renyi"), FigureValue(float("nan")))
    'n/a'
    """
    if math.isnan(value.number):
        return UNDEFINED
    if figure.form == "share":
        return percent(value.number)
    if figure.form == "count":
        if not value.of or not value.number:
            return count_text(value.number)
        share = value.number / value.of
        shown = "< 0.1" if share < 0.0005 else percent(share, 1)
        return f"{count_text(value.number)} ({shown} %)"
    return f"{value.number:.{2 if figure.form == 'ratio' else 3}f}"


def label_of(figure: Figure, alpha: float) -> str:
    """Return the title of a figure; with α for the Rényi efficiency."""
    return f"{figure.label}, α = {alpha:g}" if figure.key == "renyi" else figure.label


def figure_values(
    healths: Sequence[VocabularyHealth], alpha: float
) -> list[dict[str, FigureValue]]:
    """Return the figures of several vocabularies; the first is the baseline."""
    return [figures_of(health, alpha, healths[0]) for health in healths]


def figure_table(healths: Sequence[VocabularyHealth], alpha: float) -> Table:
    """Return figures as text, with a column for each vocabulary; the first is the baseline."""
    found = figure_values(healths, alpha)
    needs = list(dict.fromkeys(figure.needs for figure in FIGURES))
    rows = []
    for figure in FIGURES:
        cells = tuple(Cell(figure_text(figure, values[figure.key])) for values in found)
        rows.append(Row((label_of(figure, alpha),), cells, block=needs.index(figure.needs)))
    return Table(
        "Vocabulary figures",
        (Column("Figure"),),
        tuple(Column(health.label, "written") for health in healths),
        tuple(rows),
        blocks=("",) * len(needs),
        signatures=(signature(healths, alpha),),
        notes=tuple(f"n/a: {e}" for e in why_undefined(healths, alpha)),
        label="vocabulary",
    )


def why_undefined(healths: Sequence[VocabularyHealth], alpha: float) -> list[str]:
    """Return sentences on which figures are n/a, and why."""
    reasons: dict[str, list[str]] = {}
    for health, values in zip(healths, figure_values(healths, alpha), strict=True):
        missing = {"": False, "corpus": health.corpus is None, "reference": health.gold is None}
        for figure in FIGURES:
            why = values[figure.key].why
            if missing[figure.needs]:
                reasons.setdefault(why, [f"All figures of a {figure.needs}"])
            elif why:
                own = f"{why} ({health.label})" if len(healths) > 1 else why
                reasons.setdefault(own, []).append(figure.label)
    return [f"{', '.join(labels)}: {why}." for why, labels in reasons.items()]


def signature(healths: Sequence[VocabularyHealth], alpha: float) -> str:
    """Return one line with everything that the figures depend on; α is given in full."""
    reference = healths[0].reference if healths else None
    fields = {"reference": "none"} if reference is None else reference_fields(reference)
    return signature_line(
        {
            "corpus": healths[0].corpus_signature if healths else "none",
            "alpha": str(whole(float(alpha))),
            **fields,
            "tokenisers": ", ".join(health.tokeniser_signature for health in healths),
            "version": __version__,
        }
    )


def figures_csv(healths: Sequence[VocabularyHealth], alpha: float) -> bytes:
    """Return a row for each tokeniser and figure, with its signature."""
    head = ("tokeniser", "figure", "name", "value", "of", "why n/a", "signature")
    lines: list[Sequence[object]] = [head]
    for health, values in zip(healths, figure_values(healths, alpha), strict=True):
        line = signature([health], alpha)
        if health is not healths[0]:
            line += f"|baseline:{healths[0].tokeniser_signature}"
        for figure in FIGURES:
            value = values[figure.key]
            of = whole(value.of) if value.of and not math.isnan(value.number) else ""
            names = (health.label, figure.key, label_of(figure, alpha))
            lines.append((*names, whole(value.number), of, value.why, line))
    return csv_bytes(lines)


def values_json(values: Mapping[str, FigureValue]) -> dict[str, Any]:
    """Return values as JSON; undefined ones are null, with the reason."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        known = not math.isnan(value.number)
        found[key] = {"value": whole(value.number) if known else None}
        if value.of and known:
            found[key]["of"] = whole(value.of)
        if value.why:
            found[key]["why"] = value.why
    return found


def figures_json(
    healths: Sequence[VocabularyHealth], alpha: float, behind: str | None = None, most: int = 0
) -> dict[str, Any]:
    """Return all figures as JSON, or with the types ``behind`` one, at most ``most``; 0 for all."""
    found = []
    for health, values in zip(healths, figure_values(healths, alpha), strict=True):
        told = {"label": health.label, "signature": health.tokeniser_signature}
        found.append({**told, "figures": values_json(values)})
        if behind is not None:
            types = list_behind(health, behind, finality=True).drop(columns="type_id")
            found[-1]["list"] = _whole(types[: most or None].to_dict("records"))
    return {"alpha": alpha, "tokenisers": found, "signature": signature(healths, alpha)}


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
    return table_of("Parity", columns, rows, signatures=signatures, notes=notes)


def measured_rows(measures: Iterable[TextMeasure]) -> list[dict[str, Any]]:
    """Return a dictionary for each file or language and tokeniser."""
    own = ("tokens_per_line", "tokens_per_byte")
    return [asdict(one) | {key: getattr(one, key) for key in own} for one in measures]


def corpus_frame(measures: CorpusMeasures) -> pd.DataFrame:
    """Return a row for each file or language and tokeniser, the totals last."""
    import pandas as pd

    return pd.DataFrame(measured_rows((*measures.texts, *measures.totals)))


def corpus_csv(measures: CorpusMeasures) -> bytes:
    """Return the same rows as CSV, with the signature."""
    return frame_csv(corpus_frame(measures).assign(signature=measures.signature))


def _whole(value: Any) -> Any:
    """Return nested data with whole numbers as integers."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(_whole, value))
    return whole(value) if isinstance(value, float) else value


@dataclass(frozen=True, repr=False)
class MeasuredCorpus(Result):
    """What tokenisers make of a corpus, by file or language.

    >>> print(repr(tokeniser.measure("text.txt")).partition(" | ")[0])
    7 tokens of 4 words, 1.750 per word
    """

    measures: CorpusMeasures

    @property
    def signature(self) -> str:
        """One line with everything that the measures depend on.

        >>> tokeniser.measure("text.txt").signature.partition("@")[0]
        'corpus:text.txt'
        """
        return self.measures.signature

    @property
    def gini(self) -> float:
        """The Gini coefficient of tokens per line, over languages or files.

        >>> tokeniser.measure("text.txt").gini
        0.0
        """
        return self.measures.gini(self.measures.tokenisers[0])

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each file or language, and one for all; NaN where undefined.

        >>> list(tokeniser.measure("text.txt").to_frame().index)
        ['text.txt', 'all']
        """
        return corpus_frame(self.measures).set_index("text").drop(columns="tokeniser")

    def to_dict(self) -> dict[str, Any]:
        """Return all measures as JSON data.

        >>> tokeniser.measure("text.txt").to_dict()["all"][0]["tokens"]
        7
        """
        found = self.measures
        told: dict[str, Any] = {key: getattr(found, key) for key in ("by", "unit", "alpha")}
        told |= {"texts": measured_rows(found.texts), "all": measured_rows(found.totals)}
        told |= {"bad": found.bad, "first_bad": list(found.first_bad)}
        if found.base is not None:
            told["base"] = found.base
            told["parity"] = [
                {
                    "tokeniser": name,
                    "gini_line": found.gini(name),
                    "gini_byte": found.gini(name, "byte"),
                }
                for name in found.tokenisers
            ]
        told = _whole(without_nan(told)) | {"alpha": found.alpha}
        return {**told, "signature": found.signature}

    def table(self, limit: int = 0) -> Table:
        """Return a row for each file or language, the totals last; ``limit``: 0 for all.

        >>> [row.names for row in tokeniser.measure("text.txt").table().rows]
        [('text.txt',), ('all',)]
        """
        return corpus_table(self.measures, limit or None)

    def report(self, width: int | None = None, *, limit: int = 0) -> str:
        """Return it as the terminal shows it, with at most ``limit`` texts, or all.

        >>> tokeniser.measure("text.txt").report().split()[0]
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

"""Tables of vocabulary figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from morphgraph.core import __version__
from morphgraph.core.text import UNDEFINED, count_text, percent
from morphgraph.score.gold_set import reference_fields, signature_line
from morphgraph.score.vocabulary_figures import (
    FIGURES,
    Figure,
    FigureValue,
    figures_of,
    list_behind,
)
from morphgraph.score.vocabulary_health import VocabularyHealth
from morphgraph.tables.model import Cell, Column, Row, Table
from morphgraph.tables.writing import whole


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
    baseline = healths[0] if len(healths) > 1 else None
    return [figures_of(health, alpha, baseline) for health in healths]


def _shown(by_vocabulary: Sequence[Mapping[str, FigureValue]]) -> list[Figure]:
    return [figure for figure in FIGURES if figure.key in by_vocabulary[0]]


def figure_table(healths: Sequence[VocabularyHealth], alpha: float) -> Table:
    """Return figures as text, with a column for each vocabulary; the first is the baseline."""
    by_vocabulary = figure_values(healths, alpha)
    needs = list(dict.fromkeys(figure.needs for figure in _shown(by_vocabulary)))
    rows = []
    for figure in _shown(by_vocabulary):
        cells = tuple(Cell(figure_text(figure, values[figure.key])) for values in by_vocabulary)
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
        missing = {"corpus": health.corpus is None, "reference": health.gold is None}
        for figure in _shown([values]):
            why = values[figure.key].why
            if missing.get(figure.needs):
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


def values_json(values: Mapping[str, FigureValue]) -> dict[str, Any]:
    """Return values as JSON; undefined ones are null, with the reason."""
    report: dict[str, Any] = {}
    for key, value in values.items():
        known = not math.isnan(value.number)
        report[key] = {"value": whole(value.number) if known else None}
        if value.of and known:
            report[key]["of"] = whole(value.of)
        if value.why:
            report[key]["why"] = value.why
    return report


def figures_json(
    healths: Sequence[VocabularyHealth], alpha: float, behind: str | None = None, most: int = 0
) -> dict[str, Any]:
    """Return all figures as JSON, or with the types ``behind`` one, at most ``most``; 0 for all."""
    reports = []
    for health, values in zip(healths, figure_values(healths, alpha), strict=True):
        told = {"label": health.label, "signature": health.tokeniser_signature}
        reports.append({**told, "figures": values_json(values)})
        if behind is not None:
            types = list_behind(health, behind, baseline=healths[0])
            types = types.drop(columns="type_id")
            reports[-1]["list"] = whole_numbers(types[: most or None].to_dict("records"))
    return {"alpha": alpha, "tokenisers": reports, "signature": signature(healths, alpha)}


def whole_numbers(value: Any) -> Any:
    """Return nested data with whole numbers as integers."""
    if isinstance(value, dict):
        return {key: whole_numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(whole_numbers, value))
    return whole(value) if isinstance(value, float) else value

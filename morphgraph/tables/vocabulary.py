"""Tables of vocabulary figures: for the screen, CSV, LaTeX and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import UNDEFINED, count_text, percent
from morphgraph.score.gold_set import reference_fields, signature_line
from morphgraph.score.vocabulary_figures import (
    FIGURES,
    Figure,
    FigureValue,
    case_warning,
    figures_of,
)
from morphgraph.score.vocabulary_health import VocabularyHealth
from morphgraph.tables.latex import to_latex
from morphgraph.tables.model import Cell, Column, Row, Table, text_frame
from morphgraph.tables.writing import csv_bytes, whole

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
    """Return the title of a figure; with α for the Rényi efficiency.

    >>> from morphgraph.score.vocabulary_figures import figure_called
    >>> label_of(figure_called("renyi"), 2.5)
    'Rényi efficiency, α = 2.5'
    """
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
    warning = case_warning(healths)
    return Table(
        "Vocabulary figures",
        (Column("Figure"),),
        tuple(Column(health.label, "written") for health in healths),
        tuple(
            Row(
                (label_of(figure, alpha),),
                tuple(Cell(figure_text(figure, values[figure.key])) for values in found),
                block=needs.index(figure.needs),
            )
            for figure in FIGURES
        ),
        blocks=("",) * len(needs),
        signatures=(signature(healths, alpha),),
        notes=(warning,) if warning else (),
    )


def figure_frame(healths: Sequence[VocabularyHealth], alpha: float) -> pd.DataFrame:
    """Return `figure_table` for the screen, with columns ``figure``, 0, 1, …"""
    frame, _ = text_frame(figure_table(healths, alpha))
    return frame.set_axis(["figure", *range(len(healths))], axis="columns")


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
    """Return one line with everything that the figures depend on.

    The first tokeniser is the baseline. α is given in full, so that signatures differ if it does.
    """
    from morphgraph.core import __version__

    reference = healths[0].reference if healths else None
    return signature_line(
        {
            "corpus": healths[0].corpus_signature if healths else "none",
            "alpha": str(whole(float(alpha))),
            **(reference_fields(reference) if reference is not None else {"reference": "none"}),
            "tokenisers": ", ".join(health.tokeniser_signature for health in healths),
            "version": __version__,
        }
    )


def figures_csv(healths: Sequence[VocabularyHealth], alpha: float) -> bytes:
    """Return a row for each tokeniser and figure.

    Value (shares from 0 to 1), what it is part of, why it is n/a, and the signature.
    """
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


def figures_latex(healths: Sequence[VocabularyHealth], alpha: float) -> str:
    """Return the figures as a LaTeX table, with signature and `case_warning` below it."""
    return to_latex(figure_table(healths, alpha), "vocabulary")


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

"""What scores and facts of an evaluation are called, and how their values are written."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from morphgraph.tables.model import Column, Form

FLOTA_METRICS = {
    "flota_coverage": Column("FLOTA coverage (C)", "percent", 1),
    "flota_stem_recall": Column("FLOTA stem recall (R)", "percent", 1),
    "flota_full_match": Column("FLOTA full match (M)", "percent", 1),
}
"""FLOTA's own scores, of the methods that take the first, longest or all k tokens."""

FACTS = {
    "types": Column("Types, |V|", "count"),
    "merges": Column("Merges", "count"),
    "removed": Column("Types knocked out", "count"),
    "iterations": Column("Iterations", "count"),
    "dropout_rate": Column("Effective dropout rate", "percent"),
    "share_of_merges": Column("Merges knocked out, share", "percent"),
}
"""What a cell reports about its method beside the scores."""


@cache
def named_metrics() -> dict[str, Column]:
    """Every metric that results can hold, by key: scores, FLOTA's, figures of vocabularies, facts.

    >>> named_metrics()["f1"].title
    'F1 % ↑'
    """
    from morphgraph.score.metrics import METRICS
    from morphgraph.score.vocabulary_figures import FIGURES

    found = {
        key: Column(metric.title, "percent" if metric.unit == "%" else "ratio", metric.better)
        for key, metric in METRICS.items()
    }
    forms: dict[str, Form] = {"count": "count", "share": "percent"}
    figures = {
        vocabulary_metric(figure.key): Column(
            figure.label.removesuffix(", %"), forms.get(figure.form, "number")
        )
        for figure in FIGURES
    }
    return found | FLOTA_METRICS | figures | FACTS


def column_of(metric: str, spread: tuple[str, ...] = ()) -> Column:
    """The column of a metric, by its key; called by that if it is not known."""
    known = named_metrics().get(metric) or Column(metric, "number")
    return replace(known, key=metric, spread=spread)


def vocabulary_metric(figure: str) -> str:
    """The key of a figure of the vocabulary among metrics, apart from scores of the same name.

    >>> vocabulary_metric("fertility")
    'vocabulary.fertility'
    """
    return f"vocabulary.{figure}"

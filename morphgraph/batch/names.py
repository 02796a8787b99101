"""What scores and facts of an evaluation are called, and how their values are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from morphgraph.tables.model import Form


@dataclass(frozen=True)
class Named:
    """A metric of an evaluation: its name for people, and how its values are written.

    ``better``: 1 if more is better, -1 if less is, 0 if that depends.
    """

    label: str
    form: Form
    better: Literal[-1, 0, 1] = 0


FLOTA_METRICS = {
    "flota_coverage": Named("FLOTA coverage (C)", "percent", 1),
    "flota_stem_recall": Named("FLOTA stem recall (R)", "percent", 1),
    "flota_full_match": Named("FLOTA full match (M)", "percent", 1),
}
"""FLOTA's own scores, of the methods that take the first, longest or all k tokens."""

FACTS = {
    "types": Named("Types, |V|", "count"),
    "merges": Named("Merges", "count"),
    "removed": Named("Types knocked out", "count"),
    "iterations": Named("Iterations", "count"),
    "dropout_rate": Named("Effective dropout rate", "percent"),
    "share_of_merges": Named("Merges knocked out, share", "percent"),
}
"""What a cell reports about its method beside the scores."""


@cache
def named_metrics() -> dict[str, Named]:
    """Every metric that results can hold, by key: scores, FLOTA's, figures of vocabularies, facts.

    >>> named_metrics()["f1"]
    Named(label='F1', form='percent', better=1)
    """
    from morphgraph.score.metrics import METRICS
    from morphgraph.score.vocabulary_figures import FIGURES

    found = {
        key: Named(metric.title, "percent" if metric.unit == "%" else "ratio", metric.better)
        for key, metric in METRICS.items()
    }
    found |= FLOTA_METRICS
    forms: dict[str, Form] = {"count": "count", "share": "percent"}
    found |= {
        vocabulary_metric(figure.key): Named(
            figure.label.removesuffix(", %"), forms.get(figure.form, "number")
        )
        for figure in FIGURES
    }
    return found | FACTS


def vocabulary_metric(figure: str) -> str:
    """The key of a figure of the vocabulary among metrics, apart from scores of the same name.

    >>> vocabulary_metric("fertility")
    'vocabulary.fertility'
    """
    return f"vocabulary.{figure}"


def metric_label(key: str) -> str:
    """What people call a metric; its key if it is unknown."""
    known = named_metrics().get(key)
    return key if known is None else known.label


def metric_is_percent(key: str) -> bool:
    """Whether a metric is a share that is written in percent."""
    known = named_metrics().get(key)
    return known is not None and known.form == "percent"

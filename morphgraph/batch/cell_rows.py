"""The result rows of a cell: scores, vocabulary figures and facts about its method.

Also the titles and formats of all of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.predictions import Predictions
from morphgraph.tables.model import Column, Form

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCounts
    from morphgraph.reference.entry import Reference
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.segmenter import Segmenter


# ------------------------------------------------------------------------------ names

FLOTA_METRICS = {
    "flota_coverage": Column("FLOTA coverage (C)", "percent", 1),
    "flota_stem_recall": Column("FLOTA stem recall (R)", "percent", 1),
    "flota_full_match": Column("FLOTA full match (M)", "percent", 1),
}
"""FLOTA's own scores, for methods that take the first, longest or all k tokens."""

PARALLEL = {
    "parallel.lines": Column("Lines", "count"),
    "parallel.tokens_per_line": Column("Tokens per line", "number"),
    "parallel.tokens_per_byte": Column("Tokens per byte", "number"),
    "parallel.relative_tokens": Column("Tokens relative to the base", "number"),
    "parallel.gini_line": Column("Gini, by line", "number", -1),
    "parallel.gini_byte": Column("Gini, by byte", "number", -1),
}
"""Measures of parallel text: of each language, and Gini coefficients over all."""

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
    """Return every metric that results can hold, by key.

    >>> named_metrics()["f1"].title
    'F1 % ↑'
    """
    from morphgraph.models.downstream import downstream_metrics
    from morphgraph.score.metrics import METRICS
    from morphgraph.score.vocabulary_figures import FIGURES

    scores = {
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
    tasks = {
        key: Column(metric.title, metric.form, metric.better)
        for key, metric in downstream_metrics().items()
    }
    return scores | FLOTA_METRICS | figures | PARALLEL | tasks | FACTS


def column_of(metric: str, spread: tuple[str, ...] = ()) -> Column:
    """Return the column of a metric by key; an unknown one is titled by its key."""
    known = named_metrics().get(metric) or Column(metric, "number")
    return replace(known, key=metric, spread=spread)


def vocabulary_metric(figure: str) -> str:
    """Return the key of a vocabulary figure, distinct from a score of the same name.

    >>> vocabulary_metric("fertility")
    'vocabulary.fertility'
    """
    return f"vocabulary.{figure}"


# ------------------------------------------------------------------------------ rows


@dataclass(frozen=True)
class MethodResult:
    """A method applied to a tokeniser: what scores it, and what it reports about itself."""

    segmenter: Segmenter | Predictions
    gold_set: GoldSet | None
    facts: Mapping[str, float]


class ResultRow(NamedTuple):
    """One value of a cell, with its 95 % interval and a test's p-value; NaN without.

    ``entries``: the number that it is over; ``scope`` and ``weighting`` are empty for figures that
    are not of words; ``step``: the training step, for points of a curve; ``variant``: what is added
    to the cell's parameters.
    """

    metric: str
    value: float
    scope: str = ""
    weighting: str = ""
    entries: int | None = None
    signature: str = ""
    low: float = nan
    high: float = nan
    p: float = nan
    step: int | None = None
    variant: str = ""


def result_rows(
    spec: Mapping[str, Any],
    base: Segmenter,
    made: MethodResult,
    reference: Reference | None,
    counts: WordCounts | None,
    baseline: Segmenter | None = None,
) -> Iterator[ResultRow]:
    """Return all rows of a cell, in the order of its configuration.

    ``baseline``: what it is tested against. Held-out words only have scores.
    """
    yield from _scores(spec, made, baseline)
    yield from _flota(spec, base, made)
    if spec["held_out"] is None:
        yield from _figures(spec, made, reference, counts)
        yield from _facts(made)


def _scores(
    spec: Mapping[str, Any], made: MethodResult, baseline: Segmenter | None
) -> Iterator[ResultRow]:
    """Return every score on the reference, for each scope and weighting."""
    from morphgraph.score.metrics import METRICS
    from morphgraph.score.table import ScoreTable, SegmentationFailure, outcomes_of
    from morphgraph.score.uncertainty import USUAL_DRAWS

    metrics = [name for name in spec["metrics"] if name not in FLOTA_METRICS]
    gold_set = made.gold_set
    if gold_set is None or not metrics:
        return
    draws = USUAL_DRAWS if spec["intervals"] else replace(USUAL_DRAWS, resamples=0)
    outcomes = outcomes_of([("", made.segmenter)], gold_set)
    if isinstance(outcomes[0], SegmentationFailure):
        raise MorphGraphError(outcomes[0].message)
    if baseline is not None:
        outcomes += outcomes_of([("", baseline)], gold_set)
    against = None if baseline is None else 1
    for scope in spec["scopes"]:
        for weighting in spec["weightings"]:
            if weighting not in gold_set.weightings:
                nothing = "n/a: there are no word frequencies"
                yield from (ResultRow(m, nan, scope, weighting, 0, nothing) for m in metrics)
                continue
            table = ScoreTable(outcomes, scope, weighting, metrics, baseline=against, draws=draws)
            about = (scope, weighting, int(gold_set.has_gold(scope).sum()), table.signature_of(0))
            for name, found in (table.estimates[0] or {}).items():
                if name in METRICS:
                    interval = found.interval
                    yield ResultRow(name, found.value, *about, interval.low, interval.high, found.p)


def _flota(spec: Mapping[str, Any], base: Segmenter, made: MethodResult) -> Iterator[ResultRow]:
    """Return FLOTA's own scores; undefined for methods that do not take the k best tokens."""
    from morphgraph.methods import METHODS
    from morphgraph.score.flota import FLOTA_METHODS, flota_scores
    from morphgraph.segment.segmenter import standard_segmenter
    from morphgraph.tokeniser.loading import vocabulary_of

    wanted = [name for name in spec["metrics"] if name in FLOTA_METRICS]
    if not wanted or made.gold_set is None:
        return
    known = METHODS.get(spec["method"])
    if known is None or known.title not in FLOTA_METHODS:
        nothing = "n/a: this method does not choose k tokens"
        yield from (ResultRow(name, nan, "morphemic", "types", 0, nothing) for name in wanted)
        return
    tokeniser, vocabulary = base.tokeniser, base.vocabulary
    source: Any = vocabulary if tokeniser is None else tokeniser
    vocabulary = source if tokeniser is None else vocabulary_of(tokeniser)
    k = spec["parameters"]["k"] or None
    strict = bool(spec["parameters"].get("strict"))
    standard = standard_segmenter(source)
    found = flota_scores(vocabulary, made.gold_set.reference, standard, (k,), strict=strict)
    score = found.score(known.title, k)
    values = {
        "flota_coverage": (score.coverage, score.entries),
        "flota_stem_recall": (score.stem_recall, score.entries_with_stem),
        "flota_full_match": (score.full_match, score.entries),
    }
    for name in wanted:
        value, entries = values[name]
        yield ResultRow(name, value, "morphemic", "types", entries, found.signature)


def _figures(
    spec: Mapping[str, Any],
    made: MethodResult,
    reference: Reference | None,
    counts: WordCounts | None,
) -> Iterator[ResultRow]:
    """Return the figures of the vocabulary."""
    from morphgraph.score.vocabulary import ALPHA, NamedCounts, VocabularyHealth
    from morphgraph.score.vocabulary_figures import figures_of
    from morphgraph.tables.vocabulary import signature

    if not spec["vocabulary"] or isinstance(made.segmenter, Predictions):
        return
    corpus = None if counts is None else NamedCounts(counts, spec["corpus_name"])
    health = VocabularyHealth(made.segmenter, corpus, reference)
    line = signature([health], ALPHA)
    values = figures_of(health)
    for key in spec["vocabulary"]:
        # Relative to another cell, unknown here: `results.collected` divides.
        value = values["tokens" if key == "relative_tokens" else key].number
        yield ResultRow(vocabulary_metric(key), value, signature=line)


def _facts(made: MethodResult) -> Iterator[ResultRow]:
    """Return what the method reports about itself."""
    if isinstance(made.segmenter, Predictions):
        yield ResultRow("types", nan)
        return
    signature = made.segmenter.signature()
    facts = {"types": float(made.segmenter.vocabulary_size), **made.facts}
    for name, value in facts.items():
        yield ResultRow(name, float(value), signature=signature)

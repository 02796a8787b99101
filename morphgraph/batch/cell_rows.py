"""The rows of a cell: its scores, figures of its vocabulary, and what its method reports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from morphgraph.batch.cell_methods import MethodResult
from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.predictions import Predictions

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCounts
    from morphgraph.reference.entry import Reference
    from morphgraph.tokeniser.words import Segmenter


CELL_ROW_COLUMNS = (
    "scope",
    "weighting",
    "metric",
    "value",
    "low",
    "high",
    "p",
    "entries",
    "signature",
)
"""The columns of a cell's rows."""

ResultRow = tuple[str, str, str, float, float, float, float, int | None, str]


_NO_DRAWS = (math.nan, math.nan, math.nan)
"""What has neither an interval nor a test."""


def result_rows(
    spec: Mapping[str, Any],
    base: Segmenter,
    made: MethodResult,
    reference: Reference | None,
    counts: WordCounts | None,
    baseline: Segmenter | None = None,
) -> Iterator[ResultRow]:
    """All rows of a cell, in the order of its configuration; ``baseline``: what it is tested
    against. Of words that are held out there are scores only.
    """
    yield from _scores(spec, made, baseline)
    yield from _flota(spec, base, made)
    if spec["held_out"] is None:
        yield from _figures(spec, made, reference, counts)
        yield from _facts(made)


def _scores(
    spec: Mapping[str, Any], made: MethodResult, baseline: Segmenter | None
) -> Iterator[ResultRow]:
    """Every score by the reference, for each scope and weighting."""
    from morphgraph.batch.names import FLOTA_METRICS
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
    for scope in spec["scopes"]:
        for weighting in spec["weightings"]:
            if weighting not in gold_set.weightings:
                nothing = (*[math.nan] * 4, 0, "n/a: there are no word frequencies")
                yield from ((scope, weighting, name, *nothing) for name in metrics)
                continue
            against = None if baseline is None else 1
            table = ScoreTable(outcomes, scope, weighting, metrics, baseline=against, draws=draws)
            entries = int(gold_set.has_gold(scope).sum())
            signature = table.signature_of(0)
            for name, estimate in (table.estimates[0] or {}).items():
                if name in METRICS:
                    interval = estimate.interval
                    value = (estimate.value, interval.low, interval.high, estimate.p)
                    yield scope, weighting, name, *value, entries, signature


def _flota(spec: Mapping[str, Any], base: Segmenter, made: MethodResult) -> Iterator[ResultRow]:
    """FLOTA's own scores; undefined for methods that do not take the k best tokens."""
    from morphgraph.batch.names import FLOTA_METRICS
    from morphgraph.score.flota import FLOTA_METHODS, flota_scores
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.registry import METHODS, standard_segmenter
    from morphgraph.tokeniser.loading import vocabulary_of

    wanted = [name for name in spec["metrics"] if name in FLOTA_METRICS]
    if not wanted or made.gold_set is None:
        return
    known = METHODS.get(spec["method"])
    if known is None or known.title not in FLOTA_METHODS:
        nothing = (*[math.nan] * 4, 0, "n/a: this method does not choose k tokens")
        yield from (("morphemic", "types", name, *nothing) for name in wanted)
        return
    source: Any = base.tokeniser if isinstance(base, Bte) else base.vocabulary  # type: ignore[attr-defined]
    vocabulary: Any = vocabulary_of(source) if isinstance(base, Bte) else source
    k = spec["parameters"]["k"] or None
    reference = made.gold_set.reference
    strict = bool(spec["parameters"].get("strict"))
    standard = standard_segmenter(source)
    found = flota_scores(vocabulary, reference, standard, (k,), strict=strict)
    score = found.score(known.title, k)
    values = {
        "flota_coverage": (score.coverage, score.entries),
        "flota_stem_recall": (score.stem_recall, score.entries_with_stem),
        "flota_full_match": (score.full_match, score.entries),
    }
    for name in wanted:
        value, entries = values[name]
        yield "morphemic", "types", name, value, *_NO_DRAWS, entries, found.signature


def _figures(
    spec: Mapping[str, Any],
    made: MethodResult,
    reference: Reference | None,
    counts: WordCounts | None,
) -> Iterator[ResultRow]:
    """Figures of the vocabulary."""
    from morphgraph.batch.names import vocabulary_metric
    from morphgraph.score.compression import ALPHA, NamedCounts
    from morphgraph.score.vocabulary_figures import figures_of
    from morphgraph.score.vocabulary_health import VocabularyHealth
    from morphgraph.tables.vocabulary import signature

    if not spec["vocabulary"] or isinstance(made.segmenter, Predictions):
        return
    corpus = None if counts is None else NamedCounts(counts, spec["corpus_name"])
    health = VocabularyHealth(made.segmenter, corpus, reference)
    line = signature([health], ALPHA)
    values = figures_of(health)
    for key in spec["vocabulary"]:
        # Relative to another cell, which this one does not know: `results.collected` divides.
        value = values["tokens" if key == "relative_tokens" else key].number
        yield "", "", vocabulary_metric(key), value, *_NO_DRAWS, None, line


def _facts(made: MethodResult) -> Iterator[ResultRow]:
    """What the method reports about itself."""
    if isinstance(made.segmenter, Predictions):
        yield "", "", "types", math.nan, *_NO_DRAWS, None, ""
        return
    signature = made.segmenter.signature()
    facts = {"types": float(made.segmenter.vocabulary_size), **made.facts}
    for name, value in facts.items():
        yield "", "", name, float(value), *_NO_DRAWS, None, signature

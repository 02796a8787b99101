"""Knock out types for the better: choose them, remove them, score before and after."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from morphgraph.graph.change import Change
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.baselines import last_leaves, last_types, random_types, share_of_leaves
from morphgraph.refine.blame import (
    DEFAULT_THRESHOLD,
    Blame,
    blame,
    candidate_types,
)
from morphgraph.refine.checks import check_blame_settings, check_choice, check_whole
from morphgraph.score.boundaries import Benchmark, BoundaryScore
from morphgraph.score.gold_set import Scope, Weighting, split_entries
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import Tokeniser

Selection = Literal["blame", "random", "last", "leaves"]
SELECTIONS: tuple[Selection, ...] = ("blame", "random", "last", "leaves")


@dataclass(frozen=True)
class KnockoutSettings:
    """How to choose the types and how to remove them.

    ``select``: by "blame" (R ≥ ``threshold``), or as a baseline: as many types as blame would
    choose, or ``count``, at "random" or as the "last" merges or the last "leaves". ``holdout``:
    the share of entries that blame does not see and that alone are scored. ``cascade``: also remove
    what is made from a removed type. A value that is none of these is a `MorphGraphError`.
    """

    select: Selection = "blame"
    threshold: float = DEFAULT_THRESHOLD
    minimum_vocabulary: int = 0
    scope: Scope = "morphemic"
    weighting: Weighting = "types"
    tuples_once: bool = False
    count: int | None = None
    holdout: float = 0.0
    seed: int = 0
    cascade: bool = False

    def __post_init__(self) -> None:
        check_choice("select", self.select, SELECTIONS)
        check_blame_settings(self)
        check_whole("minimum_vocabulary", self.minimum_vocabulary)
        if self.count is not None:
            check_whole("count", self.count)


@dataclass(frozen=True)
class KnockoutResult:
    """What a knockout removed, and the scores of ``scored`` before and after it.

    ``dropout_rate`` and ``share_of_merges`` are p = Σ N(removed) ÷ Σ N and |M†| ÷ |M|;
    ``late_leaves`` is the share of leaves among the last half of all merges (`share_of_leaves`).
    """

    change: Change
    removed: list[str]
    scored: Benchmark
    before: list[BoundaryScore]
    after: list[BoundaryScore]
    signature_before: str
    signature_after: str
    dropout_rate: float
    share_of_merges: float
    late_leaves: float
    vocabulary_size: int
    seconds: float


def knock_out(
    tokeniser: Tokeniser, benchmark: Benchmark, settings: KnockoutSettings | None = None
) -> KnockoutResult:
    """Choose types, remove them from the tokeniser in place, and score it before and after.

    Source: Bauwens & Delobelle 2024, Algorithm 1 and §A.2.
    """
    settings = settings or KnockoutSettings()
    started = time.perf_counter()
    graph = tokeniser.graph
    seen: npt.NDArray[np.int64] | None = None
    scored = benchmark
    if settings.holdout:
        seen, held_out = split_entries(benchmark.words.texts, settings.holdout, settings.seed)
        scored = benchmark.held_out(held_out, settings.holdout, settings.seed)
    segmentation = segment(graph, benchmark.words)
    before = scored.scores(segmentation if scored is benchmark else segment(graph, scored.words))
    signature_before = scored.signature(tokeniser)
    blamed = blame(
        benchmark,
        segmentation,
        weighting=settings.weighting,
        scope=settings.scope,
        tuples_once=settings.tuples_once,
        entries=seen,
    )
    merges, late_leaves = graph.merge_count, share_of_leaves(graph)
    chosen = choose_types(tokeniser, blamed, settings)
    change = graph.cascade(chosen) if settings.cascade else graph.knockout(chosen)
    removed = np.array([blamed.position[merge] for merge in change.removed_merges], np.int64)
    after = scored.scores(segment(graph, scored.words))
    return KnockoutResult(
        change,
        [graph.types[number] for number in change.removed_types],
        scored,
        before,
        after,
        signature_before,
        scored.signature(tokeniser),
        blamed.dropout_rate(removed),
        len(removed) / merges if merges else 0.0,
        late_leaves,
        tokeniser.vocabulary_size,
        time.perf_counter() - started,
    )


def choose_types(tokeniser: Tokeniser, blamed: Blame, settings: KnockoutSettings) -> list[str]:
    """The types to remove, first one first, such that the minimum vocabulary is kept."""
    graph = tokeniser.graph
    types = candidate_types(tokeniser, blamed, settings.threshold, settings.minimum_vocabulary)
    room = max(0, tokeniser.vocabulary_size - settings.minimum_vocabulary)
    count = len(types) if settings.count is None else settings.count
    if settings.minimum_vocabulary:
        count = min(count, room)
    if settings.select == "random":
        types = random_types(graph, count, settings.seed)
    elif settings.select == "leaves":
        types = last_leaves(graph, count)
    elif settings.select == "last":
        types = last_types(graph, count)
    types = types[:count]
    if settings.cascade and settings.minimum_vocabulary:
        types = types[: _cascade_that_fits(graph, types, room)]
    return types


def _cascade_that_fits(graph: MergeGraph, types: list[str], room: int) -> int:
    """How many of the first types can go with all that is made from them."""
    low, high = 0, len(types)
    while low < high:
        middle = (low + high + 1) // 2
        if len(graph.preview_cascade(types[:middle]).removed_types) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def score_report(
    benchmark: Benchmark, scores: list[BoundaryScore], signature: str
) -> Mapping[str, Any]:
    """Scores as JSON, with the entries, the skipped lines by reason, and the signature."""
    return {
        "scores": [score.to_dict() for score in scores],
        "entries": len(benchmark.reference),
        "skipped": {skip.reason: skip.count for skip in benchmark.reference.skipped},
        "signature": signature,
    }

"""Knock out types for the better: choose them, remove them, score before and after."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from morphgraph.evaluate.boundaries import Benchmark, BoundaryScore, Scope, Weighting
from morphgraph.files.tokeniser import Tokeniser
from morphgraph.graph import Change
from morphgraph.refine.baselines import last_leaves, last_types, random_types
from morphgraph.refine.blame import DEFAULT_THRESHOLD, blame, candidate_types, split_entries
from morphgraph.segment import Segmentation, segment

Selection = Literal["blame", "random", "last", "leaves"]
SELECTIONS: tuple[Selection, ...] = ("blame", "random", "last", "leaves")


@dataclass(frozen=True)
class KnockoutSettings:
    """How to choose the types and how to remove them.

    ``select``: by "blame" (R ≥ ``threshold``), or as a baseline: as many types as blame would
    choose, or ``count``, at "random" or as the "last" merges or the last "leaves". ``holdout``:
    the share of entries that blame does not see and that alone are scored. ``cascade``: also remove
    what is made from a removed type.
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


@dataclass(frozen=True)
class KnockoutResult:
    """What a knockout removed, and the scores before and after it.

    ``dropout_rate`` and ``share_of_merges`` are p = Σ N(removed) ÷ Σ N and |M†| ÷ |M|.
    """

    change: Change
    removed: list[str]
    before: list[BoundaryScore]
    after: list[BoundaryScore]
    dropout_rate: float
    share_of_merges: float
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
    seen, scored = entries_for(benchmark, settings)
    scored_benchmark = benchmark if scored is None else benchmark.subset(scored)
    segmentation = segment(tokeniser.graph, benchmark.words)
    before = scored_benchmark.scores(
        segmentation if scored is None else segment(tokeniser.graph, scored_benchmark.words)
    )
    chosen, rate = choose_types(tokeniser, benchmark, segmentation, settings, seen)
    merges = tokeniser.graph.merge_count
    edit = tokeniser.graph.cascade if settings.cascade else tokeniser.graph.knockout
    change = edit(chosen)
    after = scored_benchmark.scores(segment(tokeniser.graph, scored_benchmark.words))
    return KnockoutResult(
        change,
        [tokeniser.graph.types[number] for number in change.removed_types],
        before,
        after,
        rate,
        len(change.removed_merges) / merges if merges else 0.0,
        tokeniser.vocabulary_size,
        time.perf_counter() - started,
    )


def entries_for(
    benchmark: Benchmark, settings: KnockoutSettings
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64] | None]:
    """The entries that blame sees and those that are scored; None for all."""
    if not settings.holdout:
        return None, None
    return split_entries(len(benchmark.words), settings.holdout, settings.seed)


def choose_types(
    tokeniser: Tokeniser,
    benchmark: Benchmark,
    segmentation: Segmentation,
    settings: KnockoutSettings,
    entries: npt.NDArray[np.int64] | None = None,
) -> tuple[list[str], float]:
    """The types to remove, first one first, and the effective dropout rate of their merges."""
    graph = tokeniser.graph
    blamed = blame(
        benchmark,
        segmentation,
        weighting=settings.weighting,
        scope=settings.scope,
        tuples_once=settings.tuples_once,
        entries=entries,
    )
    types = candidate_types(tokeniser, blamed, settings.threshold, settings.minimum_vocabulary)
    if settings.select != "blame":
        count = len(types) if settings.count is None else settings.count
        if settings.select == "random":
            types = random_types(graph, count, settings.seed)
        elif settings.select == "leaves":
            types = last_leaves(graph, count)
        else:
            types = last_types(graph, count)
    elif settings.count is not None:
        types = types[: settings.count]
    merges = [m for text in types for m in graph.incoming(graph.id_of(text))]
    positions = np.array([blamed.position[m] for m in merges], np.int64)
    return types, blamed.dropout_rate(positions)


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

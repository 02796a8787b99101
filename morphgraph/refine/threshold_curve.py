"""What knocking out by every threshold gives: the scores by which to choose one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.blame import Blame
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.tokeniser.merging import segment, segment_without
from morphgraph.tokeniser.tokeniser import Tokeniser


@dataclass(frozen=True)
class ThresholdPoint:
    """What knocking out all merges with R ≥ threshold gives."""

    threshold: float
    removed: int
    dropout_rate: float
    precision: float
    recall: float
    f1: float


THRESHOLDS: tuple[float, ...] = tuple(step / 100 for step in range(1, 100))


def threshold_curve(
    tokeniser: Tokeniser,
    benchmark: Benchmark,
    blamed: Blame,
    *,
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    thresholds: Sequence[float] = THRESHOLDS,
    progress: Callable[[float], None] | None = None,
) -> list[ThresholdPoint]:
    """Scores after knocking out all merges above each threshold, each from the same start.

    The tokeniser itself is not changed.
    """
    arrays = blamed.arrays
    worst = _worst_ratios(tokeniser.graph, blamed, min(thresholds, default=1.0))
    positions = np.arange(len(arrays), dtype=np.int32)
    segmentation = segment(tokeniser.graph, benchmark.words)
    found: dict[float, ThresholdPoint] = {}
    point: ThresholdPoint | None = None
    # Types of a threshold are among those of every lower one, and the order of knocking out does
    # not matter, so it goes down the thresholds once, and on from the words as they are.
    for done, threshold in enumerate(sorted(thresholds, reverse=True), start=1):
        wanted = worst >= threshold
        count = int(wanted.sum())
        if point is None or count > point.removed:
            gone = wanted[arrays.results]
            left = arrays.without(np.flatnonzero(wanted))
            segmentation = segment_without(segmentation, left, np.where(gone, -1, positions))
            score = benchmark.score(segmentation, scope, weighting)
            rate = blamed.dropout_rate(np.flatnonzero(gone))
            point = ThresholdPoint(threshold, count, rate, score.precision, score.recall, score.f1)
        found[threshold] = replace(point, threshold=threshold)
        if progress:
            progress(done / len(thresholds))
    return [found[threshold] for threshold in thresholds]


def _worst_ratios(graph: MergeGraph, blamed: Blame, least: float) -> npt.NDArray[np.float64]:
    """By type, the highest R of its merges, if it is ``least`` or more; -1 for all other types,
    and for those that cannot be knocked out."""
    worst = np.full(blamed.arrays.type_count, -1.0)
    positions = blamed.candidates(least)
    np.maximum.at(worst, blamed.arrays.results[positions], blamed.ratio[positions])
    for number in np.flatnonzero(worst >= 0):
        if not graph.is_removable(int(number)):
            worst[number] = -1.0
    return worst

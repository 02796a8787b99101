"""The scores after knockout at every threshold, to choose one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from morphgraph.graph.arrays import MergeArrays, ShrinkingMerges
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.blame import Blame
from morphgraph.score.boundaries import Benchmark, BoundaryTally
from morphgraph.score.cuts import cuts_of
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.tokeniser.merging import segment, segment_pieces_anew
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@dataclass(frozen=True)
class ThresholdPoint:
    """The result of knocking out all merges with R ≥ threshold."""

    threshold: float
    removed: int
    dropout_rate: float
    precision: float
    recall: float
    f1: float


def best_point(points: Sequence[ThresholdPoint]) -> ThresholdPoint | None:
    """Return the lowest threshold of the highest F1; None if F1 is undefined everywhere."""
    defined = [point for point in points if point.f1 == point.f1]
    return max(defined, key=lambda point: point.f1, default=None)


THRESHOLDS: tuple[float, ...] = tuple(step / 100 for step in range(1, 100))


def threshold_curve(
    tokeniser: BpeTokeniser,
    benchmark: Benchmark,
    blamed: Blame,
    *,
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    thresholds: Sequence[float] = THRESHOLDS,
) -> list[ThresholdPoint]:
    """Score the knockout of all merges above each threshold, each from the same start.

    The tokeniser itself is not changed.
    """
    worst = _worst_ratios(tokeniser.graph, blamed, min(thresholds, default=1.0))
    falling = _ThresholdSweep(tokeniser, benchmark, blamed.arrays, worst, scope, weighting)
    found: dict[float, ThresholdPoint] = {}
    point: ThresholdPoint | None = None
    for threshold in sorted(thresholds, reverse=True):
        wanted = worst >= threshold
        count = int(wanted.sum())
        if point is None or count > point.removed:
            scores = falling.to(threshold)
            rate = blamed.dropout_rate(np.flatnonzero(wanted[blamed.arrays.results]))
            point = ThresholdPoint(threshold, count, rate, *scores)
        found[threshold] = replace(point, threshold=threshold)
    return [found[threshold] for threshold in thresholds]


class _ThresholdSweep:
    """Words and their scores as the threshold decreases.

    The types of a threshold include those of every higher one, and the order of knockouts does not
    matter, so each threshold continues from the previous one, with the words it changes. ``worst``:
    by type, see `_worst_ratios`.
    """

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        benchmark: Benchmark,
        arrays: MergeArrays,
        worst: npt.NDArray[np.float64],
        scope: Scope,
        weighting: Weighting,
    ) -> None:
        self.merges = ShrinkingMerges(arrays)
        self.is_plain = arrays.is_plain
        self.worst = worst
        self.ratio = worst[arrays.results]
        self.segmentation = segment(tokeniser.graph, benchmark.words)
        # The highest threshold that changes a piece: the worst R of merges applied in it.
        self.limit = np.full(len(benchmark.words.piece_offsets) - 1, np.inf)
        self._update_limits(np.ones(len(self.limit), np.uint8))
        self.gold = benchmark.cuts(scope)
        self.tally: BoundaryTally | None = None
        if benchmark.is_scored(scope, weighting):
            weight = benchmark.weight(scope, weighting)
            self.tally = BoundaryTally(cuts_of(self.segmentation), self.gold, weight)

    def to(self, threshold: float) -> tuple[float, float, float]:
        """Return precision, recall and F1 at a lower threshold; NaN if undefined."""
        is_present = self.merges.removed == 0
        self.merges.knock_out(np.flatnonzero(is_present & (self.worst >= threshold)))
        touched = (self.limit >= threshold).astype(np.uint8)
        if not self.is_plain:
            touched[:] = 1
        segment_pieces_anew(self.segmentation, self.merges, touched)
        self._update_limits(touched)
        if self.tally is None:
            return math.nan, math.nan, math.nan
        words = np.zeros(len(self.segmentation.words), bool)
        words[self._word_of_piece[touched == 1]] = True
        # A segmentation caches its splits, and these arrays have changed, so make a new one.
        cuts = cuts_of(replace(self.segmentation), words)
        self.tally.recount(cuts, self.gold, words)
        return self.tally.precision.value, self.tally.recall.value, self.tally.f1.value

    def _update_limits(self, touched: npt.NDArray[np.uint8]) -> None:
        from morphgraph.kernels.removing import highest_values

        offsets = self.segmentation.words.piece_offsets
        highest_values(self.segmentation.closed_by, offsets, touched, self.ratio, self.limit)

    @cached_property
    def _word_of_piece(self) -> npt.NDArray[np.int32]:
        words = self.segmentation.words
        return words.word_of_atom[words.piece_offsets[:-1]]


def _worst_ratios(graph: MergeGraph, blamed: Blame, least: float) -> npt.NDArray[np.float64]:
    """Return the highest R of each type's merges, if it is ``least`` or more.

    It is -1 for all other types, and for those that cannot be knocked out.
    """
    worst = np.full(blamed.arrays.type_count, -1.0)
    positions = blamed.candidates(least)
    np.maximum.at(worst, blamed.arrays.results[positions], blamed.ratio[positions])
    for number in np.flatnonzero(worst >= 0):
        if not graph.is_removable(int(number)):
            worst[number] = -1.0
    return worst

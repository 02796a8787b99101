"""BPE-knockout: blame merges for crossing gold boundaries, and remove the types they make.

`preview_knockout` is the algorithm; `MergeGraph.knockout` rewires the merges that used a removed
type, and `knock_out` scores a tokeniser before and after. Source: Bauwens & Delobelle 2024,
Algorithm 1.
"""

import math
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.arrays import MergeArrays, ShrinkingMerges
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame, blame
from morphgraph.score.boundaries import Benchmark, BoundaryScore, BoundaryTally, cuts_of
from morphgraph.score.gold_set import Flags, Scope, Weighting, split_entries
from morphgraph.segment.method import Parameters
from morphgraph.tokeniser.merging import MergeSegmentation, segment, segment_pieces_anew
from morphgraph.tokeniser.tokeniser import BpeTokeniser

Selection = Literal["blame", "random", "last", "leaves"]


class BlameSettings(Parameters):
    """Settings shared by knockout and ReBPE: how to blame merges, and what to remove."""

    threshold: float = Field(
        default=DEFAULT_THRESHOLD, ge=0, le=1, description="Merges with R ≥ this are to blame."
    )
    holdout: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Share of the words held out from learning; only these are scored.",
    )
    scope: Scope = Field(
        default="morphemic", description="Blame by boundaries between morphs, or whole words."
    )
    weighting: Weighting = Field(
        default="types",
        description="Blame counts each word once, or as often as the corpus has it.",
    )
    tuples_once: bool = Field(
        default=False,
        description="Blame counts a tuple merge once for each application, not for each join.",
    )
    cascade: bool = Field(
        default=False, description="Also remove what is made from a removed type."
    )
    minimum_vocabulary: int = Field(default=0, ge=0, description="Keep at least this many types.")
    seed: int = Field(default=0, ge=0, description="Draws the words that are held out.")

    @property
    def is_random(self) -> bool:
        """Whether the result depends on a seed."""
        return bool(self.holdout)

    @property
    def sees_gold(self) -> bool:
        """Whether the method uses gold boundaries."""
        return True


class KnockoutSettings(BlameSettings):
    """How to choose and remove types.

    A baseline removes as many types as blame would, or ``count``, or ``percent``.
    """

    select: Selection = Field(
        default="blame",
        description="Which types to remove: those to blame, or as many as a baseline.",
    )
    count: int | None = Field(default=None, ge=0, description="This many types.")
    percent: float | None = Field(
        default=None, ge=0, le=100, description="This percentage of the types that merges produce."
    )

    @property
    def is_random(self) -> bool:
        """Whether the result depends on a seed."""
        return super().is_random or self.select == "random"

    @property
    def sees_gold(self) -> bool:
        """Whether the method uses gold boundaries: baselines do not."""
        return self.select == "blame"


def preview_knockout(
    tokeniser: BpeTokeniser,
    benchmark: Benchmark,
    segmentation: MergeSegmentation,
    settings: KnockoutSettings,
    entries: npt.NDArray[np.int64] | None = None,
) -> tuple[Change, Blame]:
    """Compute a knockout without applying it; return the change, and the blame behind it.

    ``segmentation``: of the benchmark's words in the present state. ``entries``: blame uses only
    these. Source: Bauwens & Delobelle 2024, Algorithm 1.

    undo is Ġund o in this tokeniser, and n + d closed the boundary un|do. Without it, whatever was
    made with nd is made with n and d.

    >>> import morphgraph as mg
    >>> from morphgraph.formats.loading import load_tokeniser
    >>> tokeniser = load_tokeniser("demo:en")
    >>> benchmark = Benchmark.on(mg.read_gold([("undo", ["un", "do"])]), tokeniser)
    >>> words = segment(tokeniser.graph, benchmark.words)
    >>> change, blamed = preview_knockout(tokeniser, benchmark, words, KnockoutSettings())
    >>> graph = tokeniser.graph
    >>> [graph.types[number] for number in change.removed_types]
    ['nd']
    >>> [graph.types[part] for part in change.rewired[0].old_parts]
    ['Ġa', 'nd']
    >>> [graph.types[part] for part in change.rewired[0].new_parts]
    ['Ġa', 'n', 'd']
    """
    blamed = blame(
        benchmark,
        segmentation,
        weighting=settings.weighting,
        scope=settings.scope,
        tuples_once=settings.tuples_once,
        entries=entries,
    )
    types = choose_types(tokeniser, blamed, settings)
    graph = tokeniser.graph
    remove = graph.preview_cascade if settings.cascade else graph.preview_knockout
    return remove(types), blamed


def candidate_types(
    tokeniser: BpeTokeniser,
    blamed: Blame,
    threshold: float = DEFAULT_THRESHOLD,
    minimum_vocabulary: int = 0,
) -> list[str]:
    """Return the types to knock out for a threshold, worst first, keeping a minimum |V|.

    A type that two merges produce is listed once, at its worst merge.
    """
    graph = tokeniser.graph
    results = blamed.arrays.results
    numbers = dict.fromkeys(int(results[position]) for position in blamed.candidates(threshold))
    removable = [number for number in numbers if graph.is_removable(number)]
    room = max(0, tokeniser.vocabulary_size - minimum_vocabulary)
    return [graph.types[number] for number in removable[:room]]


def choose_types(tokeniser: BpeTokeniser, blamed: Blame, settings: KnockoutSettings) -> list[str]:
    """Return the types to remove in order, keeping the minimum vocabulary size."""
    graph = tokeniser.graph
    types = candidate_types(tokeniser, blamed, settings.threshold, settings.minimum_vocabulary)
    room = max(0, tokeniser.vocabulary_size - settings.minimum_vocabulary)
    count = len(types) if settings.count is None else settings.count
    if settings.percent is not None:
        count = percent_of_types(graph, settings.percent)
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
        # Each further type removes all that is made from it, so the numbers ascend.
        removed = partial(_removed_by_cascade, graph, types)
        types = types[: bisect_right(range(1, len(types) + 1), room, key=removed)]
    return types


def _removed_by_cascade(graph: MergeGraph, types: list[str], count: int) -> int:
    return len(graph.preview_cascade(types[:count]).removed_types)


@dataclass(frozen=True)
class KnockoutResult:
    """What a knockout removed, and the scores of ``scored`` before and after.

    ``dropout_rate`` and ``share_of_merges`` are p = Σ N(removed) ÷ Σ N and |M†| ÷ |M|;
    ``late_leaves`` is the share of leaves among the last half of all merges (`share_of_leaves`).
    """

    change: Change
    removed: list[str]
    scored: Benchmark
    before: list[BoundaryScore]
    after: list[BoundaryScore]
    signature_before: str
    dropout_rate: float
    share_of_merges: float
    late_leaves: float
    seconds: float


def knock_out(
    tokeniser: BpeTokeniser, benchmark: Benchmark, settings: KnockoutSettings | None = None
) -> KnockoutResult:
    """Knock out types of a tokeniser in place, and score it before and after."""
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
    merges, late_leaves = graph.merge_count, share_of_leaves(graph)
    change, blamed = preview_knockout(tokeniser, benchmark, segmentation, settings, seen)
    graph.apply(change)
    removed = blamed.arrays.places[np.fromiter(change.removed_merges, np.int64)].astype(np.int64)
    return KnockoutResult(
        change,
        [graph.types[number] for number in change.removed_types],
        scored,
        before,
        scored.scores(segment(graph, scored.words)),
        signature_before,
        blamed.dropout_rate(removed),
        len(removed) / merges if merges else 0.0,
        late_leaves,
        time.perf_counter() - started,
    )


def random_types(graph: MergeGraph, count: int, seed: int) -> list[str]:
    """Draw types at random, by a seed, among all that a merge produces.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d")])
    >>> sorted(random_types(graph, 3, seed=0))
    ['ab', 'abc', 'cd']
    """
    produced = _produced(graph)
    _check(count, len(produced))
    drawn = np.random.default_rng(seed).choice(len(produced), size=count, replace=False)
    return [graph.types[produced[i]] for i in drawn]


def last_types(graph: MergeGraph, count: int) -> list[str]:
    """Return the types of the last merges, last first.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d")])
    >>> last_types(graph, 1)
    ['cd']
    """
    produced = _produced(graph)
    _check(count, len(produced))
    return [graph.types[number] for number in produced[::-1][:count]]


def percent_of_types(graph: MergeGraph, percent: float) -> int:
    """Return a percentage of the number of produced types, rounded.

    >>> percent_of_types(MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d")]), 34)
    1
    """
    if not 0 <= percent <= 100:
        raise MorphGraphError(f"{percent} % of the types cannot be chosen. Give 0 to 100.")
    return round(len(_produced(graph)) * percent / 100)


def last_leaves(graph: MergeGraph, count: int) -> list[str]:
    """Return the last leaves, last first: types in no merge of the graph as loaded.

    A type that became a leaf by an edit does not count, else these would be the last types; a
    removed one is left out.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "e")])
    >>> last_leaves(graph, 2)
    ['cde', 'abc']
    """
    leaves = set(_leaves(_loaded(graph)))
    chosen = [number for number in _produced(graph) if number in leaves]
    _check(count, len(chosen), "leaves")
    return [graph.types[number] for number in chosen[::-1][:count]]


def share_of_leaves(graph: MergeGraph) -> float:
    """Return the share of the last half of loaded merges that make a leaf; NaN without merges.

    Source: Bauwens & Delobelle 2024, Fig. 3.

    >>> share_of_leaves(MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "e")]))
    0.5
    """
    loaded = _loaded(graph)
    results = [merge.result for merge in loaded.merges().values()]
    late = results[len(results) // 2 :]
    leaves = set(_leaves(loaded))
    return sum(number in leaves for number in late) / len(late) if late else math.nan


def _loaded(graph: MergeGraph) -> MergeGraph:
    return graph.original() if graph.history else graph


def _leaves(graph: MergeGraph) -> list[int]:
    made = {merge.result for merge in graph.merges().values()}
    return [number for number in made if not graph.fan_out(number)]


def _produced(graph: MergeGraph) -> list[int]:
    """Return removable types that a merge produces, by the rank of their merge."""
    made = dict.fromkeys(merge.result for merge in graph.merges().values())
    return [number for number in made if graph.is_removable(number)]


def _check(count: int, available: int, what: str = "types") -> None:
    if not 0 <= count <= available:
        raise MorphGraphError(
            f"{count:,} {what} cannot be chosen. Give a number from 0 to {available:,}."
        )


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
    results = blamed.arrays.results
    # The highest R of each type's merges; -1 for those that are never knocked out.
    worst = np.full(blamed.arrays.type_count, -1.0)
    places = blamed.candidates(min(thresholds, default=1.0))
    np.maximum.at(worst, results[places], blamed.ratio[places])
    fixed = [n for n in np.flatnonzero(worst >= 0).tolist() if not tokeniser.graph.is_removable(n)]
    worst[fixed] = -1.0
    segmentation = segment(tokeniser.graph, benchmark.words)
    tally: BoundaryTally | None = None
    if benchmark.is_scored(scope, weighting):
        weight = benchmark.weight(scope, weighting)
        tally = BoundaryTally(cuts_of(segmentation), benchmark.cuts(scope), weight)
    falling = _ThresholdSweep(blamed.arrays, segmentation, worst)
    found: dict[float, ThresholdPoint] = {}
    point: ThresholdPoint | None = None
    for threshold in sorted(thresholds, reverse=True):
        wanted = worst >= threshold
        count = int(wanted.sum())
        if point is None or count > point.removed:
            words = falling.to(threshold)
            scores = [math.nan] * 3
            if tally is not None:
                # A segmentation caches its splits, and its arrays have changed: make a new one.
                tally.recount(cuts_of(replace(segmentation), words), benchmark.cuts(scope), words)
                scores = [ratio.value for ratio in (tally.precision, tally.recall, tally.f1)]
            rate = blamed.dropout_rate(np.flatnonzero(wanted[results]))
            point = ThresholdPoint(threshold, count, rate, *scores)
        found[threshold] = replace(point, threshold=threshold)
    return [found[threshold] for threshold in thresholds]


class _ThresholdSweep:
    """Words, segmented in place as the threshold decreases.

    The types of a threshold include those of every higher one, and the order of knockouts does not
    matter, so each threshold continues from the previous one, with the words it changes. ``worst``:
    the highest R of each type's merges.
    """

    def __init__(
        self, arrays: MergeArrays, segmentation: MergeSegmentation, worst: npt.NDArray[np.float64]
    ) -> None:
        self.segmentation, self.worst = segmentation, worst
        self.merges = ShrinkingMerges(arrays)
        self.is_plain = arrays.is_plain
        self.ratio = worst[arrays.results]
        words = segmentation.words
        self.word_of_piece = words.word_of_atom[words.piece_offsets[:-1]]
        # The highest threshold that changes a piece: the worst R of merges applied in it.
        self.limit = np.full(len(words.piece_offsets) - 1, np.inf)
        self._update_limits(np.ones(len(self.limit), np.uint8))

    def to(self, threshold: float) -> Flags:
        """Segment at a lower threshold; return which words may have changed."""
        is_present = self.merges.removed == 0
        self.merges.knock_out(np.flatnonzero(is_present & (self.worst >= threshold)))
        touched = (self.limit >= threshold).astype(np.uint8)
        if not self.is_plain:
            touched[:] = 1
        segment_pieces_anew(self.segmentation, self.merges, touched)
        self._update_limits(touched)
        words = np.zeros(len(self.segmentation.words), bool)
        words[self.word_of_piece[touched == 1]] = True
        return words

    def _update_limits(self, touched: npt.NDArray[np.uint8]) -> None:
        from morphgraph.kernels.removing import highest_values

        offsets = self.segmentation.words.piece_offsets
        highest_values(self.segmentation.closed_by, offsets, touched, self.ratio, self.limit)

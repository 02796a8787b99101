"""BPE-knockout: blame merges for crossing gold boundaries, and remove the types they make.

`preview_knockout` is the algorithm; `MergeGraph.knockout` rewires the merges that used a removed
type, and `knock_out` scores a tokeniser before and after. Source: Bauwens & Delobelle 2024,
Algorithm 1.
"""

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.graph.change import Change
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.baselines import (
    last_leaves,
    last_types,
    percent_of_types,
    random_types,
    share_of_leaves,
)
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame, blame
from morphgraph.score.boundaries import Benchmark, BoundaryScore
from morphgraph.score.gold_set import Scope, Weighting, split_entries
from morphgraph.segment.method import Parameters
from morphgraph.tokeniser.merging import MergeSegmentation, segment
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
    >>> from morphgraph.tokeniser.loading import load_tokeniser
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
        types = types[: _cascade_that_fits(graph, types, room)]
    return types


def _cascade_that_fits(graph: MergeGraph, types: list[str], room: int) -> int:
    """Return how many of the first types can be removed with all types made from them."""
    low, high = 0, len(types)
    while low < high:
        middle = (low + high + 1) // 2
        if len(graph.preview_cascade(types[:middle]).removed_types) <= room:
            low = middle
        else:
            high = middle - 1
    return low


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

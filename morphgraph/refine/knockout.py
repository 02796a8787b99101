"""BPE-knockout: blame merges for crossing gold boundaries, and remove the types they make.

`preview_knockout` is the algorithm; `MergeGraph.knockout` rewires the merges that used a removed
type, and `knock_out` applies both to a tokeniser. Source: Bauwens & Delobelle 2024,
Algorithm 1.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import decode_utf8
from morphgraph.core.text import shortened
from morphgraph.graph.arrays import ShrinkingMerges
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.refine import KnockoutSettings, Selection
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame, blame
from morphgraph.refine.portable_edits import preview_portable
from morphgraph.score.boundaries import Benchmark, BoundaryTally, cuts_of
from morphgraph.score.gold_set import Flags, GoldSet, Scope, Weighting
from morphgraph.tokeniser.merging import (
    MergeSegmentation,
    keep_whole_pieces,
    segment,
    segment_pieces_anew,
)
from morphgraph.tokeniser.preprocess import shown_token
from morphgraph.tokeniser.tokeniser import BpeTokeniser


def preview_knockout(
    tokeniser: BpeTokeniser,
    benchmark: Benchmark,
    segmentation: MergeSegmentation,
    settings: KnockoutSettings,
) -> tuple[Change, Blame]:
    """Compute a knockout without applying it; return the change, and the blame behind it.

    ``segmentation``: of the benchmark's words now. Source: Bauwens & Delobelle 2024, Algorithm 1.

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
    )
    types = choose_types(tokeniser, blamed, settings)
    graph = tokeniser.graph
    remove = graph.preview_cascade if settings.cascade else graph.preview_knockout
    return remove(types), blamed


def candidate_types(
    tokeniser: BpeTokeniser, blamed: Blame, threshold: float = DEFAULT_THRESHOLD
) -> list[str]:
    """Return the types to knock out for a threshold, worst first."""
    graph = tokeniser.graph
    numbers = dict.fromkeys(blamed.arrays.results[blamed.candidates(threshold)].tolist())
    return [graph.types[number] for number in numbers if graph.is_removable(number)]


def choose_types(tokeniser: BpeTokeniser, blamed: Blame, settings: KnockoutSettings) -> list[str]:
    """Return the types to remove in order, keeping the minimum vocabulary size."""
    graph, minimum = tokeniser.graph, settings.minimum_vocabulary
    room = max(0, tokeniser.vocabulary_size - minimum)
    types = candidate_types(tokeniser, blamed, settings.threshold)[:room]
    count = len(types) if settings.count is None else settings.count
    if settings.percent is not None:
        count = round(len(_produced(graph)) * settings.percent / 100)
    if minimum:
        count = min(count, room)
    if settings.select != "blame":
        types = baseline_types(graph, settings.select, count, settings.seed)
    types = types[:count]
    if settings.cascade and minimum:
        # Each further type removes all that is made from it, so the numbers ascend.
        def removed(count: int) -> int:
            return len(graph.preview_cascade(types[:count]).removed_types)

        types = types[: bisect_right(range(1, len(types) + 1), room, key=removed)]
    return types


def listed_types(data: bytes, name: str, tokeniser: BpeTokeniser) -> list[str]:
    """Read types to knock out, one a line: as spelt in the tokeniser, as shown, or by id.

    What is a type is taken as one: ``12``, and so ``#12``, is the id 12 if there is no such type.
    ``name``: of the file. Errors: `FileFormatError` for a line that is neither, for a type that no
    merge makes, and for one that is repeated.

    >>> from morphgraph.formats.loading import load_tokeniser
    >>> listed_types("able\\nĠund\\n#300\\n".encode(), "types.txt", load_tokeniser("demo:en"))
    ['able', 'Ġund', 'om']
    """
    graph, names = tokeniser.graph, tokeniser.readable_types
    shown = {names[number]: number for number in graph.type_ids()}
    ids = {str(id_): number for number, id_ in enumerate(tokeniser.vocabulary_ids)}
    lines_of_types: dict[int, int] = {}
    lines = decode_utf8(data, name).split("\n")
    for line, text in enumerate((line.removesuffix("\r") for line in lines), start=1):
        if not text.strip():
            continue
        meant = [graph.ids.get(text), shown.get(shown_token(text))]
        if not any(number is not None and graph.is_present(number) for number in meant):
            meant = [ids.get(text.removeprefix("#"))]
        there = [number for number in meant if number is not None and graph.is_present(number)]
        number = next(filter(graph.is_removable, there), None)
        problem, fix = "", "Leave it out."
        if not there:
            problem = "is neither a type nor the id of one"
            fix = "Spell it as in the vocabulary, or give its id."
        elif number is None:
            problem = "is an atom or an added token, which no merge makes"
        elif number in lines_of_types:
            problem = f"repeats the type of line {lines_of_types[number]:,}"
        if number is None or problem:
            quoted = f"“{shortened(text)}” {problem}"
            raise FileFormatError(name, f"line {line:,}", quoted, fix)
        lines_of_types[number] = line
    if not lines_of_types:
        raise FileFormatError(name, "", "it lists no types", "Write one type per line.")
    return [graph.types[number] for number in lines_of_types]


def baseline_types(graph: MergeGraph, select: Selection, count: int, seed: int = 0) -> list[str]:
    """Return types that merges produce: ``random`` ones, or the ``last`` ones or ``leaves``.

    Leaves are in no merge of the graph as loaded: if a type that became a leaf by an edit counted,
    these would be the last types.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "e")])
    >>> baseline_types(graph, "last", 2), baseline_types(graph, "leaves", 2)
    (['cde', 'cd'], ['cde', 'abc'])
    """
    produced, what = _produced(graph), "types"
    if select == "leaves":
        leaves, what = _leaves(graph.original()), "leaves"
        produced = [number for number in produced if number in leaves]
    if count > len(produced):
        raise MorphGraphError(
            f"{count:,} {what} cannot be chosen. Give a number from 0 to {len(produced):,}."
        )
    if select == "random":
        places = np.random.default_rng(seed).choice(len(produced), size=count, replace=False)
        return [graph.types[produced[place]] for place in places]
    return [graph.types[number] for number in produced[::-1][:count]]


def share_of_leaves(graph: MergeGraph, types: Sequence[int] | None = None) -> float:
    """Return the share of types that are leaves of the graph as loaded; NaN without types.

    ``types``: by default those that the last half of its merges make. Source: Bauwens & Delobelle
    2024, Fig. 3.

    >>> share_of_leaves(MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "e")]))
    0.5
    """
    loaded = graph.original()
    if types is None:
        results = [merge.result for merge in loaded.merges().values()]
        types = results[len(results) // 2 :]
    leaves = _leaves(loaded)
    return sum(number in leaves for number in types) / len(types) if types else math.nan


def _leaves(graph: MergeGraph) -> set[int]:
    results = {merge.result for merge in graph.merges().values()}
    return {number for number in results if not graph.fan_out(number)}


def _produced(graph: MergeGraph) -> list[int]:
    """Return removable types that a merge produces, by the rank of their merge."""
    results = dict.fromkeys(merge.result for merge in graph.merges().values())
    return [number for number in results if graph.is_removable(number)]


@dataclass(frozen=True)
class KnockoutResult:
    """What a knockout changed.

    ``dropout_rate`` and ``share_of_merges`` are p = Σ N(removed) ÷ Σ N and |M†| ÷ |M|;
    ``portable``: the edit that then left only pair merges, if asked for.
    """

    change: Change
    portable: Change | None
    dropout_rate: float
    share_of_merges: float


def knock_out(
    tokeniser: BpeTokeniser, benchmark: Benchmark, settings: KnockoutSettings | None = None
) -> KnockoutResult:
    """Knock out types of a tokeniser in place, by all words of a benchmark."""
    settings = settings or KnockoutSettings()
    graph = tokeniser.graph
    words, merges = segment(graph, benchmark.words), graph.merge_count
    change, blamed = preview_knockout(tokeniser, benchmark, words, settings)
    change = graph.apply(settings.learned(change, benchmark))
    portable = None
    if settings.portable:
        portable = preview_portable(graph, benchmark, settings)
        portable = graph.apply(settings.learned(portable, benchmark))
    removed = blamed.arrays.places[np.fromiter(change.removed_merges, np.int64)].astype(np.int64)
    share = len(removed) / merges if merges else 0.0
    return KnockoutResult(change, portable, blamed.dropout_rate(removed), share)


@dataclass(frozen=True)
class ThresholdPoint:
    """The result of knocking out all merges with R ≥ threshold."""

    threshold: float
    removed: int
    dropout_rate: float
    precision: float
    recall: float
    f1: float


def decided_threshold(
    tokeniser: BpeTokeniser, gold_set: GoldSet, scope: Scope, weighting: Weighting
) -> float | None:
    """Return the threshold of the highest F1 on an eighth of gold, by blame from the rest of it.

    Of several the lowest. ``gold_set``: the words learned from: those that are scored decide
    nothing. None where there are too few.
    """
    try:
        seen, deciding = gold_set.split(_SHARE_DECIDING)
    except MorphGraphError:
        return None
    benchmark = Benchmark.on(seen, tokeniser)
    scored_by: Any = {"scope": scope, "weighting": weighting}
    blamed = blame(benchmark, segment(tokeniser.graph, benchmark.words), **scored_by)
    points = threshold_curve(tokeniser, Benchmark.on(deciding, tokeniser), blamed, **scored_by)
    defined = [(point.f1, -point.threshold) for point in points if not math.isnan(point.f1)]
    return -max(defined)[1] if defined else None


_SHARE_DECIDING = 1 / 8
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
    worst = _worst_of_types(tokeniser, blamed, min(thresholds, default=1.0))
    segmentation = segment(tokeniser.graph, benchmark.words)
    tally: BoundaryTally | None = None
    if benchmark.is_scored(scope, weighting):
        weight = benchmark.weight(scope, weighting)
        tally = BoundaryTally(cuts_of(segmentation), benchmark.cuts(scope), weight)
    fall_to = _falling(tokeniser.graph, segmentation, worst)
    points: dict[float, ThresholdPoint] = {}
    point: ThresholdPoint | None = None
    for threshold in sorted(thresholds, reverse=True):
        wanted = worst >= threshold
        count = int(wanted.sum())
        if point is None or count > point.removed:
            words = fall_to(threshold)
            scores = [math.nan] * 3
            if tally is not None:
                # A segmentation caches its splits, and its arrays have changed: make a new one.
                tally.recount(cuts_of(replace(segmentation), words), benchmark.cuts(scope), words)
                scores = [ratio.value for ratio in (tally.precision, tally.recall, tally.f1)]
            rate = blamed.dropout_rate(np.flatnonzero(wanted[results]))
            point = ThresholdPoint(threshold, count, rate, *scores)
        points[threshold] = replace(point, threshold=threshold)
    return [points[threshold] for threshold in thresholds]


def segment_without(
    tokeniser: BpeTokeniser, benchmark: Benchmark, blamed: Blame, threshold: float
) -> MergeSegmentation:
    """Return words as they are cut once all types of merges with R ≥ threshold are knocked out.

    The tokeniser itself is not changed.
    """
    segmentation = segment(tokeniser.graph, benchmark.words)
    worst = _worst_of_types(tokeniser, blamed, threshold)
    _falling(tokeniser.graph, segmentation, worst)(threshold)
    return replace(segmentation)  # as for a point of the curve: its arrays have changed


def _worst_of_types(
    tokeniser: BpeTokeniser, blamed: Blame, least: float
) -> npt.NDArray[np.float64]:
    """Return the highest R of each type's merges; -1 below ``least``, and if it cannot go."""
    worst = np.full(blamed.arrays.type_count, -1.0)
    places = blamed.candidates(least)
    np.maximum.at(worst, blamed.arrays.results[places], blamed.ratio[places])
    fixed = [n for n in np.flatnonzero(worst >= 0).tolist() if not tokeniser.graph.is_removable(n)]
    worst[fixed] = -1.0
    return worst


def _falling(
    graph: MergeGraph, segmentation: MergeSegmentation, worst: npt.NDArray[np.float64]
) -> Callable[[float], Flags]:
    """Return a function that segments words anew at a lower threshold, and tells which changed.

    The types of a threshold include those of every higher one, and the order of knockouts does not
    matter, so each threshold continues from the previous one. ``worst``: the highest R of each
    type's merges.
    """
    from morphgraph.kernels.removing import highest_values

    words, arrays = segmentation.words, segmentation.arrays
    merges, ratio = ShrinkingMerges(arrays), np.append(worst[arrays.results], -1.0)
    word_of_piece = words.word_of_atom[words.piece_offsets[:-1]]
    # The highest threshold that changes a piece: the worst R of merges applied in it.
    limit = np.full(len(word_of_piece), np.inf)

    def update(touched: npt.NDArray[np.uint8]) -> None:
        highest_values(segmentation.closed_by, words.piece_offsets, touched, ratio, limit)

    def fall_to(threshold: float) -> Flags:
        merges.knock_out(np.flatnonzero((merges.removed == 0) & (worst >= threshold)))
        touched = ((limit >= threshold) | (not arrays.is_plain)).astype(np.uint8)
        segment_pieces_anew(segmentation, merges, touched)
        keep_whole_pieces(graph, segmentation, merges.removed)
        update(touched)
        changed = np.zeros(len(words), bool)
        changed[word_of_piece[touched == 1]] = True
        return changed

    update(np.ones(len(limit), np.uint8))
    return fall_to

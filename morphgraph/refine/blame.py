"""Blame: how often each merge closes a gap that the reference keeps open.

`blame` is the algorithm. Source: Bauwens & Delobelle 2024, §3.4.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.text import counted, in_percent
from morphgraph.graph.arrays import MergeArrays
from morphgraph.refine import BlameSettings
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import Flags, Scope, Weighting
from morphgraph.tokeniser.merging import MergeSegmentation
from morphgraph.tokeniser.tokeniser import BpeTokeniser

DEFAULT_THRESHOLD = BlameSettings().threshold


@dataclass(frozen=True)
class Blame:
    """The joins N, wrong joins B and blame R of every merge, in order of rank.

    ``applied`` (N): weighted joins that the merge closed; ``blamed`` (B): those on a gold boundary.
    Both are float64, as long as ``arrays``. Source: Bauwens & Delobelle 2024, §3.4.
    """

    arrays: MergeArrays
    applied: npt.NDArray[np.float64]
    blamed: npt.NDArray[np.float64]

    @cached_property
    def ratio(self) -> npt.NDArray[np.float64]:
        """R = B ÷ N; 0 where N = 0."""
        return np.divide(
            self.blamed, self.applied, out=np.zeros_like(self.blamed), where=self.applied > 0
        )

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Merges with N > 0, worst first: by R, then B, both descending, then by rank."""
        order = np.lexsort((np.arange(len(self.ratio)), -self.blamed, -self.ratio))
        return order[self.applied[order] > 0]

    @cached_property
    def places_of_types(self) -> npt.NDArray[np.int64]:
        """The position in ``arrays`` of each type's most blamed merge, by type; -1 for an atom."""
        worst_last = np.lexsort((-np.arange(len(self.ratio)), self.blamed, self.ratio))
        places = np.full(self.arrays.type_count, -1, np.int64)
        places[self.arrays.results[worst_last]] = worst_last
        return places

    @cached_property
    def joins_of_types(self) -> npt.NDArray[np.float64]:
        """N of each type's most blamed merge, by type; 0 for an atom."""
        places = self.places_of_types
        return np.where(places < 0, 0.0, np.append(self.applied, 0.0)[places])

    def candidates(self, threshold: float = DEFAULT_THRESHOLD) -> npt.NDArray[np.int64]:
        """Return positions in ``arrays`` of merges with R ≥ threshold and N > 0, worst first."""
        return self.order[self.ratio[self.order] >= threshold]

    def dropout_rate(self, positions: npt.NDArray[np.int64]) -> float:
        """Return the retrospective effective dropout rate: their share of all N, or NaN.

        Source: Bauwens & Delobelle 2024, Eq. 2.
        """
        total = float(self.applied.sum())
        return float(self.applied[positions].sum()) / total if total else math.nan

    def worst_of(self, merges: Iterable[int]) -> int:
        """Return the most blamed of some merges, by id; newer merges come last."""
        places = {merge: self.place(merge) for merge in merges}
        known = [(self.ratio[n], self.blamed[n], -n, m) for m, n in places.items() if n is not None]
        return max(known)[-1] if known else next(iter(places))

    def counts(self, merge: int) -> tuple[float, float]:
        """Return N and B of a merge, by id."""
        position = self.arrays.places[merge]
        return float(self.applied[position]), float(self.blamed[position])

    def described(self, merge: int) -> str:
        """Describe joins, wrong joins and blame of a merge, by id; empty for a newer merge."""
        if self.place(merge) is None:
            return ""
        joins, wrong = self.counts(merge)
        if not joins:
            return "never applied: blame n/a"
        return f"{counted(joins, 'join')}, {wrong:,.0f} wrong: blame {in_percent(wrong / joins, 0)}"

    def shown_ratio(self, merge: int) -> float:
        """Return R of a merge, by id, or NaN if it was never applied, or is newer."""
        place = self.place(merge)
        return float(self.ratio[place]) if place is not None and self.applied[place] else math.nan

    def place(self, merge: int) -> int | None:
        """Return the position of a merge in ``arrays``, by id; None if it is not there."""
        places = self.arrays.places
        place = int(places[merge]) if merge < len(places) else -1
        return None if place < 0 else place


def blame(
    benchmark: Benchmark,
    segmentation: MergeSegmentation,
    *,
    weighting: Weighting = "types",
    scope: Scope = "morphemic",
    tuples_once: bool = False,
    among: Flags | None = None,
) -> Blame:
    """Blame every merge for the gold boundaries that it closed.

    ``tuples_once``: a tuple merge counts each application once, blamed if any of its joins is on a
    gold boundary; else each join counts. A piece that stays whole (``ignore_merges``) is one
    application of its type's first merge, which closed all its joins; without a merge, which
    could be knocked out, none is to blame. ``among``: only these entries count, and never words
    that the reference exempts. Source: Bauwens & Delobelle 2024, §3.4.

    undo is ␣und o in this tokeniser, and n + d closed the boundary un|do; redo is ␣red o.

    >>> import morphgraph as mg
    >>> from morphgraph.tokeniser.merging import segment
    >>> from morphgraph.formats.loading import load_tokeniser
    >>> tokeniser = load_tokeniser("demo:en")
    >>> gold = mg.read_gold([("undo", ["un", "do"]), ("redo", ["re", "do"])])
    >>> benchmark = Benchmark.on(gold, tokeniser)
    >>> found = blame(benchmark, segment(tokeniser.graph, benchmark.words))
    >>> blame_columns(tokeniser, found, found.candidates())["merge"]
    ['n + d', '␣re + d']
    >>> [found.counts(merge) for merge in tokeniser.graph.incoming(tokeniser.graph.ids["nd"])]
    [(1.0, 1.0)]
    """
    gold, closed = benchmark.gold_gaps(scope), segmentation.closed_by
    counted = benchmark.is_learnable if among is None else among & benchmark.is_learnable
    weights = np.where(counted, benchmark.weight(scope, weighting), 0.0)
    arrays = segmentation.arrays
    if tuples_once:
        from morphgraph.kernels.segmenting import count_applications

        offsets = benchmark.words.word_offsets
        return Blame(
            arrays, *count_applications(closed, offsets, weights, gold, arrays.part_offsets)
        )
    joins = np.flatnonzero(segmentation.is_merged)
    merges, weight = closed[joins], weights[benchmark.words.word_of_atom[joins]]
    wrong = gold[joins] == 1
    applied = np.bincount(merges, weight, len(arrays))
    blamed = np.bincount(merges[wrong], weight[wrong], len(arrays))
    return Blame(arrays, applied.astype(np.float64), blamed.astype(np.float64))


def blame_columns(
    tokeniser: BpeTokeniser, blamed: Blame, positions: npt.NDArray[np.int64]
) -> dict[str, Any]:
    """Return merge_id, rank, type, merge, parts, N, B and R of the merges at these positions."""
    types = tokeniser.graph.types
    numbers = blamed.arrays.merge_ids[positions]
    merges = [tokeniser.graph.merge(int(number)) for number in numbers]
    used = {number for _, parts, result in merges for number in (*parts, result)}
    names = {number: tokeniser.readable(types[number]) for number in used}
    applied = blamed.applied[positions]
    return {
        "merge_id": numbers,
        "rank": [merge.rank for merge in merges],
        "type": [names[merge.result] for merge in merges],
        "merge": [" + ".join([names[part] for part in merge.parts]) for merge in merges],
        "parts": np.diff(blamed.arrays.part_offsets)[positions],
        "N": applied,
        "B": blamed.blamed[positions],
        "R": np.where(applied > 0, blamed.ratio[positions], np.nan),
    }


def records_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of columns, as plain values.

    >>> records_of({"type": ["ab"], "N": np.array([2.0])})
    [{'type': 'ab', 'N': 2.0}]
    """
    values = [each.tolist() if isinstance(each, np.ndarray) else each for each in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]

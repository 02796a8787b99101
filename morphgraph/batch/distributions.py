"""Distributions that a cell reports on request: rows of one metric, each with its place in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from morphgraph.tables.model import Column

if TYPE_CHECKING:
    from morphgraph.graph.merge_graph import MergeGraph
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.segmenter import Segmenter

Numbers = npt.NDArray[np.int64]
Values: TypeAlias = "Callable[[Segmenter, Segmenter, GoldSet], Mapping[str, float]]"

IDEAL = "ideal"
"""Asks for the scores of the gold itself, the ceiling: variant ``ideal`` of the own method."""


class Distribution(NamedTuple):
    """A distribution's column, and what computes its values by variant, such as ``change=-1``.

    ``values`` gets the tokeniser itself, what a method made of it, and the gold; nothing where the
    distribution says nothing about these.
    """

    column: Column
    values: Values


def shares(name: str, numbers: Numbers) -> dict[str, float]:
    """Return the share of each number, from the least to the largest.

    >>> shares("change", np.array([-1, 1, 1, 1]))
    {'change=-1': 0.25, 'change=0': 0.0, 'change=1': 0.75}
    """
    least = int(numbers.min())
    counts = np.bincount(numbers - least) / len(numbers)
    return {f"{name}={least + place}": float(share) for place, share in enumerate(counts)}


def _changes(base: Segmenter, made: Segmenter, gold: GoldSet) -> dict[str, float]:
    """Words by how many tokens more they have than before (Bauwens & Delobelle 2024, Fig. 4)."""
    from morphgraph.score.outcome import outcome_of

    if made is base:
        return {}
    before, after = (outcome_of(each, gold, "").tokens for each in (base, made))
    return shares("change", (after - before).astype(np.int64))


def _of_gold(values: Callable[[Numbers], Mapping[str, float]]) -> Values:
    """Return values by the number of morphs of each word, told once: with the own method."""

    def of_gold(base: Segmenter, made: Segmenter, gold: GoldSet) -> Mapping[str, float]:
        numbers = gold.cuts("morphemic").counts[gold.has_gold("morphemic")] + 1
        return values(numbers) if made is base and len(numbers) else {}

    return of_gold


def _of_removed(values: Callable[[MergeGraph, Numbers, Numbers], Mapping[str, float]]) -> Values:
    """Return values by the graph before, the types that went, and their merges' places by rank."""

    def of_removed(base: Segmenter, made: Segmenter, _: GoldSet) -> Mapping[str, float]:
        if base.editable is None or made.editable is None:
            return {}
        graph, after = base.editable.graph, made.editable.graph
        results = np.array([merge.result for merge in graph.merges().values()], np.int64)
        gone = [graph.types[number] not in after for number in results.tolist()]
        return values(graph, results[gone], np.flatnonzero(gone)) if any(gone) else {}

    return of_removed


def _tenths(graph: MergeGraph, _: Numbers, places: Numbers) -> dict[str, float]:
    """Removed merges by the tenth of ranks that they are in (Bauwens & Delobelle 2024, Fig. 6)."""
    counts, _ = np.histogram(places, 10, (0, graph.merge_count))
    return {f"tenth={n}": count / len(places) for n, count in enumerate(counts.tolist(), 1)}


def _quartiles(_: MergeGraph, __: Numbers, places: Numbers) -> dict[str, float]:
    ranks = np.quantile(places, (0.25, 0.5, 0.75)).tolist()
    return {f"quartile={n}": rank for n, rank in enumerate(ranks, 1)}


def _leaves(graph: MergeGraph, types: Numbers, _: Numbers) -> dict[str, float]:
    """The share of removed types that no merge used (Bauwens & Delobelle 2024, Fig. 3)."""
    from morphgraph.refine.knockout import share_of_leaves

    return {"": share_of_leaves(graph, types.tolist())}


DISTRIBUTIONS = {
    "words_changed": Distribution(Column("Words with this change in tokens", "percent"), _changes),
    "words_by_morphs": Distribution(
        Column("Words of so many morphs", "percent"), _of_gold(partial(shares, "morphs"))
    ),
    "gold_entries": Distribution(
        Column("Entries of the gold", "count"), _of_gold(lambda morphs: {"": float(len(morphs))})
    ),
    "index_of_synthesis": Distribution(
        Column("Morphs per word", "number"), _of_gold(lambda morphs: {"": float(morphs.mean())})
    ),
    "removed_by_rank": Distribution(
        Column("Removed merges in this tenth", "percent"), _of_removed(_tenths)
    ),
    "removed_quartile": Distribution(
        Column("Ranks of removed merges", "count"), _of_removed(_quartiles)
    ),
    "removed_leaves": Distribution(
        Column("Leaves among removed types", "percent"), _of_removed(_leaves)
    ),
}
"""By metric; an evaluation names those it wants among its ``metrics``."""

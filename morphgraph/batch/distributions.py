"""Distributions that a cell reports on request: rows of one metric, each with its place in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from morphgraph.tables.model import Column

if TYPE_CHECKING:
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.segmenter import Segmenter

IDEAL = "ideal"
"""Asks for the scores of the gold itself, the ceiling: variant ``ideal`` of the own method."""
DISTRIBUTIONS = {
    "words_changed": Column("Words with this change in tokens", "percent"),
    "words_by_morphs": Column("Words of so many morphs", "percent"),
    "gold_entries": Column("Entries of the gold", "count"),
    "index_of_synthesis": Column("Morphs per word", "number"),
    "removed_by_rank": Column("Removed merges in this tenth", "percent"),
    "removed_quartile": Column("Ranks of removed merges", "count"),
    "removed_leaves": Column("Leaves among removed types", "percent"),
}
"""Columns by metric; an evaluation names those it wants among its ``metrics``."""


def distributed(
    base: Segmenter, segmenter: Segmenter, gold: GoldSet
) -> Iterator[tuple[str, str, float]]:
    """Yield every metric, its variants such as ``change=-1``, and their values.

    ``base``: the tokeniser itself, with which the gold is described; ``segmenter``: what a
    method made of it. Source: Bauwens & Delobelle 2024, Figs. 3, 4, 6, 10 and Table 1.
    """
    from morphgraph.refine.knockout import share_of_leaves
    from morphgraph.score.outcome import outcome_of

    if segmenter is base:
        morphs = gold.cuts("morphemic").counts[gold.has_gold("morphemic")] + 1
        yield from _shares("words_by_morphs", "morphs", morphs)
        yield "gold_entries", "", float(len(morphs))
        yield "index_of_synthesis", "", float(morphs.mean())
        return
    tokens, now = (outcome_of(each, gold, "").tokens for each in (base, segmenter))
    yield from _shares("words_changed", "change", now - tokens)
    if base.editable is None or segmenter.editable is None:
        return
    graph, after = base.editable.graph, segmenter.editable.graph
    results = [merge.result for merge in graph.merges().values()]
    places = [n for n, type_ in enumerate(results) if graph.types[type_] not in after]
    if places:
        counts, _ = np.histogram(places, 10, (0, len(results)))
        for n, count in enumerate(counts.tolist(), 1):
            yield "removed_by_rank", f"tenth={n}", count / len(places)
        for n, rank in enumerate(np.quantile(places, (0.25, 0.5, 0.75)).tolist(), 1):
            yield "removed_quartile", f"quartile={n}", rank
        yield "removed_leaves", "", share_of_leaves(graph, [results[n] for n in places])


def _shares(metric: str, name: str, numbers: Any) -> Iterator[tuple[str, str, float]]:
    """Yield the share of each number, from the least to the largest.

    >>> list(_shares("f", "n", np.array([-1, 1, 1, 1])))
    [('f', 'n=-1', 0.25), ('f', 'n=0', 0.0), ('f', 'n=1', 0.75)]
    """
    for value in range(int(numbers.min()), int(numbers.max()) + 1):
        yield metric, f"{name}={value}", float((numbers == value).mean())

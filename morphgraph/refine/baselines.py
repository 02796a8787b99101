"""Types to knock out, chosen without a reference: baselines for blame.

Source: Bauwens & Delobelle 2024, §A.2.
"""

import math

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.merge_graph import MergeGraph


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

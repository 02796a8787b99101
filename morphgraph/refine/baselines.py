"""Choosing types to knock out without a reference: the baselines that blame is held against.

Source: Bauwens & Delobelle 2024, §A.2.
"""

import heapq

import numpy as np

from morphgraph.errors import MorphGraphError
from morphgraph.graph import MergeGraph


def random_types(graph: MergeGraph, count: int, seed: int) -> list[str]:
    """Types drawn at random, by a seed, among all that a merge produces.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d")])
    >>> sorted(random_types(graph, 3, seed=0))
    ['ab', 'abc', 'cd']
    """
    produced = _produced(graph)
    _check(count, len(produced))
    drawn = np.random.default_rng(seed).choice(len(produced), size=count, replace=False)
    return [graph.types[produced[i]] for i in drawn]


def last_types(graph: MergeGraph, count: int) -> list[str]:
    """The types of the last merges, last first.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d")])
    >>> last_types(graph, 1)
    ['cd']
    """
    produced = _produced(graph)
    _check(count, len(produced))
    return [graph.types[number] for number in produced[::-1][:count]]


def percent_of_types(graph: MergeGraph, percent: float) -> int:
    """How many types a share of the produced ones is, rounded.

    >>> percent_of_types(MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d")]), 34)
    1
    """
    if not 0 <= percent <= 100:
        raise MorphGraphError(f"{percent} % of the types cannot be chosen. Give 0 to 100.")
    return round(len(_produced(graph)) * percent / 100)


def last_leaves(graph: MergeGraph, count: int) -> list[str]:
    """The last types that take part in no other merge, last first; a leaf's removal makes new ones.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "e")])
    >>> last_leaves(graph, 3)
    ['cde', 'cd', 'abc']
    """
    produced = _produced(graph)
    _check(count, len(produced))
    uses = {number: graph.fan_out(number) for number in range(len(graph.types))}
    chosen: dict[int, None] = {}
    position = {number: i for i, number in enumerate(produced)}
    waiting = [-position[number] for number in produced if uses[number] == 0]
    heapq.heapify(waiting)
    while waiting and len(chosen) < count:
        number = produced[-heapq.heappop(waiting)]
        chosen[number] = None
        for merge in graph.incoming(number):
            for part in set(graph.merge(merge).parts):
                uses[part] -= 1
                if uses[part] == 0 and part in position:
                    heapq.heappush(waiting, -position[part])
    return [graph.types[number] for number in chosen]


def _produced(graph: MergeGraph) -> list[int]:
    """Types that a merge produces and that can go, by the rank of their merge."""
    made = dict.fromkeys(merge.result for merge in graph.merges().values())
    return [number for number in made if graph.is_removable(number)]


def _check(count: int, available: int) -> None:
    if not 0 <= count <= available:
        raise MorphGraphError(
            f"{count:,} types cannot be chosen. Give a number from 0 to {available:,}."
        )

"""Choosing types without a reference."""

import math

import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, MergeList, graph_of

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.knockout import (
    last_leaves,
    last_types,
    percent_of_types,
    random_types,
    share_of_leaves,
)

CHAIN = [("a", "b"), ("ab", "c"), ("c", "d"), ("cd", "cd"), ("abc", "cd")]


@given(MERGES, st.data())
def test_last_types(merges: MergeList, data: st.DataObject) -> None:
    produced = list(dict.fromkeys("".join(parts) for parts in merges))
    count = data.draw(st.integers(0, len(produced)))
    assert last_types(graph_of(merges), count) == produced[::-1][:count]


@given(MERGES, st.data())
def test_last_leaves(merges: MergeList, data: st.DataObject) -> None:
    """Of the produced types that no merge uses, the last ones."""
    used = {part for parts in oracles.listed(merges).values() for part in parts}
    produced = dict.fromkeys("".join(parts) for parts in merges)
    leaves = [text for text in produced if text not in used]
    graph = graph_of(merges)
    assert last_leaves(graph, len(leaves)) == leaves[::-1]
    chosen = last_leaves(graph, data.draw(st.integers(0, len(leaves))))
    assert chosen == leaves[::-1][: len(chosen)]
    late = ["".join(parts) for parts in merges][len(merges) // 2 :]
    share = sum(text in leaves for text in late) / len(late) if late else math.nan
    assert share_of_leaves(graph) == pytest.approx(share, nan_ok=True)
    changed = graph.knockout(chosen)
    assert not changed.rewired, "removing leaves rewires nothing"
    assert last_leaves(graph, len(leaves) - len(chosen)) == leaves[::-1][len(chosen) :]
    assert share_of_leaves(graph) == pytest.approx(share, nan_ok=True), "of the graph as loaded"


def test_leaves_are_not_the_last_types() -> None:
    # ab, abc and cd are parts of others; once abccd is gone, abc is not, but no leaf for that.
    graph = MergeGraph.from_merges(CHAIN)
    assert last_types(graph, 3) == ["abccd", "cdcd", "cd"]
    assert last_leaves(graph, 2) == ["abccd", "cdcd"]
    assert share_of_leaves(graph) == 2 / 3, "of cd, cdcd and abccd"
    with pytest.raises(MorphGraphError, match="3 leaves cannot be chosen"):
        last_leaves(graph, 3)
    graph.knockout(["abccd"])
    assert last_leaves(graph, 1) == ["cdcd"]
    with pytest.raises(MorphGraphError, match="Give a number from 0 to 1"):
        last_leaves(graph, 2)


def test_random_types() -> None:
    graph = MergeGraph.from_merges(CHAIN)
    drawn = random_types(graph, 3, seed=1)
    assert len(set(drawn)) == 3
    assert set(drawn) <= {"ab", "abc", "cd", "cdcd", "abccd"}
    assert random_types(graph, 3, seed=1) == drawn
    assert any(random_types(graph, 3, seed=seed) != drawn for seed in range(2, 6))
    everything = {text for seed in range(40) for text in random_types(graph, 1, seed=seed)}
    assert everything == {"ab", "abc", "cd", "cdcd", "abccd"}, "every type may be drawn"


def test_removed_types_are_not_drawn() -> None:
    graph = MergeGraph.from_merges(CHAIN)
    graph.knockout(["cd", "abccd"])
    assert sorted(random_types(graph, 3, seed=0)) == ["ab", "abc", "cdcd"]
    assert last_types(graph, 3) == ["cdcd", "abc", "ab"]
    assert last_leaves(graph, 1) == ["cdcd"]


@pytest.mark.parametrize("count", [-1, 6])
def test_too_many(count: int) -> None:
    graph = MergeGraph.from_merges(CHAIN)
    for choose in (last_types, lambda g, n: random_types(g, n, seed=0)):
        with pytest.raises(MorphGraphError, match="Give a number from 0 to 5"):
            choose(graph, count)


def test_percent() -> None:
    graph = MergeGraph.from_merges(CHAIN)
    assert [percent_of_types(graph, p) for p in (0, 29, 31, 100)] == [0, 1, 2, 5]
    for bad in (-1, 101, float("nan")):
        with pytest.raises(MorphGraphError, match="Give 0 to 100"):
            percent_of_types(graph, bad)

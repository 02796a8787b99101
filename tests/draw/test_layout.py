"""The layout: nothing overlaps, edges point right, and little moves when little changes."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.draw.layout import Position, layered_positions, vertex_size


def fan(results: int, seed: int = 0) -> nx.DiGraph:
    """A type with its derivation, and merges that make longer types of it."""
    chance = random.Random(seed)
    graph = nx.DiGraph()
    names = ["u", "n", "g", "un", "ung"]
    for i, name in enumerate(names):
        graph.add_node(f"t{i}", kind="type", label=name, atom=i < 3)
    for rank, parts, result in [(1, "01", 3), (2, "32", 4)]:
        graph.add_node(f"m{rank}", kind="merge", label=str(rank), rank=rank)
        graph.add_edges_from((f"t{part}", f"m{rank}") for part in parts)
        graph.add_edge(f"m{rank}", f"t{result}")
    for n in range(results):
        rank = 10 + n
        other = f"t{chance.randrange(3)}" if n % 4 == 0 else f"t{1000 + n}"
        if other not in graph:
            graph.add_node(other, kind="type", label="x" * chance.randint(2, 9), frontier=True)
        graph.add_node(f"t{2000 + n}", kind="type", label="y" * chance.randint(4, 20))
        graph.add_node(f"m{rank}", kind="merge", label=str(rank), rank=rank)
        graph.add_edges_from([("t4", f"m{rank}"), (other, f"m{rank}")])
        graph.add_edge(f"m{rank}", f"t{2000 + n}")
    return graph


@st.composite
def merge_graphs(draw: st.DrawFn) -> nx.DiGraph:
    """A random acyclic merge graph, with several merges for one type and tuples among them."""
    graph = nx.DiGraph()
    types = draw(st.integers(1, 25))
    for i in range(types):
        label = draw(st.text(max_size=30))
        graph.add_node(f"t{i}", kind="type", label=label, frontier=draw(st.booleans()))
    for rank in range(draw(st.integers(0, 25)) if types > 1 else 0):
        result = draw(st.integers(1, types - 1))
        parts = draw(st.lists(st.integers(0, result - 1), min_size=1, max_size=4))
        graph.add_node(f"m{rank}", kind="merge", label=str(rank), rank=rank)
        graph.add_edges_from((f"t{part}", f"m{rank}") for part in parts)
        if draw(st.integers(0, 9)):
            graph.add_edge(f"m{rank}", f"t{result}")
    return graph


def check(graph: nx.DiGraph, positions: Mapping[str, Position]) -> None:
    assert positions.keys() == set(graph)
    for source, target in graph.edges:
        assert positions[source][0] < positions[target][0], (source, target)
    boxes = {key: vertex_size(graph.nodes[key]["label"], graph.nodes[key]["kind"]) for key in graph}
    for a, b in combinations(graph, 2):
        apart_x = abs(positions[a][0] - positions[b][0]) - (boxes[a][0] + boxes[b][0]) / 2
        apart_y = abs(positions[a][1] - positions[b][1]) - (boxes[a][1] + boxes[b][1]) / 2
        assert apart_x > 0 or apart_y > 0, (a, b)


@given(merge_graphs(), st.data())
def test_nothing_overlaps_and_edges_point_right(graph: nx.DiGraph, data: st.DataObject) -> None:
    focus = data.draw(st.sampled_from(sorted(graph)))
    positions = layered_positions(graph, focus=focus)
    check(graph, positions)
    assert positions[focus][1] == 0.0


@given(st.integers(1, 40), st.data())
def test_any_acyclic_graph_will_do(size: int, data: st.DataObject) -> None:
    graph = nx.DiGraph()
    for i in range(size):
        kind = data.draw(st.sampled_from(["type", "merge"]))
        graph.add_node(f"{kind[0]}{i}", kind=kind, label=str(i))
    keys = list(graph)
    for i, j in data.draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)))):
        if i < j:
            graph.add_edge(keys[i], keys[j])
    check(graph, layered_positions(graph))


@given(merge_graphs(), st.randoms(use_true_random=False))
def test_the_order_of_construction_does_not_matter(
    graph: nx.DiGraph, chance: random.Random
) -> None:
    vertices, edges = list(graph.nodes(data=True)), list(graph.edges)
    chance.shuffle(vertices)
    chance.shuffle(edges)
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from(vertices)
    shuffled.add_edges_from(edges)
    assert layered_positions(graph) == layered_positions(shuffled)


def test_atoms_are_at_the_left_and_a_merge_is_beside_its_type() -> None:
    graph = fan(60)
    positions = layered_positions(graph, focus="t4")
    atoms = [positions[f"t{i}"][0] for i in range(3)]
    assert max(atoms) < min(x for key, (x, _) in positions.items() if key not in {"t0", "t1", "t2"})
    for n in range(60):
        assert positions[f"m{10 + n}"][1] == pytest.approx(positions[f"t{2000 + n}"][1], abs=1)


def test_300_vertices_fit_a_screen_at_a_readable_size_and_in_time() -> None:
    graph = fan(106)
    assert 280 <= len(graph) <= 300
    positions = layered_positions(graph, focus="t4")
    xs, ys = zip(*positions.values(), strict=True)
    assert min(1120 / (max(xs) - min(xs)), 480 / (max(ys) - min(ys))) > 0.4
    times = []
    for _ in range(5):
        start = time.perf_counter()
        layered_positions(graph, focus="t4")
        times.append(time.perf_counter() - start)
    assert min(times) < 0.03


def test_no_vertices_no_positions() -> None:
    assert layered_positions(nx.DiGraph()) == {}

"""The graph as networkx: whole, as GraphML, and around one type."""

import io

import networkx as nx
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, graph_of

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.view import (
    MAX_VERTICES,
    merge_key,
    neighbourhood,
    to_graphml,
    to_networkx,
    type_key,
)


def assert_shows_whole_merges(graph, digraph):
    """Edges alternate; every merge has all its parts, at all their places, and its result."""
    for source, target in digraph.edges:
        assert {source[0], target[0]} == {"t", "m"}
    for key, kind in digraph.nodes(data="kind"):
        assert kind == {"t": "type", "m": "merge"}[key[0]]
        if kind == "merge":
            rank, parts, result = graph.merge(int(key[1:]))
            assert digraph.nodes[key]["rank"] == rank
            assert list(digraph.successors(key)) == [type_key(result)]
            places = {
                place: part
                for part, _, indices in digraph.in_edges(key, data="indices")
                for place in indices
            }
            assert places == {i: type_key(part) for i, part in enumerate(parts)}


@given(MERGES)
def test_to_networkx(merges):
    graph = graph_of(merges)
    digraph = to_networkx(graph)
    assert_shows_whole_merges(graph, digraph)
    assert len(digraph) == graph.type_count + graph.merge_count
    assert nx.is_bipartite(digraph)
    assert nx.is_directed_acyclic_graph(digraph)
    for number in graph.type_ids():
        vertex = digraph.nodes[type_key(number)]
        assert vertex["label"] == graph.types[number]
        assert vertex["atom"] == graph.is_atom(number)
        assert set(digraph.predecessors(type_key(number))) == {
            merge_key(m) for m in graph.incoming(number)
        }


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_graphml_reads_back(texts):
    """Also with control characters and markup in types, which XML cannot hold as they are."""
    graph = MergeGraph.from_merges([(text, "x", text) for text in dict.fromkeys(texts)])
    digraph = to_networkx(graph)
    read = nx.read_graphml(io.BytesIO(to_graphml(digraph)))
    assert set(read.nodes) == set(digraph.nodes)
    assert set(read.edges) == set(digraph.edges)
    for key, vertex in digraph.nodes(data=True):
        found = read.nodes[key]
        assert found["kind"] == vertex["kind"]
        if vertex["kind"] == "merge":
            assert found["rank"] == vertex["rank"]
        else:
            assert found["atom"] == vertex["atom"]
            if all(c.isprintable() for c in vertex["label"]):
                assert found["label"] == vertex["label"]
    for source, target, indices in digraph.edges(data="indices"):
        if indices is not None:
            assert read.edges[source, target]["indices"] == " ".join(map(str, indices))


def test_graphml_names_control_characters():
    graph = MergeGraph.from_merges([("a\x00", "\x1b\r"), ("\ufffe", "\t\n")])
    read = nx.read_graphml(io.BytesIO(to_graphml(to_networkx(graph))))
    labels = [label for key, label in read.nodes(data="label") if key[0] == "t"]
    assert labels[:3] == ["a⟨00⟩", "⟨1B⟩⟨0D⟩", "a⟨00⟩⟨1B⟩⟨0D⟩"]
    assert labels[3:5] == ["⟨FFFE⟩", "\t\n"]


@examples(200)
@given(MERGES, st.data())
def test_neighbourhood(merges, data):
    graph = graph_of(merges)
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    if types:
        graph.knockout(data.draw(st.lists(st.sampled_from(types), max_size=2)))
    numbers = st.integers(0, len(graph.types) - 1)
    focus = data.draw(numbers)
    up, down = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    limit = data.draw(st.integers(1, 40))
    digraph, left_out = neighbourhood(graph, focus, up=up, down=down, limit=limit)
    assert len(digraph) <= limit
    assert type_key(focus) in digraph
    if graph.is_present(focus):
        assert_shows_whole_merges(graph, digraph)
    for key, vertex in digraph.nodes(data=True):
        if vertex["kind"] == "type":
            number = int(key[1:])
            around = {*graph.incoming(number), *graph.outgoing(number)}
            assert vertex["frontier"] == any(merge_key(m) not in digraph for m in around)
            assert bool(vertex.get("ghost")) == (not graph.is_present(number))
    if graph.is_present(focus) and not left_out:
        within = {int(key[1:]) for key in digraph if key[0] == "m"}
        assert within == merges_within(graph, focus, up, down)


def merges_within(graph, focus, up, down):
    """Merges that one reaches with so many steps in one direction."""
    found = set()
    below, above = {focus}, {focus}
    for step in range(4):
        if step < down:
            near = {m for n in below for m in graph.incoming(n)}
            below = {part for m in near for part in graph.merge(m).parts}
            found |= near
        if step < up:
            near = {m for n in above for m in graph.outgoing(n)}
            above = {graph.merge(m).result for m in near}
            found |= near
    return found


@pytest.fixture(scope="module")
def star():
    """The atom a takes part in 1,000 merges, each with an atom of its own."""
    return MergeGraph.from_merges([("a", chr(0x4E00 + i)) for i in range(1000)])


def test_never_more_than_300_vertices(star):
    a = star.id_of("a")
    digraph, left_out = neighbourhood(star, a, up=1, down=1, limit=100_000)
    # a, and three vertices for each merge: 1 + 3 × 99 = 298.
    assert len(digraph) == 298
    assert left_out == 901
    assert digraph.nodes[type_key(a)]["frontier"] is True
    assert len(digraph) <= MAX_VERTICES


def test_what_stays_when_room_is_short(star):
    a = star.id_of("a")

    def merges(**settings):
        digraph, _ = neighbourhood(star, a, up=1, limit=10, **settings)
        return [int(key[1:]) for key in digraph if key[0] == "m"]

    assert merges() == [0, 1, 2], "the lowest ranks"
    assert merges(importance={700: 0.5, 800: 0.9}) == [800, 700, 0], "the most important"

"""Unreachable types against their definition."""

import oracles
from hypothesis import assume, given
from strategies import ALPHABET, MERGES, MergeList, graph_of

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.merging import unreachable_types


@given(MERGES)
def test_as_defined(merges: MergeList) -> None:
    """A type is unreachable if its own string is segmented into anything but that one token."""
    graph = graph_of(merges)
    produced = {"".join(parts) for parts in merges}
    parts = {part for merge in merges for part in merge}
    assume(parts <= produced | set(ALPHABET))  # for atoms of several characters, see below
    found = {graph.types[number] for number in unreachable_types(graph)}
    plain = oracles.listed(merges)
    assert found == {text for text in produced if oracles.segment(plain, text)[0] != [text]}


@given(MERGES)
def test_misplaced(merges: MergeList) -> None:
    graph = graph_of(merges)
    found = {graph.types[number] for number in graph.misplaced()}
    assert found == oracles.misplaced(oracles.listed(merges))


def test_misplaced_types_may_be_formed_all_the_same() -> None:
    # ab + c waits until ab is there, and then applies; so does bc + a.
    graph = MergeGraph.from_merges([("ab", "c"), ("a", "b"), ("bc", "a"), ("b", "c")], "abc")
    assert [graph.types[number] for number in graph.misplaced()] == ["abc", "bca"]
    assert unreachable_types(graph) == []


def test_after_knockout() -> None:
    # Without ab, abc = a + b + c; but b + c, of rank 1, takes its parts away first.
    graph = MergeGraph.from_merges([("a", "b"), ("b", "c"), ("ab", "c")], "abc")
    assert unreachable_types(graph) == []
    graph.knockout(["ab"])
    assert [graph.types[number] for number in unreachable_types(graph)] == ["abc"]
    graph.undo()
    assert unreachable_types(graph) == []


def test_an_atom_of_several_characters_counts_as_one() -> None:
    graph = MergeGraph.from_merges([("</w>", "a")], ["a", "</w>"])
    assert unreachable_types(graph) == []


def test_no_types() -> None:
    assert unreachable_types(MergeGraph.from_merges([], "ab")) == []

"""Unreachable types against their definition."""

import oracles
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import ALPHABET, MERGES, SEVERAL_MERGES, MergeList, any_order, graph_of

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.merging import never_formed, unreachable_types


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


def test_an_edit_may_leave_types_that_nothing_forms() -> None:
    graph = MergeGraph.from_merges(SEVERAL_MERGES, "abcde")
    assert never_formed(graph) == []
    graph.knockout(["abcd"])
    assert [graph.types[number] for number in never_formed(graph)] == ["abcde"]
    graph.knockout(["bcd"])  # abcde is a + b + c + d + e now, and still nothing forms it
    assert unreachable_types(graph) == [graph.id_of("abcde")]


@given(any_order(widest=2) | MERGES, st.lists(st.text("abcd", max_size=20)), st.data())
def test_removing_what_is_never_formed_changes_no_token(
    merges: MergeList, words: list[str], data: st.DataObject
) -> None:
    graph = graph_of(merges)
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    if types:
        graph.knockout(data.draw(st.lists(st.sampled_from(types), unique=True, max_size=2)))
    never = [graph.types[number] for number in never_formed(graph)]
    words += never + [a + b for a in never for b in never]

    def segmented() -> list[list[str]]:
        merges = {m.rank: tuple(graph.types[p] for p in m.parts) for m in graph.merges().values()}
        return [oracles.segment(merges, word)[0] for word in words]

    before = segmented()
    graph.cascade(never)
    assert not any(text in graph for text in never)
    assert never_formed(graph) == []
    assert segmented() == before

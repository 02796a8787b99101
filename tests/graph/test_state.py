"""One name for one state: equal if and only if types, merges and their ranks are."""

import pickle
from typing import Any

from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, MergeList, graph_of

from morphgraph.core.cache import State
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import EditError, Merge


def everything(graph: MergeGraph) -> tuple[Any, ...]:
    """The oracle: present types, and merges with ranks, as strings; ids play no part."""
    text = graph.types
    merges = [graph.merge(number) for number in graph.merge_ids()]
    return (
        frozenset(text[number] for number in graph.type_ids()),
        tuple((m.rank, tuple(text[part] for part in m.parts), text[m.result]) for m in merges),
    )


def with_ids(graph: MergeGraph) -> tuple[Any, ...]:
    """The same, with the ids of types and merges."""
    named = [(number, graph.types[number]) for number in graph.type_ids()]
    return everything(graph), tuple(named), tuple(graph.merge_ids())


def edit(graph: MergeGraph, data: Any) -> None:
    """Some edit, undo or redo; one that cannot be made is left out."""
    kind = data.draw(st.sampled_from(["knockout", "cascade", "anneal", "reify", "undo", "redo"]))
    types = [graph.types[n] for n in graph.type_ids()]
    try:
        if kind in ("undo", "redo"):
            getattr(graph, kind)()
        elif kind in ("knockout", "cascade"):
            getattr(graph, kind)(data.draw(st.lists(st.sampled_from(types), max_size=2)))
        elif kind == "reify":
            tuples = [m.parts for m in graph.merges().values() if m.is_tuple]
            pairs = [(graph.types[m[0]], graph.types[m[1]]) for m in tuples[:2]]
            graph.reify(pairs)
        else:
            pairs = data.draw(st.lists(st.tuples(*[st.sampled_from(types)] * 2), max_size=2))
            graph.anneal(pairs, data.draw(st.sampled_from([[], ["x"], ["y"]])))
    except EditError:
        pass


@examples(300)
@given(st.one_of(MERGES, st.just([("a", "b"), ("ab", "c"), ("b", "c")])), st.data())
def test_states_are_equal_if_and_only_if_everything_is(merges: MergeList, data: Any) -> None:
    graphs = [graph_of(merges), graph_of(merges)]
    if data.draw(st.booleans()):
        graphs.append(graph_of(data.draw(MERGES)))
    found: list[tuple[State, tuple[Any, ...]]] = []
    numbered: list[tuple[State, tuple[Any, ...]]] = []
    for graph in graphs:
        for _ in range(data.draw(st.integers(0, 6))):
            if data.draw(st.booleans()):
                _ = graph.state  # so that it follows the edits; else it is found out afresh
            edit(graph, data)
            found.append((graph.state, everything(graph)))
            numbered.append((graph.numbered, with_ids(graph)))
        for number, there in enumerate(graph.states_onward()):
            assert there.state == graph.state_after(number)
            assert there.numbered == graph.numbered_after(number)
        found.append((graph.state, everything(graph)))
        numbered.append((graph.numbered, with_ids(graph)))
    for states in (found, numbered):
        for one, all_of_one in states:
            for other, all_of_other in states:
                assert (one == other) == (all_of_one == all_of_other)


@given(MERGES, st.data())
def test_copies_and_what_is_sent_elsewhere_are_in_the_same_state(
    merges: MergeList, data: Any
) -> None:
    graph = graph_of(merges)
    if data.draw(st.booleans()):
        _ = graph.state
    first = graph.copy()
    for _ in range(3):
        edit(graph, data)
    sent = pickle.loads(pickle.dumps(graph))
    for other in (graph.copy(), graph.copy(history=True), sent):
        assert (other.state, other.numbered) == (graph.state, graph.numbered)
    assert len(sent.cache) <= 2, "what was derived stays behind"
    assert graph.original().state == graph.state_after(0) == first.state
    fresh = MergeGraph(graph.types, [], ())
    assert fresh.state != graph.state or not graph.merge_count


def test_states_after_edits_that_are_undone() -> None:
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c")])
    names = [graph.state]
    for type_ in ("ab", "abc"):
        graph.knockout([type_])
        names.append(graph.state)
    graph.undo()
    graph.undo()
    assert [graph.state_after(number) for number in range(3)] == names
    assert len(set(names)) == 3


def test_edits_that_undo_each_other_lead_back() -> None:
    graph = MergeGraph.from_merges([("a", "b")], alphabet="abc")
    before = graph.state
    graph.anneal([("ab", "c")])
    assert graph.state != before
    graph.knockout(["abc"])
    assert graph.state == before
    assert len(graph.history) == 2


def test_ranks_ties_and_labels_are_part_of_it() -> None:
    merges = [Merge(0, (0, 1), 3), Merge(1, (1, 2), 4)]
    types = ["a", "b", "c", "ab", "bc"]
    swapped = [Merge(1, (0, 1), 3), Merge(0, (1, 2), 4)]
    graphs = [
        MergeGraph(types, merges),
        MergeGraph(types, swapped),
        MergeGraph(types, merges, ties={0: 5, 1: 5}),
        MergeGraph(types, merges, labels=[9, 8, 7, 6, 5]),
    ]
    assert len({graph.state for graph in graphs}) == 4
    assert MergeGraph(types, merges).numbered == graphs[0].numbered
    order = MergeGraph(["b", "a", "c", "ab", "bc"], [Merge(1, (0, 2), 4), Merge(0, (1, 0), 3)])
    assert order.state == graphs[0].state
    assert order.numbered != graphs[0].numbered


def test_a_name_is_the_same_in_every_process() -> None:
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c")])
    assert str(graph.state) == "99ac7c7afe57"
    assert str(State.of("a", {"b": 1})) == "727e8e959015"

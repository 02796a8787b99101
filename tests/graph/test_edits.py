"""Knockout, cascade, undo, redo and replay of the merge graph."""

import pickle

import oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import MERGES, check_graph, graph_of

from morphgraph.core.cache import State
from morphgraph.graph.arrays import merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import EditError, Merge


def parts_of(graph):
    """The present merges as the oracle writes them."""
    merges = (graph.merge(number) for number in graph.merge_ids())
    return {m.rank: tuple(graph.types[part] for part in m.parts) for m in merges}


def removable(graph):
    """Present types that a merge produces."""
    return [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]


def present(graph):
    return {graph.types[number] for number in graph.type_ids()}


@examples(200)
@given(MERGES, st.data())
def test_knockout_of_a_set_is_one_by_one_in_any_order(merges, data):
    graph = graph_of(merges)
    types = removable(graph)
    gone = data.draw(st.lists(st.sampled_from(types), unique=True)) if types else []
    plain = oracles.listed(merges)
    for type_ in data.draw(st.permutations(gone)):
        plain = oracles.knockout(plain, type_)
    before = present(graph)
    change = graph.knockout(gone)
    assert parts_of(graph) == plain
    assert present(graph) == before - set(gone)
    assert {graph.types[number] for number in change.removed_types} == set(gone)
    check_graph(graph)
    one_by_one = graph_of(merges)
    for type_ in data.draw(st.permutations(gone)):
        one_by_one.knockout([type_])
        check_graph(one_by_one)
    assert with_ids(one_by_one) == with_ids(graph)


def test_one_that_was_sent_is_not_taken_for_one_that_is_here():
    here = MergeGraph.from_merges([("a", "b"), ("ab", "c")])
    there = MergeGraph.from_merges([("x", "y"), ("x", "xy")])
    sent = pickle.dumps(there)
    names = [list(map(graph.describe, graph.merge_ids())) for graph in (here, pickle.loads(sent))]
    assert names == [["a + b → ab", "ab + c → abc"], ["x + y → xy", "x + xy → xxy"]]
    parts = [merge_arrays(graph).parts.tolist() for graph in (here, pickle.loads(sent))]
    assert parts == [[0, 1, 2, 3], [0, 1, 0, 2]]
    assert pickle.loads(sent).original().types == there.types
    pickle.loads(sent).knockout(["xy"])
    assert "ab" in here


def test_ranks_decide_not_the_order_of_the_list():
    # ab first, c, abc; then the merge list gives rank 5 before rank 2.
    types = ["a", "b", "c", "ab", "bc", "abc"]
    merges = [Merge(0, (0, 1), 3), Merge(1, (1, 2), 4), Merge(5, (3, 2), 5), Merge(2, (0, 4), 5)]
    graph = MergeGraph(types, merges)
    assert graph.producer("abc") == 3
    assert graph.merge_ids() == [0, 1, 3, 2]
    assert graph.outgoing(2) == (1, 2)


def test_reading():
    graph = MergeGraph.from_merges([("u", "n"), ("un", "un"), ("un", "u")])
    un = graph.id_of("un")
    assert graph.fan_out(un) == 2, "a part that stands twice in a merge counts once"
    assert graph.fan_out(graph.id_of("u")) == 2
    assert graph.is_atom(graph.id_of("u"))
    assert not graph.is_atom(un)
    assert graph.describe(1, names=["U", "N", "UN", "UNUN", "UNU"]) == "UN + UN → UNUN"
    with refused(EditError):
        graph.producer("u")
    graph.knockout(text for text in ["unun"])  # any iterable will do
    assert not graph.has_merge(1)
    assert not graph.is_present(graph.ids["unun"])
    assert "unun" not in graph
    with refused(EditError):
        graph.merge(1)
    with refused(EditError):
        MergeGraph(["a", "a"], [])


@examples(100)
@given(MERGES, st.data())
def test_what_is_done_to_a_copy_is_done_to_no_other(merges, data):
    """Copies have lists in common until one changes them: each is as if it were alone."""
    graphs = [graph_of(merges)]
    recipes = [[]]
    for _ in range(data.draw(st.integers(1, 8))):
        chosen = data.draw(st.integers(0, len(graphs) - 1))
        graph = graphs[chosen]
        what = data.draw(st.sampled_from(["copy", "knockout", "anneal", "undo", "original"]))
        if what == "copy":
            graphs.append(graph.copy(history=True))
            recipes.append(list(recipes[chosen]))
        elif what == "original":
            graphs.append(graph.original())
            recipes.append([])
        elif what == "undo" and graph.history:
            graph.undo()
            recipes[chosen].pop()
        elif what == "knockout" and removable(graph):
            step = {"edit": "knockout", "types": [data.draw(st.sampled_from(removable(graph)))]}
            graph.replay([step])
            recipes[chosen].append(step)
        elif what == "anneal":
            pair = [data.draw(st.sampled_from(sorted(present(graph)))) for _ in range(2)]
            step = {"edit": "anneal", "merges": [pair], "atoms": []}
            try:
                graph.replay([step])
            except EditError:
                continue
            if len(graph.history) > len(recipes[chosen]):
                recipes[chosen].append(step)
    for graph, recipe in zip(graphs, recipes, strict=True):
        alone = graph_of(merges)
        alone.replay(recipe)
        assert parts_of(graph) == parts_of(alone)
        assert present(graph) == present(alone)
        assert len(graph.history) == len(recipe)
        check_graph(graph)


def test_an_edit_made_again_by_hand_has_other_ids():
    """Merges get no id twice: what was computed on the first is about merges that are gone."""
    graph = MergeGraph.from_merges([("a", "b")], alphabet="abc")
    graph.anneal([("ab", "c")])
    state, numbered, ids = graph.state, graph.numbered, graph.merge_ids()
    graph.undo()
    graph.anneal([("ab", "c")])
    assert graph.merge_ids() != ids
    assert graph.state == state
    assert graph.numbered != numbered
    assert graph.copy(history=True).numbered == graph.numbered


def everything(graph):
    """The oracle: present types, and merges with ranks, as strings; ids play no part."""
    text = graph.types
    merges = [graph.merge(number) for number in graph.merge_ids()]
    return (
        frozenset(text[number] for number in graph.type_ids()),
        tuple((m.rank, tuple(text[part] for part in m.parts), text[m.result]) for m in merges),
    )


def with_ids(graph):
    """The same, with the ids of types and merges."""
    named = [(number, graph.types[number]) for number in graph.type_ids()]
    return everything(graph), tuple(named), tuple(graph.merge_ids())


def edit(graph, data):
    """Some edit, undo or redo; one that cannot be made is left out."""
    kind = data.draw(st.sampled_from(["knockout", "cascade", "anneal", "reify", "undo", "redo"]))
    types = [graph.types[n] for n in graph.type_ids()]
    try:
        if kind in ("undo", "redo"):
            getattr(graph, kind)()
        elif kind in ("knockout", "cascade"):
            getattr(graph, kind)(data.draw(st.lists(st.sampled_from(types), max_size=2)))
        elif kind == "reify":
            tuples = [m.parts for m in graph.merges().values() if len(m.parts) > 2]
            pairs = [(graph.types[m[0]], graph.types[m[1]]) for m in tuples[:2]]
            graph.reify(pairs)
        else:
            pairs = data.draw(st.lists(st.tuples(*[st.sampled_from(types)] * 2), max_size=2))
            graph.anneal(pairs, data.draw(st.sampled_from([[], ["x"], ["y"]])))
    except EditError:
        pass


@examples(300)
@given(st.one_of(MERGES, st.just([("a", "b"), ("ab", "c"), ("b", "c")])), st.data())
def test_states_are_equal_if_and_only_if_everything_is(merges, data):
    graphs = [graph_of(merges), graph_of(merges)]
    if data.draw(st.booleans()):
        graphs.append(graph_of(data.draw(MERGES)))
    found = []
    numbered = []
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
def test_copies_and_what_is_sent_elsewhere_are_in_the_same_state(merges, data):
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


def test_ranks_ties_and_labels_are_part_of_it():
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


def test_a_name_is_the_same_in_every_process():
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c")])
    assert str(graph.state) == "99ac7c7afe57"
    assert str(State.of("a", {"b": 1})) == "727e8e959015"


def test_what_edits_leave_behind_is_found_and_forgotten(monkeypatch):
    """With no room for parts of the past, each edit makes the index, and the parts, anew."""
    monkeypatch.setattr("morphgraph.graph.merge_table._TAIL", 0)
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "c"), ("abc", "ab"), ("c", "ab")])
    graph.knockout(["abc"])
    for _ in range(9):
        graph.knockout(["ab"])
        check_graph(graph)
        graph.undo()
        check_graph(graph)
    assert graph.outgoing(graph.id_of("ab")) == (2, 3)
    assert graph.undo() and graph.merges() == graph.original().merges()

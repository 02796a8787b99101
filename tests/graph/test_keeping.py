"""A portable knockout keeps what it can, and changes no other text."""

from itertools import product

import oracles
import pytest
from effort import EFFORT, examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import ALPHABET, MERGES, check_graph, graph_of, tied_graphs, well_formed

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.portable_edits import explain_lost, preview_keeping
from morphgraph.tokeniser.merging import unformed_types

LONGEST = 7 if EFFORT == "soak" else 5
TEXTS = ["".join(letters) for n in range(LONGEST) for letters in product("abc", repeat=n + 1)]


def pairs_of(graph):
    return oracles.listed(
        tuple(graph.types[part] for part in merge.parts) for merge in graph.merges().values()
    )


def parts_of(merges, tokens, new):
    """Tokens, of which new ones are taken apart."""
    made = {"".join(parts): parts for parts in merges.values()}
    while at := next((n for n, token in enumerate(tokens) if token in new), -1) + 1:
        tokens[at - 1 : at] = made[tokens[at - 1]]
    return tokens


@examples(300)
@given(well_formed(2) | well_formed(2, 25), st.booleans(), st.data())
def test_what_stays_is_formed_and_other_texts_are_as_they_were(merges, reuse, data):
    graph = graph_of(merges)
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    some = st.lists(st.sampled_from(types), unique=True) if types else st.just([])
    before, gone = pairs_of(graph), data.draw(some, label="gone")
    dead = {graph.types[number] for number in unformed_types(graph)}
    graph.knockout(gone)
    tuples = {graph.types[merge.result] for merge in graph.tuple_merges().values()}
    recipe, change = graph.recipe(), preview_keeping(graph, reuse=reuse)
    why = explain_lost(graph, change)
    lost = [graph.types[number] for number in change.removed_types]
    graph.apply(change)
    check_graph(graph)
    after, new = pairs_of(graph), {graph.types[number] for number in change.added_types}
    assert not graph.has_tuples and sorted(why) == sorted(lost)
    assert len(new) <= (len(gone) + len(lost)) * reuse and new.isdisjoint([*types, *gone])
    if not tuples:
        assert not lost or set(lost) <= dead
    for number in graph.type_ids():
        text = graph.types[number]
        if text not in dead:
            assert oracles.segment(after, text)[0] == [text]
    ranks = {rank for rank, parts in before.items() if "".join(parts) in gone}
    for text in TEXTS:
        was, closed_by = oracles.segment(before, text)
        now = oracles.segment(after, text)[0]
        assert not {*gone, *lost} & {*now}
        if ranks.isdisjoint(closed_by):
            assert parts_of(after, now, new) == was
    # A recipe does the same again.
    other = graph_of(merges)
    other.replay(graph.recipe())
    assert other.state == graph.state
    graph.undo()
    assert graph.recipe() == recipe


def kept(*merges, gone, reuse=False):
    graph = MergeGraph.from_merges(merges)
    graph.knockout(gone)
    change = preview_keeping(graph, reuse=reuse)
    why = explain_lost(graph, change)
    graph.apply(change)
    return [graph.describe(merge) for merge in graph.merge_ids()], why


def test_a_merge_moves_behind_the_one_that_it_needs():
    found, why = kept(("b", "c"), ("a", "bc"), ("d", "d"), ("a", "b"), ("e", "e"), gone=["bc"])
    assert found == ["d + d → dd", "a + b → ab", "ab + c → abc", "e + e → ee"] and not why


def test_new_types_come_last_and_take_no_more_ids_than_are_free():
    merges = [("b", "c"), ("a", "bc"), ("abc", "d"), ("c", "bc"), ("d", "bc"), ("x", "y")]
    found, why = kept(*merges, gone=["bc"])
    assert found == ["x + y → xy"] and why["abc"] == "a b c, and joining two takes a new type, “ab”"
    found, why = kept(*merges, gone=["bc"], reuse=True)
    # abc is worth more than each of the others, and the id of one that goes is free for another.
    assert found == ["x + y → xy", "a + b → ab", "ab + c → abc", "abc + d → abcd", *found[4:]]
    assert found[4:] == ["c + b → cb", "cb + c → cbc"] and list(why) == ["dbc"]


def test_a_removed_type_does_not_come_back_as_a_new_one():
    graph = MergeGraph.from_merges([("b", "c"), ("a", "bc"), ("x", "y")])
    graph.anneal([("a", "b")])
    graph.knockout(["bc", "ab"])
    change = preview_keeping(graph, reuse=True)
    assert explain_lost(graph, change).keys() == {"abc"} and not change.added_types


@pytest.mark.parametrize("ids", ["keep", "reuse"])
def test_leaves_are_a_portable_edit_too(ids):
    graph = MergeGraph.from_merges([("a", "b"), ("b", "c")])
    graph.knockout(["ab"])
    graph.apply(preview_keeping(graph, reuse=ids == "reuse"))
    assert [step["edit"] for step in graph.recipe()] == ["knockout", "portable"]
    other = MergeGraph.from_merges([("a", "b"), ("b", "c")])
    other.replay(graph.recipe())
    assert other.recipe() == graph.recipe()
    assert set(ALPHABET) < {other.types[number] for number in other.type_ids()}


@examples(300)
@given(tied_graphs() | MERGES.map(graph_of), st.booleans(), st.data())
def test_equally_good_and_tuple_merges_leave_nothing_unformed(graph, reuse, data):
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    gone = data.draw(st.lists(st.sampled_from(types), unique=True)) if types else []
    dead = set(unformed_types(graph))
    graph.knockout(gone)
    change = graph.apply(preview_keeping(graph, reuse=reuse))
    check_graph(graph)
    assert not graph.has_tuples and not set(unformed_types(graph)) - dead
    assert len(change.added_types) <= (len(gone) + len(change.removed_types)) * reuse

"""Edits that add types and merges and move others: annealing and reification of the graph."""

import oracles
import pytest
import rebpe_oracle
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from rebpe_oracle import State
from refusals import refused
from strategies import MERGES, check_graph, graph_of, observed, well_formed

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import EditError

TUPLES = [("b", "c"), ("a", "bc"), ("a", "b", "d"), ("d", "a", "b", "d")]
"""Types: b, c, bc, a, abc, d, abd, dabd. Both tuple merges contain (a, b) and (b, d)."""


def listed(graph):
    return [graph.describe(merge).partition(" →")[0] for merge in graph.merge_ids()]


def edited():
    """A graph after an annealing with an atom, a reification and a knockout."""
    graph = MergeGraph.from_merges(TUPLES)
    graph.anneal([("abd", "z")], ["z"])
    graph.reify([("a", "b")])
    graph.knockout(["abd"])
    return graph


def test_repairs_that_links_take_back_are_no_edit():
    """a + c + a + b is linked to a + b again: nothing to undo, and redo is not lost."""
    graph = MergeGraph.from_merges([("a", "b", "a"), ("a", "b"), ("a", "c", "ab"), ("c", "c")])
    graph.knockout(["aba"])  # leaves a hole in the ranks
    graph.knockout(["cc"])
    graph.undo()
    before = observed(graph)
    change = graph.reify([("a", "b")], [(2, ("a", "c", "a", "b"))])
    assert change.is_empty
    assert change.counts() == {}
    assert observed(graph) == before
    assert (len(graph.history), len(graph.undone)) == (1, 1)


@pytest.mark.parametrize("edit", ["anneal", "knockout", "cascade"])
def test_after_a_change_that_is_not_made(edit):
    graph = edited()
    before, state = observed(graph), graph.numbered
    expected = graph.copy()
    if edit == "anneal":
        change = graph.preview_anneal([("c", "y")], ["y"])
        expected.anneal([("c", "y")], ["y"])
    else:
        change = getattr(graph, f"preview_{edit}")(["ab"])
        getattr(expected, edit)(["ab"])
    there = graph.after(change)
    assert observed(there) == observed(expected)
    assert there.numbered == expected.numbered != state
    check_graph(there)
    assert observed(graph) == before
    assert graph.numbered == state
    assert "y" not in graph and "cy" not in graph


def repaired(rank, *parts):
    """A step that repairs one merge."""
    repairs = [{"rank": rank, "parts": [*parts]}]
    return {"edit": "reify", "pairs": [["a", "b"]], "repairs": repairs}


ERRORS = [
    {"edit": "anneal", "merges": [["a", "d"], ["q", "a"]], "atoms": ["z"]},
    {"edit": "anneal", "merges": [["a", "d"]], "atoms": ["z", "a"]},
    {"edit": "anneal", "merges": [], "atoms": ["abd"]},
    {"edit": "anneal", "merges": [["a", "d"], ["b", "c"]]},
    {"edit": "anneal", "merges": [["a", "d"], ["a", "d"]]},
    {"edit": "reify", "pairs": [["a", "b"], ["a", "q"]], "repairs": []},
    repaired(3, "d", "a", "b"),
    repaired(3, "dabd"),
    repaired(3, "da", "bd"),
    repaired(2, "ab", "d"),
    repaired(7, "a", "b"),
    {"edit": "explode", "types": ["ab"]},
    {"types": []},
    *(
        {"edit": edit, "types": types}
        for edit in ("knockout", "cascade")
        for types in (["abc", "a"], ["abc", "xyz"])
    ),
]


def direct(graph, step):
    """A step of a recipe by the method of its name."""
    if step["edit"] == "anneal":
        graph.anneal(step["merges"], step.get("atoms", ()))
    elif step["edit"] in ("knockout", "cascade"):
        getattr(graph, step["edit"])(step["types"])
    else:
        repairs = [(entry["rank"], entry["parts"]) for entry in step["repairs"]]
        graph.reify(step["pairs"], repairs)


@pytest.mark.parametrize("step", ERRORS)
def test_errors_change_nothing(step):
    """A + b has rank 4; edits made before stay, and an undone one could be made again."""
    graph = MergeGraph.from_merges([*TUPLES, ("a", "b")])
    graph.anneal([("d", "c")])
    graph.knockout(["abc"])
    graph.undo()
    before, history, undone = observed(graph), graph.history, graph.undone
    if step.get("edit") not in (None, "explode"):
        with refused(EditError):
            direct(graph, step)
    assert observed(graph) == before
    good = {"edit": "anneal", "merges": [["c", "y"]], "atoms": ["y"]}
    nothing = {"edit": "knockout", "types": []}
    with refused(EditError):
        graph.replay([nothing, good, step])
    assert observed(graph) == before
    assert graph.undone == undone
    assert graph.history == history
    assert not any(text in graph for text in ("y", "cy", "z", "ad", "q"))
    check_graph(graph)


def snapshot(graph):
    """The state in terms of strings: what a model has."""
    merges = graph.merges()
    parts = {m.rank: tuple(graph.types[part] for part in m.parts) for m in merges.values()}
    assert len(parts) == len(merges)
    types = {graph.types[number] for number in graph.type_ids()}
    return parts, types, {merge.rank: graph.origin(number) for number, merge in merges.items()}


class Model:
    """A list of states, and the number of the present one."""

    def __init__(self, merges):
        listed = oracles.listed(merges)
        types = {"a", "b", "c"}.union(*listed.values(), map("".join, listed.values()))
        self.states = [State(listed, types, dict.fromkeys(listed, "original"))]
        self.at = 0

    @property
    def now(self):
        return self.states[self.at]

    def push(self, state):
        """A new state, unless nothing changed."""
        old = self.now
        if (state.merges, state.types) != (old.merges, old.types):
            self.states[self.at + 1 :] = [state]
            self.at += 1

    def knockout(self, gone):
        left = rebpe_oracle.substituted(self.now.merges, gone)
        split = {rank for rank in left if left[rank] != self.now.merges[rank]}
        origins = {rank: "split" if rank in split else self.now.origins[rank] for rank in left}
        self.push(State(left, self.now.types - set(gone), origins))

    def cascade(self, gone):
        left = oracles.cascade(self.now.merges, gone) if gone else self.now.merges
        made = {"".join(parts) for parts in self.now.merges.values()}
        lost = made - {"".join(parts) for parts in left.values()}
        origins = {rank: self.now.origins[rank] for rank in left}
        self.push(State(left, self.now.types - lost, origins))

    def anneal(self, pairs, atoms):
        merges, origins = dict(self.now.merges), dict(self.now.origins)
        for pair in pairs:
            rank = max(merges, default=-1) + 1
            merges[rank], origins[rank] = pair, "annealed"
        types = self.now.types.union(atoms, map("".join, pairs))
        self.push(State(merges, types, origins))

    def reify(self, pairs, repairs):
        rows = {
            rank: rebpe_oracle.Row(parts, self.now.origins[rank])
            for rank, parts in sorted(self.now.merges.items())
        }
        for rank, parts in repairs:
            rows[rank].parts, rows[rank].origin = parts, "repaired"
        order, types = list(rows.values()), set(self.now.types)
        suggested = dict(rebpe_oracle.suggestions(order, ()))
        rebpe_oracle.use(order, types, [(pair, suggested.get(pair, [])) for pair in pairs])
        before = [parts for _, parts in sorted(self.now.merges.items())]
        if [row.parts for row in order] != before:
            self.push(rebpe_oracle.numbered(order, types))


def draw_edit(data, state):
    """An edit that can be made in a state: its name and arguments."""
    types = sorted(state.types)
    made = sorted({"".join(parts) for parts in state.merges.values()})
    name = data.draw(st.sampled_from(["knockout", "cascade", "anneal", "reify", "reify"]))
    if name in ("knockout", "cascade"):
        gone = st.lists(st.sampled_from(made), unique=True, max_size=3) if made else st.just([])
        return name, [data.draw(gone)]
    pair = st.tuples(st.sampled_from(types), st.sampled_from(types))
    if name == "anneal":
        atoms = data.draw(st.lists(st.sampled_from("xyz"), unique=True, max_size=2))
        pairs = data.draw(st.lists(pair, unique=True, max_size=2))
        pairs = [p for p in pairs if p not in state.merges.values() and len("".join(p)) < 20]
        return name, [pairs, [atom for atom in atoms if atom not in state.types]]
    tuples = [rank for rank, parts in state.merges.items() if len(parts) > 2]
    repairs = []
    for rank in data.draw(st.lists(st.sampled_from(tuples), unique=True)) if tuples else []:
        lower = {r: parts for r, parts in state.merges.items() if r < rank}
        spelled = data.draw(st.sampled_from([lower, {}]))
        parts = tuple(oracles.Lookup(spelled).segment("".join(state.merges[rank])))
        if len(parts) > 1 and parts != state.merges[rank]:
            repairs.append((rank, parts))
    rows = [rebpe_oracle.Row(parts, "") for parts in state.merges.values()]
    inside = [found for found, _ in rebpe_oracle.suggestions(rows, ())]
    pairs = data.draw(st.lists(st.sampled_from(inside) if inside else pair, max_size=4))
    return name, [pairs, repairs]


@examples(250)
@given(merges=well_formed(size=8) | MERGES, data=st.data())
def test_random_edits_are_those_of_a_naive_model(merges, data):
    merges = list(dict.fromkeys(merges))
    graph, model = graph_of(merges), Model(merges)
    seen = {0: observed(graph)}
    for _ in range(data.draw(st.integers(1, 10))):
        way = data.draw(st.sampled_from(["edit", "edit", "edit", "undo", "redo"]))
        if way == "undo" and model.at:
            graph.undo()
            model.at -= 1
        elif way == "redo" and model.at + 1 < len(model.states):
            graph.redo()
            model.at += 1
        elif way == "edit":
            name, arguments = draw_edit(data, model.now)
            before = model.now
            getattr(graph, name)(*arguments)
            getattr(model, name)(*arguments)
            if model.now is not before:
                seen[model.at] = observed(graph)
        check_graph(graph)
        assert snapshot(graph) == (model.now.merges, model.now.types, model.now.origins)
        assert observed(graph) == seen[model.at], "ids are as they were"
        assert len(graph.history) == model.at
        assert len(graph.undone) == len(model.states) - 1 - model.at
        assert {graph.types[n] for n in graph.misplaced()} == oracles.misplaced(model.now.merges)
    assert observed(graph.copy()) == seen[model.at]
    assert observed(graph.original()) == seen[0]
    assert observed(graph.earlier(1)) == seen[max(0, model.at - 1)]
    replayed = graph_of(merges)
    replayed.replay(graph.recipe())
    assert snapshot(replayed) == snapshot(graph)


def test_a_change_of_another_state_is_refused():
    graph = MergeGraph.from_merges(TUPLES)
    change = graph.preview_anneal([("c", "y")], ["y"])
    graph.anneal([], ["z"])
    with refused(EditError):
        graph.apply(change)

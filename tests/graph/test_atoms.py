"""The atoms of types, and which types these are merged into."""

from itertools import pairwise

import oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, graph_of

from morphgraph.graph.atoms import atoms_of
from morphgraph.tokeniser.merging import unformed_types


def expanded(graph, number):
    makers = graph.incoming(number)
    if not makers:  # no word has it, but its characters
        return [graph.ids[character] for character in graph.types[number]]
    return [atom for part in graph.merge(makers[0]).parts for atom in expanded(graph, part)]


def with_parts(graph, numbers):
    parts = {p for n in numbers for m in graph.incoming(n)[:1] for p in graph.merge(m).parts}
    parts |= {atom for n in numbers for atom in expanded(graph, n)}
    return numbers if parts <= numbers else with_parts(graph, numbers | parts)


@examples(400)
@given(MERGES, st.booleans(), st.data())
def test_atoms_are_those_of_the_parts_of_parts(merges, is_some, data):
    graph = graph_of(merges)
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    some = st.lists(st.sampled_from(types or ["a"]), unique=True)
    graph.knockout(data.draw(some) if types else [])
    present = graph.type_ids()
    among = data.draw(st.lists(st.sampled_from(present), unique=True)) if is_some else None
    asked = present if among is None else among
    atoms, offsets = atoms_of(graph, among)
    found = {n: atoms[at:end].tolist() for n, (at, end) in enumerate(pairwise(offsets))}
    given_ = with_parts(graph, set(asked))
    assert found == {n: expanded(graph, n) if n in given_ else [] for n in found}
    merged = oracles.listed(
        tuple(graph.types[part] for part in merge.parts) for merge in graph.merges().values()
    )
    own = {n: [graph.types[atom] for atom in found[n]] for n in asked}
    assert unformed_types(graph, among) == [
        n
        for n in asked
        if graph.incoming(n) and oracles.segment(merged, own[n])[0] != [graph.types[n]]
    ]

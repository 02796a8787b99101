"""Recipes: written, read, replayed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MergeList, well_formed

from morphgraph.core.errors import FileFormatError
from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.formats.recipe import read_recipe, replay, write_recipe
from morphgraph.tokeniser.tokeniser import BpeTokeniser

MakeTokeniser = Callable[..., BpeTokeniser]
CHAIN = [("a", "b"), ("ab", "c"), ("abc", "d")]


@given(merges=well_formed(), data=st.data())
def test_write_read_replay(
    small_tokeniser: MakeTokeniser, merges: MergeList, data: st.DataObject
) -> None:
    tokeniser = small_tokeniser(list(dict.fromkeys(merges)), "abc")
    graph = tokeniser.graph
    for _ in range(data.draw(st.integers(0, 4))):
        types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
        if types:
            edit = data.draw(st.sampled_from([graph.knockout, graph.cascade]))
            edit(data.draw(st.lists(st.sampled_from(types), min_size=1, max_size=3)))
    if graph.history and data.draw(st.booleans()):
        graph.undo()
    recipe = read_recipe(write_recipe(tokeniser), "recipe.json")
    fresh = tokeniser.fork()
    assert replay(fresh, recipe, "recipe.json") == list(graph.history)
    assert fresh.graph.merge_ids() == graph.merge_ids()
    assert list(map(fresh.graph.merge, graph.merge_ids())) == list(
        map(graph.merge, graph.merge_ids())
    )
    assert fresh.graph.type_ids() == graph.type_ids()
    assert fresh.signature() == tokeniser.signature()
    assert to_tokenizer_json(fresh) == to_tokenizer_json(tokeniser)


def test_a_recipe_names_what_it_was_made_on(small_tokeniser: MakeTokeniser) -> None:
    tokeniser = small_tokeniser(CHAIN)
    tokeniser.graph.knockout(["ab"])
    tokeniser.graph.cascade(["abc"])
    document = json.loads(write_recipe(tokeniser))
    assert document["tokeniser"] == {"name": "small.json", "checksum": tokeniser.checksum}
    assert document["steps"] == [
        {"edit": "knockout", "types": ["ab"]},
        {"edit": "cascade", "types": ["abc"]},
    ]


def test_a_recipe_that_does_not_fit(small_tokeniser: MakeTokeniser) -> None:
    tokeniser = small_tokeniser(CHAIN)
    tokeniser.graph.knockout(["ab", "abc"])
    recipe = read_recipe(write_recipe(tokeniser), "recipe.json")
    other = small_tokeniser(CHAIN[:2])
    with pytest.raises(FileFormatError, match=r"recipe\.json: Step 1 .*“abc”") as caught:
        other.graph.knockout(["abc"])
        replay(other, recipe, "recipe.json")
    assert "Load “small.json” first" in caught.value.fix
    assert len(other.graph.history) == 1, "the edit made by hand stays"
    with pytest.raises(FileFormatError, match="Undo your own edits first"):
        replay(tokeniser, recipe, "recipe.json")


GOOD: dict[str, Any] = {"format": "morphgraph recipe", "version": 1, "steps": []}


@pytest.mark.parametrize(
    "document, message",
    [
        ([], "r.json: this is not a recipe"),
        ({"format": "x"}, "r.json: this is not a recipe"),
        (GOOD | {"version": 2}, "r.json, field version: its version is 2"),
        (GOOD | {"steps": {}}, "r.json, field steps: a list is expected"),
        (GOOD | {"steps": [{"edit": "knockout"}]}, "r.json, field steps, entry 1: an edit with"),
        (GOOD | {"steps": [{"types": "ab"}]}, "r.json, field steps, entry 1: an edit with"),
        (GOOD | {"steps": [{"types": ["a"]}, 7]}, "r.json, field steps, entry 2: an edit with"),
        (GOOD | {"steps": [{"types": []}]}, "r.json, field steps, entry 1: an edit with"),
    ],
)
def test_faulty_recipes(document: Any, message: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read_recipe(json.dumps(document).encode(), "r.json")
    assert str(caught.value).startswith(message)


def test_a_recipe_without_its_tokeniser(small_tokeniser: MakeTokeniser) -> None:
    recipe = read_recipe(json.dumps(GOOD).encode(), "r.json")
    assert replay(small_tokeniser(CHAIN), recipe, "r.json") == []


def test_an_atom_is_one_character(small_tokeniser: Callable[..., BpeTokeniser]) -> None:
    tokeniser = small_tokeniser([("a", "b")], "ab")
    recipe = {"steps": [{"edit": "anneal", "merges": [], "atoms": ["c", "long atom"]}]}
    with pytest.raises(FileFormatError, match="entry 1: “long atom” cannot be an atom"):
        replay(tokeniser, recipe, "r.json")
    assert not tokeniser.graph.history
    recipe["steps"][0]["atoms"] = ["c"]
    replay(tokeniser, recipe, "r.json")
    assert "c" in tokeniser.graph

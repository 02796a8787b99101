"""A chain of saved tokenisers: ids and edits always lead from the first one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MergeList, check_graph, well_formed

from morphgraph.core.errors import FileFormatError
from morphgraph.formats.hugging_face import from_tokenizer_json, saved_files, to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.recipe import read_recipe, replay
from morphgraph.graph.merge_table import EditError
from morphgraph.refine.rebpe import suggestions
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter
from morphgraph.tokeniser.tokeniser import BpeTokeniser

MakeTokeniser = Callable[..., BpeTokeniser]
Command = Callable[..., Any]
CHAIN = [("a", "b"), ("ab", "c"), ("abc", "d"), ("d", "d")]


def opened(files: dict[str, bytes]) -> BpeTokeniser:
    name = "tokenizer.json" if "tokenizer.json" in files else "tokeniser.bte.json"
    return from_tokenizer_json(files[name], name)


def vocabulary_of(tokeniser: BpeTokeniser) -> dict[str, int]:
    types = tokeniser.graph.types
    return {types[n]: id_ for n, id_ in enumerate(tokeniser.vocabulary_ids)}


def merges_of(tokeniser: BpeTokeniser) -> list[str]:
    return [tokeniser.graph.describe(number) for number in tokeniser.graph.merge_ids()]


def test_two_saves_after_each_other(small_tokeniser: MakeTokeniser) -> None:
    first = small_tokeniser(CHAIN, "abcd")  # a b c d ab abc abcd dd = 0 … 7
    first.graph.knockout(["ab"])
    second = opened(saved_files(first))
    files = export_segmenter(Bte(second), ["abcd"]).files  # without an edit of its own
    assert json.loads(files["ids.json"]) == {str(n): n - (n > 4) for n in range(8) if n != 4}
    recipe = json.loads(files["recipe.json"])
    assert recipe["tokeniser"] == {"name": "small.json", "checksum": first.checksum}
    assert recipe["steps"] == [{"edit": "knockout", "types": ["ab"]}]
    assert b"made from ` small.json `" in files["README.md"]
    second.graph.knockout(["abc"])
    files = export_segmenter(Bte(second), ["abcd"]).files
    assert json.loads(files["ids.json"]) == {"0": 0, "1": 1, "2": 2, "3": 3, "6": 4, "7": 5}
    third = opened(files)
    third.graph.anneal([["a", "b"], ["c", "d"]])  # ab is there again, cd never was
    made = export_segmenter(Bte(third), ["abcd"])
    assert json.loads(made.files["ids.json"])["4"] == 6
    assert made.vocab_size == 8
    assert made.new_types == 1


@given(merges=well_formed(), data=st.data())
def test_any_chain_is_one_recipe_on_the_first(
    small_tokeniser: MakeTokeniser, merges: MergeList, data: st.DataObject
) -> None:
    first = small_tokeniser(list(dict.fromkeys(merges)), "abc")
    known, now = vocabulary_of(first), first.fork()
    files: dict[str, bytes] = {}
    for _ in range(data.draw(st.integers(1, 3))):
        for _ in range(data.draw(st.integers(0, 3))):
            _edit(now, data)
        files = saved_files(now)
        now = opened(files)
    saved = vocabulary_of(now)
    assert json.loads(files["ids.json"]) == {
        str(known[text]): new for text, new in saved.items() if text in known
    }
    replay(first, read_recipe(files["recipe.json"], "recipe.json"), "recipe.json")
    again = opened({"tokenizer.json": to_tokenizer_json(first)[0]})
    assert merges_of(again) == merges_of(now)
    assert set(vocabulary_of(again)) == set(saved)


def _edit(tokeniser: BpeTokeniser, data: st.DataObject) -> None:
    graph = tokeniser.graph
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    if not types:
        return
    kind = data.draw(st.sampled_from(["knockout", "cascade", "anneal", "reify"]))
    some = st.sampled_from(types)
    if kind == "knockout":
        graph.knockout(data.draw(st.lists(some, min_size=1, max_size=3)))
    elif kind == "cascade":
        graph.cascade([data.draw(some)])
    elif kind == "anneal":
        try:
            graph.anneal([[data.draw(some), data.draw(st.sampled_from("abc"))]])
        except EditError:  # that merge is there already
            return
    else:
        tuples = [merge for merge in graph.merges().values() if merge.is_tuple]
        repairs = [
            (merge.rank, list(graph.types[merge.result])) for merge in data.draw(subsets(tuples))
        ]
        pairs = [[graph.types[x], graph.types[y]] for x, y in suggestions(graph, {}, ())]
        graph.reify(pairs, repairs)


def subsets(of: list[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(of), max_size=2, unique=True) if of else st.just([])


def test_ranks_in_a_recipe_are_those_of_the_saved_file(small_tokeniser: MakeTokeniser) -> None:
    """A knockout leaves a hole in the ranks, saving closes it; the repair counts without it."""
    first = small_tokeniser([("a", "b"), ("c", "d"), ("cd", "a", "b")], "abcd")
    start = first.fork()
    first.graph.knockout(["ab"])
    second = opened(saved_files(first))
    second.graph.reify([], [(1, ["c", "d", "a", "b"])])
    files = saved_files(second)
    steps = json.loads(files["recipe.json"])["steps"]
    assert [step["edit"] for step in steps] == ["knockout", "renumber", "reify"]
    replay(start, read_recipe(files["recipe.json"], "recipe.json"), "recipe.json")
    assert merges_of(start) == merges_of(second) == ["c + d → cd", "c + d + a + b → cdab"]


def test_renumbering_is_taken_back(small_tokeniser: MakeTokeniser) -> None:
    graph = small_tokeniser([("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")], "abc").graph
    graph.knockout(["bc"])
    before = dict(graph.merges())
    graph.renumber()
    assert [merge.rank for merge in graph.merges().values()] == [0, 1, 2]
    check_graph(graph)
    graph.undo()
    assert graph.merges() == before
    check_graph(graph)
    assert graph.redo().edit == "renumber"
    assert graph.renumber().is_empty, "nothing is left to number"


def test_an_unedited_file_is_saved_as_it_was(small_tokeniser: MakeTokeniser) -> None:
    assert b"morphgraph" not in to_tokenizer_json(small_tokeniser(CHAIN))[0]


@pytest.mark.parametrize(
    "found, message",
    [
        ([], "it does not name the first tokeniser"),
        ({"first": {"name": "x", "checksum": 1}}, "it does not name the first tokeniser"),
        ({"ids": {"a": "0"}}, "field model.morphgraph.ids: types with their ids"),
        ({"ids": {"a": 1, "b": 1}}, "an id is listed more than once"),
        ({"steps": {}}, "field model.morphgraph.steps: a list is expected"),
        ({"steps": [{"edit": "knockout"}]}, "steps, entry 1: an edit with types"),
    ],
)
def test_faulty_lineages(small_document: Any, found: Any, message: str) -> None:
    sound = {"first": {"name": "x.json", "checksum": "0"}, "ids": {}, "steps": []}
    document = small_document(CHAIN)
    document["model"]["morphgraph"] = sound | found if isinstance(found, dict) else found
    with pytest.raises(FileFormatError, match=message) as caught:
        from_tokenizer_json(json.dumps(document).encode(), "f.json")
    assert "Take the field out" in caught.value.fix


@pytest.mark.slow
def test_on_the_command_line(morphgraph: Command, tmp_path: Path) -> None:
    """Refined, exported, loaded and exported again; and the file alone, elsewhere."""
    best, exported, again = (tmp_path / name for name in ("best", "exported", "again"))
    options = ("--tokenizer", "demo:nl", "--reference", "demo:nl", "--out", best)
    assert morphgraph("rebpe", *options, "--iterations", "2").code == 0
    assert morphgraph("export", "--tokenizer", best, "--out", exported).code == 0
    moved = tmp_path / "moved.json"
    (exported / "tokeniser.bte.json").rename(moved)
    assert morphgraph("export", "--tokenizer", moved, "--out", again).code == 0
    start, end = load_tokeniser("demo:nl"), load_tokeniser(again)
    known, saved = vocabulary_of(start), vocabulary_of(end)
    wanted = {str(known[text]): new for text, new in saved.items() if text in known}
    for folder in (best, exported, again):
        assert json.loads((folder / "ids.json").read_text()) == wanted
    recipe = (again / "recipe.json").read_bytes()
    replay(start, read_recipe(recipe, "recipe.json"), "recipe.json")
    assert merges_of(start) == merges_of(end)

"""A tokeniser: its types as they are read, its name, and the steps it has gone through."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_folders import saved_files
from refusals import refused
from small import small_document, small_tokeniser
from strategies import check_graph, well_formed

from morphgraph.core.errors import FileFormatError
from morphgraph.formats.hugging_face import from_tokenizer_json, to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.recipe import read_recipe, replay, write_recipe
from morphgraph.graph.merge_table import EditError
from morphgraph.graph.plans import Reification
from morphgraph.refine.rebpe import suggestions
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter
from morphgraph.tokeniser.preprocess import readable_bytes


@pytest.mark.parametrize(
    "type_, shown",
    [
        ("Ġthe", "Ġthe"),
        ("ĠGrÃ¶ÃŁe", "ĠGröße"),
        ("Ã", "⟨C3⟩"),
        ("Ġa¼b", "Ġa⟨BC⟩b"),
        ("Ċ", "⟨0A⟩"),
        ("ĠĠ", "Ġ "),
        ("æĹ¥æľ¬", "日本"),
        ("Â", "⟨C2⟩"),
        ("日", "日"),
        ("<b>", "<b>"),
    ],
)
def test_readable_bytes(type_, shown):
    assert readable_bytes(type_) == shown


def test_search():
    tokeniser = load_tokeniser("demo:de")
    found = [tokeniser.readable(tokeniser.graph.types[n]) for n in tokeniser.search("über")]
    assert set(found[:2]) == {"␣über", "über"}
    starting = [text.lstrip("␣").startswith("über") for text in found[1:]]
    assert starting == sorted(starting, reverse=True), "those that start with it come first"
    assert len(tokeniser.search("e", limit=7)) == 7
    tokeniser.graph.knockout(["ĠÃ¼ber"])
    again = [tokeniser.graph.types[n] for n in tokeniser.search("über")]
    assert "ĠÃ¼ber" not in again, "a removed type is not found"


def test_a_space_in_front_finds_the_start_of_a_word():
    tokeniser = load_tokeniser("demo:en")
    found = [tokeniser.graph.types[n] for n in tokeniser.search(" un")]
    assert found[0] == "Ġun" and len(found) > 10
    assert all(text.startswith("Ġun") for text in found)
    assert tokeniser.graph.types[tokeniser.search("un")[0]] == "un"
    assert tokeniser.search(" un") == tokeniser.search("␣un") == tokeniser.search("Ġun")
    named = {" un": "Ġun", "␣un": "Ġun", "un": "un", " ": "Ġ"}
    assert {text: tokeniser.type_from(text) for text in named} == named
    assert load_tokeniser("demo:de").type_from(" über") == "ĠÃ¼ber"
    tokeniser.graph.knockout(["Ġun"])
    assert tokeniser.type_from(" un") is None, "un inside a word is another type"


@pytest.mark.parametrize(
    ("text", "found"), [(" un", ["▁un", "▁und"]), ("un", ["un", "▁un", "und", "▁und"])]
)
def test_the_marker_of_sentencepiece_is_a_space_too(text, found):
    merges = [("u", "n"), ("▁", "un"), ("un", "d"), ("▁un", "d")]
    tokeniser = small_tokeniser(merges)
    assert [tokeniser.graph.types[n] for n in tokeniser.search(text)] == found


STEPS = [("a", "b"), ("ab", "c"), ("abc", "d")]


def test_a_recipe_that_does_not_fit():
    tokeniser = small_tokeniser(STEPS)
    tokeniser.graph.knockout(["ab", "abc"])
    recipe = read_recipe(write_recipe(tokeniser), "recipe.json")
    other = small_tokeniser(STEPS[:2])
    with refused(FileFormatError):
        other.graph.knockout(["abc"])
        replay(other, recipe, "recipe.json")
    assert len(other.graph.history) == 1, "the edit made by hand stays"
    with refused(FileFormatError):
        replay(tokeniser, recipe, "recipe.json")


GOOD = {"format": "morphgraph recipe", "version": 1, "steps": []}


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"format": "x"},
        GOOD | {"version": 2},
        GOOD | {"steps": {}},
        GOOD | {"steps": [{"edit": "knockout"}]},
        GOOD | {"steps": [{"types": "ab"}]},
        GOOD | {"steps": [{"types": ["a"]}, 7]},
        GOOD | {"steps": [{"types": []}]},
        GOOD | {"steps": [{"edit": "renumber"}] * 5_001},
    ],
)
def test_faulty_recipes(document):
    with refused(FileFormatError):
        read_recipe(json.dumps(document).encode(), "r.json")


def test_an_atom_is_one_character():
    tokeniser = small_tokeniser([("a", "b")], "ab")
    recipe = {"steps": [{"edit": "anneal", "merges": [], "atoms": ["c", "long atom"]}]}
    with refused(FileFormatError):
        replay(tokeniser, recipe, "r.json")
    assert not tokeniser.graph.history
    recipe["steps"][0]["atoms"] = ["c"]
    replay(tokeniser, recipe, "r.json")
    assert "c" in tokeniser.graph


CHAIN = [("a", "b"), ("ab", "c"), ("abc", "d"), ("d", "d")]


def opened(files):
    name = "tokenizer.json" if "tokenizer.json" in files else "tokeniser.bte.json"
    return from_tokenizer_json(files[name], name)


def vocabulary_of(tokeniser):
    types = tokeniser.graph.types
    return {types[n]: id_ for n, id_ in enumerate(tokeniser.vocabulary_ids)}


def merges_of(tokeniser):
    return [tokeniser.graph.describe(number) for number in tokeniser.graph.merge_ids()]


def test_two_saves_after_each_other():
    first = small_tokeniser(CHAIN, "abcd")  # a b c d ab abc abcd dd = 0 … 7
    first.graph.knockout(["ab"])
    second = opened(saved_files(first))
    files = export_segmenter(Bte(second), ["abcd"]).files  # without an edit of its own
    assert json.loads(files["ids.json"]) == {str(n): n - (n > 4) for n in range(8) if n != 4}
    recipe = json.loads(files["recipe.json"])
    assert recipe["tokeniser"] == {"name": "small.json", "checksum": first.checksum}
    assert recipe["steps"] == [{"edit": "knockout", "types": ["ab"]}]
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
def test_any_chain_is_one_recipe_on_the_first(merges, data):
    first = small_tokeniser(list(dict.fromkeys(merges)), "abc")
    known, now = vocabulary_of(first), first.fork()
    files = {}
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


def _edit(tokeniser, data):
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
        tuples = [merge for merge in graph.merges().values() if len(merge.parts) > 2]
        repairs = [
            (merge.rank, list(graph.types[merge.result])) for merge in data.draw(subsets(tuples))
        ]
        containing = Reification(graph, {}).containing
        pairs = [[graph.types[x], graph.types[y]] for x, y in suggestions(graph, containing)]
        graph.reify(pairs, repairs)


def subsets(of):
    return st.lists(st.sampled_from(of), max_size=2, unique=True) if of else st.just([])


def test_renumbering_is_taken_back():
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


@pytest.mark.parametrize(
    "found",
    [
        [],
        {"first": {"name": "x", "checksum": 1}},
        {"ids": {"a": "0"}},
        {"ids": {"a": 1, "b": 1}},
        {"steps": {}},
        {"steps": [{"edit": "knockout"}]},
        {"removed": ["a"]},
    ],
)
def test_faulty_lineages(found):
    sound = {"first": {"name": "x.json", "checksum": "0"}, "ids": {}, "steps": []}
    document = small_document(CHAIN)
    document["model"]["morphgraph"] = sound | found if isinstance(found, dict) else found
    with refused(FileFormatError):
        from_tokenizer_json(json.dumps(document).encode(), "f.json")

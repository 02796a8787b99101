"""Tokenisers that every library reads: pair merges alone, and ids as they were."""

import json
from itertools import chain

import pytest
import wordfreq
from model_folders import special_token
from small import small_tokeniser
from tokenizers import Tokenizer as Library

import morphgraph as mg
from morphgraph.formats.hugging_face import from_tokenizer_json, to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine import BlameSettings, KnockoutSettings
from morphgraph.refine.knockout import knock_out
from morphgraph.refine.portable_edits import preview_portable
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import unreachable_types

WORDS = wordfreq.top_n_list("en", 3000)


@pytest.fixture(scope="module")
def portable():
    tokeniser = load_tokeniser("demo:en")
    benchmark = Benchmark.on(mg.read_gold("demo:en"), tokeniser)
    knock_out(tokeniser, benchmark, KnockoutSettings(portable=True))
    return tokeniser


def library_of(tokeniser):
    return Library.from_str(to_tokenizer_json(tokeniser)[0].decode())


def ids_of(library, words):
    texts = [f" {word}" for word in words]
    return [found.ids for found in library.encode_batch(texts, add_special_tokens=False)]


def test_the_library_reads_what_is_portable(portable):
    library = library_of(portable)
    assert not portable.graph.has_tuples and not unreachable_types(portable.graph)
    public = (
        mg.load("demo:en").knock_out(mg.read_gold("demo:en"), holdout=0, portable=True).tokeniser
    )
    assert ids_of(library, WORDS) == [public.encode(f" {word}") for word in WORDS]


def test_ids_are_kept_and_removed_types_never_come_out(portable):
    whole, library = library_of(load_tokeniser("demo:en")), library_of(portable)
    before, after = ids_of(whole, WORDS), ids_of(library, WORDS)
    graph = portable.graph
    gone = {n for n in range(graph.loaded_type_count) if not graph.is_present(n)}
    removed = {portable.vocabulary_ids[number] for number in gone}
    assert gone and removed.isdisjoint(chain(*after)) and not removed.isdisjoint(chain(*before))
    # Old sequences decode, and what no removed type took part in stays as it was.
    assert [whole.decode(ids) for ids in before] == [library.decode(ids) for ids in before]
    assert library.get_vocab() == whole.get_vocab()
    again = library_of(from_tokenizer_json(to_tokenizer_json(portable)[0], "again"))
    assert again.get_vocab() == library.get_vocab() and ids_of(again, WORDS) == after


def test_ids_of_added_types():
    tokeniser = load_tokeniser("demo:en")
    graph = tokeniser.graph
    last = [graph.types[merge.result] for merge in graph.merges().values()][-2:]
    size, ids = len(tokeniser.vocabulary_ids), set(tokeniser.vocabulary_ids)
    removed = sorted(tokeniser.vocabulary_ids[graph.ids[text]] for text in last)
    graph.knockout(last)
    graph.anneal([("q", "q"), ("qq", "q"), ("qqq", "q")])
    numbers = {}
    for tokeniser.id_choice in ("dense", "keep", "reuse"):
        vocabulary = json.loads(to_tokenizer_json(tokeniser)[0])["model"]["vocab"]
        numbers[tokeniser.id_choice] = [vocabulary[text] for text in ("qq", "qqq", "qqqq")]
        present = sorted(vocabulary[text] for text in last if text in vocabulary)
        assert present == (removed if tokeniser.id_choice == "keep" else [])
    assert numbers == {
        "dense": [size - 2, size - 1, size],
        "keep": [max(ids) + 1, max(ids) + 2, max(ids) + 3],
        "reuse": [*removed, max(ids) + 1],
    }


@pytest.mark.parametrize("ids", ["keep", "reuse", "dense"])
def test_added_tokens_keep_their_ids_before_added_types(ids):
    """As in Qwen 2.5, whose special tokens follow its types, and are not among them."""
    tokens = [special_token("<a>", 5), special_token("<b>", 6)]
    tokeniser = small_tokeniser([["a", "b"]], alphabet="abcd", added_tokens=tokens)
    tokeniser.graph.cascade(["ab"])
    tokeniser.graph.anneal([("c", "d"), ("cd", "d")])
    tokeniser.id_choice = ids
    found = {"keep": [7, 8, 5], "reuse": [4, 7, 5], "dense": [6, 7, 4]}[ids]
    library = library_of(tokeniser)
    assert library.encode("cdcdd<a>").ids == found
    assert library.get_added_tokens_decoder().keys() == {found[2], found[2] + 1}
    again = library_of(from_tokenizer_json(to_tokenizer_json(tokeniser)[0], "again"))
    assert again.get_vocab() == library.get_vocab() and again.encode("cdcdd<a>").ids == found


@pytest.mark.parametrize("dead", [False, True])
def test_whole_words_that_are_gone_are_not_emitted(dead):
    merges = [["a", "b"], ["c", "d"], ["ab", "cd"]]
    if dead:  # a bc comes before, so abc is a type of whole words only
        merges = [["b", "c"], ["a", "b"], ["ab", "c"], ["c", "d"], ["ab", "cd"]]
    tokeniser = small_tokeniser(merges, alphabet="abcd", ignore_merges=True)
    tokeniser.graph.cascade(["abcd"])
    tokeniser.id_choice = "keep"
    data = to_tokenizer_json(tokeniser)[0]
    model, old = json.loads(data)["model"], tokeniser.vocabulary_ids[tokeniser.graph.ids["abcd"]]
    library = Library.from_str(data.decode())
    assert old not in library.encode("abcd").ids and old in model["vocab"].values()
    assert model["ignore_merges"] is dead
    assert ("abcd" in model["vocab"]) is not dead


def test_a_chain_that_is_to_blame_is_not_kept():
    merges = [["b", "c"], ["a", "bc"], ["a", "b"]]
    tokeniser = small_tokeniser(merges, alphabet="abc")
    tokeniser.graph.knockout(["bc"])  # abc is a + b + c now; a + b leads there again
    for morphs, kept in ((["a", "bc"], False), (["abc"], True)):
        benchmark = Benchmark.on(mg.read_gold([("abc", morphs)]), tokeniser)
        change = preview_portable(tokeniser.graph, benchmark, BlameSettings())
        assert ("abc" in tokeniser.graph.after(change)) is kept
    assert "abc" in tokeniser.graph.after(preview_portable(tokeniser.graph))


def test_rebpe_ends_with_a_portable_phase():
    gold = mg.read_gold("demo:en")
    found = mg.load("demo:en").rebpe(gold, portable=True, holdout=0.2)
    plain = mg.load("demo:en").rebpe(gold, holdout=0.2)
    assert [phase.kind for phase in found.phases][-1] == "portable"
    assert len(found.phases) == len(plain.phases) + 1
    assert found.after.f1 > plain.after.f1 - 0.01


@pytest.mark.parametrize("reuse", [False, True])
def test_ids_stay_where_only_leaves_go_and_the_library_cuts_alike(reuse):
    """A portable edit that changes nothing is in the recipe, so that ids are kept."""
    first = mg.load("demo:en")
    [*leaves] = first._merges("leaves").graph.types[-2:]
    for types in (leaves, ["Ġund", "able", "om"]):
        found = first.knock_out_types(types, portable=True, ids="reuse" if reuse else None)
        graph = found.tokeniser._merges("edits").graph
        assert [step["edit"] for step in graph.recipe()] == ["knockout", "portable"]
        kept = [text for text in first.types if text in found.tokeniser]
        assert all(found.tokeniser.id_of(text) == first.id_of(text) for text in kept)
        library = library_of(found.tokeniser._merges("export"))
        assert ids_of(library, WORDS) == [found.tokeniser.encode(f" {word}") for word in WORDS]
        assert {*found.removed} == {*types, *found.lost} and (types == leaves) <= (not found.lost)

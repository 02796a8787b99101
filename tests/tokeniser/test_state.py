"""A tokeniser's name follows its types, merges and preprocessing, and nothing else."""

import json

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from small import small_reference, small_tokeniser
from strategies import MERGES

from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import EditError
from morphgraph.refine.rebpe import ReBPESettings, preview_annealing
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.segmenter import method_on
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

PRE = {"type": "Whitespace"}


def everything(tokeniser):
    """The oracle: types with their ids in the file, merges with ranks, and the rest of the file."""
    graph, text = tokeniser.graph, tokeniser.types
    merges = (graph.merge(number) for number in graph.merge_ids())
    rest = {**tokeniser.document, "model": {**tokeniser.document["model"]}}
    for key in ("vocab", "merges"):
        del rest["model"][key]
    return (
        {text[number]: tokeniser.vocabulary_id(number) for number in graph.type_ids()},
        [(m.rank, [text[part] for part in m.parts], text[m.result]) for m in merges],
        json.dumps(rest, sort_keys=True),
    )


@examples(100)
@given(st.lists(MERGES, min_size=1, max_size=2), st.data())
def test_equal_if_and_only_if_everything_is(lists, data):
    found = []
    for merges in lists:
        made = small_tokeniser(list(dict.fromkeys(merges)), "abc")
        document = json.loads(json.dumps(made.document))
        if data.draw(st.booleans()):
            document["pre_tokenizer"] = PRE
        if data.draw(st.booleans()):  # as a file that lists its types with other ids
            limit = len(document["model"]["vocab"])
            vocab = {text: limit - id_ for text, id_ in document["model"]["vocab"].items()}
            document["model"]["vocab"] = vocab
        made = from_tokenizer_json(json.dumps(document).encode(), data.draw(st.text("xy")))
        for tokeniser in (made, made.fork(), made.copy()):
            for _ in range(data.draw(st.integers(0, 3))):
                types = [tokeniser.types[n] for n in tokeniser.graph.type_ids()]
                try:
                    if data.draw(st.booleans()):
                        tokeniser.graph.knockout([data.draw(st.sampled_from(types))])
                    else:
                        tokeniser.graph.anneal(
                            [data.draw(st.tuples(*[st.sampled_from(types)] * 2))]
                        )
                    if data.draw(st.booleans()):
                        tokeniser.graph.undo()
                except EditError:
                    pass
                found.append((tokeniser.state, everything(tokeniser)))
            found.append((tokeniser.state, everything(tokeniser)))
            is_as_loaded = everything(tokeniser) == everything(tokeniser.fork())
            assert tokeniser.is_edited == ("+" in tokeniser.signature()) == (not is_as_loaded)
    for one, all_of_one in found:
        for other, all_of_other in found:
            assert (one == other) == (all_of_one == all_of_other)


CHANGING = ["_forward", "_backward", "_enter", "_edit", "_forget_old_parts", "_know"]


@pytest.fixture
def study():
    tokeniser = small_tokeniser([("a", "b"), ("ab", "c"), ("ab", "d"), ("abc", "abd")], "abcd")
    reference = small_reference("ab c", "abd", "abc x", "abc abd")
    return Study(tokeniser, Benchmark.build(tokeniser, reference))


def previews(study):
    graph, tokeniser = study.graph, study.tokeniser
    return [
        study.preview(["ab"]).after,
        study.preview(["ab"], cascade=True).changed_words,
        study.preview(["abc", "abd"]).change,
        preview_annealing(tokeniser, study.benchmark, ReBPESettings(minimum_good=1)),
        graph.preview_anneal([("c", "d")], ["z"]),
        graph.after(graph.preview_knockout(["abc"])).merge_ids(),
        [state.state for state in graph.states_back()],
        [state.merge_ids() for state in graph.states_onward()],
        graph.earlier(1).type_ids(),
        study.before_last.scores,
        study.f1_after_edits(),
    ]


def test_no_preview_changes_the_graph_that_others_read(study, monkeypatch):
    study.graph.knockout(["abcabd"])
    shared, original = study.graph, {name: getattr(MergeGraph, name) for name in CHANGING}

    def guarded(name):
        def change(graph, *args, **settings):
            assert graph is not shared, f"{name} of the graph that others read"
            return original[name](graph, *args, **settings)

        return change

    for name in CHANGING:
        monkeypatch.setattr(MergeGraph, name, guarded(name))
    assert len(previews(study)) == 11


def test_a_method_has_the_name_of_its_parameters_and_of_what_it_is_made_on():
    tokeniser = small_tokeniser([("u", "n"), ("un", "d")])

    def made():
        methods = [("bpe", {}), ("dropout", {"p": 0.1}), ("dropout", {"p": 0.2}), ("flota", {})]
        made_on = [method_on(tokeniser, name, settings) for name, settings in methods]
        return [segmenter.state for segmenter in made_on]

    first = made()
    assert len(set(first)) == 4
    assert made() == first
    tokeniser.graph.knockout(["und"])
    assert not set(made()) & set(first)
    tokeniser.graph.undo()
    assert made() == first


def test_a_vocabulary_has_the_name_of_its_content():
    first = SubwordVocabulary(("un", "##do", "do"), "##", name="one")
    assert first.state == SubwordVocabulary(("un", "##do", "do"), "##", name="two").state
    others = [
        SubwordVocabulary(("un", "do", "##do"), "##"),
        SubwordVocabulary(("un", "##do", "do"), ""),
        SubwordVocabulary(("un", "##do", "do"), "##", scores=(-1.0, -2.0, -3.0)),
        SubwordVocabulary(("un", "##do", "do"), "##", unknown="un"),
        SubwordVocabulary(("un", "##do", "do"), "##", file_ids=(5, 6, 7)),
    ]
    assert len({first.state, *(other.state for other in others)}) == 6

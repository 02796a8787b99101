"""Every method has one entry, and what is said of it anywhere comes from there."""

import inspect
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest
from refusals import refused

import morphgraph as mg
from morphgraph.cli import refining
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.plugins import installed
from morphgraph.formats.loading import load_tokeniser
from morphgraph.score.gold_set import SHARE_KEPT
from morphgraph.segment.method import METHODS, Method, Methods, method_named
from morphgraph.segment.models import export_segmenter, write_model
from morphgraph.segment.segmenter import method_on, segmenter_of
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tokeniser.vocabulary import SubwordVocabulary


def test_what_is_listed_is_what_methods_say():
    for listed in installed().select(group="morphgraph.methods"):
        assert listed.extras == METHODS[listed.name].abilities, listed.name
    needs = {METHODS[name].needs for name in (*METHODS.offered, *METHODS.learning)}
    assert needs == {"merges", "vocabulary", "segmenter", "gold"}


@pytest.mark.parametrize(
    "use",
    [
        lambda name: method_named(name, METHODS.learning),
        lambda name: mg.load("demo:en").method(name),
        lambda name: segmenter_of({"method": name}),
    ],
)
def test_a_listed_method_that_cannot_be_loaded_is_none(use, monkeypatch):
    broken = EntryPoint("absent", "no_such_module:A [segments, learns]", "morphgraph.methods")
    monkeypatch.setitem(METHODS._known, "absent", broken)
    with (
        pytest.warns(UserWarning, match="absent .* is left out"),
        pytest.raises(MorphGraphError) as caught,
    ):
        use("absent")
    assert str(caught.value).count("absent") == 1, "it is not among those to choose from"


def methods_with(*entries):
    """A registry with these entry points alone."""
    methods = Methods("morphgraph.methods", Method)
    points = [EntryPoint(name, value, "morphgraph.methods") for name, value in entries]
    methods.__dict__["_known"] = {point.name: point for point in points}
    return methods


def test_a_word_in_brackets_that_says_nothing_is_not_believed():
    methods = methods_with(("greedy", "morphgraph.segment.wordpiece:GREEDY [segment]"))
    assert methods.segmenting == methods.offered == ["greedy"]


def test_a_method_has_one_name():
    """What is saved under one name could not be opened by another."""
    with pytest.raises(ValueError, match="calls it “greedy”, not “mine”"):
        methods_with(("mine", "morphgraph.segment.wordpiece:GREEDY"))["mine"]


def test_a_method_on_a_segmenter():
    """What it is made of is found below whatever is given."""
    bert = SubwordVocabulary(("un", "##do", "##d", "##o", "[UNK]"), "##", unknown="[UNK]")
    greedy, bpe = Greedy(bert), method_on(load_tokeniser("demo:en"), "bpe")
    assert method_on(greedy, "flota", {"k": 1}).signature().startswith("FLOTA(k=1):vocabulary@")
    assert method_on(bpe, "flota").name == "FLOTA"
    assert (
        method_on(method_on(greedy, "first"), "longest")
        .signature()
        .startswith("LONGEST(k=2):Greedy:")
    )
    assert method_on(method_on(bpe, "dropout"), "bpe").signature() == bpe.signature()
    with refused():
        method_on(greedy, "dropout")


def test_what_a_method_answers_for_what_it_stands_on():
    tokeniser = load_tokeniser("demo:en")
    bpe, dropout, flota, first = (
        method_on(tokeniser, name) for name in ("bpe", "dropout", "flota", "first")
    )
    assert bpe.editable is bpe.tokeniser is dropout.tokeniser is tokeniser
    assert dropout.editable is flota.editable is flota.tokeniser is first.tokeniser is None
    assert flota.vocabulary is not None and bpe.vocabulary is None
    assert [one.is_random for one in (bpe, dropout, flota, first)] == [False, True, False, False]
    assert dropout.undrawn.signature() == bpe.signature() and first.undrawn is first
    words = bpe.encode(["undoing"])
    assert len(first.samples(words, 3)) == len(dropout.samples(words, 3)) == 3
    seeds = [one.parameters["seed"] for one in dropout.reseeded(2)]
    assert (seeds, bpe.reseeded(2)) == ([1, 2], ())
    inventories = [one.inventory() for one in (bpe, dropout, first)]
    assert inventories[0] == inventories[1] == inventories[2]
    assert bpe.unreachable(inventories[0]) == dropout.unreachable(inventories[0])


def test_copies_of_a_tokeniser_have_one_vocabulary_until_an_edit():
    tokeniser = load_tokeniser("demo:en")
    first = method_on(tokeniser, "flota")
    copied = tokeniser.copy()
    second = method_on(copied, "greedy")
    assert second.vocabulary is first.vocabulary
    gone = next(text for text in copied.types if copied.graph.is_removable(copied.graph.ids[text]))
    copied.graph.knockout([gone])
    third = method_on(copied, "greedy")
    assert first.vocabulary and third.vocabulary
    assert set(first.vocabulary.types) - set(third.vocabulary.types) == {gone}
    copied.graph.undo()
    fourth = method_on(copied, "greedy")
    assert fourth.vocabulary and gone in fourth.vocabulary.types


def test_what_only_inherits_how_to_save_itself_is_not_saved_as_another():
    from morphgraph.segment.bte import Bte

    class Inherits(Bte):
        pass

    with refused():
        write_model(Inherits(load_tokeniser("demo:en")))


def test_what_has_no_plain_twin_is_not_exported(monkeypatch):
    made = method_on(load_tokeniser("demo:en"), "dropout")
    monkeypatch.setitem(METHODS, "dropout", replace(METHODS["dropout"], standalone=""))
    with refused():
        export_segmenter(made, ["un"])


@pytest.mark.parametrize("name", ["knockout", "rebpe"])
def test_the_options_of_a_command_have_the_defaults_of_its_settings(name):
    fields = METHODS[name].fields
    command = inspect.signature(getattr(refining, name))
    shared = {key: option for key, option in command.parameters.items() if key in fields}
    assert {"threshold", "portable"} < {*shared}, "the others are given by --set"
    defaults = {key: option.default for key, option in shared.items()}
    assert defaults == {key: fields[key].default for key in shared}
    assert command.parameters["holdout"].default == SHARE_KEPT

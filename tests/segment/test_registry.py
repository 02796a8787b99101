"""Every method has one entry, and what is said of it anywhere comes from there."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from morphgraph.core.errors import MorphGraphError
from morphgraph.refine.registry import EVERY_METHOD, LEARNERS, offered
from morphgraph.segment.models import export_segmenter, write_model
from morphgraph.segment.registry import METHODS, leaving, method_on, standard_segmenter
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.loading import load_tokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.train.trainers import TRAINERS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", list(EVERY_METHOD))
def test_an_entry_is_whole(name: str) -> None:
    method = EVERY_METHOD[name]
    assert method.name == name
    assert method.title and method.source
    assert method.does.endswith(".")
    assert (method.kind is None) == (name in LEARNERS)
    assert getattr(method.kind, "method", name) == name
    assert all(field.description for field in method.fields.values())
    assert dict(method.settings({})) == {n: field.default for n, field in method.fields.items()}


def test_what_is_offered_on_any_tokeniser() -> None:
    assert [*METHODS.offered, "knockout", "rebpe"] == offered()
    needs = {EVERY_METHOD[name].needs for name in offered()}
    assert needs == {"merges", "vocabulary", "segmenter", "gold"}
    for trainer in TRAINERS.values():
        assert trainer.name in METHODS or trainer.title


def test_a_method_on_a_segmenter() -> None:
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
    with pytest.raises(MorphGraphError, match="needs a tokeniser of merges alone, which Greedy"):
        method_on(greedy, "dropout")


def test_copies_of_a_tokeniser_have_one_vocabulary_until_an_edit() -> None:
    tokeniser = load_tokeniser("demo:en")
    first: Any = method_on(tokeniser, "flota")
    copied = tokeniser.copy()
    second: Any = method_on(copied, "greedy")
    assert second.vocabulary is first.vocabulary
    gone = next(text for text in copied.types if copied.graph.is_removable(copied.graph.ids[text]))
    copied.graph.knockout([gone])
    third: Any = method_on(copied, "greedy")
    assert set(first.vocabulary.types) - set(third.vocabulary.types) == {gone}
    copied.graph.undo()
    fourth: Any = method_on(copied, "greedy")
    assert gone in fourth.vocabulary.types


def test_how_a_vocabulary_segments_by_itself() -> None:
    types = ("un", "do", "[UNK]")
    assert isinstance(standard_segmenter(SubwordVocabulary(types)), Greedy)
    found = standard_segmenter(SubwordVocabulary(types, "##"))
    assert isinstance(found, WordPiece) and found.unknown == "[UNK]"
    scored = SubwordVocabulary(types, scores=(-1.0, -2.0, -3.0))
    assert isinstance(standard_segmenter(scored), Unigram)


def test_what_only_inherits_how_to_save_itself_is_not_saved_as_another() -> None:
    from morphgraph.segment.bte import Bte

    class Inherits(Bte):
        pass

    with pytest.raises(MorphGraphError, match="cannot be saved"):
        write_model(Inherits(load_tokeniser("demo:en")))


def test_a_method_is_exported_as_its_entry_says(monkeypatch: pytest.MonkeyPatch) -> None:
    made = method_on(load_tokeniser("demo:en"), "dropout")
    none = replace(METHODS["dropout"], export=None)
    monkeypatch.setitem(METHODS, "dropout", none)  # type: ignore[misc]
    with pytest.raises(MorphGraphError, match="BPE-dropout cannot be exported"):
        export_segmenter(made, ["un"])
    entry = replace(none, export=lambda given, unchanged: (given, unchanged))
    monkeypatch.setitem(METHODS, "dropout", entry)  # type: ignore[misc]
    assert leaving(made) == (made, False)
    assert leaving(made, unchanged=True) == (made, True)


def test_every_method_leaves() -> None:
    assert [name for name, entry in METHODS.items() if entry.export is None] == []


@pytest.mark.parametrize("name", ["knockout", "rebpe"])
def test_the_options_of_a_command_have_the_defaults_of_its_settings(name: str) -> None:
    fields = EVERY_METHOD[name].fields
    command = inspect.signature(getattr(import_module(f"morphgraph.cli.{name}"), name))
    shared = {key: option for key, option in command.parameters.items() if key in fields}
    assert {*fields} == {*shared}
    assert {key: option.default for key, option in shared.items()} == {
        key: field.default for key, field in fields.items()
    }


def test_the_command_that_trains_names_all_ways_to(morphgraph: Callable[..., Any]) -> None:
    shown = " ".join(morphgraph("train", "--help").out.replace("│", " ").split())
    assert all(name in shown for name in TRAINERS)


def make_api() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["remedies.md", "training.md"])
def test_the_tables_of_the_docs_are_those_of_the_registries(page: str) -> None:
    """Written by ``python docs/make_api.py``."""
    module = make_api()
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text == module.with_table(text, module.TABLES[page]())

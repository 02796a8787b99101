"""The comparison page: words, methods, filters and details."""

from concurrent.futures import wait
from threading import Event
from typing import Any

import pytest

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import percent
from morphgraph.refine import ReBPESettings
from morphgraph.refine.learning import Entrant, Learner, learn_and_score
from morphgraph.score.comparison import Comparison
from morphgraph.score.table import ScoreTable
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on
from morphgraph.tables.model import HELD_IN
from morphgraph.tokeniser.preprocess import shown_token
from tests.pages.conftest import as_read

pytestmark = pytest.mark.slow


def rows(app: Any) -> list[dict[str, Any]]:
    """The rows that the table was given."""
    listed: list[dict[str, Any]] = app.component("comparison")["rows"]
    return listed


def methods(app: Any, *names: str) -> Any:
    return app.set("multiselect", "Methods", list(names))


def type_words(app: Any, text: str) -> Any:
    return app.set("text_input", "Words", text)


def draw(app: Any, how: str) -> Any:
    """Ask for words of the reference, drawn like this."""
    return app.set("radio", "Draw those", how)


def heads(app: Any) -> list[str]:
    """What stands above the columns, and opens their settings."""
    labels = [block.proto.popover.label for block in app.test.get("popover")]
    return [label for label in labels if label.startswith("**")]


@pytest.fixture
def compare(app: Any) -> Any:
    """The page with methods that need no training."""
    app.test.query_params["methods"] = "bpe,dropout,flota,greedy"
    app.open("compare")
    return app


def test_the_figures_are_of_all_words_whatever_is_shown(compare: Any) -> None:
    study = compare.session.study
    entries = study.benchmark.reference.entries
    made = method_on(study.tokeniser, "flota")
    gold = [entry.morphs for entry in entries]
    whole = Comparison([made], [entry.word for entry in entries], gold).scores
    shown = compare.test.dataframe[0].value["F1 % ↑"].str.split(n=1).str[0]
    assert shown[2] == percent(whole.of(0, ["f1"])["f1"].value)
    assert compare.metrics()["F1 %"][0] == shown[0], "as in the bar"
    before = heads(compare)
    compare.set("toggle", "Only where methods disagree", True)
    draw(compare, "at random")
    assert heads(compare) == before
    assert heads(type_words(compare, "undesirable unhappily")) == before
    said = [as_read(text.value) for text in compare.test.markdown]
    assert f"**2 words**, F1 on all {len(study.benchmark.numbers)} words" in said


@pytest.mark.parametrize("how", ["most boundary errors", "methods disagree most"])
def test_an_edit_leaves_the_rows(compare: Any, how: str) -> None:
    draw(compare, how)
    before = rows(compare)
    compare.graph.knockout(["ia", "al", "ers"])
    after = rows(compare.run())
    assert [row["text"] for row in after] == [row["text"] for row in before]
    assert all(len(row["cells"]) == 5 for row in after), "with what was before the edits"
    assert [row["cells"][0] for row in after] == [row["cells"][0] for row in before]
    assert [row["cells"][1] for row in after] != [row["cells"][0] for row in before]


def test_typed_words_and_sentences(compare: Any) -> None:
    type_words(compare, "undesirable unhappily undesirable zzz")
    assert [row["text"] for row in rows(compare)] == ["undesirable", "unhappily", "zzz"]
    compare.set("text_area", "Texts, one a line", "undesirable unhappily\n\n a cat")
    assert [row["text"] for row in rows(compare)] == ["undesirable unhappily", "a cat"]
    # Words of the reference take the place of both.
    draw(compare, "at random")
    assert len(rows(compare)) == 50


def test_every_method_is_what_the_library_makes(compare: Any) -> None:
    type_words(compare, "undesirable antiaircraft")
    methods(compare, *METHODS.offered)
    tokeniser = compare.session.study.tokeniser
    for number, name in enumerate(METHODS.offered):
        if METHODS[name].counts or name == "dropout":
            continue
        segmenter = method_on(tokeniser, name)
        words = segmenter.encode(["undesirable", "antiaircraft"])
        segmentation = segmenter.segment(words)
        for word, row in enumerate(rows(compare)):
            tokens = [
                shown_token(segmenter.token_text(words, atom, token))
                for atom, token in segmentation.token_ends(word)
            ]
            assert row["cells"][number]["tokens"] == " ".join(map(shown_token, tokens))


def test_hostile_addresses_are_harmless(app: Any) -> None:
    app.test.query_params["methods"] = "dropout(p=99),<script>,flota(k=nan),greedy(q=1)"
    app.test.query_params["words"] = "<script>alert(1)</script>"
    app.open("compare")
    assert [row["text"] for row in rows(app)] == ["<script>alert(1)</script>"]
    type_words(app, "")
    assert len(rows(app)) == 50


def test_what_cannot_be_trained_is_a_message_and_what_is_stopped_leaves(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise MorphGraphError("There is no room for it.")

    monkeypatch.setattr("web.choosing.train", refused)
    app.test.query_params["methods"] = "bpe,picky(threshold=0.77),rebpe(threshold=0.45)"
    app.open("compare")
    for _ in range(10):  # the message, then what comes after it
        wait([work for _, work in app.test.session_state["worker beside"].known.values()])
        app.run()
    assert "There is no room for it." in app.warnings()
    assert list(app.test.dataframe[0].value["Tokeniser"]) == ["BPE", "ReBPE (threshold=0.45)"]
    app.test.button(key="compare drop picky").click()
    assert app.run().warnings() == []

    asked = Event()

    def slow(*_: Any, progress: Any, **__: Any) -> Any:
        while True:
            progress(0.5)
            asked.set()

    monkeypatch.setattr("web.choosing.train", slow)
    methods(app, "bpe", "picky")
    assert asked.wait(60)
    assert len(rows(app.run())[0]["cells"]) == 2
    app.test.button(key="stop waiting beside").click()
    assert app.run().find("multiselect", "Methods").value == ["bpe"]
    assert len(rows(app)[0]["cells"]) == 1


def test_the_address_holds_what_is_compared(compare: Any) -> None:
    """Whoever opens that address sees the same."""

    def opened(*names: str) -> Any:
        other = type(compare)()
        for name in names:
            other.test.query_params[name] = compare.address[name]
        return other.open("compare")

    compare.choose("Demo", "de")
    other = opened("methods", "demo")
    assert other.session.language == "de"
    assert rows(other) == rows(compare)
    # Whoever chooses another demo then stays with it.
    assert other.choose("Demo", "nl").session.language == "nl"
    type_words(compare, "undo redo")
    methods(compare, "bpe", "dropout")
    compare.set("number_input", "p", 0.4)
    assert compare.address["methods"] == "bpe,dropout(p=0.4,seed=0)"
    assert compare.address["words"] == "undo redo"
    assert rows(opened("words", "methods", "demo")) == rows(compare)


def test_what_learns_is_chosen_on_scores_too_and_cuts_words_that_it_has_not_seen(app: Any) -> None:
    methods(app.open("scores"), "bpe", "rebpe")
    app.open("compare").settle()
    assert app.find("multiselect", "Methods").value == ["bpe", "rebpe"]
    study = app.session.study
    rest, kept = study.benchmark.split()
    learner = Learner(study.tokeniser.fork(), METHODS["rebpe"], ReBPESettings())
    words = {row["text"]: row["gold"] for row in rows(app)}
    assert len(words) == 50
    assert set(words) <= set(kept.numbers)
    assert not any(row["note"] for row in rows(app))
    made = [method_on(study.tokeniser, "bpe"), learner.learn(rest)]
    found = Comparison(made, kept.texts, [entry.morphs for entry in kept])
    shown = app.test.dataframe[0].value
    f1 = shown["F1 % ↑"].str.split(n=1).str[0]
    assert list(f1) == [percent(row["f1"].value) for row in found.scores.estimates if row]
    assert list(shown["|V|"]) == [f"{one.vocabulary_size:,}" for one in found.outcomes]
    said = "\n".join(as_read(text.value) for text in app.test.markdown)
    assert f"F1 on {len(kept.numbers)} words kept aside" in said
    # On Scores all are scored on the words that it has not seen.
    table = app.open("scores").table("Tokeniser")
    [outcome] = learn_and_score([Entrant("ReBPE", made[1], made[1].tokeniser)], kept)
    assert table["F1 % ↑"][1].startswith(percent(ScoreTable([outcome]).of(0, ["f1"])["f1"].value))
    assert table["F1 % ↑"][0].startswith(f1[0])
    # A word that it learned from says so.
    taught = next(word for word in study.benchmark.numbers if word not in kept.numbers)
    type_words(app.open("compare"), f"{taught} {next(iter(words))} zzz")
    assert [row["note"] for row in rows(app)] == [HELD_IN, "", ""]
    assert not any(HELD_IN in head for head in heads(app)), "F1 stays on words kept aside"


def test_an_uploaded_model_is_chosen_at_once_and_a_broken_one_is_a_message(compare: Any) -> None:
    model = write_model(method_on(compare.session.study.tokeniser.fork(), "bpe"))
    compare.upload("Model", ("my model.json", model)).run()
    assert "model my model.json" in compare.find("multiselect", "Methods").value
    labels = list(compare.test.dataframe[0].value["Tokeniser"])
    assert labels == ["BPE", "BPE-dropout", "FLOTA", "Greedy", "my model.json"]
    compare.find("file_uploader", "Model").clear()
    compare.run().upload("Model", ("broken.json", b'{"format": "morphgraph model", "version": 1}'))
    assert any("broken.json" in message for message in compare.errors())
    assert len(rows(compare)[0]["cells"]) == 5

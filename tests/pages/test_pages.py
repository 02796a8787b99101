"""Each page with the demos, and with what is unusual: it runs, and its widgets do what they say."""

import pytest
from effort import one_of
from streamlit.testing.v1 import AppTest
from superbpe import superbpe_json
from tokenizers import Tokenizer

from morphgraph.core.files import DEMOS
from tests.pages.conftest import PAGES, ROOT
from web.idle import prepare_next_pages


@pytest.mark.slow
@pytest.mark.parametrize("language", one_of("de", "en", "nl"))
def test_every_page_runs_with_every_demo(app, language):
    app.choose("Demo", language)
    assert app.session.language == language
    for page in PAGES:
        labels = [block.proto.popover.label for block in app.open(page).test.get("popover")]
        assert f"**{DEMOS[language]} 8k**" in labels
    metrics = app.open("start").metrics()
    assert list(metrics) == ["F1 %", "Precision %", "Recall %", "Types"]
    assert metrics.pop("Types") == ("8,000", "")
    assert all(0 < float(value) < 100 and not delta for value, delta in metrics.values())


@pytest.mark.slow
def test_every_page_shows_types_of_several_words(app):
    app.upload("", ("super.json", superbpe_json()))
    app.session.use_frequencies({"the": 9.0, "undoing": 4.0, "houses": 3.0}, "small.tsv")
    for page in PAGES:
        assert app.open(page).errors() == []
    app.open("start")
    app.put(f"text {app.session.study_number}", "of the house\nin a lot of the 1")
    first, second = app.component("word_text")["lines"]
    theirs = Tokenizer.from_str(superbpe_json().decode())
    for line, text in ((first, " of the house"), (second, " in a lot of the 1")):
        shown = ["".join(token["segments"]) for token in line["tokens"]]
        assert shown == [t.replace("Ġ", "␣") for t in theirs.encode(text).tokens]


def test_knock_out_undo_and_redo(app):
    before = app.metrics()
    assert app.find("button", "Undo").disabled
    app.press("Knock out")
    after = app.metrics()
    assert after["Types"] == ("7,999", "-1")
    value, delta = after["F1 %"]
    assert value != before["F1 %"][0]
    assert delta == f"{float(value) - float(before['F1 %'][0]):+.2f}"
    made = f"1 edit made, 1 in all: F1 {before['F1 %'][0]} → {value}\xa0% · "
    assert said_of_edits(app).startswith(made)
    assert "Undo an edit: 1 to undo" in [button.help for button in app.test.button]
    app.press("Undo")
    assert {name: app.metrics()[name] for name in before} == before
    undone = f"1 edit undone, 0 in all: F1 {value} → {before['F1 %'][0]}\xa0%"
    assert said_of_edits(app) == undone
    app.remedy("blame")
    assert said_of_edits(app) == undone
    app.press("Redo")
    assert app.open("start").metrics() == after
    app.remedy("blame")
    first = app.f1  # of the words kept aside
    assert first != value
    app.knock_out_all()
    assert said_of_edits(app).startswith(f"1 edit made, 2 in all: F1 {first} → {app.f1}")
    app.choose("Demo", "de")
    assert said_of_edits(app) == ""


def said_of_edits(app):
    """What a screen reader is told of the last edits."""
    return app.component("speaking")["said"]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["repair", "build", "compare"])
def test_a_page_can_be_the_first_of_a_session(state_folder, page):
    """A deep link: the page itself comes first, without the start page."""
    test = AppTest.from_file(ROOT / "app.py", default_timeout=60).switch_page(PAGES[page]).run()
    assert not test.exception
    assert test.session_state["morphgraph session"].language == "en"


def test_what_the_next_pages_show_first_is_computed_before(app, monkeypatch):
    current = app.session
    current.chosen = ["bpe", "dropout", "flota"]  # others are made beside the page
    monkeypatch.setattr("web.idle._PAUSE", 60.0)
    prepare_next_pages(current)
    called_off = current.idle
    monkeypatch.setattr("web.idle._PAUSE", 0.0)
    prepare_next_pages(current)
    called_off.join(10)
    current.idle.join(300)
    assert called_off.finished.is_set() and current.prepared == current.study_number

    def computed(*_):
        raise AssertionError("it is known")

    with monkeypatch.context() as patch:
        patch.setattr("web.repair.blame.threshold_curve", computed)
        patch.setattr("web.compare.figures.learn_and_score", computed)
        app.remedy("blame").open("compare")
    assert len(app.component("comparison")["figures"][0]["cells"]) == 3
    current.idle = None
    app.graph.knockout(["ies"])  # an edited one is not guessed at
    prepare_next_pages(current)
    app.graph.undo()
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")
    current.prepared = 0
    prepare_next_pages(current)
    assert current.idle is None


@pytest.fixture
def without(app):
    """The app with the English demo's tokeniser, after a click on the way without gold."""
    return app.opening().press("Continue without gold")


def test_every_page_has_its_content_or_the_ways_to_go_on(without):
    assert without.session.study.tokeniser.name == "demo:en"
    assert "Blame, scores and ReBPE need a reference" in without.said()
    assert without.metrics()["F1 %"][0] == "–"
    for page in PAGES:
        without.open(page)
        assert page != "repair" or "Knock out by blame needs" in without.said()
        assert "n/a" not in without.said()
        labels = {metric.label for metric in without.test.metric}
        assert not labels & {"joins", "wrong", "blame", "F1"}


def test_an_edit_says_what_changes_and_not_whether_it_is_better(without):
    without.open("start").press("Knock out")
    [words] = without.component("word_rows")["groups"]
    study = without.session.study
    changed = study.now.segmentation.changed_words(study.start.segmentation)
    assert words["count"] == str(len(changed)) != "0"
    assert all(row["gain"] == 0 and row["gold"] == "" for row in words["rows"])
    assert f"{len(changed)} common words change" in without.said()
    assert "F1" not in without.said()
    without.open("history")
    assert not [b for b in without.test.button if "F1" in b.label]
    without.open("start")
    without.session.open_demo("en")
    without.run()
    assert len(without.graph.history) == 1
    assert float(without.metrics()["F1 %"][0]) > 0


def test_silver_is_made_and_opened(without, monkeypatch):
    monkeypatch.setattr("web.views.without_gold.SILVER_WORDS", 60)
    without.open("repair").press("Make it")
    reference = without.session.study.benchmark.reference
    assert reference.is_silver and len(reference) == 60
    assert reference.name == "English.tsv (silver)"
    assert float(without.metrics()["F1 %"][0]) > 0

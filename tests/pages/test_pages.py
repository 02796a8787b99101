"""Each page with the demos: it runs, and its widgets do what they say."""

from itertools import pairwise
from pathlib import Path

import pytest
from effort import one_of
from streamlit.testing.v1 import AppTest

from morphgraph.core.files import DEMOS
from morphgraph.core.text import percent
from morphgraph.tokeniser.merging import segment
from tests.pages.conftest import PAGES
from web.idle import prepare_next_pages

ROOT = Path(__file__).resolve().parents[2]
EVERY_PAGE = ["start", *PAGES]


@pytest.mark.slow
@pytest.mark.parametrize("language", one_of("de", "en", "nl"))
def test_every_page_runs_with_every_demo(app, language):
    if language != "en":
        app.choose("Demo", language)
    assert app.session.language == language
    for page in EVERY_PAGE:
        labels = [block.proto.popover.label for block in app.open(page).test.get("popover")]
        assert f"**{DEMOS[language]} 8k**" in labels
    app.open("start")
    metrics = app.metrics()
    assert list(metrics) == ["F1 %", "Precision %", "Recall %", "Types"]
    for name in ("Precision %", "Recall %", "F1 %"):
        value, delta = metrics[name]
        assert 0 < float(value) < 100
        assert delta == ""
    assert metrics["Types"][0] == "8,000"


def test_knock_out_undo_and_redo(app):
    before = app.metrics()
    assert not any(button.label == "Undo" and not button.disabled for button in app.test.button)
    app.press("Knock out")
    after = app.metrics()
    assert after["Types"] == ("7,999", "-1")
    value, delta = after["F1 %"]
    assert value != before["F1 %"][0]
    assert delta == f"{float(value) - float(before['F1 %'][0]):+.2f}"
    assert said_of_edits(app).startswith(
        f"1 edit made, 1 in all: F1 {before['F1 %'][0]} → {value}\xa0% · "
    )
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
    [knock_out_all] = [b.label for b in app.test.button if b.label.startswith("Knock out ")]
    app.press(knock_out_all)
    assert said_of_edits(app).startswith(f"1 edit made, 2 in all: F1 {first} → {app.f1}")
    app.choose("Demo", "de")
    assert said_of_edits(app) == ""


def test_the_drawer_lists_edits_with_their_gain_and_goes_to_each(app):
    assert "Nothing is edited yet" in app.open("history").captions()
    app.open("start").press("Knock out")
    app.remedy("blame").press(
        next(b.label for b in app.test.button if b.label.startswith("Knock out "))
    )
    study = app.session.study
    _, kept = study.benchmark.split()
    f1 = [kept.scores(segment(graph, kept.words))[0].f1 for graph in app.graph.states_onward()]
    app.open("history")
    assert f"F1 in %, all on the {len(kept)} words kept aside." in app.captions()
    assert [row[3] for row in app.edits] == [percent(value) for value in f1]
    gains = [float(row[2]) for row in app.edits[1:]]
    assert gains == pytest.approx([100 * (b - a) for a, b in pairwise(f1)], abs=0.006)
    # Nothing is learned any more: over all words, those of the undone edit as they were seen last.
    app.test.button(key="edit 1 done").click()
    app.run()
    assert [row[0] for row in app.edits] == ["done", "now", "undone"]
    start, now = (study.score(edits=edits).f1 for edits in (0, 1))
    assert [row[3] for row in app.edits] == [percent(start), percent(now), "n/a"]
    app.test.button(key="edit 2 undone").click()
    assert len(app.run().graph.history) == 2


def said_of_edits(app):
    """What a screen reader is told of the last edits."""
    return app.component("speaking")["said"]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_the_first_of_a_session(page):
    """A deep link: the page itself comes first, without the start page."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    test = app.switch_page(PAGES[page]).run()
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

"""What figures are over: all words, until something is learned; then those kept aside."""

import pytest

from morphgraph.core.text import percent
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import write_model

pytestmark = pytest.mark.slow

SHARE = "Share of words kept aside"


def knock_out_all(app):
    [label] = [name for name in app.buttons() if name.startswith("Knock out ")]
    return app.press(label)


def tape(app):
    """The F1 of each edit, and what is said of it."""
    data = app.open("repair").component("tape")
    return [point["f1"] for point in data["points"]], data["title"]


def test_all_words_until_something_is_learned_and_again_after_undo(app):
    study = app.session.study
    everything = percent(study.score().f1)
    assert (app.f1, app.scored) == (everything, "")
    app.open("start").press("Knock out")
    assert app.scored == "", "an edit by hand learns nothing"
    by_hand = app.f1
    assert app.open("compare").scored == ""
    for remedy in ("blame", "rebpe"):
        assert app.remedy(remedy).scored == "on 188 words kept aside"
    knock_out_all(app.remedy("blame"))
    learned = app.f1
    of_rest = percent(study.score(study.benchmark.split()[0].parts[-1]).f1)
    for page in ("start", "types", "compare", "history"):
        app.open(page)
        assert (app.f1, app.scored) == (learned, "on 188 words kept aside")
        assert f"F1 {of_rest} on the words learned from." in app.captions()
    app.press("Undo")
    assert (app.f1, app.scored) == (by_hand, "")
    app.press("Undo")
    assert (app.f1, app.scored) == (everything, "")
    assert app.press("Redo").press("Redo").f1 == learned


def test_a_reload_keeps_what_is_kept_aside(app, cookies, open_app):
    app.remedy("rebpe").set("number_input", SHARE, 0.5).press("Run")
    phases, store = app.session.run.phases, app.session.store
    found = tape(app)
    cookies |= {"morphgraph": store.token, "morphgraph-tab": store.tab}
    again = open_app()
    assert (again.f1, again.scored) == (app.f1, app.scored)
    _, kept = app.session.study.benchmark.split(0.5)
    assert again.scored == f"on {len(kept)} words kept aside"
    assert [phase.score for phase in again.remedy("rebpe").session.run.phases] == [
        phase.score for phase in phases
    ]
    assert again.f1 == app.f1
    assert tape(again) == found


def test_a_saved_tokeniser_says_what_it_has_learned_from(app, open_app):
    knock_out_all(app.remedy("blame").set("number_input", SHARE, 0.5))
    saved = write_model(Bte(app.session.study.tokeniser))
    again = open_app().upload("", ("mine.json", saved))
    assert not again.graph.history
    assert (again.f1, again.scored) == (app.f1, app.scored)
    # What is learned on top keeps the same words aside.
    again.remedy("blame")
    assert again.find("number_input", SHARE).disabled
    knock_out_all(again.put("threshold", 0.3))
    assert again.scored == app.scored
    assert again.session.study.graph.history[0].step["learned"][0]["parts"] == [
        ["rest", 0.5, 0, "families"]
    ]


def test_previews_are_over_the_words_of_the_bar(app):
    knock_out_all(app.remedy("blame").put("threshold", 0.9))
    before, blamed = app.f1, app.session.study.blame()
    app.session.selected = int(blamed.arrays.results[blamed.order[0]])
    app.open("start")
    [said] = [m.value for m in app.test.markdown if "**F1 " in m.value and " → " in m.value]
    app.press("Knock out")
    assert f"F1 {before} → {app.f1}" in said

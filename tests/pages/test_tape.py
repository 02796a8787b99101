"""What figures are over, and the tape of F1: all words, until something is learned."""

from itertools import pairwise

import pytest

from morphgraph.core.text import in_percent, percent
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import write_model
from morphgraph.tokeniser.merging import segment
from web.copies import MOST_COPIES, copies_of
from web.edits import go_to_edit

pytestmark = pytest.mark.slow

SHARE = "Share of words kept aside"


def test_all_words_until_something_is_learned_and_again_after_undo(app):
    study = app.session.study
    everything = percent(study.score().f1)
    assert (app.f1, app.scored) == (everything, "")
    app.open("start").press("Knock out")
    assert app.scored == "", "an edit by hand learns nothing"
    by_hand = app.f1
    assert app.open("compare").scored == ""
    for remedy in ("rebpe", "blame"):
        assert app.remedy(remedy).scored == "on 188 words kept aside"
    learned = app.knock_out_all().f1
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


def test_a_reload_keeps_what_is_kept_aside(app, visit):
    app.remedy("rebpe").set("number_input", SHARE, 0.5).press("Run")
    phases, found = app.session.run.phases, app.open("repair").component("tape")
    again = visit(app.session.store)
    assert (again.f1, again.scored) == (app.f1, app.scored)
    _, kept = app.session.study.benchmark.split(0.5)
    assert again.scored == f"on {len(kept)} words kept aside"
    run = again.remedy("rebpe").session.run
    assert [phase.score for phase in run.phases] == [phase.score for phase in phases]
    assert again.f1 == app.f1
    shown = again.open("repair").component("tape")
    assert (shown["points"], shown["title"]) == (found["points"], found["title"])


def test_a_saved_tokeniser_says_what_it_has_learned_from(app, visit):
    app.remedy("blame").set("number_input", SHARE, 0.5).knock_out_all()
    again = visit().upload("", ("mine.json", write_model(Bte(app.session.study.tokeniser))))
    assert not again.graph.history
    assert (again.f1, again.scored) == (app.f1, app.scored)
    # What is learned on top keeps the same words aside.
    again.remedy("blame")
    assert again.find("number_input", SHARE).disabled
    again.put("threshold", 0.3).knock_out_all()
    assert again.scored == app.scored
    [learned] = again.graph.history[0].step["learned"]
    assert learned["parts"] == [["rest", 0.5, 0, "families"]]


def test_previews_are_over_the_words_of_the_bar(app):
    app.remedy("blame").put("threshold", 0.9).knock_out_all()
    before, blamed = app.f1, app.session.study.blame()
    app.session.selected = int(blamed.arrays.results[blamed.order[0]])
    promised = app.open("start").said()
    app.press("Knock out")
    assert f"F1 {before} → {app.f1}" in promised


def test_each_edit_is_a_point_and_a_line_of_the_drawer_with_its_f1(app):
    assert "Nothing is edited yet" in app.open("history").captions()
    app.remedy("blame")
    assert [point["label"] for point in app.component("tape")["points"]] == ["start"]
    app.knock_out("ies", "ating").knock_out_all()
    study, data = app.session.study, app.component("tape")
    _, kept = study.benchmark.split()
    f1 = [kept.scores(segment(graph, kept.words))[0].f1 for graph in app.graph.states_onward()]
    assert [point["f1"] for point in data["points"]] == [100 * value for value in f1]
    assert data["done"] == 3
    number = f"{len(app.knocked_out[-1]):,}"
    labels = [point["label"] for point in data["points"]]
    assert labels == ["start", "ies", "ating", f"{number} types"]
    last = data["points"][-1]
    assert last["said"].startswith(f"knocked out {labels[-1]} · F1 {in_percent(f1[-1])} (+")
    assert data["title"].endswith(f"on {len(kept)} words kept aside")
    assert all(point["learned"] is not None for point in data["points"])
    app.open("history")
    assert f"F1 in %, all on the {len(kept)} words kept aside." in app.captions()
    assert [row[3] for row in app.edits] == [percent(value) for value in f1]
    gains = [float(row[2]) for row in app.edits[1:]]
    assert gains == pytest.approx([100 * (b - a) for a, b in pairwise(f1)], abs=0.006)
    # Nothing is learned any more: over all words, those of the undone edit as they were seen last.
    app.click("edit 2 done")
    assert [row[0] for row in app.edits] == ["done", "done", "now", "undone"]
    shown = [percent(study.score(edits=edits).f1) for edits in range(3)]
    assert [row[3] for row in app.edits] == [*shown, "n/a"]
    data = app.open("repair").component("tape")
    assert (data["done"], len(data["points"])) == (2, 4)
    assert len(app.open("history").click("edit 3 undone").graph.history) == 3


def test_what_was_undone_stays_as_a_copy_when_one_goes_another_way(app):
    app.remedy("blame").knock_out("ies", "ating")
    before = app.graph.recipe()
    go_to_edit(app.session, 1)
    app.run()
    assert not copies_of(app.session), "nothing is lost as long as it can be redone"
    app.knock_out("ers")
    assert copies_of(app.session) == {"branch with ating": before}
    # One more each time one goes back and on by another edit; the oldest goes if need be.
    for text in app.graph.types[300 : 301 + MOST_COPIES]:
        go_to_edit(app.session, 1)
        app.run().knock_out(text)
    copies = copies_of(app.session)
    assert len(copies) == MOST_COPIES
    assert "branch with ating" not in copies

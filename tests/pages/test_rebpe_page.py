"""The ReBPE page: its steps are those of the library, forth and back, and every tab shows them."""

import re
from itertools import pairwise
from typing import Any

import pytest

from morphgraph.core.text import percent
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import Phase, ReBPERun

pytestmark = pytest.mark.slow

TAB, SHOWN = "rebpe tab", "rebpe phase on show"
ITERATION = ("Next: knock out (iteration {})", "Next: reify (iteration {})")


def library_run(app: Any, share: float = 0.2, **settings: Any) -> ReBPERun:
    """A run as the page's should be, on the tokeniser as it was opened; not yet begun."""
    study = app.session.study
    rest, kept = study.benchmark.split(share)
    return ReBPERun(study.tokeniser.fork(), rest, ReBPESettings(**settings), kept)


def shown(phases: list[Phase]) -> list[Any]:
    return [(phase.iteration, phase.kind, phase.counts, phase.score) for phase in phases]


def iterate(app: Any, number: int = 1) -> Any:
    if number == 1:
        app.press("Next: anneal")
    for label in ITERATION:
        app.press(label.format(number))
    return app


def test_phase_by_phase_to_convergence(app: Any) -> None:
    app.open("rebpe")
    run = library_run(app)
    run.finish()
    expected = run.phases
    iterate(app)
    assert shown(app.session.run.phases) == shown(expected[:4])
    assert app.f1 == percent(expected[3].score.f1)
    app.press("Run to convergence")
    phases = app.session.run.phases
    assert shown(phases) == shown(expected)
    first, last = 100 * expected[0].score.f1, 100 * expected[-1].score.f1
    verdict = rf"Converged: F1 .*{first:.1f} → {last:.1f}\xa0%.*; tokens [+−][\d.]+\s?% in \d+ iter"
    assert any(re.search(verdict, text.value) for text in app.test.markdown)
    assert "Run to convergence" not in app.buttons()
    # The largest step is on show; the last phase has nothing to do.
    gains = [then.score.f1 - now.score.f1 for now, then in pairwise(phases)]
    assert app.component("run_line")["chosen"] == 1 + gains.index(max(gains))
    app.put(SHOWN, len(phases) - 1)
    assert app.test.info[0].value.endswith("nothing to change. So the run has converged.")


def test_the_line_has_a_point_a_phase_and_the_word_its_rows(app: Any) -> None:
    app.open("rebpe").press("Run to convergence")
    phases = app.session.run.phases
    given = app.component("run_line")
    assert [point["f1"] for point in given["points"]] == [100 * phase.score.f1 for phase in phases]
    assert [point["kind"] for point in given["points"]] == [phase.kind for phase in phases]
    assert "removed" in given["points"][2]["said"]
    app.put(f"rebpe word {app.session.study_number}", "antiaircraft")
    word = app.component("run_line")["word"]
    assert word["morphs"] == ["anti", "air", "craft"]
    rows = [["".join(token["segments"]) for token in row["tokens"]] for row in word["rows"]]
    assert all("".join(row) == "␣antiaircraft" for row in rows)
    assert all(one != two for one, two in pairwise(rows))
    assert [n for row in word["rows"] for n in row["phases"]] == list(range(len(phases)))
    assert [token["is_morph"] for token in word["rows"][-1]["tokens"]] == [True, True, True]


def test_to_look_at_a_phase_changes_nothing_and_undo_leads_there(app: Any) -> None:
    iterate(iterate(app.open("rebpe")), 2)
    phases = app.session.run.phases
    kinds = ["start", "anneal", "knockout", "reify", "knockout", "reify"]
    assert [phase.kind for phase in phases] == kinds
    score = app.f1
    app.put(SHOWN, 2)
    assert app.session.run.phases == phases
    assert app.f1 == score
    assert len(app.test.dataframe[0].value) == phases[2].counts["removed"]
    changed = app.test.dataframe[1].value
    assert list(changed["gain"]) == sorted(changed["gain"], reverse=True)
    app.press("Undo up to here")
    assert app.session.run.phases == phases[:3]
    assert app.f1 == percent(phases[2].score.f1)
    assert len(app.graph.history) == 2
    app.put(SHOWN, 5)
    assert "is undone" in app.test.info[0].value
    undone = [point["undone"] for point in app.component("run_line")["points"]]
    assert undone == [False] * 3 + [True] * 3
    app.press("Redo up to here")
    assert app.session.run.phases == phases
    assert "Redo up to here" not in app.buttons()
    # The undo of the bar moves the line along.
    for _ in range(4):
        app.press("Undo")
    app.press("Next: knock out (iteration 1)")
    assert app.session.run.all_phases == app.session.run.phases
    assert shown(app.session.run.phases) == shown(phases[:3])


def test_start_over_and_a_new_run(app: Any) -> None:
    iterate(app.open("rebpe"))
    edits = app.graph.recipe()
    app.press("New run from here")
    assert app.graph.recipe() == edits
    assert len(app.session.run.all_phases) == 1
    app.press("Next: anneal")
    app.press("Start over")
    assert app.graph.recipe() == edits
    app.open("start").press("Undo")
    assert len(app.graph.history) == len(edits) - 1


def test_settings_are_those_of_the_run(app: Any) -> None:
    app.open("rebpe")
    app.set("toggle", "Anneal first", False).set("number_input", "Least blame, θ", 0.7)
    app.press("Run to convergence")
    expected = library_run(app, anneal=False, threshold=0.7)
    expected.finish()
    assert shown(app.session.run.phases) == shown(expected.phases)
    labels = ("Anneal first", "Repair", "Reuse pairs")
    assert all(app.find("toggle", label).disabled for label in labels)
    # Another page and back: the same run, with the same settings.
    run = app.session.run
    app.open("blame").open("rebpe")
    assert app.session.run is run
    app.press("Start over")
    assert not app.graph.history
    assert not any(t.disabled for t in app.test.toggle)


def test_a_run_does_not_go_on_by_itself_on_another_tokeniser(app: Any) -> None:
    app.open("rebpe")
    app.session.ask("all")
    app.open("compare").choose("Demo", "de")
    app.open("rebpe")
    assert not app.graph.history
    # Nor on the same one, for who comes back to the page.
    app.session.ask("all")
    app.session.just_asked = False
    app.open("compare").open("rebpe")
    assert not app.graph.history


@pytest.mark.parametrize("press", ["Undo", "Redo"])
def test_undo_and_redo_stop_a_run(app: Any, press: str) -> None:
    app.open("rebpe").press("Next: anneal").press("Undo")
    app.session.ask("all")
    app.session.undo() if press == "Undo" else app.session.redo()
    app.run()
    assert app.session.asked == ""
    assert app.session.run.upcoming is not None

"""What happens elsewhere during a run of ReBPE: no page shows another state's numbers."""

from __future__ import annotations

from typing import Any

import pytest

from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun

pytestmark = pytest.mark.slow


def tab(app: Any, name: str) -> Any:
    app.test.session_state["rebpe tab"] = name
    return app.run()


def test_undoing_past_the_beginning_starts_anew(app: Any) -> None:
    app.graph.knockout(["Ġthe"])
    app.graph.knockout(["ing"])
    app.open("rebpe").press("Next: anneal")
    app.open("graph").press("Undo").press("Undo").press("Undo")
    assert not app.graph.history
    app.open("rebpe")
    assert app.session.run.edits_before == 0
    assert [phase.kind for phase in app.session.run.phases] == ["start"]


def test_the_start_is_that_of_the_state_the_run_begins_from(app: Any) -> None:
    app.open("rebpe")
    types = [app.graph.types[n] for n in app.graph.type_ids() if app.graph.is_removable(n)]
    app.graph.knockout(types[:100])
    app.open("rebpe")
    start = app.session.run.phases[0]
    assert start.vocabulary_size == app.session.study.tokeniser.vocabulary_size
    assert start.score == app.session.study.now.score("morphemic", "types")
    assert app.session.run.edits_before == 1
    app.press("Next: anneal").press("Start over")
    assert len(app.graph.history) == 1


def test_a_run_does_not_go_on_by_itself_on_another_tokeniser(app: Any) -> None:
    app.open("rebpe")
    app.session.ask("all")
    app.open("scores").choose("Demo", "de")
    app.open("rebpe")
    assert not app.graph.history
    # Nor on the same one, for who comes back to the page.
    app.session.ask("all")
    app.session.just_asked = False
    app.open("scores").open("rebpe")
    assert not app.graph.history


@pytest.mark.parametrize("press", ["Undo", "Redo"])
def test_undo_and_redo_stop_a_run(app: Any, press: str) -> None:
    app.open("rebpe").press("Next: anneal").press("Undo")
    app.session.ask("all")
    app.session.undo() if press == "Undo" else app.session.redo()
    app.run()
    assert app.session.asked == ""
    assert app.session.run.upcoming is not None


def test_a_linked_merge_that_was_removed_elsewhere_is_still_shown(app: Any) -> None:
    app.open("rebpe")
    for label in ("Anneal first", "Repair"):
        next(t for t in app.test.toggle if t.label == label).set_value(False)
    app.run().press("Next: knock out (iteration 1)").press("Next: reify (iteration 1)")
    phase = app.session.run.phases[-1]
    linked = [entry for entry in phase.change.reified if not entry.created]
    assert linked
    graph = app.graph
    graph.knockout([graph.types[graph.merge(linked[0].merge).result]])
    app.open("blame").open("rebpe")
    [kinds] = [c for c in app.test.segmented_control if "did" in c.label]
    kinds.set_value("linked")
    app.run()
    frame = app.test.dataframe[0].value
    assert len(frame) == phase.counts["linked"]


def test_removed_merges_show_the_blame_that_decided(app: Any) -> None:
    app.open("rebpe")
    held = next(n for n in app.test.number_input if n.label == "Words held out, %")
    held.set_value(50)
    app.run().press("Next: anneal").press("Next: knock out (iteration 1)")
    frame = app.test.dataframe[0].value
    assert len(frame) > 20
    assert (frame["blame"] >= 0.5).all()
    study = app.session.study
    run = ReBPERun(study.tokeniser.fork(), study.benchmark, ReBPESettings(holdout=0.5))
    run.step()
    phase = run.step()
    assert phase is not None
    assert sorted(phase.blame.values()) == sorted(zip(frame["joins"], frame["wrong"], strict=True))


def test_the_ablation_table_is_that_of_the_state(app: Any) -> None:
    def table() -> list[str]:
        tab(app, "Ablation")
        button = [b for b in app.test.button if b.label == "Compute the four runs"]
        if button:
            app.press("Compute the four runs")
        return list(app.test.dataframe[0].value["types"])

    app.graph.knockout(["Ġthe", "ing", "er"])
    app.open("rebpe")
    first = table()
    app.press("Undo")
    types = [app.graph.types[n] for n in app.graph.type_ids() if app.graph.is_removable(n)]
    app.graph.knockout(types[:200])
    app.open("blame").open("rebpe")
    assert table() != first

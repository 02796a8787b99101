"""The ReBPE page: its steps are those of the library, forth and back, and every tab shows them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from strategies import check_graph

from morphgraph.core.text import percent
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import Phase, ReBPERun

pytestmark = pytest.mark.slow

TAB = "rebpe tab"
ITERATION = ("Next: knock out (iteration {})", "Next: reify (iteration {})")


def library_run(app: Any, **settings: Any) -> ReBPERun:
    study = app.session.study
    run = ReBPERun(study.tokeniser.fork(), study.benchmark, ReBPESettings(**settings))
    run.finish()
    return run


def shown(phases: list[Phase]) -> list[Any]:
    return [(phase.iteration, phase.kind, phase.counts, phase.score) for phase in phases]


def tab(app: Any, name: str) -> Any:
    app.test.session_state[TAB] = name
    return app.run()


def iterate(app: Any, number: int = 1) -> Any:
    if number == 1:
        app.press("Next: anneal")
    for label in ITERATION:
        app.press(label.format(number))
    return app


def look_at(app: Any, phase: int) -> Any:
    """Choose a point of the line, as a click on it does."""
    app.test.session_state["rebpe phase on show"] = phase
    return app.run()


def test_phase_by_phase(app: Any) -> None:
    app.open("rebpe")
    expected = library_run(app).phases
    assert not app.graph.history
    app.press("Next: anneal")
    assert shown(app.session.run.phases) == shown(expected[:2])
    app.press("Next: knock out (iteration 1)")
    app.press("Next: reify (iteration 1)")
    assert shown(app.session.run.phases) == shown(expected[:4])
    assert app.metrics()["F1 %"][0] == percent(expected[3].score.f1)
    app.press("Run to convergence")
    assert shown(app.session.run.phases) == shown(expected)
    first, last = expected[0].score.f1, expected[-1].score.f1
    verdict = (
        f"Converged: F1 {100 * first:.1f} → {100 * last:.1f}\xa0% in {expected[-1].iteration} iter"
    )
    assert any(verdict in text.value for text in app.test.markdown)
    assert "Run to convergence" not in [b.label for b in app.test.button]


def test_the_line_has_a_point_a_phase_and_the_word_its_rows(app: Any) -> None:
    app.open("rebpe").press("Run to convergence")
    phases = app.session.run.phases
    given = app.component("run_line")
    assert [point["f1"] for point in given["points"]] == [100 * phase.score.f1 for phase in phases]
    assert [point["kind"] for point in given["points"]] == [phase.kind for phase in phases]
    assert "removed" in given["points"][2]["said"]
    app.test.session_state[f"rebpe word {app.session.study_number}"] = "antiaircraft"
    word = app.run().component("run_line")["word"]
    assert word["morphs"] == ["anti", "air", "craft"]
    rows = [["".join(token["segments"]) for token in row["tokens"]] for row in word["rows"]]
    assert all("".join(row) == "␣antiaircraft" for row in rows)
    assert all(one != two for one, two in pairwise(rows))
    assert [n for row in word["rows"] for n in row["phases"]] == list(range(len(phases)))
    assert [token["morph"] for token in word["rows"][-1]["tokens"]] == [True, True, True]


def test_after_a_run_the_last_phase_is_on_show(app: Any) -> None:
    app.open("rebpe").press("Run to convergence")
    phases = app.session.run.phases
    assert phases[-1].change.is_empty, "a run ends with a phase that has nothing to do"
    assert app.component("run_line")["chosen"] == len(phases) - 1
    converged = "found nothing to change. So the run has converged."
    assert app.test.info[0].value.endswith(converged)
    last = max(n for n, phase in enumerate(phases) if not phase.change.is_empty)
    look_at(app, last)
    [table] = [d for d in app.test.dataframe if "type" in d.value.columns]
    counts = phases[last].counts
    kind = next(k for k in ("removed", "split", "repaired", "linked", "created") if k in counts)
    assert len(table.value) == counts[kind]
    assert not app.test.info
    look_at(app, last + 1)
    assert app.test.info[0].value.endswith("found nothing to change.")


def test_to_look_at_a_phase_changes_nothing_and_undo_leads_there(app: Any) -> None:
    iterate(iterate(app.open("rebpe")), 2)
    phases = app.session.run.phases
    kinds = ["start", "anneal", "knockout", "reify", "knockout", "reify"]
    assert [phase.kind for phase in phases] == kinds
    score = app.metrics()["F1 %"]
    look_at(app, 2)
    assert app.session.run.phases == phases
    assert app.metrics()["F1 %"] == score
    assert len(app.test.dataframe[0].value) == phases[2].counts["removed"]
    changed = app.test.dataframe[1].value
    assert list(changed["gain"]) == sorted(changed["gain"], reverse=True)
    app.press("Undo up to here")
    assert app.session.run.phases == phases[:3]
    assert app.metrics()["F1 %"][0] == percent(phases[2].score.f1)
    assert len(app.graph.history) == 2
    look_at(app, 5)
    assert "is undone" in app.test.info[0].value
    assert [point["undone"] for point in app.component("run_line")["points"]] == [False] * 3 + [
        True
    ] * 3
    app.press("Redo up to here")
    assert app.session.run.phases == phases
    assert "Redo up to here" not in [b.label for b in app.test.button]
    # The undo of the bar moves the line along.
    app.press("Undo").press("Undo").press("Undo").press("Undo")
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
    app.open("graph").press("Undo")
    assert len(app.graph.history) == len(edits) - 1


def test_settings_are_those_of_the_run(app: Any) -> None:
    app.open("rebpe")
    [switch] = [t for t in app.test.toggle if t.label == "Anneal first"]
    switch.set_value(False)
    [threshold] = [n for n in app.test.number_input if n.label == "Least blame, θ"]
    threshold.set_value(0.7)
    app.run().press("Run to convergence")
    expected = library_run(app, anneal=False, threshold=0.7)
    assert shown(app.session.run.phases) == shown(expected.phases)
    assert all(
        t.disabled for t in app.test.toggle if t.label in ("Anneal first", "Repair", "Reuse pairs")
    )
    # Another page and back: the same run, with the same settings.
    run = app.session.run
    app.open("blame").open("rebpe")
    assert app.session.run is run
    app.press("Start over")
    assert not app.graph.history
    assert not any(t.disabled for t in app.test.toggle)


def test_chosen_types_are_knocked_out_and_reified(app: Any) -> None:
    app.open("rebpe")
    tab(app, "Three scenes")
    scenes = [
        element
        for element in app.test.get("bidi_component")
        if element.proto.component_name.endswith("fan_graph")
    ]
    assert len(scenes) == 3
    [box] = [m for m in app.test.multiselect if m.label == "Types to knock out"]
    chosen = [app.graph.types[number] for number in box.value]
    app.press("Do both: knock out, then reify")
    assert [step["edit"] for step in app.graph.recipe()] == ["knockout", "reify"]
    assert app.graph.recipe()[0]["types"] == chosen
    check_graph(app.graph)


def test_undoing_past_the_beginning_starts_anew(app: Any) -> None:
    app.graph.knockout(["Ġthe"])
    app.graph.knockout(["ing"])
    app.open("rebpe").press("Next: anneal")
    app.open("graph").press("Undo").press("Undo").press("Undo")
    assert not app.graph.history
    app.open("rebpe")
    assert app.session.run.edits_before == 0
    assert [phase.kind for phase in app.session.run.phases] == ["start"]


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


def test_what_changed_lists_the_merges_and_the_blame_that_decided(app: Any) -> None:
    app.open("rebpe").set("number_input", "Words held out, %", 50)
    app.press("Next: anneal").press("Next: knock out (iteration 1)")
    study = app.session.study
    run = ReBPERun(study.tokeniser.fork(), study.benchmark, ReBPESettings(holdout=0.5))
    for _ in ("anneal", "knock out"):
        phase = run.step()
    frame = app.test.dataframe[0].value
    assert len(frame) == phase.counts["removed"] > 20
    assert (frame["blame"] >= 0.5).all()
    assert sorted(phase.blame.values()) == sorted(zip(frame["joins"], frame["wrong"], strict=True))
    app.press("Next: reify (iteration 1)")
    frame = app.test.dataframe[0].value
    assert len(frame) == app.session.run.phases[-1].counts["repaired"]
    for old, new, made in zip(
        frame["was made from"], frame["is made from"], frame["type"], strict=True
    ):
        assert old != new
        assert old.replace(" + ", "") == new.replace(" + ", "") == made

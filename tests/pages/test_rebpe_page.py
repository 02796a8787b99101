"""The ReBPE page: its steps are those of the library, forth and back, and every tab shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from strategies import check_graph

from morphgraph.core.text import percent
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import Phase, ReBPERun

pytestmark = pytest.mark.slow

TAB = "rebpe tab"


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


def pills(app: Any) -> Any:
    [found] = [p for p in app.test.pills if p.label == "Timeline"]
    return found


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
    app.press("One iteration")
    assert shown(app.session.run.phases) == shown(expected[:6])
    app.press("To convergence")
    assert shown(app.session.run.phases) == shown(expected)
    assert any("Converged" in text.value for text in app.test.markdown)
    labels = [b.label for b in app.test.button if b.disabled]
    assert {"Done", "One iteration", "To convergence", "Forward"} <= set(labels)


def test_after_convergence_the_last_phase_that_changed_something_is_shown(app: Any) -> None:
    app.open("rebpe").press("To convergence")
    phases = app.session.run.phases
    assert phases[-1].change.is_empty, "a run ends with a phase that has nothing to do"
    last = next(phase for phase in reversed(phases) if not phase.change.is_empty)
    [said] = [info.value for info in app.test.info]
    assert f"“{last.iteration} {last.kind}”" in said
    [table] = [d for d in app.test.dataframe if "type" in d.value.columns]
    counts = last.counts
    kind = next(k for k in ("removed", "split", "repaired", "linked", "created") if k in counts)
    assert len(table.value) == counts[kind]
    app.press("Back")
    while app.session.run.phases[-1] is not last:
        app.press("Back")
    assert not app.test.info, "a phase that changed something is told of without a preface"


def test_a_run_that_changes_nothing_says_so(
    app: Any, small_document: Callable[..., dict[str, Any]]
) -> None:
    document = small_document([("a", "b")], "abc")
    app.upload("Tokeniser", ("tiny.json", json.dumps(document).encode()))
    app.upload("Reference", ("tiny.tsv", b"ab\tab\nabc\tab c\n"))
    app.open("rebpe").press("To convergence")
    [said] = [info.value for info in app.test.info]
    assert said.endswith("found nothing to change, nor did any phase before it.")


def test_back_and_forth(app: Any) -> None:
    app.open("rebpe").press("One iteration").press("One iteration")
    phases = app.session.run.phases
    assert [phase.kind for phase in phases] == [
        "start",
        "anneal",
        "knockout",
        "reify",
        "knockout",
        "reify",
    ]
    app.press("Back")
    assert app.session.run.phases == phases[:5]
    assert app.metrics()["F1 %"][0] == percent(phases[4].score.f1)
    assert len(app.graph.history) == 4
    app.press("Forward")
    assert app.session.run.phases == phases
    pills(app).set_value(3)
    app.run()
    assert app.session.run.phases == phases[:3]
    assert pills(app).value == 3
    # The undo of the page moves the timeline along.
    app.press("Undo")
    assert pills(app).value == 2
    app.press("Next: knock out (iteration 1)")
    assert app.session.run.all_phases == app.session.run.phases
    assert shown(app.session.run.phases) == shown(phases[:3])


def test_start_over_and_a_new_run(app: Any) -> None:
    app.open("rebpe").press("One iteration")
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
    [switch] = [t for t in app.test.toggle if t.label == "Anneal"]
    switch.set_value(False)
    [threshold] = [n for n in app.test.number_input if n.label == "θ, least R"]
    threshold.set_value(0.7)
    app.run().press("To convergence")
    expected = library_run(app, anneal=False, threshold=0.7)
    assert shown(app.session.run.phases) == shown(expected.phases)
    assert all(t.disabled for t in app.test.toggle if t.label in ("Anneal", "Repair", "Link"))
    # Another page and back: the same run, with the same settings.
    run = app.session.run
    app.open("blame").open("rebpe")
    assert app.session.run is run
    app.press("Start over")
    assert not app.graph.history
    assert not any(t.disabled for t in app.test.toggle)


@pytest.mark.parametrize("position", [1, 2, 3, 4, 13])
def test_every_tab_runs_at_every_kind_of_phase(app: Any, position: int) -> None:
    app.open("rebpe").press("To convergence")
    pills(app).set_value(min(position, len(app.session.run.all_phases)))
    app.run()
    for name in ("What changed", "One word", "Over the run", "Ablation", "Chosen types"):
        tab(app, name)


def test_what_changed_lists_the_merges(app: Any) -> None:
    app.open("rebpe").press("Next: anneal").press("Next: knock out (iteration 1)")
    phase = app.session.run.phases[-1]
    frame = app.test.dataframe[0].value
    assert len(frame) == phase.counts["removed"]
    assert set(frame["origin"]) == {"original"}
    assert (frame["R"] >= 0.5).all()
    assert (frame["B"] / frame["N"]).tolist() == pytest.approx(frame["R"].tolist())
    app.press("Next: reify (iteration 1)")
    frame = app.test.dataframe[0].value
    assert len(frame) == app.session.run.phases[-1].counts["repaired"]
    assert list(frame.columns) == ["rank", "type", "was made from", "is made from"]
    for old, new, made in zip(
        frame["was made from"], frame["is made from"], frame["type"], strict=True
    ):
        assert old != new
        assert old.replace(" + ", "") == new.replace(" + ", "") == made


def test_a_word_is_followed(app: Any) -> None:
    app.open("rebpe").press("To convergence")
    tab(app, "One word")
    [field] = [t for t in app.test.text_input if t.label == "Follow a word"]
    field.set_value("antiaircraft")
    app.run()
    frame = app.test.dataframe[0].value
    assert len(frame) == len(app.session.run.phases)
    assert all(t.replace(" ", "") == "Ġantiaircraft" for t in frame["tokens"])
    assert frame["tokens"].nunique() > 1
    field = next(t for t in app.test.text_input if t.label == "Follow a word")
    field.set_value("two words")
    app.run()
    assert any("without spaces" in warning.value for warning in app.test.warning)


def test_the_ablation_table(app: Any) -> None:
    app.open("rebpe")
    tab(app, "Ablation").press("Compute the four runs")
    frame = app.test.dataframe[0].value
    assert list(frame["annealing"]) == ["off", "off", "on", "on"]
    assert list(frame["reification"]) == ["off", "on", "off", "on"]
    last = library_run(app).phases[-1]
    assert frame["F1 %"].iloc[3] == percent(last.score.f1)
    assert not app.graph.history


def test_chosen_types_are_knocked_out_and_reified(app: Any) -> None:
    app.open("rebpe")
    tab(app, "Chosen types")
    scenes = [
        element
        for element in app.test.get("bidi_component")
        if element.proto.component_name.endswith("merge_graph")
    ]
    assert len(scenes) == 3
    [box] = [m for m in app.test.multiselect if m.label == "Types to knock out"]
    chosen = [app.graph.types[number] for number in box.value]
    app.press("Do both: knock out, then reify")
    assert [step["edit"] for step in app.graph.recipe()] == ["knockout", "reify"]
    assert app.graph.recipe()[0]["types"] == chosen
    check_graph(app.graph)

"""Figures of a run: every number in them is one of its phases."""

import pytest

from morphgraph.core.files import demo_gold_path
from morphgraph.draw.charts import (
    changes_over_phases,
    phase_label,
    removed_by_origin,
    scores_over_phases,
)
from morphgraph.reference.readers import read_reference
from morphgraph.refine.rebpe import Phase, ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.loading import load_tokeniser


@pytest.fixture(scope="module")
def phases() -> list[Phase]:
    tokeniser = load_tokeniser("demo:de")
    run = ReBPERun(tokeniser, Benchmark.build(tokeniser, read_reference(demo_gold_path("de"))))
    run.finish()
    return run.phases


def test_labels(phases: list[Phase]) -> None:
    labels = [phase_label(phase) for phase in phases]
    assert labels[:4] == ["start", "anneal", "1 knockout", "1 reify"]
    assert len(set(labels)) == len(labels)


def test_scores_and_vocabulary(phases: list[Phase]) -> None:
    figure = scores_over_phases(phases, 3)
    traces = {trace.name: trace for trace in figure.data}
    assert list(traces["F1"].y) == [100 * phase.score.f1 for phase in phases]
    assert list(traces["precision"].y) == [100 * phase.score.precision for phase in phases]
    assert list(traces["recall"].y) == [100 * phase.score.recall for phase in phases]
    assert list(traces["|V|"].y) == [phase.vocabulary_size for phase in phases]
    assert traces["|V|"].yaxis == "y2"
    assert [shape.x0 for shape in figure.layout.shapes] == [2]
    assert not scores_over_phases(phases, len(phases)).layout.shapes


def test_changes(phases: list[Phase]) -> None:
    traces = {trace.name: trace for trace in changes_over_phases(phases).data}
    assert {"removed", "split", "repaired", "created"} <= set(traces)
    for kind, trace in traces.items():
        assert list(trace.y) == [phase.counts.get(kind, 0) for phase in phases[1:]]
    drawn = sum(sum(trace.y) for trace in traces.values())
    assert drawn == sum(sum(phase.counts.values()) for phase in phases)


def test_origins(phases: list[Phase]) -> None:
    knockouts = [phase for phase in phases if phase.kind == "knockout"]
    traces = {trace.name: trace for trace in removed_by_origin(phases).data}
    assert {"original", "split", "repaired", "reified"} <= set(traces)
    for number, phase in enumerate(knockouts):
        shown = {name: trace.customdata[number] for name, trace in traces.items()}
        assert {name: n for name, n in shown.items() if n} == phase.removed_by_origin
        total = sum(trace.y[number] for trace in traces.values())
        assert total == pytest.approx(100 if phase.removed_by_origin else 0)

"""What an evaluation tells of each phase of ReBPE is what a run with these words scored says."""

import pytest

from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.refine import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet
from tests.batch.test_cells import DEMO, KEPT, measured, value

TEXT = f"{DEMO}methods: [standard, rebpe(iterations=2)]\nmetrics: [f1, phases]\nintervals: false\n"


@pytest.mark.slow
def test_phases_of_a_cell(tmp_path):
    rows, failures = measured(TEXT, tmp_path)
    assert failures == []
    tokeniser = load_tokeniser("demo:en")
    rest, kept = GoldSet.of(read_reference("demo:en")).set_aside(0.2, 0)
    settings = ReBPESettings(iterations=2)
    on = [Benchmark.on(gold, tokeniser) for gold in (rest, kept)]
    run = ReBPERun(tokeniser, on[0], settings, on[1])
    run.finish()
    told = rows[rows["step"].notna()]
    assert set(told["method"]) == {"ReBPE"}
    # Counts are no scores.
    words = {name: KEPT if name in ("phase_f1", "phase_gain") else "" for name in told["metric"]}
    assert dict(zip(told["metric"], told["words"], strict=True)) == words
    # start, annealing, knockout and reification twice, and the knockout after the last iteration
    assert [phase.iteration for phase in run.phases] == [0, 0, 1, 1, 2, 2, 3]
    f1 = [value(rows, "phase_f1", step=step) for step in range(7)]
    assert f1 == [phase.score.f1 for phase in run.phases]
    assert f1[-1] == value(rows, "f1", method="ReBPE")
    assert value(rows, "phase_gain", step=2) == f1[2] - f1[1]
    assert value(rows, "phase_types", step=6) == value(rows, "types", method="ReBPE")
    for step, phase in enumerate(run.phases):
        at = told[told["step"] == step]
        counts = at[at["metric"] == "phase_changes"].set_index("parameters")["value"]
        expected = {f"iterations=2, change={kind}": n for kind, n in phase.counts.items()}
        assert {name: n for name, n in counts.items() if n} == expected
        removed = at.loc[at["metric"] == "phase_removed", "value"]
        assert removed.sum() == sum(phase.removed_by_origin.values())


def test_the_first_source_with_all_that_it_joins_is_read(tmp_path):
    (tmp_path / "derivations.tsv").write_text("do\tundo\tV\tV\tun\tprefix\n")
    sources = "derivations.tsv + lacking.tsv", "demo:en + derivations.tsv", "demo:en"
    text = DEMO.replace('["demo:en"]', f"[{{source: {[*sources]}}}]").replace("'", '"')
    rows, failures = measured(text + "metrics: [f1]\nintervals: false\n", tmp_path)
    assert failures == [] and set(rows["reference"]) == {"demo:en + derivations.tsv"}

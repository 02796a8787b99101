"""The evaluations of the papers: each runs, and has every table or says why not."""

import pytest
from effort import one_of

import morphgraph as mg
from morphgraph.batch.configuration import parse_evaluation
from morphgraph.batch.report import make_table
from morphgraph.core.files import shipped_configurations

PAPERS = ["seeds/000", "seeds/001", "seeds/002", "seeds/003", "seeds/004"]


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of(*PAPERS))
def test_a_paper_runs_quickly(name, tmp_path, data_folder, monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_DATA", str(data_folder))
    outcome = mg.evaluate(name, tmp_path / "run", quick=True)
    assert not outcome.failures
    results = outcome.to_frame()
    for number, part in enumerate(parse_evaluation(shipped_configurations()[name], name)[0].parts):
        of_part = results[results["part"] == number + 1]
        for spec in part.tables:
            if "vocab_size" in spec.where:
                continue  # a trial has other sizes
            table = make_table(of_part, spec)
            own = [n for n, column in enumerate(table.columns) if not column.is_beside]
            values = [row.cells[n].value for row in table.rows for n in own]
            is_filled = any(value == value for value in values if not isinstance(value, str))
            assert is_filled or not len(of_part), table.title

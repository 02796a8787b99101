"""What a table compares: Welch's test over training seeds, and correlations over rows, as scipy."""

import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

from morphgraph.batch.report import make_table
from morphgraph.batch.results import TableSpec, results_of_rows

ACCURACIES = {"BPE": [0.5, 0.53, 0.52], "BPE′": [0.6, 0.64, 0.61], "U": [0.51, 0.55, 0.5]}


def test_means_over_training_seeds_are_tested_against_the_first_row() -> None:
    rows: list[dict[str, Any]] = [
        {"metric": "types", "tokeniser": name, "task": task, "seed": seed, "value": value + shift}
        for task, shift in (("a", 0.0), ("b", 1.0))
        for name, values in ACCURACIES.items()
        for seed, value in enumerate(values)
    ]
    spec = TableSpec(title="T", rows=["task", "tokeniser"], metrics=["types"])
    table = make_table(results_of_rows(rows), spec)
    theirs = [
        stats.ttest_ind(values, ACCURACIES["BPE"], equal_var=False).pvalue
        for values in [*ACCURACIES.values()][1:]
    ]
    nan = float("nan")
    found = [row.cells[0].p for row in table.rows]
    assert found == pytest.approx([nan, *theirs, nan, *theirs], nan_ok=True)
    assert [row.cells[0].mark for row in table.rows] == ["", "**", ""] * 2
    assert any("Welch" in note for note in table.explained)
    assert not any("randomisation" in note for note in table.explained)
    without: Any = [{**row, "task": ""} for row in rows]  # seeds of a method are not a sample
    plain = make_table(results_of_rows(without), TableSpec(title="T", rows=["tokeniser"]))
    assert all(np.isnan(row.cells[0].p) for row in plain.rows)


def test_two_metrics_are_correlated_over_the_rows_of_each_group() -> None:
    lengths, scores = [2.97, 2.98, 2.6, 2.8, 2.67], [59.1, 54.8, 66.2, 66.8, 70.9]
    rows = [
        {"reference": name, "tokeniser": f"{place}", "metric": metric, "value": value * sign}
        for name, sign in (("LADEC", 1), ("other", -1))
        for place, (length, score) in enumerate(zip(lengths, scores, strict=True))
        for metric, value in (("fertility", length * sign), ("f1", score))
    ]
    spec = TableSpec(
        title="T",
        rows=["reference", "tokeniser"],
        metrics=["fertility", "f1"],
        correlation=["fertility", "f1"],
    )
    [note] = [text for text in make_table(results_of_rows(rows), spec).notes if "Pearson" in text]
    r = stats.pearsonr(lengths, scores).statistic
    assert f"{r:.3f}" == "-0.857", "as published for these figures"
    assert re.findall(r"(\w+): (-?[\d.]+\d)", note) == [
        ("LADEC", f"{r:.3f}"),
        ("other", f"{-r:.3f}"),
    ]

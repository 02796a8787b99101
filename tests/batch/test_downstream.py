"""Downstream tasks: how far they have come, and the intervals of their results.

How one of a plug-in runs: see test_contributing.
"""

import math

import pytest

from morphgraph.batch.downstream import TaskRun, steps_in
from morphgraph.segment.models import load_segmenter
from tests.batch.test_report_table import table_of


def test_how_far_a_task_has_come(tmp_path):
    assert steps_in(tmp_path) is None
    TaskRun(load_segmenter("demo:en"), None, None, 0, tmp_path).tell(3, 10)
    assert steps_in(tmp_path) == (3, 10)


def test_two_seeds_give_an_interval():
    """By Student's t with one degree of freedom: 12.706 standard errors, of the logarithm."""
    known = {"task": "moods", "metric": "f1"}
    rows = [{**known, "value": value, "seed": seed} for seed, value in enumerate((0.5, 0.52))]
    table = table_of("task", *rows, metrics=())
    cell = table.rows[0].cells[0]
    assert (cell.value, cell.seeds) == (pytest.approx(0.51), 2)
    factor = math.exp(0.12706 / 0.51)
    assert (cell.low, cell.high) == (pytest.approx(0.51 / factor), pytest.approx(0.51 * factor))
    rows = [{**known, "value": value, "seed": seed} for seed, value in enumerate((0.9, 0.98))]
    table = table_of("task", *rows, metrics=())
    assert table.rows[0].cells[0].high == 1, "no F1 is above 100 %"

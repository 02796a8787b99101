"""Runs side by side: values and differences by hand."""

import math
from typing import Any

import pandas as pd

from morphgraph.batch.compare_runs import COMBINATION, compare_runs
from morphgraph.batch.results import FAILED, RESULT_COLUMNS

NAN = math.nan


def results(*rows: dict[str, Any]) -> pd.DataFrame:
    empty = {**dict.fromkeys(RESULT_COLUMNS, ""), "vocab_size": None, "seed": None, "entries": None}
    frame = pd.DataFrame([{**empty, "metric": "f1", **row} for row in rows])
    kinds = {"vocab_size": "Int64", "seed": "Int64", "value": "float64"}
    return frame.reindex(columns=list(RESULT_COLUMNS)).astype(kinds)


def numbers(frame: pd.DataFrame, column: str) -> list[float | None]:
    return [None if math.isnan(value) else round(value, 9) for value in frame[column]]


def test_values_and_differences() -> None:
    one = results(
        {"method": "A", "value": 0.5, "vocab_size": 8000},
        {"method": "D", "value": 0.25, "seed": 1},
        {"method": "D", "value": 0.75, "seed": 2},
        {"method": "F", "value": NAN, "metric": FAILED},
        {"method": "N", "value": NAN},
    )
    two = results(
        {"method": "D", "value": 1.0, "seed": 7},
        {"method": "A", "value": 0.625, "vocab_size": 8000},
        {"method": "A", "value": 0.125, "vocab_size": 16000},
    )
    found = compare_runs({"first": one, "method": two, "none": pd.DataFrame()})
    assert list(found.columns) == [
        *COMBINATION,
        "value: first",
        "value: method",
        "value: none",
        "difference: method",
        "difference: none",
    ]
    assert list(found["method"]) == ["A", "D", "N", "A"]
    assert [None if pd.isna(size) else size for size in found["vocab_size"]] == [
        8000,
        None,
        None,
        16000,
    ]
    assert numbers(found, "value: first") == [0.5, 0.5, None, None]
    assert numbers(found, "value: method") == [0.625, 1.0, None, 0.125]
    assert numbers(found, "difference: method") == [0.125, 0.5, None, None]
    assert numbers(found, "value: none") == [None] * 4
    assert numbers(found, "difference: none") == [None] * 4


def test_each_scope_weighting_and_metric_is_a_row() -> None:
    rows = [
        {"scope": scope, "weighting": weighting, "metric": metric, "value": 1.0}
        for scope in ("morphemic", "whole-word")
        for weighting in ("types", "tokens")
        for metric in ("f1", "recall")
    ]
    assert len(compare_runs({"a": results(*rows)})) == 8


def test_nothing_to_compare() -> None:
    assert list(compare_runs({}).columns) == list(COMBINATION)
    assert len(compare_runs({"a": results()})) == 0

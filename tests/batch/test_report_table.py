"""Tables made of results: every cell by hand, and what is missing, failed or undefined."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from morphgraph.batch.report import make_table, usual_tables
from morphgraph.batch.results import FAILED, NOT_RUN, TableSpec, results_of_rows
from morphgraph.tables.model import cell_texts
from morphgraph.tables.scores import MIXED

NAN = math.nan


def score(method, value, metric="f1", **more):
    scored = {"scope": "morphemic", "weighting": "types"}
    return {"method": method, "metric": metric, "value": value, **scored, **more}


def table_of(rows, *results, metrics=("f1",), **asked):
    """The table with these columns as rows, and F1 unless other metrics are asked for."""
    spec = TableSpec(title="T", rows=rows.split(), metrics=[*metrics], **asked)
    return make_table(results_of_rows(results), spec)


def texts(table):
    """The rows of a table as they read."""

    def of(row):
        both = zip(table.columns, row.cells, strict=True)
        return [" ".join(cell_texts(column, cell)).strip() for column, cell in both]

    return [[*row.names, *of(row)] for row in table.rows]


def best(table):
    return [[cell.is_best for cell in row.cells] for row in table.rows]


def test_rows_columns_and_headings():
    table = table_of(
        "language method",
        score("BPE", 0.5, language="en", low=0.4, high=0.6),
        score("BPE", 0.25, "distance", language="en"),
        score("BPE", 0.75, language="en", scope="whole-word"),
        score("ReBPE", 0.625, language="en", weighting="types"),
        score("BPE", 0.1, language="de"),
        columns=["scope"],
        metrics=["f1", "distance"],
        note="A note.",
    )
    assert [(column.spread, column.title) for column in table.columns] == [
        (("morphemic",), "F1 % ↑"),
        (("morphemic",), "Levenshtein distance ↓"),
        (("whole-word",), "F1 % ↑"),
    ], "a column nobody has a value for is left out"
    assert table.heads == [("Scope", [("morphemic", 2), ("whole-word", 1)])]
    assert texts(table) == [
        ["en", "BPE", "50.00 [40.00, 60.00]", "0.25", "75.00"],
        ["en", "ReBPE", "62.50", "n/a", "n/a"],
        ["de", "BPE", "10.00", "n/a", "n/a"],
    ]
    assert best(table) == [[False] * 3, [True, False, False], [False] * 3], "none is best of one"
    assert table.constants == {"Weighting": "types"}
    assert table.notes == ("A note.",)
    assert [row.group for row in table.rows] == [0, 0, 1]


def test_seeds_are_averaged():
    table = table_of(
        "method",
        *(score("D", value, seed=seed) for seed, value in enumerate((0.2, 0.4, 0.6))),
        score("E", 0.5, seed=1, low=0.4, high=0.6),
        score("U", 0.5, seed=1),
        score("U", NAN, seed=2),
        score("N", NAN, seed=1),
        score("N", NAN, seed=2),
    )
    cell = table.rows[0].cells[0]
    assert (cell.value, cell.sd) == (pytest.approx(0.4), pytest.approx(0.2))
    assert (cell.seeds, cell.defined, cell.state) == (3, 3, "done")
    assert math.isnan(cell.low)
    assert texts(table) == [
        ["D", "40.00 ± 20.00 (3 seeds)"],
        ["E", "50.00 [40.00, 60.00]"],
        ["U", "50.00 (1 of 2 seeds)"],
        ["N", "n/a (0 of 2 seeds)"],
    ]


def test_values_relative_to_a_method():
    scores = [
        score("BPE", 0.4, language="en", seed=0),
        score("BPE", 0.6, language="en", seed=1),
        score("ReBPE", 0.75, language="en", low=0.7, high=0.8),
        score("ReBPE", 0.5, language="de"),
    ]
    ratios = table_of("language method", *scores, relative_to="BPE")
    assert texts(ratios) == [
        ["en", "BPE", "100.00 ± 28.28 (2 seeds)"],
        ["en", "ReBPE", "150.00"],
        ["de", "ReBPE", "n/a"],
    ]
    differences = table_of(
        "language method", *scores[2:3], *scores[:2], relative_to="BPE", relative="difference"
    )
    assert texts(differences)[0] == ["en", "ReBPE", "25.00"]


def test_only_seeds_are_averaged():
    table = table_of(
        "method",
        score("D", 0.2, parameters="p=0.1", seed=1),
        score("B", 0.9),
        score("D", 0.4, parameters="p=0.2", seed=1),
        columns=["scope"],
    )
    assert table.rows_by == ("method", "parameters")
    assert texts(table) == [["D", "p=0.1", "20.00"], ["D", "p=0.2", "40.00"], ["B", "", "90.00"]]
    assert table.notes == ("Rows also differ in parameters.",)


def test_a_table_says_that_silver_and_gold_are_mixed():
    silver = score("B", 0.5, reference="s", signature="reference:s.tsv (silver)@1|format:plain")
    gold = score("B", 0.4, reference="g", signature="reference:g.tsv@2|tokeniser:t (silver)")
    figure = score("B", 9, "types", signature="tokeniser:t")
    assert table_of("method", silver, gold, figure).notes == (MIXED,)
    assert table_of("method", gold, figure).notes == table_of("method", silver, figure).notes == ()


TWO_SCOPES = [
    *("B | morphemic | 50.00", "B | whole-word | 25.00"),
    *("D | morphemic | 50.00 (1 of 2 seeds)", "D | whole-word | failed"),
    *("R | morphemic | failed", "R | whole-word | failed"),
]


@pytest.mark.parametrize(
    ("rows", "asked", "expected"),
    [
        (
            "method",
            {"columns": ["scope"]},
            ["B | 50.00 | 25.00", "D | 50.00 (1 of 2 seeds) | failed", "R | failed | failed"],
        ),
        ("method scope", {}, TWO_SCOPES),
        # A failed cell is none of another method.
        ("method", {"where": {"scope": ["morphemic"], "method": ["R"]}}, ["R | failed"]),
    ],
)
def test_failed_cells(rows, asked, expected):
    results = (
        score("B", 0.5),
        score("B", 0.25, scope="whole-word"),
        score("D", 0.5, seed=1),
        {"method": "R", "metric": FAILED},
        {"method": "D", "metric": FAILED, "seed": 2},
    )
    assert list(map(" | ".join, texts(table_of(rows, *results, **asked)))) == expected


def test_all_failed_or_nothing_there():
    failed = {"method": "B", "language": "en", "metric": FAILED}
    assert texts(table_of("language method", failed, columns=["scope"])) == [["en", "B", "failed"]]
    assert usual_tables(results_of_rows([failed])) == []
    empty = table_of("language", columns=["scope"])
    assert empty.rows == ()
    assert [column.key for column in empty.columns] == ["f1"]
    assert usual_tables(results_of_rows([])) == []


def test_where_and_all_metrics():
    table = table_of(
        "method",
        score("B", 0.5, vocab_size=8000),
        score("B", 0.75, vocab_size=16000),
        score("B", 0.25, "recall", vocab_size=16000),
        metrics=(),
        where={"vocab_size": ["16000"]},
    )
    assert [column.key for column in table.columns] == ["f1", "recall"]
    assert texts(table) == [["B", "75.00", "25.00"]]
    assert table.constants["Vocabulary size"] == "16000"


def test_usual_tables():
    results = (
        score("A", 0.5, "recall", language="en"),
        score("A", 0.5, language="en", scope="whole-word"),
        score("B", 0.5, language="en"),
        {"method": "A", "language": "en", "metric": "types", "value": 5.0},
    )
    assert usual_tables(results_of_rows(results)) == [
        TableSpec(title="Scores", rows=["method"], columns=["scope"], metrics=["recall", "f1"]),
        TableSpec(title="Vocabulary and facts of the run", rows=["method"], metrics=["types"]),
    ]


def test_what_was_not_run_is_said_and_nobody_is_best_beside_it():
    table = table_of(
        "language method",
        score("BPE", 0.5, language="en"),
        score("ReBPE", 0.75, language="en"),
        score("BPE", 0.25, language="de"),
        score("FLOTA", 0.5, language="de"),
        {"method": "ReBPE", "language": "de", "metric": NOT_RUN},
    )
    assert texts(table) == [
        ["en", "BPE", "50.00"],
        ["en", "ReBPE", "75.00"],
        ["de", "BPE", "25.00"],
        ["de", "ReBPE", "not run"],
        ["de", "FLOTA", "50.00"],
    ]
    assert best(table) == [[False], [True], [False], [False], [False]]


def test_what_languages_were_measured_on_is_said_where_it_differs():
    table = table_of(
        "language method",
        score("BPE", 0.5, language="en", reference="small.tsv"),
        score("BPE", 0.25, language="de", reference="large.tsv"),
    )
    assert table.rows_by == ("language", "method", "reference")
    assert [row.names[2] for row in table.rows] == ["small.tsv", "large.tsv"]


def test_best_by_direction_and_as_it_reads():
    values = {"f1": (0.50001, 0.50002, 0.4), "distance": (2.0, 1.0, NAN), "fertility": (2.0, 1.0)}
    scores = (score("ABC"[n], v, m) for m, each in values.items() for n, v in enumerate(each))
    assert best(table_of("method", *scores, metrics=list(values))) == [
        [True, False, False],
        [True, True, False],
        [False, False, False],
    ]


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


ACCURACIES = {"BPE": [0.5, 0.53, 0.52], "BPE′": [0.6, 0.64, 0.61], "U": [0.51, 0.55, 0.5]}


def test_means_over_training_seeds_are_tested_against_the_first_row():
    rows = [
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
    without = [{**row, "task": ""} for row in rows]  # seeds of a method are not a sample
    plain = make_table(results_of_rows(without), TableSpec(title="T", rows=["tokeniser"]))
    assert all(np.isnan(row.cells[0].p) for row in plain.rows)


def test_two_metrics_are_correlated_over_the_rows_of_each_group():
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

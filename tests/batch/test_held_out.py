"""What methods learned from is told apart from what they have not seen, with paired tests."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

from morphgraph.batch.plan import make_plan
from morphgraph.batch.report import make_table
from morphgraph.batch.results import FAILED, TableSpec, held_out_words
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser, vocabulary_of
from morphgraph.reference.readers import read_reference
from morphgraph.refine.knockout import KnockoutSettings, knock_out
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.segment.bte import Bte
from morphgraph.segment.flota import Flota
from morphgraph.tables.model import HELD_IN
from morphgraph.tables.writing import to_csv, to_html, to_latex, to_markdown
from tests.batch.test_cells import DEMO, HELD_OUT, measured, value
from tests.batch.test_report_table import best, score, table_of

METHODS = "methods: [standard, flota, knockout]\n"


@pytest.mark.slow
def test_held_out_scores_are_those_of_knockout_with_a_holdout(tmp_path: Path) -> None:
    rows, failures = measured(DEMO + METHODS + "seeds: [4]\nmetrics: [f1]\n", tmp_path)
    assert failures == []
    reference = read_reference(demo_gold_path("en"), name="demo:en")
    tokeniser = load_tokeniser("demo:en")
    result = knock_out(
        load_tokeniser("demo:en"),
        Benchmark.build(tokeniser, reference),
        KnockoutSettings(holdout=0.5, seed=4),
    )
    assert value(rows, "f1", method="BPE-knockout", words=HELD_OUT) == result.after[0].f1
    assert value(rows, "f1", method="as it is", words=HELD_OUT) == result.before[0].f1
    scored = rows[rows["metric"] == "f1"].set_index(["method", "words"])
    assert scored["held_in"].to_dict() == {
        ("as it is", "all words"): "",
        ("as it is", HELD_OUT): "",
        ("FLOTA", "all words"): "",
        ("FLOTA", HELD_OUT): "",
        ("BPE-knockout", "all words"): HELD_IN,
        ("BPE-knockout", HELD_OUT): "",
    }
    assert set(rows[rows["words"] == HELD_OUT]["seed"]) == {4}
    assert "(holdout 0.5 seed 4)" in scored.loc[("FLOTA", HELD_OUT), "signature"]
    # What a vocabulary is like is of no words, and told once.
    assert set(rows[rows["metric"] == "types"]["words"]) == {""}
    assert len(rows[rows["metric"] == "types"]) == 3


@pytest.mark.slow
def test_paired_tests_are_those_of_score(tmp_path: Path) -> None:
    rows, _ = measured(DEMO + METHODS + "metrics: [f1]\n", tmp_path)
    gold_set = GoldSet.of(read_reference(demo_gold_path("en"), name="demo:en"))
    tokeniser = load_tokeniser("demo:en")
    found = [Bte(tokeniser), Flota(vocabulary_of(tokeniser), None)]
    for scored, words in ((gold_set, "all words"), (gold_set.hold_out(0.5, 0), HELD_OUT)):
        table = ScoreTable([outcome_of(one, scored) for one in found], metrics=["f1"], baseline=0)
        estimate = table.estimates[1]
        assert estimate is not None
        chosen = rows[(rows["metric"] == "f1") & (rows["words"] == words)].set_index("method")
        assert chosen.loc["FLOTA", "p"] == estimate["f1"].p
        assert chosen.loc["FLOTA", "low"] == estimate["f1"].interval.low
        assert chosen.loc["FLOTA", "signature"] == table.signature_of(1)
        assert math.isnan(chosen.loc["as it is", "p"]), "not against itself"
    f1 = rows[rows["metric"] == "f1"].set_index(["method", "words"])["p"]
    assert math.isnan(f1["BPE-knockout", "all words"]), "it has seen these words"
    assert 0 < f1["BPE-knockout", HELD_OUT] <= 1


def test_several_seeds_hold_out_several_halves(tmp_path: Path) -> None:
    text = DEMO + METHODS + "seeds: [1, 2]\nmetrics: [f1]\ntests: false\nintervals: false\n"
    rows, _ = measured(text, tmp_path)
    table = make_table(rows, TableSpec(title="T", rows=["method"], metrics=["f1", "types"]))
    assert [(column.spread, column.key) for column in table.columns] == [
        (("all words",), "f1"),
        ((HELD_OUT,), "f1"),
        (("",), "types"),
    ]
    assert [[cell.seeds for cell in row.cells] for row in table.rows] == [[1, 2, 1]] * 3
    assert rows["p"].isna().all()


@pytest.mark.parametrize(
    "more", ["methods: [standard, flota]\n", METHODS + "holdout: 0\n",
             "methods: [standard, {method: knockout, select: last, percent: 10}]\n"]
)  # fmt: skip
def test_nothing_is_held_out_where_nothing_learns_or_none_is_asked_for(more: str) -> None:
    assert {task.columns["words"] for task in make_plan(DEMO + more, "mine.yaml").cells} == {
        "all words"
    }


def test_a_holdout_of_a_method_is_told_by_its_share(tmp_path: Path) -> None:
    text = DEMO + "methods: [standard, knockout(holdout=0.2)]\nmetrics: [f1]\n"
    rows, _ = measured(text, tmp_path)
    own = rows[(rows["method"] == "BPE-knockout") & (rows["metric"] == "f1")]
    assert list(own["words"]) == [held_out_words(0.2)] == ["20 % held out"]
    assert list(own["held_in"]) == [""]


def test_a_held_in_score_is_never_best_beside_one_that_saw_nothing() -> None:
    table = table_of(
        "method",
        score("BPE", 0.4, words="all words"),
        score("FLOTA", 0.5, words="all words", p=0.001),
        score("ReBPE", 0.9, words="all words", held_in=HELD_IN),
        score("BPE", 0.4, words=HELD_OUT),
        score("ReBPE", 0.6, words=HELD_OUT, p=0.0005, low=0.5, high=0.7),
    )
    assert best(table) == [[False, False], [True, False], [False, True]]
    text = to_markdown(table)
    assert "| Method | all words · F1 % ↑ | 50 % held out · F1 % ↑ |" in text
    assert r"| FLOTA | **50.00**\*\* | n/a |" in text
    assert r"| ReBPE | 90.00 scored on training words | **60.00**\*\*\* [50.00, 70.00] |" in text
    html = to_html(table)
    assert "90.00<small>scored on training words</small>" in html
    assert "60.00<sup>***</sup>" in html
    latex = to_latex(table)
    assert r"\textbf{60.00}\rlap{$^{***}$}" in latex
    notes = " ".join(table.explained)
    assert "Scored on training words: the method learned from the very words" in notes
    assert "Stars: different from the first method" in notes
    head, *lines = to_csv(table).decode().splitlines()
    assert head.startswith(
        "Method,F1 all words,F1 all words p,F1 all words scored on training words"
    )
    assert lines[2].startswith("ReBPE,0.9,n/a,yes,0.6,")


def test_a_cell_that_failed_on_some_words_failed_there_only() -> None:
    lost: dict[str, Any] = {"method": "X", "metric": FAILED}
    table = table_of(
        "method",
        score("BPE", 0.4, words="all words"),
        {"method": "BPE", "metric": "types", "value": 9.0},
        score("BPE", 0.5, words=HELD_OUT),
        {**lost, "words": "all words"},
        score("X", 0.6, words=HELD_OUT),
        metrics=["f1", "types"],
    )
    assert [cell.state for cell in table.rows[1].cells] == ["failed", "done", "failed"]


# --- other programs -------------------------------------------------------------------------------

GOLD = "undoing\tun do ing\ndoing\tdo ing\ndo\tdo\n"
PROGRAM = """\
name: programs
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
predictions: [{name: Morfessor, file: "{language}.txt"}]
references: [gold.tsv]
metrics: [f1]
"""


def test_predictions_are_rows_beside_tokenisers(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text(GOLD)
    (tmp_path / "en.txt").write_text("un do ing\ndo ing\ndo\n")
    rows, failures = measured(PROGRAM, tmp_path)
    assert failures == []
    [row] = rows[(rows["method"] == "Morfessor") & (rows["metric"] == "f1")].itertuples()
    assert (row.tokeniser, row.value, row.low) == ("Morfessor", 1, 1)
    assert 0 < row.p <= 1
    assert "|tokeniser:predictions:en.txt@" in row.signature
    assert math.isnan(value(rows, "types", method="Morfessor"))


def test_predictions_that_lack_words_are_scored_and_those_that_lack_all_fail_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "gold.tsv").write_text(GOLD)
    (tmp_path / "en.txt").write_text("un do ing\n")
    rows, failures = measured(PROGRAM, tmp_path)
    assert failures == []
    [row] = rows[(rows["method"] == "Morfessor") & (rows["metric"] == "f1")].itertuples()
    assert row.value == 2 * 2 / (2 + 3)
    assert re.search(r"predictions:en\.txt@\w+ lacking 2\|", row.signature)
    (tmp_path / "en.txt").write_text("x y\n")
    rows, failures = measured(PROGRAM, tmp_path)
    assert [f.message.partition(":")[0] for f in failures] == [
        "en.txt segments none of the 3 words of gold.tsv"
    ]
    assert not math.isnan(value(rows, "f1", method="as it is"))


def test_predictions_that_are_not_there_are_told_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text(GOLD)
    with pytest.raises(FileFormatError, match=r"mine.yaml, line 4, field predictions\[0\].file"):
        make_plan(PROGRAM, "mine.yaml", tmp_path)


def test_among_held_in_scores_alone_one_may_be_best() -> None:
    table = table_of(
        "method",
        score("knockout", 0.8, words="all words", held_in=HELD_IN),
        score("ReBPE", 0.9, words="all words", held_in=HELD_IN),
    )
    assert best(table) == [[False], [True]]
    assert table.constants["Words"] == "all words"


def test_changed_predictions_are_scored_again(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text(GOLD)
    keys = []
    for text in ("un do ing\ndo ing\ndo\n", "undo ing\ndo ing\ndo\n"):
        (tmp_path / "en.txt").write_text(text)
        keys.append([task.key for task in make_plan(PROGRAM, "mine.yaml", tmp_path).cells])
    assert keys[0][0] == keys[1][0]
    assert keys[0][1] != keys[1][1]

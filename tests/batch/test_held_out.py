"""Methods learn without the words that they are scored on, the same for all, with paired tests."""

import math

import pytest
from effort import one_of

import morphgraph as mg
from morphgraph.batch.plan import make_plan
from morphgraph.batch.report import make_table
from morphgraph.batch.results import FAILED, TableSpec
from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser, vocabulary_of
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.segment.bte import Bte
from morphgraph.segment.flota import Flota
from morphgraph.tables.model import HELD_IN
from morphgraph.tables.writing import to_csv
from tests.batch.test_cells import DEMO, KEPT, measured, value
from tests.batch.test_report_table import best, score, table_of

METHODS = "methods: [standard, flota, knockout]\n"
BOTH = "methods: [standard, knockout, {method: rebpe, iterations: 1}]\n"
FEW = "undoing\tun do ing\ndoings\tdo ing s\n"


@pytest.mark.slow
@pytest.mark.parametrize("holdout", one_of(0.2, 0, 0.5))
def test_what_is_learned_and_scored_is_that_of_the_library(holdout, tmp_path):
    text = f"{DEMO}{BOTH}holdout: {holdout}\nmetrics: [f1]\nintervals: false\nseeds: [4]\n"
    rows, failures = measured(text, tmp_path)
    assert failures == []
    tokeniser, gold = mg.load("demo:en"), mg.read_gold("demo:en")
    how = {"holdout": holdout, "seed": 4}
    found = tokeniser.knock_out(gold, **how)
    repaired = tokeniser.rebpe(gold, **how, iterations=1)
    assert value(rows, "removed", method="BPE-knockout") == len(found.removed) > 100
    assert value(rows, "f1", method="as it is") == found.before.f1 == repaired.before.f1
    assert value(rows, "f1", method="BPE-knockout") == found.after.f1
    assert value(rows, "f1", method="ReBPE") == repaired.after.f1
    scored = rows[rows["metric"] == "f1"].set_index("method")
    learned = "" if holdout else HELD_IN
    assert scored["held_in"].to_dict() == {
        "as it is": "",
        "BPE-knockout": learned,
        "ReBPE": learned,
    }
    words = f"kept aside {holdout} by families" if holdout else "all words"
    assert set(scored["words"]) == {words}
    drawn = f" (kept aside {holdout} by families, seed 4)" if holdout else ""
    assert all(f"{drawn}|frequencies" in text for text in scored["signature"])
    # What a vocabulary is like is of no words.
    assert set(rows[rows["metric"] == "types"]["words"]) == {""}


def test_with_few_families_nothing_is_kept_aside_and_scores_say_so(tmp_path):
    (tmp_path / "gold.tsv").write_text(FEW)
    text = DEMO.replace('demo:en"]', 'gold.tsv"]') + METHODS + "metrics: [f1]\n"
    rows, failures = measured(text, tmp_path)
    assert failures == []
    scored = rows[rows["metric"] == "f1"].set_index("method")
    assert set(scored["words"]) == {"all words"}
    assert list(scored["held_in"]) == ["", "", HELD_IN]
    assert math.isnan(scored.loc["BPE-knockout", "p"]), "it has seen these words"
    assert not math.isnan(scored.loc["FLOTA", "p"])


@pytest.mark.slow
def test_what_a_file_was_learned_from_is_held_in(tmp_path):
    tokeniser, gold = mg.load("demo:en"), mg.read_gold("demo:en")
    for name, holdout in (("all", 0), ("rest", 0.2)):
        tokeniser.knock_out(gold, holdout=holdout).tokeniser.export(tmp_path / name)
    text = f"{DEMO.replace('demo:en', 'all', 1)}metrics: [f1]\ntests: false\nintervals: false\n"
    for more, held_in in (
        ("methods: [standard]\n", [HELD_IN]),
        ("methods: [standard, rebpe(iterations=0)]\n", [HELD_IN, HELD_IN]),
    ):
        rows, failures = measured(text + more, tmp_path)
        assert failures == []
        assert list(rows[rows["metric"] == "f1"]["held_in"]) == held_in
    rest = text.replace('"all"', '"rest"') + "methods: [standard, rebpe(iterations=0)]\n"
    rows, _ = measured(rest, tmp_path)
    assert list(rows[rows["metric"] == "f1"]["held_in"]) == ["", ""], "it kept the same aside"


@pytest.mark.slow
def test_paired_tests_are_those_of_score(tmp_path):
    rows, _ = measured(DEMO + METHODS + "metrics: [f1]\n", tmp_path)
    _, kept = GoldSet.of(read_reference(demo_gold_path("en"), name="demo:en")).split()
    tokeniser = load_tokeniser("demo:en")
    found = [Bte(tokeniser), Flota(vocabulary_of(tokeniser), None)]
    table = ScoreTable([outcome_of(one, kept) for one in found], metrics=["f1"], baseline=0)
    estimate = table.estimates[1]
    chosen = rows[rows["metric"] == "f1"].set_index("method")
    assert chosen.loc["FLOTA", "p"] == estimate["f1"].p
    assert chosen.loc["FLOTA", "low"] == estimate["f1"].interval.low
    assert chosen.loc["FLOTA", "signature"] == table.signature_of(1)
    assert math.isnan(chosen.loc["as it is", "p"]), "not against itself"
    assert 0 < chosen.loc["BPE-knockout", "p"] <= 1


def test_each_seed_keeps_other_words_aside(tmp_path):
    text = DEMO + METHODS + "seeds: [1, 2]\nmetrics: [f1]\ntests: false\nintervals: false\n"
    rows, _ = measured(text, tmp_path)
    table = make_table(rows, TableSpec(title="T", rows=["method"], metrics=["f1", "types"]))
    assert [(column.spread, column.key) for column in table.columns] == [((), "f1"), ((), "types")]
    assert table.constants["Words"] == KEPT
    assert [[cell.seeds for cell in row.cells] for row in table.rows] == [[2, 1], [2, 1], [2, 2]]
    assert rows["p"].isna().all()


@pytest.mark.parametrize(
    "more", ["methods: [standard, flota]\n", METHODS + "holdout: 0\n",
             "methods: [standard, {method: knockout, select: last, percent: 10}]\n"]
)  # fmt: skip
def test_nothing_is_kept_aside_where_nothing_learns_or_none_is_asked_for(more):
    cells = make_plan(DEMO + more, "mine.yaml").cells
    assert {task.spec["kept_aside"] for task in cells} == {None}
    assert {task.columns["seed"] for task in cells} == {None}


def test_a_held_in_score_is_never_best_beside_one_that_saw_nothing():
    table = table_of(
        "method",
        score("BPE", 0.4, words="all words"),
        score("FLOTA", 0.5, words="all words", p=0.001),
        score("ReBPE", 0.9, words="all words", held_in=HELD_IN),
        score("BPE", 0.4, words=KEPT),
        score("ReBPE", 0.6, words=KEPT, p=0.0005, low=0.5, high=0.7),
    )
    assert best(table) == [[False, False], [True, False], [False, True]]
    _, *lines = to_csv(table).decode().splitlines()
    assert lines[2].startswith("ReBPE,0.9,n/a,yes,0.6,")


def test_a_cell_that_failed_lacks_all_words():
    lost = {"method": "X", "metric": FAILED}
    table = table_of(
        "method",
        score("BPE", 0.4, words="all words", reference="a"),
        {"method": "BPE", "metric": "types", "value": 9.0, "reference": "a"},
        score("BPE", 0.5, words=KEPT, reference="b"),
        {**lost, "reference": "a"},
        {**lost, "reference": "b"},
        metrics=["f1", "types"],
    )
    states = {row.names: [cell.state for cell in row.cells] for row in table.rows}
    assert states["X", "a"] == states["X", "b"] == ["failed"] * 3

"""``morphgraph score``: what it prints, writes and refuses; that its neighbours can be reached."""

import shutil

import pytest

import morphgraph as mg
from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.recipe import write_recipe
from morphgraph.reference.readers import read_reference
from morphgraph.score.breakdowns import break_down
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on
from morphgraph.tables.scores import scores_table
from morphgraph.tables.writing import to_csv, to_latex, to_markdown

ON_GOLD = ("score", "tokenizer.json", "gold.tsv")
DEMO = ("demo:nl", "demo:nl")
NL = ("score", *DEMO, "--scope", "morphemic", "--methods", "bpe,flota", "--scores", "precision")


def values(table, row=0):
    return {name: found["value"] for name, found in table["rows"][row]["scores"].items()}


def test_models_and_a_recipe(morphgraph, folder):
    """Without “undoing” and “undo”, BPE makes un|do|ing, as the gold has it."""
    tokeniser = load_tokeniser("tokenizer.json")
    own = folder / "Llama-3.1"
    own.mkdir()
    shutil.copy("tokenizer.json", own)
    model, recipe = folder / "before.json", folder / "recipe.json"
    model.write_bytes(write_model(method_on(tokeniser, "bpe")))
    tokeniser.graph.knockout(["undoing", "undo"])
    recipe.write_bytes(write_recipe(tokeniser))
    report = morphgraph(
        *ON_GOLD,
        "--recipe",
        recipe,
        "--methods",
        f"bpe,{model},{own}",
        "--scope",
        "morphemic",
        "--json",
    ).json
    [table] = report["tables"]
    assert [row["tokeniser"] for row in table["rows"]] == ["BPE", "before", "Llama-3.1"]
    assert [values(table, row)["recall"] for row in (0, 1)] == [1, 1 / 4]
    assert table["rows"][0]["signature"] != table["rows"][1]["signature"]


def test_files(morphgraph, folder):
    tokeniser = load_tokeniser("tokenizer.json")
    tables = []
    for path, scopes in (
        ("gold.tsv", ("morphemic", "whole-word")),
        ("morphs.tsv", ("morphemic",)),
    ):
        gold_set = GoldSet.of(read_reference(path, name=str(path)))
        outcomes = [outcome_of(method_on(tokeniser, name), gold_set) for name in ("bpe", "greedy")]
        tables += [ScoreTable(outcomes, scope, baseline=0) for scope in scopes]
    expected = {
        "scores.csv": to_csv(scores_table(tables)),
        "scores.tex": to_latex(scores_table(tables)).encode(),
        "scores.md": to_markdown(scores_table(tables)).encode(),
    }
    for name, content in expected.items():
        path = folder / "new" / name
        run = morphgraph(*ON_GOLD, "morphs.tsv", "--methods", "bpe,greedy", "--out", path)
        assert run.code == 0
        assert run.out.splitlines()[-1] == f"saved {path}"
        assert path.read_bytes() == content


@pytest.mark.slow
def test_a_breakdown(morphgraph):
    given = ("--scores", "exact", "--methods", "ideal", "--by", "length")
    given = (*given, "--set", "resamples=200,seed=3")
    arguments = (*NL, *given)
    told = morphgraph(*arguments, "--json").json
    [report] = told["breakdowns"]
    for one in (report, *told["tables"]):
        assert "|interval:bootstrap 200 seed 3|" in one["signature"]
    assert (report["by"], report["score"]) == ("length", "exact")
    tokeniser = load_tokeniser("demo:nl")
    gold = read_reference(demo_gold_path("nl"), name="demo:nl")
    gold_set = GoldSet.of(gold)
    found = [outcome_of(method_on(tokeniser, name), gold_set) for name in ("bpe", "flota")]
    scored = break_down(found, "length", "exact")
    assert [(row["tokeniser"], row["group"], row["words"], row["value"]) for row in
            report["rows"]] == [
        (label, *group, estimate.value)
        for label, estimates in zip(("BPE", "FLOTA"), scored.rows, strict=True)
        for group, estimate in zip(scored.groups, estimates, strict=True)
    ]  # fmt: skip
    assert morphgraph(*arguments).out.rstrip().endswith(report["signature"])


def test_predictions_beside_a_tokeniser(morphgraph, folder):
    """Of the 4 gold boundaries un|do|ing, un|do and do|ing, one is missed; one split is wrong."""
    theirs, saved = folder / "theirs.tsv", folder / "morfessor.txt"
    theirs.write_text("undoing\tun @@doing\nundo\tun @@do\ndoing\tdo @@i @@ng\n")
    saved.write_text("# by hand\n1 un + do + ing\n1 un + do\n3 do + ing\n")
    arguments = (*ON_GOLD, "--methods", f"bpe,{theirs},{saved}",
                 "--scope", "morphemic", "--scores", "precision,recall")  # fmt: skip
    run = morphgraph(*arguments, "--json")
    [table] = run.json["tables"]
    rows = table["rows"]
    assert [row["tokeniser"] for row in rows] == ["BPE", "theirs", "morfessor"]
    assert values(table, 1) == {"precision": 3 / 4, "recall": 3 / 4}
    assert values(table, 2) == {"precision": 1, "recall": 1}
    assert 0 < rows[1]["scores"]["recall"]["p"] <= 1, "tested like any other"
    assert "75.00" in morphgraph("score", theirs, "gold.tsv").out


F1 = ("--scope", "morphemic", "--scores", "f1", "--json")


@pytest.mark.slow
def test_what_learns_is_scored_on_other_words(morphgraph):
    methods = (*F1, "--methods", "bpe,knockout,rebpe")
    tokeniser, gold = mg.load("demo:nl"), mg.read_gold("demo:nl")
    for holdout, words in ((0, "all words"), (0.5, "kept aside 0.5 by families, seed 2")):
        run = morphgraph("score", *DEMO, *methods, "--holdout", holdout, "--set", "seed=2")
        [table] = run.json["tables"]
        assert table["words"] == words
        assert [row["held_in"] for row in table["rows"]] == [False, holdout == 0, holdout == 0]
        knockout = tokeniser.knock_out(gold, holdout=holdout, seed=2)
        rebpe = tokeniser.rebpe(gold, holdout=holdout, seed=2)
        known = (knockout.before.f1, knockout.after.f1, rebpe.after.f1)
        assert [values(table, row)["f1"] for row in range(3)] == list(map(pytest.approx, known))
        # What has seen the words is not tested against what has not; on unseen words it is.
        p = table["rows"][1]["scores"]["f1"]["p"]
        assert p == (pytest.approx(1 / 1001) if holdout else None)
        assert ("|test:" in table["rows"][1]["signature"]) == (holdout > 0)


@pytest.mark.slow
def test_a_recipe_tells_it_too_but_not_of_baselines(morphgraph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "made"
    baseline = ("--set", "select=last,percent=10")
    for more, words in (((), "kept aside 0.2 by families, seed 0"), (baseline, "all words")):
        morphgraph("knockout", "demo:nl", "demo:nl", "--out", "made", *more)
        for given in (("demo:nl", "--recipe", made / "recipe.json"), (made,)):
            [table] = morphgraph("score", *given, DEMO[1], *F1).json["tables"]
            assert table["words"] == words, given
            assert [row["held_in"] for row in table["rows"]] == [False], given

"""``morphgraph score``: what it prints, writes and refuses; that its neighbours can be reached."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from command import Command

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
ON_BOTH = (*ON_GOLD, "morphs.tsv")
DEMO = ("demo:nl", "demo:nl")
NL = ("score", *DEMO, "--scope", "morphemic", "--methods", "bpe,flota", "--scores", "precision")


def values(table: dict[str, Any], row: int = 0) -> dict[str, float | None]:
    return {name: found["value"] for name, found in table["rows"][row]["scores"].items()}


# --- what is scored -------------------------------------------------------------------------------


def test_models_and_a_recipe(morphgraph: Command, folder: Path) -> None:
    """Without “undoing” and “undo”, BPE makes un|do|ing, as the gold has it."""
    tokeniser = load_tokeniser("tokenizer.json")
    model, recipe = folder / "before.json", folder / "recipe.json"
    model.write_bytes(write_model(method_on(tokeniser, "bpe")))
    tokeniser.graph.knockout(["undoing", "undo"])
    recipe.write_bytes(write_recipe(tokeniser))
    report = morphgraph(
        *ON_GOLD, "--recipe", recipe, "--methods", f"bpe,{model}", "--scope", "morphemic", "--json"
    ).json
    [table] = report["tables"]
    assert [row["tokeniser"] for row in table["rows"]] == ["BPE", "before"]
    assert [values(table, row)["recall"] for row in (0, 1)] == [1, 1 / 4]
    assert table["rows"][0]["signature"] != table["rows"][1]["signature"]


# --- files ----------------------------------------------------------------------------------------


def test_files(morphgraph: Command, folder: Path) -> None:
    tokeniser = load_tokeniser("tokenizer.json")
    tables = []
    for path, scopes in (
        ("gold.tsv", ("morphemic", "whole-word")),
        ("morphs.tsv", ("morphemic",)),
    ):
        gold_set = GoldSet.of(read_reference(path, name=str(path)))
        outcomes = [outcome_of(method_on(tokeniser, name), gold_set) for name in ("bpe", "greedy")]
        tables += [ScoreTable(outcomes, scope, baseline=0) for scope in scopes]  # type: ignore[arg-type]
    expected = {
        "scores.csv": to_csv(scores_table(tables)),
        "scores.tex": to_latex(scores_table(tables)).encode(),
        "scores.md": to_markdown(scores_table(tables)).encode(),
    }
    for name, content in expected.items():
        path = folder / "new" / name
        run = morphgraph(*ON_BOTH, "--methods", "bpe,greedy", "--out", path)
        assert run.code == 0
        assert run.out.splitlines()[-1] == f"saved {path}"
        assert path.read_bytes() == content
    rows = list(csv.DictReader(io.StringIO(expected["scores.csv"].decode())))
    assert [(row["reference"], row["scope"], row["tokeniser"]) for row in rows] == [
        ("gold.tsv", "morphemic", "BPE"),
        ("gold.tsv", "morphemic", "Greedy"),
        ("gold.tsv", "whole-word", "BPE"),
        ("gold.tsv", "whole-word", "Greedy"),
        ("morphs.tsv", "morphemic", "BPE"),
        ("morphs.tsv", "morphemic", "Greedy"),
    ]
    assert float(rows[0]["recall"]) == 1 / 4
    assert rows[2]["recall"] == "n/a"


# --- breakdowns -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_breakdown(morphgraph: Command) -> None:
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


# --- other programs -------------------------------------------------------------------------------


def test_predictions_beside_a_tokeniser(morphgraph: Command, folder: Path) -> None:
    """Of the 4 gold boundaries un|do|ing, un|do and do|ing, one is missed; one split is wrong."""
    theirs, saved = folder / "theirs.tsv", folder / "morfessor.txt"
    theirs.write_text("undoing\tun @@doing\nundo\tun @@do\ndoing\tdo @@i @@ng\n")
    saved.write_text("# by hand\n1 un + do + ing\n1 un + do\n3 do + ing\n")
    arguments = (*ON_GOLD, "--methods", f"bpe,{theirs},{saved}",
                 "--scope", "morphemic", "--scores", "precision,recall")  # fmt: skip
    run = morphgraph(*arguments, "--json")
    assert (run.code, run.err) == (0, "")
    [table] = run.json["tables"]
    rows = table["rows"]
    assert [row["tokeniser"] for row in rows] == ["BPE", "theirs", "morfessor"]
    assert [row["vocab_size"] for row in rows] == [12, None, None]
    assert values(table, 1) == {"precision": 3 / 4, "recall": 3 / 4}
    assert values(table, 2) == {"precision": 1, "recall": 1}
    assert 0 < rows[1]["scores"]["recall"]["p"] <= 1, "tested like any other"
    assert rows[1]["scores"]["recall"]["interval"][0] < 3 / 4
    assert "|tokeniser:predictions:theirs.tsv@" in rows[1]["signature"]
    alone = morphgraph("score", theirs, "gold.tsv")
    assert (alone.code, alone.err) == (0, "")
    assert "75.00" in alone.out


# --- compare --------------------------------------------------------------------------------------


def test_silver_beside_gold_is_noted(morphgraph: Command, folder: Path) -> None:
    silver = "# silver: Morfessor\nundo\tun do\n"
    Path("silver.tsv").write_text(silver, encoding="utf-8")
    both = morphgraph(*ON_GOLD, "silver.tsv", "--out", "scores.md")
    assert both.out.count("Silver and gold references are mixed: ") == 1
    assert "Silver and gold references are mixed: " in Path("scores.md").read_text(encoding="utf-8")
    for one in (ON_BOTH, (*ON_GOLD[:-1], "silver.tsv")):
        run = morphgraph(*one, "--out", "scores.tex")
        assert "are mixed" not in run.out
    written = Path("scores.tex").read_text(encoding="utf-8")
    assert "against silver segmentations" in written

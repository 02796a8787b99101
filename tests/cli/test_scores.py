"""``morphgraph score``: what it prints, writes and refuses; that its neighbours can be reached."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

from morphgraph.core.files import demo_gold_path
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.formats.loading import load_tokeniser, vocabulary_of
from morphgraph.formats.recipe import write_recipe
from morphgraph.reference.readers import read_reference
from morphgraph.score.breakdowns import break_down
from morphgraph.score.flota_scores import flota_scores
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import GROUPS, METRICS, USUAL
from morphgraph.score.outcome import ideal, outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.score.uncertainty import Draws
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on, standard_segmenter
from morphgraph.tables.scores import scores_table
from morphgraph.tables.writing import to_csv, to_latex, to_markdown

ON_GOLD = ("score", "tokenizer.json", "gold.tsv")
ON_BOTH = (*ON_GOLD, "morphs.tsv")
DEMO = ("demo:nl", "demo:nl")
NL = ("score", *DEMO, "--scope", "morphemic", "--methods", "bpe,flota", "--scores", "precision")


def values(table: dict[str, Any], row: int = 0) -> dict[str, float | None]:
    return {name: found["value"] for name, found in table["rows"][row]["scores"].items()}


def printed(out: str) -> list[list[str]]:
    """The rows of printed tables: cells are apart by two spaces at least."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in out.split("\n")]


# --- what is scored -------------------------------------------------------------------------------


def test_scores_by_hand(morphgraph: Command, folder: Path) -> None:
    """BPE: undoing, undo, do|ing. Of 4 gold boundaries, the one in doing is a split."""
    run = morphgraph(*ON_BOTH, "--set", "resamples=0", "--json")
    assert (run.code, run.err) == (0, "")
    tables = run.json["tables"]
    assert [(t["reference"], t["scope"], t["weighting"]) for t in tables] == [
        ("gold.tsv", "morphemic", "types"),
        ("gold.tsv", "whole-word", "types"),
        ("morphs.tsv", "morphemic", "types"),
    ]
    first = {"precision": 1, "recall": 1 / 4, "f1": 2 / 5, "exact": 1 / 3}
    first |= {"over": 0, "under": 2 / 3, "fertility": 4 / 3}
    found = values(tables[0])
    assert list(found) == list(USUAL)
    assert {name: found[name] for name in first} == pytest.approx(first)
    # No whole-word boundaries: recall and F1 are undefined; the one split is wrong.
    whole = values(tables[1])
    assert (whole["precision"], whole["recall"], whole["f1"]) == (0, None, None)
    assert whole["exact"] == pytest.approx(2 / 3)
    assert values(tables[2])["f1"] == 1


def test_the_shape_of_json(morphgraph: Command, folder: Path) -> None:
    given = ("--methods", "bpe,flota,ideal", "--scores", "f1,fertility", "--json")
    report = morphgraph(*ON_BOTH, *given).json
    assert list(report) == ["tables"]
    of_table = ["reference", "partial", "skipped", "scope", "weighting", "words"]
    of_table += ["rows", "signature"]
    of_row = ["tokeniser", "error", "vocab_size", "held_in", "scores", "signature"]
    for table, morphs in zip(report["tables"], (3, 3, 2), strict=True):
        assert list(table) == of_table
        assert table["words"] == "all words"
        rows = table["rows"]
        for row in rows:
            assert list(row) == of_row
            assert (row["held_in"], row["error"]) == (False, None)
            assert list(row["scores"]) == ["f1", "fertility"]
            for score in row["scores"].values():
                assert list(score) == ["value", "interval", "p"]
                assert len(score["interval"]) == 2
        # Neither the baseline nor the gold is tested; FLOTA cuts just as BPE does.
        assert [rows[n]["scores"]["f1"]["p"] for n in (0, 2)] == [None, None]
        assert rows[1]["scores"]["fertility"]["p"] == 1
        # un, do, undo, in, ing, undoing and u n d o i g; the morphs are three
        sizes = [(row["tokeniser"], row["vocab_size"]) for row in rows]
        assert sizes == [("BPE", 12), ("FLOTA", 12), ("Ideal", morphs)]


@pytest.mark.slow
def test_json_is_the_library_s(morphgraph: Command) -> None:
    given = ["demo:de", "--methods", "bpe,dropout(p=0.3, seed=2),flota,ideal"]
    given += ["--scores", "all", "--set", "baseline=3,seed=5,resamples=200"]
    report = morphgraph("score", *DEMO, *given, "--frequencies", "wordfreq:nl", "--json").json
    tokeniser = load_tokeniser("demo:nl")
    named = {"bpe": {}, "dropout": {"p": 0.3, "seed": 2}, "flota": {}}
    methods = [method_on(tokeniser, name, given) for name, given in named.items()]
    known = dict(wordfreq_counts("nl").items())
    tables = iter(report["tables"])
    for language in ("nl", "de"):
        gold = read_reference(demo_gold_path(language), name=f"demo:{language}")
        gold_set = GoldSet.of(gold, known, "wordfreq:nl")
        outcomes = [*(outcome_of(method, gold_set) for method in methods), ideal(gold_set)]
        for scope in ("morphemic", "whole-word"):
            for weighting in ("types", "tokens"):
                made = ScoreTable(
                    outcomes, scope, weighting, tuple(METRICS), baseline=2, draws=Draws(200, seed=5)
                )
                table = next(tables)
                assert table["signature"] == made.signature
                for number, (row, found) in enumerate(
                    zip(table["rows"], made.estimates, strict=True)
                ):
                    assert row["signature"] == made.signature_of(number)
                    assert found is not None
                    for name, one in found.items():
                        score = row["scores"][name]
                        got = [score["value"], *score["interval"], score["p"]]
                        wanted = [one.value, one.interval.low, one.interval.high, one.p]
                        assert [np.nan if each is None else each for each in got] == (
                            pytest.approx(wanted, nan_ok=True)
                        )
    assert next(tables, None) is None


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


# --- which scores ---------------------------------------------------------------------------------


def test_help_lists_every_score(morphgraph: Command, folder: Path) -> None:
    run = morphgraph("score", "--scores", "help")
    assert (run.code, run.err) == (0, "")
    rows = {row[1]: (row[0], row[2]) for row in printed(run.out) if len(row) == 3}
    del rows["score"]
    assert list(rows) == list(METRICS)
    for name, metric in METRICS.items():
        assert name in GROUPS[rows[name][0]]
        assert metric.meaning.startswith(rows[name][1][:40])


# --- baseline and intervals -----------------------------------------------------------------------


@pytest.mark.slow
def test_the_baseline(morphgraph: Command) -> None:
    first = morphgraph(*NL, "--json").json["tables"][0]
    assert first["rows"][0]["scores"]["precision"]["p"] is None
    assert first["rows"][1]["scores"]["precision"]["p"] == pytest.approx(1 / 1001)
    assert "|test:approximate randomisation 1000 seed 0 against BPE:" in first["signature"]
    second = morphgraph(*NL, "--set", "baseline=2", "--json").json["tables"][0]
    assert second["rows"][1]["scores"]["precision"]["p"] is None
    assert second["rows"][0]["scores"]["precision"]["p"] == pytest.approx(1 / 1001)
    assert "against FLOTA" in second["signature"]
    none = morphgraph(*NL, "--set", "baseline=0", "--json").json["tables"][0]
    assert [row["scores"]["precision"]["p"] for row in none["rows"]] == [None, None]
    assert "|test:" not in none["signature"]
    assert "*" not in morphgraph(*NL, "--set", "baseline=0").out
    assert "***" in morphgraph(*NL).out


def test_a_printed_table(morphgraph: Command, folder: Path) -> None:
    given = (*ON_GOLD, "--set", "resamples=0", "--scores", "precision,recall,fertility")
    lines = morphgraph(*given).out.splitlines()
    assert lines[0] == "gold.tsv, morphemic boundaries over word types"
    assert printed(lines[1])[0] == [
        "Tokeniser", "|V|", "Precision % ↑", "Recall % ↑", "Tokens per word"]  # fmt: skip
    assert printed(lines[2])[0] == ["BPE", "12", "100.00", "25.00", "1.33"]
    assert lines[3] == "gold.tsv, whole-word boundaries over word types"
    assert [line for line in lines if line.startswith("reference:gold.tsv@")] == [
        lines[7], lines[8]]  # fmt: skip
    assert lines[6] == "n/a: undefined, or not measured.", "no other marks to explain"


def test_one_tokeniser_on_several_references_is_one_table(
    morphgraph: Command, folder: Path
) -> None:
    given = (*ON_BOTH, "--set", "resamples=0", "--scope", "morphemic")
    lines = morphgraph(*given).out.splitlines()
    assert lines[0] == "BPE, morphemic boundaries over word types"
    assert printed(lines[1])[0] == [
        "Language", "Script", "Entries", "F1 % ↑", "Precision % ↑", "Recall % ↑",
        "Tokens per word", "Cut nowhere %",
    ]  # fmt: skip
    # doing is do ing in both; undo and undoing are one token each in gold.tsv, as do in morphs.tsv.
    assert [printed(line)[0][:8] for line in lines[2:4]] == [
        ["morphs.tsv", "Latin", "2", "100.00", "100.00", "100.00", "1.50", "50.00"],
        ["gold.tsv", "Latin", "3", "40.00", "100.00", "25.00", "1.33", "66.67"],
    ]
    assert [line.partition("@")[0] for line in lines[4:6]] == [
        "reference:morphs.tsv", "reference:gold.tsv"]  # fmt: skip
    report = morphgraph(*given, "--json").json
    assert len(report["tables"]) == 2, "as ever"
    languages = [(row["language"], row["f1"]) for row in report["languages"]]
    assert languages == [("morphs.tsv", 1), ("gold.tsv", 0.4)]
    chosen = morphgraph(*given, "--scores", "exact", "--out", folder / "rows.csv")
    assert printed(chosen.out.splitlines()[1])[0][2:5] == [
        "Entries",
        "Exact match % ↑",
        "Cut nowhere %",
    ]
    rows = list(csv.DictReader(io.StringIO((folder / "rows.csv").read_text("utf-8"))))
    assert [(row["reference"], row["exact"]) for row in rows] == [
        ("gold.tsv", "0.3333333333333333"), ("morphs.tsv", "1.0")][::-1]  # fmt: skip
    assert "languages" not in morphgraph(*given, "--methods", "bpe,ideal", "--json").json
    assert "languages" not in morphgraph(*ON_GOLD, "--json").json


def test_partial_gold_is_told_beside_its_table(morphgraph: Command, folder: Path) -> None:
    partial = folder / "derivations.tsv"
    partial.write_text("do\tundo\tV\tV\tun\tprefix\n", encoding="utf-8")
    shown = morphgraph(*ON_GOLD, partial, "--set", "resamples=0").out
    note = "derivations.tsv: The gold is partial (one affix a word)"
    assert shown.count("gold is partial") == 1 and note in shown
    of_both = (*ON_GOLD, partial, "--set", "resamples=0", "--methods", "bpe,ideal")
    shown = morphgraph(*of_both).out
    assert shown.count("gold is partial") == 1 and note in shown
    found = morphgraph(*ON_GOLD, partial, "--json").json
    assert {table["partial"] for table in found["tables"]} == {"", "one affix a word"}


# --- signatures -----------------------------------------------------------------------------------


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


# --- FLOTA ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_flota(morphgraph: Command) -> None:
    arguments = ("score", *DEMO, "--set", "resamples=0", "--scores", "f1,flota")
    [report] = morphgraph(*arguments, "--json").json["flota"]
    tokeniser = load_tokeniser("demo:nl")
    found = flota_scores(
        vocabulary_of(tokeniser),
        read_reference(demo_gold_path("nl"), name="demo:nl"),
        standard_segmenter(tokeniser),
    )
    assert report["signature"] == found.signature
    assert len(report["rows"]) == len(found.scores) == 15
    # By the table above it: at most two of two morphs.
    out = morphgraph(*arguments).out
    rows = [row for row in printed(out) if row and row[0] in ("FLOTA", "FIRST", "LONGEST")]
    assert [(row[0], row[1]) for row in rows] == [
        (score.method, "∞" if score.k is None else str(score.k)) for score in found.scores
    ]
    assert [row[2] for row in rows] == [f"{100 * s.coverage:.2f}" for s in found.scores]
    assert out.rstrip().endswith(found.signature)
    assert "flota" not in morphgraph(*arguments[:-2], "--json").json


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
    run = morphgraph(*arguments)
    assert run.out.rstrip().endswith(report["signature"])
    assert "by characters of a word" in run.out
    [row] = [row for row in printed(run.out) if row and row[0] == "8–10"]
    assert row[1] == str(dict(scored.groups)["8–10"])


def test_boundaries_are_broken_down_once(morphgraph: Command) -> None:
    out = morphgraph("score", *DEMO, "--by", "boundaries").out
    assert out.count("Recall % by what meets at a boundary") == 1


# --- failures -------------------------------------------------------------------------------------


def test_a_method_that_fails_leaves_the_others(morphgraph: Command, folder: Path) -> None:
    arguments = (*ON_GOLD, "--methods", "bpe,trimmed,greedy", "--scope", "morphemic")
    [table] = morphgraph(*arguments, "--json").json["tables"]
    bpe, trimmed, greedy = table["rows"]
    assert trimmed["tokeniser"] == "Trimmed BPE"
    assert "needs the word counts" in trimmed["error"]
    assert "scores" not in trimmed
    assert (bpe["error"], greedy["error"]) == (None, None)
    out = morphgraph(*arguments).out
    assert ["Trimmed BPE", "failed"] in printed(out)
    assert "Trimmed BPE: Trimmed BPE needs the word counts" in out


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


def test_predictions_that_cannot_be_read_do_not_stop_others(
    morphgraph: Command, folder: Path
) -> None:
    broken, theirs = folder / "broken.txt", folder / "theirs.txt"
    broken.write_text("other wor ds\n")
    theirs.write_text("un do ing\nun do\ndo ing\n")
    given = ("gold.tsv", "morphs.tsv", "--methods", f"{broken},{theirs}")
    run = morphgraph("score", theirs, *given, "--scope", "morphemic")
    assert run.code == 0
    assert "broken: broken.txt segments none of the 3 words of gold.tsv" in run.out
    assert ["broken", "failed"] in [row[:2] for row in printed(run.out)]
    assert any(row[:1] == ["theirs"] and row[2].startswith("100.00") for row in printed(run.out))


@pytest.mark.slow
def test_runs_give_means_and_deviations(morphgraph: Command, folder: Path) -> None:
    arguments = (*ON_GOLD, "--methods", "bpe,dropout(p=0.5, queue=true)", "--set", "runs=4")
    run = morphgraph(*arguments, "--scores", "fertility", "--set", "resamples=0", "--json")
    plain, dropout = run.json["tables"][0]["rows"]
    assert "deviation" not in plain["scores"]["fertility"]
    assert dropout["scores"]["fertility"]["deviation"] > 0
    assert "|runs:mean of 4 seeds in a row|" in dropout["signature"]
    assert "BPE-dropout(p=0.5,seed=0,queue=true):" in dropout["signature"]
    shown = morphgraph(*arguments, "--scores", "fertility", "--set", "resamples=0").out
    assert "BPE-dropout (p=0.5, queue=true)" in shown
    assert "Means over seeds, ± their standard deviation." in shown


# --- compare --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_comparisons_of_models_and_their_files(morphgraph: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_bytes(write_model(method_on(load_tokeniser("demo:nl"), "dropout", {"p": 0.5})))
    for name in ("words.csv", "words.tex", "words.html"):
        result = morphgraph(
            "compare", *DEMO, "bpe", model, "--limit", "10", "--out", tmp_path / name
        )
        assert result.code == 0
        assert "model" in result.out
        assert (tmp_path / name).stat().st_size > 300
    *rows, last = csv.DictReader((tmp_path / "words.csv").open(encoding="utf-8", newline=""))
    assert (len(rows), last["Word"]) == (10, "signature")
    assert {"BPE", "model"} <= set(rows[0])


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

"""``morphgraph score``: what was learned from the reference is told, and scored on words unseen."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from command import Command

import morphgraph as mg

NL = ("score", "demo:nl", "demo:nl", "--scope", "morphemic",
      "--scores", "f1")  # fmt: skip


def f1(table: dict[str, Any], row: int) -> Any:
    return table["rows"][row]["scores"]["f1"]["value"]


@pytest.mark.slow
def test_what_learns_is_scored_on_other_words(morphgraph: Command) -> None:
    methods = ("--methods", "bpe,knockout,rebpe", "--json")
    tokeniser, gold = mg.load("demo:nl"), mg.read_gold("demo:nl")
    for holdout, words in ((0, "all words"), (0.5, "kept aside 0.5 by families, seed 2")):
        run = morphgraph(*NL, *methods, "--holdout", holdout, "--set", "seed=2")
        [table] = run.json["tables"]
        assert table["words"] == words
        rows = table["rows"]
        assert [row["tokeniser"] for row in rows] == ["BPE", "BPE-knockout", "ReBPE"]
        assert [row["held_in"] for row in rows] == [False, holdout == 0, holdout == 0]
        knockout = tokeniser.knock_out(gold, holdout=holdout, seed=2)
        rebpe = tokeniser.rebpe(gold, holdout=holdout, seed=2)
        known = (knockout.before.f1, knockout.after.f1, rebpe.after.f1)
        assert [f1(table, row) for row in range(3)] == list(map(pytest.approx, known))
        # What has seen the words is not tested against what has not; on unseen words it is.
        p = rows[1]["scores"]["f1"]["p"]
        assert p == (pytest.approx(1 / 1001) if holdout else None)
        assert ("|test:" in rows[1]["signature"]) == (holdout > 0)


@pytest.mark.slow
def test_it_is_told_wherever_scores_are_shown(morphgraph: Command, tmp_path: Path) -> None:
    arguments = (*NL, "--methods", "bpe,flota,knockout(threshold=0.6)", "--holdout", "0")
    out = morphgraph(*arguments, "--out", tmp_path / "a.md").out
    note = "Scored on the words it learned from: a method fits these better than any others"
    assert "BPE-knockout (threshold=0.6) (scored on the words it learned from)" in out
    assert note in out
    text = (tmp_path / "a.md").read_text("utf-8")
    [held_in] = [
        line for line in text.splitlines() if "(scored on the words it learned from)" in line
    ]
    assert "**" not in held_in
    assert "**" in next(line for line in text.splitlines() if line.startswith("| FLOTA"))
    morphgraph(*arguments, "--out", tmp_path / "a.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text("utf-8"))))
    assert [(row["words"], row["scored on the words it learned from"]) for row in rows] == [
        ("all words", "no"), ("all words", "no"), ("all words", "yes")]  # fmt: skip
    morphgraph(*arguments, "--out", tmp_path / "a.tex")
    assert note[:50] in (tmp_path / "a.tex").read_text("utf-8")
    kept = morphgraph(*arguments[:-2]).out
    assert "word types, kept aside 0.2 by families, seed 0" in kept and note not in kept


@pytest.mark.parametrize(
    ("methods", "more", "words"),
    [
        ("bpe,flota", (), "all words"),
        ("bpe,knockout", ("--holdout", "0"), "all words"),
        ("bpe,knockout", (), "kept aside 0.2 by families, seed 0"),
        ("bpe", ("--holdout", "0.2"), "all words"),
    ],
)
def test_what_is_kept_aside(
    morphgraph: Command, methods: str, more: tuple[str, ...], words: str
) -> None:
    run = morphgraph(*NL, "--methods", methods, *more, "--set", "resamples=0", "--json")
    assert [table["words"] for table in run.json["tables"]] == [words]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["knockout", "rebpe"])
@pytest.mark.parametrize("holdout", ["0", "0.2"])
def test_a_file_tells_what_it_was_learned_from(
    morphgraph: Command, tmp_path: Path, command: str, holdout: str
) -> None:
    made, exported = tmp_path / "made", tmp_path / "exported"
    assert morphgraph(command, *NL[1:3], "--holdout", holdout, "--out", made).code == 0
    assert morphgraph("export", made, "--out", exported).code == 0
    words = "all words" if holdout == "0" else "kept aside 0.2 by families, seed 0"
    for folder in (made, exported):
        mine = ("score", folder, *NL[2:], "--methods", "bpe,flota", "--json")
        [table] = morphgraph(*mine).json["tables"]
        assert table["words"] == words
        assert [row["held_in"] for row in table["rows"]] == [holdout == "0"] * 2
        [foreign] = morphgraph("score", folder, "demo:de", *NL[3:], "--json").json["tables"]
        assert foreign["words"] == "all words"
        assert [row["held_in"] for row in foreign["rows"]] == [False]


def test_one_word_is_learned_from_and_scored(morphgraph: Command, tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_text("undo\tun do\n")
    run = morphgraph("score", "demo:en", gold, "--methods", "knockout", "--json")
    assert run.json["tables"][0]["words"] == "all words"
    assert run.json["tables"][0]["rows"][0]["held_in"]


def test_a_recipe_tells_it_too_but_not_of_baselines(
    morphgraph: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "made"
    baseline = ("--set", "select=last,percent=10")
    for more, words in (((), "kept aside 0.2 by families, seed 0"), (baseline, "all words")):
        morphgraph("knockout", "demo:nl", "demo:nl", "--out", "made", *more)
        for given in (("demo:nl", "--recipe", made / "recipe.json"), (made,)):
            [table] = morphgraph("score", *given, *NL[2:], "--json").json["tables"]
            assert table["words"] == words, given
            assert [row["held_in"] for row in table["rows"]] == [False], given

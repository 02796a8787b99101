"""``morphgraph score``: what was learned from the reference is told, and scored on words unseen."""

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

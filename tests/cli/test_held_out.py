"""``morphgraph score``: what was learned from the reference is told, and scored on words unseen."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from command import Command

import morphgraph as mg
from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.refine.knockout import KnockoutSettings, knock_out
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark

NL = ("score", "demo:nl", "demo:nl", "--scope", "morphemic",
      "--scores", "f1")  # fmt: skip


def f1(table: dict[str, Any], row: int) -> Any:
    return table["rows"][row]["scores"]["f1"]["value"]


@pytest.mark.slow
def test_half_of_the_words_are_held_out_from_what_learns(morphgraph: Command) -> None:
    run = morphgraph(*NL, "--methods", "bpe,knockout,rebpe", "--set", "seed=2", "--json")
    assert (run.code, run.err) == (0, "")
    whole, half = run.json["tables"]
    assert [whole["words"], half["words"]] == ["all words", "held out: holdout 0.5 seed 2"]
    assert [row["tokeniser"] for row in half["rows"]] == ["BPE", "BPE-knockout", "ReBPE"]
    assert [row["held_in"] for row in whole["rows"]] == [False, True, True]
    assert [row["held_in"] for row in half["rows"]] == [False, False, False]
    reference = read_reference(demo_gold_path("nl"))
    for table, holdout in ((whole, 0.0), (half, 0.5)):
        edited = load_tokeniser("demo:nl")
        benchmark = Benchmark.build(edited, reference)
        result = knock_out(edited, benchmark, KnockoutSettings(holdout=holdout, seed=2))
        assert f1(table, 0) == pytest.approx(result.before[0].f1)
        assert f1(table, 1) == pytest.approx(result.after[0].f1)
        edited = load_tokeniser("demo:nl")
        learned = ReBPERun(
            edited, Benchmark.build(edited, reference), ReBPESettings(holdout=holdout, seed=2)
        )
        learned.finish()
        assert f1(table, 2) == pytest.approx(learned.phases[-1].score.f1)
    # What has seen the words is not tested against what has not; on unseen words it is.
    assert [row["scores"]["f1"]["p"] for row in whole["rows"]] == [None, None, None]
    assert half["rows"][1]["scores"]["f1"]["p"] == pytest.approx(1 / 1001)
    assert "|test:" not in whole["rows"][1]["signature"]
    assert "(holdout 0.5 seed 2)" in half["rows"][0]["signature"]


@pytest.mark.slow
def test_it_is_told_wherever_scores_are_shown(morphgraph: Command, tmp_path: Path) -> None:
    arguments = (*NL, "--methods", "bpe,flota,knockout(threshold=0.6)")
    out = morphgraph(*arguments, "--out", tmp_path / "a.md").out
    assert "BPE-knockout (threshold=0.6) (scored on the words it learned from)" in out
    assert "word types, held out: holdout 0.5 seed 0" in out
    assert "Scored on the words it learned from: a method fits these better than any others" in out
    text = (tmp_path / "a.md").read_text("utf-8")
    [held_in] = [
        line for line in text.splitlines() if "(scored on the words it learned from)" in line
    ]
    assert "**" not in held_in, "though it is the highest"
    assert "**" in next(line for line in text.splitlines() if line.startswith("| FLOTA"))
    assert "held out: holdout 0.5 seed 0**" in text
    morphgraph(*arguments, "--out", tmp_path / "a.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text("utf-8"))))
    assert [(row["words"], row["scored on the words it learned from"]) for row in rows] == [
        ("all words", "no"), ("all words", "no"), ("all words", "yes"),
        *[("held out: holdout 0.5 seed 0", "no")] * 3]  # fmt: skip
    morphgraph(*arguments, "--out", tmp_path / "a.tex")
    assert "Scored on the words it learned from: a method fits" in (tmp_path / "a.tex").read_text(
        "utf-8"
    )


@pytest.mark.parametrize(
    ("methods", "more", "words"),
    [
        ("bpe,flota", (), ["all words"]),
        ("bpe,knockout", ("--holdout", "0"), ["all words"]),
        ("bpe,knockout(select=random)", ("--holdout", "0"), ["all words"]),
        ("bpe", ("--holdout", "0.2"), ["all words", "held out: holdout 0.2 seed 0"]),
    ],
)
def test_what_is_held_out(
    morphgraph: Command, methods: str, more: tuple[str, ...], words: list[str]
) -> None:
    run = morphgraph(*NL, "--methods", methods, *more, "--set", "resamples=0", "--json")
    assert [table["words"] for table in run.json["tables"]] == words


@pytest.mark.parametrize("command", ["knockout", "rebpe"])
def test_a_second_run_is_scored_on_a_fifth_of_the_words(morphgraph: Command, command: str) -> None:
    run = morphgraph(command, "demo:nl", "demo:nl", "--set", "seed=3")
    first, second = (run.out.index(said) for said in ("on held-out words (", "on all words, which"))
    assert first < second and "(holdout 0.2 seed 3), all learned again without them" in run.out
    shown = morphgraph(command, "demo:nl", "demo:nl", "--set", "seed=3", "--json").json["held_out"]
    tokeniser = mg.load("demo:nl")
    learn = tokeniser.knock_out if command == "knockout" else tokeniser.rebpe
    again = learn(mg.read_gold("demo:nl"), seed=3).held_out
    for name, score in (("before", again.before), ("after", again.after)):
        assert shown[name]["scores"][0]["f1"] == pytest.approx(score.f1)
        assert shown[name]["signature"].split("|tokeniser:")[0] in score.signature
    plain = learn("demo:nl", holdout=0.2, seed=3)
    assert (plain.after.f1, plain.held_out) == (again.after.f1, plain)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["knockout", "rebpe"])
def test_a_file_tells_what_it_was_learned_from(
    morphgraph: Command, tmp_path: Path, command: str
) -> None:
    made = tmp_path / "made"
    begin = (command, "demo:nl", "demo:nl", "--out", made)
    assert morphgraph(*begin).code == 0
    exported = tmp_path / "exported"
    assert morphgraph("export", made, "--out", exported).code == 0
    for folder in (made, exported):
        mine = ("score", folder, *NL[2:], "--methods", "bpe,flota")
        whole, same = morphgraph(*mine, "--holdout", "0.2", "--json").json["tables"]
        assert [row["held_in"] for row in whole["rows"]] == [True, True]
        assert [row["held_in"] for row in same["rows"]] == [True, True], "all words were seen"
        [foreign] = morphgraph("score", folder, "demo:de", *NL[3:], "--json").json["tables"]
        assert [row["held_in"] for row in foreign["rows"]] == [False]


def test_a_reference_of_one_word_has_nothing_to_hold_out(
    morphgraph: Command, tmp_path: Path
) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_text("undo\tun do\n")
    run = morphgraph("score", "demo:en", gold, "--methods", "knockout")
    assert run.code != 0
    assert "A reference of 1 word has too few to hold out a share of 0.5." in run.err


KNOCKOUT = ("knockout", "demo:nl", "demo:nl", "--out", "made")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "made"


def test_a_file_that_tells_it_wrongly_is_an_error(morphgraph: Command, made: Path) -> None:
    morphgraph(*KNOCKOUT)
    path = made / "tokeniser.bte.json"
    document = json.loads(path.read_text("utf-8"))
    document["model"]["morphgraph"]["learned_from"][0]["seed"] = "x"
    path.write_text(json.dumps(document), encoding="utf-8")
    run = morphgraph("score", made, *NL[2:])
    assert "field model.morphgraph.learned_from: references with a name" in run.err


def test_a_recipe_tells_it_too_but_not_of_baselines(morphgraph: Command, made: Path) -> None:
    baseline = ("--set", "select=last,percent=10")
    for more, held_in in (((), True), (baseline, False)):
        morphgraph(*KNOCKOUT, *more)
        for given in (("demo:nl", "--recipe", made / "recipe.json"), (made,)):
            [table] = morphgraph("score", *given, *NL[2:], "--json").json["tables"][:1]
            assert [row["held_in"] for row in table["rows"]] == [held_in], given

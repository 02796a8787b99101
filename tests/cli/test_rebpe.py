"""``morphgraph rebpe``: what it prints and saves is what the library does."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import Command

from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.formats.recipe import read_recipe, replay
from morphgraph.reference.readers import read_reference
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_languages import Languages, LanguagesRun
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment

DEMO = ("demo:nl", "demo:nl")


def library_run(**settings: Any) -> ReBPERun:
    tokeniser = load_tokeniser("demo:nl")
    benchmark = Benchmark.build(tokeniser, read_reference(demo_gold_path("nl")))
    run = ReBPERun(tokeniser, benchmark, ReBPESettings(**settings))
    run.finish()
    return run


def without_seconds(phases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in p.items() if name != "seconds"} for p in phases]


@pytest.mark.slow
def test_json_log_recipe_and_tokeniser(morphgraph: Command, tmp_path: Path) -> None:
    result = morphgraph("rebpe", *DEMO, "--out", tmp_path, "--json")
    assert result.code == 0
    report = result.json
    run = library_run()
    assert without_seconds(report["phases"]) == without_seconds(
        [phase.to_dict() for phase in run.phases]
    )
    first = [phase["phase"] for phase in report["phases"][:4]]
    assert first == ["start", "anneal", "knockout", "reify"]
    assert all(phase["seconds"] > 0 for phase in report["phases"])
    assert report["converged"] is run.converged is True
    found = run.scored.scores(segment(run.graph, run.scored.words))
    assert report["scores"] == [score.to_dict() for score in found]
    assert report["phases"][-1]["f1"] == report["scores"][0]["f1"]
    assert "tokeniser:BTE:demo:nl@" in report["signature"]

    log = json.loads((tmp_path / "log.json").read_text())
    assert log["phases"] == report["phases"]
    assert log["signature"] == report["signature"]
    saved = {Path(path).name for path in report["saved"]}
    assert {"tokeniser.bte.json", "bte.py", "recipe.json", "ids.json", "log.json"} < saved
    assert report["tokens_added"] == run.tokens_added
    assert [check["name"] for check in report["checks"]][1] == "removed types emitted"
    # The saved tokeniser scores the same, and the recipe makes the same merges again.
    again = morphgraph("score", tmp_path, "demo:nl", "--json")
    assert again.json["scores"] == report["scores"]
    fresh = load_tokeniser("demo:nl")
    recipe = tmp_path / "recipe.json"
    replay(fresh, read_recipe(recipe.read_bytes(), "recipe.json"), "recipe.json")
    assert [fresh.graph.describe(m) for m in fresh.graph.merge_ids()] == [
        run.graph.describe(m) for m in run.graph.merge_ids()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--set", "reify=no", "--threshold", "0.7"], {"reify": False, "threshold": 0.7}),
        (["--set", "repair=no,iterations=3"], {"repair": False, "iterations": 3}),
        (
            ["--set", "minimum_good=2", "--set", "maximum-vocabulary=8003"],
            {"minimum_good": 2, "maximum_vocabulary": 8003},
        ),
        (["--set", "scope=whole-word"], {"scope": "whole-word"}),
    ],
)
def test_switches(morphgraph: Command, options: list[str], settings: dict[str, Any]) -> None:
    report = morphgraph("rebpe", *DEMO, *options, "--json").json
    run = library_run(**settings)
    # The last setting must make a difference of its own.
    others = library_run(**dict(list(settings.items())[:-1]))
    expected = without_seconds([phase.to_dict() for phase in run.phases])
    assert without_seconds(report["phases"]) == expected
    assert expected != without_seconds([phase.to_dict() for phase in others.phases])
    assert report["converged"] == run.converged


def test_table(morphgraph: Command) -> None:
    result = morphgraph("rebpe", *DEMO, "--set", "iterations=1")
    assert result.code == 0
    assert "knockout" in result.out
    assert "stopped at the limit of iterations" in result.out
    assert "|V| is now" in result.out


@pytest.mark.slow
def test_several_languages(morphgraph: Command, tmp_path: Path) -> None:
    given = ("rebpe", "demo:nl", "demo:nl", "demo:de")
    report = morphgraph(*given, "--weights", "1,2", "--out", tmp_path, "--json").json
    golds = [read_reference(demo_gold_path(code), name=f"demo:{code}") for code in ("nl", "de")]
    languages = Languages.joined(golds, [1, 2])

    def library(**settings: Any) -> LanguagesRun:
        tokeniser = load_tokeniser("demo:nl")
        benchmark = Benchmark.build(tokeniser, languages.reference)
        return LanguagesRun(tokeniser, benchmark, languages, ReBPESettings(**settings))

    run = library()
    run.finish()
    assert without_seconds(report["phases"]) == without_seconds(
        [phase.to_dict() for phase in run.phases]
    )
    unseen = library(holdout=0.2)
    before = unseen.held_out_f1()
    unseen.finish()
    after, first, last = unseen.held_out_f1(), run.phases[0], run.phases[-1]
    assert report["languages"] == [
        {
            "language": name,
            "weight": weight,
            "before": first.f1_by_language[name],
            "after": last.f1_by_language[name],
            "held_out": [before[name], after[name]],
        }
        for name, weight in (("demo:nl", 1), ("demo:de", 2))
    ]
    assert all(one["after"] > one["before"] for one in report["languages"])
    assert report["held_out"] is None
    # What was saved knows each of the references that it was learned from.
    scored = ("--scope", "morphemic", "--json")
    saved = tmp_path / "tokeniser.bte.json"
    for code in ("nl", "de"):
        found = morphgraph("score", saved, f"demo:{code}", *scored).json
        assert found["tables"][0]["rows"][0]["held_in"]
    run_again = morphgraph(*given, "--holdout", "0")
    lines = run_again.out.splitlines()
    place = lines.index("F1 % by language, on the words that it was learned from:")
    assert lines[place + 1].split() == ["language", "weight", "learned", "from"]
    assert "held_out" not in morphgraph(*given, "--holdout", "0", "--json").json["languages"][0]

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
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark

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
    result = morphgraph("rebpe", *DEMO, "--holdout", "0", "--out", tmp_path, "--json")
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
    last = report["after"]["scores"][0]["f1"]
    assert report["phases"][-1]["f1"] == last
    assert "tokeniser:BTE:demo:nl@" in report["after"]["signature"]

    log = json.loads((tmp_path / "log.json").read_text())
    assert log["phases"] == report["phases"]
    assert log["after"] == report["after"]
    saved = {Path(path).name for path in report["saved"]}
    assert {"tokeniser.bte.json", "merges.py", "recipe.json", "ids.json", "log.json"} < saved
    assert [check["name"] for check in report["checks"]][1] == "removed types emitted"
    # The saved tokeniser scores the same, and the recipe makes the same merges again.
    again = morphgraph("score", tmp_path, "demo:nl", "--json")
    assert again.json["tables"][0]["rows"][0]["scores"]["f1"]["value"] == last
    fresh = load_tokeniser("demo:nl")
    recipe = tmp_path / "recipe.json"
    replay(fresh, read_recipe(recipe.read_bytes(), "recipe.json"), "recipe.json")
    assert [fresh.graph.describe(m) for m in fresh.graph.merge_ids()] == [
        run.graph.describe(m) for m in run.graph.merge_ids()
    ]

"""``results.json``: every score of a run, with what ran and the checksums of its files."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest
import wordfreq

import morphgraph as mg
from morphgraph.core.files import demo_tokeniser_path

pytestmark = pytest.mark.slow

RECIPE = """\
name: small
languages: [en]
corpora: [{name: wordfreq, wordfreq: vi}]
tokenisers:
  - {name: demo, file: "demo:en"}
  - {name: copied, file: "copy.json"}
methods: [standard, dropout(p=0.1), knockout]
references: [{name: “mine”, source: gold.tsv}]
vocabulary: [renyi]
seeds: [0, 1]
"""
GOLD = "undo\tun do\nundoing\tun do ing\ndoing\tdo ing\nunbreakable\tun break able\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of `RECIPE`, which lies in the folder of its files."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.yaml").write_text(RECIPE)
    (folder / "gold.tsv").write_text(GOLD)
    (folder / "copy.json").write_bytes(demo_tokeniser_path("en").read_bytes())
    command = ["morphgraph", "evaluate", "small.yaml"]
    assert not mg.evaluate(
        folder / "small.yaml", folder / "run", workers=1, command=command
    ).failures
    return folder / "run"


def read(run):
    return json.loads((run / "results.json").read_text())


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_it_holds_every_result_of_a_run(run):
    document = read(run)
    results = pd.read_parquet(run / "results.parquet")
    names = ["tokeniser", "method", "reference", "seed"]
    values = ["metric", "scope", "step", "value", "low", "p", "entries", "signature"]
    found = [
        [*(row[name] for name in names), *(score[name] for name in values)]
        for row in document["rows"]
        for score in row["scores"]
    ]
    asked = results[[*names, *values]].astype(object)
    assert found == asked.where(asked.notna(), None).to_numpy().tolist()
    held_in = {(row["method"], row["held_in"]) for row in document["rows"] if row["reference"]}
    assert held_in == {("as it is", False), ("BPE-dropout", False), ("BPE-knockout", True)}
    ran = document["run"]
    assert (ran["recipe"], ran["languages"]) == (RECIPE, ["en"])
    assert ran["command"] == ["morphgraph", "evaluate", "small.yaml"]
    assert {"morphgraph", "numpy", "python"} <= ran["versions"].keys()


def test_sums_are_those_of_sha256sum(run):
    rows = read(run)["rows"]
    gold = sha256(GOLD.encode())
    copied = sha256((run.parent / "copy.json").read_bytes())
    counts = sha256(Path(wordfreq.available_languages("best")["vi"]).read_bytes())
    demo = sha256(demo_tokeniser_path("en").read_bytes())
    scored = [row["inputs"] for row in rows if row["tokeniser"] == "copied" and row["reference"]]
    assert all(row["reference"] == [gold] for row in scored)
    assert all(row["tokeniser"] == [copied] for row in scored)
    assert any(row.get("baseline") == [demo] for row in scored)
    figures = [r["inputs"] for r in rows if any("renyi" in one["metric"] for one in r["scores"])]
    assert all(row["counts"] == [counts] for row in figures)

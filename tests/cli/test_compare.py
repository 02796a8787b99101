"""``morphgraph compare``: what it prints and writes is what the library computes."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.score.comparison import Comparison
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on

Command = Callable[..., Any]
DEMO = ("--tokenizer", "demo:nl", "--reference", "demo:nl")


def test_json(morphgraph: Command) -> None:
    methods = "bpe,dropout(p=0.3, seed=2),flota(k=3),greedy"
    report = morphgraph("compare", *DEMO, "--methods", methods, "--limit", "80", "--json").json
    tokeniser = load_tokeniser("demo:nl")
    entries = read_reference(demo_gold_path("nl")).entries[:80]
    made = Comparison(
        [
            method_on(tokeniser, "bpe"),
            method_on(tokeniser, "dropout", {"p": 0.3, "seed": 2}),
            method_on(tokeniser, "flota", {"k": 3}),
            method_on(tokeniser, "greedy"),
        ],
        [entry.word for entry in entries],
        [entry.morphs for entry in entries],
    )
    assert [found["label"] for found in report["methods"]] == [
        "BPE",
        "BPE-dropout (p=0.3, seed=2)",
        "FLOTA (k=3)",
        "Greedy",
    ]
    assert [found["f1"] for found in report["methods"]] == [s.f1 for s in made.summaries]
    assert report["agreement"] == made.agreement.tolist()
    assert len(report["words"]) == 80
    for row, word in zip(made.rows, report["words"], strict=True):
        assert word["word"] == row.text
        assert list(word["tokens"].values()) == [list(cell.tokens) for cell in row.cells]


@pytest.mark.slow
def test_models_and_files(morphgraph: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_bytes(write_model(method_on(load_tokeniser("demo:nl"), "dropout", {"p": 0.5})))
    for name in ("words.csv", "words.tex", "words.html"):
        result = morphgraph(
            "compare", *DEMO, "--model", model, "--limit", "10", "--out", tmp_path / name
        )
        assert result.code == 0
        assert "model" in result.out
        assert (tmp_path / name).stat().st_size > 300
    rows = list(csv.DictReader((tmp_path / "words.csv").open(encoding="utf-8", newline="")))
    assert len(rows) == 10
    assert {"BPE", "model"} <= set(rows[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--methods", "nope"], "There is no method “nope”"),
        (["--methods", "dropout(p=2)"], "p=2 does not fit. Give a number from 0 to 1."),
        (["--methods", "trimmed"], "word counts"),
        (["--methods", "rebpe"], "rebpe learns from the reference"),
        (["--methods", "picky"], "picky needs a model that was trained so"),
        (["--methods", ","], "no method"),
        (["--out", "words.pdf"], ".csv, .tex or .html"),
    ],
)
def test_bad_options(morphgraph: Command, options: list[str], message: str) -> None:
    result = morphgraph("compare", *DEMO, *options)
    assert result.code == 2
    assert message in result.err

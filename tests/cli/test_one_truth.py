"""A command says what the library says: it is a call of it (an evaluation: see `test_evaluate`)."""

import json

import pandas as pd
import pytest
from effort import one_of

import morphgraph as mg
from morphgraph.core.text import without_nan
from morphgraph.segment.method import parse_method

pytestmark = pytest.mark.slow
TIMES = ("s", "seconds")


def timeless(value):
    """The data as JSON, without what every run takes."""
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items() if key not in TIMES}
    return [timeless(each) for each in value] if isinstance(value, list | tuple) else value


def data(value):
    return timeless(json.loads(json.dumps(without_nan(value))))


NL = ("demo:nl", "demo:nl")
CALLS = {
    "blame": (("blame", *NL, "--limit", "0"), lambda t, g: t.blame(g).to_dict()),
    "knockout": (("knockout", *NL), lambda t, g: t.knock_out(g).to_dict()),
    "another threshold": (
        ("knockout", *NL, "--threshold", "0.4", "--holdout", "0", "--portable"),
        lambda t, g: t.knock_out(g, threshold=0.4, holdout=0, portable=True).to_dict(),
    ),
    "random types": (
        ("knockout", *NL, "--set", "select=random", "--seed", "3"),
        lambda t, g: t.knock_out(g, select="random", seed=3).to_dict(),
    ),
    "rebpe": (
        ("rebpe", *NL, "--iterations", "2"),
        lambda t, g: t.rebpe(g, iterations=2).to_dict(),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_command_is_a_call(name, morphgraph):
    words, call = CALLS[name]
    run = morphgraph(*words, "--json")
    found = timeless(run.json)
    for saved in ("checks", "saved"):
        assert not found.pop(saved, [])
    assert found == data(call(mg.load("demo:nl"), mg.read_gold("demo:nl")))


def test_what_rebpe_saves_tells_its_phases(morphgraph, tmp_path):
    report = morphgraph("rebpe", *NL, "--iterations", "1", "--out", tmp_path, "--json").json
    log = json.loads((tmp_path / "log.json").read_text())
    assert (log["phases"], log["after"]) == (report["phases"], report["after"])
    recipe = ("--recipe", tmp_path / "recipe.json")
    again = morphgraph("knockout", *NL, "--count", "0", *recipe, "--json").json
    assert again["after"]["scores"] == report["after"]["scores"]


@pytest.mark.parametrize("method", ["bpe", "picky(threshold=0.8)"])
def test_training_is_a_call(method, morphgraph, tmp_path):
    out, own = tmp_path / "out.json", tmp_path / "own.json"
    given = ("wordfreq:nl", "--vocab-size", "400", "--out", out, "--json")
    run = timeless(morphgraph("train", method, *given).json)
    name, parameters = parse_method(method)
    trained = mg.train(name, "wordfreq:nl", 400, **parameters)
    trained.save(own)
    assert run == data({"saved": str(out), **trained.to_dict()})
    assert out.read_bytes() == own.read_bytes()


def test_scores_are_those_of_the_library(morphgraph):
    tokeniser, gold = mg.load("demo:nl"), mg.read_gold("demo:nl")
    run = morphgraph("score", *NL, "--methods", "bpe,flota(k=2),rebpe", "--scope", "morphemic")
    learned = {
        "BPE": tokeniser,
        "FLOTA (k=2)": tokeniser.method("flota", k=2),
        "ReBPE": tokeniser.learn("rebpe", gold),
    }
    made = mg.compare(learned, gold)
    assert made.report().splitlines()[-1] == made.signature
    assert made.signature in run.out
    run = morphgraph("compare", *NL, "bpe", "flota(k=2)", "rebpe", "--json")
    assert timeless(run.json) == data(made.side_by_side().to_dict())
    run = morphgraph("compare", *NL, "flota", "--limit", 3, "--json")
    assert len(run.json["words"]) == 3 and run.json["signature"].startswith("compared:607@")
    run = morphgraph("score", *NL, "--scope", "morphemic", "--json")
    assert run.json["tables"] == [data(tokeniser.score(gold).to_dict())]


@pytest.mark.data
@pytest.mark.parametrize(("holdout", "count"), one_of((0.2, 1858), (0, 2182), (0.5, 1337)))
def test_as_many_types_of_a_real_tokeniser_go(holdout, count, data_folder, morphgraph, tmp_path):
    tokeniser = data_folder / "tokenizers" / "oscar-de-40k"
    gold = data_folder / "references" / "morphynet" / "deu.derivational.v1.tsv"
    found = mg.load(tokeniser).knock_out(mg.read_gold(gold), holdout=holdout)
    run = morphgraph("knockout", tokeniser, gold, "--holdout", str(holdout), "--json")
    assert run.json["removed"] == list(found.removed)
    assert found.is_held_in == (holdout == 0)
    assert ("it learned from" in run.json["on"]) == (holdout == 0)
    file = tmp_path / "evaluation.yaml"
    told = {
        "name": "one",
        "languages": ["en"],
        "tokenisers": [{"name": "one", "file": str(tokeniser)}],
        "references": [{"name": "gold", "source": str(gold)}],
        "methods": ["knockout"],
        "holdout": holdout,
        "metrics": ["f1"],
        "tests": False,
    }
    file.write_text(json.dumps(told))  # which is YAML, too
    mg.evaluate(file, tmp_path / "out", workers=1)
    rows = pd.read_parquet(tmp_path / "out" / "results.parquet").set_index("metric")
    assert rows.loc["removed", "value"] == len(found.removed) == count
    assert rows.loc["f1", "value"] == found.after.f1

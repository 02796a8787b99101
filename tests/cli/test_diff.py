"""The command diff: what the library says of two tokenisers, and its exit code."""

import json

import pytest
from refusals import expect
from small import small_document

import morphgraph as mg
from morphgraph.formats.pipeline_parts import special_token

MERGES = [("u", "n"), ("d", "o"), ("un", "do")]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A tokeniser, one without its last merge, one whose ids move, with another special token."""
    monkeypatch.chdir(tmp_path)
    document = small_document(MERGES, pre_tokenizer={"type": "WhitespaceSplit"})
    fewer = json.loads(json.dumps(document))
    del fewer["model"]["merges"][-1]
    moved = json.loads(json.dumps(document))
    vocabulary = moved["model"]["vocab"]
    vocabulary["un"], vocabulary["do"] = vocabulary["do"], vocabulary["un"]
    moved["added_tokens"] = [special_token("<s>", len(vocabulary))]
    for name, made in {"one": document, "fewer": fewer, "moved": moved}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(made), encoding="utf-8")
    (tmp_path / "texts.txt").write_text("undo un\n\ndo do do undo\n", encoding="utf-8")


def test_it_is_a_call(files, morphgraph):
    run = morphgraph("diff", "one.json", "fewer.json", "texts.txt", "--json")
    found = mg.diff(mg.load("one.json"), mg.load("fewer.json"), ["undo un", "do do do undo"])
    assert (run.code, run.json) == (0, json.loads(json.dumps(found.to_dict())))
    assert found.tokens == (6, 8)
    assert morphgraph("diff", "one.json", "fewer.json", "texts.txt").out == f"{found}\n"


@pytest.mark.parametrize(
    ("after", "limits", "broken"),
    [
        ("one", "ids,special,cost=0%", ""),
        ("fewer", "ids, special", ""),
        ("fewer", "cost=33.4%", ""),
        ("fewer", "ids,cost=33.3%", "cost=33.3%"),
        ("moved", "ids,cost=0%", "ids"),
        ("moved", "special,ids", "special, ids"),
    ],
)
def test_limits_end_it_with_1(after, limits, broken, files, morphgraph):
    """Tokens are 6, then 8 without the last merge: a third more."""
    run = morphgraph("diff", "one.json", f"{after}.json", "texts.txt", "--fail-on", limits)
    assert (run.code, broken in run.err) == (int(bool(broken)), True)
    assert ("limits exceeded" in run.err) == bool(broken)
    assert run.out.startswith("what changes")


@pytest.mark.parametrize("limits", ["id", "cost=2", "ids,"])
def test_what_is_no_limit_is_refused(limits, files, morphgraph):
    run = morphgraph("diff", "one.json", "one.json", "texts.txt", "--fail-on", limits)
    assert run.code == 2
    expect(run.err)

"""The command doctor: what the library says of a tokeniser's files, and its exit code."""

import json

import pytest
from refusals import expect
from small import small_document

import morphgraph as mg
from morphgraph_doctor import readings
from morphgraph_doctor.programs import PROGRAMS

MERGES = [("u", "n"), ("d", "o"), ("un", "do")]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A tokeniser of letters that is as it should be, and one with a type that nothing forms."""
    monkeypatch.chdir(tmp_path)
    few = {name: PROGRAMS[name] for name in ("tokenizers", "tiktoken")}
    monkeypatch.setattr(readings, "PROGRAMS", few)
    whole = small_document(MERGES, pre_tokenizer={"type": "WhitespaceSplit"})
    dead = json.loads(json.dumps(whole))
    del dead["model"]["merges"][-1]
    for name, made in {"whole": whole, "dead": dead, "none": {"model": "x"}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(made), encoding="utf-8")


@pytest.mark.parametrize(("name", "code"), [("whole", 0), ("dead", 1)])
def test_it_is_a_call_and_ends_with_1_where_something_is_wrong(name, code, files, morphgraph):
    run = morphgraph("doctor", f"{name}.json", "--json")
    found = mg.doctor(f"{name}.json")
    assert (run.code, run.json) == (code, json.loads(json.dumps(found.to_dict())))
    assert run.json["fine"] == (code == 0)
    shown = morphgraph("doctor", f"{name}.json")
    assert (shown.code, shown.out) == (code, f"{found}\n")
    assert ("undo" in shown.out) == (code == 1)


def test_what_nothing_reads_is_an_error(files, morphgraph):
    run = morphgraph("doctor", "none.json")
    assert run.code == 2
    expect(run.err)

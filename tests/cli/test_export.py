"""The command that exports: methods on a tokeniser, after a recipe too, as the library does it."""

import base64
import json

import pytest
from refusals import expect

import morphgraph as mg

pytestmark = pytest.mark.slow


def test_an_export_is_a_call(morphgraph, tmp_path):
    """It writes the same files; what an earlier run wrote makes room, the other form is kept."""
    out, own = tmp_path / "out", tmp_path / "own"
    run = morphgraph("export", "demo:nl", "--method", "flota(k=2)", "--out", out, "--json")
    made = mg.load("demo:nl").method("flota", k=2).export(own)
    names = {path.name for path in own.iterdir()}
    assert names == {path.name for path in out.iterdir()} == {*made.files}
    assert all((out / name).read_bytes() == (own / name).read_bytes() for name in names)
    assert (run.json["kind"], run.json["signature"]) == (made.kind, made.signature)
    again = morphgraph("export", "demo:nl", "--out", out, "--json")
    assert (again.json["kind"], again.json["method"]) == ("tokenizer.json", "BPE")
    assert [path.name for path in out.glob("*.old*")] == ["tokeniser.method.json.old"]


def test_a_recipe_first(morphgraph, tmp_path):
    edited, out = tmp_path / "edited", tmp_path / "out"
    given = ("demo:nl", "demo:nl", "--out", edited)
    assert morphgraph("knockout", *given).code == 0
    given = ("demo:nl", "--recipe", edited / "recipe.json", "--out", out)
    run = morphgraph("export", *given, "--method", "longest(k=2)", "--json")
    assert run.code == 0, run.err
    held = json.loads((out / "tokeniser.method.json").read_text("utf-8"))["model"]
    assert any(merge.count(" ") > 1 for merge in held["of"]["merges"])
    assert json.loads((out / "ids.json").read_text()) == json.loads(
        (edited / "ids.json").read_text()
    )


def test_one_file_by_its_name(morphgraph, tmp_path):
    """It is what the library saves; what has no ranks is refused, and no folder is made."""
    types = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc"]
    lines = (b"%b %d\n" % (base64.b64encode(text), rank) for rank, text in enumerate(types))
    (tmp_path / "old.tiktoken").write_bytes(b"".join(lines))
    given = (tmp_path / "old.tiktoken", "--pattern", "cl100k_base")
    run = morphgraph("export", *given, "--out", tmp_path / "new.tiktoken", "--json")
    assert run.json["files"] == ["new.tiktoken"], run.err
    assert (tmp_path / "new.tiktoken").read_bytes() == (tmp_path / "old.tiktoken").read_bytes()
    for name in ("flota.tiktoken", "tekken.json"):
        run = morphgraph("export", "demo:nl", "--method", "flota", "--out", tmp_path / name)
        assert run.code == 2
        expect(run.err)
    assert {path.name for path in tmp_path.iterdir()} == {"old.tiktoken", "new.tiktoken"}

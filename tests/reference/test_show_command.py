"""The command `reference show`."""

from functools import partial

import pytest

from morphgraph.reference.entry import describe_reference
from morphgraph.reference.readers import read_reference


@pytest.fixture
def run(morphgraph):
    return partial(morphgraph, "reference", "show")


def test_json(run, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("unbreakable\tun- break -able\nCosta Rica\tCosta Rica\nredo\tre- do\n", "utf-8")
    shown, gold = run(path, "--json", "--limit", 1).json, read_reference(path)
    [entry] = shown["entries"]
    assert (entry["line"], entry["morphs"]) == (1, ["un", "break", "able"])
    assert (entry["kinds"], entry["underlying"]) == (["prefix", "free", "suffix"], None)
    assert (shown["format"], shown["checksum"]) == ("plain", gold.checksum)
    synthesis = describe_reference(gold).index_of_synthesis
    assert shown["description"]["index_of_synthesis"] == synthesis
    assert shown["skipped"] == [{"reason": "word with a space", "count": 1, "first_line": 2}]


def test_what_a_terminal_would_act_upon_is_shown_by_its_code(run, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("\x1b[2Ja\u202e\t\x1b[2J a\u202e\n[red]ab\t[red] ab", "utf-8")
    shown = run(path).out
    assert "\x1b" not in shown and "\u202e" not in shown
    assert r"\x1b[2J a\u202e" in shown and "[red] ab" in shown
    assert "\x1b" not in run(path, "--json").out

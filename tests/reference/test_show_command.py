"""The command `reference show`."""

from functools import partial

import pytest

LINES = (
    "unbreakable\tun- break -able",
    "keizerskroon\tkeizer -s- kroon",
    "Costa Rica\tCosta Rica",
    "subsidised\tsubside -y -ise -ed",
    "x",
)


@pytest.fixture
def run(morphgraph):
    return partial(morphgraph, "reference", "show")


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("\n".join(LINES), "utf-8")
    return path


def test_json(run, gold):
    shown = run(gold, "--json", "--limit", 1).json
    assert shown["entries"] == [
        {
            "line": 1,
            "word": "unbreakable",
            "morphs": ["un", "break", "able"],
            "kinds": ["prefix", "free", "suffix"],
            "whole_words": ["unbreakable"],
            "underlying": None,
            "processes": None,
            "count": None,
            "linked": None,
            "tree": "",
        }
    ]
    assert shown["format"] == "plain" and len(shown["checksum"]) == 12
    assert shown["description"]["index_of_synthesis"] == 3.0
    assert shown["description"]["morphs_per_word"] == {"3": 3}
    assert shown["description"]["suffixes"] == [["able", 1], ["ed", 1], ["is", 1]]
    assert shown["skipped"] == [
        {"reason": "word with a space", "count": 1, "first_line": 3},
        {"reason": "no column of morphs", "count": 1, "first_line": 5},
    ]


def test_what_a_terminal_would_act_upon_is_shown_by_its_code(run, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("\x1b[2Ja\u202e\t\x1b[2J a\u202e\n[red]ab\t[red] ab", "utf-8")
    shown = run(path).out
    assert "\x1b" not in shown and "\u202e" not in shown
    assert r"\x1b[2J a\u202e" in shown and "[red] ab" in shown
    assert "\x1b" not in run(path, "--json").out

"""The command `reference show`."""

import re
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


def test_show(run, gold):
    result = run(gold)
    assert result.code == 0
    shown = [" ".join(line.split()) for line in result.out.splitlines()]
    assert shown == [
        "line word morphs kinds whole words underlying",
        "1 unbreakable un break able prefix free suffix unbreakable",
        "2 keizerskroon keizer s kroon free interfix free keizer s kroon",
        "4 subsidised subsid is ed free suffix suffix subsidised subside y ise ed",
        "",
        f"{gold}, plain",
        "entries 3",
        "words 3",
        "entries of 3 morphs 3",
        "morphs: free 4",
        "morphs: prefix 1",
        "morphs: suffix 3",
        "morphs: interfix 1",
        "morphs per entry 3.000",
        "entries with whole words, % 100.00",
        "prefixes un 1",
        "suffixes able 1, ed 1, is 1",
        "longest word keizerskroon",
        "skipped 1: word with a space (first: line 3)",
        "skipped 1: no column of morphs (first: line 5)",
    ]


def test_limit(run, gold):
    assert "… 2 more entries" in run(gold, "--limit", 1).out
    assert "more entries" not in run(gold, "--limit", 0).out
    assert run(gold, "--limit", -1).code == 2


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


def test_format_foreign_and_encoding(run, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_bytes("pizza\t(pizza)[F]\nhäuser\t((häus)[N],(er)[N|N.])[N]".encode("windows-1252"))
    assert "UTF-8" in run(path).err
    shown = run(path, "--read", "encoding=windows-1252").out
    assert "häus er" in shown and "skipped 1: foreign word, tagged [F] (first: line 1)" in shown
    shown = run(path, "--read", "encoding=windows-1252,foreign").out
    assert re.search(r"entries +2\nwords +2\n", shown) and "skipped" not in shown
    assert "'x' is unknown" in run(path, "--read", "format=x").err


def test_a_header_and_what_may_be_misread_are_said(run, tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text("Wort;Morphe\nundo;un do\nredo;re do\n")
    result = run(path)
    said = "a header, as it looks: in the other lines the morphs spell the word"
    assert f"skipped 1: {said} (first: line 1)" in result.out and not result.err
    assert run(path, "--json").json["skipped"] == [{"reason": said, "count": 1, "first_line": 1}]
    path.write_text("0;Häuser\x1b\n1;Hunde\n2;Tische\n", "utf-8")
    result = run(path, "--read", "format=plain")
    assert result.err == (
        f"{path}: Every word has just one morph, so no boundary can be scored: line 1, "
        "“0;Häuser\\x1b”; line 2, “1;Hunde”; line 3, “2;Tische”. If that is not what the file "
        "holds, use --read format=… or --read separator=…\n"
    )


def test_what_a_terminal_would_act_upon_is_shown_by_its_code(run, tmp_path):
    path = tmp_path / "gold.tsv"
    path.write_text("\x1b[2Ja\u202e\t\x1b[2J a\u202e\n[red]ab\t[red] ab", "utf-8")
    shown = run(path).out
    assert "\x1b" not in shown and "\u202e" not in shown
    assert r"\x1b[2J a\u202e" in shown and "[red] ab" in shown
    assert "\x1b" not in run(path, "--json").out


def test_layers_are_listed(run, tmp_path):
    path = tmp_path / "deu-MorphyNet.useg"
    about = '{"annot_name": "A", "segmentation": [{"span": [0, 1], "type": "prefix"}]}'
    path.write_text(f"undo\tdo\tVERB\tun + do\t{about}\ncat\tcat\tNOUN\tcat\t{{}}\n")
    shown = run(path).out
    assert re.search(r"layer A +1\nlayer \(without a name\) +1\n", shown)
    assert "known faults: a prefix is one letter too short" in shown
    found = run(path, "--json").json
    assert found["layers"] == {"A": 1, "": 1} and "MorphyNet's own files" in found["faults"]

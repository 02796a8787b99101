"""The command line: what it prints, and what it saves."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strategies import SEVERAL_MERGES
from tokenizers import Tokenizer

from morphgraph.formats.loading import load_tokeniser

GOLD = (
    "word\tmorphs\twhole_words\nundoing\tun do -ing\tun doing\nundo\tundo\tundo\nCosta Rica\tx\tx\n"
)
MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("undo", "ing")]


Command = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path, small_document: Callable[..., dict[str, Any]]) -> tuple[Path, Path]:
    """A small tokeniser and a gold list."""
    tokeniser, gold = tmp_path / "tokenizer.json", tmp_path / "gold.tsv"
    tokeniser.write_text(json.dumps(small_document(MERGES)), encoding="utf-8")
    gold.write_text(GOLD, encoding="utf-8")
    return tokeniser, gold


def shape(scores: list[dict[str, Any]]) -> None:
    """There are four scores, and the fields of each come in this order."""
    assert [(s["scope"], s["weighting"]) for s in scores] == [
        ("morphemic", "types"),
        ("morphemic", "tokens"),
        ("whole-word", "types"),
        ("whole-word", "tokens"),
    ]
    fields = ["scope", "weighting", "true_positives", "predicted", "relevant"]
    fields += ["precision", "recall", "f1"]
    for score in scores:
        assert list(score)[:8] == fields


def test_score_with_frequencies(
    morphgraph: Command, files: tuple[Path, Path], tmp_path: Path
) -> None:
    counts = tmp_path / "counts.tsv"
    counts.write_text("undoing\t5\nundo\t2\n", encoding="utf-8")
    arguments = ("--tokenizer", files[0], "--reference", files[1])
    run = morphgraph("score", *arguments, "--frequencies", counts, "--json")
    assert [s["relevant"] for s in run.json["scores"]] == [2, 10, 1, 5]
    run = morphgraph("score", "--tokenizer", "demo:nl", "--reference", "demo:nl", "--json",
                     "--frequencies", "wordfreq:nl")  # fmt: skip
    shape(run.json["scores"])
    assert all(0 < s["f1"] < 1 for s in run.json["scores"])
    assert "frequencies:wordfreq:nl" in run.json["signature"]


def test_frequencies_may_come_through_a_pipe(
    morphgraph: Command, files: tuple[Path, Path], tmp_path: Path
) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"undoing\t5\nundo\t2\n")
    os.close(write_end)
    arguments = ("score", "--tokenizer", files[0], "--reference", files[1], "--json")
    run = morphgraph(*arguments, "--frequencies", f"/dev/fd/{read_end}")
    os.close(read_end)
    assert [s["relevant"] for s in run.json["scores"]] == [2, 10, 1, 5]


def test_a_rate_of_nothing_is_undefined(
    morphgraph: Command, tmp_path: Path, files: tuple[Path, Path]
) -> None:
    gold = tmp_path / "other.tsv"
    gold.write_text("gi\tg i\n", encoding="utf-8")  # no merge applies to it
    arguments = ("knockout", "--tokenizer", files[0], "--reference", gold)
    out = morphgraph(*arguments).out
    assert "effective dropout rate n/a %" in out
    assert "nan" not in out
    assert morphgraph(*arguments, "--json").json["dropout_rate"] is None


def test_blame(morphgraph: Command, files: tuple[Path, Path]) -> None:
    arguments = ("blame", "--tokenizer", files[0], "--reference", files[1])
    report = morphgraph(*arguments, "--threshold", "0.5", "--json").json
    assert [(m["type"], m["N"], m["B"], m["R"]) for m in report["merges"]] == [
        ("undoing", 1, 1, 1),
        ("undo", 2, 1, 0.5),
    ]
    assert report["candidates"] == 2
    assert report["merges_in_all"] == 6
    assert report["dropout_rate"] == pytest.approx(3 / 9)
    assert len(morphgraph(*arguments, "--json").json["merges"]) == 6
    assert len(morphgraph(*arguments, "--limit", "1", "--json").json["merges"]) == 1
    assert len(morphgraph(*arguments, "--limit", "0", "--json").json["merges"]) == 6
    whole = morphgraph(*arguments, "--scope", "whole-word", "--threshold", "0.1", "--json").json
    assert [m["type"] for m in whole["merges"]] == ["undo"]
    run = morphgraph(*arguments)
    assert "6 of 6 merges have R ≥ 0.0" in run.out
    assert "undo + ing → undoing" in run.out or "undo + ing" in run.out


def test_knockout(morphgraph: Command, files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    run = morphgraph(
        "knockout", "--tokenizer", files[0], "--reference", files[1], "--out", out, "--json"
    )
    assert run.code == 0
    assert run.err == "knocking out …\n", "progress is on stderr"
    report = run.json
    assert {"before", "after", "removed", "vocab_size", "seconds"} <= set(report)
    for name in ("before", "after"):
        assert list(report[name]) == ["scores", "entries", "skipped", "signature"]
        shape(report[name]["scores"])
    assert report["removed"] == ["undoing", "undo"]
    assert report["vocab_size"] == 10
    assert report["seconds"] > 0
    assert [s["true_positives"] for s in report["after"]["scores"]] == [2, None, 1, None]
    assert report["before"]["signature"] != report["after"]["signature"]
    # What is saved gives the scores that were reported.
    (saved,) = [path for path in report["saved"] if path.endswith("tokenizer.json")]
    again = morphgraph("score", "--tokenizer", out, "--reference", files[1], "--json").json
    assert again["scores"] == report["after"]["scores"]
    assert Tokenizer.from_file(saved).get_vocab_size() == report["vocab_size"]
    recipe = json.loads((out / "recipe.json").read_text(encoding="utf-8"))
    assert recipe["steps"] == [{"edit": "knockout", "types": ["undoing", "undo"]}]
    replayed = morphgraph(
        "knockout", "--tokenizer", files[0], "--reference", files[1], "--count", "0",
        "--recipe", out / "recipe.json", "--json",
    ).json  # fmt: skip
    assert replayed["after"]["scores"] == report["after"]["scores"]
    assert replayed["removed"] == []


@pytest.mark.parametrize("command", ["knockout", "rebpe"])
def test_types_that_nothing_forms_are_reported_and_removed(
    morphgraph: Command, small_document: Any, tmp_path: Path, command: str
) -> None:
    """abc + d is to blame; abcde is then left with the merge that never applies."""
    tokenizer, gold = tmp_path / "tokenizer.json", tmp_path / "gold.tsv"
    tokenizer.write_text(json.dumps(small_document(SEVERAL_MERGES, "abcde")))
    gold.write_text("abcd\tabc d\n")
    switches = ("--no-anneal", "--no-reify") if command == "rebpe" else ()
    given = (command, "--tokenizer", tokenizer, "--reference", gold, "--bare", *switches)
    left = morphgraph(*given, "--out", tmp_path / "left", "--json")
    assert left.json["never_formed"] == {"count": 1, "first": ["abcde"], "removed": False}
    shown = morphgraph(*given).out
    assert "1 type that no merge forms any more: “abcde”; --drop-never-formed removes" in shown
    dropped = morphgraph(*given, "--out", tmp_path / "out", "--drop-never-formed", "--json")
    assert dropped.json["never_formed"]["removed"]
    assert dropped.json["vocab_size"] == left.json["vocab_size"] - 1
    again = morphgraph("score", "--tokenizer", tmp_path / "out", "--reference", gold, "--bare")
    assert again.code == 0 and again.err == "", "no warning"
    warned = morphgraph("score", "--tokenizer", tmp_path / "left", "--reference", gold, "--bare")
    assert "can never be formed: “abcde”" in warned.err


def test_knockout_options(morphgraph: Command, files: tuple[Path, Path]) -> None:
    arguments = ("knockout", "--tokenizer", files[0], "--reference", files[1], "--json")
    assert morphgraph(*arguments, "--percent", "50", "--select", "last").json["removed"] == [
        "undoing",
        "ing",
        "in",
    ]
    assert morphgraph(*arguments, "--min-vocab-size", "11").json["removed"] == ["undoing"]
    held = morphgraph(*arguments, "--holdout", "0.5", "--seed", "3").json
    assert "(holdout 0.5 seed 3)" in held["before"]["signature"]
    assert "(holdout 0.5 seed 3)" in held["after"]["signature"]


def test_segment(morphgraph: Command, files: tuple[Path, Path]) -> None:
    run = morphgraph("segment", "--tokenizer", files[0], "undog", "doä", "--json")
    assert run.err == ""
    types = load_tokeniser(files[0]).graph.ids
    assert run.json == {
        "words": [
            {
                "word": "undog",
                "tokens": ["undo", "g"],
                "ids": [types["undo"], types["g"]],
                "splits": [4],
            },
            {"word": "doä", "tokens": ["do", "ä"], "ids": [types["do"], None], "splits": [2]},
        ]
    }
    assert morphgraph("segment", "--tokenizer", files[0], "undog", "g").out == "undo g\ng\n"
    bare = morphgraph("segment", "--bare", "--tokenizer", "demo:en", "house").out
    assert not bare.startswith("Ġ")
    assert morphgraph("segment", "house").out.startswith("Ġ"), "the English demo, if none is named"
    assert morphgraph("segment", "--sentences", "the house").out.split() == ["the", "Ġhouse"]


def test_segment_gives_the_splits_that_score(morphgraph: Command) -> None:
    run = morphgraph("segment", "--method", "first(k=1)", "undesirable", "--json").json
    (row,) = run["words"]
    assert (row["tokens"], row["splits"]) == (["Ġund"], [3])  # behind it nothing is cut any further


def test_train(morphgraph: Command, tmp_path: Path) -> None:
    counts, out = tmp_path / "counts.tsv", tmp_path / "made" / "tokenizer.json"
    # Ġ + a is most frequent; by then nothing ties.
    counts.write_text("ab 3\nac 2\nab 1\n", encoding="utf-8")
    arguments = ("--special", "<s>", "--special", "<t>", "--json")
    run = morphgraph("train", "--counts", counts, "--vocab-size", "260", "--out", out, *arguments)
    assert (run.code, run.err) == (0, "training …\n")
    assert run.json["vocab_size"] == 260
    assert run.json["merges"] == 2
    assert run.json["saved"] == str(out)
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["model"]["merges"] == [["Ġ", "a"], ["Ġa", "b"]]
    assert [token["content"] for token in document["added_tokens"]] == ["<s>", "<t>"]
    assert Tokenizer.from_file(str(out)).encode("ab ab<t>").tokens == ["a", "b", "Ġab", "<t>"]
    said = morphgraph("train", "--counts", counts, "--vocab-size", "900", "--out", out).out
    assert said == f"259 types, 3 merges: saved {out}\n"


def test_names_with_markup_stay_text(
    morphgraph: Command, tmp_path: Path, small_document: Callable[..., dict[str, Any]]
) -> None:
    """Neither HTML nor the console's own markup is taken for anything but text."""
    evil, bold = "<img src=x onerror=alert(1)>", "[bold]x[/nope]"
    document = small_document([(evil[:5], evil[5:]), (bold[:5], bold[5:]), ("a", "b")])
    document["model"]["vocab"] |= {c: 100 + i for i, c in enumerate(sorted(set("<imgx[]")))}
    path, gold = tmp_path / "evil.json", tmp_path / "gold.tsv"
    path.write_text(json.dumps(document), encoding="utf-8")
    gold.write_text("ab\ta b\n", encoding="utf-8")
    loaded = load_tokeniser(path)
    loaded.graph.knockout([evil])
    assert evil not in loaded.graph
    run = morphgraph("blame", "--tokenizer", path, "--reference", gold, "--json")
    assert run.code == 0
    evil_words = small_document([("<", "i"), ("<i", "m"), ("[", "b]")])
    path.write_text(json.dumps(evil_words), encoding="utf-8")
    gold.write_text("<im>\t<i m>\n[b]\t[ b]\n", encoding="utf-8")
    run = morphgraph("blame", "--tokenizer", path, "--reference", gold)
    assert "<i + m" in run.out
    assert run.code == 0
    run = morphgraph("segment", "--tokenizer", path, "<img", "[red]x", "--json")
    assert [row["word"] for row in run.json["words"]] == ["<img", "[red]x"]


# ----------------------------------------------------------------------------- as a real process


def process(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    command = [sys.executable, "-c", "from morphgraph.cli import main; main()", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)


def test_words_from_standard_input() -> None:
    done = process("segment", "--json", stdin="\ufeffundoing\r\n\nÄrger\n".encode())
    assert done.returncode == 0
    assert done.stderr == b""
    assert [row["word"] for row in json.loads(done.stdout)["words"]] == ["undoing", "Ärger"]


@pytest.mark.parametrize(
    "arguments, stdin, message",
    [
        (["segment"], b"", "There are no words to segment"),
        (["segment"], b"caf\xe9\n", "standard input, line 1: it is not valid UTF-8"),
        (["segment", "two words"], b"", "has a space in it"),
        (["segment", b"\xff\xfe".decode(errors="surrogateescape")], b"", "half of a surrogate"),
        (
            ["score", "--tokenizer", "none.json", "--reference", "demo:en"],
            b"",
            "none.json: no such",
        ),
    ],
)
def test_errors_of_a_real_process(arguments: list[str], stdin: bytes, message: str) -> None:
    done = process(*arguments, stdin=stdin)
    assert done.returncode == 2
    assert done.stdout == b""
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_a_closed_pipe_says_nothing() -> None:
    command = f"{sys.executable} -c 'from morphgraph.cli import main; main()' segment"
    words = "\n".join(["unbreakable"] * 20_000).encode()
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -n 1"],
        input=words, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""

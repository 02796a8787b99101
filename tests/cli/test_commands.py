"""The command line: what it prints, and what it saves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Command
from refusals import expect

from morphgraph.formats.loading import load_tokeniser

FIELDS = ["scope", "weighting", "true_positives", "predicted", "relevant"]
ON_GOLD = ("tokenizer.json", "gold.tsv")


def test_score_with_frequencies(morphgraph: Command, folder: Path) -> None:
    """From a file, or through a pipe, which can be read once only."""
    (folder / "few.tsv").write_text("undoing\t5\nundo\t2\n", encoding="utf-8")
    read_end, write_end = os.pipe()
    os.write(write_end, (folder / "few.tsv").read_bytes())
    os.close(write_end)
    for counts in ("few.tsv", f"/dev/fd/{read_end}"):
        run = morphgraph("score", *ON_GOLD, "--frequencies", counts, "--json")
        found = [table["rows"][0]["scores"]["recall"]["value"] for table in run.json["tables"]]
        assert found == [pytest.approx(1 / 4), pytest.approx(1 / 13), None, None]
    os.close(read_end)
    run = morphgraph("score", "demo:nl", "demo:nl", "--json",
                     "--frequencies", "wordfreq:nl")  # fmt: skip
    for table in run.json["tables"]:
        assert 0 < table["rows"][0]["scores"]["f1"]["value"] < 1
        assert "frequencies:wordfreq:nl" in table["signature"]
    assert len(run.json["tables"]) == 4


def test_knockout(morphgraph: Command, folder: Path) -> None:
    run = morphgraph("knockout", *ON_GOLD, "--out", "new/out", "--json")
    assert (run.code, run.err) == (0, "knocking out …\n"), "progress is on stderr"
    report = run.json
    for name in ("before", "after"):
        assert list(report[name]) == ["scores", "entries", "skipped", "signature"]
        [score] = report[name]["scores"]
        assert list(score)[:8] == [*FIELDS, "precision", "recall", "f1"]
    assert sorted(report["removed"]) == ["undo", "undoing"]
    assert report["vocab_size"] == 10
    assert report["after"]["scores"][0]["true_positives"] == 4
    assert report["before"]["signature"] != report["after"]["signature"]
    # What is saved gives the scores that were reported.
    (saved,) = [path for path in report["saved"] if path.endswith("tokenizer.json")]
    of_saved = ("score", "new/out", "gold.tsv", "--json")
    again = morphgraph(*of_saved).json["tables"][0]["rows"][0]["scores"]
    assert again["f1"]["value"] == report["after"]["scores"][0]["f1"]
    vocabulary = json.loads(Path(saved).read_text(encoding="utf-8"))["model"]["vocab"]
    assert len(vocabulary) == report["vocab_size"]
    readme = Path("new/out/README.md").read_text(encoding="utf-8")
    for check in report["checks"]:
        assert f"| {check['name']} |" in readme
    recipe = Path("new/out/recipe.json")
    steps = json.loads(recipe.read_text(encoding="utf-8"))["steps"]
    [learned] = steps[0]["learned"]
    assert learned["name"] == "gold.tsv"
    assert steps == [{"edit": "knockout", "types": report["removed"], "learned": [learned]}]
    again = morphgraph("knockout", *ON_GOLD, "--count", "0", "--recipe", recipe, "--json").json
    assert again["after"]["scores"] == report["after"]["scores"]
    assert again["removed"] == []


def test_prune_and_extend(morphgraph: Command, folder: Path) -> None:
    """The six types of merges go, leaves first; then as many others get their ids."""
    given = ("tokenizer.json", "counts.tsv")
    run = morphgraph("prune", *given, "--gold", "gold.tsv", "--count", 2, "--json")
    assert run.json["removed"] == ["undoing", "ing"]  # 20 times, and then 20 + 30
    assert [run.json[when]["vocab_size"] for when in ("before", "after")] == [12, 10]
    assert [s["true_positives"] for s in run.json["after"]["scores"]] == [2]
    tokens = (
        50 + 3 * 20 + 3 * 30 + 90 + 12
    )  # undo, undo in g, do in g, do, redo as do: r and e are no atoms
    assert run.json["after"]["tokens_per_word"] == pytest.approx(tokens / 202)
    assert run.json["saved"] == []
    run = morphgraph("prune", *given, "--by", "last", "--count", 2, "--out", "pruned")
    assert "2 types removed; |V|: 12 → 10" in run.out and "tokens per word: " in run.out
    recipe = ("--recipe", "pruned/recipe.json")
    kept = morphgraph("extend", *given, *recipe, "--add", 2, "--replace", "--out", "new", "--json")
    added, old = kept.json["added"], load_tokeniser("tokenizer.json")
    ids = json.loads(Path("new/tokenizer.json").read_text())["model"]["vocab"]
    assert sorted(ids[text] for text in added) == [10, 11] and len(ids) == 12
    numbers = dict(zip(old.types, old.vocabulary_ids, strict=True))
    assert {text: ids.get(text) for text in old.types[:10]}.items() <= numbers.items()


def test_extend_by_another_one(morphgraph: Command, folder: Path) -> None:
    run = morphgraph("extend", "demo:en", "--from", "demo:de", "--out", "both", "--json")
    assert "Ġnicht" in run.json["added"] and run.json["after"]["tokens_per_word"] is None
    assert load_tokeniser("both").vocabulary_size == run.json["after"]["vocab_size"] > 12_000
    run = morphgraph("extend", "tokenizer.json", "--from", "demo:de")
    assert run.code == 2
    expect(run.err.splitlines()[-1])


def test_listed_types_and_what_they_cost(morphgraph: Command, folder: Path) -> None:
    """Without undo and ing (10) undo is un|do, doing do|in|g, and undoing has four parts."""
    (folder / "list.txt").write_text("undo\r\n\n10\n", encoding="utf-8")
    given = ("knockout", "tokenizer.json", "--types", "list.txt")
    report = morphgraph(*given, "gold.tsv", "--json", "--out", "out").json
    assert report["cost"] == {
        "types": 2,
        "also": [],
        "tuple_merges": 1,
        "f1": [0.4, pytest.approx(4 / 7)],
        "tokens_per_word": [pytest.approx(4 / 3), 2],
        "changed_words": 2,
        "words": 3,
    }
    assert (report["removed"], report["vocab_size"]) == (["undo", "ing"], 10)
    assert Path("out/README.md").is_file()
    assert report["checks"][5]["number"] >= 2
    for way in (("--portable",), ("--set", "cascade")):
        cost = morphgraph(*given, "gold.tsv", "--json", *way).json["cost"]
        assert (cost["also"], cost["tuple_merges"]) == (["undoing"], 0)
    assert "F1" not in morphgraph(*given).out
    for line in ("nodo", "99", "u", "#9"):  # no type, no id, an atom, and the type of line 1 again
        (folder / "list.txt").write_text(f"undo\n{line}\n", encoding="utf-8")
        expect(morphgraph(*given).err.splitlines()[-1])


def test_a_vocabulary_against_another(morphgraph: Command) -> None:
    """The table, its JSON and the lists are of the same types."""
    given = ("vocabulary", "demo:de", "--against", "demo:en")
    (found,) = morphgraph(*given, "--json").json["compared"]
    assert (found["before"], found["after"]) == ("demo:en", "demo:de")
    sizes = [found[part]["size"] for part in ("shared_types", "dropped_types", "added_types")]
    words = morphgraph(*given).out.split()
    assert [f"{size:,}" for size in sizes] == words[words.index("|V|") + 2 :][:3]
    for size, part in zip(sizes, ("shared_types", "dropped_types", "added_types"), strict=True):
        report = morphgraph(*given, "--list", part, "--limit", 0, "--json").json
        assert len(report["tokenisers"][-1]["list"]) == size


def test_segment(morphgraph: Command, folder: Path) -> None:
    given = ("segment", "tokenizer.json")
    run = morphgraph(*given, "undog", "doä", "--json")
    assert run.err == ""
    ids = load_tokeniser("tokenizer.json").graph.ids
    known = ["undo", "g"], [ids["undo"], ids["g"]], [4]
    partly = ["do", "ä"], [ids["do"], None], []  # ä is in no token, and left out
    assert run.json["words"] == [
        dict(zip(("word", "tokens", "ids", "splits"), (word, *found), strict=True))
        for word, found in (("undog", known), ("doä", partly))
    ]
    assert morphgraph(*given, "undog", "g").out == "undo g\ng\n"
    bare = morphgraph("segment", "demo:en", "--bare", "house").out
    assert not bare.startswith("Ġ")
    assert morphgraph("segment", "demo:en", "house").out.startswith("Ġ")
    assert morphgraph("segment", "demo:en", "--sentences", "the house").out.split() == [
        "the",
        "Ġhouse",
    ]


def test_segment_gives_the_splits_that_score(morphgraph: Command) -> None:
    run = morphgraph("segment", "demo:en", "undesirable", "--method", "first(k=1)", "--json").json
    (row,) = run["words"]
    assert (row["tokens"], row["splits"]) == (["Ġund"], [3])  # behind it nothing is cut any further


# ----------------------------------------------------------------------------- as a real process


def process(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    command = [sys.executable, "-c", "from morphgraph.cli import main; main()", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)


def test_words_from_standard_input() -> None:
    done = process("segment", "demo:en", "--json", stdin="\ufeffundoing\r\n\nÄrger\n".encode())
    assert done.returncode == 0
    assert done.stderr == b""
    assert [row["word"] for row in json.loads(done.stdout)["words"]] == ["undoing", "Ärger"]


@pytest.mark.parametrize(
    "arguments, stdin",
    [
        (["segment", "demo:en"], b""),
        (["segment", "demo:en"], b"caf\xe9\n"),
        (["segment", "demo:en", b"\xff\xfe".decode(errors="surrogateescape")], b""),
        (["score", "none.json", "demo:en"], b""),
    ],
    ids=range(4),
)
def test_errors_of_a_real_process(arguments: list[str], stdin: bytes) -> None:
    done = process(*arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, b"")
    expect(done.stderr.decode())


@pytest.mark.slow
def test_a_closed_pipe_says_nothing() -> None:
    command = f"{sys.executable} -c 'from morphgraph.cli import main; main()' segment demo:en"
    words = "\n".join(["unbreakable"] * 20_000).encode()
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -n 1"],
        input=words, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""

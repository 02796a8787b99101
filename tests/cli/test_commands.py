"""The command line: what it prints, and what it saves."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import expect

import morphgraph as mg
from morphgraph.batch.cluster import local_cluster, runner_on
from morphgraph.corpus import counting
from morphgraph.formats.loading import load_tokeniser

ON_GOLD = ("tokenizer.json", "gold.tsv")


def test_score_with_frequencies(morphgraph, folder):
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


def test_what_a_knockout_saves(morphgraph, folder):
    """The tokeniser and the recipe give the scores that were reported."""
    run = morphgraph("knockout", *ON_GOLD, "--out", "new/out", "--json")
    assert (run.code, run.err) == (0, "knocking out …\n"), "progress is on stderr"
    report = run.json
    assert sorted(report["removed"]) == ["undo", "undoing"]
    assert report["after"]["scores"][0]["true_positives"] == 4
    of_saved = ("score", "new/out", "gold.tsv", "--json")
    again = morphgraph(*of_saved).json["tables"][0]["rows"][0]["scores"]
    assert again["f1"]["value"] == report["after"]["scores"][0]["f1"]
    assert {Path("new/out/README.md"), Path("new/out/recipe.json")} <= {*map(Path, report["saved"])}
    steps = json.loads(Path("new/out/recipe.json").read_text(encoding="utf-8"))["steps"]
    [learned] = steps[0]["learned"]
    assert learned["name"] == "gold.tsv"
    assert steps == [{"edit": "knockout", "types": report["removed"], "learned": [learned]}]
    recipe = ("--recipe", "new/out/recipe.json")
    again = morphgraph("knockout", *ON_GOLD, "--count", "0", *recipe, "--json").json
    assert (again["after"]["scores"], again["removed"]) == (report["after"]["scores"], [])


def test_prune_and_extend(morphgraph, folder):
    """The last two types of merges go; then as many others get their ids."""
    given = ("tokenizer.json", "counts.tsv")
    pruned = mg.load(given[0]).prune(2, by="last", counts=given[1])
    how = ("--by", "last", "--count", 2, "--gold", "gold.tsv", "--out", "pruned", "--json")
    run = morphgraph("prune", *given, *how)
    assert run.json["removed"] == list(pruned.removed)
    assert [run.json[when]["vocab_size"] for when in ("before", "after")] == [12, 10]
    assert mg.load("pruned") == pruned.tokeniser
    recipe = ("--recipe", "pruned/recipe.json")
    kept = morphgraph("extend", *given, *recipe, "--add", 2, "--replace", "--out", "new", "--json")
    expected = pruned.tokeniser.extend(given[1], 2, replace=True)
    assert mg.load("new").types == expected.types
    assert {expected.id_of(text) for text in kept.json["added"]} == {10, 11}


def test_listed_words_are_one_token_each(morphgraph, folder):
    (folder / "words.txt").write_text("undoing\n\ndoing\nä-do\n", encoding="utf-8")
    given = ("extend", "tokenizer.json", "--words", "words.txt")
    told = morphgraph(*given, "--json", "--out", "more").json
    longer, why = mg.load("tokenizer.json").extend_by_words(["undoing", "doing", "ä-do"])
    assert told["not_one_token"] == why and why.keys() == {"ä-do"}
    assert told["added"] == [text for text in longer.types if text not in mg.load("tokenizer.json")]
    assert told["ids"] == {"kept": 12, "moved": 0, "new": 1, "reused": 0, "free": 0}
    assert [len(each) for each in mg.load("more").segment(["undoing", "doing"])] == [1, 1]
    assert morphgraph(*given).out.startswith("ids: 12 types keep theirs, 0 move, 1 is new\n“ä-do”")


def test_every_edit_says_what_happens_to_ids_before_it_writes(morphgraph, folder):
    (folder / "list.txt").write_text("undo\n", encoding="utf-8")
    listed, ids = ("--types", "list.txt", "--portable"), r"ids: [\d,]+ types keep theirs, "
    for command in (
        ("knockout", "tokenizer.json", *listed),
        ("knockout", "tokenizer.json", *listed, "--ids", "reuse"),
        ("knockout", *ON_GOLD),
        ("rebpe", *ON_GOLD),
        ("prune", "tokenizer.json", "--by", "last", "--count", "1"),
        ("extend", "tokenizer.json", "counts.tsv", "--add", "1"),
        ("export", "tokenizer.json"),
        ("export", "demo:en", "--ids", "dense"),
    ):
        first = morphgraph(*command, "--out", "out").out.splitlines()
        said = [number for number, line in enumerate(first) if re.match(ids, line)]
        saved = [number for number, line in enumerate(first) if line.startswith("saved")]
        assert len(said) == 1 and saved and said[0] < saved[0], command
    expect(morphgraph("knockout", "tokenizer.json", *listed[:2], "--ids", "reuse").err)
    expect(morphgraph("knockout", *ON_GOLD, "--ids", "reuse").err)


def test_listed_types_and_what_they_cost(morphgraph, folder):
    """Without undo and ing (10) undo is un|do, doing do|in|g, and undoing has four parts."""
    (folder / "list.txt").write_text("undo\r\n\n10\n", encoding="utf-8")
    given = ("knockout", "tokenizer.json", "--types", "list.txt")
    report = morphgraph(*given, "gold.tsv", "--json").json
    assert report["cost"] == {
        "types": 2,
        "also": [],
        "tuple_merges": 1,
        "f1": [0.4, pytest.approx(4 / 7)],
        "tokens_per_word": [pytest.approx(4 / 3), 2],
        "changed_words": 2,
        "words": 3,
        "new_types": 0,
        "words_with_new": 0,
    }
    assert (report["removed"], report["vocab_size"]) == (["undo", "ing"], 10)
    for line in ("nodo", "99", "u", "#9"):  # no type, no id, an atom, and the type of line 1 again
        (folder / "list.txt").write_text(f"undo\n{line}\n", encoding="utf-8")
        expect(morphgraph(*given).err.splitlines()[-1])


def test_a_vocabulary_against_another(morphgraph):
    given = ("vocabulary", "demo:de", "--against", "demo:en")
    compared = mg.compare_vocabularies(mg.load("demo:en"), mg.load("demo:de"))
    assert morphgraph(*given, "--json").json == {"compared": [compared.to_dict()]}
    report = morphgraph(*given, "--list", "added_types", "--limit", 0, "--json").json
    assert len(report["tokenisers"][-1]["list"]) == compared.parts["added_types"].size


def test_segment(morphgraph, folder):
    given = ("segment", "tokenizer.json")
    run = morphgraph(*given, "undog", "doä", "--json")
    ids = load_tokeniser("tokenizer.json").graph.ids
    known = ["undo", "g"], [ids["undo"], ids["g"]], [4]
    partly = ["do", "ä"], [ids["do"], None], []  # ä is in no token, and left out
    assert run.json["words"] == [
        dict(zip(("word", "tokens", "ids", "splits"), (word, *found), strict=True))
        for word, found in (("undog", known), ("doä", partly))
    ]
    assert morphgraph(*given, "undog", "g").out == "undo g\ng\n"
    assert not morphgraph("segment", "demo:en", "--bare", "house").out.startswith("Ġ")
    whole = morphgraph("segment", "demo:en", "--sentences", "the house").out
    assert whole.split() == ["the", "Ġhouse"]


def test_segment_draws_trees(morphgraph):
    tokeniser, gold = mg.load("demo:en"), mg.read_gold("demo:en")
    given = ("segment", "demo:en", "undesirable", "books", "--tree")
    trees = [tokeniser.tree(word, gold) for word in ("undesirable", "books")]
    assert morphgraph(*given, "--gold", "demo:en").out == "\n\n".join(map(str, trees)) + "\n"
    assert morphgraph(*given, "--json").json["trees"][1] == tokeniser.tree("books").to_dict()


def test_segment_gives_the_splits_that_score(morphgraph):
    run = morphgraph("segment", "demo:en", "undesirable", "--method", "first(k=1)", "--json").json
    (row,) = run["words"]
    assert (row["tokens"], row["splits"]) == (["Ġund"], [3])  # behind it nothing is cut any further


def process(*arguments, stdin=b""):
    """Run the command as a process of its own."""
    command = [sys.executable, "-c", "from morphgraph.cli import main; main()", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=120)


def test_words_from_standard_input():
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
def test_errors_of_a_real_process(arguments, stdin):
    done = process(*arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, b"")
    expect(done.stderr.decode())


@pytest.mark.slow
def test_a_closed_pipe_says_nothing():
    command = f"{sys.executable} -c 'from morphgraph.cli import main; main()' segment demo:en"
    words = "\n".join(["unbreakable"] * 20_000).encode()
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -n 1"],
        input=words, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


@pytest.mark.slow
def test_count_tells_what_it_found_as_json(morphgraph, folder):
    run = morphgraph("count", "texts/a.txt", "texts", "--out", "o", "--workers", 1, "--json")
    report = run.json
    seconds, speed = report.pop("seconds"), report.pop("megabytes_per_second")
    assert speed == pytest.approx(report["bytes"] / 1e6 / seconds)
    assert report == {
        "saved": "o",
        "pipeline": "whitespace",
        "minimum_count": 1,
        "files": 2,
        "bytes": 30 * 21 + 25,
        "words": 123,
        "distinct": 4,
        "kept": 4,
        "workers": 1,
        "bad": 0,
        "first_bad": [],
    }


@pytest.mark.slow
def test_tasks_of_a_cluster_count_the_same(tmp_path, monkeypatch):
    """Each file is a task, on two processes."""
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(4):
        (texts / f"{number}.txt").write_text(f"dog{number} the dog’s\u3000the\n" * 99)
    monkeypatch.setattr(counting, "BLOCK_BYTES", 1)
    how = {"pipeline": "rebpe", "minimum_count": 2}
    with local_cluster(2) as client:
        there = {"workers": 2, "run": runner_on(client)}
        counting.count_words([texts], tmp_path / "there", **how, **there)
    counting.count_words([texts], tmp_path / "here", **how)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()

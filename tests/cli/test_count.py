"""The command line: counting words, and training with the counts."""

from pathlib import Path
from typing import Any

import pytest
from command import Command

from morphgraph.batch.cluster import local_cluster, runner_on
from morphgraph.corpus import counting


@pytest.mark.slow
def test_count_and_train(morphgraph: Command, folder: Path) -> None:
    out = folder / "counts.parquet"
    run = morphgraph("count", "texts", "--out", out, "--pipeline", "knockout", "--min-count", 2)
    assert run.code == 0, run.err
    assert run.out == (
        "183 running words, 6 distinct, in 2 files\n"
        f"5 words, 1 rarer than 2 left out: saved {out}\n"
    )
    assert run.err.startswith("counting …\n")
    model = folder / "model.json"
    arguments = ("--pipeline", "knockout", "--vocab-size", 258)
    run = morphgraph("train", "bpe", out, *arguments, "--out", model)
    assert run.code == 0, run.err
    # Two merges: do, in 122 words; then, of pairs in 61 words, the one with the least id, n do.
    assert morphgraph("segment", model, "do").out == "Ġ do\n"


@pytest.mark.slow
def test_count_tells_what_it_found_as_json(morphgraph: Command, folder: Path) -> None:
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


def test_bad_lines_are_told(morphgraph: Command, folder: Path) -> None:
    run = morphgraph("count", "bad.txt", "--out", "o", "--bad-lines", "skip")
    assert run.code == 0
    assert "left out: 1 line\n" in run.err
    assert f"  {folder}/bad.txt, line 2: it is not valid UTF-8\n" in run.err
    assert run.out.startswith("2 running words, 2 distinct, in 1 file\n")


@pytest.mark.slow
def test_tasks_of_a_cluster_count_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is a task, on two processes."""
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(4):
        (texts / f"{number}.txt").write_text(f"dog{number} the dog’s\u3000the\n" * 99)
    monkeypatch.setattr(counting, "BLOCK_BYTES", 1)
    how: dict[str, Any] = {"pipeline": "rebpe", "minimum_count": 2}
    with local_cluster(2) as client:
        there = {"workers": 2, "run": runner_on(client)}
        counting.count_words([texts], tmp_path / "there", **how, **there)
    counting.count_words([texts], tmp_path / "here", **how)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()

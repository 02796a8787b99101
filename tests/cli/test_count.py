"""The command line: counting words, training with the counts; vocabularies measured on texts."""

import sys
from pathlib import Path
from typing import Any

import pytest
from command import Command
from rich.console import Console

from morphgraph.batch.cluster import local_cluster, runner_on
from morphgraph.cli import output
from morphgraph.corpus import counting

PROJECT = Path(__file__).resolve().parents[2]


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


def test_a_line_of_progress() -> None:
    mega = 10**6
    line = "counting: 120 of 400 MB, 60.0 MB/s, 0:05 left"
    assert counting._line(120 * mega, 400 * mega, 2.0) == line
    line = "counting: 1 of 10,000 MB, 1.0 MB/s, 2:46:39 left"
    assert counting._line(mega, 10**4 * mega, 1.0) == line
    assert counting._line(mega, mega, 1.0) == "summing"


def test_progress_without_and_with_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "BETWEEN_LINES", 0.0)
    line = "counting: 1 of 2 MB"
    with output.progress_line("counting") as tell:
        tell(line, 0.5)
    assert capsys.readouterr().err == f"counting …\n{line}\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    wide = Console(file=sys.stderr, force_terminal=True, width=100)
    monkeypatch.setattr(output, "console", lambda stream: wide)
    with output.progress_line("counting") as tell:
        tell(line, 0.5)
    assert line in capsys.readouterr().err


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


# --- vocabulary --corpus --------------------------------------------------------------------------


@pytest.fixture
def languages(tmp_path: Path) -> Path:
    (tmp_path / "en.txt").write_text("The dogs run home.\nHouses stand there.\n", encoding="utf-8")
    german = "Die Hunde rennen heim.\nHäuser stehen dort.\n"
    (tmp_path / "de.txt").write_text(german, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_parallel_text(morphgraph: Command, languages: Path) -> None:
    both = ("demo:en", "demo:de")
    run = morphgraph("vocabulary", *both, "--corpus", languages, "--set", "parallel,base=en")
    assert run.code == 0, run.err
    table, parity = run.out.split("\n\n")
    head, *rows = table.splitlines()
    costs = "Tokens per line  Tokens per byte  Relative to en  Characters, relative"
    assert head.startswith(f"Language  Tokeniser  Lines  Words  Tokens  {costs}")
    assert [row.split()[:2] for row in rows] == [
        [text, f"demo:{code}"] for text in ("de", "en", "all") for code in ("en", "de")
    ]
    assert rows[0].split()[5:8] == ["11.000", "0.524", "1.833"]
    assert "Gini, by line" in parity
    # Costs 11 and 6: 2 · 5 over 2 · 4 · 8.5.
    assert parity.splitlines()[1].split() == ["demo:en", "0.147", "0.118", "de", "1.83"]
    assert "lines as whole texts" in parity
    assert "|unit:lines|base:en|" in parity


@pytest.mark.slow
def test_by_file_as_json_by_any_number_of_workers(morphgraph: Command, languages: Path) -> None:
    given = ("vocabulary", "demo:en", "--corpus", languages)
    found = morphgraph(*given, "--json").json
    assert (found["by"], found["unit"]) == ("file", "words")
    assert [(one["text"], one["words"]) for one in found["texts"]] == [("de", 7), ("en", 7)]
    [total] = found["all"]
    assert total["words"] == 14
    assert total["fertility"] == total["tokens"] / 14
    assert total["never_used"] < total["ordinary_types"]
    assert total["relative_tokens"] is None
    assert "parity" not in found
    two = morphgraph(*given, "--json", "--set", "workers=2").json
    assert two == found
    lines = morphgraph(*given, "--limit", 1).out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["File", "de", "all"]
    assert lines[3] == "1 of 2 files; --limit 0 shows all"


def test_bad_lines_of_a_corpus_are_told(morphgraph: Command, folder: Path) -> None:
    run = morphgraph("vocabulary", "demo:en", "--corpus", "bad.txt", "--set", "bad-lines=skip")
    assert run.code == 0
    assert "left out: 1 line" in run.err

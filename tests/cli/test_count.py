"""The command line: counting words, training with the counts; vocabularies measured on texts."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from command import Command
from effort import EFFORT
from rich.console import Console

from morphgraph.cli import output
from morphgraph.corpus.counting import CountProgress

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
    assert seconds > report.pop("summing_seconds") > 0
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
        "blocks": 1,
        "rows": 4,
        "partitions": 1,
        "workers": 1,
        "bad": 0,
        "first_bad": [],
    }


def test_bad_lines_are_told(morphgraph: Command, folder: Path) -> None:
    run = morphgraph("count", "bad.txt", "--out", "o", "--bad-lines", "skip")
    assert run.code == 0
    assert "left out: 1 line\n" in run.err
    assert f"  {folder}/bad.txt, line 2: byte 0xFF is not valid UTF-8\n" in run.err
    assert run.out.startswith("2 running words, 2 distinct, in 1 file\n")


def test_a_line_of_progress() -> None:
    mega = 10**6
    at = CountProgress("counting", 3, 1200, 120 * mega, 400 * mega, 2.0)
    assert str(at) == "counting: 3 of 1,200 tasks, 120 of 400 MB, 60.0 MB/s, 0:05 left"
    at = CountProgress("counting", 0, 1, mega, 10**4 * mega, 1.0)
    assert str(at) == "counting: 0 of 1 task, 1 of 10,000 MB, 1.0 MB/s, 2:46:39 left"
    assert str(CountProgress("counting", 0, 2, 0, 0, 0.0)) == ("counting: 0 of 2 tasks, 0 of 0 MB")
    assert str(CountProgress("summing", 2, 2, 5, 5, 9.0)) == "summing: 2 of 2 tasks"


def test_progress_without_and_with_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at = CountProgress("counting", 1, 2, 10**6, 2 * 10**6, 1.0)
    monkeypatch.setattr(output, "BETWEEN_LINES", 0.0)
    line = str(at)
    assert line == "counting: 1 of 2 tasks, 1 of 2 MB, 1.0 MB/s, 0:01 left"
    with output.progress_line("counting") as tell:
        tell(line, 0.5)
    assert capsys.readouterr().err == f"counting …\n{line}\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    wide = Console(file=sys.stderr, force_terminal=True, width=100)
    monkeypatch.setattr(output, "console", lambda stream: wide)
    with output.progress_line("counting") as tell:
        tell(line, 0.5)
    assert line in capsys.readouterr().err


_COUNT = """
import sys
from pathlib import Path
from morphgraph.batch.cluster import local_cluster
from morphgraph.batch.cluster import runner_on
from morphgraph.corpus import counting
counting.BLOCK_BYTES, counting._BYTES_PER_PARTITION = 2**20, 2**21
if __name__ == "__main__":
    planned = counting.Counting(["texts"], Path(sys.argv[1]), memory=2**26)
    if sys.argv[2] == "here":
        counting.run_counting(planned, workers=2)
    else:
        with local_cluster(2) as client:
            counting.run_counting(planned, runner_on(client), 2)
"""
MOMENTS = {"quick": 2, "usual": 3, "soak": 10}[EFFORT]


@pytest.mark.kills
@pytest.mark.parametrize("whom", ["runner", "worker"])
def test_a_killed_counting_is_resumed(tmp_path: Path, whom: str) -> None:
    """At moments over its whole course: workers are replaced, the same command goes on."""
    (tmp_path / "run.py").write_text(_COUNT)
    (tmp_path / "texts").mkdir()
    for number in range(8):
        numbers = range(number, 1_500_000, 8)
        lines = "\n".join(f"{n * 2654435761 % 2**32:x} " for n in numbers)
        (tmp_path / "texts" / f"{number}.txt").write_text(lines)
    undisturbed = _counting(tmp_path, "whole", "here")
    assert undisturbed.wait(100) == 0
    where = {"runner": "here", "worker": "there"}[whom]
    run = _counting(tmp_path, "out", where)
    killed, steps = 0, 8 + 8
    for moment in range(MOMENTS):
        while run.poll() is None and _done(tmp_path) <= moment * steps // MOMENTS:
            time.sleep(0.005)
        if run.poll() is not None:
            break
        below = psutil.Process(run.pid).children(recursive=True)
        workers = [process for process in below if "spawn_main" in " ".join(process.cmdline())]
        if whom == "worker":
            if not workers:  # they are just being replaced
                continue
            workers[moment % len(workers)].kill()
        else:
            run.kill()
            run.wait()
            psutil.wait_procs(workers)
            run = _counting(tmp_path, "out", where)
        killed += 1
    assert run.wait(100) == 0
    assert killed >= MOMENTS - 1
    made, whole = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("out", "whole")
    )
    assert made == whole and len(made) == 9
    assert not list(tmp_path.glob(".out*"))


def _done(folder: Path) -> int:
    """How many tasks are done; none are left when all is over."""
    try:
        return len(list(folder.glob(".out.counting/**/*.json")))
    except FileNotFoundError:
        return 0


def _counting(folder: Path, out: str, where: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "run.py", out, where],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(PROJECT)},
        stderr=subprocess.DEVNULL,
    )


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
    costs = "Tokens per line  Tokens per byte  Relative to en  Tokens per word"
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

"""``run.json``: every start of a run is in it, also one that was killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from morphgraph.batch.run import ProgressFile, RunFile, RunProgress

TINY = """\
name: tiny
languages: [en]
tokenisers: [{file: "demo:en"}]
references: ["demo:en"]
intervals: false
"""


def read(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text())


def states(folder: Path) -> list[str]:
    return [start["state"] for start in read(folder)["starts"]]


def test_a_start_is_there_from_its_first_moment_to_its_end(tmp_path: Path) -> None:
    first = RunFile(tmp_path)
    first.begin({"name": "x"})
    found = read(tmp_path)
    assert (found["name"], found["state"], found["finished"]) == ("x", "running", None)
    assert states(tmp_path) == ["running"]
    first.end("stopped", {"all": 2})
    assert (read(tmp_path)["state"], read(tmp_path)["tasks"]) == ("stopped", {"all": 2})
    second = RunFile(tmp_path)
    second.begin({"name": "x"})
    assert states(tmp_path) == ["stopped", "running"]
    assert read(tmp_path)["tasks"] == {"all": 2}, "what is known stays known"
    second.end("failed")
    assert states(tmp_path) == ["stopped", "failed"]


def test_a_killed_start_took_as_long_as_it_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    RunFile(tmp_path).begin({})
    progress = ProgressFile(tmp_path, RunProgress("running"))
    now += 90.0
    progress.update(force=True)
    now += 3_600.0  # nobody knows when it was killed after that
    RunFile(tmp_path).begin({})
    now += 5.0  # killed before it told of any progress
    last = RunFile(tmp_path)
    last.begin({})
    now += 2.0
    last.end("done", {})
    found = read(tmp_path)
    assert states(tmp_path) == ["killed", "killed", "done"]
    assert [start["seconds"] for start in found["starts"]] == [90.0, 0.0, 2.0]
    assert found["seconds"] == 92.0


@pytest.mark.parametrize("content", ["", "[]", "{", '{"starts": 3}', '{"starts": [{}]}'])
def test_an_odd_file_is_begun_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    run_file = RunFile(tmp_path)
    run_file.begin({})
    run_file.end("done", {})
    assert states(tmp_path) == ["done"]


def test_nothing_is_written_of_a_start_that_never_began(tmp_path: Path) -> None:
    RunFile(tmp_path).end("failed")
    assert not (tmp_path / "run.json").exists()


@pytest.mark.kills
def test_a_run_killed_at_once_is_remembered(tmp_path: Path) -> None:
    configuration, out = tmp_path / "tiny.yaml", tmp_path / "run"
    configuration.write_text(TINY)
    command = [sys.executable, "-m", "morphgraph", "evaluate", str(configuration)]
    command += ["--out", str(out), "--workers", "1"]
    run = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    while not (out / "run.json").exists():
        assert run.poll() is None
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert subprocess.run(command, capture_output=True, timeout=180, check=False).returncode == 0
    assert states(out) == ["killed", "done"]

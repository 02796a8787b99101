"""Runs in folders: their progress, the time left, what is running, and ``run.json``."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from morphgraph.batch.run import (
    ProgressFile,
    Remaining,
    RunFile,
    RunProgress,
    ended_early,
    read_progress,
    runs_in,
    start_run,
    stop_path,
    stop_run,
)
from morphgraph.batch.tasks import Store, Task, TaskReport
from morphgraph.core.errors import MorphGraphError

NO_PROGRESS = ["", "[", "[]", '{"total": 5}', "\x00\xff"]
NO_PROGRESS += [
    json.dumps({"state": "done", name: value})
    for name, values in {
        "failures": [5],
        "total": ["many", -1, 1e300],
        "started": [1e300],
        "remaining": ["soon", float("nan")],
        "last": [7],
    }.items()
    for value in values
]


@pytest.mark.parametrize("text", NO_PROGRESS)
def test_progress_that_makes_no_sense_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "progress.json").write_text(text)
    assert read_progress(tmp_path) is None


def test_progress_that_makes_sense(tmp_path: Path) -> None:
    (tmp_path / "progress.json").write_text('{"state": "done", "total": 3, "done": 2, "failed": 1}')
    assert read_progress(tmp_path) == RunProgress("done", total=3, done=2, failed=1)


def test_a_runner_that_is_gone_is_interrupted(tmp_path: Path) -> None:
    with Store(tmp_path):
        ProgressFile(tmp_path, RunProgress("running", total=4)).update(force=True, done=1)
        found = read_progress(tmp_path)
        assert found is not None
        assert (found.state, found.done, found.is_over) == ("running", 1, False)
    found = read_progress(tmp_path)
    assert found is not None
    assert (found.state, found.is_over) == ("interrupted", True)


def task(number: int, cost: float) -> Task:
    return Task("cell", f"cell {number}", None, {"number": number}, (), cost)  # type: ignore[arg-type]


def test_the_time_left_follows_what_was_guessed_and_spent() -> None:
    tasks = [task(0, 1.0), task(1, 1.0), task(2, 4.0)]
    remaining = Remaining(tasks, workers=2)
    assert remaining.seconds is None
    remaining.done(TaskReport(tasks[0], {"seconds": "3"}))  # took three times the guess
    assert remaining.seconds == (1.0 + 4.0) * 3 / 2
    remaining.done(TaskReport(tasks[1], {"seconds": "1"}))
    assert remaining.seconds == 4.0 * (3.0 + 1.0) / 2 / 2
    remaining.done(TaskReport(tasks[2]))
    assert remaining.seconds == 0


def test_runs_of_a_folder_newest_first_whatever_lies_there(tmp_path: Path) -> None:
    for number, name in enumerate(("old", "new", "odd")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "configuration.yaml").write_text("name: x")
        (folder / "progress.json").write_text('{"state": "done"}' if name != "odd" else "[")
        os.utime(folder / "progress.json", (1_000 + number, 1_000 + number))
    (tmp_path / "no run").mkdir()
    (tmp_path / "file").write_text("")
    found = runs_in(tmp_path)
    assert [run.name for run in found] == ["odd", "new", "old"]
    assert found[0].progress is None
    assert found[1].progress == RunProgress("done")
    assert runs_in(tmp_path / "nowhere") == []


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 81, "a b", "a\n"])
def test_names_that_are_no_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(MorphGraphError, match="cannot be the name of a run"):
        start_run("name: x", tmp_path, name, ["--workers", "1"])
    assert list(tmp_path.iterdir()) == []


def test_a_run_keeps_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "configuration.yaml").write_bytes(b"name: x\r\n")
    with pytest.raises(MorphGraphError, match="with another configuration"):
        start_run("name: y\r\n", tmp_path, "mine", ["--workers", "1"])
    with Store(tmp_path / "mine"), pytest.raises(MorphGraphError, match="is running"):
        start_run("name: x\r\n", tmp_path, "mine", ["--workers", "1"])


def test_what_a_run_said_that_ended_at_once(tmp_path: Path) -> None:
    run = start_run("name: [", tmp_path, "bad", ["--workers", "1"])
    for _ in range(600):
        said = ended_early(run)
        if said:
            break
        time.sleep(0.1)
    assert "configuration.yaml, line 1, column" in said
    assert "this is not YAML" in said
    assert "Traceback" not in said
    stop_run(run.folder)
    assert stop_path(run.folder).exists()


# ------------------------------------------------------------------------------ run.json


def read(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text())


def states(folder: Path) -> list[str]:
    return [start["state"] for start in read(folder)["starts"]]


def test_a_start_is_there_from_its_first_moment_to_its_end(tmp_path: Path) -> None:
    first = RunFile(tmp_path, {"name": "x"})
    found = read(tmp_path)
    assert (found["name"], found["state"], found["finished"]) == ("x", "running", None)
    assert states(tmp_path) == ["running"]
    first.end("stopped", {"all": 2})
    assert (read(tmp_path)["state"], read(tmp_path)["tasks"]) == ("stopped", {"all": 2})
    second = RunFile(tmp_path, {"name": "x"})
    assert states(tmp_path) == ["stopped", "running"]
    assert read(tmp_path)["tasks"] == {"all": 2}, "what is known stays known"
    second.end("failed")
    assert states(tmp_path) == ["stopped", "failed"]


def test_a_killed_start_took_as_long_as_it_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    RunFile(tmp_path, {})
    progress = ProgressFile(tmp_path, RunProgress("running"))
    now += 90.0
    progress.update(force=True)
    now += 3_600.0  # nobody knows when it was killed after that
    RunFile(tmp_path, {})
    now += 5.0  # killed before it told of any progress
    last = RunFile(tmp_path, {})
    now += 2.0
    last.end("done", {})
    found = read(tmp_path)
    assert states(tmp_path) == ["killed", "killed", "done"]
    assert [start["seconds"] for start in found["starts"]] == [90.0, 0.0, 2.0]
    assert found["seconds"] == 92.0


@pytest.mark.parametrize("content", ["", "[]", "{", '{"starts": 3}', '{"starts": [{}]}'])
def test_an_odd_file_is_begun_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    RunFile(tmp_path, {}).end("done", {})
    assert states(tmp_path) == ["done"]

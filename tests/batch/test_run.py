"""Runs in folders: their progress, and what is running."""

import json
import os
import time

import pytest
from refusals import refused

from morphgraph.batch.downstream import TaskRun, steps_in
from morphgraph.batch.results import results_of_rows, write_parquet
from morphgraph.batch.run import (
    ProgressFile,
    RunOutcome,
    RunProgress,
    ended_early,
    read_progress,
    runs_in,
    start_run,
    stop_path,
    stop_run,
)
from morphgraph.batch.store import Store, Task, TaskFailure, TaskReport
from morphgraph.segment.models import load_segmenter

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
def test_progress_that_makes_no_sense_is_none(text, tmp_path):
    (tmp_path / "progress.json").write_text(text)
    assert read_progress(tmp_path) is None


def test_a_runner_that_is_gone_is_interrupted(tmp_path):
    with Store(tmp_path):
        ProgressFile(tmp_path, RunProgress("running", total=4)).update(force=True, done=1)
        found = read_progress(tmp_path)
        assert (found.state, found.done, found.is_over) == ("running", 1, False)
    found = read_progress(tmp_path)
    assert (found.state, found.is_over) == ("interrupted", True)


def test_a_run_that_ends_while_it_is_read_is_not_interrupted(tmp_path, monkeypatch):
    file = ProgressFile(tmp_path, RunProgress("running"))
    file.update(force=True)

    def has_runner(folder):
        file.update(force=True, state="stopped")
        return False

    monkeypatch.setattr("morphgraph.batch.run.has_runner", has_runner)
    assert read_progress(tmp_path).state == "stopped"


def test_runs_of_a_folder_newest_first_whatever_lies_there(tmp_path):
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
def test_names_that_are_no_folder_are_refused(tmp_path, name):
    with refused():
        start_run("name: x", tmp_path, name, ["--workers", "1"])
    assert list(tmp_path.iterdir()) == []


def test_a_run_keeps_its_configuration(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "configuration.yaml").write_bytes(b"name: x\r\n")
    with refused():
        start_run("name: y\r\n", tmp_path, "mine", ["--workers", "1"])
    with Store(tmp_path / "mine"), refused():
        start_run("name: x\r\n", tmp_path, "mine", ["--workers", "1"])


@pytest.mark.slow
def test_what_a_run_said_that_ended_at_once(tmp_path):
    run = start_run("name: [", tmp_path, "bad", ["--workers", "1"])
    for _ in range(600):
        said = ended_early(run)
        if said:
            break
        time.sleep(0.1)
    assert "configuration.yaml, line 1, column" in said and "Traceback" not in said
    stop_run(run.folder)
    assert stop_path(run.folder).exists()


def test_how_far_a_task_has_come(tmp_path):
    assert steps_in(tmp_path) is None
    TaskRun(load_segmenter("demo:en"), None, None, 0, tmp_path).tell(3, 10)
    assert steps_in(tmp_path) == (3, 10)


def test_a_run_without_results_has_no_table(tmp_path):
    write_parquet(results_of_rows([]), tmp_path / "results.parquet")
    failed = TaskReport(Task("cell", "en", print, {}), "failed", TaskFailure("en", "No gold.", ""))
    outcome = RunOutcome(tmp_path, (failed,), stopped=False)
    with refused():
        outcome.save(tmp_path / "scores.csv")

"""Runs of visitors wait for their turn, first come, first served, whatever becomes of the app."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from morphgraph.batch.run import Run, read_progress
from morphgraph.core.errors import MorphGraphError
from web import jobs
from web.batch import buttons_of, state_of
from web.jobs import (
    advance_queue,
    is_waiting,
    join_queue,
    leave_queue,
    place_in_queue,
    stop_all,
)
from web.storage import BrowserStore, state_folder, tidy

Visitor = Callable[..., Run]


@pytest.fixture(autouse=True)
def launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Path, list[str]]:
    """The runs that are running, with their options; to end one, take it out."""
    running: dict[Path, list[str]] = {}
    monkeypatch.setenv("MORPHGRAPH_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")
    monkeypatch.setattr(jobs.runs, "is_launched", running.__contains__)
    monkeypatch.setattr(jobs.runs, "launch_run", running.__setitem__)
    return running


@pytest.fixture
def visitor() -> Callable[[], Visitor]:
    def come() -> Visitor:
        root = BrowserStore().folder / "runs"
        return lambda name: join_queue("name: x\n", root, name)

    return come


def aged(run: Run, seconds: float) -> Run:
    """A run that has waited so much longer."""
    then = time.time() - seconds
    if is_waiting(run.folder):
        os.utime(run.folder / "waiting", (then, then))
    return run


def test_first_come_first_served(
    visitor: Callable[[], Visitor], launched: dict[Path, list[str]]
) -> None:
    ann, bob, eve = visitor(), visitor(), visitor()
    first = ann("first")
    assert list(launched) == [first.folder]
    assert not is_waiting(first.folder)
    second, third = aged(bob("a"), 2), aged(ann("second"), 1)
    fourth = eve("a")
    places = [place_in_queue(run.folder) for run in (first, second, third, fourth)]
    assert places == [0, 1, 2, 3]
    assert (state_of(second), buttons_of(second)) == ("waiting", "stop")
    advance_queue()
    assert list(launched) == [first.folder]  # still its turn
    launched.clear()
    advance_queue()
    assert list(launched) == [second.folder]
    assert [place_in_queue(run.folder) for run in (third, fourth)] == [1, 2]


def test_they_run_within_the_visitors_own_files(
    visitor: Callable[[], Visitor], launched: dict[Path, list[str]]
) -> None:
    run = visitor()("mine")
    uploads = run.folder.parent.parent / "uploads"
    assert launched[run.folder] == ["--confined", "--folder", str(uploads), "--workers", "1"]
    assert uploads.stat().st_mode & 0o777 == 0o700


def test_nobody_fills_the_queue(visitor: Callable[[], Visitor]) -> None:
    ann, bob = visitor(), visitor()
    ann("a"), ann("b")
    with pytest.raises(MorphGraphError, match=r"a and b are waiting .* at most 2 runs"):
        ann("c")
    with pytest.raises(MorphGraphError, match="“b” is waiting or running"):
        ann("b")
    bob("a")


def test_who_leaves_lets_others_pass_and_can_come_back(
    visitor: Callable[[], Visitor], launched: dict[Path, list[str]]
) -> None:
    ann, bob = visitor(), visitor()
    ann("a")
    waiting, last = aged(bob("b"), 1), visitor()("c")
    leave_queue(waiting.folder)
    assert place_in_queue(waiting.folder) == 0
    progress = read_progress(waiting.folder)
    assert progress is not None
    assert progress.state == "stopped"
    assert place_in_queue(last.folder) == 1
    again = bob("b")
    assert place_in_queue(again.folder) == 2


def test_the_queue_outlives_the_app(
    visitor: Callable[[], Visitor], launched: dict[Path, list[str]]
) -> None:
    visitor()("a")
    waiting = visitor()("b")
    launched.clear()  # all processes were killed, and another app starts
    assert is_waiting(waiting.folder)
    advance_queue()
    assert list(launched) == [waiting.folder]
    assert not is_waiting(waiting.folder)


def test_deleting_stops_what_runs_first(
    visitor: Callable[[], Visitor], launched: dict[Path, list[str]]
) -> None:
    ann = visitor()
    running, waiting = ann("a"), ann("b")
    root = running.folder.parent
    with pytest.raises(MorphGraphError, match="is being stopped first"):
        stop_all(root)
    assert not is_waiting(waiting.folder)
    assert (running.folder / "stop").exists()
    launched.clear()
    stop_all(root)


def test_nobody_makes_room_at_the_cost_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = BrowserStore(), BrowserStore(), BrowserStore()
    first.keep_file(b"x" * 100)
    monkeypatch.setenv("MORPHGRAPH_PUBLIC_BYTES", "150")
    with pytest.raises(MorphGraphError, match="would take 200 bytes here, the limit is 150"):
        first.keep_file(b"y" * 100)
    second.keep_file(b"x" * 100)
    monkeypatch.setattr("web.storage.MOST_BYTES", 250)
    with pytest.raises(MorphGraphError, match="no room left for files of visitors"):
        third.keep_file(b"z" * 100)
    monkeypatch.setenv("MORPHGRAPH_PUBLIC_BROWSERS", "2")
    with pytest.raises(MorphGraphError, match="no room left"):
        third.keep_record(b"")
    tidy()
    assert {path.name for path in (state_folder() / "browsers").iterdir()} == {
        first.folder.name,
        second.folder.name,
    }


def test_the_owner_can_let_more_run(
    visitor: Callable[[], Visitor],
    launched: dict[Path, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MORPHGRAPH_PUBLIC_RUNS", "2")
    runs = [visitor()("a") for _ in range(3)]
    assert list(launched) == [run.folder for run in runs[:2]]


def test_what_cannot_be_launched_waits_on(
    visitor: Callable[[], Visitor],
    launched: dict[Path, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no room for a log")

    with monkeypatch.context() as patch:
        patch.setattr(jobs.runs, "launch_run", fail)
        run = visitor()("a")
    assert is_waiting(run.folder)
    advance_queue()
    assert list(launched) == [run.folder]


def test_what_is_a_day_old_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = BrowserStore(), BrowserStore()
    for store, hours in ((old, 25), (new, 23)):
        store.keep_record(b"record")
        then = time.time() - hours * 3600
        for path in [store.folder, *store.folder.rglob("*")]:
            os.utime(path, (then, then))
    assert old.record() is None
    assert new.record() == b"record"
    tidy()
    assert not old.folder.exists()
    assert new.folder.exists()

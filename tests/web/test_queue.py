"""Long work goes on where a page is drawn anew, and that of visitors waits for its turn."""

import os
import threading
import time
from pathlib import Path

import pytest
import streamlit as st

from morphgraph.batch.run import read_progress
from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts, parse_word_counts
from morphgraph.segment.models import write_model
from morphgraph.segment.training import train
from web import jobs
from web.batch import state_of
from web.storage import BrowserStore, state_folder, tidy


@pytest.fixture(autouse=True)
def launched(tmp_path, monkeypatch):
    """The runs that are running, with their options; to end one, take it out."""
    running = {}
    monkeypatch.setenv("MORPHGRAPH_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")
    monkeypatch.setattr(jobs.runs, "is_launched", running.__contains__)
    monkeypatch.setattr(jobs.runs, "launch_run", running.__setitem__)
    return running


@pytest.fixture
def visitor():
    def come():
        root = BrowserStore().folder / "runs"
        return lambda name: jobs.join_queue("name: x\n", root, name)

    return come


def aged(run, seconds):
    """A run that has waited so much longer."""
    then = time.time() - seconds
    if jobs.is_waiting(run.folder):
        os.utime(run.folder / "waiting", (then, then))
    return run


def test_first_come_first_served(visitor, launched):
    ann, bob, eve = visitor(), visitor(), visitor()
    first = ann("first")
    # It runs within the visitor's own files.
    uploads = first.folder.parent.parent / "uploads"
    assert launched == {first.folder: ["--confined", "--folder", str(uploads), "--workers", "1"]}
    assert uploads.stat().st_mode & 0o777 == 0o700
    assert not jobs.is_waiting(first.folder)
    second, third = aged(bob("a"), 2), aged(ann("second"), 1)
    fourth = eve("a")
    places = [jobs.place_in_queue(run.folder) for run in (first, second, third, fourth)]
    assert places == [0, 1, 2, 3]
    assert state_of(second) == "waiting"
    jobs.advance_queue()
    assert list(launched) == [first.folder]  # still its turn
    launched.clear()
    jobs.advance_queue()
    assert list(launched) == [second.folder]
    assert [jobs.place_in_queue(run.folder) for run in (third, fourth)] == [1, 2]


def test_nobody_fills_the_queue(visitor):
    ann, bob = visitor(), visitor()
    ann("a"), ann("b")
    with pytest.raises(MorphGraphError, match=r"a and b are waiting .* at most 2 runs"):
        ann("c")
    with pytest.raises(MorphGraphError, match="“b” is waiting or running"):
        ann("b")
    bob("a")


def test_who_leaves_lets_others_pass_and_can_come_back(visitor, launched):
    ann, bob = visitor(), visitor()
    ann("a")
    waiting, last = aged(bob("b"), 1), visitor()("c")
    jobs.leave_queue(waiting.folder)
    assert jobs.place_in_queue(waiting.folder) == 0
    progress = read_progress(waiting.folder)
    assert progress.state == "stopped"
    assert jobs.place_in_queue(last.folder) == 1
    again = bob("b")
    assert jobs.place_in_queue(again.folder) == 2


def test_the_queue_outlives_the_app(visitor, launched):
    visitor()("a")
    waiting = visitor()("b")
    launched.clear()  # all processes were killed, and another app starts
    assert jobs.is_waiting(waiting.folder)
    jobs.advance_queue()
    assert list(launched) == [waiting.folder]
    assert not jobs.is_waiting(waiting.folder)


def test_deleting_stops_what_runs_first(visitor, launched):
    ann = visitor()
    running, waiting = ann("a"), ann("b")
    root = running.folder.parent
    with pytest.raises(MorphGraphError, match="is being stopped first"):
        jobs.stop_all(root)
    assert not jobs.is_waiting(waiting.folder)
    assert (running.folder / "stop").exists()
    launched.clear()
    jobs.stop_all(root)


def test_nobody_makes_room_at_the_cost_of_others(monkeypatch):
    first, second, third = BrowserStore(), BrowserStore(), BrowserStore()
    first.keep_file(b"x" * 100)
    monkeypatch.setenv("MORPHGRAPH_PUBLIC_BYTES", "150")
    with pytest.raises(MorphGraphError, match=r"200 bytes.*150"):
        first.keep_file(b"y" * 100)
    second.keep_file(b"x" * 100)
    monkeypatch.setattr("web.storage.MOST_BYTES", 250)
    with pytest.raises(MorphGraphError, match="no room left for visitors' files"):
        third.keep_file(b"z" * 100)
    monkeypatch.setenv("MORPHGRAPH_PUBLIC_BROWSERS", "2")
    with pytest.raises(MorphGraphError, match="no room left"):
        third.keep_record(b"")
    tidy()
    left = {path.name for path in (state_folder() / "browsers").iterdir()}
    assert left == {first.folder.name, second.folder.name}


def test_the_owner_can_let_more_run_and_what_cannot_be_launched_waits_on(
    visitor, launched, monkeypatch
):
    monkeypatch.setenv("MORPHGRAPH_PUBLIC_RUNS", "2")
    runs = [visitor()("a") for _ in range(3)]
    assert list(launched) == [run.folder for run in runs[:2]]
    jobs.leave_queue(runs[2].folder)
    launched.clear()

    def fail(*_):
        raise OSError("no room for a log")

    with monkeypatch.context() as patch:
        patch.setattr(jobs.runs, "launch_run", fail)
        run = visitor()("a")
    assert jobs.is_waiting(run.folder)
    jobs.advance_queue()
    assert list(launched) == [run.folder]


COUNTS = b"undo\t50\nundoing\t20\ndoing\t30\ndo\t90\nredo\t12\n"
WORDS = parse_word_counts(COUNTS, "counts")
MANY = WordCounts([f"word{n * n:x}" for n in range(400_000)], [1] * 400_000)
PLAIN = {"pipeline": "plain", "parameters": {}}


def quiet(share, said):
    assert 0 <= share <= 1


@pytest.mark.slow
def test_it_is_what_the_library_makes():
    told = []
    tell = lambda _, said: told.append(said)  # noqa: E731
    made = jobs.train_in_turn("ann", "bpe", WORDS, 260, tell, **PLAIN)
    same = train("bpe", WORDS, 260, pipeline="plain")
    assert write_model(made) == write_model(same)
    assert made.name == same.name
    assert told[0].startswith("Training, 0 of at most 600 seconds")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "size", "variable", "message"),
    [
        (WORDS, 60_000, "", "60,000 types of a trained vocabulary; the limit is 50"),
        (WORDS, 260, "MORPHGRAPH_PUBLIC_WORDS=3", "5 different words to train on; the limit is 3"),
        (WORDS, 260, "MORPHGRAPH_PUBLIC_MEMORY=1000000", "more memory or time than a visitor has"),
        (MANY, 260, "MORPHGRAPH_PUBLIC_SECONDS=1", "after 1 seconds, the limit on this server"),
    ],
)
def test_there_are_limits(words, size, variable, message, monkeypatch):
    if variable:
        monkeypatch.setenv(*variable.split("="))
    with pytest.raises(MorphGraphError) as raised:
        jobs.train_in_turn("ann", "bpe", words, size, quiet, **PLAIN)
    assert message in str(raised.value)
    assert "morphgraph-visitor" not in str(raised.value)


def test_one_after_the_other_and_everybody_knows_their_place(monkeypatch):
    told = {"ann": [], "bob": [], "eve": []}
    running = []
    go_on = threading.Event()

    def ran(command, errors, tell, said):
        running.append(command[3])
        assert go_on.wait(60)
        running.remove(command[3])
        Path(command[-1]).write_bytes(b"")

    monkeypatch.setattr(jobs, "_ran", ran)
    monkeypatch.setattr(jobs, "_EVERY", 0.01)

    def train_as(visitor):
        def tell(share, said):
            told[visitor].append(said)
            if visitor == "bob" and len(told["bob"]) > 5:
                raise RuntimeError("Stop was clicked")

        def run():
            try:
                jobs._in_turn(visitor, lambda _: [visitor], tell, "Training")
            except RuntimeError:
                assert visitor == "bob"

        thread = threading.Thread(target=run)
        thread.start()
        until(lambda: visitor in jobs._turns)
        return thread

    threads = [train_as("ann"), train_as("bob"), train_as("eve")]
    with pytest.raises(MorphGraphError, match="training already"):
        jobs._in_turn("ann", lambda _: [], quiet, "Training")
    until(lambda: "Number 1 in the queue for training …" in told["eve"])  # bob has gone
    assert told["bob"][0] == "Number 1 in the queue for training …"
    assert told["eve"][0] == "Number 2 in the queue for training …"
    assert (running, told["ann"]) == (["ann"], [])
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert jobs._turns == []


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class RunEnds(BaseException):
    """What Streamlit raises in a run that another one takes the place of."""


class Watched(jobs.Waiting):
    """Says what it says to a list; the run ends after so many lines."""

    def __init__(self, on_stop=None, lines=1_000):
        super().__init__(st.empty(), on_stop)
        self.said = []
        self._lines = lines

    def _say(self, said, share):
        self.said.append((said, share))
        if len(self.said) == self._lines:
            raise RunEnds


def test_work_goes_on_where_a_run_ends_and_is_not_begun_again(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    go_on, begun = threading.Event(), []

    def make(tell):
        begun.append(1)
        tell(0.5)
        go_on.wait(30)
        return "done"

    left = Watched(lines=2)
    with pytest.raises(RunEnds):
        left.do("key", "Counting", make)
    assert [share for _, share in left.said] == [0.5, 0.5]
    assert left.said[0][0].startswith("Counting\\, ")
    go_on.set()
    assert Watched().do("key", "Counting", make) == "done"
    assert begun == [1]
    assert Watched().do("key", "Counting", make) == "done"  # what was fetched is not kept here
    assert begun == [1, 1]


def test_stop_ends_work_that_tells_of_its_progress(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    go_on, ended, stopped = threading.Event(), threading.Event(), []

    def make(tell):
        go_on.wait(30)
        try:
            tell(0.5)
        except MorphGraphError:
            ended.set()
            raise

    waiting = Watched(stopped.append, lines=1)
    with pytest.raises(RunEnds):
        waiting.do("key", "Counting", make, about="mine.tsv")
    waiting._stop()
    assert stopped == ["mine.tsv"]
    go_on.set()
    assert ended.wait(30)
    assert Watched().do("key", "Counting", lambda _: 1) == 1  # asked for again, it begins anew

"""Long work in a thread: it is joined again, told of, and stopped."""

import threading

import pytest
import streamlit as st

from morphgraph.core.errors import MorphGraphError
from web.jobs import Waiting


class RunEnds(BaseException):
    """What Streamlit raises in a run that another one takes the place of."""


class Watched(Waiting):
    """Says what it says to a list; the run ends after so many lines."""

    def __init__(self, on_stop=None, lines=1_000):
        super().__init__(st.empty(), on_stop)
        self.said = []
        self._lines = lines

    def _say(self, said, share):
        self.said.append((said, share))
        if len(self.said) == self._lines:
            raise RunEnds


@pytest.fixture(autouse=True)
def state(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def test_work_goes_on_where_a_run_ends_and_is_not_begun_again():
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


def test_stop_ends_work_that_tells_of_its_progress():
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

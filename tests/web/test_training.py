"""Visitors train in turn, in a process of its own, and get what the library itself makes."""

from __future__ import annotations

import threading
import time

import pytest

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import parse_word_counts
from morphgraph.segment.models import write_model
from morphgraph.segment.training import train
from web import jobs
from web.jobs import train_in_turn

COUNTS = b"undo\t50\nundoing\t20\ndoing\t30\ndo\t90\nredo\t12\n"
BPE = ["--method", "bpe()", "--pipeline", "plain", "--vocab-size", "260"]
FILE = ("--counts", "../my counts.tsv", COUNTS)
MANY = ("--counts", "many.tsv", b"".join(b"word%x\t1\n" % (n * n) for n in range(400_000)))


def quiet(said: str, share: float) -> None:
    assert 0 <= share <= 1


@pytest.mark.slow
def test_it_is_what_the_library_makes() -> None:
    told: list[str] = []
    made = train_in_turn("ann", BPE, "bpe-plain-260", lambda said, _: told.append(said), FILE)
    same = train("bpe", parse_word_counts(COUNTS, "counts"), 260, pipeline="plain")
    assert write_model(made) == write_model(same)
    assert made.name == same.name
    assert told[0].startswith("Training, 0 of at most 600 seconds")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "file", "variable", "message"),
    [
        (BPE, ("--counts", "a.tsv", b"\xff\xfe\x00x\n"), "", "a.tsv"),
        ([*BPE[:-1], "60000"], FILE, "", "60,000 types of a trained vocabulary, the limit is 50"),
        (BPE, FILE, "MORPHGRAPH_PUBLIC_WORDS=3", "5 different words to train on, the limit is 3"),
        (BPE, FILE, "MORPHGRAPH_PUBLIC_MEMORY=1000000", "more memory or time than a visitor has"),
        (BPE, MANY, "MORPHGRAPH_PUBLIC_SECONDS=1", "after 1 seconds, the limit on this server"),
    ],
)
def test_there_are_limits(
    options: list[str],
    file: tuple[str, str, bytes],
    variable: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable:
        monkeypatch.setenv(*variable.split("="))
    with pytest.raises(MorphGraphError) as raised:
        train_in_turn("ann", options, "x", quiet, file)
    assert message in str(raised.value)
    assert "morphgraph-training" not in str(raised.value)


def test_one_after_the_other_and_everybody_knows_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: dict[str, list[str]] = {"ann": [], "bob": [], "eve": []}
    running: list[str] = []
    go_on = threading.Event()

    def trained(options: list[str], name: str, tell: jobs.TrainingNews, file: object) -> str:
        running.append(name)
        assert go_on.wait(10)
        running.remove(name)
        return name

    monkeypatch.setattr(jobs, "_trained", trained)
    monkeypatch.setattr(jobs, "_EVERY", 0.01)

    def train_as(visitor: str) -> threading.Thread:
        def tell(said: str, share: float) -> None:
            told[visitor].append(said)
            if visitor == "bob" and len(told["bob"]) > 5:
                raise RuntimeError("Stop was clicked")

        def run() -> None:
            try:
                train_in_turn(visitor, [], visitor, tell)
            except RuntimeError:
                assert visitor == "bob"

        thread = threading.Thread(target=run)
        thread.start()
        until(lambda: visitor in jobs._turns)
        return thread

    threads = [train_as("ann"), train_as("bob"), train_as("eve")]
    with pytest.raises(MorphGraphError, match="training already"):
        train_in_turn("ann", [], "", quiet)
    until(lambda: "Number 1 in the queue for training …" in told["eve"])  # bob has gone
    assert told["bob"][0] == "Number 1 in the queue for training …"
    assert told["eve"][0] == "Number 2 in the queue for training …"
    assert (running, told["ann"]) == (["ann"], [])
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert jobs._turns == []


def until(condition: object) -> None:
    deadline = time.monotonic() + 10
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.01)

"""What a session keeps when something else is opened."""

from collections.abc import Callable

import pytest

from morphgraph.reference.entry import Reference
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.tokeniser import Tokeniser
from web.session import Session

FIRST = [("u", "n"), ("un", "d")]
SECOND = [("d", "o"), ("un", "do"), ("u", "n")]


@pytest.fixture
def make(
    small_tokeniser: Callable[..., Tokeniser], small_reference: Callable[..., Reference]
) -> Callable[[list[tuple[str, str]]], Tokeniser]:
    def tokeniser(merges: list[tuple[str, str]]) -> Tokeniser:
        made = small_tokeniser(merges)
        made.checksum = str(merges)
        return made

    return tokeniser


@pytest.fixture
def current(make: Callable[..., Tokeniser], small_reference: Callable[..., Reference]) -> Session:
    tokeniser = make(FIRST)
    return Session(Study(tokeniser, Benchmark.build(tokeniser, small_reference("un d", "un do"))))


def test_edits_come_back_with_their_tokeniser(
    current: Session, make: Callable[..., Tokeniser]
) -> None:
    current.study.graph.knockout(["un"])
    current.open_tokeniser(make(SECOND))
    assert not current.study.graph.history
    assert current.notice == ""
    current.open_tokeniser(make(FIRST))
    assert current.study.graph.recipe() == [{"edit": "knockout", "types": ["un"]}]
    assert "1 edit" in current.notice


def test_edits_that_were_undone_do_not_come_back(
    current: Session, make: Callable[..., Tokeniser]
) -> None:
    current.study.graph.knockout(["un"])
    current.open_tokeniser(make(SECOND))
    current.open_tokeniser(make(FIRST))
    current.undo()
    current.open_tokeniser(make(SECOND))
    current.open_tokeniser(make(FIRST))
    assert not current.study.graph.history


def test_another_reference_keeps_the_edits(
    current: Session, small_reference: Callable[..., Reference]
) -> None:
    current.study.graph.knockout(["und"])
    number = current.study_number
    current.open_reference(small_reference("u nd"))
    assert len(current.study.graph.history) == 1
    assert current.study.start.score("morphemic", "types").relevant == 1
    assert current.study_number == number + 1


def test_frequencies_of_a_reference_are_not_taken_to_the_next(
    current: Session, small_reference: Callable[..., Reference]
) -> None:
    current.open_reference(small_reference("un d", counts=[7]))
    assert "tokens" in current.study.benchmark.weightings
    current.open_reference(small_reference("un do"))
    assert "tokens" not in current.study.benchmark.weightings


def test_chosen_frequencies_stay_with_the_next_reference(
    current: Session, small_reference: Callable[..., Reference]
) -> None:
    current.use_frequencies({"und": 3.0, "undo": 1.0}, "mine.tsv")
    current.open_reference(small_reference("un do"))
    assert current.study.benchmark.frequency_source == "mine.tsv"
    current.open_reference(small_reference("un do", counts=[2]))
    assert current.study.benchmark.frequency_source == "counts in the reference"


def test_undo_and_redo_without_edits_do_nothing(current: Session) -> None:
    current.undo()
    current.redo()
    assert not current.study.graph.history
    current.study.graph.knockout(["un"])
    current.undo()
    current.redo()
    assert len(current.study.graph.history) == 1

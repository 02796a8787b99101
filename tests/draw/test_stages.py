"""Chosen types in three scenes: before, knocked out, reified."""

from collections.abc import Callable

import pytest
from strategies import check_graph

from morphgraph.draw.fan import stages
from morphgraph.draw.fan_layout import Fan
from morphgraph.graph.merge_table import EditError
from morphgraph.reference.entry import Reference
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.tokeniser import BpeTokeniser

MERGES = [("a", "b"), ("ab", "c"), ("ab", "c", "d"), ("x", "y"), ("xy", "x")]


@pytest.fixture
def study(
    small_tokeniser: Callable[..., BpeTokeniser], small_reference: Callable[..., Reference]
) -> Study:
    tokeniser = small_tokeniser(MERGES, "abcdxy")
    return Study(tokeniser, Benchmark.build(tokeniser, small_reference("a bc", "a bcd", "xyx")))


def merges_of(fan: Fan) -> dict[str, str]:
    """The parts of each merge by its result, as its box tells them in full."""
    told = [item.about.split("\n")[0] for item in fan.vertices if item.kind == "merge"]
    return {result: parts for parts, result in (line.split(" → ") for line in told)}


def test_the_three_scenes(study: Study) -> None:
    """Without ab: abc takes a b c, abcd takes a b c d.

    Repair: the lower abc is made of a b c first, so abcd takes abc d. Then b + c is created in abc;
    a + b was knocked out. No merge of other types is shown.
    """
    shown = stages(study, ["ab"])
    assert merges_of(shown.before) == {"ab": "a + b", "abc": "ab + c", "abcd": "ab + c + d"}
    assert merges_of(shown.knocked_out) == {"abc": "a + b + c", "abcd": "a + b + c + d"}
    assert merges_of(shown.reified) == {"bc": "b + c", "abc": "a + bc", "abcd": "abc + d"}
    ghosts, changed = (
        [
            [item.label for item in fan.vertices if flag in item.flags]
            for fan in (shown.before, shown.knocked_out, shown.reified)
        ]
        for flag in ("ghost", "changed")
    )
    assert ghosts == [[], ["ab"], ["ab"]]
    assert changed == [[], ["a + b + c", "a + b + c + d"], ["b + c", "a + bc", "abc + d"]]
    # Nothing was done to the study's own graph.
    assert not study.graph.history
    assert "ab" in study.graph
    # Doing it gives what was shown.
    study.graph.replay([shown.knockout.step, shown.reification.step])
    check_graph(study.graph)
    assert "bc" in study.graph


def test_merges_of_earlier_knockouts_are_left_alone(study: Study) -> None:
    study.graph.knockout(["xy"])
    shown = stages(study, ["ab"])
    touched = {entry.merge for entry in shown.reification.rewired}
    assert touched == {entry.merge for entry in shown.knockout.rewired}


def test_atoms_cannot_be_chosen(study: Study) -> None:
    with pytest.raises(EditError, match="atom"):
        stages(study, ["a"])

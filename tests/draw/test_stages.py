"""Chosen types in three scenes: before, knocked out, reified."""

from collections.abc import Callable

import pytest
from strategies import check_graph

from morphgraph.draw.explore import stages
from morphgraph.draw.scene import Scene
from morphgraph.graph.merge_table import EditError
from morphgraph.reference.entry import Reference
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.tokeniser import Tokeniser

MERGES = [("a", "b"), ("ab", "c"), ("ab", "c", "d"), ("x", "y"), ("xy", "x")]


@pytest.fixture
def study(
    small_tokeniser: Callable[..., Tokeniser], small_reference: Callable[..., Reference]
) -> Study:
    tokeniser = small_tokeniser(MERGES, "abcdxy")
    return Study(tokeniser, Benchmark.build(tokeniser, small_reference("a bc", "a bcd", "xyx")))


def merges_of(scene: Scene) -> dict[str, set[str]]:
    """The labels of the parts of each merge, by the label of its result."""
    label = {vertex.key: vertex.label for vertex in scene.vertices}
    made = {edge.source: label[edge.target] for edge in scene.edges if edge.source[0] == "m"}
    parts: dict[str, set[str]] = {result: set() for result in made.values()}
    for edge in scene.edges:
        if edge.target in made:
            parts[made[edge.target]].add(label[edge.source])
    return parts


def test_the_three_scenes(study: Study) -> None:
    """Without ab: abc takes a b c, abcd takes a b c d.

    Repair: the lower abc is made of a b c first, so abcd takes abc d. Then b + c is created in abc;
    a + b was knocked out. No merge of other types is shown.
    """
    shown = stages(study, ["ab"])
    assert merges_of(shown.before) == {
        "ab": {"a", "b"},
        "abc": {"ab", "c"},
        "abcd": {"ab", "c", "d"},
    }
    assert merges_of(shown.knocked_out) == {"abc": {"a", "b", "c"}, "abcd": {"a", "b", "c", "d"}}
    assert merges_of(shown.reified) == {
        "bc": {"b", "c"},
        "abc": {"a", "bc"},
        "abcd": {"abc", "d"},
    }
    ghosts = [
        [vertex.label for vertex in scene.vertices if "ghost" in vertex.flags]
        for scene in (shown.before, shown.knocked_out, shown.reified)
    ]
    assert ghosts == [[], ["ab"], ["ab"]]
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

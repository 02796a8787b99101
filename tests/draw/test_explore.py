"""The picture around a type, before and after it is knocked out."""

from collections.abc import Callable

import pytest

from morphgraph.draw.scene import Scene, scene_around
from morphgraph.reference.entry import Reference
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.tokeniser import BpeTokeniser

MERGES = [("a", "b"), ("ab", "c"), ("x", "y"), ("abc", "xy"), ("ab", "x")]


@pytest.fixture
def study(
    small_tokeniser: Callable[..., BpeTokeniser], small_reference: Callable[..., Reference]
) -> Study:
    tokeniser = small_tokeniser(MERGES, "abcxy")
    return Study(tokeniser, Benchmark.build(tokeniser, small_reference("ab c", "abc xy")))


def look(study: Study, text: str, **options: int) -> Scene:
    return scene_around(study, study.graph.ids[text], **options)


def edges(view: Scene) -> set[tuple[str, str]]:
    label = {vertex.key: vertex.label for vertex in view.vertices}
    return {(label[edge.source], label[edge.target]) for edge in view.edges}


def ghosts(view: Scene) -> set[str]:
    return {vertex.label for vertex in view.vertices if "ghost" in vertex.flags}


def test_a_removed_type_is_drawn_with_the_parts_it_had(study: Study) -> None:
    """abc was made of ab and c by the merge of rank 1; abcxy now takes ab, c and xy."""
    assert not ghosts(look(study, "abc"))
    study.graph.knockout(["abc"])
    view = look(study, "abc")
    assert ghosts(view) == {"abc", "1"}
    drawn = edges(view)
    assert {("ab", "1"), ("c", "1"), ("1", "abc")} <= drawn
    assert {("ab", "3"), ("c", "3"), ("xy", "3"), ("3", "abcxy")} <= drawn, "and what it was in"
    assert {("a", "0"), ("b", "0"), ("0", "ab")} <= drawn, "two steps down, as ever"
    assert ("2", "xy") not in drawn
    [merge] = [v for v in view.vertices if v.label == "1"]
    assert merge.tooltip == "ab + c → abc\nrank 1\nknocked out"
    assert "ghost" not in look(study, "abcxy").vertices[0].flags
    assert not ghosts(look(study, "abcxy")), "only where it was looked at"


def test_it_still_is_after_other_edits(study: Study) -> None:
    study.graph.knockout(["abc"])
    study.graph.knockout(["xy"])
    assert {("ab", "1"), ("c", "1"), ("1", "abc")} <= edges(look(study, "abc"))
    study.graph.undo()
    study.graph.undo()
    assert not ghosts(look(study, "abc"))


def test_parts_that_are_gone_too_are_ghosts(study: Study) -> None:
    study.graph.cascade(["ab"])
    view = look(study, "abc")
    assert {("ab", "1"), ("c", "1"), ("1", "abc")} <= edges(view)
    assert {"ab", "abc", "1"} <= ghosts(view)


def test_ghosts_keep_to_the_limit(study: Study) -> None:
    study.graph.knockout(["abc"])
    view = look(study, "abc", limit=5)
    assert len(view.vertices) <= 5
    assert {("ab", "1"), ("c", "1"), ("1", "abc")} <= edges(view)
    assert view.left_out > 0

"""Segmenting on after a removal, against segmenting anew."""

import numpy as np
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MergeList, graph_of, segment_plain, with_words

from morphgraph.graph.arrays import ShrinkingMerges, merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.merging import segment, segment_after, segment_pieces_anew


def removable(graph: MergeGraph) -> list[str]:
    return [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]


@examples(200)
@given(drawn=with_words(), data=st.data())
def test_a_segmentation_after_a_removal_is_one_made_anew(
    drawn: tuple[MergeList, list[str]], data: st.DataObject
) -> None:
    """One removal after the other, also where types have several merges or these come too early."""
    merges, words = drawn
    graph = graph_of(merges)
    known = segment_plain(graph, words)
    while types := removable(graph):
        chosen = data.draw(st.lists(st.sampled_from(types), min_size=1, max_size=3, unique=True))
        cascade = data.draw(st.booleans())
        change = graph.cascade(chosen) if cascade else graph.knockout(chosen)
        known = segment_after(graph, known, change)
        anew = segment(graph, known.words)
        assert known.arrays is anew.arrays
        np.testing.assert_array_equal(known.closed_by, anew.closed_by)
        np.testing.assert_array_equal(known.token_at, anew.token_at)


@examples(200)
@given(drawn=with_words(), data=st.data())
def test_shrinking_merges_are_those_of_the_graph(
    drawn: tuple[MergeList, list[str]], data: st.DataObject
) -> None:
    """Types go in several steps, also where merges come to have the same parts."""
    merges, words = drawn
    graph = graph_of(merges)
    arrays = merge_arrays(graph)
    shrinking = ShrinkingMerges(arrays)
    found = segment_plain(graph, words)
    while types := removable(graph):
        chosen = data.draw(st.lists(st.sampled_from(types), min_size=1, max_size=3, unique=True))
        shrinking.knock_out(np.array([graph.id_of(text) for text in chosen]))
        graph.knockout(chosen)
        kept = np.flatnonzero(shrinking.removed[arrays.results] == 0)
        assert arrays.merge_ids[kept].tolist() == graph.merge_ids()
        parts = [tuple(shrinking.parts[slice(*shrinking.spans[i])].tolist()) for i in kept]
        assert parts == [merge.parts for merge in graph.merges().values()]
        segment_pieces_anew(found, shrinking, np.zeros(0, np.uint8))
        anew = segment(graph, found.words)
        closed = np.append(kept, -1)[anew.closed_by]
        np.testing.assert_array_equal(found.closed_by, closed)
        np.testing.assert_array_equal(found.token_at, anew.token_at)


def test_a_twin_of_the_first_merge_comes_in_its_place() -> None:
    """a + bcd and ab + cd are both a b c d once ab, cd and bcd are gone; then abcd's twin goes."""
    graph = MergeGraph.from_merges(
        [("b", "c"), ("bc", "d"), ("a", "bcd"), ("a", "b"), ("ab", "c"), ("abc", "d")]
    )
    arrays = merge_arrays(graph)
    shrinking = ShrinkingMerges(arrays)
    found = segment_plain(graph, ["abcd"])
    shrinking.knock_out(np.array([graph.ids[text] for text in ("bc", "bcd", "ab", "abc")]))
    segment_pieces_anew(found, shrinking, np.zeros(0, np.uint8))
    assert found.closed_by.tolist() == [2, 2, 2, -1], "of two merges, the lower rank"
    shrinking.knock_out(np.array([graph.ids["abcd"]]))
    segment_pieces_anew(found, shrinking, np.zeros(0, np.uint8))
    assert found.closed_by.tolist() == [-1] * 4


def test_a_long_piece_is_segmented_again_only_if_it_is_touched() -> None:
    graph = MergeGraph.from_merges([("a", "b"), ("c", "d")])
    words = ["ab" * 400, "cd" * 400]
    known = segment_plain(graph, words)
    known.token_at[-1] = -7  # would be overwritten if the second word were segmented again
    after = segment_after(graph, known, graph.knockout(["ab"]))
    assert after.tokens(0) == [graph.ids["a"], graph.ids["b"]] * 400
    assert after.token_at[-1] == -7

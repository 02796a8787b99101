"""Segmenting on after a removal, against segmenting anew."""

import numpy as np
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MergeList, graph_of, segment_plain, well_formed, with_words

from morphgraph.graph.arrays import merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.merging import segment, segment_after


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
@given(merges=well_formed(), data=st.data())
def test_arrays_without_types_are_those_of_the_graph_without_them(
    merges: MergeList, data: st.DataObject
) -> None:
    graph = graph_of(merges)
    arrays = merge_arrays(graph)
    types = removable(graph)
    chosen = data.draw(st.lists(st.sampled_from(types), unique=True)) if types else []
    left = arrays.without([graph.id_of(text) for text in chosen])
    graph.knockout(chosen)
    kept = np.flatnonzero(np.diff(left.part_offsets))
    assert arrays.merge_ids[kept].tolist() == graph.merge_ids()
    found = [tuple(left.parts[slice(*left.part_offsets[i : i + 2])].tolist()) for i in kept]
    assert found == [merge.parts for merge in graph.merges().values()]


def test_a_long_piece_is_segmented_again_only_if_it_is_touched() -> None:
    graph = MergeGraph.from_merges([("a", "b"), ("c", "d")])
    words = ["ab" * 400, "cd" * 400]
    known = segment_plain(graph, words)
    known.token_at[-1] = -7  # would be overwritten if the second word were segmented again
    after = segment_after(graph, known, graph.knockout(["ab"]))
    assert after.tokens(0) == [graph.ids["a"], graph.ids["b"]] * 400
    assert after.token_at[-1] == -7

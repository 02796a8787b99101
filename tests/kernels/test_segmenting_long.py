"""The kernel for long pieces gives what the kernel for words gives."""

import numpy as np
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import segment_plain, tied_graphs

from morphgraph.graph.arrays import merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.kernels.segmenting import segment_pieces
from morphgraph.kernels.segmenting_long import LONG, segment_long

ATOMS = "abc"


@examples(300)
@given(tied_graphs(), st.text(ATOMS, min_size=1, max_size=40))
def test_equals_the_kernel_for_words(graph: MergeGraph, text: str) -> None:
    arrays = merge_arrays(graph)
    table, dense, widest = arrays.lookup
    atoms = np.array([graph.ids[character] for character in text], np.int32)
    offsets = np.array([0, len(atoms)], np.int64)
    found = []
    for long in (False, True):
        closed_by, token_at = np.empty(len(atoms), np.int32), np.empty(len(atoms), np.int32)
        out = (closed_by, token_at)
        if long:
            merges = (table, arrays.results, widest, arrays.leaders)
            segment_long(atoms, 0, len(atoms), *merges, *out)
        else:
            merges = (table, dense, arrays.results, widest, arrays.leaders)
            segment_pieces(atoms, offsets, 0, 1, *merges, len(atoms), np.zeros(0, np.uint8), *out)
        found.append((closed_by.tolist(), token_at.tolist()))
    assert found[0] == found[1] == naive(graph, text)


def naive(graph: MergeGraph, text: str) -> tuple[list[int], list[int]]:
    """One merge after the other: the best level, then the leftmost, then the lowest rank."""
    levels = graph.levels()
    tokens = [(graph.ids[character], end) for end, character in enumerate(text)]
    closed_by = [-1] * len(text)
    while True:
        possible = [
            (levels[number], at, merge.rank, position)
            for position, (number, merge) in enumerate(graph.merges().items())
            for at in range(len(tokens) - len(merge.parts) + 1)
            if tuple(token for token, _ in tokens[at : at + len(merge.parts)]) == merge.parts
        ]
        if not possible:
            break
        _, at, _, position = min(possible)
        _, parts, result = list(graph.merges().values())[position]
        last = at + len(parts)
        for _, end in tokens[at : last - 1]:
            closed_by[end] = position
        tokens[at:last] = [(result, tokens[last - 1][1])]
    token_at = [-1] * len(text)
    for token, end in tokens:
        token_at[end] = token
    return closed_by, token_at


def test_a_long_piece_among_short_ones_is_segmented() -> None:
    graph = MergeGraph.from_merges([("a", "b"), ("ab", "ab")], alphabet="abc")
    long = "ab" * LONG + "c"
    segmentation = segment_plain(graph, ["abc", long, "cab"])
    names = [[graph.types[token] for token in segmentation.tokens(word)] for word in range(3)]
    assert names == [["ab", "c"], ["abab"] * (LONG // 2) + ["c"], ["c", "ab"]]

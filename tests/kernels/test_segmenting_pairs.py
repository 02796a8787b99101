"""Short pieces by merges of two parts: each pair in a slot of its own, and the oracle's tokens."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, MergeList, graph_of, segment_plain

from morphgraph.graph.arrays import merge_arrays
from morphgraph.kernels import merge_lookup
from morphgraph.kernels.segmenting_pairs import _EMPTY, _NONE, SHORT, _rank, _shift, build_pairs
from morphgraph.tokeniser.words import Segmentation

PAIRS = MERGES.map(lambda merges: [parts for parts in merges if len(parts) == 2])
WORDS = st.lists(
    st.text("ab", max_size=SHORT + 8) | st.text("abc", max_size=SHORT + 8), max_size=12
)


def cut(segmentation: Segmentation, number: int) -> list[int]:
    return [atom for atom, _ in segmentation.token_ends(number)]


@pytest.mark.parametrize("filler", [0, merge_lookup.DENSE])
@given(PAIRS, WORDS)
def test_as_oracle(filler: int, merges: MergeList, words: list[str]) -> None:
    """Pieces that take turns, and longer ones, which go another way."""
    graph = graph_of(merges, filler=filler)
    arrays = merge_arrays(graph)
    assert arrays.pairs is not None
    found = segment_plain(graph, words)
    for number, word in enumerate(words):
        tokens, closed_by = oracles.segment(oracles.listed(merges), word)
        start, end = found.words.word_offsets[number : number + 2]
        lengths = np.cumsum([len(token) for token in tokens])
        assert (np.array(cut(found, number)) - start + 1).tolist() == lengths.tolist()
        closed = [int(arrays.merge_ids[i]) if i >= 0 else None for i in found.closed_by[start:end]]
        assert closed == closed_by


@given(st.integers(0, 3000), st.integers(0, 2**32))
def test_every_pair_has_a_slot(count: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    pairs = np.unique(draw.integers(0, 2**21 - 1, (count, 2), dtype=np.int32), axis=0)
    draw.shuffle(pairs)
    table, seeds = build_pairs(pairs.reshape(-1), np.arange(len(pairs) + 1, dtype=np.int64) * 2)
    assert (table != _EMPTY).sum() == len(pairs)
    shifts = _shift(len(table)), _shift(len(seeds))

    def rank(first: int, second: int) -> int:
        return int(_rank.py_func(table, shifts[0], seeds, shifts[1], first, second))

    with np.errstate(over="ignore"):
        assert [rank(*pair) for pair in pairs.tolist()] == list(range(len(pairs)))
        known = {tuple(pair) for pair in pairs.tolist()}
        others = draw.integers(0, 2**21 - 1, (200, 2)).tolist()
        assert all(rank(*pair) == _NONE for pair in others if tuple(pair) not in known)


@pytest.mark.parametrize("length", range(2, SHORT + 9))
def test_a_merge_at_each_place(length: int) -> None:
    """Also at the last one before another part of the candidates is read, and beyond."""
    graph = graph_of([("a", "b"), ("c", "ab"), ("c", "d")])
    words = ["d" * (length - 2) + "ab", "d" * (length - 3) + "cab", "d" * (length - 2) + "cd"]
    found = segment_plain(graph, words[:: 2 if length == 2 else 1])
    tokens = [[graph.types[t] for t in found.tokens(number)] for number in range(len(found.words))]
    singles = ["d"] * (length - 2)
    expected = [[*singles, "ab"], [*singles[1:], "cab"], [*singles, "cd"]]
    assert tokens == expected[:: 2 if length == 2 else 1]

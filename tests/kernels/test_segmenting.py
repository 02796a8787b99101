"""The heap's kernel, random numbers, and that all kernels are compiled for what they are given."""

import importlib

import numpy as np
import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import MERGES, graph_of, segment_plain, tied_graphs

from morphgraph.graph.arrays import merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.kernels import calls, merge_lookup
from morphgraph.kernels.resampling import mixed
from morphgraph.kernels.segmenting import NONE_OMITTED, segment_pieces
from morphgraph.kernels.segmenting_pairs import _EMPTY, _NONE, SHORT, _rank, _shift, build_pairs
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.training import train, trained_events


@examples(300)
@given(tied_graphs(), st.text("abc", min_size=1, max_size=40))
def test_equals_one_merge_after_the_other(graph, text):
    """With tuple merges the heap needs more room than it has at first."""
    atoms = np.array([graph.ids[character] for character in text], np.int32)
    offsets, found = np.array([0, len(atoms)], np.int64), np.empty((2, len(atoms)), np.int32)
    given = merge_arrays(graph).merges, NONE_OMITTED, np.zeros(0, np.uint8)
    segment_pieces(atoms, offsets, offsets, (0, 1), *given, *found)
    assert tuple(found.tolist()) == naive(graph, text)


def naive(graph, text):
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


def test_random_numbers():
    """The well-known first outputs of SplitMix64 from the seed 1234567."""
    state, found = 1234567, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        found.append(int(mixed(np.uint64(state))))
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_set_up_compiles_for_all_arrays():
    """What has been compiled is called by each caller with the same kinds of arrays."""
    names = "merge_lookup merge_training removing resampling segmenting segmenting_pairs "
    names += "training_tables trie"
    modules = [importlib.import_module(f"morphgraph.kernels.{name}") for name in names.split()]
    for call in calls.ALL:
        call()
    kernels = {
        name: kernel
        for module in modules
        for name, kernel in vars(module).items()
        if hasattr(kernel, "signatures")
    }
    before = {name: len(kernel.signatures) for name, kernel in kernels.items()}
    counts = {"hugs": 3, "bugs": 2, "hug": 9}
    trained_events(counts, vocab_size=9, threshold=0.5, minimum_count=1)
    trained_events(counts, vocab_size=9, scaffold=True)
    bpe = train("bpe", counts, 260)
    words = bpe.encode(list(counts))
    bpe.segment(words)
    segment_plain(MergeGraph.from_merges([("a", "b", "a")]), ["aba"] * 9)
    for queue in (False, True):
        Dropout(bpe.tokeniser, 0.5, 1, queue).samples(words, 2)
    assert {name: len(kernel.signatures) for name, kernel in kernels.items()} == before


PAIRS = MERGES.map(lambda merges: [parts for parts in merges if len(parts) == 2])
WORDS = st.lists(
    st.text("ab", max_size=SHORT + 8) | st.text("abc", max_size=SHORT + 8), max_size=12
)


def cut(segmentation, number):
    return [atom for atom, _ in segmentation.token_ends(number)]


@pytest.mark.parametrize("filler", [0, merge_lookup.DENSE])
@given(PAIRS, WORDS)
def test_pairs_as_oracle(filler, merges, words):
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
def test_every_pair_has_a_slot(count, seed):
    draw = np.random.default_rng(seed)
    pairs = np.unique(draw.integers(0, 2**21 - 1, (count, 2), dtype=np.int32), axis=0)
    draw.shuffle(pairs)
    table, seeds = build_pairs(pairs.reshape(-1), np.arange(len(pairs) + 1, dtype=np.int64) * 2)
    assert (table != _EMPTY).sum() == len(pairs)
    shifts = _shift(len(table)), _shift(len(seeds))

    def rank(first, second):
        return int(_rank.py_func(table, shifts[0], seeds, shifts[1], first, second))

    with np.errstate(over="ignore"):
        assert [rank(*pair) for pair in pairs.tolist()] == list(range(len(pairs)))
        known = {tuple(pair) for pair in pairs.tolist()}
        others = draw.integers(0, 2**21 - 1, (200, 2)).tolist()
        assert all(rank(*pair) == _NONE for pair in others if tuple(pair) not in known)


@pytest.mark.parametrize("length", range(2, SHORT + 9))
def test_a_merge_at_each_place(length):
    """Also at the last one before another part of the candidates is read, and beyond."""
    graph = graph_of([("a", "b"), ("c", "ab"), ("c", "d")])
    words = ["d" * (length - 2) + "ab", "d" * (length - 3) + "cab", "d" * (length - 2) + "cd"]
    found = segment_plain(graph, words[:: 2 if length == 2 else 1])
    tokens = [[graph.types[t] for t in found.tokens(number)] for number in range(len(found.words))]
    singles = ["d"] * (length - 2)
    expected = [[*singles, "ab"], [*singles[1:], "cab"], [*singles, "cd"]]
    assert tokens == expected[:: 2 if length == 2 else 1]

"""The heap's kernel, random numbers, and that all kernels are compiled for what they are given."""

import importlib
from types import ModuleType
from typing import Any

import numpy as np
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import segment_plain, tied_graphs

from morphgraph.graph.arrays import merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.kernels import calls
from morphgraph.kernels.resampling import mixed
from morphgraph.kernels.segmenting import NONE_OMITTED, segment_pieces
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.training import train, trained_events


@examples(300)
@given(tied_graphs(), st.text("abc", min_size=1, max_size=40))
def test_equals_one_merge_after_the_other(graph: MergeGraph, text: str) -> None:
    """With tuple merges the heap needs more room than it has at first."""
    atoms = np.array([graph.ids[character] for character in text], np.int32)
    offsets, found = np.array([0, len(atoms)], np.int64), np.empty((2, len(atoms)), np.int32)
    given = merge_arrays(graph).merges, NONE_OMITTED, np.zeros(0, np.uint8)
    segment_pieces(atoms, offsets, offsets, (0, 1), *given, *found)
    assert tuple(found.tolist()) == naive(graph, text)


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


def test_random_numbers() -> None:
    """The well-known first outputs of SplitMix64 from the seed 1234567."""
    state, found = 1234567, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        found.append(int(mixed(np.uint64(state))))
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_set_up_compiles_for_all_arrays() -> None:
    """What has been compiled is called by each caller with the same kinds of arrays."""
    names = "merge_lookup merge_training removing resampling segmenting segmenting_pairs "
    names += "training_tables trie"
    modules: list[ModuleType] = [
        importlib.import_module(f"morphgraph.kernels.{name}") for name in names.split()
    ]
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
    bpe: Any = train("bpe", counts, 260)
    words = bpe.encode(list(counts))
    bpe.segment(words)
    segment_plain(MergeGraph.from_merges([("a", "b", "a")]), ["aba"] * 9)
    for queue in (False, True):
        Dropout(bpe.tokeniser, 0.5, 1, queue).samples(words, 2)
    assert {name: len(kernel.signatures) for name, kernel in kernels.items()} == before

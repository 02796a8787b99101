"""The kernels of dropout and Picky BPE: compiled once, for the arrays that their callers give."""

import numpy as np
import pytest
from strategies import trained_segmenter

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import dropout, picky_segmenting, picky_training
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.picky import train_picky
from morphgraph.segment.trimmed import train_scaffold


def test_warm_up_covers_all_types_of_array() -> None:
    for module in (dropout, picky_segmenting, picky_training):
        module.warm_up()
    counts = {"hugs": 3, "bugs": 2, "hug": 9}
    picky = trained_segmenter(train_picky(counts, vocab_size=9, threshold=0.5, minimum_count=1))
    train_scaffold(counts, vocab_size=9)
    words = picky.encode(list(counts))
    picky.segment(words)
    Dropout(picky.tokeniser, 0.5, 1).samples(words, 2)
    names = ["train_events", "copy_rows", "refill_queue", "enter_spelling", "count_pairs"]
    kernels = [getattr(picky_training, name) for name in names]
    kernels += [dropout.segment_dropping, picky_segmenting.segment_by_events]
    assert [len(kernel.signatures) for kernel in kernels] == [1] * len(kernels)


def test_random_numbers() -> None:
    """The well-known first outputs of SplitMix64 from the seed 1234567."""
    state, found = 1234567, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        found.append(int(dropout.mixed(np.uint64(state))))
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_refuses_too_many_characters() -> None:
    huge = np.broadcast_to(np.zeros(1, np.int32), 2**31)
    with pytest.raises(MorphGraphError, match="more than 2³¹ characters"):
        picky_training.learn_events(huge, 1, 2)

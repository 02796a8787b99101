# mypy: disable-error-code="call-arg"
"""One call of each kernel that Python calls, with the kinds of arrays that its callers give.

Each is named like its kernel. They compile kernels ahead: see `compiling`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from morphgraph.kernels import (
    alignment,
    merge_lookup,
    merge_training,
    removing,
    resampling,
    segmenting,
    segmenting_pairs,
    training_tables,
    trie,
)


def ids(*numbers: int) -> Any:
    """Return ids of types or merges."""
    return np.array(numbers, np.int32)


def places(*numbers: int) -> Any:
    """Return places in another array."""
    return np.array(numbers, np.int64)


WORD, PIECES = ids(0, 1, 0, 1), places(0, 4)
PARTS, OFFSETS = ids(0, 1, 0, 1), places(0, 2, 4)
SPANS, RESULTS = np.array([[0, 2], [2, 4]]), ids(2, 2)
NO_FLAGS = np.zeros(0, np.uint8)


def outcome() -> Any:
    """Return where a segmentation of the word goes."""
    return ids(0, 0, 0, 0), ids(0, 0, 0, 0)


def tables() -> Any:
    """Return the table, the square table and the twins of no merge."""
    table = np.full((16, 2), merge_lookup.EMPTY)
    table[:, 1] = merge_lookup.NOTHING
    square = np.full((merge_lookup.DENSE, merge_lookup.DENSE), merge_lookup.NOTHING)
    return table, square, ids(-1, -1)


def merges() -> Any:
    """Return what segments by merges."""
    table, square, _ = tables()
    return segmenting.Merges(table, square, 2, PARTS, SPANS, RESULTS, ids())


def no_types() -> Any:
    """Return the trie of no type."""
    root, ends = ids(-1, -1), np.full((1, 2), trie.ABSENT, np.int32)
    return trie.Trie(np.full((16, 2), merge_lookup.EMPTY), root, ends, 1, ids(-1, -1))


def packed() -> Any:
    """Return one word for training."""
    return np.array([3, 1, 0, 0, 1, 0] + training_tables.LINE * [0], np.int32)


# ------------------------------------------------------------------------- words


def align() -> None:
    alignment.align(ids(97, 98), places(0, 2), ids(97, 98), places(0, 1, 2), places(0, 2))


def longest_common_by_word() -> None:
    strings = ids(1, 2), places(0, 1, 2), places(0, 2)
    alignment.longest_common_by_word(*strings, *strings)


def _first_places() -> None:
    alignment.first_places(np.frombuffer(b"ab", np.uint8), places(1))


def draw_counts() -> None:
    resampling.draw_counts(0, 0, np.empty((2, 3)))


def draw_signs() -> None:
    resampling.draw_signs(0, 0, np.empty((2, 3)))


# ------------------------------------------------------------------------- merges


def build_table() -> None:
    merge_lookup.build_table(PARTS, OFFSETS, 4, 4)


def build_pairs() -> None:
    segmenting_pairs.build_pairs(PARTS, OFFSETS)


def segment_pairs() -> None:
    pairs = np.full(16, segmenting_pairs._EMPTY), np.zeros(2, np.uint16), tables()[1], RESULTS
    segmenting_pairs.segment_pairs(WORD, PIECES, (0, 1), pairs, NO_FLAGS, *outcome())


def segment_pieces() -> None:
    given = merges(), segmenting.NONE_OMITTED, NO_FLAGS, *outcome()
    segmenting.segment_pieces(WORD, PIECES, PIECES, (0, 1), *given)


def scan_pieces() -> None:
    segmenting.scan_pieces(WORD, PIECES, (0, 1), merges(), NO_FLAGS, *outcome())


def count_applications() -> None:
    gold = np.zeros(4, np.uint8)
    segmenting.count_applications(ids(0, -1, 1, -1), PIECES, np.ones(1), gold, OFFSETS)


# ------------------------------------------------------------------------- edits


def widened() -> None:
    merge_lookup.widened(tables()[0], 4)


def parts_without() -> None:
    removed = np.array([0, 0, 1], np.uint8)
    removing.parts_without(PARTS, SPANS, RESULTS, ids(-1, -1, 0), removed, removed)


def expanded() -> None:
    removing.expanded(ids(0, 0, 0), places(0, 1, 3), places(0, 1))


def replace_parts() -> None:
    removing.replace_parts(*tables(), np.int64(4), PARTS, SPANS, ids(), ids(), places(0))


def carry_over() -> None:
    removing.carry_over(ids(0, -1, 1, -1), PIECES, ids(-1, -1), ids(0, 0, 0, 0))


def highest_values() -> None:
    wanted = np.ones(1, np.uint8)
    removing.highest_values(ids(0, -1, 1, -1), PIECES, wanted, np.ones(2), np.zeros(1))


def repair() -> None:
    removing.repair(PARTS, OFFSETS, ids(2, 3), places(1), WORD, PIECES, 4)


# ------------------------------------------------------------------------- vocabularies


def build_trie() -> None:
    trie.build_trie(ids(0, 0, 1), places(0, 1, 3), ids(0, 1), places(0, 1), 2)


def recover_merges() -> None:
    table, root, ends, *_ = no_types()
    trie.recover_merges(ids(0, 0, 1), places(0, 1, 3), table, root, ends)


def longest_first() -> None:
    units = ids(0, 0, 0, 0)
    trie.longest_first(WORD, PIECES, PIECES, no_types(), -1, 0, True, False, units, 2)


def leftmost_longest() -> None:
    trie.leftmost_longest(WORD, PIECES, no_types(), (0, 1), 2, False, 100)


def best_path() -> None:
    for kind in (np.float32, np.float64):
        scored = np.zeros(2, kind), 2, kind(-10.0), True
        trie.best_path(WORD, PIECES, np.zeros(4, np.uint8), no_types(), (0, 1), *scored)


def keep_tokens() -> None:
    trie.keep_tokens(PIECES, np.zeros(4, np.uint8), 1, True, *outcome())


# ------------------------------------------------------------------------- training


def append_words() -> None:
    training_tables.append_words(packed(), 0, ids(0, 1, 0), places(3), places(1))


def train_events() -> None:
    merge_training.learn_events(packed(), 2, 4, threshold=0.5)


def copy_rows() -> None:
    training_tables.copy_rows(
        merge_training._empty_table(2), ids(), merge_training._empty_table(4), ids()
    )


SCORES = (
    align,
    build_pairs,
    build_table,
    segment_pairs,
    longest_common_by_word,
    draw_counts,
)
EDITS = (
    repair,
    scan_pieces,
    parts_without,
    replace_parts,
    widened,
    carry_over,
    highest_values,
)
FLOTA = keep_tokens, longest_first
TRAINING = train_events, append_words, copy_rows
OTHERS = (
    segment_pieces,
    best_path,
    recover_merges,
    count_applications,
    build_trie,
    leftmost_longest,
    _first_places,
    draw_signs,
    expanded,
)

TOGETHER: list[tuple[Callable[[], None], ...]] = [SCORES, EDITS, FLOTA, TRAINING]
"""Kernels that are used together; those that take longest to compile first."""

ALL = (*TRAINING, *OTHERS, *SCORES, *EDITS, *FLOTA)

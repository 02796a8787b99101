# mypy: disable-error-code="call-arg"
"""Compile all kernels into the disk cache at set-up: ``python -m morphgraph.kernels``.

Every kernel is called once, with the kinds of arrays that its callers give.
"""

import time
from typing import Any

import numpy as np

from morphgraph.kernels import parity, removing, resampling, training, trie, words
from morphgraph.kernels.merge_lookup import DENSE, NOTHING, build_table, widened
from morphgraph.kernels.segmenting import (
    NONE_OMITTED,
    Events,
    Merges,
    count_applications,
    scan_pieces,
    segment_by_events,
    segment_pieces,
)
from morphgraph.kernels.segmenting_pairs import build_pairs, segment_pairs
from morphgraph.kernels.training_tables import append_words, copy_rows, room_for_words


def ids(*numbers: int) -> Any:
    """Return ids of types or merges."""
    return np.array(numbers, np.int32)


def places(*numbers: int) -> Any:
    """Return places in another array."""
    return np.array(numbers, np.int64)


def segment_by_merges() -> None:
    """Segment one word by a pair and a tuple merge, by pairs alone, and by events."""
    parts, offsets, word = ids(0, 1, 2, 0, 1), places(0, 2, 5), ids(0, 1, 0, 1)
    pieces, out, flags = places(0, 4), (ids(0, 0, 0, 0), ids(0, 0, 0, 0)), np.zeros(0, np.uint8)
    table, dense, widest, twins, state = build_table(parts, offsets, 4, 4)
    spans = np.stack([offsets[:-1], offsets[1:]], axis=1)
    merges = Merges(table, dense, int(widest), parts, spans, ids(2, 3), ids())
    segment_pieces(word, pieces, pieces, (0, 1), merges, NONE_OMITTED, flags, *out)
    scan_pieces(word, pieces, (0, 1), merges, flags, *out)
    gold = np.zeros(4, np.uint8)
    count_applications(out[0], pieces, np.ones(1), gold, offsets)
    pairs = build_pairs(parts[:2], offsets[:2])
    square = np.full((DENSE, DENSE), NOTHING, np.int64)
    segment_pairs(word, pieces, (0, 1), (*pairs, square, ids(2)), flags, *out)
    merged, split = (ids(0), places(0, 1)), (ids(0), places(0, 0, 0, 0))
    made: Any = (ids(2), places(0, 1), np.zeros(1, np.bool_))
    segment_by_events(
        word, pieces, 4, Events(table, dense, *merged, *split, *made, ids(1, 1, 2)), *out
    )

    removed = np.array([0, 0, 1, 0], np.uint8)
    changes = removing.parts_without(parts, spans, ids(2, 3), ids(-1, -1, 0, 1), removed, removed)
    removing.replace_parts(widened(table, 4), dense, twins, state, parts, spans, *changes)
    removing.carry_over(out[0], pieces, ids(-1, -1), out[0].copy())
    removing.highest_values(out[0], pieces, np.ones(1, np.uint8), np.ones(2), np.zeros(1))
    removing.repair(parts, offsets, ids(2, 3), places(1), ids(0, 1, 0, 1), places(0, 4), 4)


def look_up() -> None:
    """Segment one word by each way of looking up substrings."""
    word, offsets, out = ids(0, 1, 1), places(0, 3), (ids(0, 0, 0), ids(0, 0, 0))
    built = trie.build_trie(ids(0, 0, 1), places(0, 1, 3), ids(0, 1), places(0, 1), 2)
    tables, flags = trie.Trie(*built[:3], int(built[3]), ids(-1, -1)), np.zeros(3, np.uint8)
    trie.longest_first(word, offsets, offsets, tables, -1, 0, True, False, ids(0, 0, 0), 2)
    trie.leftmost_longest(word, offsets, tables, (0, 1), 2, False, 100)
    trie.longest_from_right(word, offsets, tables, (0, 1))
    for kind in (np.float32, np.float64):
        scored = np.zeros(2, kind), 2, kind(-10.0), True
        trie.best_path(word, offsets, flags, tables, (0, 1), *scored)
    trie.keep_tokens(offsets, flags, 1, True, *out)


def main() -> None:
    """Call every kernel once, and say how long it took."""
    started = time.perf_counter()
    segment_by_merges()
    look_up()
    packed = room_for_words(places(3))
    append_words(packed, 0, ids(0, 1, 0), places(3), places(1))
    training.learn_events(packed, 2, 4, threshold=0.5)
    packed = room_for_words(places(3))
    append_words(packed, 0, ids(0, 1, 0), places(3), places(1))
    parity.learn_parity([packed], [3], [], [], ["a", "b"], 4, minimum_count=1, global_merges=1)
    copy_rows(training._empty_table(2), ids(), training._empty_table(4), ids())
    text, space = (np.frombuffer(part, np.uint8) for part in (b"ab", b" "))
    words.first_places(text, places(1))
    words.encode_letters(text, places(1, 1), space, np.zeros(256, np.int32), -1)
    words.align(ids(97, 98), places(0, 2), ids(97, 98), places(0, 1, 2), places(0, 2))
    strings = ids(1, 2), places(0, 1, 2), places(0, 2)
    words.longest_common_by_word(*strings, *strings)
    room = np.empty((2, 3))
    resampling.draw_counts(0, 0, room)
    resampling.draw_signs(0, 0, room)
    print(f"kernels ready after {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()

"""Segment words by events in order: merges of pairs, and splits of types.

Pairs are looked up in the table of `merge_lookup.build_table`, where a value's upper half is the
number of a pair; ``merge_events[merge_offsets[n] : merge_offsets[n + 1]]`` are the events that
merge pair *n*, ascending. In the same way, ``split_events`` and ``split_offsets`` give, by type,
the events that split it. Event *e* makes ``event_types[event_offsets[e] : event_offsets[e + 1]]``:
the result of a merge, or the parts of a split type.
"""

import numpy as np
from numba import njit

from morphgraph.kernels.merge_lookup import DENSE, NONE, build_table, slot_of


@njit(cache=True, nogil=True)
def next_event(  # type: ignore[no-untyped-def]
    left, right, earliest, table, dense, merge_events, merge_offsets, split_events, split_offsets
):
    """Return the first event from ``earliest`` on for a token and its right neighbour.

    It splits ``left`` or merges it with ``right``, which is -1 where nothing follows. `NONE` if
    there is no such event.
    """
    best = np.int64(NONE)
    if left < split_offsets.shape[0] - 1:
        for at in range(split_offsets[left], split_offsets[left + 1]):
            if split_events[at] >= earliest:
                best = np.int64(split_events[at])
                break
    if right < 0:
        return best
    if left < DENSE and right < DENSE:
        number = dense[left, right] >> 32
    else:
        number = table[slot_of(table, (np.int64(left) << 32) | np.int64(right)), 1] >> 32
    if number != NONE:
        for at in range(merge_offsets[number], merge_offsets[number + 1]):
            if merge_events[at] >= earliest:
                return min(best, np.int64(merge_events[at]))
    return best


@njit(cache=True, nogil=True)
def segment_by_events(  # type: ignore[no-untyped-def]
    atoms,
    piece_offsets,
    first_piece,
    last_piece,
    longest,
    table,
    dense,
    merge_events,
    merge_offsets,
    split_events,
    split_offsets,
    event_types,
    event_offsets,
    is_split,
    widths,
    closed_by,
    token_at,
):
    """Segment pieces ``first_piece : last_piece`` into ``closed_by`` and ``token_at``.

    Repeatedly apply the earliest possible event not before the last one, at its leftmost place.
    ``candidate[i]`` is the next one that splits token *i* or merges it with its successor; as the
    last event is the earliest of all candidates, the others stay valid. ``widths``: the number of
    atoms of each type.
    """
    token = np.empty(longest, np.int32)
    end = np.empty(longest, np.int32)
    candidate = np.empty(longest, np.int64)
    for piece in range(first_piece, last_piece):
        start = piece_offsets[piece]
        count = np.int64(piece_offsets[piece + 1] - start)
        for i in range(count):
            token[i] = atoms[start + i]
            end[i] = i
            closed_by[start + i] = -1
            token_at[start + i] = -1
        low = np.int64(0)
        high = count
        last = np.int64(0)
        while True:
            for i in range(low, high):
                candidate[i] = next_event(
                    token[i],
                    token[i + 1] if i + 1 < count else -1,
                    last,
                    table,
                    dense,
                    merge_events,
                    merge_offsets,
                    split_events,
                    split_offsets,
                )
            event = np.int64(NONE)
            at = np.int64(-1)
            for i in range(count):
                if candidate[i] < event:
                    event = candidate[i]
                    at = np.int64(i)
            if at < 0:
                break
            last = event
            first = event_offsets[event]
            if is_split[event]:
                grown = np.int64(event_offsets[event + 1] - first) - 1
                for i in range(count - 1, at, -1):
                    token[i + grown] = token[i]
                    end[i + grown] = end[i]
                    candidate[i + grown] = candidate[i]
                place = end[at]
                for p in range(grown, -1, -1):
                    token[at + p] = event_types[first + p]
                    end[at + p] = place
                    if p < grown:
                        closed_by[start + place] = -1
                    place -= widths[event_types[first + p]]
                count += grown
                high = min(count, at + grown + 1)
            else:
                closed_by[start + end[at]] = event
                token[at] = event_types[first]
                end[at] = end[at + 1]
                count -= 1
                for i in range(at + 1, count):
                    token[i] = token[i + 1]
                    end[i] = end[i + 1]
                    candidate[i] = candidate[i + 1]
                high = min(count, at + 1)
            low = max(np.int64(0), at - 1)
        for i in range(count):
            token_at[start + end[i]] = token[i]


def warm_up() -> None:
    """Compile for the dtypes in use, so that the disk cache holds it."""
    parts, offsets = np.array([0, 1], np.int32), np.array([0, 2], np.int64)
    table, dense, *_ = build_table(parts, offsets, 3, 0)
    numbers = np.zeros(1, np.int32)
    closed_by, token_at = np.empty(2, np.int32), np.empty(2, np.int32)
    segment_by_events(
        parts,
        offsets,
        0,
        1,
        2,
        table,
        dense,
        numbers,
        np.array([0, 1], np.int64),
        numbers,
        np.zeros(4, np.int64),
        np.array([2], np.int32),
        np.array([0, 1], np.int64),
        np.zeros(1, np.bool_),
        np.ones(3, np.int32),
        closed_by,
        token_at,
    )

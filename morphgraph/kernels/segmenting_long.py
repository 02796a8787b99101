"""Segment long pieces as `segmenting.segment_pieces` does, with a heap instead of a scan.

A scan for the lowest rank takes time quadratic in a piece's length: fastest for words, but too slow
for a text without spaces.
"""

import heapq

import numpy as np
from numba import njit

from morphgraph.kernels.merge_lookup import EMPTY, NONE, build_table, slot_of

LONG = 512
"""Pieces of more atoms than this are segmented here."""


@njit(cache=True, nogil=True)
def segment_long(  # type: ignore[no-untyped-def]
    atoms, start, end, table, results, widest, leaders, closed_by, token_at
):
    """Segment the piece ``start : end`` into ``closed_by`` and ``token_at``.

    A token is named by its first atom, counted from ``start``. ``candidate`` is the lowest rank
    that applies there, ``after`` the token after the merge's parts, ``reach`` the last token that
    this depends on. Entries of the heap are ``rank << 32 | token``; those that are no longer
    a token's candidate are skipped. ``leaders``: see `segmenting.segment_pieces`; where there
    are any, an entry has the leader's rank.
    """
    count = np.int64(end - start)
    token = atoms[start:end].copy()
    following = np.arange(1, count + 1)
    previous = np.arange(-1, count - 1)
    candidate = np.full(count, np.int64(NONE), np.int64)
    after = np.zeros(count, np.int64)
    reach = np.zeros(count, np.int64)
    tied = leaders.shape[0] > 0
    closed_by[start:end] = -1
    token_at[start:end] = -1
    heap = [np.int64(NONE) << 32]
    # Look up leftwards from `i`, for at most `steps` tokens, where `changed` was in reach.
    i = np.int64(count - 1)
    steps = count
    changed = np.int64(-1)
    while True:
        while i >= 0 and steps > 0:
            if i == changed or reach[i] >= changed:
                state = np.int64(token[i])
                best = np.int64(NONE)
                j = np.int64(following[i])
                reach[i] = i
                while j < count:
                    reach[i] = j
                    slot = slot_of(table, (state << 32) | np.int64(token[j]))
                    if table[slot, 0] == EMPTY:
                        break
                    value = table[slot, 1]
                    j = np.int64(following[j])
                    if (value >> 32) < best:
                        best = value >> 32
                        after[i] = j
                    state = value & 0xFFFFFFFF
                    if state == NONE:
                        break
                candidate[i] = best
                if best != NONE:
                    level = np.int64(leaders[best]) if tied else best
                    heapq.heappush(heap, (level << 32) | i)
            i = np.int64(previous[i])
            steps -= 1
        entry = heapq.heappop(heap)
        rank = entry >> 32
        if rank == NONE:
            break
        i = np.int64(entry & 0xFFFFFFFF)
        steps = np.int64(0)
        if tied:
            best = candidate[i]
            if best == NONE or leaders[best] != rank:
                continue
            rank = best
        elif candidate[i] != rank:
            continue
        part = np.int64(following[i])
        while part != after[i]:
            closed_by[start + part - 1] = rank
            candidate[part] = NONE
            part = np.int64(following[part])
        token[i] = results[rank]
        following[i] = part
        if part < count:
            previous[part] = i
        changed = i
        steps = np.int64(widest)
    i = np.int64(0)
    while i < count:
        token_at[start + following[i] - 1] = token[i]
        i = np.int64(following[i])


def warm_up() -> None:
    """Compile for the dtypes in use, so that the disk cache holds it."""
    parts, part_offsets = np.array([0, 1], np.int32), np.array([0, 2], np.int64)
    table, _, widest, _, _ = build_table(parts, part_offsets, 3, 0)
    atoms = np.array([0, 1], np.int32)
    closed_by, token_at = np.empty(2, np.int32), np.empty(2, np.int32)
    results, leaders = np.array([2], np.int32), np.empty(0, np.int32)
    segment_long(atoms, 0, 2, table, results, widest, leaders, closed_by, token_at)

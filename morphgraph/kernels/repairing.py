"""Repair tuple merges: give them the parts into which earlier merges segment their result.

Types, merges and tables as in `kernels.segmenting`.
"""

import numpy as np
from numba import njit

from morphgraph.kernels.merge_lookup import (
    EMPTY,
    NONE,
    add_merge,
    build_table,
    remove_merge,
    slot_of,
)


@njit(cache=True, nogil=True)
def _segment_below(atoms, table, results, widest, limit, token, candidate, width):  # type: ignore[no-untyped-def]
    """Segment one string with the merges of rank below ``limit``; return its token count."""
    count = np.int64(atoms.shape[0])
    for i in range(count):
        token[i] = atoms[i]
    low = np.int64(0)
    high = count - 2
    while True:
        for i in range(low, high + 1):
            best = np.int64(limit)
            parts = np.int64(0)
            state = np.int64(token[i])
            for j in range(i + 1, count):
                slot = slot_of(table, (state << 32) | np.int64(token[j]))
                if table[slot, 0] == EMPTY:
                    break
                value = table[slot, 1]
                if (value >> 32) < best:
                    best = value >> 32
                    parts = np.int64(j - i + 1)
                state = value & 0xFFFFFFFF
                if state == NONE:
                    break
            candidate[i] = best
            width[i] = parts
        lowest = np.int64(limit)
        at = np.int64(-1)
        for i in range(count - 1):
            if candidate[i] < lowest:
                lowest = candidate[i]
                at = np.int64(i)
        if at < 0:
            return count
        token[at] = results[lowest]
        shift = width[at] - 1
        count -= shift
        for i in range(at + 1, count):
            token[i] = token[i + shift]
            candidate[i] = candidate[i + shift]
            width[i] = width[i + shift]
        low = max(np.int64(0), at - widest + 1)
        high = np.int64(min(at, count - 2))


@njit(cache=True, nogil=True)
def repair(parts, part_offsets, results, tuples, atoms, atom_offsets, type_count):  # type: ignore[no-untyped-def]
    """Return new parts of tuple merges, by rank, each given the merges repaired so far.

    ``tuples``: the positions, ascending, of the tuple merges; ``atom_offsets``: into ``atoms``, the
    atoms of the result of each. Returns int32 (total) new parts and int64 (tuples + 1) offsets into
    them; an empty range means that the merge stays as it is: earlier merges yield its parts, or
    already its result.
    """
    table, dense, widest, twins, next_state = build_table(
        parts, part_offsets, type_count, atoms.shape[0]
    )
    longest = np.int64(1)
    for i in range(tuples.shape[0]):
        longest = max(longest, atom_offsets[i + 1] - atom_offsets[i])
    token = np.empty(longest, np.int32)
    candidate = np.empty(longest, np.int64)
    width = np.empty(longest, np.int64)
    repaired = np.empty(atoms.shape[0], np.int32)
    offsets = np.zeros(tuples.shape[0] + 1, np.int64)
    used = np.int64(0)
    for i in range(tuples.shape[0]):
        merge = np.int64(tuples[i])
        first, last = part_offsets[merge], part_offsets[merge + 1]
        count = _segment_below(
            atoms[atom_offsets[i] : atom_offsets[i + 1]],
            table,
            results,
            widest,
            merge,
            token,
            candidate,
            width,
        )
        same = count == last - first
        if same:
            for j in range(count):
                same = same and token[j] == parts[first + j]
        offsets[i + 1] = used
        if same or count < 2:
            continue
        remove_merge(table, dense, twins, merge, parts[first:last])
        next_state = add_merge(table, dense, twins, next_state, merge, token[:count])
        widest = max(widest, count)
        for j in range(count):
            repaired[used + j] = token[j]
        used += count
        offsets[i + 1] = used
    return repaired[:used].copy(), offsets


def warm_up() -> None:
    """Compile every kernel here with the dtypes in use."""
    parts = np.array([0, 1, 1, 0, 0, 1, 0], np.int32)
    part_offsets = np.array([0, 2, 4, 7], np.int64)
    results = np.array([2, 3, 4], np.int32)
    tuples = np.array([2], np.int64)
    atoms = np.array([0, 1, 0], np.int32)
    repair(parts, part_offsets, results, tuples, atoms, np.array([0, 3], np.int64), 5)

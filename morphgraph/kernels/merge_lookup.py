"""A trie of merges by their parts in one open-addressing table, with removal.

The key of a step is ``state << 32 | next type``; a state is the first part's type id, or a number
above all type ids for a longer prefix of a tuple merge. The value is ``rank << 32 | next state``,
either of which may be `NONE`. Of merges with the same parts, the lowest rank is in the table;
``twins`` (int32, by rank) leads from there to the others, ascending, and ends with -1.
"""

import numpy as np
from numba import njit

from morphgraph.kernels.compiling import kernel

NONE = 0x7FFFFFFF
"""No merge ends here (upper half of a value), no longer prefix exists (lower half)."""

NOTHING = np.int64(NONE << 32 | NONE)
"""The value of a step that is not in the table."""

DENSE = 384
"""Steps between types with ids below this are also in a square table, without hashing.

These are the atoms and the first merges, which account for most look-ups.
"""

EMPTY = np.int64(-1)
"""The key of a slot that holds no step."""

_MIX = np.int64(-7046029254386353131)
"""An odd 64-bit constant (the golden ratio's) that spreads keys over the table."""


@njit(nogil=True)
def slot_of(table, key):
    """Return the slot of a step (int64), or the empty slot where it would go.

    Kernels consult their square table first, and leave a loop at an empty slot at once: one
    function for both would take 50 % longer.
    """
    mask = np.int64(table.shape[0] - 1)
    slot = ((key ^ (key >> 29)) * _MIX >> 20) & mask
    step = table[slot, 0]
    while step != key and step != EMPTY:
        slot = (slot + 1) & mask
        step = table[slot, 0]
    return slot


@njit(nogil=True)
def empty_table(steps):
    """Return a half-empty table with room for ``steps`` steps: int64 (slots, 2)."""
    size = np.int64(16)
    while size < 2 * steps:
        size *= 2
    table = np.empty((size, 2), np.int64)
    for slot in range(size):
        table[slot, 0] = EMPTY
        table[slot, 1] = NOTHING
    return table


@njit(nogil=True)
def add_merge(table, dense, twins, next_state, merge, parts):
    """Insert a merge with these parts into the table; return the next free state.

    There must be an empty slot left for each part.
    """
    state = np.int64(parts[0])
    for position in range(1, parts.shape[0]):
        following = np.int64(parts[position])
        slot = slot_of(table, (state << 32) | following)
        table[slot, 0] = (state << 32) | following
        rank, next_ = table[slot, 1] >> 32, table[slot, 1] & 0xFFFFFFFF
        if position == parts.shape[0] - 1:
            rank = _with_twin(twins, rank, np.int64(merge))
        elif next_ == NONE:
            next_ = np.int64(next_state)
            next_state += 1
        table[slot, 1] = (rank << 32) | next_
        if state < DENSE and following < DENSE:
            dense[state, following] = table[slot, 1]
        state = next_
    return next_state


@njit(nogil=True)
def _with_twin(twins, lowest, merge):
    """Insert a merge among those of the same parts, given the lowest; return the new lowest."""
    if merge < lowest:
        twins[merge] = -1 if lowest == NONE else lowest
        return merge
    before = lowest
    while twins[before] >= 0 and twins[before] < merge:
        before = np.int64(twins[before])
    twins[merge] = twins[before]
    twins[before] = merge
    return lowest


@njit(nogil=True)
def remove_merge(table, dense, twins, merge, parts):
    """Remove a merge with these parts from the table; steps that lead nowhere stay."""
    state = np.int64(parts[0])
    for position in range(1, parts.shape[0] - 1):
        state = table[slot_of(table, (state << 32) | np.int64(parts[position])), 1] & 0xFFFFFFFF
    following = np.int64(parts[parts.shape[0] - 1])
    slot = slot_of(table, (state << 32) | following)
    lowest = table[slot, 1] >> 32
    if lowest == merge:
        heir = np.int64(NONE) if twins[merge] < 0 else np.int64(twins[merge])
        table[slot, 1] = (heir << 32) | (table[slot, 1] & 0xFFFFFFFF)
        if state < DENSE and following < DENSE:
            dense[state, following] = table[slot, 1]
        return
    while twins[lowest] != merge:
        lowest = np.int64(twins[lowest])
    twins[lowest] = twins[merge]


@kernel
def build_table(parts, part_offsets, type_count, spare):
    """Build a table of the merges, in order of rank, with room for ``spare`` more steps.

    Returns ``table``; ``dense``, the values of steps between low ids, int64 (`DENSE`, `DENSE`); the
    largest number of parts of a merge; ``twins``; and the next free state.
    """
    merges = part_offsets.shape[0] - 1
    table = empty_table(parts.shape[0] - merges + spare)
    dense = np.full((DENSE, DENSE), NOTHING, np.int64)
    twins = np.full(merges, -1, np.int32)
    next_state = np.int64(type_count + 1)
    widest = np.int64(2)
    for merge in range(merges):
        its_parts = parts[part_offsets[merge] : part_offsets[merge + 1]]
        widest = max(widest, its_parts.shape[0])
        next_state = add_merge(table, dense, twins, next_state, merge, its_parts)
    return table, dense, widest, twins, next_state


@kernel
def widened(table, steps):
    """Return the table with room for ``steps`` more steps than it has slots filled."""
    filled = np.int64(0)
    for slot in range(table.shape[0]):
        filled += table[slot, 0] != EMPTY
    wider = empty_table(filled + steps)
    for slot in range(table.shape[0]):
        if table[slot, 0] != EMPTY:
            free = slot_of(wider, table[slot, 0])
            wider[free, 0] = table[slot, 0]
            wider[free, 1] = table[slot, 1]
    return wider

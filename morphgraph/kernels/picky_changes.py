"""The two updates of `picky_training`: entering a merge's effects, and splitting a type."""

from __future__ import annotations

import numpy as np
from numba import njit

from morphgraph.kernels import Int32, Int64
from morphgraph.kernels.picky_tables import (
    DONE,
    GROW_LISTS,
    GROW_QUEUE,
    GROW_TABLE,
    HEAP,
    LOW,
    NODES,
    PAIRS,
    POSITIONS,
    PRESENT,
    REMOVED,
    ROOM,
    SIZE,
    Integer,
    Lists,
    Queue,
    Types,
    gaining_row,
    listed_words,
    push,
    row_of,
)
from morphgraph.kernels.training import HEADER, Scratch


@njit(cache=True, nogil=True)
def count_doubles(words: Int32, members: Int32, part: Integer) -> Integer:
    """Count non-overlapping repetitions of a type in distinct words."""
    total = np.int64(0)
    for word in members:
        start = word + HEADER
        end = start + words[word]
        count = np.int64(words[word + 1]) | (np.int64(words[word + 2]) << 31)
        run = 0
        for i in range(start, end):
            run = run + 1 if words[i] == part else 0
            if run == 2:
                total += count
                run = 0
    return total


@njit(cache=True, nogil=True)
def enter_merge(
    table: Int64,
    queue: Queue,
    lists: Lists,
    scratch: Scratch,
    state: Int64,
    left: Integer,
    right: Integer,
    new: Integer,
    touches: Integer,
    events: Integer,
) -> None:
    """Bring table, lists and queue up to date after `replace_pair`; clear `scratch`."""
    slots, touched, event_slot, event_word = scratch
    nodes, positions = lists
    half = slots.shape[0] // 2
    high_new = np.int64(new) << 32
    high_right = np.int64(right) << 32
    for t in range(touches):
        x = np.int64(touched[t])
        pair = (x << 32) | np.int64(new) if x < half else high_new | (x - half)
        row = gaining_row(table, pair, state)
        table[row, 1] += slots[x, 0]
        slots[x, 3] = row
    for t in range(touches):
        x = np.int64(touched[t])
        pair = (x << 32) | np.int64(left) if x < half else high_right | (x - half)
        table[row_of(table, pair), 1] -= slots[x, 0]
        slots[x, 0] = 0
    end = state[POSITIONS]
    node = state[NODES]
    for t in range(touches):
        x = touched[t]
        row = slots[x, 3]
        length = slots[x, 1]
        slots[x, 1] = 0
        slots[x, 3] = end
        if table[row, 1] > 0:
            nodes[node, 0] = end
            nodes[node, 1] = length
            nodes[node, 2] = table[row, 2]
            table[row, 2] = node
            node += 1
            end += length
            push(queue, state, table[row, 1], table[row, 0])
        else:  # made by one replacement and undone by the next in the same word
            slots[x, 3] = -1
    for e in range(events):
        x = event_slot[e]
        at = slots[x, 3]
        if at >= 0:
            positions[at] = event_word[e]
            slots[x, 3] = at + 1
    state[POSITIONS] = end
    state[NODES] = node


@njit(cache=True, nogil=True)
def present_parts(types: Types, whole: Integer) -> Int32:
    """Return the present types that a removed one was built from, recursively."""
    room = types.spelled[whole] - types.spelled[whole - 1]
    parts = np.empty(room, np.int32)
    waiting = np.empty(room + 1, np.int32)
    waiting[0] = whole
    depth = 1
    found = 0
    while depth > 0:
        depth -= 1
        number = waiting[depth]
        if types.flags[number] != REMOVED:
            parts[found] = number
            found += 1
        else:
            waiting[depth] = types.built[number, 1]
            waiting[depth + 1] = types.built[number, 0]
            depth += 2
    return parts[:found]


@njit(cache=True, nogil=True)
def split_type(
    words: Int32,
    table: Int64,
    queue: Queue,
    lists: Lists,
    types: Types,
    state: Int64,
    whole: Integer,
    atom_count: Integer,
) -> Integer:
    """Replace a type by the types it was built from; return DONE or GROW_…."""
    nodes, positions = lists
    types.flags[whole] = REMOVED  # for the steps below; undone if there is no room yet
    parts = present_parts(types, whole)
    head = types.head[whole]
    listed = listed_words(lists, head) if head >= 0 else positions[:0]
    start = state[POSITIONS]
    if start + listed.shape[0] > positions.shape[0]:
        types.flags[whole] = PRESENT
        state[ROOM] = listed.shape[0]
        return GROW_LISTS
    found = 0
    occurrences = 0
    for word in listed:
        inside = 0
        for i in range(word + HEADER, word + HEADER + words[word]):
            if words[i] == whole:
                inside += 1
        if inside:
            positions[start + found] = word
            found += 1
            occurrences += inside
    gains = occurrences * (parts.shape[0] + 1)
    status = DONE
    if (
        start + found + gains > positions.shape[0]
        or state[NODES] + gains + parts.shape[0] > nodes.shape[0]
    ):
        status = GROW_LISTS
    elif 3 * (state[PAIRS] + gains) > 2 * table.shape[0]:
        status = GROW_TABLE
    elif state[HEAP] + gains > queue.heap.shape[0] or state[LOW] + gains > queue.low.shape[0]:
        status = GROW_QUEUE
    if status != DONE:
        types.flags[whole] = PRESENT
        state[ROOM] = found + gains + parts.shape[0]
        return status

    event_row = np.empty(gains, np.int64)
    event_word = np.empty(gains, np.int32)
    events = 0
    longest = 0
    for f in range(found):
        longest = max(longest, words[positions[start + f]])
    before = np.empty(longest, np.int32)
    for f in range(found):
        word = positions[start + f]
        length = words[word]
        count = np.int64(words[word + 1]) | (np.int64(words[word + 2]) << 31)
        first = word + HEADER
        for i in range(length):
            before[i] = words[first + i]
        for i in range(length - 1):
            if before[i] == whole or before[i + 1] == whole:
                pair = (np.int64(before[i]) << 32) | np.int64(before[i + 1])
                table[row_of(table, pair), 1] -= count
        write = first
        for i in range(length):
            is_whole = before[i] == whole
            for p in range(parts.shape[0] if is_whole else 1):
                words[write] = parts[p] if is_whole else before[i]
                if write > first and (is_whole or (p == 0 and before[i - 1] == whole)):
                    pair = (np.int64(words[write - 1]) << 32) | np.int64(words[write])
                    row = gaining_row(table, pair, state)
                    table[row, 1] += count
                    table[row, 3] += 1
                    event_row[events] = row
                    event_word[events] = word
                    events += 1
                write += 1
        words[word] = write - first

    # From counts of events to places of lists: −1 − place, as long as a row has none yet.
    end = start + found
    node = state[NODES]
    for e in range(events):
        row = event_row[e]
        length = table[row, 3]
        if length > 0:
            nodes[node, 0] = end
            nodes[node, 1] = length
            nodes[node, 2] = table[row, 2]
            table[row, 2] = node
            node += 1
            table[row, 3] = -1 - end
            end += length
            push(queue, state, table[row, 1], table[row, 0])
        positions[-1 - table[row, 3]] = event_word[e]
        table[row, 3] -= 1
    for e in range(events):
        table[event_row[e], 3] = 0
    for part in parts:
        types.counts[part] += types.counts[whole]
        if part >= atom_count:
            nodes[node, 0] = start
            nodes[node, 1] = found
            nodes[node, 2] = types.head[part]
            types.head[part] = node
            node += 1
    types.counts[whole] = 0
    types.head[whole] = -1
    state[POSITIONS] = end
    state[NODES] = node
    state[SIZE] -= 1
    return DONE

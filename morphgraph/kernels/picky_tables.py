"""Data structures of training with removals: words of pairs, a queue, types by atoms.

The words, the table of pairs and the replacing of a pair are those of `training`, where a pair gets
all its occurrences at once. This fails here: a split type releases its parts, and a removed
type may be merged again, even from another pair. So three things differ:

- the table has four columns: pair, count, the head of a chain of lists of words, working space;
- `Lists` holds these chains: a node is (start, length, next node), the words are
  ``positions[start : start + length]``. A list may name a word that the pair is no longer in, or
  name it twice. When a pair is merged, its chain passes to the type that it makes: a superset of
  the words that the type is in, should it be split;
- the queue has an entry (count, pair) for every time that a pair gained; for each pair one of them
  has at least its present count, and entries with another count are corrected or dropped
  when they come to the top.

Types are distinguished by their atoms: ``spelling`` holds them, one type after the other, and
``by_spelling`` finds the type that has them, by a hash.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from morphgraph.kernels import Int32, Int64
from morphgraph.kernels.training import PAIR_FACTOR

Integer = Any  # for the type checker, as numbers from arrays are not Python's own

DONE, CHUNK, REFILL, GROW_TABLE, GROW_QUEUE, GROW_LISTS, GROW_TYPES, GROW_EVENTS = range(8)

# The scalars that outlive one call, as indices into the array `state`.
(
    EVENTS,  # number performed
    TYPES,  # number ever made, atoms included
    SIZE,  # number that count towards the vocabulary
    PAIRS,  # rows of the table in use
    HEAP,
    LOW,
    THRESHOLD,  # entries of a lower count wait in `low`
    NODES,
    POSITIONS,
    TO_SPLIT,  # bit 1: the left part of the last merge has yet to be split; bit 2: the right part
    TO_MARK,  # whether the parts of the last merge may turn out to be scaffolds
    ROOM,  # what a GROW_… status asks for
    WORK,  # words visited in this call
    MOST,  # the largest SIZE so far
    STATE_SIZE,
) = range(15)


class Queue(NamedTuple):
    """Rows (count, pair): a heap, and an unsorted waiting list."""

    heap: Int64
    low: Int64


class Lists(NamedTuple):
    """Chains of lists of words."""

    nodes: Int64
    positions: Int32


class Types(NamedTuple):
    """The properties of each type, by id.

    ``built``: rows (left, right), −1 for an atom; ``counts``: valid for all but atoms; ``head``: of
    the chain of lists of the words that it may be in; ``flags``: `REMOVED`, `PRESENT` or
    `SCAFFOLD`; ``spelling`` and ``spelled``, the index after its last atom there; ``by_spelling``:
    ids or −1, its length a power of 2.
    """

    built: Int32
    counts: Int64
    head: Int64
    flags: npt.NDArray[np.uint8]
    spelling: Int32
    spelled: Int64
    by_spelling: Int32


REMOVED, PRESENT, SCAFFOLD = range(3)


@njit(cache=True, nogil=True)
def sift_up(heap: Int64, size: Integer, count: Integer, pair: Integer) -> None:
    """Insert an entry into a heap of ``size`` rows."""
    hole = size
    while hole > 0:
        parent = (hole - 1) >> 1
        if heap[parent, 0] > count or (heap[parent, 0] == count and heap[parent, 1] <= pair):
            break
        heap[hole, 0] = heap[parent, 0]
        heap[hole, 1] = heap[parent, 1]
        hole = parent
    heap[hole, 0] = count
    heap[hole, 1] = pair


@njit(cache=True, nogil=True)
def sift_down(heap: Int64, size: Integer, root: Integer, count: Integer, pair: Integer) -> None:
    """Replace the entry at ``root`` in a heap of ``size`` rows."""
    hole = root
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and (
            heap[child + 1, 0] > heap[child, 0]
            or (heap[child + 1, 0] == heap[child, 0] and heap[child + 1, 1] < heap[child, 1])
        ):
            child += 1
        if heap[child, 0] < count or (heap[child, 0] == count and heap[child, 1] >= pair):
            break
        heap[hole, 0] = heap[child, 0]
        heap[hole, 1] = heap[child, 1]
        hole = child
    heap[hole, 0] = count
    heap[hole, 1] = pair


@njit(cache=True, nogil=True)
def push(queue: Queue, state: Int64, count: Integer, pair: Integer) -> None:
    """Insert a pair into the heap or the waiting list; there must be room."""
    if count >= state[THRESHOLD]:
        sift_up(queue.heap, state[HEAP], count, pair)
        state[HEAP] += 1
    else:
        low = state[LOW]
        queue.low[low, 0] = count
        queue.low[low, 1] = pair
        state[LOW] = low + 1


@njit(cache=True, nogil=True)
def refill_queue(queue: Queue, state: Int64) -> None:
    """Move the waiting entries of at least `state[THRESHOLD]` into the empty heap; order it."""
    heap, low = queue
    size = 0
    kept = 0
    for i in range(state[LOW]):
        count, pair = low[i, 0], low[i, 1]
        if count >= state[THRESHOLD]:
            heap[size, 0] = count
            heap[size, 1] = pair
            size += 1
        else:
            low[kept, 0] = count
            low[kept, 1] = pair
            kept += 1
    for root in range(size // 2 - 1, -1, -1):
        sift_down(heap, size, root, heap[root, 0], heap[root, 1])
    state[HEAP] = size
    state[LOW] = kept


@njit(cache=True, nogil=True)
def row_of(table: Int64, pair: Integer) -> Integer:
    """Return the row of a pair, or the empty one where it would go."""
    mask = table.shape[0] - 1
    row = ((pair * PAIR_FACTOR) >> 32) & mask
    while table[row, 0] != pair and table[row, 0] != -1:
        row = (row + 1) & mask
    return row


@njit(cache=True, nogil=True)
def gaining_row(table: Int64, pair: Integer, state: Int64) -> Integer:
    """Return a pair's row, new if needed; a pair without occurrences loses its old lists."""
    row = row_of(table, pair)
    if table[row, 0] == -1:
        table[row, 0] = pair
        table[row, 1] = 0
        table[row, 3] = 0
        state[PAIRS] += 1
    if table[row, 1] == 0:
        table[row, 2] = -1
    return row


@njit(cache=True, nogil=True)
def copy_rows(old: Int64, new: Int64) -> Integer:
    """Copy the pairs with a non-zero count into a larger, empty table; return their number."""
    used = 0
    for row in range(old.shape[0]):
        if old[row, 1] != 0:
            to = row_of(new, old[row, 0])
            for column in range(4):
                new[to, column] = old[row, column]
            used += 1
    return used


@njit(cache=True, nogil=True)
def enter_spelling(types: Types, known: Integer) -> None:
    """Enter the first ``known`` types into the empty ``by_spelling``."""
    mask = types.by_spelling.shape[0] - 1
    for number in range(known):
        first = types.spelled[number - 1] if number else 0
        mixed = np.int64(0)
        for i in range(first, types.spelled[number]):
            mixed = (mixed + types.spelling[i] + 1) * PAIR_FACTOR
        slot = (mixed >> 32) & mask
        while types.by_spelling[slot] != -1:
            slot = (slot + 1) & mask
        types.by_spelling[slot] = number


@njit(cache=True, nogil=True)
def type_spelled(types: Types, left: Integer, right: Integer, known: Integer) -> Integer:
    """Return the type that two types make together, entered as ``known`` if it is new."""
    spelling, spelled, by_spelling = types.spelling, types.spelled, types.by_spelling
    start = spelled[known - 1]
    at = start
    mixed = np.int64(0)
    for part in (left, right):
        for i in range(spelled[part - 1] if part else 0, spelled[part]):
            spelling[at] = spelling[i]
            mixed = (mixed + spelling[i] + 1) * PAIR_FACTOR
            at += 1
    mask = by_spelling.shape[0] - 1
    slot = (mixed >> 32) & mask
    while by_spelling[slot] != -1:
        other = by_spelling[slot]
        first = spelled[other - 1] if other else 0
        if spelled[other] - first == at - start:
            same = True
            for i in range(at - start):
                if spelling[first + i] != spelling[start + i]:
                    same = False
                    break
            if same:
                return other
        slot = (slot + 1) & mask
    by_spelling[slot] = known
    spelled[known] = at
    types.built[known, 0] = left
    types.built[known, 1] = right
    return known


@njit(cache=True, nogil=True)
def listed_words(lists: Lists, head: Integer) -> Int32:
    """Return all words of a chain of lists."""
    nodes, positions = lists
    if nodes[head, 2] < 0:
        return positions[nodes[head, 0] : nodes[head, 0] + nodes[head, 1]]
    size = 0
    node = head
    while node >= 0:
        size += nodes[node, 1]
        node = nodes[node, 2]
    words = np.empty(size, np.int32)
    size = 0
    node = head
    while node >= 0:
        for i in range(nodes[node, 1]):
            words[size + i] = positions[nodes[node, 0] + i]
        size += nodes[node, 1]
        node = nodes[node, 2]
    return words

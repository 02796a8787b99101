"""The flat arrays of training by merges: packed words, pairs with counts, types by atoms.

Words are records in one array, length, count and type ids side by side, and are shortened in place
as their pairs are merged; a word is identified by the place of its record. All else:

- ``table`` has rows (pair, count), open addressing, only ever adjusted, never recounted;
- a node is (start, length, next node): a list of words, ``positions[start : start + length]``. It
  may name a word that the pair is no longer in, or name it twice;
- the queue has an entry (count, pair, node) for every time that a pair gained; for each pair one of
  them has at least its present count, and entries with another count are corrected or dropped when
  they come to the top. Those of a count below a threshold wait, unsorted, in ``low``, so that
  ``heap`` stays small enough for the processor's cache;
- if types are removed, a pair may gain again: ``heads`` has the first node of each one's chain of
  lists, by row of the table; it is empty else, as a cache miss for each pair would take long. When
  a pair is merged, its chain passes to the type that it makes: a superset of the words that the
  type is in, should it be split;
- types are distinguished by their atoms: ``spelling`` holds them, one type after the other, and
  ``by_spelling`` finds the type that has them, by a hash.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from morphgraph.kernels import Int32, Int64
from morphgraph.kernels.compiling import kernel

Scalars = Any

HEADER = 3  # numbers before the atoms of a packed word
LINE = 16  # numbers in a line of the processor's cache
PAIR_FACTOR = -7046029254386353131  # 2⁶⁴ / golden ratio, as a signed integer

REMOVED, PRESENT, SCAFFOLD = range(3)  # what a type may be, in `flags`

SCALARS = np.dtype(
    [
        ("atoms", np.int64),  # number; these are the first types
        ("limit", np.int64),  # training ends at this size,
        ("minimum", np.int64),  # or with pairs of a lower count
        ("stop", np.int64),  # the kernel returns after this many events
        ("events", np.int64),  # number performed
        ("types", np.int64),  # number ever made, atoms included
        ("size", np.int64),  # number that count towards the vocabulary
        ("most", np.int64),  # the largest size so far
        ("pairs", np.int64),  # rows of the table in use
        ("heap", np.int64),
        ("low", np.int64),
        ("threshold", np.int64),  # entries of a lower count wait in `low`
        ("nodes", np.int64),
        ("positions", np.int64),
        ("to_split", np.int64),  # bits: the left, and the right part of the last merge are to split
        ("to_mark", np.int64),  # whether parts of the last merge may turn out to be scaffolds
        ("work", np.int64),  # words visited in this call
        ("more_pairs", np.int64),  # for how many pairs there is no room,
        ("more_positions", np.int64),  # for how many of their words,
        ("more_atoms", np.int64),  # and for a type of how many atoms
    ]
)
"""The scalars that outlive one call of a kernel: a record."""


class Pairs(NamedTuple):
    """The pairs, the queue of those to merge, and the lists of their words: see above."""

    table: Int64
    heads: Int32
    heap: Int64
    low: Int64
    nodes: Int64
    positions: Int32


class Types(NamedTuple):
    """What is known of each type, by id.

    ``built``: rows (left, right), −1 for an atom; ``counts``: valid for all but atoms; ``listed``:
    the chain of lists of the words that it may be in; ``flags``: `REMOVED`, `PRESENT` or
    `SCAFFOLD`; ``spelled``: the index after its last atom in ``spelling``. ``by_spelling`` has ids
    or −1; its length is a power of 2. ``by_text``: if not 0, ``spelling`` has code points instead
    of atoms, and of pairs of one count not that of the lowest ids is merged, but the first by code
    point, or the last with −1.
    """

    built: Int32
    counts: Int64
    listed: Int64
    flags: npt.NDArray[np.uint8]
    spelling: Int32
    spelled: Int64
    by_spelling: Int32
    by_text: int


class Scratch(NamedTuple):
    """Working space of one merge (left, right) → new, one slot per pair that it changes.

    Slot x < V is for an x before it: (x, new) gains what (x, left) loses. Slot V + x is for an x
    after it: (new, x) gains what (right, x) loses. A row of ``slots`` is (that count, number of
    words in which it happens, last of them, the pair's row in the table and then the place of its
    list); ``touched`` collects the slots in use, ``event_slot`` and ``event_word`` the lists of
    words.
    """

    slots: Int64
    touched: Int32
    event_slot: Int32
    event_word: Int32


# ------------------------------------------------------------------------- packed words


def room_for_words(lengths: Int64) -> Int32:
    """Return an array for the records of words, and a line of zeros (`LINE`) after them.

    A record is the length, low and high half of the count, and the atoms; words of fewer than two
    atoms have no pairs and are left out.
    """
    long = lengths > 1
    size = int(lengths[long].sum()) + HEADER * int(np.count_nonzero(long))
    words = np.empty(size + LINE, np.int32)
    words[size:] = 0
    return words


@kernel
def append_words(words, at, atoms, lengths, counts):
    """Write records from a place on; return the place after them. Atoms are concatenated."""
    start = 0
    for w in range(counts.shape[0]):
        length = lengths[w]
        if length > 1:
            words[at] = length
            words[at + 1] = counts[w] & 0x7FFFFFFF
            words[at + 2] = counts[w] >> 31
            at += HEADER
            for i in range(length):
                words[at + i] = atoms[start + i]
            at += length
        start += length
    return at


@njit(inline="always")
def count_of(words, word):
    """Return how often a word occurs."""
    return np.int64(words[word + 1]) | (np.int64(words[word + 2]) << 31)


# ------------------------------------------------------------------------- pairs


@njit(inline="always")
def row_of(table, pair):
    """Return the row of a pair, or the empty one where it would go."""
    mask = table.shape[0] - 1
    row = ((pair * PAIR_FACTOR) >> 32) & mask
    while table[row, 0] != pair and table[row, 0] != -1:
        row = (row + 1) & mask
    return row


@njit(inline="always")
def gaining_row(table, heads, pair, state):
    """Return a pair's row, new if needed; a pair without occurrences loses its old lists."""
    row = row_of(table, pair)
    if table[row, 0] == -1:
        table[row, 0] = pair
        table[row, 1] = 0
        state.pairs += 1
    if heads.shape[0] and table[row, 1] == 0:
        heads[row] = -1
    return row


@kernel
def copy_rows(old, heads, new, new_heads):
    """Copy the pairs with a non-zero count into a larger, empty table; return their number."""
    used = 0
    for row in range(old.shape[0]):
        if old[row, 1] != 0:
            to = row_of(new, old[row, 0])
            new[to, 0] = old[row, 0]
            new[to, 1] = old[row, 1]
            if heads.shape[0]:
                new_heads[to] = heads[row]
            used += 1
    return used


@kernel
def count_pairs(words, table, lists, last):
    """Count all neighbouring pairs of the packed words into an empty table.

    ``lists`` and ``last``, one number per row, receive the number of words that contain the pair
    and the last of them. Returns the number of pairs, or −1 if the table is more than half full:
    then its contents are invalid.
    """
    used = 0
    word = 0
    while words[word] != 0:
        end = word + HEADER + words[word]
        count = count_of(words, word)
        for i in range(word + HEADER, end - 1):
            pair = (np.int64(words[i]) << 32) | np.int64(words[i + 1])
            row = row_of(table, pair)
            if table[row, 0] == -1:
                if 2 * used >= table.shape[0] - 1:
                    return -1
                table[row, 0] = pair
                used += 1
                last[row] = -1
            table[row, 1] += count
            if last[row] != word:
                last[row] = word
                lists[row] += 1
        word = end
    return used


@kernel
def list_positions(words, table, place, last, positions):
    """Write the list of words of each pair of the table, from `positions[place[row]]` on.

    Words are listed in ascending order; ``place`` is moved to the end of each list. ``last`` is
    working space, one number per row.
    """
    last[:] = -1
    word = 0
    while words[word] != 0:
        end = word + HEADER + words[word]
        for i in range(word + HEADER, end - 1):
            row = row_of(table, (np.int64(words[i]) << 32) | np.int64(words[i + 1]))
            if last[row] != word:
                last[row] = word
                positions[place[row]] = word
                place[row] += 1
        word = end


@njit(nogil=True)
def listed_words(nodes, positions, head):
    """Return all words of a chain of lists."""
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
        start, length = nodes[node, 0], nodes[node, 1]
        words[size : size + length] = positions[start : start + length]
        size += length
        node = nodes[node, 2]
    return words


# ------------------------------------------------------------------------- the queue


@njit(nogil=True)
def compare_texts(types, one, other):
    """Return a negative number if the text of a type goes before another's, 0 if they are equal."""
    ends, texts = types.spelled, types.spelling
    first, second = ends[one - 1] if one else 0, ends[other - 1] if other else 0
    while first < ends[one] and second < ends[other]:
        if texts[first] != texts[second]:
            return texts[first] - texts[second]
        first += 1
        second += 1
    return (ends[one] - first) - (ends[other] - second)


@njit(inline="always")
def goes_first(types, pair, other):
    """Return whether a pair is merged before another of the same count."""
    if types.by_text == 0:
        return pair < other
    order = compare_texts(types, pair >> 32, other >> 32)
    if order == 0:
        order = compare_texts(types, pair & 0xFFFFFFFF, other & 0xFFFFFFFF)
    return order * types.by_text < 0


@njit(inline="always")
def put(rows, at, first, second, third):
    """Write a row of three numbers."""
    rows[at, 0] = first
    rows[at, 1] = second
    rows[at, 2] = third


@njit(inline="always")
def sift_down(heap, types, size, root, count, pair, node):
    """Replace the entry at ``root`` in a heap of ``size`` rows: high counts first."""
    hole = root
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and (
            heap[child + 1, 0] > heap[child, 0]
            or (
                heap[child + 1, 0] == heap[child, 0]
                and goes_first(types, heap[child + 1, 1], heap[child, 1])
            )
        ):
            child += 1
        if heap[child, 0] < count or (
            heap[child, 0] == count and not goes_first(types, heap[child, 1], pair)
        ):
            break
        put(heap, hole, heap[child, 0], heap[child, 1], heap[child, 2])
        hole = child
    put(heap, hole, count, pair, node)


@njit(inline="always")
def push(heap, low, types, threshold, size, waiting, count, pair, node):
    """Insert a pair into the heap of ``size`` rows or the ``waiting`` list; there must be room.

    Returns both numbers; the caller keeps them, as writing them to an array each time is slow.
    """
    if count < threshold:
        put(low, waiting, count, pair, node)
        return size, waiting + 1
    hole = size
    while hole > 0:
        parent = (hole - 1) >> 1
        if heap[parent, 0] > count or (
            heap[parent, 0] == count and not goes_first(types, pair, heap[parent, 1])
        ):
            break
        put(heap, hole, heap[parent, 0], heap[parent, 1], heap[parent, 2])
        hole = parent
    put(heap, hole, count, pair, node)
    return size + 1, waiting


@kernel
def refill_queue(heap, low, types, state):
    """Move the waiting entries of at least `state.threshold` into the empty heap; order it."""
    size = 0
    kept = 0
    for i in range(state.low):
        if low[i, 0] >= state.threshold:
            put(heap, size, low[i, 0], low[i, 1], low[i, 2])
            size += 1
        else:
            put(low, kept, low[i, 0], low[i, 1], low[i, 2])
            kept += 1
    for root in range(size // 2 - 1, -1, -1):
        sift_down(heap, types, size, root, heap[root, 0], heap[root, 1], heap[root, 2])
    state.heap = size
    state.low = kept


# ------------------------------------------------------------------------- types


@njit(nogil=True)
def enter_spelling(spelling, spelled, by_spelling, first, number):
    """Return the type with the atoms ``spelling[first : spelled[number]]``, entering it if new."""
    last = spelled[number]
    mixed = np.int64(0)
    for i in range(first, last):
        mixed = (mixed + spelling[i] + 1) * PAIR_FACTOR
    mask = by_spelling.shape[0] - 1
    slot = (mixed >> 32) & mask
    while by_spelling[slot] != -1:
        other = by_spelling[slot]
        start = spelled[other - 1] if other else 0
        if spelled[other] - start == last - first:
            i = 0
            while i < last - first and spelling[start + i] == spelling[first + i]:
                i += 1
            if i == last - first:
                return other
        slot = (slot + 1) & mask
    by_spelling[slot] = number
    return number


@kernel
def type_made(types, state, left, right):
    """Return the type that two types make together, a new one if there is none."""
    spelling, spelled, known = types.spelling, types.spelled, state.types
    start = spelled[known - 1]
    at = start
    for part in (left, right):
        for i in range(spelled[part - 1] if part else 0, spelled[part]):
            spelling[at] = spelling[i]
            at += 1
    spelled[known] = at
    type_ = enter_spelling(spelling, spelled, types.by_spelling, start, known)
    if type_ == known:
        types.built[known, 0] = left
        types.built[known, 1] = right
        state.types += 1
    return type_


@njit(nogil=True)
def present_parts(types, whole):
    """Return the present types that a removed one was built from, recursively."""
    room = types.spelled[whole] - types.spelled[whole - 1]
    parts = np.empty(room, np.int32)
    waiting = np.empty(room + 1, np.int32)
    waiting[0] = whole
    depth = 1
    count = 0
    while depth > 0:
        depth -= 1
        number = waiting[depth]
        if types.flags[number] != REMOVED:
            parts[count] = number
            count += 1
        else:
            waiting[depth] = types.built[number, 1]
            waiting[depth + 1] = types.built[number, 0]
            depth += 2
    return parts[:count]


@kernel
def enter_all(spelling, spelled, by_spelling, known):
    """Enter the first ``known`` types into the empty ``by_spelling``."""
    for number in range(known):
        first = spelled[number - 1] if number else 0
        enter_spelling(spelling, spelled, by_spelling, first, number)

"""BPE training on flat integer arrays, with the same merges as Hugging Face's `BpeTrainer`.

Words are records in one array, length, count and type ids side by side, and are shortened in place
as their pairs are merged; a word is identified by the place of its record. Three more structures
are kept, all in flat arrays:

- the table: pair → count, open addressing; only ever adjusted, never recounted;
- `Queue`: what may be merged next, entries of (count, pair, list of words). The count is the
  one at the time of the entry and is updated only when the entry comes to the top. Entries with
  a count below a threshold wait, unsorted, in the `low` arrays, so that the heap stays small enough
  for the processor's cache;
- `positions`: the lists of words of the entries, concatenated.

A merge always makes a new type: the same string cannot arise from two different pairs. Take two
places where a string ends as one token, so that no token ever crosses their ends. Every merge acts
on the tokens inside both alike: its occurrences are all replaced, and in a run of one token, which
is paired from the left, an odd rest outside either end would be paired across that end. So both
places pass through the same tokens, up to the same last pair. Hence a pair gets all its
occurrences, and its one entry, in the step that makes the later of its parts; from then on its
count only falls.

No kernel allocates: where an array is too small, or a chunk is done, `merge_pairs` returns a
status, and the driver `train_merges` makes room and calls it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import Int32, Int64, IntArray

DONE, CHUNK, REFILL, GROW_TABLE, GROW_HEAP, GROW_LOW = range(6)

# The scalars that outlive one call, as indices into the array `state`.
MERGES, PAIRS, HEAP, LOW, POSITIONS, THRESHOLD, WORK, STATE_SIZE = range(8)

PAIR_FACTOR = -7046029254386353131  # 2⁶⁴ / golden ratio, as a signed integer

HEADER = 3  # numbers before the atoms of a packed word
LINE = 16  # numbers in a line of the processor's cache
AHEAD = 16  # words fetched together

MERGES_PER_CALL = 500
WORK_PER_CALL = 4_000_000
"""Words to visit before a kernel returns, so that progress is reported several times a second."""


class Queue(NamedTuple):
    """The pairs to merge; `positions[start : start + length]` are the words of an entry.

    `heap` has rows (count, pair, start, length), of which the first `state[HEAP]` are in use; the
    `low` arrays hold the same four for the `state[LOW]` unsorted entries that wait.
    """

    heap: Int64
    low_count: Int64
    low_pair: Int64
    low_start: Int64
    low_length: Int32


class Scratch(NamedTuple):
    """Working space of one merge (left, right) → new, one slot per pair that it changes.

    Slot x < V is for an x before it: (x, new) gains what (x, left) loses. Slot V + x is for an x
    after it: (new, x) gains what (right, x) loses. A row of `slots` is (that count, number of
    words in which it happens, last of them, the pair's row in the table and then the place of its
    list); `touched` collects the slots in use, `event_slot` and `event_word` the lists of words.
    """

    slots: Int64
    touched: Int32
    event_slot: Int32
    event_word: Int32


def pack_words(atoms: Int32, offsets: Int64, counts: Int64) -> Int32:
    """Write each word as a record (length, low and high half of its count, its atoms).

    Word w is `atoms[offsets[w] : offsets[w + 1]]` and occurs `counts[w]` times; words of fewer than
    two atoms have no pairs and are left out. One line of zeros (`LINE`) follows the last record.
    """
    lengths = np.diff(offsets)
    words = room_for_words(lengths)
    append_words(words, 0, atoms, lengths, counts)
    return words


def room_for_words(lengths: Int64) -> Int32:
    """Return an array for the records of words of these lengths, with zeros at its end."""
    long = lengths > 1
    size = int(lengths[long].sum()) + HEADER * int(np.count_nonzero(long))
    words = np.empty(size + LINE, np.int32)
    words[size:] = 0
    return words


@njit(cache=True, nogil=True)
def append_words(words: Int32, at: int, atoms: Int32, lengths: Int64, counts: Int64) -> int:
    """Write records from a place on (see `pack_words`); return the place after them.

    The words' atoms are concatenated.
    """
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


@njit(cache=True, nogil=True)
def count_pairs(words: Int32, table: Int64, lists: Int32, last: Int32) -> int:
    """Count all neighbouring pairs of the packed words into an empty table.

    `table` has rows (pair or −1, count), its length a power of 2; `lists` and `last`, one number
    per row, receive the number of words that contain the pair and the last of them. Returns the
    number of pairs, or −1 if the table is more than half full: then its contents are invalid.
    """
    mask = table.shape[0] - 1
    used = 0
    word = 0
    while words[word] != 0:
        end = word + HEADER + words[word]
        count = np.int64(words[word + 1]) | (np.int64(words[word + 2]) << 31)
        for i in range(word + HEADER, end - 1):
            pair = (np.int64(words[i]) << 32) | np.int64(words[i + 1])
            slot = ((pair * PAIR_FACTOR) >> 32) & mask
            while table[slot, 0] != pair and table[slot, 0] != -1:
                slot = (slot + 1) & mask
            if table[slot, 0] == -1:
                if 2 * used >= mask:
                    return -1
                table[slot, 0] = pair
                used += 1
                last[slot] = -1
            table[slot, 1] += count
            if last[slot] != word:
                last[slot] = word
                lists[slot] += 1
        word = end
    return used


@njit(cache=True, nogil=True)
def list_positions(words: Int32, table: Int64, place: Int64, last: Int32, positions: Int32) -> None:
    """Write the list of words of each pair of the table, from `positions[place[row]]` on.

    Words are listed in ascending order; `place` is moved to the end of each list. `last` is working
    space, one number per row.
    """
    mask = table.shape[0] - 1
    for slot in range(table.shape[0]):
        last[slot] = -1
    word = 0
    while words[word] != 0:
        end = word + HEADER + words[word]
        for i in range(word + HEADER, end - 1):
            pair = (np.int64(words[i]) << 32) | np.int64(words[i + 1])
            slot = ((pair * PAIR_FACTOR) >> 32) & mask
            while table[slot, 0] != pair:
                slot = (slot + 1) & mask
            if last[slot] != word:
                last[slot] = word
                positions[place[slot]] = word
                place[slot] += 1
        word = end


@njit(cache=True, nogil=True)
def copy_pairs(old: Int64, new: Int64) -> int:
    """Copy the pairs with a non-zero count into a larger, empty table; return their number."""
    mask = new.shape[0] - 1
    used = 0
    for row in range(old.shape[0]):
        if old[row, 1] != 0:
            pair = old[row, 0]
            slot = ((pair * PAIR_FACTOR) >> 32) & mask
            while new[slot, 0] != -1:
                slot = (slot + 1) & mask
            new[slot, 0] = pair
            new[slot, 1] = old[row, 1]
            used += 1
    return used


@njit(cache=True, nogil=True)
def refill(queue: Queue, state: Int64) -> None:
    """Move the waiting entries of at least `state[THRESHOLD]` into the empty heap; order it."""
    heap, low_count, low_pair, low_start, low_length = queue
    threshold = state[THRESHOLD]
    size = 0
    kept = 0
    for i in range(state[LOW]):
        if low_count[i] >= threshold:
            heap[size, 0] = low_count[i]
            heap[size, 1] = low_pair[i]
            heap[size, 2] = low_start[i]
            heap[size, 3] = low_length[i]
            size += 1
        else:
            low_count[kept] = low_count[i]
            low_pair[kept] = low_pair[i]
            low_start[kept] = low_start[i]
            low_length[kept] = low_length[i]
            kept += 1
    for root in range(size // 2 - 1, -1, -1):
        count, pair, first, length = heap[root, 0], heap[root, 1], heap[root, 2], heap[root, 3]
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
            if heap[child, 0] < count or (heap[child, 0] == count and heap[child, 1] > pair):
                break
            heap[hole, 0] = heap[child, 0]
            heap[hole, 1] = heap[child, 1]
            heap[hole, 2] = heap[child, 2]
            heap[hole, 3] = heap[child, 3]
            hole = child
        heap[hole, 0], heap[hole, 1], heap[hole, 2], heap[hole, 3] = count, pair, first, length
    state[HEAP] = size
    state[LOW] = kept


@njit(cache=True, nogil=True)
def replace_pair(
    words: Int32, members: Int32, left: int, right: int, new: int, scratch: Scratch
) -> tuple[int, int]:
    """Replace (left, right) by `new` in the words listed in `members`, and record the changes.

    Occurrences are replaced from the left. Returns the number of slots of `touched` and of events
    in use.
    """
    slots, touched, event_slot, event_word = scratch
    half = slots.shape[0] // 2
    touches = 0
    events = 0
    warm = 0
    for m in range(members.shape[0]):
        if m % AHEAD == 0:  # prefetch the next words into the processor's cache
            for ahead in range(m, min(m + AHEAD, members.shape[0])):
                warm += words[members[ahead]] + words[members[ahead] + LINE - 1]
        word = members[m]
        start = word + HEADER
        end = start + words[word]
        read = start
        while read < end - 1 and not (words[read] == left and words[read + 1] == right):
            read += 1
        if read >= end - 1:
            continue
        count = np.int64(words[word + 1]) | (np.int64(words[word + 2]) << 31)
        write = read
        while read < end:
            if read + 1 < end and words[read] == left and words[read + 1] == right:
                for side in range(2):
                    if side == 0:
                        if write == start:
                            continue
                        slot = np.int64(words[write - 1])
                    else:
                        if read + 2 >= end:
                            continue
                        slot = half + words[read + 2]
                    slots[slot, 0] += count
                    if slots[slot, 1] == 0:
                        touched[touches] = slot
                        touches += 1
                    elif slots[slot, 2] == word:
                        continue
                    slots[slot, 1] += 1
                    slots[slot, 2] = word
                    event_slot[events] = slot
                    event_word[events] = word
                    events += 1
                words[write] = new
                read += 2
            else:
                words[write] = words[read]
                read += 1
            write += 1
        words[word] = write - start
    event_slot[events] = warm  # so that it is not optimised away
    return touches, events


@njit(cache=True, nogil=True)
def enter_changes(
    table: Int64,
    queue: Queue,
    positions: Int32,
    scratch: Scratch,
    state: Int64,
    left: int,
    right: int,
    new: int,
    touches: int,
    events: int,
) -> None:
    """Bring the table up to date after `replace_pair`, queue the new pairs, and clear `scratch`."""
    slots, touched, event_slot, event_word = scratch
    heap, low_count, low_pair, low_start, low_length = queue
    half = slots.shape[0] // 2
    mask = table.shape[0] - 1
    high_new = np.int64(new) << 32
    high_right = np.int64(right) << 32
    for t in range(touches):
        x = np.int64(touched[t])
        pair = (x << 32) | np.int64(new) if x < half else high_new | (x - half)
        row = ((pair * PAIR_FACTOR) >> 32) & mask
        while table[row, 0] != -1:
            row = (row + 1) & mask
        table[row, 0] = pair
        table[row, 1] = slots[x, 0]
        slots[x, 3] = row
    state[PAIRS] += touches
    for t in range(touches):
        x = np.int64(touched[t])
        pair = (x << 32) | np.int64(left) if x < half else high_right | (x - half)
        row = ((pair * PAIR_FACTOR) >> 32) & mask
        while table[row, 0] != pair:
            row = (row + 1) & mask
        table[row, 1] -= slots[x, 0]
        slots[x, 0] = 0

    end = state[POSITIONS]
    size = state[HEAP]
    low = state[LOW]
    threshold = state[THRESHOLD]
    for t in range(touches):
        x = touched[t]
        row = slots[x, 3]
        pair, count = table[row, 0], table[row, 1]
        length = slots[x, 1]
        slots[x, 1] = 0
        slots[x, 3] = end
        if count >= threshold:
            hole = size
            size += 1
            while hole > 0:
                parent = (hole - 1) >> 1
                if heap[parent, 0] > count or (heap[parent, 0] == count and heap[parent, 1] < pair):
                    break
                heap[hole, 0] = heap[parent, 0]
                heap[hole, 1] = heap[parent, 1]
                heap[hole, 2] = heap[parent, 2]
                heap[hole, 3] = heap[parent, 3]
                hole = parent
            heap[hole, 0], heap[hole, 1], heap[hole, 2], heap[hole, 3] = count, pair, end, length
        elif count > 0:
            low_count[low] = count
            low_pair[low] = pair
            low_start[low] = end
            low_length[low] = length
            low += 1
        else:  # made by one replacement and undone by the next in the same word
            slots[x, 3] = -1
            length = 0
        end += length
    for e in range(events):
        x = event_slot[e]
        at = slots[x, 3]
        if at >= 0:
            positions[at] = event_word[e]
            slots[x, 3] = at + 1
    state[POSITIONS] = end
    state[HEAP] = size
    state[LOW] = low


@njit(cache=True, nogil=True)
def merge_pairs(
    words: Int32,
    table: Int64,
    queue: Queue,
    positions: Int32,
    merges: Int32,
    scratch: Scratch,
    state: Int64,
    atom_count: int,
    minimum: int,
    stop: int,
) -> int:
    """Merge pairs until enough or `stop` are made, none is left, or an array needs room.

    `minimum` ≥ 1 is the lowest count of a pair that is merged. Returns a status: DONE, CHUNK,
    REFILL or GROW_….
    """
    heap, low_count, low_pair, low_start, low_length = queue
    mask = table.shape[0] - 1
    while True:
        merged = state[MERGES]
        if merged >= merges.shape[0]:
            return DONE
        if merged >= stop or state[WORK] >= WORK_PER_CALL:
            return CHUNK
        size = state[HEAP]
        if size == 0:
            return REFILL
        new = atom_count + merged
        room = 2 * (new + 1)
        if 3 * (state[PAIRS] + room) > 2 * table.shape[0]:
            return GROW_TABLE
        if size + room > heap.shape[0]:
            return GROW_HEAP
        if state[LOW] + room > low_count.shape[0]:
            return GROW_LOW

        count, pair, first, length = heap[0, 0], heap[0, 1], heap[0, 2], heap[0, 3]
        row = ((pair * PAIR_FACTOR) >> 32) & mask
        while table[row, 0] != pair and table[row, 0] != -1:
            row = (row + 1) & mask
        current = table[row, 1]
        if current == count and count < minimum:
            return DONE

        # The new top: this entry with its present count, or the last of the heap.
        if current != count and current >= state[THRESHOLD]:
            c, p, f, n = current, pair, first, length
        else:
            if current != count and current > 0:
                low = state[LOW]
                low_count[low] = current
                low_pair[low] = pair
                low_start[low] = first
                low_length[low] = length
                state[LOW] = low + 1
            size -= 1
            state[HEAP] = size
            c, p, f, n = heap[size, 0], heap[size, 1], heap[size, 2], heap[size, 3]
        if size > 0:
            hole = 0
            while True:
                child = 2 * hole + 1
                if child >= size:
                    break
                if child + 1 < size and (
                    heap[child + 1, 0] > heap[child, 0]
                    or (
                        heap[child + 1, 0] == heap[child, 0] and heap[child + 1, 1] < heap[child, 1]
                    )
                ):
                    child += 1
                if heap[child, 0] < c or (heap[child, 0] == c and heap[child, 1] > p):
                    break
                heap[hole, 0] = heap[child, 0]
                heap[hole, 1] = heap[child, 1]
                heap[hole, 2] = heap[child, 2]
                heap[hole, 3] = heap[child, 3]
                hole = child
            heap[hole, 0], heap[hole, 1], heap[hole, 2], heap[hole, 3] = c, p, f, n
        if current != count:
            continue

        left = pair >> 32
        right = pair & 0xFFFFFFFF
        merges[merged, 0] = left
        merges[merged, 1] = right
        merges[merged, 2] = new
        state[MERGES] = merged + 1
        members = positions[first : first + length]
        state[WORK] += length
        touches, events = replace_pair(words, members, left, right, new, scratch)
        enter_changes(table, queue, positions, scratch, state, left, right, new, touches, events)


def train_merges(
    words: Int32,
    atom_count: int,
    type_limit: int,
    minimum_count: int = 0,
    progress: Callable[[float], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> Int32:
    """Train BPE on packed words, and return the merges in order (docs/training.md).

    `words` comes from `pack_words` and is used as working space: its contents are lost. Its atoms
    are below `atom_count`, in the order in which ties are to be broken; counts are at least 1, and
    the sum of count × length must be below 2⁶². Training ends at `type_limit` types, atoms
    included, or when the best pair's count is below `max(1, minimum_count)`. Returns rows
    (left, right, result); the results are numbered from `atom_count` on. `progress` is called
    repeatedly with the share of the work done, from 0 to 1; an exception from it ends the
    training. Once `enough` returns true, the merges so far are the result.
    Raises `MorphGraphError` for more than 2³¹ numbers in `words`.

    >>> atoms = np.array([0, 1, 0, 1, 2], np.int32)  # "ab" three times, "abc" once
    >>> words = pack_words(atoms, np.array([0, 2, 5]), np.array([3, 1]))
    >>> train_merges(words, atom_count=3, type_limit=10).tolist()
    [[0, 1, 3], [3, 2, 4]]
    """
    if words.shape[0] > 2**31 - 1:
        raise MorphGraphError("The words have more than 2³¹ characters. Leave out rare words.")
    state = np.zeros(STATE_SIZE, np.int64)
    room = words.shape[0]
    most = max(min(type_limit - atom_count, room), 0)
    # Each replacement saves one id and makes at most two pairs. Pages never written take no memory.
    positions = np.empty(3 * room, np.int32)
    table, queue = _initial_pairs(words, positions, state)
    merges = np.empty((most, 3), np.int32)
    scratch = room_for_changes(atom_count + most, 2 * room)
    status = CHUNK
    while status != DONE:
        if status == CHUNK:
            state[WORK] = 0
            if progress is not None:
                progress(share_of_work(int(state[MERGES]), most))
            if enough is not None and enough():
                break
        elif status == REFILL:
            if state[LOW] == 0:
                break
            queue = _next_entries(queue, state)
        elif status == GROW_TABLE:
            table = _larger_table(table, 2 * (atom_count + int(state[MERGES]) + 1), state)
        elif status == GROW_HEAP:
            queue = queue._replace(heap=_larger(queue.heap))
        else:
            queue = queue._replace(low_count=_larger(queue.low_count))
            queue = queue._replace(low_pair=_larger(queue.low_pair))
            queue = queue._replace(low_start=_larger(queue.low_start))
            queue = queue._replace(low_length=_larger(queue.low_length))
        stop = (int(state[MERGES]) // MERGES_PER_CALL + 1) * MERGES_PER_CALL
        status = merge_pairs(
            words,
            table,
            queue,
            positions,
            merges,
            scratch,
            state,
            atom_count,
            max(minimum_count, 1),
            stop,
        )
    if progress is not None:
        progress(1.0)
    return merges[: state[MERGES]].copy()


def share_of_work(done: int, of: int) -> float:
    """Return the estimated share of the total time taken by the first merges.

    The n-th most frequent pair occurs about 1/n times as often as the first (Zipf), so that this is
    a ratio of logarithms. The common divisor was fitted to the times of 64,000 merges on ten
    million words.

    >>> [round(share_of_work(done, 64_000), 2) for done in (0, 500, 6_400, 64_000)]
    [0.0, 0.49, 0.76, 1.0]
    """
    return math.log1p(min(done, of) / 5) / math.log1p(max(of, 1) / 5)


def warm_up() -> None:
    """Compile each kernel for the arrays `train_merges` gives, or load it from the cache."""
    copy_pairs(np.zeros((2, 2), np.int64), np.full((4, 2), -1, np.int64))
    words = pack_words(np.array([0, 1, 0], np.int32), np.array([0, 3]), np.array([1]))
    train_merges(words, atom_count=2, type_limit=4)


def _initial_pairs(words: Int32, positions: Int32, state: Int64) -> tuple[Int64, Queue]:
    size = 1 << 16
    while True:
        table = _empty_table(size)
        lists = np.zeros(size, np.int32)
        last = np.empty(size, np.int32)
        used = count_pairs(words, table, lists, last)
        if used >= 0:
            break
        size *= 4
    rows = np.flatnonzero(table[:, 0] >= 0)
    ends = np.cumsum(lists[rows], dtype=np.int64)
    place = np.zeros(size, np.int64)
    place[rows] = ends - lists[rows]
    heap = np.empty((1 << 12, 4), np.int64)
    queue = Queue(heap, table[rows, 1], table[rows, 0], place[rows], lists[rows])
    list_positions(words, table, place, last, positions)
    state[PAIRS] = state[LOW] = used
    state[POSITIONS] = lists.sum(dtype=np.int64)
    return table, queue


def room_for_changes(types: int, events: int) -> Scratch:
    return Scratch(
        slots=np.zeros((2 * types, 4), np.int64),
        touched=np.empty(2 * types, np.int32),
        event_slot=np.empty(events + 1, np.int32),
        event_word=np.empty(events, np.int32),
    )


def _next_entries(queue: Queue, state: Int64) -> Queue:
    """Lower the threshold to half the highest waiting count, and refill the heap."""
    waiting = queue.low_count[: state[LOW]]
    state[THRESHOLD] = (int(waiting.max()) + 1) // 2
    size = int(np.count_nonzero(waiting >= state[THRESHOLD]))
    if size > queue.heap.shape[0]:
        queue = queue._replace(heap=np.empty((2 * size, 4), np.int64))
    refill(queue, state)
    return queue


def _larger(array: IntArray) -> IntArray:
    rows = array.shape[0]
    larger = np.empty((rows + rows // 2 + 65536, *array.shape[1:]), array.dtype)
    larger[:rows] = array
    return larger


def _larger_table(table: Int64, room: int, state: Int64) -> Int64:
    """Copy the table, without pairs of count 0, into one with `room` more rows."""
    pairs = int(np.count_nonzero(table[:, 1]))
    larger = _empty_table(1 << max((2 * (pairs + room)).bit_length(), 16))
    state[PAIRS] = copy_pairs(table, larger)
    return larger


def _empty_table(size: int) -> Int64:
    table = np.empty((size, 2), np.int64)
    table[:, 0] = -1
    table[:, 1] = 0
    return table

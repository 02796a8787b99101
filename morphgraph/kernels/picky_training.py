"""Training with removals: Picky BPE, and Scaffold-BPE, which only marks types.

The words, the first count of their pairs and the replacing of a pair are those of `training`; the
other structures are described in `picky_tables`. No kernel enlarges an array: `train_events`
returns a status, and the driver `learn_events` makes room and calls it again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import njit

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import Int32, Int64, IntArray
from morphgraph.kernels.picky_changes import count_doubles, enter_merge, split_type
from morphgraph.kernels.picky_tables import (
    CHUNK,
    DONE,
    EVENTS,
    GROW_EVENTS,
    GROW_LISTS,
    GROW_QUEUE,
    GROW_TABLE,
    GROW_TYPES,
    HEAP,
    LOW,
    MOST,
    NODES,
    PAIRS,
    POSITIONS,
    PRESENT,
    REFILL,
    REMOVED,
    ROOM,
    SCAFFOLD,
    SIZE,
    STATE_SIZE,
    THRESHOLD,
    TO_MARK,
    TO_SPLIT,
    TYPES,
    WORK,
    Integer,
    Lists,
    Queue,
    Types,
    copy_rows,
    enter_spelling,
    listed_words,
    refill_queue,
    row_of,
    sift_down,
    type_spelled,
)
from morphgraph.kernels.training import (
    WORK_PER_CALL,
    Scratch,
    count_pairs,
    list_positions,
    pack_words,
    replace_pair,
    room_for_changes,
    share_of_work,
)

EVENTS_PER_CALL = 500


@njit(cache=True, nogil=True)
def train_events(
    words: Int32,
    table: Int64,
    queue: Queue,
    lists: Lists,
    types: Types,
    scratch: Scratch,
    events: Int32,
    state: Int64,
    atom_count: Integer,
    type_limit: Integer,
    minimum: Integer,
    threshold: float,
    scaffold: bool,
    stop: Integer,
) -> Integer:
    """Perform events until there are enough types, ``stop`` events, no pair, or no room.

    ``events`` gets rows (left, right, result) of merges and (−1, −1, type) of splits. With
    ``scaffold``, nothing is split. Returns a status.
    """
    heap, low = queue
    nodes, positions = lists
    while True:
        if state[EVENTS] + 2 > events.shape[0]:
            return GROW_EVENTS
        if state[TO_SPLIT]:
            last = state[EVENTS] - 1
            while events[last, 0] < 0:
                last -= 1
            side = 0 if state[TO_SPLIT] & 1 else 1
            whole = events[last, side]
            status = split_type(words, table, queue, lists, types, state, whole, atom_count)
            if status != DONE:
                return status
            state[TO_SPLIT] &= ~(1 << side)
            events[state[EVENTS], 0] = -1
            events[state[EVENTS], 1] = -1
            events[state[EVENTS], 2] = whole
            state[EVENTS] += 1
            continue

        # The next pair, with its present count.
        count = np.int64(0)
        pair = np.int64(-1)
        row = np.int64(-1)
        while state[HEAP] > 0:
            row = row_of(table, heap[0, 1])
            current = table[row, 1] if table[row, 0] != -1 else np.int64(0)
            if current == heap[0, 0]:
                count, pair = heap[0, 0], heap[0, 1]
                break
            if 0 < current < heap[0, 0]:
                if current >= state[THRESHOLD]:
                    sift_down(heap, state[HEAP], 0, current, heap[0, 1])
                    continue
                if state[LOW] >= low.shape[0]:
                    state[ROOM] = 1
                    return GROW_QUEUE
                low[state[LOW], 0] = current
                low[state[LOW], 1] = heap[0, 1]
                state[LOW] += 1
            state[HEAP] -= 1
            sift_down(heap, state[HEAP], 0, heap[state[HEAP], 0], heap[state[HEAP], 1])
        if pair < 0 and state[LOW] > 0:
            return REFILL

        if state[TO_MARK]:
            state[TO_MARK] = 0
            for side in range(2):
                part = events[state[EVENTS] - 1, side]
                if (
                    part >= atom_count
                    and types.flags[part] == PRESENT
                    and types.counts[part] <= count
                ):
                    types.flags[part] = SCAFFOLD
                    state[SIZE] -= 1
        state[MOST] = max(state[MOST], state[SIZE])
        if state[SIZE] >= type_limit or pair < 0 or count < minimum:
            return DONE
        if state[EVENTS] >= stop or state[WORK] >= WORK_PER_CALL:
            return CHUNK

        left = int(pair >> 32)
        right = int(pair & 0xFFFFFFFF)
        known = state[TYPES]
        length = types.spelled[left] + types.spelled[right]
        length -= (types.spelled[left - 1] if left else 0) + (
            types.spelled[right - 1] if right else 0
        )
        if (
            known + 1 >= types.counts.shape[0]
            or types.spelled[known - 1] + length > types.spelling.shape[0]
        ):
            state[ROOM] = length
            return GROW_TYPES
        room = 2 * (known + 1)
        gains = 2 * min(count, words.shape[0])
        if 3 * (state[PAIRS] + room) > 2 * table.shape[0]:
            state[ROOM] = room
            return GROW_TABLE
        if max(state[HEAP] - heap.shape[0], state[LOW] - low.shape[0]) + room > 0:
            state[ROOM] = room
            return GROW_QUEUE
        if state[NODES] + room > nodes.shape[0] or state[POSITIONS] + gains > positions.shape[0]:
            state[ROOM] = room + gains
            return GROW_LISTS

        new = type_spelled(types, left, right, known)
        if new == known:
            state[TYPES] = known + 1
        if types.flags[new] == REMOVED:
            types.flags[new] = PRESENT
            state[SIZE] += 1
        if not scaffold:
            for side in range(2):
                part = left if side == 0 else right
                removable = part >= atom_count and not (side and left == right)
                if removable and count / types.counts[part] > threshold:
                    state[TO_SPLIT] |= 1 << side
        head = table[row, 2]
        members = listed_words(lists, head)
        state[WORK] += members.shape[0]
        merged = count
        if left == right:
            merged = count_doubles(words, np.unique(members), left)
        touches, changes = replace_pair(words, members, left, right, new, scratch)
        enter_merge(table, queue, lists, scratch, state, left, right, new, touches, changes)
        table[row, 1] = 0
        table[row, 2] = -1
        tail = head
        while nodes[tail, 2] >= 0:
            tail = nodes[tail, 2]
        nodes[tail, 2] = types.head[new]
        types.head[new] = head
        types.counts[new] += merged
        types.counts[left] -= merged
        types.counts[right] -= merged
        state[TO_MARK] = 1 if scaffold else 0
        at = state[EVENTS]
        events[at, 0] = left
        events[at, 1] = right
        events[at, 2] = new
        state[EVENTS] = at + 1


def learn_events(
    words: Int32,
    atom_count: int,
    type_limit: int,
    *,
    threshold: float = 1.0,
    scaffold: bool = False,
    minimum_count: int = 0,
    progress: Callable[[float], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> tuple[Int32, npt.NDArray[np.uint8]]:
    """Train on packed words; return the events in order, and the flag of every type.

    ``words`` comes from `training.pack_words` and is used as working space. Its atoms are below
    ``atom_count``, in the order in which ties are to be broken; counts are at least 1. Events are
    rows (left, right, result), or (−1, −1, type) where a type is removed; new types are numbered
    from ``atom_count`` on. After a merge, each part, the left one first, is removed if the pair's
    count is more than ``threshold`` times that of the part, both from before the merge. With
    ``scaffold``, none is removed; a part is marked if its remaining count is at most that of
    the next pair, 0 if there is none. Neither happens to atoms. Training ends at ``type_limit``
    types that are neither removed nor marked, or when the best pair's count is below
    ``max(1, minimum_count)``. ``progress`` is called repeatedly with a number from 0 to 1; an
    exception from it ends the training. Once ``enough`` returns true, it ends after one more type,
    as it would with that ``type_limit``. Raises `MorphGraphError` for more than
    2³¹ numbers in ``words``. Source: Chizhov et al. 2024, Algorithm 1; Lian et al. 2025.

    >>> from morphgraph.kernels.training import pack_words
    >>> atoms = np.array([0, 1, 2, 0, 1], np.int32)  # "abc" nine times, "ab" once
    >>> words = pack_words(atoms, np.array([0, 3, 5]), np.array([9, 1]))
    >>> learn_events(words, atom_count=3, type_limit=5, threshold=0.8)[0].tolist()
    [[0, 1, 3], [3, 2, 4], [-1, -1, 3], [0, 1, 3]]
    """
    if words.shape[0] > 2**31 - 1:
        raise MorphGraphError("The words have more than 2³¹ characters. Leave out rare words.")
    state = np.zeros(STATE_SIZE, np.int64)
    state[TYPES] = state[SIZE] = state[MOST] = atom_count
    merges = max(min(type_limit - atom_count, words.shape[0]), 0)
    table, queue, lists = _initial_pairs(words, state)
    types = _initial_types(atom_count, merges)
    scratch = room_for_changes(types.counts.shape[0], 2 * words.shape[0])
    events = np.empty((merges + merges // 4 + 64, 3), np.int32)
    status = CHUNK
    while status != DONE:
        room = 2 * int(state[ROOM])
        if status == CHUNK:
            state[WORK] = 0
            if progress is not None:
                progress(share_of_work(int(state[MOST]) - atom_count, merges))
            if enough is not None and enough():
                type_limit, enough = min(type_limit, int(state[MOST]) + 1), None
        elif status == REFILL:
            waiting = queue.low[: state[LOW], 0]
            state[THRESHOLD] = (int(waiting.max()) + 1) // 2
            size = int(np.count_nonzero(waiting >= state[THRESHOLD]))
            if size > queue.heap.shape[0]:
                queue = queue._replace(heap=np.empty((2 * size, 2), np.int64))
            refill_queue(queue, state)
        elif status == GROW_TABLE:
            pairs = int(np.count_nonzero(table[:, 1]))
            larger = _empty_table(1 << max((2 * (pairs + room)).bit_length(), 16))
            state[PAIRS] = copy_rows(table, larger)
            table = larger
        elif status == GROW_QUEUE:
            heap, low = queue
            queue = Queue(
                _with_room(heap, int(state[HEAP]), room), _with_room(low, int(state[LOW]), room)
            )
        elif status == GROW_LISTS:
            nodes, positions = lists
            lists = Lists(
                _with_room(nodes, int(state[NODES]), room),
                _with_room(positions, int(state[POSITIONS]), room),
            )
        elif status == GROW_TYPES:
            types = _more_types(types, room, int(state[TYPES]))
            scratch = room_for_changes(types.counts.shape[0], 2 * words.shape[0])
        else:
            events = _with_room(events, int(state[EVENTS]), len(events) // 2)
        status = train_events(
            words,
            table,
            queue,
            lists,
            types,
            scratch,
            events,
            state,
            atom_count,
            type_limit,
            max(minimum_count, 1),
            float(threshold),
            scaffold,
            (int(state[EVENTS]) // EVENTS_PER_CALL + 1) * EVENTS_PER_CALL,
        )
    if progress is not None:
        progress(1.0)
    return events[: state[EVENTS]].copy(), types.flags[: state[TYPES]].copy()


def warm_up() -> None:
    """Compile each kernel for the arrays `learn_events` gives, or load it from the cache."""
    copy_rows(_empty_table(2), _empty_table(4))
    atoms = np.array([0, 1, 0], np.int32)
    for scaffold in (False, True):
        words = pack_words(atoms, np.array([0, 3]), np.array([1]))
        learn_events(words, atom_count=2, type_limit=4, threshold=0.5, scaffold=scaffold)


def _initial_pairs(words: Int32, state: Int64) -> tuple[Int64, Queue, Lists]:
    size = 1 << 14
    used = -1
    while used < 0:
        size *= 4
        pairs = _empty_table(size)[:, :2].copy()  # narrow, as all words are visited twice
        lengths, last = np.zeros(size, np.int32), np.empty(size, np.int32)
        used = count_pairs(words, pairs, lengths, last)
    rows = np.flatnonzero(pairs[:, 0] >= 0)
    # Pages never written take no memory.
    room = words.shape[0]
    nodes = np.empty((4 * used + room + 4096, 3), np.int64)
    ends = np.cumsum(lengths[rows], dtype=np.int64)
    nodes[:used, 0] = ends - lengths[rows]
    nodes[:used, 1] = lengths[rows]
    nodes[:used, 2] = -1
    table = _empty_table(size)
    table[:, :2] = pairs
    table[rows, 2] = np.arange(used)
    place = np.zeros(size, np.int64)
    place[rows] = nodes[:used, 0]
    positions = np.empty(8 * room, np.int32)
    list_positions(words, pairs, place, last, positions)
    state[PAIRS] = state[LOW] = state[NODES] = used
    state[POSITIONS] = lengths.sum(dtype=np.int64)
    low = np.empty((used + room + 4096, 2), np.int64)
    low[:used, 0] = table[rows, 1]
    low[:used, 1] = table[rows, 0]
    return table, Queue(np.empty((1 << 12, 2), np.int64), low), Lists(nodes, positions)


def _initial_types(atoms: int, merges: int) -> Types:
    room = atoms + merges + merges // 4 + 64
    types = Types(
        built=np.full((room, 2), -1, np.int32),
        counts=np.zeros(room, np.int64),
        head=np.full(room, -1, np.int64),
        flags=np.zeros(room, np.uint8),
        spelling=np.empty(16 * room, np.int32),
        spelled=np.zeros(room, np.int64),
        by_spelling=np.full(1 << (2 * room).bit_length(), -1, np.int32),
    )
    types.flags[:atoms] = PRESENT
    types.spelling[:atoms] = np.arange(atoms)
    types.spelled[:atoms] = np.arange(1, atoms + 1)
    enter_spelling(types, atoms)
    return types


def _more_types(types: Types, spelled: int, known: int) -> Types:
    room = 2 * types.counts.shape[0]
    larger = Types(
        built=np.full((room, 2), -1, np.int32),
        counts=np.zeros(room, np.int64),
        head=np.full(room, -1, np.int64),
        flags=np.zeros(room, np.uint8),
        spelling=_with_room(types.spelling, int(types.spelled[known - 1]), 16 * room + spelled),
        spelled=np.zeros(room, np.int64),
        by_spelling=np.full(1 << (2 * room).bit_length(), -1, np.int32),
    )
    for name in ("built", "counts", "head", "flags", "spelled"):
        getattr(larger, name)[:known] = getattr(types, name)[:known]
    enter_spelling(larger, known)
    return larger


def _with_room(array: IntArray, used: int, room: int) -> IntArray:
    """Return an array with ``room`` rows after those in use, growing it by at least half."""
    if array.shape[0] - used >= room:
        return array
    larger = np.empty((used + used // 2 + room, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger


def _empty_table(size: int) -> Int64:
    table = np.empty((size, 4), np.int64)
    table[:] = np.array([-1, 0, -1, 0])
    return table

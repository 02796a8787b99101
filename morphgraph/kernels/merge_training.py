"""Training by merges on flat integer arrays: BPE, Picky BPE and Scaffold-BPE by one kernel.

BPE has the same merges as Hugging Face's `BpeTrainer`. There, a merge always makes a new type: the
same string cannot arise from two different pairs. Take two places where a string ends as one token,
so that no token ever crosses their ends. Every merge acts on the tokens inside both alike: its
occurrences are all replaced, and in a run of one token, which is paired from the left, an odd rest
outside either end would be paired across that end. So both places pass through the same tokens, up
to the same last pair. Hence a pair gets all its occurrences in the step that makes the later of its
parts; from then on its count only falls. With removals this fails: a split type releases its parts,
and a removed type may be merged again, even from another pair.

No kernel enlarges an array: where one is too small, or a chunk is done, `train_events` returns a
status, and the driver `learn_events` makes room and calls it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from numba import njit

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import Int32, Int64, IntArray
from morphgraph.kernels.compiling import kernel
from morphgraph.kernels.training_tables import (
    HEADER,
    LINE,
    PRESENT,
    REMOVED,
    SCAFFOLD,
    SCALARS,
    Pairs,
    Scalars,
    Scratch,
    Types,
    copy_rows,
    count_of,
    count_pairs,
    enter_all,
    gaining_row,
    list_positions,
    listed_words,
    present_parts,
    push,
    put,
    refill_queue,
    row_of,
    sift_down,
    type_made,
)

DONE, CHUNK, REFILL, GROW = range(4)

AHEAD = 16  # words fetched together
EVENTS_PER_CALL = 500
WORK_PER_CALL = 4_000_000
"""Words to visit before a kernel returns, so that progress is reported several times a second."""

# ------------------------------------------------------------------------- one merge


@njit(nogil=True)
def replace_pair(words, members, left, right, new, scratch):
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
        count = count_of(words, word)
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


@njit(nogil=True)
def enter_merge(pairs, types, scratch, state, merge, touches, events):
    """Bring pairs, lists and queue up to date after `replace_pair`; clear its working space."""
    table, heads, heap, low, nodes, positions = pairs
    slots, touched, event_slot, event_word = scratch
    left, right, new = merge
    half = slots.shape[0] // 2
    high_new = np.int64(new) << 32
    high_right = np.int64(right) << 32
    for t in range(touches):
        x = np.int64(touched[t])
        pair = (x << 32) | np.int64(new) if x < half else high_new | (x - half)
        row = gaining_row(table, heads, pair, state)
        table[row, 1] += slots[x, 0]
        slots[x, 3] = row
    for t in range(touches):
        x = np.int64(touched[t])
        pair = (x << 32) | np.int64(left) if x < half else high_right | (x - half)
        table[row_of(table, pair), 1] -= slots[x, 0]
        slots[x, 0] = 0
    end = state.positions
    node = state.nodes
    size, waiting, threshold = state.heap, state.low, state.threshold
    for t in range(touches):
        x = touched[t]
        row = slots[x, 3]
        length = slots[x, 1]
        slots[x, 1] = 0
        slots[x, 3] = end
        if table[row, 1] > 0:
            put(nodes, node, end, length, heads[row] if heads.shape[0] else -1)
            if heads.shape[0]:
                heads[row] = node
            size, waiting = push(
                heap, low, types, threshold, size, waiting, table[row, 1], table[row, 0], node
            )
            node += 1
            end += length
        else:  # made by one replacement and undone by the next in the same word
            slots[x, 3] = -1
    for e in range(events):
        x = event_slot[e]
        at = slots[x, 3]
        if at >= 0:
            positions[at] = event_word[e]
            slots[x, 3] = at + 1
    state.positions = end
    state.nodes = node
    state.heap = size
    state.low = waiting


@njit(nogil=True)
def merge_words(words, pairs, types, scratch, state, merge, row, head):
    """Merge (left, right) → new in the words of a chain of lists; return how often.

    ``row`` is the pair's in the table. There must be room: see `has_room`.
    """
    table, heads = pairs.table, pairs.heads
    left, right, new = merge
    members = listed_words(pairs.nodes, pairs.positions, head)
    state.work += members.shape[0]
    merged = table[row, 1]
    if left == right:
        merged = count_doubles(words, np.unique(members), left)
    touches, changes = replace_pair(words, members, left, right, new, scratch)
    enter_merge(pairs, types, scratch, state, merge, touches, changes)
    table[row, 1] = 0
    if heads.shape[0]:
        heads[row] = -1
    return merged


@njit(nogil=True)
def count_doubles(words, members, part):
    """Count non-overlapping repetitions of a type in distinct words."""
    total = np.int64(0)
    for word in members:
        run = 0
        for i in range(word + HEADER, word + HEADER + words[word]):
            run = run + 1 if words[i] == part else 0
            if run == 2:
                total += count_of(words, word)
                run = 0
    return total


# ------------------------------------------------------------------------- one split


@njit(nogil=True)
def split_type(words, pairs, types, events, state, whole):
    """Replace a type by the types it was built from; False if there is no room yet."""
    table, heads, heap, low, nodes, positions = pairs
    head = types.listed[whole]
    listed = np.unique(listed_words(nodes, positions, head)) if head >= 0 else positions[:0]
    start = state.positions
    if not has_room(pairs, types, events, state, 0, listed.shape[0], 0):
        return False
    holders = 0
    occurrences = 0
    for word in listed:
        inside = 0
        for i in range(word + HEADER, word + HEADER + words[word]):
            if words[i] == whole:
                inside += 1
        if inside:
            positions[start + holders] = word
            holders += 1
            occurrences += inside
    types.flags[whole] = REMOVED
    parts = present_parts(types, whole)
    gains = occurrences * (parts.shape[0] + 1)
    if not has_room(pairs, types, events, state, gains + parts.shape[0], holders + gains, 0):
        types.flags[whole] = PRESENT
        return False

    event_row = np.empty(gains, np.int64)
    event_word = np.empty(gains, np.int32)
    gained = 0
    longest = 0
    for f in range(holders):
        longest = max(longest, words[positions[start + f]])
    before = np.empty(longest, np.int32)
    for f in range(holders):
        word = positions[start + f]
        length = words[word]
        count = count_of(words, word)
        first = word + HEADER
        before[:length] = words[first : first + length]
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
                    row = gaining_row(table, heads, pair, state)
                    table[row, 1] += count
                    event_row[gained] = row
                    event_word[gained] = word
                    gained += 1
                write += 1
        words[word] = write - first

    end = start + holders
    node = state.nodes
    row = np.int64(-1)
    for e in np.argsort(event_row[:gained], kind="mergesort"):
        if event_row[e] != row:
            row = event_row[e]
            put(nodes, node, end, 0, heads[row])
            heads[row] = node
            state.heap, state.low = push(
                heap,
                low,
                types,
                state.threshold,
                state.heap,
                state.low,
                table[row, 1],
                table[row, 0],
                node,
            )
            node += 1
        nodes[node - 1, 1] += 1
        positions[end] = event_word[e]
        end += 1
    for part in parts:
        types.counts[part] += types.counts[whole]
        if part >= state.atoms:
            put(nodes, node, start, holders, types.listed[part])
            types.listed[part] = node
            node += 1
    types.counts[whole] = 0
    types.listed[whole] = -1
    state.positions = end
    state.nodes = node
    state.size -= 1
    return True


# ------------------------------------------------------------------------- all events


@njit(nogil=True)
def has_room(pairs, types, events, state, more_pairs, more_positions, more_atoms):
    """Return whether this many more pairs, their words, and a type of these atoms find room."""
    state.more_pairs = more_pairs
    state.more_positions = more_positions
    state.more_atoms = more_atoms
    known = state.types
    return (
        state.events + 2 <= events.shape[0]
        and known + 1 < types.counts.shape[0]
        and types.spelled[known - 1] + more_atoms <= types.spelling.shape[0]
        and 3 * (state.pairs + more_pairs) <= 2 * pairs.table.shape[0]
        and state.heap + more_pairs <= pairs.heap.shape[0]
        and state.low + more_pairs <= pairs.low.shape[0]
        and state.nodes + more_pairs <= pairs.nodes.shape[0]
        and state.positions + more_positions <= pairs.positions.shape[0]
    )


@kernel
def next_row(table, heap, low, types, state):
    """Return the row of the pair with the highest count; −1 if the heap has none.

    Entries with an outdated count get the present one; ``low`` must have room for each.
    """
    while state.heap > 0:
        row = row_of(table, heap[0, 1])
        current = table[row, 1] if table[row, 0] != -1 else np.int64(0)
        if current == heap[0, 0]:
            return row
        if 0 < current < heap[0, 0]:
            if current >= state.threshold:
                sift_down(heap, types, state.heap, 0, current, heap[0, 1], heap[0, 2])
                continue
            if state.low >= low.shape[0]:
                return -1
            put(low, state.low, current, heap[0, 1], heap[0, 2])
            state.low += 1
        state.heap -= 1
        last = heap[state.heap]
        sift_down(heap, types, state.heap, 0, last[0], last[1], last[2])
    return -1


@kernel
def train_events(words, pairs, types, scratch, events, state, threshold, scaffold):
    """Perform events until there are enough types or events, no pair, or no room; say which.

    With ``scaffold``, nothing is split.
    """
    table, heads, heap, low, nodes, _ = pairs
    counts, flags, spelled = types.counts, types.flags, types.spelled
    while True:
        if not has_room(pairs, types, events, state, 1, 0, 0):
            return GROW
        if state.to_split:
            last = state.events - 1
            while events[last, 0] < 0:
                last -= 1
            side = 0 if state.to_split & 1 else 1
            whole = events[last, side]
            if not split_type(words, pairs, types, events, state, whole):
                return GROW
            state.to_split &= ~(1 << side)
            put(events, state.events, -1, -1, whole)
            state.events += 1
            continue

        row = next_row(table, heap, low, types, state)
        if row < 0 and state.heap > 0:
            return GROW
        if row < 0 and state.low > 0:
            return REFILL
        count = table[row, 1] if row >= 0 else np.int64(0)
        if state.to_mark:
            state.to_mark = 0
            for side in range(2):
                part = events[state.events - 1, side]
                is_type = part >= state.atoms and flags[part] == PRESENT
                if is_type and counts[part] <= count:
                    flags[part] = SCAFFOLD
                    state.size -= 1
        state.most = max(state.most, state.size)
        if state.size >= state.limit or row < 0 or count < state.minimum:
            return DONE
        if state.events >= state.stop or state.work >= WORK_PER_CALL:
            return CHUNK

        left = int(table[row, 0] >> 32)
        right = int(table[row, 0] & 0xFFFFFFFF)
        spells = types.by_text or heads.shape[0] > 0
        atoms = np.int64(0)
        if spells:
            atoms = spelled[left] + spelled[right]
            atoms -= (spelled[left - 1] if left else 0) + (spelled[right - 1] if right else 0)
        gains = 2 * min(count, words.shape[0])
        if not has_room(pairs, types, events, state, 2 * (state.types + 1), gains, atoms):
            return GROW
        new = state.types
        if spells:
            new = type_made(types, state, left, right)
        else:
            state.types += 1
        if flags[new] == REMOVED:
            flags[new] = PRESENT
            state.size += 1
        if not scaffold:
            for side in range(2):
                part = left if side == 0 else right
                removable = part >= state.atoms and not (side and left == right)
                if removable and count / counts[part] > threshold:
                    state.to_split |= 1 << side
        head = np.int64(heads[row]) if heads.shape[0] else heap[0, 2]
        merge = (left, right, new)
        merged = merge_words(words, pairs, types, scratch, state, merge, row, head)
        tail = head
        while nodes[tail, 2] >= 0:
            tail = nodes[tail, 2]
        nodes[tail, 2] = types.listed[new]
        types.listed[new] = head
        counts[new] += merged
        counts[left] -= merged
        counts[right] -= merged
        state.to_mark = 1 if scaffold else 0
        put(events, state.events, left, right, new)
        state.events += 1


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
    texts: Sequence[str] = (),
    order: int = 1,
) -> tuple[Int32, npt.NDArray[np.uint8]]:
    """Train on packed words; return the events in order, and the flag of every type.

    ``words`` comes from `append_words` and is used as working space. Its atoms are below
    ``atom_count``, in the order in which ties are to be broken, unless that is by code point of the
    types' ``texts``, those of the atoms given, the last first with ``order`` −1; counts are at
    least 1, and the sum of count × length must be below 2⁶². Events are rows (left, right, result),
    or (−1, −1, type) where a type is removed; new types are numbered from ``atom_count`` on. After
    a merge, each part, the left one first, is removed if the pair's count is more than
    ``threshold`` times that of the part, both from before the merge: never with 1, which is BPE.
    With ``scaffold``, none is removed; a part is marked if its remaining count is at most that of
    the next pair, 0 if there is none. Neither happens to atoms. Training ends at ``type_limit``
    types that are neither removed nor marked, or when the best pair's count is below ``max(1,
    minimum_count)``. ``progress`` is called repeatedly with a number from 0 to 1; an exception from
    it ends the training. Once ``enough`` returns true, it ends after one more type, as it would
    with that ``type_limit``.
    Raises `MorphGraphError` for more than 2³¹ numbers in ``words``. Source: Chizhov et al. 2024,
    Algorithm 1; Lian et al. 2025.
    """
    if words.shape[0] > 2**31 - 1:
        raise MorphGraphError("The words have more than 2³¹ characters. Leave out rare words.")
    merges = max(min(type_limit - atom_count, words.shape[0]), 0)
    state: Scalars = np.zeros(1, SCALARS).view(np.recarray)[0]
    state.atoms, state.limit, state.minimum = atom_count, type_limit, max(minimum_count, 1)
    pairs = initial_pairs(words, state, removing=threshold < 1 and not scaffold)
    types = initial_types(atom_count, merges + merges // 4 + 64, state, texts, order)
    scratch = scratch_for(len(types.counts), 2 * len(words))
    events = np.empty((merges + merges // 4 + 64, 3), np.int32)
    status = CHUNK
    while status != DONE:
        if status == CHUNK:
            state.work = 0
            if progress is not None:
                progress(share_of_work(int(state.most) - atom_count, merges))
            if enough is not None and enough():
                state.limit, enough = min(int(state.limit), int(state.most) + 1), None
        elif status == REFILL:
            pairs = refilled(pairs, types, state)
        else:
            pairs, types = more_pairs(pairs, state), more_types(types, state)
            events = _with_room(events, int(state.events), 2)
            if len(scratch.slots) < 2 * len(types.counts):
                scratch = scratch_for(len(types.counts), 2 * len(words))
        state.stop = (int(state.events) // EVENTS_PER_CALL + 1) * EVENTS_PER_CALL
        variant = float(threshold), scaffold
        status = train_events(words, pairs, types, scratch, events, state, *variant)
    if progress is not None:
        progress(1.0)
    return events[: state.events].copy(), types.flags[: state.types].copy()


def share_of_work(done: int, of: int) -> float:
    """Return the estimated share of the total time taken by the first merges.

    The n-th most frequent pair occurs about 1/n times as often as the first (Zipf), so that this is
    a ratio of logarithms. The common divisor was fitted to the times of 64,000 merges on ten
    million words.

    >>> [round(share_of_work(done, 64_000), 2) for done in (0, 500, 6_400, 64_000)]
    [0.0, 0.49, 0.76, 1.0]
    """
    return math.log1p(min(done, of) / 5) / math.log1p(max(of, 1) / 5)


# ------------------------------------------------------------------------- room


def initial_pairs(words: Int32, state: Scalars, removing: bool) -> Pairs:
    size, used = 1 << 14, -1
    while used < 0:
        size *= 4
        table, lengths, last = (
            _empty_table(size),
            np.zeros(size, np.int32),
            np.empty(size, np.int32),
        )
        used = count_pairs(words, table, lengths, last)
    rows = np.flatnonzero(table[:, 0] >= 0)
    # Pages never written take no memory.
    room = used + len(words) + 4096
    nodes = np.empty((3 * used + room, 3), np.int64)
    nodes[:used, 0] = np.cumsum(lengths[rows], dtype=np.int64) - lengths[rows]
    nodes[:used, 1] = lengths[rows]
    nodes[:used, 2] = -1
    place = np.zeros(size, np.int64)
    place[rows] = nodes[:used, 0]
    positions = np.empty(8 * len(words), np.int32)
    list_positions(words, table, place, last, positions)
    heads = np.full(size if removing else 0, -1, np.int32)
    if removing:
        heads[rows] = np.arange(used)
    low = np.empty((room, 3), np.int64)
    low[:used, :2] = table[rows, ::-1]
    low[:used, 2] = np.arange(used)
    state.pairs = state.low = state.nodes = used
    state.positions = lengths.sum(dtype=np.int64)
    return Pairs(table, heads, np.empty((1 << 12, 3), np.int64), low, nodes, positions)


def refilled(pairs: Pairs, types: Types, state: Scalars) -> Pairs:
    """Halve the threshold of the empty heap, so that some of the waiting pairs enter it."""
    waiting = pairs.low[: state.low, 0]
    state.threshold = (int(waiting.max()) + 1) // 2
    size = int(np.count_nonzero(waiting >= state.threshold))
    pairs = pairs._replace(heap=_with_room(pairs.heap, 0, size))
    refill_queue(pairs.heap, pairs.low, types, state)
    return pairs


def more_pairs(pairs: Pairs, state: Scalars) -> Pairs:
    """Make room for twice as much as `has_room` has missed."""
    more, positions = 2 * int(state.more_pairs), 2 * int(state.more_positions)
    if 3 * (int(state.pairs) + more) > 2 * len(pairs.table):
        kept = int(np.count_nonzero(pairs.table[:, 1]))
        table = _empty_table(1 << max((2 * (kept + more)).bit_length(), 16))
        heads = np.full(len(table) if len(pairs.heads) else 0, -1, np.int32)
        state.pairs = copy_rows(pairs.table, pairs.heads, table, heads)
        pairs = pairs._replace(table=table, heads=heads)
    return pairs._replace(
        heap=_with_room(pairs.heap, int(state.heap), more),
        low=_with_room(pairs.low, int(state.low), more),
        nodes=_with_room(pairs.nodes, int(state.nodes), more),
        positions=_with_room(pairs.positions, int(state.positions), positions),
    )


def initial_types(
    atoms: int, more: int, state: Scalars, texts: Sequence[str], order: int = 1
) -> Types:
    none = np.empty(0, np.int64)
    spelling, spelled = np.arange(atoms, dtype=np.int32), np.arange(1, atoms + 1)
    if texts:
        spelling = np.array([ord(character) for text in texts for character in text], np.int32)
        spelled = np.cumsum([len(text) for text in texts])
    built, flags = np.empty((0, 2), np.int32), np.empty(0, np.uint8)
    state.types = state.size = state.most = atoms
    types = Types(built, none, none, flags, spelling, spelled, spelling[:0], order if texts else 0)
    types = _for_types(types, atoms, more, 16 * more)
    types.flags[:atoms] = PRESENT
    return types


def more_types(types: Types, state: Scalars) -> Types:
    known, atoms = int(state.types), int(state.more_atoms)
    if known + 1 < len(types.counts) and types.spelled[known - 1] + atoms <= len(types.spelling):
        return types
    return _for_types(types, known, known, 16 * known + 2 * atoms)


def _for_types(types: Types, known: int, more: int, atoms: int) -> Types:
    larger = {
        name: _with_room(getattr(types, name), known, more, fill)
        for name, fill in (("built", -1), ("counts", 0), ("listed", -1), ("flags", 0))
    }
    spelled = _with_room(types.spelled, known, more, 0)
    spelling = _with_room(types.spelling, int(spelled[known - 1]), atoms)
    by_spelling = np.full(1 << (2 * len(spelled)).bit_length(), -1, np.int32)
    enter_all(spelling, spelled, by_spelling, known)
    return types._replace(**larger, spelling=spelling, spelled=spelled, by_spelling=by_spelling)


def scratch_for(types: int, events: int) -> Scratch:
    return Scratch(
        slots=np.zeros((2 * types, 4), np.int64),
        touched=np.empty(2 * types, np.int32),
        event_slot=np.empty(events + 1, np.int32),
        event_word=np.empty(events, np.int32),
    )


def _with_room(array: IntArray, used: int, room: int, fill: int | None = None) -> IntArray:
    """Return an array with ``room`` rows after those in use, growing it by at least half."""
    if array.shape[0] - used >= room:
        return array
    larger = np.empty((used + used // 2 + room, *array.shape[1:]), array.dtype)
    kept = min(used, array.shape[0])
    larger[:kept] = array[:kept]
    if fill is not None:
        larger[kept:] = fill
    return larger


def _empty_table(size: int) -> Int64:
    table = np.empty((size, 2), np.int64)
    table[:, 0] = -1
    table[:, 1] = 0
    return table

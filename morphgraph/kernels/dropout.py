"""BPE-dropout: segment as `segmenting` does, with applicable merges left out at random.

At each step, every applicable occurrence of a merge is left out with probability p; of the others,
the lowest rank is applied, at its leftmost place. Numbers are drawn lazily: occurrences are visited
by rank, then place, and one number is drawn for each until one is kept. The rest are never visited,
so the outcome is the same in distribution.

`segment_queueing` draws as the ``tokenizers`` library does, which keeps a queue of occurrences by
rank and place. The first one is removed; with probability p it is set aside. Otherwise all that
were set aside return to the queue, and it is applied if its parts are still there, so an outdated
one does nothing else. A word is done when only occurrences set aside remain.

Random numbers are SplitMix64's (Steele et al. 2014). Each word has its own stream, seeded by
its index, so no word depends on another.
"""

import numpy as np
from numba import njit

from morphgraph.kernels.merge_lookup import DENSE, EMPTY, NONE, build_table, slot_of

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def mixed(state):  # type: ignore[no-untyped-def]
    """Return SplitMix64's output for a state: uint64 to uint64."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def lowest_rank(token, i, count, above, table, dense):  # type: ignore[no-untyped-def]
    """Return the lowest rank above ``above`` of a merge that starts at token ``i``, or `NONE`."""
    state = np.int64(token[i])
    best = np.int64(NONE)
    for j in range(i + 1, count):
        following = np.int64(token[j])
        if state < DENSE and following < DENSE:
            value = dense[state, following]
        else:
            slot = slot_of(table, (state << 32) | following)
            if table[slot, 0] == EMPTY:
                break
            value = table[slot, 1]
        rank = value >> 32
        if above < rank < best:
            best = rank
        state = value & 0xFFFFFFFF
        if state == NONE:
            break
    return best


@njit(cache=True, nogil=True)
def segment_dropping(  # type: ignore[no-untyped-def]
    atoms,
    word_offsets,
    piece_offsets,
    first_word,
    last_word,
    table,
    dense,
    results,
    part_offsets,
    widest,
    longest,
    probability,
    seed,
    sample,
    closed_by,
    token_at,
):
    """Segment words ``first_word : last_word`` into ``closed_by`` and ``token_at``.

    ``longest``: the largest number of atoms of a piece. ``lowest[i]`` is the lowest rank that
    applies at token *i*, ``left[i]`` the lowest that has not been left out in this step.
    """
    token = np.empty(longest, np.int32)
    end = np.empty(longest, np.int32)
    lowest = np.empty(longest, np.int32)
    left = np.empty(longest, np.int32)
    key = mixed(np.uint64(seed) + _STEP) ^ np.uint64(sample)
    key = mixed(key + _STEP)
    piece = np.searchsorted(piece_offsets, word_offsets[first_word])
    for word in range(first_word, last_word):
        random = mixed(key + _STEP * np.uint64(word + 1))
        while piece < piece_offsets.shape[0] - 1 and piece_offsets[piece] < word_offsets[word + 1]:
            start = piece_offsets[piece]
            count = np.int64(piece_offsets[piece + 1] - start)
            piece += 1
            for i in range(count):
                token[i] = atoms[start + i]
                end[i] = i
                closed_by[start + i] = -1
                token_at[start + i] = -1
            for i in range(count - 1):
                lowest[i] = lowest_rank(token, i, count, -1, table, dense)
            while True:
                for i in range(count - 1):
                    left[i] = lowest[i]
                while True:
                    rank = np.int32(NONE)
                    at = np.int64(-1)
                    for i in range(count - 1):
                        if left[i] < rank:
                            rank = left[i]
                            at = np.int64(i)
                    if at < 0:
                        break
                    random += _STEP
                    share = np.float64(mixed(random) >> np.uint64(11)) * 2.0**-53
                    if share >= probability:
                        break
                    left[at] = (
                        np.int32(NONE)
                        if widest == 2
                        else lowest_rank(token, at, count, rank, table, dense)
                    )
                if at < 0:
                    break
                parts = part_offsets[rank + 1] - part_offsets[rank]
                for i in range(at, at + parts - 1):
                    closed_by[start + end[i]] = rank
                token[at] = results[rank]
                end[at] = end[at + parts - 1]
                count -= parts - 1
                for i in range(at + 1, count):
                    token[i] = token[i + parts - 1]
                    end[i] = end[i + parts - 1]
                    lowest[i] = lowest[i + parts - 1]
                for i in range(max(np.int64(0), at - widest + 1), min(at + 1, count - 1)):
                    lowest[i] = lowest_rank(token, i, count, -1, table, dense)
            for i in range(count):
                token_at[start + end[i]] = token[i]


@njit(cache=True, nogil=True)
def segment_queueing(  # type: ignore[no-untyped-def]
    atoms,
    word_offsets,
    piece_offsets,
    first_word,
    last_word,
    table,
    dense,
    results,
    part_offsets,
    widest,
    longest,
    probability,
    seed,
    sample,
    closed_by,
    token_at,
):
    """Segment as `segment_dropping` does, drawing from a queue.

    ``queue``: rank << 32 | first atom of each pending occurrence, ascending; those before ``at``
    are set aside. ``where[a]``: the index of the token that begins at atom *a*, -1 if none does.
    """
    token = np.empty(longest, np.int32)
    begin = np.empty(longest, np.int32)
    where = np.empty(longest, np.int32)
    queue = np.empty(3 * longest, np.int64)
    key = mixed(np.uint64(seed) + _STEP) ^ np.uint64(sample)
    key = mixed(key + _STEP)
    piece = np.searchsorted(piece_offsets, word_offsets[first_word])
    for word in range(first_word, last_word):
        random = mixed(key + _STEP * np.uint64(word + 1))
        while piece < piece_offsets.shape[0] - 1 and piece_offsets[piece] < word_offsets[word + 1]:
            start = piece_offsets[piece]
            atom_count = np.int64(piece_offsets[piece + 1] - start)
            piece += 1
            for i in range(atom_count):
                token[i] = atoms[start + i]
                begin[i] = i
                where[i] = i
                closed_by[start + i] = -1
                token_at[start + i] = -1
            count = atom_count
            size = np.int64(0)
            # Occurrences from token `low` to `high` that reach beyond token `reach` are new.
            low, high, reach = np.int64(0), count - 1, np.int64(-1)
            at = np.int64(0)
            while True:
                for i in range(low, high):
                    rank = lowest_rank(token, i, count, -1, table, dense)
                    while rank < NONE:
                        if i + part_offsets[rank + 1] - part_offsets[rank] > reach:
                            if size == queue.shape[0]:
                                wider = np.empty(2 * size, np.int64)
                                wider[:size] = queue
                                queue = wider
                            entry = (np.int64(rank) << 32) | np.int64(begin[i])
                            place = size
                            while place > 0 and queue[place - 1] > entry:
                                queue[place] = queue[place - 1]
                                place -= 1
                            queue[place] = entry
                            size += 1
                        rank = lowest_rank(token, i, count, rank, table, dense)
                low, high = np.int64(0), np.int64(0)
                if at == size:
                    break
                random += _STEP
                share = np.float64(mixed(random) >> np.uint64(11)) * 2.0**-53
                if share < probability:
                    at += 1
                    continue
                entry = queue[at]
                size -= 1
                for behind in range(at, size):
                    queue[behind] = queue[behind + 1]
                at = np.int64(0)
                rank = np.int32(entry >> 32)
                left = np.int64(where[entry & 0xFFFFFFFF])
                if left < 0 or lowest_rank(token, left, count, rank - 1, table, dense) != rank:
                    continue
                parts = part_offsets[rank + 1] - part_offsets[rank]
                for j in range(left + 1, left + parts):
                    closed_by[start + begin[j] - 1] = rank
                    where[begin[j]] = -1
                token[left] = results[rank]
                count -= parts - 1
                for j in range(left + 1, count):
                    token[j] = token[j + parts - 1]
                    begin[j] = begin[j + parts - 1]
                    where[begin[j]] = j
                low = np.int64(max(0, left - widest + 1))
                high = np.int64(min(left + 1, count - 1))
                reach = left
            for i in range(count):
                end = begin[i + 1] if i + 1 < count else atom_count
                token_at[start + end - 1] = token[i]


def warm_up() -> None:
    """Compile for the dtypes in use, so that the disk cache holds it."""
    parts, part_offsets = np.array([0, 1], np.int32), np.array([0, 2], np.int64)
    table, dense, widest, _, _ = build_table(parts, part_offsets, 3, 0)
    atoms, offsets = np.array([0, 1], np.int32), np.array([0, 2], np.int64)
    closed_by, token_at = np.empty(2, np.int32), np.empty(2, np.int32)
    for kernel in (segment_dropping, segment_queueing):
        kernel(
            atoms,
            offsets,
            offsets,
            0,
            1,
            table,
            dense,
            np.array([2], np.int32),
            part_offsets,
            int(widest),
            2,
            0.5,
            np.uint64(0),
            np.uint64(0),
            closed_by,
            token_at,
        )

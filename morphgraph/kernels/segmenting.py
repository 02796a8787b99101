# mypy: disable-error-code="assignment"
"""Segment by merges of any number of parts, also at random (BPE-dropout): by scanning or a heap.

All data are integers in flat arrays:

- ``atoms[i]`` is a type id; ``piece_offsets[p] : piece_offsets[p + 1]`` are the atoms of piece *p*.
- A *gap* is named by the atom on its left, so arrays over gaps are as long as ``atoms``.
- ``closed_by[i]`` is the position, in order of rank, of the merge that closed gap *i*; -1 if open.
- ``token_at[i]`` is the token that ends at atom *i*; -1 inside a token.

Merges are looked up in tables of `merge_lookup`. Short pieces by merges of two parts, the common
case, are for `segmenting_pairs`.

BPE-dropout: at each step, every applicable occurrence of a merge is left out with probability p; of
the others, the lowest rank is applied, at its leftmost place. Numbers are drawn lazily: occurrences
are visited by rank, then place, and one number is drawn for each until one is kept. The rest are
never visited, so the outcome is the same in distribution. The ``tokenizers`` library also draws for
occurrences that are outdated, because a part is gone; if one of these is kept, it does nothing, but
those left out before it return too.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from morphgraph.kernels import Int32, Int64
from morphgraph.kernels.compiling import kernel
from morphgraph.kernels.merge_lookup import DENSE, EMPTY, NONE, slot_of
from morphgraph.kernels.resampling import STEP, mixed


class Merges(NamedTuple):
    """All merges, by rank.

    ``table``, ``dense``, ``widest``: see `merge_lookup.build_table`. A merge has the parts
    ``parts[spans[rank, 0] : spans[rank, 1]]``. ``leaders``: merges with the same number compete by
    place; empty if none do.
    """

    table: Int64
    dense: Int64
    widest: int
    parts: Int32
    spans: Int64
    results: Int32
    leaders: Int32


class Omission(NamedTuple):
    """How merges are left out: with a ``probability``, 0 for none.

    ``outdated``: numbers are drawn for outdated occurrences too. Each word has its own stream of
    numbers, seeded by its index, so no word depends on another.
    """

    probability: float
    outdated: bool
    seed: np.uint64
    sample: np.uint64


SCANNED = 512
"""The largest number of atoms in pieces whose merges are looked for by scanning."""

SCAN_ROWS = 6
"""Numbers that `scan` keeps for each token."""

NONE_OMITTED = Omission(0.0, False, np.uint64(0), np.uint64(0))


@njit(inline="always")
def pushed(heap, size, entry):
    """Insert an entry into a heap of ``size`` entries, with room for it; return the new size."""
    hole = size
    while hole > 0 and heap[(hole - 1) >> 1] > entry:
        heap[hole] = heap[(hole - 1) >> 1]
        hole = (hole - 1) >> 1
    heap[hole] = entry
    return size + 1


@njit(inline="always")
def pop(heap, size):
    """Remove and return the least entry of a heap, which keeps ``size`` entries."""
    least, last = heap[0], heap[size]
    hole = 0
    child = 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[hole] = heap[child]
        hole = child
        child = 2 * hole + 1
    heap[hole] = last
    return least


@njit(nogil=True)
def tied_rank(token, following, i, count, level, table, leaders):
    """Return the lowest of the ranks tied with ``level`` whose merge begins at token ``i``.

    If there is none, it is ``level`` itself, which then does not apply.
    """
    state = np.int64(token[i])
    best = np.int64(NONE)
    j = np.int64(following[i])
    while j < count and state != NONE:
        value = table[slot_of(table, (state << 32) | np.int64(token[j])), 1]
        if level <= (value >> 32) < best:
            best = value >> 32
        state = value & 0xFFFFFFFF
        j = np.int64(following[j])
    return best if best != NONE and leaders[best] == level else level


@kernel
def segment_pieces(
    atoms, word_offsets, piece_offsets, block, merges, omission, wanted, closed_by, token_at
):
    """Segment the pieces of a block, first : last, into ``closed_by`` and ``token_at``.

    Pieces with 0 in ``wanted`` (uint8, by piece; or empty: all are wanted) are skipped. If numbers
    are drawn, the first piece begins a word.

    Repeatedly apply the merge of lowest rank at its leftmost occurrence, until none applies. A
    token is named by its first atom, counted from the start of the piece; one that is gone has the
    type -1. The heap has an entry ``rank << 32 | token`` for every occurrence, also for those that
    are outdated; where merges tie, it is their leader's rank. ``reach`` is the last token that a
    token's occurrences depend on.
    """
    first_piece, last_piece = block
    longest = np.int64(1)
    for piece in range(first_piece, last_piece):
        longest = max(longest, piece_offsets[piece + 1] - piece_offsets[piece])
    table, dense, widest, parts, spans, results, leaders = merges
    probability, outdated, seed, sample = omission
    token, following, previous, reach = np.empty((4, longest), np.int32)
    heap = np.empty(4 * longest, np.int64)
    aside = np.empty_like(heap)
    tied = leaders.shape[0] > 0
    some = wanted.shape[0] > 0
    key = mixed((mixed(np.uint64(seed) + STEP) ^ np.uint64(sample)) + STEP)
    random = np.uint64(0)
    word = np.int64(-1)
    if probability > 0:
        word = np.searchsorted(word_offsets, piece_offsets[first_piece]) - 1
    for piece in range(first_piece, last_piece):
        start = piece_offsets[piece]
        count = piece_offsets[piece + 1] - start
        while probability > 0 and start >= word_offsets[word + 1]:
            word += 1
            random = mixed(key + STEP * np.uint64(word + 1))
        if some and not wanted[piece]:
            continue
        for i in range(count):
            token[i] = atoms[start + i]
            following[i] = i + 1
            previous[i] = i - 1
            reach[i] = i
            closed_by[start + i] = -1
            token_at[start + i] = -1
        size = np.int64(0)
        left_out = np.int64(0)
        # Look up leftwards from `i`, for at most `steps` tokens, where `changed` was in reach.
        i = np.int64(count - 1)
        steps = np.int64(count)
        changed = np.int64(-1)
        while True:
            while size + left_out + steps * (widest - 1) > heap.shape[0]:
                heap = np.append(heap, np.empty_like(heap))
                aside = np.append(aside, np.empty_like(aside))
            while i >= 0 and steps > 0:
                if reach[i] >= changed:
                    last = i
                    state = np.int64(token[i])
                    j = np.int64(following[i])
                    while j < count:
                        last = j
                        then = np.int64(token[j])
                        if state < DENSE and then < DENSE:
                            value = dense[state, then]
                        else:
                            slot = slot_of(table, (state << 32) | then)
                            if table[slot, 0] == EMPTY:
                                break
                            value = table[slot, 1]
                        rank = value >> 32
                        if rank != NONE and j >= changed:
                            level = np.int64(leaders[rank]) if tied else rank
                            size = pushed(heap, size, (level << 32) | i)
                        state = value & 0xFFFFFFFF
                        if state == NONE:
                            break
                        j = np.int64(following[j])
                    reach[i] = last
                i = np.int64(previous[i])
                steps -= 1
            if size == 0:
                break
            size -= 1
            entry = pop(heap, size)
            rank = entry >> 32
            i = np.int64(entry & 0xFFFFFFFF)
            steps = np.int64(0)
            if token[i] < 0 and not outdated:
                continue
            if tied:
                rank = tied_rank(token, following, i, count, rank, table, leaders)
            j = i
            part = spans[rank, 0]
            last_part = spans[rank, 1]
            while part < last_part and j < count and token[j] == parts[part]:
                j = np.int64(following[j])
                part += 1
            applies = part == last_part
            if probability > 0 and (applies or outdated):
                random += STEP
                share = np.float64(mixed(random) >> np.uint64(11)) * 2.0**-53
                if share < probability:
                    aside[left_out] = entry
                    left_out += 1
                    continue
                for again in range(left_out):
                    size = pushed(heap, size, aside[again])
                left_out = np.int64(0)
            if not applies:
                continue
            token[i] = results[rank]
            gone = np.int64(following[i])
            while gone != j:
                closed_by[start + gone - 1] = rank
                token[gone] = -1
                gone = np.int64(following[gone])
            following[i] = j
            if j < count:
                previous[j] = i
            changed = i
            steps = np.int64(widest)
        i = np.int64(0)
        while i < count:
            token_at[start + following[i] - 1] = token[i]
            i = np.int64(following[i])


@kernel
def scan_pieces(atoms, piece_offsets, block, merges, wanted, closed_by, token_at):
    """Segment pieces of at most `SCANNED` atoms as `segment_pieces` does, without a heap."""
    table, dense, widest, _, _, results, leaders = merges
    rows = np.empty((SCAN_ROWS, SCANNED), np.int32)
    some = wanted.shape[0] > 0
    for piece in range(block[0], block[1]):
        start, last = piece_offsets[piece], piece_offsets[piece + 1]
        if last - start > SCANNED or (some and not wanted[piece]):
            continue
        token_at[start:last] = -1
        inside = closed_by[start:last]
        count = scan(atoms[start:last], table, dense, widest, results, leaders, NONE, rows, inside)
        for i in range(count):
            token_at[start + rows[1, i]] = rows[0, i]


@njit(nogil=True)
def scan(atoms, table, dense, widest, results, leaders, limit, rows, closed_by):
    """Segment one piece by the merges of rank below ``limit``; return its number of tokens.

    Their types and last atoms are in the first two ``rows``. Repeatedly apply the merge of lowest
    rank at its leftmost occurrence, until none applies. ``candidate[i]`` is the lowest rank that
    applies at token *i*, ``width[i]`` its number of tokens, and ``reach[i]`` the last token that it
    depends on, so that after a merge only candidates that may have changed are looked up again.
    Merges with the same number in ``leaders`` (none if it is empty) compete by place: then
    ``candidate[i]`` is that number, and ``own[i]`` the merge's.
    """
    token, end, candidate, width, reach, own = rows
    count = np.int64(atoms.shape[0])
    for i in range(count):
        token[i] = atoms[i]
        end[i] = i
        closed_by[i] = -1
    tied = leaders.shape[0] > 0
    low = np.int64(0)
    high = count - 2
    changed = np.int64(-1)
    while True:
        for i in range(low, high + 1):
            if i < changed and reach[i] < changed:
                continue
            state = np.int64(token[i])
            best = np.int64(limit)
            parts = np.int64(2)
            j = np.int64(i + 1)
            while True:
                following = np.int64(token[j])
                if state < DENSE and following < DENSE:
                    value = dense[state, following]
                else:
                    slot = slot_of(table, (state << 32) | following)
                    if table[slot, 0] == EMPTY:
                        break
                    value = table[slot, 1]
                if (value >> 32) < best:
                    best = value >> 32
                    parts = j - i + 1
                state = value & 0xFFFFFFFF
                if state == NONE or j + 1 >= count:
                    break
                j = np.int64(j + 1)
            candidate[i] = own[i] = np.int32(best)
            if tied and best != limit:
                candidate[i] = leaders[best]
            width[i] = np.int32(parts)
            reach[i] = np.int32(j)
        lowest = np.int32(limit)
        at = np.int64(-1)
        for i in range(count - 1):
            if candidate[i] < lowest:
                lowest = candidate[i]
                at = np.int64(i)
        if at < 0:
            return count
        if tied:
            lowest = own[at]
        token[at] = results[lowest]
        shift = np.int64(width[at]) - 1
        for i in range(at, at + shift):
            closed_by[end[i]] = lowest
        end[at] = end[at + shift]
        count -= shift
        for i in range(at + 1, count):
            token[i] = token[i + shift]
            end[i] = end[i + shift]
            candidate[i] = candidate[i + shift]
            width[i] = width[i + shift]
            reach[i] = np.int32(reach[i + shift] - shift)
            if tied:
                own[i] = own[i + shift]
        changed = at
        low = max(np.int64(0), at - widest + 1)
        high = min(at, count - 2)


@kernel
def count_applications(closed_by, word_offsets, weight, gold, part_offsets):
    """Return the joins N and wrong joins B of merges by rank, a tuple merge counted once: float64.

    ``weight``: one number for each word; ``gold``: 1 where a gap is a gold boundary. The joins
    of one application are consecutive among all joins of that merge in a word, because two
    applications of one merge never overlap. A token whose joins are all of one merge is one
    application of it, also one that stays whole; of none, if it is not in ``part_offsets``.
    """
    merge_count = part_offsets.shape[0] - 1
    joined = np.zeros(merge_count, np.float64)
    blamed = np.zeros(merge_count, np.float64)
    open_joins = np.zeros(merge_count, np.int32)
    crossed = np.zeros(merge_count, np.uint8)
    for word in range(word_offsets.shape[0] - 1):
        w = weight[word]
        first = np.int64(word_offsets[word])
        while first < word_offsets[word + 1]:
            last = first
            is_one = True
            while closed_by[last] >= 0:
                is_one &= closed_by[last] == closed_by[first]
                last += 1
            for i in range(first, last):
                merge = closed_by[i]
                if merge == merge_count:
                    break
                open_joins[merge] += 1
                if gold[i]:
                    crossed[merge] = 1
                width = (
                    last - first if is_one else part_offsets[merge + 1] - part_offsets[merge] - 1
                )
                if open_joins[merge] == width:
                    joined[merge] += w
                    if crossed[merge]:
                        blamed[merge] += w
                    open_joins[merge] = 0
                    crossed[merge] = 0
            first = last + 1
    return joined, blamed

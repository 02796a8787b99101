"""Segment short pieces by merges of two parts: the common case, free of stalls.

The merges are in a table in which every pair has its own slot (a perfect hash): a look-up
reads the seed of the pair's group and then one slot, found or not, without a branch. A slot is
``first part << 43 | second part << 22 | rank``. The arrays are those of `kernels.segmenting`.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from morphgraph.kernels.compiling import kernel

SHORT = 32
"""The largest number of atoms in pieces that can be segmented here."""

MOST_TYPES = 2**21 - 1
MOST_MERGES = 2**22

_NONE = np.int32(0x3FFFFFF)
"""No merge has these two parts."""

_NO_CANDIDATE = np.int32(0x7FFFFFFF)
_OUTSIDE = np.int32(0x1FFFFF)
"""Stands for the tokens before the first and after the last; it has no merges."""

_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xD6E8FEB86659FD93)
_TYPE_BITS = np.uint64(21)
_RANK_BITS = np.uint64(22)
_RANK = np.uint64(0x3FFFFF)
_GROUP = 4
"""The mean number of pairs that share a seed, at most."""

_SEEDS = 65_536
_LANES = 3
_WIDTH = 64
"""Length of a lane: `SHORT` tokens, the one after the last and, last, the one before the first."""


@njit(inline="always")
def _slot(mixed, seed, shift):
    return ((mixed ^ (np.uint64(seed) * _SPREAD)) * _MIX) >> shift


@njit(inline="always")
def _rank(table, table_shift, seeds, seed_shift, first, second):
    key = (np.uint64(first) << _TYPE_BITS) | np.uint64(second)
    mixed = key * _MIX
    slot = table[_slot(mixed, seeds[mixed >> seed_shift], table_shift)]
    return np.int32(slot & _RANK) if slot >> _RANK_BITS == key else _NONE


@kernel
def build_pairs(parts, part_offsets):
    """Return the table, uint64 (slots), and seeds, uint16 (groups), of merges of two parts.

    Both lengths are powers of two. Of two merges with the same parts the lower rank stays. The
    table is empty in the very unlikely case that no seeds were found.
    """
    merges = part_offsets.shape[0] - 1
    size = np.int64(16)
    while 5 * size < 6 * merges:
        size *= 2
    groups = np.int64(2)
    while _GROUP * groups < merges:
        groups *= 2
    shift = _shift(size)
    seed_shift = _shift(groups)
    keys = np.zeros(merges, np.uint64)
    group_of = np.empty(merges, np.int64)
    ends = np.zeros(groups + 1, np.int64)
    for merge in range(merges):
        first = part_offsets[merge]
        key = (np.uint64(parts[first]) << _TYPE_BITS) | np.uint64(parts[first + 1])
        keys[merge] = key
        group_of[merge] = np.int64((key * _MIX) >> seed_shift)
        ends[group_of[merge] + 1] += 1
    sizes = ends[1:].copy()
    largest = np.int64(0)
    for group in range(groups):
        ends[group + 1] += ends[group]
        largest = np.int64(max(largest, sizes[group]))
    # Sorted by counting, which compiles in a tenth of the time that `argsort` takes.
    member = np.empty(merges, np.int64)
    free = ends[:-1].copy()
    for merge in range(merges):
        member[free[group_of[merge]]] = merge
        free[group_of[merge]] += 1
    free = np.zeros(largest + 2, np.int64)
    for group in range(groups):
        free[largest - sizes[group] + 1] += 1
    for rank in range(largest + 1):
        free[rank + 1] += free[rank]
    order = np.empty(groups, np.int64)
    for group in range(groups):
        order[free[largest - sizes[group]]] = group
        free[largest - sizes[group]] += 1
    table = np.full(size, _EMPTY, np.uint64)
    seeds = np.zeros(groups, np.uint16)
    # The largest groups first, while there is room.
    for placed in order:
        members = member[ends[placed] : ends[placed + 1]]
        seed = np.int64(0)
        while not _placed(table, shift, keys, members, seed):
            seed += 1
            if seed == _SEEDS:
                return table[:0], seeds
        seeds[placed] = seed
    return table, seeds


@njit(inline="always")
def _shift(size):
    """Return the right shift that reduces 64 bits to a number below ``size``, a power of two."""
    bits = 64
    while size > 1:
        size >>= 1
        bits -= 1
    return np.uint64(bits)


@njit(nogil=True)
def _placed(table, shift, keys, merges, seed):
    """Put these merges, in order of rank, into free slots, or none if too few are free."""
    for done in range(merges.shape[0]):
        key = keys[merges[done]]
        slot = _slot(key * _MIX, seed, shift)
        if table[slot] == _EMPTY:
            table[slot] = (key << _RANK_BITS) | np.uint64(merges[done])
        elif table[slot] >> _RANK_BITS != key:
            for undone in range(done):
                table[_slot(keys[merges[undone]] * _MIX, seed, shift)] = _EMPTY
            return False
    return True


@intrinsic
def _least_of_short(context, array, first):
    """The minimum of `SHORT` int32 from a place on, as a vector operation that no loop becomes."""

    def code(context, builder, signature, arguments):
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        vector = ir.VectorType(ir.IntType(32), SHORT)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), vector.as_pointer())
        kind = ir.FunctionType(ir.IntType(32), [vector])
        least = get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.smin.v{SHORT}i32")
        return builder.call(least, [builder.load(place, align=4)])

    return types.int32(array, types.int64), code


@kernel
def segment_pairs(atoms, piece_offsets, block, pairs, wanted, closed_by, token_at):
    """Segment the pieces of a block, first : last, into ``closed_by`` and ``token_at``.

    Pieces of more than `SHORT` atoms are skipped, as are those with 0 in ``wanted`` (uint8, by
    piece; or empty: all are wanted). ``pairs``: the table and seeds of `build_pairs`, the square
    table of `merge_lookup`, int64, and the results of merges.

    Pieces take turns in `_LANES` lanes, a merge at a time, so that the look-ups of one hide the
    latency of another's. A token is named by its first atom, counted from the start of its
    lane, which is ``_WIDTH`` long. ``candidate`` holds ``rank << 5 | token in the lane`` for the
    merge of a token and the next, so that the least is the lowest rank at its leftmost place.
    """
    token = np.full(_LANES * _WIDTH, _OUTSIDE, np.int32)
    candidate = np.full(_LANES * _WIDTH, _NO_CANDIDATE, np.int32)
    next_ = np.zeros(_LANES * _WIDTH, np.int64)
    before = np.zeros(_LANES * _WIDTH, np.int64)
    starts = np.zeros(_LANES, np.int64)
    counts = np.zeros(_LANES, np.int64)
    leasts = np.full(_LANES, _NO_CANDIDATE, np.int32)
    table, seeds, dense, results = pairs
    dense_size = dense.shape[0]
    shift = _shift(table.shape[0])
    seed_shift = _shift(seeds.shape[0])
    some = wanted.shape[0] > 0
    piece, last_piece = np.int64(block[0]), block[1]
    lane = np.int64(0)
    idle = np.int64(0)
    while idle < _LANES:
        lane = (lane + 1) % _LANES
        base = lane * _WIDTH
        start = starts[lane]
        count = counts[lane]
        least = leasts[lane]
        merge = least >> 5
        if merge < _NONE:
            idle = np.int64(0)
            left = base + np.int64(least & 31)
            right = next_[left]
            behind = next_[right]
            ahead = before[left]
            candidate[left] = _NO_CANDIDATE
            candidate[right] = _NO_CANDIDATE
            candidate[ahead] = _NO_CANDIDATE
            result = results[merge]
            # The minimum of the others is found while the new ones are looked up.
            least = _least_of_short(candidate, base)  # type: ignore[call-arg]
            closed_by[start + right - base - 1] = merge
            token[left] = result
            next_[left] = behind
            before[behind] = left
            joined = _rank(table, shift, seeds, seed_shift, result, token[behind])
            with_next = np.int32((joined << 5) | (left & 31))
            joined = _rank(table, shift, seeds, seed_shift, token[ahead], result)
            with_last = np.int32((joined << 5) | (ahead & 31))
            candidate[left] = with_next
            candidate[ahead] = with_last
            leasts[lane] = min(least, min(with_next, with_last))
            continue
        at = base
        while at < base + count:
            token_at[start + next_[at] - base - 1] = token[at]
            at = next_[at]
        counts[lane] = 0
        idle += 1
        while piece < last_piece:
            start = piece_offsets[piece]
            count = np.int64(piece_offsets[piece + 1] - start)
            piece += 1
            if count > SHORT or (some and not wanted[piece - 1]):
                continue
            for i in range(count):
                token[base + i] = atoms[start + i]
                next_[base + i] = base + i + 1
                before[base + i] = base + i - 1
                closed_by[start + i] = -1
                token_at[start + i] = -1
            before[base] = base + _WIDTH - 1
            token[base + count] = _OUTSIDE
            # No candidate is left of the lane's last piece.
            for i in range(count - 1):
                first, second = token[base + i], token[base + i + 1]
                if first < dense_size and second < dense_size:
                    rank = np.int32(min(dense[first, second] >> 32, np.int64(_NONE)))
                else:
                    rank = _rank(table, shift, seeds, seed_shift, first, second)
                candidate[base + i] = (rank << 5) | i
            starts[lane] = start
            counts[lane] = count
            leasts[lane] = _least_of_short(candidate, base)  # type: ignore[call-arg]
            idle = np.int64(0)
            break

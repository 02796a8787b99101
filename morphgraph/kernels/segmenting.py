"""Segment words with pair and tuple merges, and count the gaps that merges close.

All data are integers in flat arrays:

- ``atoms[i]`` is a type id; ``piece_offsets[p] : piece_offsets[p + 1]`` are the atoms of piece *p*.
- A *gap* is named by the atom on its left, so arrays over gaps are as long as ``atoms``.
- ``closed_by[i]`` is the position, in order of rank, of the merge that closed gap *i*; -1 if open.
- ``token_at[i]`` is the token that ends at atom *i*; -1 inside a token.

Merges are looked up in tables of `merge_lookup`.
"""

import numpy as np
from numba import njit

from morphgraph.kernels.merge_lookup import DENSE, EMPTY, NONE, build_table, slot_of


@njit(cache=True, nogil=True)
def segment_pieces(  # type: ignore[no-untyped-def]
    atoms,
    piece_offsets,
    first_piece,
    last_piece,
    table,
    dense,
    results,
    widest,
    leaders,
    longest_piece,
    wanted,
    closed_by,
    token_at,
):
    """Segment pieces ``first_piece : last_piece`` into ``closed_by`` and ``token_at``.

    Pieces of more atoms than ``longest_piece`` are skipped, as are those with 0 in ``wanted``
    (uint8, by piece; or empty: all are wanted).

    Repeatedly apply the merge of lowest rank at its leftmost occurrence, until none applies.
    ``candidate[i]`` is the lowest rank that applies at token *i*. With tuple merges, ``width[i]``
    is its number of tokens and ``reach[i]`` the last token that it depends on, so that after a
    merge only candidates that may have changed are looked up again. Merges with the same number in
    ``leaders`` (none if it is empty) compete by place: then ``candidate[i]`` is that number, and
    ``own[i]`` the merge's.
    """
    longest = np.int64(longest_piece)
    token = np.empty(longest, np.int32)
    end = np.empty(longest, np.int32)
    candidate = np.empty(longest, np.int32)
    width = np.empty(longest, np.int32)
    reach = np.empty(longest, np.int32)
    own = np.empty(longest, np.int32)
    tied = leaders.shape[0] > 0
    tuples = widest > 2 or tied
    some = wanted.shape[0] > 0
    for piece in range(first_piece, last_piece):
        start = piece_offsets[piece]
        count = np.int64(piece_offsets[piece + 1] - start)
        if count > longest or (some and not wanted[piece]):
            continue
        for i in range(count):
            token[i] = atoms[start + i]
            end[i] = i
            closed_by[start + i] = -1
            token_at[start + i] = -1
        low = np.int64(0)
        high = count - 2
        changed = np.int64(-1)
        while True:
            for i in range(low, high + 1):
                if tuples and i < changed and reach[i] < changed:
                    continue
                state = np.int64(token[i])
                best = np.int64(NONE)
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
                candidate[i] = np.int32(best)
                if tied:
                    own[i] = np.int32(best)
                    if best != NONE:
                        candidate[i] = leaders[best]
                if tuples:
                    width[i] = np.int32(parts)
                    reach[i] = np.int32(j)
            lowest = np.int32(NONE)
            at = np.int64(-1)
            for i in range(count - 1):
                if candidate[i] < lowest:
                    lowest = candidate[i]
                    at = np.int64(i)
            if at < 0:
                break
            if tied:
                lowest = own[at]
            token[at] = results[lowest]
            # Most merges are pairs, so their case is written out.
            if tuples:
                parts = np.int64(width[at])
                for i in range(at, at + parts - 1):
                    closed_by[start + end[i]] = lowest
                end[at] = end[at + parts - 1]
                shift = parts - 1
                count -= shift
                for i in range(at + 1, count):
                    token[i] = token[i + shift]
                    end[i] = end[i + shift]
                    candidate[i] = candidate[i + shift]
                    width[i] = width[i + shift]
                    reach[i] = np.int32(reach[i + shift] - shift)
                    if tied:
                        own[i] = own[i + shift]
            else:
                closed_by[start + end[at]] = lowest
                end[at] = end[at + 1]
                count -= 1
                for i in range(at + 1, count):
                    token[i] = token[i + 1]
                    end[i] = end[i + 1]
                    candidate[i] = candidate[i + 1]
            changed = at
            low = max(np.int64(0), at - widest + 1)
            high = min(at, count - 2)
        for i in range(count):
            token_at[start + end[i]] = token[i]


@njit(cache=True, nogil=True)
def count_applications(closed_by, word_offsets, weight, gold, part_offsets):  # type: ignore[no-untyped-def]
    """Return the applications of every merge, and those on a gold boundary: float64.

    ``weight``: one number for each word; ``gold``: 1 where a gap is a gold boundary.
    The joins of one application are consecutive among all joins of that merge in a word, because
    two applications of one merge never overlap.
    """
    merge_count = part_offsets.shape[0] - 1
    joined = np.zeros(merge_count, np.float64)
    blamed = np.zeros(merge_count, np.float64)
    open_joins = np.zeros(merge_count, np.int32)
    crossed = np.zeros(merge_count, np.uint8)
    for word in range(word_offsets.shape[0] - 1):
        w = weight[word]
        for i in range(word_offsets[word], word_offsets[word + 1]):
            merge = closed_by[i]
            if merge >= 0:
                open_joins[merge] += 1
                if gold[i]:
                    crossed[merge] = 1
                if open_joins[merge] == part_offsets[merge + 1] - part_offsets[merge] - 1:
                    joined[merge] += w
                    if crossed[merge]:
                        blamed[merge] += w
                    open_joins[merge] = 0
                    crossed[merge] = 0
    return joined, blamed


def warm_up() -> None:
    """Compile every kernel for the dtypes in use, so that the disk cache holds them."""
    parts = np.array([0, 1, 2, 0, 1], np.int32)
    part_offsets = np.array([0, 2, 5], np.int64)
    results = np.array([2, 3], np.int32)
    table, dense, widest, _, _ = build_table(parts, part_offsets, 4, 0)
    atoms = np.array([0, 1, 0, 1], np.int32)
    offsets = np.array([0, 4], np.int64)
    closed_by, token_at = np.empty(4, np.int32), np.empty(4, np.int32)
    leaders, every = np.empty(0, np.int32), np.zeros(0, np.uint8)
    segment_pieces(
        atoms,
        offsets,
        0,
        1,
        table,
        dense,
        results,
        widest,
        leaders,
        4,
        every,
        closed_by,
        token_at,
    )
    weight, gold = np.ones(1), np.zeros(4, np.uint8)
    count_applications(closed_by, offsets, weight, gold, part_offsets)

"""Align underlying morphemes with the surface form of words, in batches.

"subside y ise ed" lists the morphemes of "subsidised": the kernel finds `subsid` for `subside`,
nothing for `y`, `is` for `ise`, and `ed`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from morphgraph.kernels import Int32, Int64


@njit(cache=True, nogil=True)
def align(
    word_points: Int32,
    word_offsets: Int64,
    morpheme_points: Int32,
    morpheme_offsets: Int64,
    entry_offsets: Int64,
) -> tuple[Int32, Int32, Int32]:
    """Align each word with its morphemes so that the most characters match.

    Word e has the code points `word_points[word_offsets[e]:word_offsets[e + 1]]` and the morphemes
    `entry_offsets[e]` to `entry_offsets[e + 1]`, whose code points are found the same way. Points
    are int32, offsets int64.

    Returns int32 arrays `starts`, `sources`, `sizes`: word e has `sizes[e]` ≥ 1 segments (0 for an
    empty word), stored from `entry_offsets[e] + e` on; a segment has its first character's position
    in the word, and the position of its morpheme in the word's list, or −1 for skipped characters
    at the start.

    Source: Bauwens & Delobelle 2024, §4.1, with the order of offers of docs/references.md. The
    skips (j, k) ← (i, k) of a row are not offered one by one: of all of them the one with the
    best score and, among equals, the smallest i wins, so one running best per row will do; against
    an equally good match the one offered first wins, and the match from (i', k − 1) was offered
    first if i' ≤ i. That makes the time per word O(characters · characters of all morphemes) at
    worst, and near O(characters · morphemes) where few characters are equal.
    """
    entries = entry_offsets.shape[0] - 1
    starts = np.zeros(morpheme_offsets.shape[0] - 1 + entries, np.int32)
    sources = np.full(starts.shape[0], -1, np.int32)
    sizes = np.zeros(entries, np.int32)

    cells, rows = 0, 0
    for e in range(entries):
        morphemes = entry_offsets[e + 1] - entry_offsets[e]
        length = word_offsets[e + 1] - word_offsets[e]
        cells = max(cells, (morphemes + 1) * (length + 1))
        rows = max(rows, morphemes + 1)
    score = np.empty(cells, np.int32)  # cell (i, k) at i * (morphemes + 1) + k
    origin = np.empty(cells, np.int32)  # i of the cell before it; −1 for a start
    skipped = np.empty(cells, np.uint8)  # 1 if it was reached by a skip, 0 by a morpheme
    skip_score = np.empty(rows, np.int32)
    skip_origin = np.empty(rows, np.int32)

    for e in range(entries):
        word = word_offsets[e]
        n = word_offsets[e + 1] - word
        if n == 0:
            continue
        first = entry_offsets[e]
        m = entry_offsets[e + 1] - first
        width = m + 1
        for cell in range((n + 1) * width):
            score[cell] = -1
            origin[cell] = -1
            skipped[cell] = 0
        for k in range(width):
            score[k] = 0
            skip_score[k] = -1
            skip_origin[k] = -1

        for i in range(n + 1):
            for k in range(width):
                cell = i * width + k
                # Take the best skip into this cell. Row m skips to the last column only.
                if i > 0 and skip_score[k] >= 0 and (k < m or i == n):
                    better = skip_score[k] > score[cell]
                    earlier = skip_score[k] == score[cell] and skip_origin[k] < origin[cell]
                    if better or earlier:
                        score[cell] = skip_score[k]
                        origin[cell] = skip_origin[k]
                        skipped[cell] = 1
                here = score[cell]
                # The last column offers no empty prefix, and an unreached cell offers nothing.
                if here < 0 or i == n:
                    continue
                if k < m:
                    begin = morpheme_offsets[first + k]
                    longest = min(morpheme_offsets[first + k + 1] - begin, n - i)
                    taken = 0
                    while True:
                        target = (i + taken) * width + k + 1
                        if here + taken > score[target]:
                            score[target] = here + taken
                            origin[target] = i
                            skipped[target] = 0
                        if taken == longest or (
                            word_points[word + i + taken] != morpheme_points[begin + taken]
                        ):
                            break
                        taken += 1
                if here > skip_score[k]:
                    skip_score[k] = here
                    skip_origin[k] = i

        best = 0
        for k in range(width):
            if score[n * width + k] >= score[n * width + best]:
                best = k

        # Trace back from the end: the segments come out last first, and are then reversed.
        slot = first + e
        size = 0
        i, k = n, best
        while i > 0 or k > 0:
            cell = i * width + k
            before = origin[cell]
            if before < 0:
                break
            if skipped[cell] == 0:
                k -= 1
                if before < i:
                    starts[slot + size] = before
                    sources[slot + size] = k
                    size += 1
            i = before
        if size == 0 or starts[slot + size - 1] > 0:
            starts[slot + size] = 0
            sources[slot + size] = -1
            size += 1
        for left in range(size // 2):
            right = size - 1 - left
            starts[slot + left], starts[slot + right] = starts[slot + right], starts[slot + left]
            sources[slot + left], sources[slot + right] = (
                sources[slot + right],
                sources[slot + left],
            )
        sizes[e] = size
    return starts, sources, sizes


def warm_up() -> None:
    """Compile the kernel, or load it from the cache on disk, by one call on a tiny word."""
    align(
        np.array([97, 98], np.int32),
        np.array([0, 2], np.int64),
        np.array([97, 98], np.int32),
        np.array([0, 1, 2], np.int64),
        np.array([0, 2], np.int64),
    )

"""Kernels that compare words as characters, and align them with morphemes.

"subside y ise ed" lists the morphemes of "subsidised": aligning finds `subsid` for `subside`,
nothing for `y`, `is` for `ise`, and `ed`.
"""

import numpy as np
import numpy.typing as npt

from morphgraph.kernels import Int64
from morphgraph.kernels.compiling import kernel

_SECRET = np.uint64(int.from_bytes(np.random.bytes(8), "little") | 1)
"""So that no file can be made whose words all fall together."""


def first_places(text: npt.NDArray[np.uint8], ends: Int64) -> Int64:
    """Return for each word the place of the first word that is equal.

    ``text``: the words' bytes in UTF-8; ``ends``: where each ends.

    >>> first_places(np.frombuffer(b"abab", np.uint8), np.array([1, 2, 3, 4])).tolist()
    [0, 1, 0, 1]
    """
    places: Int64 = _first_places(text, ends, _SECRET)
    return places


@kernel
def _first_places(text, ends, secret):
    bits = 4
    while 1 << bits < 2 * len(ends):
        bits += 1
    table = np.full(1 << bits, -1, np.int32)
    first = np.empty(len(ends), np.int64)
    for place in range(len(ends)):
        start, end = (ends[place - 1] if place else 0), ends[place]
        code = secret
        for at in range(start, end):
            code = (code ^ np.uint64(text[at])) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(29)
        slot = np.int64((code * secret) >> np.uint64(64 - bits))
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = first[place] = place
                break
            begin = ends[other - 1] if other else 0
            same = ends[other] - begin == end - start
            at = 0
            while same and at < end - start:
                same = text[begin + at] == text[start + at]
                at += 1
            if same:
                first[place] = other
                break
            slot = (slot + 1) & (len(table) - 1)
    return first


@kernel
def align(word_points, word_offsets, morpheme_points, morpheme_offsets, entry_offsets):
    """Align each word with its morphemes so that the most characters match.

    Word e has the code points `word_points[word_offsets[e]:word_offsets[e + 1]]` and the morphemes
    `entry_offsets[e]` to `entry_offsets[e + 1]`, whose code points are found the same way. Points
    are int32, offsets int64.

    Returns int32 arrays `starts`, `sources`, `sizes`: word e has `sizes[e]` ≥ 1 segments (0 for an
    empty word), stored from `entry_offsets[e] + e` on; a segment has its first character's position
    in the word, and the position of its morpheme in the word's list, or −1 for skipped characters
    at the start.

    Source: Bauwens & Delobelle 2024, §4.1, with the order of offers of docs/how/alignment.md. The
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


@kernel
def longest_common_by_word(points, strings, words, other_points, other_strings, other_words):
    """Return the length of each word's longest common subsequence of strings: int64 (n).

    A list of strings for each of n words is flat: ``points`` (code points), ``strings`` (offsets
    into points), ``words`` (offsets into strings, n + 1).
    """
    count = words.shape[0] - 1
    lengths = np.zeros(count, np.int64)
    widest = 0
    for word in range(count):
        widest = max(widest, other_words[word + 1] - other_words[word])
    row = np.empty(widest + 1, np.int64)
    for word in range(count):
        a, a_end = words[word], words[word + 1]
        b, b_end = other_words[word], other_words[word + 1]
        width = b_end - b
        row[: width + 1] = 0
        for i in range(a, a_end):
            start, size = strings[i], strings[i + 1] - strings[i]
            diagonal = 0
            for j in range(width):
                other = other_strings[b + j]
                same = other_strings[b + j + 1] - other == size
                k = 0
                while same and k < size:
                    same = points[start + k] == other_points[other + k]
                    k += 1
                above = row[j + 1]
                row[j + 1] = diagonal + 1 if same else max(above, row[j])
                diagonal = above
        lengths[word] = row[width]
    return lengths

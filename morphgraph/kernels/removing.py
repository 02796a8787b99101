"""Remove types from merges in flat arrays, and find the words that a removal touches.

Merges keep their positions: one that is gone has no parts left. The arrays are those of
`segmenting`.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def without_types(parts, part_offsets, results, removed):  # type: ignore[no-untyped-def]
    """Parts and offsets once the types with ``removed[type]`` (uint8) are gone.

    The merges that make such a type lose all parts; in others it becomes the parts of the first
    merge that makes it, over and over until no removed type is left. Source: Bauwens & Delobelle
    2024, Algorithm 1.
    """
    merges = results.shape[0]
    producer = np.full(removed.shape[0], -1, np.int64)
    for merge in range(merges - 1, -1, -1):
        if part_offsets[merge + 1] > part_offsets[merge]:
            producer[results[merge]] = merge
    # New parts stand apart first, so that all others are only copied.
    rewired = np.zeros(merges, np.uint8)
    for merge in range(merges):
        if not removed[results[merge]]:
            for place in range(part_offsets[merge], part_offsets[merge + 1]):
                rewired[merge] |= removed[parts[place]]
    new, new_offsets = _substituted(parts, part_offsets, producer, removed, rewired)
    offsets = np.zeros(merges + 1, np.int64)
    size = np.int64(0)
    for merge in range(merges):
        if rewired[merge]:
            size += new_offsets[merge + 1] - new_offsets[merge]
        elif not removed[results[merge]]:
            size += part_offsets[merge + 1] - part_offsets[merge]
        offsets[merge + 1] = size
    found = np.empty(size, np.int32)
    for merge in range(merges):
        source = new if rewired[merge] else parts
        first = new_offsets[merge] if rewired[merge] else part_offsets[merge]
        for place in range(offsets[merge + 1] - offsets[merge]):
            found[offsets[merge] + place] = source[first + place]
    return found, offsets


@njit(cache=True, nogil=True)
def _substituted(parts, part_offsets, producer, removed, rewired):  # type: ignore[no-untyped-def]
    """The new parts of the ``rewired`` merges (uint8), and offsets into them for all merges."""
    found = np.empty(1024, np.int32)
    waiting = np.empty(64, np.int32)
    offsets = np.zeros(rewired.shape[0] + 1, np.int64)
    size = np.int64(0)
    for merge in range(rewired.shape[0]):
        first, last = part_offsets[merge], part_offsets[merge + 1]
        depth = np.int64(0)
        while rewired[merge]:
            while depth + last - first > waiting.shape[0]:
                waiting = np.append(waiting, np.empty_like(waiting))
            for place in range(last - 1, first - 1, -1):
                waiting[depth] = parts[place]
                depth += 1
            while depth and not removed[waiting[depth - 1]]:
                if size == found.shape[0]:
                    found = np.append(found, np.empty_like(found))
                depth -= 1
                found[size] = waiting[depth]
                size += 1
            if depth == 0:
                break
            depth -= 1
            made_by = producer[waiting[depth]]
            first, last = part_offsets[made_by], part_offsets[made_by + 1]
        offsets[merge + 1] = size
    return found, offsets


@njit(cache=True, nogil=True)
def carry_over(closed_by, piece_offsets, moved, carried):  # type: ignore[no-untyped-def]
    """Put the new positions of merges (``moved``, by old one) into ``carried``, gap by gap.

    The result is uint8, by piece: 1 where a merge was applied whose new position is -1.
    """
    touched = np.zeros(piece_offsets.shape[0] - 1, np.uint8)
    for piece in range(piece_offsets.shape[0] - 1):
        for gap in range(piece_offsets[piece], piece_offsets[piece + 1]):
            merge = closed_by[gap]
            if merge < 0:
                carried[gap] = merge
                continue
            carried[gap] = moved[merge]
            if moved[merge] < 0:
                touched[piece] = 1
    return touched


def warm_up() -> None:
    """Compile every kernel for the dtypes in use, so that the disk cache holds them."""
    parts, offsets = np.array([0, 1, 2, 0], np.int32), np.array([0, 2, 4], np.int64)
    without_types(parts, offsets, np.array([2, 3], np.int32), np.array([0, 0, 1, 0], np.uint8))
    closed_by = np.array([0, -1], np.int32)
    carry_over(closed_by, np.array([0, 2], np.int64), np.array([-1], np.int32), closed_by.copy())

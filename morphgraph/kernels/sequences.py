"""Longest common subsequences of sequences of strings.

A list of strings for each of n words is flat: ``points`` (code points), ``strings`` (offsets into
points), ``words`` (offsets into strings, n + 1).
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def longest_common_by_word(points, strings, words, other_points, other_strings, other_words):  # type: ignore[no-untyped-def]
    """Return the length of each word's longest common subsequence of strings: int64 (n)."""
    count = words.shape[0] - 1
    found = np.zeros(count, np.int64)
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
        found[word] = row[width]
    return found


def warm_up() -> None:
    """Compile the kernel for the dtypes in use, so that the disk cache holds it."""
    points = np.array([1, 2], np.int32)
    offsets = np.array([0, 1, 2], np.int64)
    words = np.array([0, 2], np.int64)
    longest_common_by_word(points, offsets, words, points, offsets, words)

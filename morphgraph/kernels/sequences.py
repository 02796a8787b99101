"""Sequences of strings against each other: longest common subsequence and edit distance.

A list of strings for each of n words is flat: ``points`` (code points), ``strings`` (offsets into
points), ``words`` (offsets into strings, n + 1).
"""

import numpy as np
from numba import njit

_SEPARATOR = -1  # no code point


@njit(cache=True, nogil=True)
def longest_common_by_word(points, strings, words, other_points, other_strings, other_words):  # type: ignore[no-untyped-def]
    """Length of the longest common subsequence of the strings of each word: int64 (n)."""
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


@njit(cache=True, nogil=True)
def _longest_joined(strings, words):  # type: ignore[no-untyped-def]
    """The length of a word's strings with separators between them, of the longest word."""
    longest = 0
    for word in range(words.shape[0] - 1):
        start, end = words[word], words[word + 1]
        if end > start:
            longest = max(longest, strings[end] - strings[start] + end - start - 1)
    return longest


@njit(cache=True, nogil=True)
def _join(points, strings, start, end, joined):  # type: ignore[no-untyped-def]
    """Write the strings of a word into one, with a separator between them; returns its length."""
    at = 0
    for i in range(start, end):
        if i > start:
            joined[at] = _SEPARATOR
            at += 1
        for k in range(strings[i], strings[i + 1]):
            joined[at] = points[k]
            at += 1
    return at


@njit(cache=True, nogil=True)
def edit_distances_by_word(points, strings, words, other_points, other_strings, other_words):  # type: ignore[no-untyped-def]
    """Levenshtein distance of each word's strings, joined by a separator of one symbol: int64."""
    count = words.shape[0] - 1
    found = np.zeros(count, np.int64)
    a = np.empty(_longest_joined(strings, words), np.int64)
    b = np.empty(_longest_joined(other_strings, other_words), np.int64)
    row = np.empty(b.shape[0] + 1, np.int64)
    for word in range(count):
        size = _join(points, strings, words[word], words[word + 1], a)
        width = _join(other_points, other_strings, other_words[word], other_words[word + 1], b)
        same = 0  # what both begin with costs nothing
        while same < size and same < width and a[same] == b[same]:
            same += 1
        for j in range(width - same + 1):
            row[j] = j
        for i in range(same, size):
            diagonal = row[0]
            row[0] = i - same + 1
            for j in range(width - same):
                above = row[j + 1]
                best = diagonal if a[i] == b[same + j] else diagonal + 1
                best = min(best, above + 1)
                row[j + 1] = min(best, row[j] + 1)
                diagonal = above
        found[word] = row[width - same]
    return found


def warm_up() -> None:
    """Compile every kernel for the dtypes in use, so that the disk cache holds them."""
    points = np.array([1, 2], np.int32)
    offsets = np.array([0, 1, 2], np.int64)
    words = np.array([0, 2], np.int64)
    longest_common_by_word(points, offsets, words, points, offsets, words)
    edit_distances_by_word(points, offsets, words, points, offsets, words)

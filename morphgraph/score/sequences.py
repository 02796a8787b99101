"""Morphs against pieces: longest common subsequence and edit distance, word by word."""

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from morphgraph.kernels import worth_loading
from morphgraph.score.outcome import Strings

Array = npt.NDArray[np.float64]


def longest_common(gold: Strings, found: Strings) -> Array:
    """The length of the longest common subsequence of the strings of each word."""
    if not worth_loading(_size(gold, found)):
        return _by_word(common_length, gold, found)
    from morphgraph.kernels import sequences

    counts: npt.NDArray[np.int64] = sequences.longest_common_by_word(*gold.arrays, *found.arrays)
    return counts.astype(np.float64)


def edit_distances(gold: Strings, found: Strings) -> Array:
    """Levenshtein distance of each word's strings, with a separator of one symbol between them."""
    if not worth_loading(_size(gold, found)):
        return _by_word(distance, gold, found)
    from morphgraph.kernels import sequences

    distances: npt.NDArray[np.int64] = sequences.edit_distances_by_word(*gold.arrays, *found.arrays)
    return distances.astype(np.float64)


def _size(gold: Strings, found: Strings) -> int:
    return len(gold.points) + len(found.points)


def _by_word(
    of: Callable[[Sequence[str], Sequence[str]], int], gold: Strings, found: Strings
) -> Array:
    pairs = zip(_lists(gold), _lists(found), strict=True)
    return np.array([of(one, other) for one, other in pairs], np.float64)


def _lists(strings: Strings) -> list[list[str]]:
    text = strings.points.tobytes().decode("utf-32-le", "surrogatepass")
    flat = [text[start:end] for start, end in pairwise(strings.strings.tolist())]
    return [flat[start:end] for start, end in pairwise(strings.words.tolist())]


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence of two lists of strings.

    >>> common_length(["un", "do", "ing"], ["undo", "ing"])
    1
    """
    row = [0] * (len(other) + 1)
    for string in one:
        diagonal = 0
        for place, against in enumerate(other, start=1):
            above = row[place]
            row[place] = diagonal + 1 if string == against else max(above, row[place - 1])
            diagonal = above
    return row[-1]


def distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The Levenshtein distance of two lists of strings, each joined by one symbol.

    >>> distance(["un", "do", "ing"], ["undo", "ing"])
    1
    """
    first, second = _joined(one), _joined(other)
    row = list(range(len(second) + 1))
    for size, symbol in enumerate(first, start=1):
        diagonal, row[0] = row[0], size
        for place, against in enumerate(second, start=1):
            above = row[place]
            row[place] = min(diagonal + (symbol != against), above + 1, row[place - 1] + 1)
            diagonal = above
    return row[-1]


def _joined(strings: Sequence[str]) -> list[Hashable]:
    """The characters of all strings, and None, which is no character, between two of them."""
    found: list[Hashable] = []
    for number, string in enumerate(strings):
        found += [None, *string] if number else string
    return found

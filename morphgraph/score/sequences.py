"""Longest common subsequence and edit distance of morphs and pieces, word by word."""

import sys
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from morphgraph.kernels import worth_loading
from morphgraph.score.outcome import Strings

_Array = npt.NDArray[np.float64]


def longest_common(gold: Strings, found: Strings) -> _Array:
    """Return the length of the longest common subsequence of each word's strings."""
    if not worth_loading(len(gold.points) + len(found.points)):
        pairs = zip(_lists(gold), _lists(found), strict=True)
        return np.array([common_length(one, other) for one, other in pairs], np.float64)
    from morphgraph.kernels import sequences

    counts: npt.NDArray[np.int64] = sequences.longest_common_by_word(*gold.arrays, *found.arrays)
    return counts.astype(np.float64)


def edit_distances(gold: Strings, found: Strings) -> _Array:
    """Return the Levenshtein distance of each word's strings, joined by a separator."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    between = sys.maxunicode
    behind = between - 1
    while any(np.isin(strings.points, (between, behind)).any() for strings in (gold, found)):
        between, behind = behind, behind - 1
    one, other = (_joined(strings, between, behind) for strings in (gold, found))
    return np.asarray(cpdist(one, other, scorer=Levenshtein.distance), np.float64)


def _joined(strings: Strings, between: int, behind: int) -> list[str]:
    """Join the strings of each word, separated by ``between``, and end it with ``behind``.

    Both are characters that occur in no string; words are separated at ``behind``.
    """
    ends = strings.strings[1:] + np.arange(len(strings.strings) - 1)
    points = np.full(len(strings.points) + len(ends), between, np.int32)
    is_end = np.zeros(len(points), bool)
    is_end[ends] = True
    points[~is_end] = strings.points
    has_any = strings.counts > 0
    points[ends[strings.words[1:][has_any] - 1]] = behind
    words = points.tobytes().decode("utf-32-le", "surrogatepass").split(chr(behind))[:-1]
    if has_any.all():
        return words
    each = iter(words)
    return [next(each) if some else "" for some in has_any]


def _lists(strings: Strings) -> list[list[str]]:
    text = strings.points.tobytes().decode("utf-32-le", "surrogatepass")
    flat = [text[start:end] for start, end in pairwise(strings.strings.tolist())]
    return [flat[start:end] for start, end in pairwise(strings.words.tolist())]


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two lists of strings.

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

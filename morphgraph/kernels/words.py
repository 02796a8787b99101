"""Which words of an array are equal."""

import numpy as np
import numpy.typing as npt
from numba import njit

from morphgraph.kernels import Int64

_SECRET = np.uint64(int.from_bytes(np.random.bytes(8), "little") | 1)
"""So that no file can be made whose words all fall together."""


def first_places(text: npt.NDArray[np.uint8], ends: Int64) -> Int64:
    """Return for each word the place of the first word that is equal.

    ``text``: the words' bytes in UTF-8; ``ends``: where each ends.

    >>> first_places(np.frombuffer(b"abab", np.uint8), np.array([1, 2, 3, 4])).tolist()
    [0, 1, 0, 1]
    """
    return _first_places(text, ends, _SECRET)


@njit(cache=True)
def _first_places(text: npt.NDArray[np.uint8], ends: Int64, secret: np.uint64) -> Int64:
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


def warm_up() -> None:
    """Compile the kernel."""
    first_places(np.zeros(1, np.uint8), np.ones(1, np.int64))

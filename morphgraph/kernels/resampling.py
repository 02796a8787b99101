"""Random numbers for bootstraps and permutation tests: one matrix of weights for all scores.

Random numbers are SplitMix64's (Steele et al. 2014); each row has its own stream.
"""

import numpy as np
from numba import njit

from morphgraph.kernels.dropout import mixed

_STEP = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def draw_counts(seed, first, counts):  # type: ignore[no-untyped-def]
    """Count how often each entry is drawn in a resample of equal size with replacement.

    ``counts``: float64, (resamples, entries), written; ``first``: the number of the first row.
    """
    rows, entries = counts.shape
    low = np.uint64(0xFFFFFFFF)
    for row in range(rows):
        state = mixed(np.uint64(seed) ^ mixed(np.uint64(first + row + 1) * _STEP))
        counts[row, :] = 0.0
        i = 0
        while i < entries:
            state += _STEP
            bits = mixed(state)
            # Two draws of 32 bits from each number: a multiplication scales them to the entries.
            counts[row, np.int64(((bits & low) * np.uint64(entries)) >> np.uint64(32))] += 1.0
            i += 1
            if i < entries:
                high = bits >> np.uint64(32)
                counts[row, np.int64((high * np.uint64(entries)) >> np.uint64(32))] += 1.0
                i += 1


@njit(cache=True, nogil=True)
def draw_signs(seed, first, signs):  # type: ignore[no-untyped-def]
    """Write 1 for entries at which two systems swap outcomes, else 0, each with probability ½.

    ``signs``: float64, (trials, entries), written; ``first``: the number of the first row.
    """
    rows, entries = signs.shape
    one = np.uint64(1)
    for row in range(rows):
        state = mixed(~np.uint64(seed) ^ mixed(np.uint64(first + row + 1) * _STEP))
        bits = np.uint64(0)
        for i in range(entries):
            if i & 63 == 0:
                state += _STEP
                bits = mixed(state)
            signs[row, i] = 1.0 if bits & one else 0.0
            bits >>= one


def warm_up() -> None:
    """Compile every kernel for the dtypes in use, so that the disk cache holds them."""
    room = np.empty((2, 3))
    draw_counts(0, 0, room)
    draw_signs(0, 0, room)

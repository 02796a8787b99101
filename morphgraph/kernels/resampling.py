"""Random numbers: SplitMix64 (Steele et al. 2014), and weights for bootstraps.

Each row of a matrix of weights has its own stream.
"""

import numpy as np
from numba import njit

from morphgraph.kernels.compiling import kernel

STEP = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True)
def mixed(state):
    """Return SplitMix64's output for a state: uint64 to uint64."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def draw_counts(seed, first, counts):
    """Count how often each entry is drawn in a resample of equal size with replacement.

    ``counts``: float64, (resamples, entries), written; ``first``: the number of the first row.
    """
    rows, entries = counts.shape
    low = np.uint64(0xFFFFFFFF)
    for row in range(rows):
        state = mixed(np.uint64(seed) ^ mixed(np.uint64(first + row + 1) * STEP))
        counts[row, :] = 0.0
        i = 0
        while i < entries:
            state += STEP
            bits = mixed(state)
            # Two draws of 32 bits from each number: a multiplication scales them to the entries.
            counts[row, np.int64(((bits & low) * np.uint64(entries)) >> np.uint64(32))] += 1.0
            i += 1
            if i < entries:
                high = bits >> np.uint64(32)
                counts[row, np.int64((high * np.uint64(entries)) >> np.uint64(32))] += 1.0
                i += 1


@kernel
def draw_signs(seed, first, signs):
    """Write 1 for entries at which two systems swap outcomes, else 0, each with probability ½.

    ``signs``: float64, (trials, entries), written; ``first``: the number of the first row.
    """
    rows, entries = signs.shape
    one = np.uint64(1)
    for row in range(rows):
        state = mixed(~np.uint64(seed) ^ mixed(np.uint64(first + row + 1) * STEP))
        bits = np.uint64(0)
        for i in range(entries):
            if i & 63 == 0:
                state += STEP
                bits = mixed(state)
            signs[row, i] = 1.0 if bits & one else 0.0
            bits >>= one

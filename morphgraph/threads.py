"""How many threads a segmentation uses."""

import os

VARIABLE = "MORPHGRAPH_THREADS"


def usual_threads() -> int:
    """Two, or what ``MORPHGRAPH_THREADS`` says: workers that share a machine set it to 1.

    >>> usual_threads() >= 1
    True
    """
    chosen = os.environ.get(VARIABLE, "")
    return max(1, int(chosen)) if chosen.isdecimal() else 2

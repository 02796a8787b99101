"""How many threads a segmentation uses, and how many cores there are."""

import os

VARIABLE = "MORPHGRAPH_THREADS"


def usual_threads() -> int:
    """Two, or what ``MORPHGRAPH_THREADS`` says: workers that share a machine set it to 1.

    >>> usual_threads() >= 1
    True
    """
    chosen = os.environ.get(VARIABLE, "")
    return max(1, int(chosen)) if chosen.isdecimal() else 2


def available_cores() -> int:
    """How many cores this process may use; where the system does not say, all there are."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1

"""Cases of fuzzing, one after the other: each must end, in a result or in our own error."""

import os
import signal
from contextlib import contextmanager
from typing import NamedTuple

from morphgraph.core.errors import MorphGraphError

LONGEST_CASE = float(os.environ.get("MORPHGRAPH_FUZZ_SECONDS", "20"))
"""Seconds that one case may take: five times what the slowest takes alone."""


class Outcome(NamedTuple):
    """How many files were read and used, and how many were refused."""

    read: int
    refused: int


class TooSlow(BaseException):
    """A case took longer than `LONGEST_CASE`; no handler of errors may take it for one."""


HIDDEN = (TooSlow, MemoryError, SystemError, NameError, AssertionError)
"""What must not stand behind one of our errors."""


@contextmanager
def bounded():
    """Raise `TooSlow` in code that takes too long."""

    def stop(_signal, _frame):
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_CASE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_cases(name, use, count):
    """Use what ``count`` seeds give; anything but a result or our error is a failure."""
    done = 0
    for number in range(count):
        seed = f"{name} {number}"
        try:
            with bounded():
                use(seed)
        except MorphGraphError as error:
            assert str(error), seed
            # What handles every error of a library must not hide one of ours.
            assert not isinstance(error.__cause__, HIDDEN), (seed, error.__cause__)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            problem = f"{type(error).__name__}: {str(error)[:500]}"
            raise AssertionError(f"The case of the seed {seed!r}: {problem}") from error
        else:
            done += 1
    return Outcome(done, count - done)

"""Reading damaged files, one after the other: each must end, in a result or in our own error."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from fuzz.mutations import mutated

from morphgraph.core.errors import MorphGraphError

LONGEST_CASE = float(os.environ.get("MORPHGRAPH_FUZZ_SECONDS", "5"))
"""Seconds that one damaged file may take."""

Read = Callable[[bytes], Any]


class Outcome(NamedTuple):
    """How many damaged files were read and used, and how many were refused."""

    read: int
    refused: int


class TooSlow(BaseException):
    """A case took longer than `LONGEST_CASE`; no handler of errors may take it for one."""


HIDDEN = (TooSlow, MemoryError, SystemError, NameError, AssertionError)
"""What must not stand behind one of our errors."""


@contextmanager
def bounded() -> Iterator[None]:
    """Raise `TooSlow` in code that takes too long."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_CASE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_cases(name: str, data: bytes, donors: Sequence[bytes], read: Read, count: int) -> Outcome:
    """Read a file damaged in ``count`` ways; anything but a result or our error is a failure."""
    done = 0
    for number in range(count):
        seed = f"{name} {number}"
        damaged = mutated(seed, data, donors)
        try:
            with bounded():
                read(damaged)
        except MorphGraphError as error:
            assert str(error), seed
            # What handles every error of a library must not hide one of ours.
            hidden = isinstance(error.__cause__, HIDDEN)
            if not hidden:
                continue
            failure: BaseException = error.__cause__ or error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failure = error
        else:
            done += 1
            continue
        problem = f"{type(failure).__name__}: {failure}"
        raise AssertionError(
            f"{problem[:300]}\nCase: mutated({seed!r}, …), {len(damaged):,} bytes, which begin "
            f"{damaged[:300]!r}"
        ) from failure
    return Outcome(done, count - done)

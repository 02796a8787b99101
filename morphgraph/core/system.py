"""Operating-system resources: cores, threads, memory, and file locks."""

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

VARIABLE = "MORPHGRAPH_THREADS"


def usual_threads() -> int:
    """Return ``MORPHGRAPH_THREADS``, or 2; workers that share a machine set it to 1."""
    chosen = os.environ.get(VARIABLE, "")
    return max(1, int(chosen)) if chosen.isdecimal() else 2


def available_cores() -> int:
    """Return the number of cores that this process may use, or else of all."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return os.cpu_count() or 1


def lower_priority() -> None:
    """Lower the priority of this process, and of its future children further."""
    with suppress(OSError, AttributeError):
        os.nice(10)


@contextmanager
def without_collection() -> Iterator[None]:
    """Pause the garbage collector while many long-lived objects are made.

    Objects without references are freed all the same, unless they refer to each other.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def limit_this_process(seconds: int, memory: int) -> None:
    """Limit this process to some seconds of CPU time and bytes of memory.

    The last call counts; 0 seconds means no limit of time. Beyond the limit of memory there is a
    `MemoryError`, or the process ends if a library raises none. Systems without such limits ignore
    this. Call it before loading Arrow, which would otherwise reserve a gigabyte in advance.
    """
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    with suppress(ImportError, AttributeError, ValueError):
        import resource

        signal.alarm(seconds)
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, most))


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file without waiting; False if another process has it.

    The lock ends with the file or its process. Where neither the system nor the file system has
    locks, it always succeeds. `OSError` for what the disk itself refuses.
    """
    with suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
    return True


def memory_used() -> int:
    """Return the bytes of memory that this process uses."""
    import psutil

    return int(psutil.Process().memory_info().rss)


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8  # as in malloc.h


def give_back_memory() -> None:
    """Return free memory to the system, where the C library can (glibc)."""
    _call_c("malloc_trim", 0)


def keep_freed_memory() -> None:
    """Keep freed memory for later allocations, where the C library can (glibc).

    Otherwise it maps large blocks anew each time, and the system fills them with zeros: a third of
    the time of training a small model.
    """
    _call_c("mallopt", _MMAP_MAX, 0)
    _call_c("mallopt", _TRIM_THRESHOLD, 2**31 - 1)


def free_memory_at_once() -> None:
    """Return memory to the system when it is freed, where the C library can (glibc).

    In a long-lived process with many threads, small blocks would otherwise pin large free ones:
    each thread has its own heap, which mixes blocks of up to 32 MB with small ones.
    """
    _call_c("mallopt", _ARENA_MAX, 2)
    _call_c("mallopt", _MMAP_THRESHOLD, 2**20)


def _call_c(function: str, *numbers: int) -> None:
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        getattr(ctypes.CDLL(None), function)(*numbers)

"""What the system offers: cores, threads, and locks on files."""

import os
import signal
from contextlib import suppress
from typing import IO, Any

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


def give_way() -> None:
    """Let other processes of the machine go first from now on, this one's children behind them."""
    with suppress(OSError, AttributeError):
        os.nice(10)


def limit_this_process(seconds: int, memory: int) -> None:
    """End this process after so many seconds, and give it no more bytes of memory than these.

    The last call holds; of 0 seconds it is not ended. What does not fit is a `MemoryError`, or the
    end of the process where a library has none. Where the system has no such limits, nothing
    happens. To be called before Arrow is loaded, which would else reserve a gigabyte in advance.
    """
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    with suppress(ImportError, AttributeError, ValueError):
        import resource

        signal.alarm(seconds)
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, most))


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file without waiting; False if another process has it.

    The lock goes with the file or its process. Where neither the system nor the file system has
    locks, it is as if nobody else were there. `OSError` for what the disk itself refuses.
    """
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _lock_on_windows(file: IO[Any]) -> bool:
    try:
        import msvcrt
    except ImportError:
        return True
    windows: Any = msvcrt
    try:
        file.seek(0)
        windows.locking(file.fileno(), windows.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def memory_used() -> int:
    """Bytes of memory that this process takes."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def give_back_memory() -> None:
    """Hand memory that is free back to the system, where the C library can (glibc)."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def keep_freed_memory() -> None:
    """Keep what is freed for what is allocated next, where the C library can (glibc).

    It maps large blocks anew each time otherwise, and the system fills them with zeros: a third of
    the time of training a small model.
    """
    _allocate_by({_MMAP_MAX: 0, _TRIM_THRESHOLD: 2**31 - 1})


def free_memory_at_once() -> None:
    """Give what is freed back to the system, where the C library can (glibc).

    In a process of many threads that lives for long, small blocks would keep large free ones from
    it: each thread has a heap of its own, and blocks of up to 32 MB stand among the small ones.
    """
    _allocate_by({_ARENA_MAX: 2, _MMAP_THRESHOLD: 2**20})


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8  # as in malloc.h


def _allocate_by(settings: dict[int, int]) -> None:
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        for name, value in settings.items():
            library.mallopt(name, value)

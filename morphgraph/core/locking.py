"""Locking an open file against other processes, on any system."""

from typing import IO, Any


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

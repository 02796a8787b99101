"""Running tasks one after the other, or in several processes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus.counting_task import CountingTask, count_file

Tell = Callable[[int, int], None]
"""Gets how many files are done, and how many bytes."""

_shared: list[Any] = []
"""In a worker: the number of bytes done by all, and whether to stop."""


class _Stopped(Exception):
    """The counting ends before its time."""


def run(tasks: Sequence[CountingTask], workers: int, tell: Tell) -> list[Path]:
    """Do the tasks; gives the partials of all, those of one task together.

    The first error of a task ends all of them. With more than one worker they run in new
    processes, which end with this one.
    """
    return _here(tasks, tell) if workers == 1 else _apart(tasks, workers, tell)


def _here(tasks: Sequence[CountingTask], tell: Tell) -> list[Path]:
    partials: list[Path] = []
    size = 0
    for done, task in enumerate(tasks):

        def advance(some: int, done: int = done) -> None:
            nonlocal size
            size += some
            tell(done, size)

        partials += count_file(task, advance)
    tell(len(tasks), size)
    return partials


def _apart(tasks: Sequence[CountingTask], workers: int, tell: Tell) -> list[Path]:
    import multiprocessing
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("spawn")
    size, stop = context.Value("q", 0), context.Event()
    partials: list[Path] = []
    pool = ProcessPoolExecutor(workers, context, _begin, (size, stop))
    try:
        left = {pool.submit(_work, task) for task in tasks}
        while left:
            ended, left = wait(left, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in ended:
                partials += _result(future.result())
            tell(len(tasks) - len(left), size.value)
    except BrokenProcessPool as error:
        raise MorphGraphError(
            "A worker ended before its time; perhaps the memory was full. Count again with fewer "
            "--workers or less --memory."
        ) from error
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
    return partials


def _begin(size: Any, stop: Any) -> None:
    _shared[:] = size, stop
    # The process that started this one receives Ctrl-C and says when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(task: CountingTask) -> list[Path] | tuple[Any, ...]:
    """The partials of a task, or what makes an error: not all errors travel between processes."""
    size, stop = _shared

    def advance(some: int) -> None:
        with size.get_lock():
            size.value += some
        if stop.is_set():
            raise _Stopped

    try:
        return count_file(task, advance)
    except FileFormatError as error:
        return FileFormatError, error.file, error.place, error.problem, error.fix
    except MorphGraphError as error:
        return MorphGraphError, str(error)
    except OSError as error:
        return OSError, error.errno, error.strerror, error.filename
    except _Stopped:
        return []


def _result(found: list[Path] | tuple[Any, ...]) -> list[Path]:
    if isinstance(found, tuple):
        kind, *values = found
        raise kind(*values)
    return found

"""Run functions on untrusted input in a separate process, with limits on time and memory.

On a hostile file a library may run native code, or forever, where no limit of ours applies. The
process is spawned (never forked), kept for the next request, and ended if it exceeds a limit. Both
directions carry plain values (what JSON holds, and bytes), so that a hostile answer is no more than
a wrong value. The process records its current place in a file, which is read if it ends.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from tempfile import TemporaryFile
from threading import BoundedSemaphore, Lock
from typing import Any
from weakref import WeakValueDictionary

from morphgraph.core import errors
from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import READING_MEMORY, READING_SECONDS, TEXT_MEMORY, Limit
from morphgraph.core.system import limit_this_process
from morphgraph.core.text import shortened

VISITOR: ContextVar[str] = ContextVar("visitor", default="")
"""On whose behalf functions run: one at a time for each visitor."""

_EVERY = 0.05
_PATIENCE = 10  # seconds allowed per second of CPU time, as the CPU is shared
_AT_ONCE = 2
_MOST_KEPT = 300_000_000
"""A process that uses more bytes of memory than this is not kept."""
_BYTES = "\0bytes"
"""In JSON, the key of an object that stands for bytes, which follow it in their order."""

_places = BoundedSemaphore(_AT_ONCE)
_turns: WeakValueDictionary[str, Lock] = WeakValueDictionary()
_idle: deque[_Process] = deque()


class ProcessEndedError(Exception):
    """Raised when a process ended; ``problem``: why, ``place``: its last reported place.

    ``limit``: the limit that it exceeded, None if it ended by itself.
    """

    def __init__(self, problem: str, limit: Limit | None = None) -> None:
        super().__init__(problem)
        self.problem, self.limit, self.place = problem, limit, ""


def read_isolated(read: Callable[..., Any], data: Any, name: str, *arguments: Any) -> Any:
    """Return ``read(data, name, *arguments)``, run in another process.

    ``read``: a module's function; ``data``: the bytes of a file, or its path; ``name``: what errors
    call it. Both what it takes and what it returns are plain values; arrays come back as bytes, and
    a `Path` arrives as a string, whole, as the process may be in another folder.
    Raises its own `FileFormatError`, also if it exceeds a limit of memory or time.
    """
    limits = {"seconds": READING_SECONDS, "memory": READING_MEMORY}
    try:
        return run_isolated(f"{read.__module__}:{read.__name__}", data, name, *arguments, **limits)
    except ProcessEndedError as error:
        if error.limit is not None:
            excess = f"reading it {error.problem}"
            raise error.limit.exceeded(name, error.place, excess) from error
        place, problem = error.place, f"the process that read it {error.problem}"
    except RuntimeError as error:
        place, problem = "", f"reading it fails ({error})"
    raise FileFormatError(name, place, problem, "Choose another file.")


def run_isolated(function: str, *arguments: Any, seconds: Limit, memory: Limit) -> Any:
    """Apply ``function``, named ``module:name``, in another process and return its result.

    Raises `ProcessEndedError` if it exceeds a limit (``seconds``: CPU time) or ends its process;
    its own `FileFormatError`; `RuntimeError` for any other error in it.
    """
    with _turns.setdefault(VISITOR.get(), Lock()), _places:
        process = _ready()
        try:
            kind, found = process.ask(function, arguments, seconds, memory)
        except ProcessEndedError as error:
            error.place = process.end()
            raise
        except BaseException:  # its answer would be mistaken for the next one
            process.end()
            raise
        if process.is_small:
            _idle.append(process)
        else:
            process.end()
    if kind == "failed":
        raise RuntimeError(found)
    if kind != "made":
        *said, quotes = found
        raise getattr(errors, kind)(*said, quotes=quotes)
    return found


def report_place(place: str) -> None:
    """Record the current place in an isolated process; errors name the last one recorded."""
    if _place_file is not None:
        os.lseek(_place_file, 0, os.SEEK_SET)
        os.write(_place_file, place.encode() + b"\n")


def python_apart(code: str) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment by which another Python runs code.

    It imports from the same paths as this process, but not from its working folder, and does not
    run the script of this process.
    """
    paths = os.pathsep.join(filter(None, sys.path))
    return [sys.executable, "-P", "-c", code], {**os.environ, "PYTHONPATH": paths}


# ------------------------------------------------------------------------- the process that asks


class _Process:
    """An isolated process, as seen from the parent."""

    def __init__(self) -> None:
        self._place_file = TemporaryFile(buffering=0)  # noqa: SIM115
        self._pipe, its_end = Pipe()
        ends = its_end.fileno(), self._place_file.fileno()
        command, env = python_apart(f"from {__name__} import _serve; _serve{ends}")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=ends,
            env={**env, "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C goes to this process, which then ends that one
        )
        its_end.close()
        self.is_small = True

    def end(self) -> str:
        """End it; return its last recorded place."""
        self._pipe.close()
        self.process.kill()
        self.process.wait()
        with self._place_file:
            self._place_file.seek(0)
            return self._place_file.read().partition(b"\n")[0].decode()

    def ask(self, function: str, arguments: Any, seconds: Limit, memory: Limit) -> tuple[str, Any]:
        """Return the kind of its answer and the answer; `ProcessEndedError` without one."""
        try:
            _send(self._pipe, _written((function, arguments, seconds.value, memory.value)))
            self._watch(seconds, memory)
            kind, found = _receive(self._pipe, TEXT_MEMORY.value)
        except (ConnectionError, EOFError) as error:
            raise ProcessEndedError(f"has ended ({self.process.wait()})") from error
        except OSError as error:
            raise ProcessEndedError("makes too many bytes of text", TEXT_MEMORY) from error
        if kind == "memory":
            raise ProcessEndedError("takes too much memory", memory)
        return kind, found

    def _watch(self, seconds: Limit, memory: Limit) -> None:
        """Wait for an answer, and enforce the limits."""
        import psutil

        begun, before = time.monotonic(), None
        while not self._pipe.poll(_EVERY):
            used, kept = 0.0, 0
            with suppress(psutil.Error):
                process = psutil.Process(self.process.pid)
                used, kept = sum(process.cpu_times()[:2]), process.memory_info().rss
            before = used if before is None else before
            taken = max(used - before, (time.monotonic() - begun) / _PATIENCE)
            if taken > seconds.value:
                raise ProcessEndedError(f"takes {math.ceil(taken):,} seconds", seconds)
            if kept > memory.value:
                raise ProcessEndedError(f"takes {kept:,} bytes of memory", memory)
            self.is_small = kept <= _MOST_KEPT


def _ready() -> _Process:
    """Return an idle process, or a new one."""
    with suppress(IndexError):
        while (process := _idle.pop()).process.poll() is not None:
            process.end()
        return process
    return _Process()


def _written(value: Any) -> list[bytes | memoryview]:
    """Write a plain value: JSON, and all bytes and paths in it; `TypeError` for others."""
    apart = list[memoryview]()

    def put_apart(data: Any) -> dict[str, None] | str:
        if isinstance(data, Path):
            return str(data.absolute())
        apart.append(memoryview(data).cast("B"))  # a TypeError unless it is bytes or an array
        return {_BYTES: None}

    return [json.dumps(value, default=put_apart).encode(), *apart]


def _send(pipe: Connection, written: Iterable[bytes | memoryview]) -> None:
    for data in written:
        pipe.send_bytes(data)


def _receive(pipe: Connection, most: int = sys.maxsize) -> Any:
    """Receive a value; `EOFError` at the end, `OSError` beyond ``most`` bytes."""

    def take() -> bytes:
        nonlocal most
        data = pipe.recv_bytes(most)
        most -= len(data)
        return data

    return json.loads(take(), object_hook=lambda found: take() if _BYTES in found else found)


def _forget_parent_processes() -> None:
    """After a fork, forget idle processes: their pipes belong to the parent."""
    global _places
    _places = BoundedSemaphore(_AT_ONCE)
    _turns.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_forget_parent_processes)


# ------------------------------------------------------------------------- the process that answers

_place_file: int | None = None
"""In an isolated process, the file that `report_place` writes to."""


def _serve(pipe: int, place_file: int) -> None:
    """Answer the requests that come through a pipe until it ends."""
    global _place_file
    asker, _place_file = Connection(pipe), place_file
    with suppress(EOFError, ConnectionError):
        while True:
            function, arguments, seconds, memory = _receive(asker)
            report_place("")
            # The parent ends it in time, if it still exists.
            limit_this_process(2 * _PATIENCE * seconds, memory)
            try:
                written = _answer(function, arguments)
            finally:
                limit_this_process(0, memory)
            _send(asker, written)


def _answer(function: str, arguments: Any) -> list[bytes | memoryview]:
    module, _, name = function.partition(":")
    answer: tuple[str, Any]
    try:
        return _written(("made", getattr(import_module(module), name)(*arguments)))
    except FileFormatError as found:
        said = found.file, found.place, found.problem, found.fix, found.quotes
        answer = type(found).__name__, said
    except MemoryError:
        answer = "memory", None
    except BaseException as error:  # a library's panic is not an Exception
        answer = "failed", shortened(str(error), 120)
    return _written(answer)

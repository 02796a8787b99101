"""Run functions on untrusted input in a separate process, with limits on time and memory.

On a hostile file a library may run native code, or forever, where no limit of ours applies. So a
function, which takes bytes and returns bytes or arrays, runs in a process that is spawned (never
forked), kept for the next request, and ended if it exceeds a limit. Both directions carry
length-prefixed bytes; arrays are in NumPy's format, without pickling. The process records its
current place in a file, which is read if it ends.
"""

from __future__ import annotations

import json
import math
import os
import select
import struct
import subprocess
import sys
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from importlib import import_module
from io import BytesIO
from tempfile import TemporaryFile
from threading import BoundedSemaphore, Lock
from typing import IO, TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import psutil

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import READING_MEMORY, READING_SECONDS, TEXT_MEMORY, Limit
from morphgraph.core.system import limit_this_process
from morphgraph.core.text import shortened

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Read = Callable[[bytes, str], Mapping[str, "npt.NDArray[Any]"]]
Header = dict[str, Any]

VISITOR: ContextVar[str] = ContextVar("visitor", default="")
"""On whose behalf functions run: one at a time for each visitor."""

_EVERY = 0.05
_PATIENCE = 10  # seconds allowed per second of CPU time, as the CPU is shared
_AT_ONCE = 2
_MOST_KEPT = 300_000_000
"""A process that uses more bytes of memory than this is not kept."""
_LENGTHS = struct.Struct("<QQ")

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


def run_isolated(
    function: str, data: bytes, *arguments: Any, seconds: Limit, memory: Limit
) -> bytes:
    """Apply ``function``, named ``module:name``, in another process and return its bytes.

    Arguments are passed as JSON. Raises `ProcessEndedError` if it exceeds a limit (``seconds``: CPU
    time) or ends its process; its own `FileFormatError`; `RuntimeError` for any other error in it.
    """
    asked = {"function": function, "arguments": arguments}
    with _turns.setdefault(VISITOR.get(), Lock()), _places:
        process = _ready()
        try:
            header, answer = process.ask(asked, data, seconds, memory)
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
    if "file" in header:
        *said, quotes = header["file"]
        raise FileFormatError(*said, quotes=quotes)
    if "failed" in header:
        raise RuntimeError(header["failed"])
    return answer


def read_isolated(read: Read, data: bytes, name: str) -> dict[str, npt.NDArray[Any]]:
    """Return ``read(data, name)``, run in another process; ``read`` is a module's function.

    Raises its own `FileFormatError`, also if it exceeds a limit of memory or time.
    """
    function = f"{read.__module__}:{read.__qualname__}"
    try:
        answer = run_isolated(function, data, name, seconds=READING_SECONDS, memory=READING_MEMORY)
    except ProcessEndedError as error:
        if error.limit is not None:
            found = f"reading it {error.problem}"
            raise error.limit.exceeded(name, error.place, found) from error
        place, problem = error.place, f"the process that read it {error.problem}"
    except RuntimeError as error:
        place, problem = "", f"reading it fails ({error})"
    else:
        return _arrays_of(answer, name)
    raise FileFormatError(name, place, problem, "Choose another file.")


def report_place(place: str) -> None:
    """Record the current place in an isolated process; errors name the last one recorded."""
    if _place_file is not None:
        os.lseek(_place_file, 0, os.SEEK_SET)
        os.write(_place_file, place.encode() + b"\n")


def text_array(texts: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Serialise strings into one byte array (inverse of `texts_of`); NULs become spaces.

    >>> texts_of(text_array(["a", "", "ä"]))
    ['a', '', 'ä']
    """
    import numpy as np

    written = "".join(text.replace("\0", " ") + "\0" for text in texts)
    return np.frombuffer(written.encode("utf-8", "replace"), np.uint8)


def texts_of(array: npt.NDArray[np.uint8]) -> list[str]:
    """Return the strings of an array from `text_array`."""
    return array.tobytes().decode().split("\0")[:-1]


def _arrays_of(answer: bytes, name: str) -> dict[str, npt.NDArray[Any]]:
    import numpy as np

    with zipfile.ZipFile(BytesIO(answer)) as archive:
        size = sum(member.file_size for member in archive.infolist())
    TEXT_MEMORY.check(size, name)  # whatever its compressed size
    with np.load(BytesIO(answer), allow_pickle=False) as found:
        return dict(found)


# ------------------------------------------------------------------------- the process that asks


class _Process:
    """An isolated process, as seen from the parent."""

    def __init__(self) -> None:
        # It imports from the same paths as this process, but not from its working folder.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._place_file = TemporaryFile(buffering=0)  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import _serve; _serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._place_file,
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C goes to this process, which then ends that one
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._questions, self._answers = self.process.stdin, self.process.stdout
        self.is_small = True

    def end(self) -> str:
        """End it; return its last recorded place."""
        with suppress(OSError), self.process:
            self.process.kill()
        with self._place_file:
            self._place_file.seek(0)
            return self._place_file.read().partition(b"\n")[0].decode()

    def ask(
        self, asked: Header, data: bytes, seconds: Limit, memory: Limit
    ) -> tuple[Header, bytes]:
        asked = asked | {"seconds": seconds.value, "memory": memory.value}
        try:
            _send(self._questions, asked, data)
            self._watch(seconds, memory)
            answer = _receive(self._answers, TEXT_MEMORY.value)
        except (OSError, EOFError) as error:
            raise ProcessEndedError(f"has ended ({self.process.wait()})") from error
        if "memory" in answer[0]:
            raise ProcessEndedError("takes too much memory", memory)
        return answer

    def _watch(self, seconds: Limit, memory: Limit) -> None:
        """Wait for an answer, and enforce the limits."""
        if not hasattr(select, "poll"):
            return
        answers = select.poll()
        answers.register(self._answers, select.POLLIN)
        begun, before = time.monotonic(), None
        while not answers.poll(_EVERY * 1000):
            used, kept = self._used()
            before = used if before is None else before
            taken = max(used - before, (time.monotonic() - begun) / _PATIENCE)
            if taken > seconds.value:
                raise ProcessEndedError(f"takes {math.ceil(taken):,} seconds", seconds)
            if kept > memory.value:
                raise ProcessEndedError(f"takes {kept:,} bytes of memory", memory)
            self.is_small = kept <= _MOST_KEPT

    def _used(self) -> tuple[float, int]:
        """Return the CPU time in seconds, and the bytes of memory in use."""
        with suppress(psutil.Error):
            process = psutil.Process(self.process.pid)
            return sum(process.cpu_times()[:2]), process.memory_info().rss
        return 0.0, 0


def _ready() -> _Process:
    """Return an idle process, or a new one."""
    with suppress(IndexError):
        while True:
            process = _idle.pop()
            if process.process.poll() is None:
                return process
            process.end()
    return _Process()


def _send(stream: IO[bytes], header: Header, data: bytes) -> None:
    encoded = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(encoded), len(data)) + encoded)
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes], most: float = math.inf) -> tuple[Header, bytes]:
    """Receive a header and its data.

    `EOFError` at the end, `ProcessEndedError` if there are more than ``most`` bytes.
    """
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        raise EOFError
    first, second = _LENGTHS.unpack(lengths)
    if first + second > most:
        raise ProcessEndedError(f"makes {first + second:,} bytes of text", TEXT_MEMORY)
    header, data = stream.read(first), stream.read(second)
    if len(header) + len(data) < first + second:
        raise EOFError
    return json.loads(header), data


def _forget_parent_processes() -> None:
    """After a fork, forget idle processes: their pipes belong to the parent."""
    global _places
    _places = BoundedSemaphore(_AT_ONCE)
    _turns.clear()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent_processes)


# ------------------------------------------------------------------------- the process that answers

_place_file: int | None = None
"""In an isolated process, the file that `report_place` writes to."""


def _answer(asked: Header, data: bytes) -> tuple[Header, bytes]:
    report_place("")
    # The parent ends it in time, if it still exists.
    limit_this_process(2 * _PATIENCE * asked["seconds"], asked["memory"])
    try:
        module, _, name = asked["function"].partition(":")
        made = getattr(import_module(module), name)(data, *asked["arguments"])
        return {}, made if isinstance(made, bytes) else _packed(made)
    except FileFormatError as found:
        return {"file": [found.file, found.place, found.problem, found.fix, found.quotes]}, b""
    except MemoryError:
        return {"memory": True}, b""
    except BaseException as error:  # a library's panic is not an Exception
        return {"failed": shortened(str(error), 120)}, b""
    finally:
        limit_this_process(0, asked["memory"])


def _packed(arrays: Any) -> bytes:
    import numpy as np

    written = BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def _serve() -> None:
    """Answer requests on standard input until it ends; nothing else reaches standard output."""
    global _place_file
    answers, _place_file = os.fdopen(os.dup(1), "wb"), os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    with suppress(EOFError, BrokenPipeError):
        while True:
            _send(answers, *_answer(*_receive(sys.stdin.buffer)))

"""Kernels are compiled at their first use, by several processes, into numba's cache on disk.

A kernel that is not in the cache brings along those that are used with it (see `calls`): each of
the processes takes one after the other, and this one waits, tells how far they are, and reads what
it needs from the cache. Where that fails, it compiles for itself.
"""

import os
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache, NullCache

from morphgraph.core.system import available_cores, usual_threads, without_collection

_OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}

_CALLS = "morphgraph.kernels.calls"
"""Imported when needed: it imports the kernels, whose modules import this one."""

_is_told = False
"""Whether it has been said that nothing can be kept."""

_prepared: set[str] = set()
"""The kernels that were to be in the cache by now."""


def kernel(function):
    """Compile a function that Python calls, without the GIL, and keep it in the cache.

    Functions that only kernels call are compiled into these, and not kept: if two processes kept
    one for other arguments at the same time, numba would give either the code of the other.
    """
    made = njit(**_OPTIONS)(function)
    try:
        made._cache = _Cache(function)
    except RuntimeError:
        made._cache = _NoCache()
    return made


class _Cache(FunctionCache):
    """The cache of one kernel."""

    def __init__(self, function):
        super().__init__(function)
        self._kernel = function.__name__

    def load_overload(self, sig, target_context):
        found = super().load_overload(sig, target_context)
        if found is None and _prepare(self._kernel):
            found = super().load_overload(sig, target_context)
        return found

    def save_overload(self, sig, data):
        with suppress(OSError):  # the disk may be full by now
            super().save_overload(sig, data)


class _NoCache(NullCache):
    """In place of the cache where no folder for it can be written to."""

    def load_overload(self, sig, target_context):
        global _is_told
        if not _is_told:
            _is_told = True
            _tell("preparing kernels, each time: name a folder to keep them in NUMBA_CACHE_DIR")


def _prepare(name):
    """Compile a kernel and those used with it, once; return whether it may now be in the cache."""
    calls = import_module(_CALLS)

    if name in _prepared:
        return False
    names = [[call.__name__ for call in together] for together in calls.TOGETHER]
    together = next((found for found in names if name in found), [name])
    _prepared.update(together)
    if len(together) == 1:
        _tell("preparing 1 kernel, once")
    else:
        every = [call.__name__ for call in calls.ALL]
        _call_elsewhere([every.index(each) for each in together])
    return len(together) > 1


def _call_elsewhere(numbers):
    """Make these calls in other processes, each of which takes the next one when it is done."""
    waiting, to_call = os.pipe()
    done, to_tell = os.pipe()
    os.write(to_call, bytes(numbers))
    os.close(to_call)
    paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    variables = {**os.environ, "PYTHONPATH": paths}
    if folder := getattr(config, "CACHE_DIR", ""):
        variables["NUMBA_CACHE_DIR"] = folder
    processes = []
    try:
        with suppress(OSError):
            for _ in range(min(available_cores(), usual_threads(), len(numbers))):
                processes.append(
                    subprocess.Popen(
                        [sys.executable, "-P", "-c", f"from {__name__} import _serve; _serve()"],
                        stdin=waiting,
                        stdout=to_tell,
                        stderr=subprocess.DEVNULL,
                        env=variables,
                    )
                )
        os.close(to_tell)
        count = 0
        _tell_progress(count, len(numbers))
        while os.read(done, 1):
            count += 1
            _tell_progress(count, len(numbers))
    finally:
        for process in processes:
            process.kill()
            process.wait()
        os.close(waiting)
        os.close(done)


def _serve():
    """Make the calls whose numbers come from standard input."""
    calls = import_module(_CALLS)

    _prepared.update(call.__name__ for call in calls.ALL)
    with without_collection():
        while number := os.read(0, 1):
            calls.ALL[number[0]]()
            os.write(1, number)


def _tell_progress(done, of):
    """Say how many kernels are ready: in one line of a terminal, else only at the start."""
    if sys.stderr is not None and sys.stderr.isatty():
        _tell(f"\rpreparing kernels, once: {done} of {of}", end="\n" if done == of else "")
    elif done == 0:
        _tell(f"preparing {of} kernels, once")


def _tell(text, end="\n"):
    with suppress(OSError, ValueError):  # nobody has to listen
        print(text, end=end, file=sys.stderr, flush=True)

"""Kernels are compiled at their first use, by several processes, into numba's cache on disk.

A kernel that is not in the cache brings along those that are used with it (see `calls`): this
process and its copies take one after the other, and it reads from the cache what they made.
"""

import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

from numba import njit
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
    compiled = njit(**_OPTIONS)(function)
    try:
        compiled._cache = _Cache(function)
    except RuntimeError:
        compiled._cache = _NoCache()
    return compiled


class _Cache(FunctionCache):
    """The cache of one kernel."""

    def __init__(self, function):
        super().__init__(function)
        self._kernel = function.__name__

    def load_overload(self, sig, target_context):
        overload = super().load_overload(sig, target_context)
        if overload is None and _prepare(self._kernel):
            overload = super().load_overload(sig, target_context)
        return overload

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
        with without_collection():
            _call([every.index(each) for each in together])
    return len(together) > 1


def _call(numbers):
    """Make these calls, each in the process that is the first to be free for it."""
    calls = import_module(_CALLS)
    waiting, to_call = os.pipe()
    done, to_tell = os.pipe()
    os.set_blocking(done, False)
    os.write(to_call, bytes(numbers))
    os.close(to_call)
    count, of = 0, len(numbers)
    helpers = []

    def serve():
        while number := os.read(waiting, 1):
            with suppress(Exception):  # whoever needs that kernel meets the error
                calls.ALL[number[0]]()
            os.write(to_tell, number)
            yield

    try:
        _tell_progress(count, of)
        njit(_nothing)()  # what numba sets up for the first function is then there in all
        for _ in range(min(available_cores(), usual_threads(), of) - 1):
            if (helper := _forked(serve)) is not None:
                helpers.append(helper)
        for _ in serve():
            count += len(_read(done))
            if 0 < count < of:
                _tell_progress(count, of)
    finally:
        for helper in helpers:
            # It is at its last kernel, unless this process was interrupted.
            if sys.exc_info()[0] is not None:
                os.kill(helper, signal.SIGKILL)
            os.waitpid(helper, 0)
        _tell_progress(of, of)
        for end in (waiting, to_tell, done):
            os.close(end)


def _nothing():
    """Do nothing."""


def _read(pipe):
    with suppress(BlockingIOError):
        return os.read(pipe, 256)
    return b""


def _forked(serve):
    """Return the process that serves beside this one, or None where that is not safe."""
    # A lock that another thread holds would never be free in a copy of this process; daemons, such
    # as what waits for Ctrl-C, hold none that kernels need.
    here = threading.current_thread()
    others = [thread for thread in threading.enumerate() if thread is not here]
    is_alone = here is threading.main_thread() and all(thread.daemon for thread in others)
    if not is_alone or not hasattr(os, "fork"):
        return None
    with suppress(OSError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of any other thread
        if helper := os.fork():
            return helper
        try:
            sys.stderr = None
            for _ in serve():
                pass
        finally:
            os._exit(0)
    return None


def _tell_progress(done, of):
    """Say how many kernels are ready: in one line of a terminal, else only at the start."""
    if sys.stderr is not None and sys.stderr.isatty():
        _tell(f"\rpreparing kernels, once: {done} of {of}", end="\n" if done == of else "")
    elif done == 0:
        _tell(f"preparing {of} kernels, once")


def _tell(text, end="\n"):
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):  # nobody has to listen
        print(text, end=end, file=sys.stderr, flush=True)

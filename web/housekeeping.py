"""Memory goes back when visitors have gone: their sessions, what was computed for them, and what
the allocator keeps.

Streamlit looks for sessions that ended long ago only when the next one ends; Python collects what
refers to itself when it has made enough that is new; and the C library hands free memory back
where it happens to lie at an end. So a process that nobody uses would stay as large as ever.
"""

import gc
import threading
from functools import cache

import streamlit as st
from streamlit.runtime import Runtime

from morphgraph.core.system import give_back_memory

EVERY = 20.0
"""Seconds from one look to the next."""


@cache
def keep_house() -> None:
    """Look after memory from now on, in a thread that ends with the process."""
    if Runtime.exists() and type(Runtime.instance()) is Runtime:  # else a page runs by itself
        threading.Thread(target=_look_after, name="housekeeping", daemon=True).start()


def _look_after() -> None:
    before, is_left_over, pause = 0, False, threading.Event()
    while not pause.wait(EVERY) and Runtime.exists():
        left = sessions_left(Runtime.instance())
        if left < before or is_left_over:  # twice: the last may still be on its way out
            tidy_memory(everyone_has_gone=not left)
        before, is_left_over = left, left < before


def sessions_left(runtime: Runtime) -> int:
    """How many sessions there are, when those have been dropped that ended long ago."""
    sessions = runtime._session_mgr
    store = sessions._session_storage  # type: ignore[attr-defined]
    dropped = threading.Event()

    def drop() -> None:  # where all else is done to them
        store._cache.expire()
        dropped.set()

    runtime._get_async_objs().eventloop.call_soon_threadsafe(drop)
    dropped.wait(EVERY)
    return len(sessions.list_sessions())


def tidy_memory(*, everyone_has_gone: bool) -> None:
    """Give back what nobody uses: at the end, also what is kept for those who come next."""
    if everyone_has_gone:
        st.cache_resource.clear()
    gc.collect()
    give_back_memory()

"""Memory goes back when visitors have gone: their sessions, what was computed for them, and what
the allocator keeps.

Streamlit looks for sessions that ended long ago only when the next one ends; Python collects what
refers to itself when it has made enough that is new; and the C library hands free memory back
where it happens to lie at an end. So a process that nobody uses would stay as large as ever.
"""

import gc
import threading
from concurrent.futures import Future
from functools import cache

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.state import SessionState

from morphgraph.core.limits import APP_MEMORY
from morphgraph.core.system import free_memory_at_once, give_back_memory, memory_used
from web.session import drop_oldest

EVERY = 5.0
"""Seconds from one look to the next."""

_SPARED = 10.0
_SHARE = 0.25


@cache
def keep_house() -> None:
    """Look after memory from now on, in a thread that ends with the process."""
    if Runtime.exists() and type(Runtime.instance()) is Runtime:  # else a page runs by itself
        free_memory_at_once()
        threading.Thread(target=_look_after, name="housekeeping", daemon=True).start()


def _look_after() -> None:
    known: list[AppSession] = []
    is_left_over, pause = False, threading.Event()
    while not pause.wait(EVERY) and Runtime.exists():
        before, known = known, left_of(known, Runtime.instance())
        somebody_left = not set(before) <= set(known)
        if somebody_left or is_left_over:  # twice: the last may still be on its way out
            tidy_memory(everyone_has_gone=not known)
        is_left_over = somebody_left
        make_room()


def left_of(known: list[AppSession], runtime: Runtime) -> list[AppSession]:
    """The sessions that there are now; those that were known and have ended are forgotten."""
    sessions = runtime._session_mgr
    store = sessions._session_storage  # type: ignore[attr-defined]
    looked: Future[list[AppSession]] = Future()

    def look() -> None:  # where all else is done to them
        found = known
        try:
            store._cache.expire()
            found = [info.session for info in sessions.list_sessions()]
            for session in known:
                if session not in found:
                    end_session(session)
        finally:  # what goes wrong is logged there, and must not end all further looks
            looked.set_result(found)

    runtime._get_async_objs().eventloop.call_soon_threadsafe(look)
    return looked.result()


def end_session(session: AppSession) -> None:
    """Drop all that a session made that has ended.

    Streamlit's main loop refers to the session that it served last, whatever became of it.
    """
    session.shutdown()
    session._session_state = SessionState()
    session._fragment_storage = MemoryFragmentStorage()


def make_room() -> None:
    """Drop what was computed long ago if the app takes more memory than its limit.

    Once for each look: to give memory back stops whoever wants some.
    """
    if memory_used() > APP_MEMORY.value and drop_oldest(_SHARE, _SPARED):
        give_back_memory()


def tidy_memory(*, everyone_has_gone: bool) -> None:
    """Give back what nobody uses: at the end, also what is kept for those who come next."""
    if everyone_has_gone:
        st.cache_resource.clear()
    gc.collect()
    give_back_memory()

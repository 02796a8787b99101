"""Memory goes back when visitors have gone: their sessions, what was computed for them, and what
the allocator keeps.

Streamlit looks for sessions that ended long ago only when the next one ends; Python collects what
refers to itself when it has made enough that is new; and the C library hands free memory back
where it happens to lie at an end. So a process that nobody uses would stay as large as ever.
"""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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

_LOG = logging.getLogger(__name__)
_SPARED = 10.0
_SHARE = 0.25


@asynccontextmanager
async def keeping_house(app: st.App) -> AsyncIterator[None]:
    """Look after memory as long as the app is served."""
    free_memory_at_once()
    looking = asyncio.create_task(_look_after(Runtime.instance()))
    yield
    looking.cancel()


async def _look_after(runtime: Runtime) -> None:
    known: list[AppSession] = []
    is_left_over = False
    while True:
        await asyncio.sleep(EVERY)
        before, known = known, left_of(known, runtime)
        somebody_left = not set(before) <= set(known)
        if somebody_left or is_left_over:  # twice: the last may still be on its way out
            await asyncio.to_thread(tidy_memory, everyone_has_gone=not known)
        is_left_over = somebody_left
        await asyncio.to_thread(make_room)


def left_of(known: list[AppSession], runtime: Runtime) -> list[AppSession]:
    """The sessions that there are now; those that were known and have ended are forgotten.

    To be called in the loop of the server, where all else is done to them. What goes wrong with one
    is logged, and must not end all further looks.
    """
    sessions = runtime._session_mgr
    sessions._session_storage._cache.expire()  # type: ignore[attr-defined]
    found = [info.session for info in sessions.list_sessions()]
    for session in known:
        if session not in found:
            try:
                end_session(session)
            except Exception:
                _LOG.exception("a session could not be ended")
    return found


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

"""Memory goes back when visitors have gone: what was computed, and what the allocator keeps.

Streamlit drops a session some time after its last tab was closed, when the next one is. Python
collects what refers to itself when it has made enough that is new; and the C library hands free
memory back where it happens to lie at an end.
"""

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.types import ASGIApp, Receive, Scope, Send

from morphgraph.core.limits import APP_MEMORY
from morphgraph.core.system import free_memory_at_once, give_back_memory, memory_used
from web.state import drop_oldest

EVERY = 5.0
"""Seconds from one look to the next."""

_SPARED = 10.0
_SHARE = 0.25


class Tabs:
    """How many tabs are connected, and when the first was closed since memory was tidied."""

    def __init__(self) -> None:
        self.open = 0
        self.closed: float | None = None


class CountTabs:
    """Counts the WebSockets of browsers, of which each tab has one."""

    def __init__(self, app: ASGIApp, tabs: Tabs) -> None:
        self.app, self.tabs = app, tabs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a connection on."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        self.tabs.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.tabs.open -= 1
            self.tabs.closed = self.tabs.closed or time.monotonic()


@asynccontextmanager
async def keeping_house(tabs: Tabs) -> AsyncIterator[None]:
    """Look after memory as long as the app is served."""
    free_memory_at_once()
    looking = asyncio.create_task(_look_after(tabs))
    yield
    looking.cancel()


async def _look_after(tabs: Tabs) -> None:
    # Who comes back within this time finds all as it was.
    patience = float(st.get_option("server.disconnectedSessionTTL")) + EVERY
    while True:
        await asyncio.sleep(EVERY)
        if tabs.closed is not None and time.monotonic() - tabs.closed > patience:
            tabs.closed = None
            await asyncio.to_thread(tidy_memory, everyone_has_gone=not tabs.open)
        await asyncio.to_thread(make_room)


def make_room() -> None:
    """Drop what was computed long ago if the app takes more memory than its limit.

    Once for each look: to give memory back stops whoever wants some.
    """
    if memory_used() > APP_MEMORY.value and drop_oldest(_SHARE, _SPARED):
        give_back_memory()


def tidy_memory(*, everyone_has_gone: bool) -> None:
    """Give back what nobody uses; if everyone has gone, also what was computed for them."""
    if everyone_has_gone:
        st.cache_resource.clear()
        drop_oldest(1.0, 0.0)
    gc.collect()
    give_back_memory()

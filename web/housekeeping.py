"""Release memory when visitors have left: derived results, and what the allocator retains.

Streamlit drops a session some time after its last tab closed, but only when another one closes.
Python collects reference cycles only after enough new allocations, and the C library returns free
memory to the system only where it lies at the end of a heap.
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

CHECK_INTERVAL = 5.0
"""Seconds between two checks."""

_SPARED = 10.0
_SHARE = 0.25


class Tabs:
    """The number of connected tabs, and when the first one closed since memory was last tidied."""

    def __init__(self) -> None:
        self.open = 0
        self.closed: float | None = None


class CountTabs:
    """Counts the browsers' WebSockets, one for each tab."""

    def __init__(self, app: ASGIApp, tabs: Tabs) -> None:
        self.app, self.tabs = app, tabs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a connection."""
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
async def manage_memory(tabs: Tabs) -> AsyncIterator[None]:
    """Manage memory as long as the app is served."""
    free_memory_at_once()
    looking = asyncio.create_task(_look_after(tabs))
    yield
    looking.cancel()


async def _look_after(tabs: Tabs) -> None:
    # A visitor who returns within this time finds everything unchanged.
    patience = float(st.get_option("server.disconnectedSessionTTL")) + CHECK_INTERVAL
    while True:
        await asyncio.sleep(CHECK_INTERVAL)
        if tabs.closed is not None and time.monotonic() - tabs.closed > patience:
            tabs.closed = None
            await asyncio.to_thread(tidy_memory, everyone_has_gone=not tabs.open)
        await asyncio.to_thread(make_room)


def make_room() -> None:
    """Drop old derived results if the app exceeds its memory limit.

    Only once in each check: returning memory to the system blocks other threads.
    """
    if memory_used() > APP_MEMORY.value and drop_oldest(_SHARE, _SPARED):
        give_back_memory()


def tidy_memory(*, everyone_has_gone: bool) -> None:
    """Release unused memory; if all visitors have left, also their derived results."""
    if everyone_has_gone:
        st.cache_resource.clear()
        drop_oldest(1.0, 0.0)
    gc.collect()
    give_back_memory()

"""Memory goes back when visitors have gone."""

import asyncio
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from web import guard
from web.guard import CountTabs, Tabs, make_room, tidy_memory


def test_memory_is_tidied_once_when_nobody_can_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    tidied: list[bool] = []
    monkeypatch.setattr(guard, "CHECK_INTERVAL", 0.01)
    monkeypatch.setattr(st, "get_option", {"server.disconnectedSessionTTL": 0.2}.__getitem__)
    monkeypatch.setattr(guard, "free_memory_at_once", lambda: None)
    monkeypatch.setattr(guard, "make_room", lambda: None)
    monkeypatch.setattr(
        guard, "tidy_memory", lambda *, everyone_has_gone: tidied.append(everyone_has_gone)
    )
    tabs, leaving = Tabs(), asyncio.Event()

    async def tab(*_: object) -> None:
        await leaving.wait()

    async def serve() -> None:
        count = CountTabs(tab, tabs)
        async with guard.manage_memory(tabs):
            socket: Any = ({"type": "websocket"}, None, None)
            opened = asyncio.create_task(count(*socket))
            await asyncio.sleep(0.1)
            assert (tabs.open, tidied) == (1, [])
            leaving.set()
            await opened
            assert tabs.open == 0
            await asyncio.sleep(0.1)
            assert not tidied, "who comes back in time finds all as it was"
            await asyncio.sleep(0.6)

    with ThreadPoolExecutor(1) as thread:  # this one may have a loop that a browser test left
        thread.submit(asyncio.run, serve()).result()
    assert tidied == [True]


def test_what_was_computed_goes_until_there_is_memory_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, entries = [1300, 1200, 900], [0, 4, 3]
    monkeypatch.setenv("MORPHGRAPH_APP_MEMORY", "1000")
    monkeypatch.setattr(guard, "memory_used", lambda: memory[0])
    monkeypatch.setattr(guard, "give_back_memory", lambda: memory.pop(0))
    cache = SimpleNamespace(drop=lambda **_: entries.pop() if entries else 0)
    monkeypatch.setattr(guard, "app_cache", lambda: cache)
    for left in ([1200, 900], [900], [900]):
        make_room()
        assert memory == left
    assert entries == [0], "there was memory enough"
    memory[0] = 1300
    make_room()  # there is nothing that could be dropped
    assert (memory, entries) == ([1300], [])


class Large:
    """Something that is shared, and refers to itself."""

    def __init__(self) -> None:
        self.itself = self


@st.cache_resource
def _kept() -> Large:
    return Large()


@pytest.mark.slow
def test_what_is_shared_stays_until_all_have_gone() -> None:
    cached, dropped = weakref.ref(_kept()), weakref.ref(Large())
    tidy_memory(everyone_has_gone=False)
    assert cached() is not None and dropped() is None
    tidy_memory(everyone_has_gone=True)
    assert cached() is None

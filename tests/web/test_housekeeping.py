"""Memory goes back when visitors have gone."""

import asyncio
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest
import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.state import SessionState

from web import housekeeping
from web.housekeeping import left_of, make_room, tidy_memory


class Visited:
    """Of a session of Streamlit's, what counts here."""

    def __init__(self, number: int) -> None:
        self.id = str(number)
        self._session_state = SessionState()
        self._session_state["what it has open"] = [number]
        self.is_shut_down = False

    def shutdown(self) -> None:
        self.is_shut_down = True

    @property
    def has_something_open(self) -> bool:
        return "what it has open" in self._session_state


Served = tuple[Runtime, list[Any], dict[str, float]]


@pytest.fixture
def served() -> Served:
    """A runtime with a real store, the active sessions, and the store's clock."""
    active: list[Any] = []
    clock = {"now": 0.0}
    store = MemorySessionStorage(ttl_seconds=120)
    store._cache = type(store._cache)(9, 120, lambda: clock["now"])  # type: ignore[call-arg]
    sessions = SimpleNamespace(
        _session_storage=store, list_sessions=lambda: [*active, *store.list()]
    )
    return cast(Runtime, SimpleNamespace(_session_mgr=sessions)), active, clock


def test_what_ended_long_ago_is_dropped(served: Served) -> None:
    runtime, active, clock = served
    here, gone = Visited(1), Visited(2)
    active.append(SimpleNamespace(session=here))
    store = runtime._session_mgr._session_storage  # type: ignore[attr-defined]
    store.save(SessionInfo(client=None, session=cast(Any, gone), script_run_count=1))
    known = left_of([], runtime)
    assert known == [here, gone]
    clock["now"] = 119  # who comes back in time finds all as it was
    assert left_of(known, runtime) == known and gone.has_something_open
    clock["now"] = 121
    assert left_of(known, runtime) == [here]
    assert gone.is_shut_down and not gone.has_something_open
    assert not here.is_shut_down and here.has_something_open


def test_a_session_that_cannot_end_does_not_end_the_looks(served: Served) -> None:
    runtime, active, _ = served
    here, gone = Visited(1), Visited(2)
    active.append(SimpleNamespace(session=here))
    gone.shutdown = lambda: 1 / 0  # type: ignore[method-assign]
    assert left_of(cast(Any, [here, gone]), runtime) == [here]


def test_it_looks_as_long_as_the_app_is_served(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, active, _ = served
    tidied: list[bool] = []
    monkeypatch.setattr(housekeeping, "EVERY", 0.01)
    monkeypatch.setattr(housekeeping, "free_memory_at_once", lambda: None)
    monkeypatch.setattr(housekeeping, "make_room", lambda: None)
    monkeypatch.setattr(
        housekeeping, "tidy_memory", lambda *, everyone_has_gone: tidied.append(everyone_has_gone)
    )
    monkeypatch.setattr(Runtime, "instance", lambda: runtime)
    active.append(SimpleNamespace(session=Visited(1)))

    async def serve() -> int:
        async with housekeeping.keeping_house(cast(Any, None)):
            await asyncio.sleep(0.2)
            assert not tidied
            active.clear()
            await asyncio.sleep(0.5)
        seen = len(tidied)
        await asyncio.sleep(0.1)
        return len(tidied) - seen

    with ThreadPoolExecutor(1) as thread:  # this one may have a loop that a browser test left
        assert thread.submit(asyncio.run, serve()).result() == 0
    assert tidied == [True, True], "twice, as the last may still be on its way out"


def test_what_was_computed_goes_until_there_is_memory_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, entries = [1300, 1200, 900], [0, 4, 3]
    monkeypatch.setenv("MORPHGRAPH_APP_MEMORY", "1000")
    monkeypatch.setattr(housekeeping, "memory_used", lambda: memory[0])
    monkeypatch.setattr(housekeeping, "give_back_memory", lambda: memory.pop(0))
    monkeypatch.setattr(housekeeping, "drop_oldest", lambda *_: entries.pop() if entries else 0)
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


def test_what_is_shared_stays_until_all_have_gone() -> None:
    cached, dropped = weakref.ref(_kept()), weakref.ref(Large())
    tidy_memory(everyone_has_gone=False)
    assert cached() is not None and dropped() is None
    tidy_memory(everyone_has_gone=True)
    assert cached() is None

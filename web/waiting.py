"""Long work in a thread: the page shows its progress and remaining time, and can stop it."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from morphgraph.core.errors import MorphGraphError
from web.text import plain
from web.widgets import button, forget_oldest

T = TypeVar("T")
Tell = Callable[..., None]
"""Called with how much is done, 0 to 1, and what is done where that changes; ends what is stopped.
"""
_CHECK_INTERVAL = 0.25
"""Seconds between two checks of a thread, and before its progress is shown."""
_TURN = 1.0
"""Seconds until the page is redrawn, as a fragment handles no click before it ends."""
_MOST = 4
"""The limit of a session's unfinished works, to which a page may return."""
_WORKER = "worker"


@dataclass(eq=False)
class _Work(Generic[T]):
    make: Callable[[Tell], T]
    share: float | None = None
    said: str = ""
    began: float = field(default_factory=time.monotonic)
    stopped: threading.Event = field(default_factory=threading.Event)

    def tell(self, share: float, said: str = "") -> None:
        if self.stopped.is_set():
            raise MorphGraphError("It was stopped.")
        self.share, self.said = share, said

    def __call__(self) -> T:
        return self.make(self.tell)


class _Worker:
    """The thread of a session, and its work by key, one item at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "long work")
        self._known: dict[Hashable, tuple[_Work[Any], Future[Any]]] = {}

    def work_on(self, key: Hashable, make: Callable[[Tell], T]) -> tuple[_Work[T], Future[T]]:
        """Return the work for a key, starting it if need be; queued work is dropped."""
        if key not in self._known:
            for other in [k for k, (_, future) in self._known.items() if future.cancel()]:
                del self._known[other]
            work = _Work(make)
            # In the context of the page, which identifies the visitor.
            self._known[key] = work, self._pool.submit(copy_context().run, work)
            forget_oldest(self._known, _MOST)
        return self._known[key]

    def forget(self, key: Hashable) -> None:
        self._known.pop(key, None)


class Waiting:
    """A progress line for the long work of a page, in ``place``, with a Stop button.

    ``on_stop`` then runs before the page, with what the work was ``about``. A thread cannot be
    killed: it finishes its step, or ends at its next report of progress. If the page is redrawn for
    another reason, the work continues and is not restarted.
    """

    def __init__(self, place: DeltaGenerator, on_stop: Callable[[Any], object]) -> None:
        self._place, self._on_stop = place, on_stop
        self._bar: DeltaGenerator | None = None
        self._now: tuple[Hashable, _Work[Any], Any] | None = None

    def do(
        self,
        key: Hashable,
        said: str,
        make: Callable[[Tell], T],
        *,
        share: float = 0.0,
        about: Any = None,
    ) -> T:
        """Return what ``make`` returns; ``said`` describes it, ``share`` is done already."""
        worker: _Worker = st.session_state.setdefault(_WORKER, _Worker())
        work, future = worker.work_on(key, make)
        self._now = key, work, about
        turn_ends = time.monotonic() + _TURN
        while not wait([future], _CHECK_INTERVAL).done:
            now = time.monotonic()
            text = work.said or f"{said}, {now - work.began:.0f} s …"
            self._say(plain(text), share if work.share is None else work.share)
            if now > turn_ends:
                self._hear_clicks()
        worker.forget(key)
        return future.result()

    def clear(self) -> None:
        """Remove the line."""
        self._place.empty()

    def _say(self, said: str, share: float) -> None:
        if self._bar is None:
            with self._place.container(horizontal=True, vertical_alignment="bottom", key="waiting"):
                self._bar = st.progress(0.0, said)
                button("Stop", "stop", self._stop, key="stop waiting")
        self._bar.progress(min(share, 1.0), said)

    def _hear_clicks(self) -> None:
        try:
            st.rerun(scope="fragment")
        except StreamlitAPIException:  # the whole page is run
            st.rerun()

    def _stop(self) -> None:
        if self._now is not None:
            key, work, about = self._now
            work.stopped.set()
            st.session_state[_WORKER].forget(key)
            self._on_stop(about)

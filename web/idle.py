"""What the next pages show first, computed in a thread while nobody does anything."""

import atexit
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Timer
from typing import Any
from weakref import WeakSet

from streamlit.runtime.scriptrunner import add_script_run_ctx

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import shipped_configurations
from morphgraph.core.limits import is_public
from morphgraph.refine.study import Study
from web.sources import tokeniser_of
from web.state import Session, app_cache

_PAUSE: float | None = 1.5
"""The seconds without a run of the Workbench after which nobody does anything; None: never."""

_timers: WeakSet[Timer] = WeakSet()


@atexit.register
def _end() -> None:
    """Wait for what is computed to end: Python must not end below a thread that runs C++."""
    for timer in list(_timers):
        timer.cancel()
        if timer.is_alive():
            timer.join(30.0)


def prepare_next_pages(current: Session) -> None:
    """Have what the other pages show first computed, unless the Workbench is used before.

    Only of what is open as it was opened, and only on one's own machine: visitors of a public app
    would wait for each other's guesses.
    """
    if current.idle is not None:
        current.idle.cancel()
    source, is_edited = current.sources.get("tokeniser"), bool(current.study.graph.history)
    is_known = is_edited or current.prepared == current.study_number
    if is_public() or is_known or source is None or _PAUSE is None:
        return
    opened = replace(current)  # another may be opened meanwhile

    def prepare() -> None:
        tokeniser = tokeniser_of(source)  # of its own, as edits go on
        tokeniser.cache = app_cache()
        opened.study = Study(tokeniser, opened.study.benchmark)
        for look in (look_at_repair, look_at_compare, look_at_build):
            if timer.finished.is_set():
                return
            with suppress(MorphGraphError):  # it is said where it is looked at
                look(opened)
        if current.study_number == opened.study_number:
            current.prepared = opened.study_number

    timer = current.idle = Timer(_PAUSE, prepare)
    timer.daemon = True
    _timers.add(timer)
    add_script_run_ctx(timer)  # what has been chosen decides what is shown
    timer.start()


def look_at_repair(current: Session) -> None:
    """Compute what Repair shows first."""
    from web.repair.blame import look_ahead  # with all that it imports

    if current.study.has_blame:
        look_ahead(current)


def look_at_compare(current: Session) -> None:
    """Compute what Compare shows first: the methods that are quick, and their scores."""
    from web import choosing
    from web.compare.figures import compare_methods

    picked, scored = [], current.study.benchmark
    for name in choosing.chosen_methods(current):
        with suppress(MorphGraphError):
            picked.append(choosing.pick(current, name))
    words = choosing.unseen_words(current, picked, scored)
    scoring: Any = (*choosing.scoring_now("scores", scored), [])

    def at_once(key: object, message: str, make: Callable[[Any], Any], *, about: object) -> Any:
        return make(None)

    compare_methods(current, picked, words, at_once, scoring)


def look_at_build(_: Session) -> None:
    """Check the evaluation that Build shows first."""
    from web import batch
    from web.builder import evaluate, train  # noqa: F401  # with all that they import

    source, text = next(iter(shipped_configurations().items()))
    batch.checked_text(source, text)

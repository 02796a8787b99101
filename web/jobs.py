"""Long work: in a thread that a page watches, or in a queue that the visitors of a server share.

Runs of evaluations wait on disk, so that their queue outlives the app: a run waits as long as its
folder has a file ``waiting``. Every status query advances the queue, and so does a thread, without
any visitor. Training waits in memory, and runs in a process of its own, within limits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.batch import run as runs
from morphgraph.core import limits
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import Segmenter
from morphgraph.segment.training import train
from morphgraph.tokeniser.words import called
from web.storage import browser_folders, make_private, tidy
from web.widgets import button, forget_oldest, plain, run_again

T = TypeVar("T")
Tell = Callable[..., None]
"""Called about twice a second with how much is done, 0 to 1, and what is done where that changes.

What it raises, as where somebody clicks Stop, ends the work.
"""
UPLOADS = "uploads"


@dataclass(eq=False)
class _Work(Generic[T]):
    make: Callable[[Tell], T]
    share: float = 0.0
    said: str = ""
    began: float = field(default_factory=time.monotonic)
    stopped: threading.Event = field(default_factory=threading.Event)

    def tell(self, share: float, message: str = "") -> None:
        if self.stopped.is_set():
            raise MorphGraphError("It was stopped.")
        self.share, self.said = share, message

    def __call__(self) -> T:
        return self.make(self.tell)


class _Worker:
    """The thread of a session, and its work by key, one item at a time."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1, "long work")
        self.known: dict[Hashable, tuple[_Work[Any], Future[Any]]] = {}

    def work_on(self, key: Hashable, make: Callable[[Tell], T]) -> tuple[_Work[T], Future[T]]:
        """Return the work for a key, starting it if need be; queued work is dropped."""
        if key not in self.known:
            for other in [k for k, (_, future) in self.known.items() if future.cancel()]:
                del self.known[other]
            work = _Work(make)
            # In the context of the page, which identifies the visitor.
            self.known[key] = work, self.pool.submit(copy_context().run, work)
            forget_oldest(self.known, 8)  # to unfinished ones a page may return
        return self.known[key]


def _worker_beside() -> _Worker:
    worker: _Worker = st.session_state.setdefault("worker beside", _Worker())
    return worker


def _error_of(future: Future[Any]) -> BaseException | None:
    return future.exception() if future.done() and not future.cancelled() else None


def retry_beside() -> None:
    """Forget work that failed, so that it is done again if it is asked for again."""
    known = _worker_beside().known
    for key in [key for key, (_, future) in known.items() if _error_of(future)]:
        del known[key]


def watch_beside(
    key: Hashable,
    message: str,
    prepare: Callable[[], Callable[[Tell], object]],
    on_stop: Callable[[], object],
) -> MorphGraphError | None:
    """Show work beside the session's pages with a Stop button; redraw the page once it is done.

    ``prepare`` returns the work, which keeps its result, and is called once. Returns the error that
    ended it, if one did.
    """
    worker = _worker_beside()
    if key not in worker.known:
        worker.work_on(key, prepare())
    work, future = worker.known[key]
    if error := _error_of(future):
        if isinstance(error, MorphGraphError):
            return error
        raise error

    def stop() -> None:
        work.stopped.set()
        worker.known.pop(key, None)
        on_stop()

    def look() -> None:
        if future.done() or work.stopped.is_set():
            if not _error_of(future):
                worker.known.pop(key, None)
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="bottom", key="waiting beside"):
            text = work.said or f"{message}, {time.monotonic() - work.began:.0f} s …"
            st.progress(min(work.share, 1.0), plain(text))
            button("Stop", "stop", stop, key="stop waiting beside")

    options: dict[str, Any] = {"run_every": 0.5}
    st.fragment(look, **options)()
    return None


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

    def do(self, key: Hashable, message: str, make: Callable[[Tell], T], *, about: Any = None) -> T:
        """Return what ``make`` returns; ``message`` describes it."""
        worker: _Worker = st.session_state.setdefault("worker", _Worker())
        work, future = worker.work_on(key, make)
        self._now = key, work, about
        # A fragment handles no click before it ends: it is redrawn after each second.
        turn_ends = time.monotonic() + 1.0
        while not wait([future], 0.25).done:
            now = time.monotonic()
            text = work.said or f"{message}, {now - work.began:.0f} s …"
            self._say(plain(text), work.share)
            if now > turn_ends:
                run_again()
        worker.known.pop(key, None)
        return future.result()

    def clear(self) -> None:
        """Remove the line."""
        self._place.empty()

    def _say(self, message: str, share: float) -> None:
        if self._bar is None:
            with self._place.container(horizontal=True, vertical_alignment="bottom", key="waiting"):
                self._bar = st.progress(0.0, message)
                button("Stop", "stop", self._stop, key="stop waiting")
        self._bar.progress(min(share, 1.0), message)

    def _stop(self) -> None:
        if self._now is not None:
            key, work, about = self._now
            work.stopped.set()
            st.session_state["worker"].known.pop(key, None)
            self._on_stop(about)


@contextmanager
def until_done(asked: str) -> Iterator[None]:
    """Forget what was asked for as the block ends, but not as the page is redrawn meanwhile."""
    try:
        yield
    except MorphGraphError:
        del st.session_state[asked]
        raise
    del st.session_state[asked]


_lock = threading.Lock()
_threads: list[threading.Thread] = []


def join_queue(text: str, root: Path, name: str) -> runs.Run:
    """Queue a run of a public app; it starts at once if nobody is ahead of it.

    Its paths are relative to the folder ``uploads`` beside ``root``, and cannot leave it. Raises
    the errors of `start_run`, and one if the visitor has too many runs waiting or running.
    """
    active = sorted(o.name for o in root.glob("*") if is_waiting(o) or runs.is_launched(o))
    if name in active:
        raise MorphGraphError(f"The run “{name}” is waiting or running. Wait for it, or stop it.")
    if len(active) >= limits.PUBLIC_RUNS_EACH.value:
        raise MorphGraphError(
            f"{' and '.join(active)} are waiting or running, and this server takes at most "
            f"{limits.PUBLIC_RUNS_EACH.value:,} runs of a visitor at a time. Wait for them, or "
            "stop one."
        )
    make_private(root.parent / UPLOADS)
    out = runs.prepare_run(text, root, name)
    write_file(out / "waiting", b"")
    advance_queue()
    return runs.Run(name, out, runs.read_progress(out))


def leave_queue(out: Path) -> None:
    """Remove a run from the queue; like a stopped one, it can be resumed."""
    with _lock:
        (out / "waiting").unlink(missing_ok=True)
        if not runs.is_launched(out):
            stopped = runs.RunProgress("stopped", started=time.time(), updated=time.time())
            write_file(out / "progress.json", json.dumps(asdict(stopped)).encode())


def stop_all(root: Path) -> None:
    """Stop the runs in a folder; `MorphGraphError` until the last one has ended."""
    active = False
    for out in root.glob("*"):
        if is_waiting(out):
            leave_queue(out)
        if runs.is_launched(out):
            runs.stop_run(out)
            active = True
    if active:
        raise MorphGraphError("Your run is being stopped first. Try again in a few seconds.")


def is_waiting(out: Path) -> bool:
    """Return whether a run is in the queue."""
    return (out / "waiting").exists()


def place_in_queue(out: Path) -> int:
    """Return a run's place in the queue, 1 for the next one; 0 if it is not waiting."""
    waiting = _waiting()
    return waiting.index(out) + 1 if out in waiting else 0


def advance_queue() -> None:
    """Start the runs whose turn has come, first come, first served, a few at once."""
    with _lock:
        waiting = _waiting()
        if not waiting:
            return
        running = {out for out in _all_runs() if runs.is_launched(out)}
        for out in waiting:
            if out not in running and len(running) < limits.PUBLIC_RUNS.value:
                files = out.parent.parent / UPLOADS
                options = ["--confined", "--folder", str(files)]
                with suppress(OSError):  # no room for its log or process: retry later
                    runs.launch_run(out, [*options, "--workers", str(limits.PUBLIC_WORKERS.value)])
                    running.add(out)
            # The mark is removed last: after a crash, a run is launched again rather than lost.
            if out in running:
                (out / "waiting").unlink(missing_ok=True)


def keep_queue_moving() -> None:
    """Advance the queue and delete old data for as long as this process serves the public."""

    def move() -> None:
        tidied = 0.0
        while limits.is_public():
            advance_queue()
            if time.monotonic() - tidied > 600.0:
                tidy()
                tidied = time.monotonic()
            time.sleep(2.0)

    with _lock:
        if not any(thread.is_alive() for thread in _threads):
            _threads[:] = [threading.Thread(target=move, daemon=True, name="morphgraph-queue")]
            _threads[0].start()


def _all_runs() -> list[Path]:
    return [out for folder in browser_folders() for out in folder.glob("runs/*")]


def _waiting() -> list[Path]:
    runs_waiting = []
    for out in _all_runs():
        with suppress(OSError):  # it has just left the queue
            runs_waiting.append(((out / "waiting").stat().st_mtime_ns, out))
    return [out for _, out in sorted(runs_waiting)]


_SMALLER = "Train a smaller vocabulary or on fewer words, or run morphgraph on your own machine."
_EVERY = 0.5
_turns: list[str] = []
"""The visitors who train, then those who wait, by the identity of their browser."""


def train_in_turn(
    visitor: str,
    method: str,
    counts: WordCounts,
    size: int,
    tell: Tell,
    *,
    pipeline: str,
    parameters: Mapping[str, Any],
    minimum_count: int | None = None,
) -> Segmenter:
    """Return what ``morphgraph train`` makes of word counts, in public when one's turn comes.

    ``visitor``: the identity of a browser. Raises `MorphGraphError` for errors of the command,
    for too much time or memory, and for a second training of the same visitor.
    """
    if not limits.is_public():
        chosen: dict[str, Any] = {"pipeline": pipeline, "parameters": parameters}
        return train(method, counts, size, progress=tell, minimum_count=minimum_count, **chosen)

    def options(folder: Path) -> list[str]:
        path = folder / "words.tsv"
        lines = (f"{word}\t{count}\n" for word, count in counts.items())
        path.write_bytes("".join(lines).encode("utf-8", "surrogatepass"))
        given = [called(method, parameters), str(path), "--pipeline", pipeline]
        least = [] if minimum_count is None else ["--min-count", str(minimum_count)]
        return ["train", "--confined", *given, "--vocab-size", str(size), *least]

    model = _in_turn(visitor, options, tell, "Training")
    return load_segmenter({f"{method}-{pipeline}-{size}": model})


def silver_in_turn(visitor: str, language: str, words: int, tell: Tell) -> bytes:
    """Return what ``morphgraph reference silver`` makes of a language's commonest words.

    Raises `MorphGraphError` as `train_in_turn` does.
    """
    options = ["reference", "silver", f"wordfreq:{language}", "--words", str(words)]
    return _in_turn(visitor, lambda _: options, tell, "Five runs of Morfessor")


def _in_turn(visitor: str, options: Callable[[Path], list[str]], tell: Tell, message: str) -> bytes:
    """Return the file that a command of morphgraph makes; ``options`` may put others beside it."""
    with (
        _turn_of(visitor, tell),
        tempfile.TemporaryDirectory(prefix="morphgraph-visitor-") as folder,
    ):
        out = Path(folder, "made")
        command = [sys.executable, "-m", "morphgraph", *options(Path(folder)), "--out", str(out)]
        _ran(command, Path(folder, "errors"), tell, message)
        return out.read_bytes()


@contextmanager
def _turn_of(visitor: str, tell: Tell) -> Iterator[None]:
    with _lock:
        if visitor in _turns:
            raise MorphGraphError(
                "This browser is training already, perhaps in another tab. Wait for it, or stop it."
            )
        _turns.append(visitor)
    try:
        while (place := _turns.index(visitor) - limits.PUBLIC_RUNS.value + 1) > 0:
            tell(0.0, f"Number {place:,} in the queue for training …")
            time.sleep(_EVERY)
        yield
    finally:
        with _lock:
            _turns.remove(visitor)


def _ran(command: Sequence[str], errors: Path, tell: Tell, message: str) -> None:
    """Run a command of morphgraph for at most a visitor's time; its error is raised."""
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    started, most = time.monotonic(), limits.PUBLIC_SECONDS.value
    with (
        errors.open("wb") as written,
        subprocess.Popen(command, stderr=written, **quiet) as process,
    ):
        try:
            while process.poll() is None:
                seconds = time.monotonic() - started
                if seconds > most:
                    over = f"{message} was ended after {most:,} seconds, the limit on this server."
                    raise MorphGraphError(f"{over} {_SMALLER}")
                tell(seconds / most, f"{message}, {seconds:.0f} of at most {most:,} seconds …")
                time.sleep(_EVERY)
        finally:
            process.kill()
    lines = errors.read_text("utf-8", "replace").splitlines()
    told = next((line for line in lines if line.startswith("morphgraph: ")), "")
    if process.returncode == 2 and told:
        raise MorphGraphError(told.removeprefix("morphgraph: "))
    if process.returncode:
        over = f"{message} was ended: it needs more memory or time than a visitor has."
        raise MorphGraphError(f"{over} {_SMALLER}")

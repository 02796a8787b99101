"""A queue for the runs of a public app: first come, first served, a few at once.

The queue is on disk, so that it outlives the app: a run waits as long as its folder has a file
``waiting``. Every status query advances the queue, and so does a thread, without any visitor.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from morphgraph.batch.run import (
    Run,
    RunProgress,
    is_launched,
    launch_run,
    prepare_run,
    read_progress,
    stop_run,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.core.limits import PUBLIC_RUNS, PUBLIC_RUNS_EACH, PUBLIC_WORKERS
from web.hosting import is_public
from web.storage import browser_folders, make_private, tidy

UPLOADS = "uploads"
_EVERY, _TIDY_EVERY = 2.0, 600.0
_lock = threading.Lock()
_threads: list[threading.Thread] = []


def join_queue(text: str, root: Path, name: str) -> Run:
    """Queue a run; it starts at once if nobody is ahead of it.

    Its paths are relative to the folder ``uploads`` beside ``root``, and cannot leave it. Raises
    the errors of `start_run`, and one if the visitor has too many runs waiting or running.
    """
    active = sorted(out.name for out in root.glob("*") if is_waiting(out) or is_launched(out))
    if name in active:
        raise MorphGraphError(f"The run “{name}” is waiting or running. Wait for it, or stop it.")
    if len(active) >= PUBLIC_RUNS_EACH.value:
        raise MorphGraphError(
            f"{' and '.join(active)} are waiting or running, and this server takes at most "
            f"{PUBLIC_RUNS_EACH.value:,} runs of a visitor at a time. Wait for them, or stop one."
        )
    make_private(root.parent / UPLOADS)
    out = prepare_run(text, root, name)
    write_file(_marker(out), b"")
    advance_queue()
    return Run(name, out, read_progress(out))


def leave_queue(out: Path) -> None:
    """Remove a run from the queue; like a stopped one, it can be resumed."""
    with _lock:
        _marker(out).unlink(missing_ok=True)
        if not is_launched(out):
            stopped = RunProgress("stopped", started=time.time(), updated=time.time())
            write_file(out / "progress.json", json.dumps(asdict(stopped)).encode())


def stop_all(root: Path) -> None:
    """Stop the runs in a folder; `MorphGraphError` until the last one has ended."""
    active = False
    for out in root.glob("*"):
        if is_waiting(out):
            leave_queue(out)
        if is_launched(out):
            stop_run(out)
            active = True
    if active:
        raise MorphGraphError("Your run is being stopped first. Try again in a few seconds.")


def is_waiting(out: Path) -> bool:
    """Return whether a run is in the queue."""
    return _marker(out).exists()


def place_in_queue(out: Path) -> int:
    """Return a run's place in the queue, 1 for the next one; 0 if it is not waiting."""
    waiting = _waiting()
    return waiting.index(out) + 1 if out in waiting else 0


def advance_queue() -> None:
    """Start the runs whose turn has come."""
    with _lock:
        waiting = _waiting()
        if not waiting:
            return
        running = {out for out in _all_runs() if is_launched(out)}
        for out in waiting:
            if out not in running and len(running) < PUBLIC_RUNS.value:
                with suppress(OSError):  # no room for its log or process: retry later
                    launch_run(out, _options(out))
                    running.add(out)
            # The mark is removed last: after a crash, a run is launched again rather than lost.
            if out in running:
                _marker(out).unlink(missing_ok=True)


def keep_queue_moving() -> None:
    """Advance the queue and delete old data for as long as this process serves the public."""
    with _lock:
        if not any(thread.is_alive() for thread in _threads):
            _threads[:] = [threading.Thread(target=_move, daemon=True, name="morphgraph-queue")]
            _threads[0].start()


def _move() -> None:
    tidied = 0.0
    while is_public():
        advance_queue()
        if time.monotonic() - tidied > _TIDY_EVERY:
            tidy()
            tidied = time.monotonic()
        time.sleep(_EVERY)


def _options(out: Path) -> list[str]:
    files = out.parent.parent / UPLOADS
    return ["--confined", "--folder", str(files), "--workers", str(PUBLIC_WORKERS.value)]


def _marker(out: Path) -> Path:
    return out / "waiting"


def _all_runs() -> list[Path]:
    return [out for folder in browser_folders() for out in folder.glob("runs/*")]


def _waiting() -> list[Path]:
    """Return the waiting runs, the next one first."""
    found = []
    for out in _all_runs():
        with suppress(OSError):  # it has just left the queue
            found.append((_marker(out).stat().st_mtime_ns, out))
    return [out for _, out in sorted(found)]

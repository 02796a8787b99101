"""How far a run has come: kept in a file, so that anybody can look who comes by."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from morphgraph.batch.store import is_at_work, write_atomically
from morphgraph.batch.tasks import Task
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json, read_bytes
from morphgraph.core.text import counted

RunState = Literal["starting", "running", "reporting", "done", "stopped", "failed", "interrupted"]
"""``interrupted``: the runner is gone without having come to an end, as after a kill."""

_SECONDS_BETWEEN = 0.5
_MOST = 1e11
"""No number in a progress is as large, nor is one that is NaN below it."""


@dataclass(frozen=True)
class RunProgress:
    """A run at one moment.

    ``total``, ``done``, ``failed``: tasks, ``kept`` of those done were so before this start.
    ``remaining``: an estimate in seconds; None while nothing is known. ``message``: what
    went wrong, if the run as a whole did.
    """

    state: RunState
    name: str = ""
    total: int = 0
    done: int = 0
    failed: int = 0
    kept: int = 0
    remaining: float | None = None
    started: float = 0.0
    updated: float = 0.0
    workers: int = 0
    last: str = ""
    message: str = ""
    failures: tuple[str, ...] = field(default=())

    @property
    def is_over(self) -> bool:
        """Whether it is no longer running."""
        return self.state in ("done", "stopped", "failed", "interrupted")

    @property
    def share(self) -> float:
        """How much is done, 0 to 1."""
        return (self.done + self.failed) / self.total if self.total else 0.0

    def summary(self) -> str:
        """One line for people.

        >>> RunProgress("running", total=60, done=12, failed=1, remaining=95.0, workers=2).summary()
        '13 of 60 tasks, 1 failed, about 2 min left'
        """
        parts = [f"{self.done + self.failed:,} of {counted(self.total, 'task')}"]
        if self.kept:
            parts.append(f"{self.kept:,} done before")
        return ", ".join([*parts, *self.outlook()])

    def outlook(self) -> list[str]:
        """What failed, and what is waited for, in a few words each."""
        parts = [f"{self.failed:,} failed"] if self.failed else []
        if self.state == "running" and not self.workers and self.share < 1:
            parts.append("waiting for workers")
        elif self.remaining is not None and not self.is_over:
            parts.append(f"about {duration(self.remaining)} left")
        return parts


def duration(seconds: float) -> str:
    """A time span as people say it.

    >>> duration(8.2), duration(95), duration(7300)
    ('8 s', '2 min', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Remaining:
    """Guesses the time left from what tasks cost and what those that are done took."""

    def __init__(self, tasks: list[Task], workers: int) -> None:
        self._left = {task.key: task.cost for task in tasks}
        self._guessed = self._spent = 0.0
        self._longest = max((task.cost for task in tasks), default=0.0)
        self.workers = max(1, workers)

    def done(self, task: Task, seconds: float | None) -> None:
        """A task came to its end."""
        self._left.pop(task.key, None)
        if seconds is not None:
            self._guessed += task.cost
            self._spent += seconds

    @property
    def seconds(self) -> float | None:
        """Seconds left; None before the first task is done."""
        if not self._guessed:
            return None
        return sum(self._left.values()) * self._spent / self._guessed / self.workers


class ProgressFile:
    """Keeps the progress of a run in its folder, at most twice a second."""

    def __init__(self, folder: Path, first: RunProgress) -> None:
        self._path = progress_path(folder)
        self._written = 0.0
        self.now = replace(first, started=time.time())

    def update(self, *, force: bool = False, **changes: Any) -> RunProgress:
        """Change what is known, and write it if it is time to."""
        self.now = replace(self.now, updated=time.time(), **changes)
        if force or time.monotonic() - self._written >= _SECONDS_BETWEEN:
            self._written = time.monotonic()
            write_atomically(self._path, json.dumps(asdict(self.now)).encode())
        return self.now


def progress_path(folder: Path) -> Path:
    """The file with the progress of a run."""
    return folder / "progress.json"


def stop_path(folder: Path) -> Path:
    """The file whose being there asks a runner to stop."""
    return folder / "stop"


def read_progress(folder: str | os.PathLike[str]) -> RunProgress | None:
    """How far the run in a folder has come; None if there never was one, or what it left is odd."""
    try:
        found = parse_json(read_bytes(progress_path(Path(folder))), "progress.json")
        progress = _checked(found)
    except MorphGraphError:
        return None
    if not progress.is_over and not is_at_work(Path(folder)):
        return replace(progress, state="interrupted", remaining=None)
    return progress


def _checked(found: Any) -> RunProgress:
    odd = MorphGraphError("progress.json does not hold the progress of a run. Start the run again.")
    from pydantic import ValidationError

    try:
        progress: RunProgress = _adapter().validate_python(found)
    except ValidationError as error:
        raise odd from error
    counts = (progress.total, progress.done, progress.failed, progress.kept, progress.workers)
    times = (progress.started, progress.updated, progress.remaining or 0.0)
    if not all(0 <= number < _MOST for number in (*counts, *times)):
        raise odd
    return progress


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(RunProgress)

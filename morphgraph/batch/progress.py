"""Runs in folders: their progress, and their start and stop in the background.

A run keeps its progress in a file; a run in the background outlives the page that started it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from morphgraph.batch.tasks import Task, has_runner
from morphgraph.core.errors import UNQUOTED, MorphGraphError
from morphgraph.core.files import parse_json, read_bytes, write_file
from morphgraph.core.text import counted

RunState = Literal["starting", "running", "reporting", "done", "stopped", "failed", "interrupted"]
"""``interrupted``: the runner is gone before the end, for example killed."""

_SECONDS_BETWEEN = 0.5
_MOST = 10**11
Count = Annotated[int, Field(ge=0, lt=_MOST)]
Seconds = Annotated[float, Field(ge=0, lt=_MOST, allow_inf_nan=False)]


@dataclass(frozen=True)
class RunProgress:
    """The state of a run at one moment.

    ``total``, ``done``, ``failed``: tasks; ``kept`` of those done were so before this start.
    ``remaining``: estimated seconds; None while unknown. ``message``: the error, if the run as a
    whole failed.
    """

    state: RunState
    name: str = ""
    total: Count = 0
    done: Count = 0
    failed: Count = 0
    kept: Count = 0
    remaining: Seconds | None = None
    started: Seconds = 0.0
    updated: Seconds = 0.0
    workers: Count = 0
    last: str = ""
    message: str = ""
    failures: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether it is no longer running."""
        return self.state in ("done", "stopped", "failed", "interrupted")

    @property
    def share(self) -> float:
        """The share done, 0 to 1."""
        return (self.done + self.failed) / self.total if self.total else 0.0

    def summary(self) -> str:
        """Return the progress in one line.

        >>> RunProgress("running", total=60, done=12, failed=1, remaining=95.0, workers=2).summary()
        '13 of 60 tasks, 1 failed, about 2 min left'
        """
        parts = [f"{self.done + self.failed:,} of {counted(self.total, 'task')}"]
        if self.kept:
            parts.append(f"{self.kept:,} done before")
        return ", ".join([*parts, *self.outlook()])

    def outlook(self) -> list[str]:
        """Return brief notes on what failed and what is pending."""
        parts = [f"{self.failed:,} failed"] if self.failed else []
        if self.state == "running" and not self.workers and self.share < 1:
            parts.append("waiting for workers")
        elif self.remaining is not None and not self.is_over:
            parts.append(f"about {duration(self.remaining)} left")
        return parts


def duration(seconds: float) -> str:
    """Format a time span approximately.

    >>> duration(8.2), duration(95), duration(7300)
    ('8 s', '2 min', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Remaining:
    """Estimates the time left from the cost of tasks and the time of finished ones."""

    def __init__(self, tasks: list[Task], workers: int) -> None:
        self._left = {task.key: task.cost for task in tasks}
        self._guessed = self._spent = 0.0
        self._longest = max((task.cost for task in tasks), default=0.0)
        self.workers = max(1, workers)

    def done(self, task: Task, seconds: float | None) -> None:
        """Record a finished task."""
        self._left.pop(task.key, None)
        if seconds is not None:
            self._guessed += task.cost
            self._spent += seconds

    @property
    def seconds(self) -> float | None:
        """Return the seconds left; None before the first task is done."""
        if not self._guessed:
            return None
        return sum(self._left.values()) * self._spent / self._guessed / self.workers


class ProgressFile:
    """Keeps the progress of a run in its folder, written at most twice a second."""

    def __init__(self, folder: Path, first: RunProgress) -> None:
        self._path = progress_path(folder)
        self._written = 0.0
        self.now = replace(first, started=time.time())

    def update(self, *, force: bool = False, **changes: Any) -> RunProgress:
        """Change the progress, and write it if it is time to."""
        self.now = replace(self.now, updated=time.time(), **changes)
        if force or time.monotonic() - self._written >= _SECONDS_BETWEEN:
            self._written = time.monotonic()
            write_file(self._path, json.dumps(asdict(self.now)).encode())
        return self.now


def progress_path(folder: Path) -> Path:
    """Return the path of a run's progress file."""
    return folder / "progress.json"


def stop_path(folder: Path) -> Path:
    """Return the path of the file whose existence asks a runner to stop."""
    return folder / "stop"


def read_progress(folder: str | os.PathLike[str]) -> RunProgress | None:
    """Return the progress of the run in a folder; None if there is none, or it is invalid."""
    try:
        found = parse_json(read_bytes(progress_path(Path(folder))), "progress.json")
        progress: RunProgress = _adapter().validate_python(found)
    except (MorphGraphError, ValidationError):
        return None
    if not progress.is_over and not has_runner(Path(folder)):
        return replace(progress, state="interrupted", remaining=None)
    return progress


@cache
def _adapter() -> TypeAdapter[RunProgress]:
    return TypeAdapter(RunProgress)


# ------------------------------------------------------------------------------ in the background

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


@dataclass(frozen=True)
class Run:
    """A run in a folder of runs: its name there, and its progress (None: not begun)."""

    name: str
    folder: Path
    progress: RunProgress | None

    @property
    def has_results(self) -> bool:
        """Whether there are results to show."""
        return (self.folder / "results.parquet").is_file()


def runs_in(root: Path) -> list[Run]:
    """Return the runs in a folder, the most recently changed first."""
    try:
        folders = [path for path in root.iterdir() if (path / "configuration.yaml").is_file()]
    except OSError:
        return []
    folders.sort(key=_last_change, reverse=True)
    return [Run(path.name, path, read_progress(path)) for path in folders]


def _last_change(folder: Path) -> float:
    for path in (progress_path(folder), folder / "configuration.yaml"):
        try:
            return path.stat().st_mtime
        except OSError:
            continue
    return 0.0


def start_run(
    configuration: str,
    root: Path,
    name: str,
    *,
    workers: int,
    folder: Path | None = None,
) -> Run:
    """Start a run in the background, or resume a stopped one; return at once.

    ``root`` holds the runs, ``name`` is that of this one's folder there. Relative paths in the
    configuration start from ``folder``, by default the run's own. `MorphGraphError` if it is
    already running, or if a run of this name has another configuration.
    """
    out = prepare_run(configuration, root, name)
    options = ["--workers", str(workers)]
    if folder is not None:
        options += ["--folder", str(folder)]
    launch_run(out, options)
    return Run(name, out, read_progress(out))


def prepare_run(configuration: str, root: Path, name: str) -> Path:
    """Create the folder of a run with its configuration; errors as in `start_run`."""
    if not _RUN_NAME.fullmatch(name):
        raise MorphGraphError(
            f"“{name[:80]}” cannot be the name of a run. Use unaccented letters, digits, dots, "
            "dashes and underscores, and begin with a letter or a digit."
        )
    out = root / name
    if has_runner(out):
        raise MorphGraphError(f"The run “{name}” is running. Wait for it, or stop it.")
    given = out / "configuration.yaml"
    if given.is_file() and given.read_bytes() != configuration.encode():
        raise MorphGraphError(
            f"There is a run “{name}” with another configuration. Choose another name."
        )
    write_file(given, configuration.encode())
    for old in (progress_path(out), stop_path(out)):
        old.unlink(missing_ok=True)
    return out


def launch_run(out: Path, options: Sequence[str]) -> None:
    """Run the configuration in a folder in a separate process, with command options.

    Its messages on files quote none of their content.
    """
    given = out / "configuration.yaml"
    command = [sys.executable, "-m", "morphgraph", "evaluate", str(given), "--out", str(out)]
    with (out / "console.log").open("wb") as console:
        process = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", UNQUOTED: "1"},
        )
    _started[out] = process


def is_launched(out: Path) -> bool:
    """Return whether a run is running in a folder, or about to be."""
    process = _started.get(out)
    return (process is not None and process.poll() is None) or has_runner(out)


_started: dict[Path, subprocess.Popen[bytes]] = {}
"""The processes started here, so that one that ended at once is not waited for."""


def ended_early(run: Run) -> str:
    """Return the output of a run that ended before its tasks began; empty if none did."""
    process = _started.get(run.folder)
    if run.progress is not None or (process is not None and process.poll() is None):
        return ""
    try:
        said = (run.folder / "console.log").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
    return said[-2000:]


def stop_run(folder: Path, why: str = "") -> None:
    """Ask a run to stop; finished tasks are kept, and it can be resumed.

    ``why``: the reason that its progress reports.
    """
    write_file(stop_path(folder), why.encode())


def why_stopped(folder: Path) -> str:
    """Return the reason given for a stop, if any."""
    try:
        return stop_path(folder).read_text("utf-8", "replace")[:500]
    except OSError:
        return ""

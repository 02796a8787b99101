"""Runs in folders: an evaluation from its plan to its report, its progress, and its starts.

A run keeps its progress in a file; a run in the background outlives the page that started it.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from morphgraph.batch.cluster import Schedule, warm_up
from morphgraph.batch.downstream import steps_in
from morphgraph.batch.store import (
    Store,
    Task,
    TaskFailure,
    TaskReport,
    code_version,
    has_runner,
    versions_of,
)
from morphgraph.core import __version__
from morphgraph.core.errors import UNQUOTED, MorphGraphError, require
from morphgraph.core.files import parse_json, read_bytes, write_file, writing
from morphgraph.core.text import counted, duration
from morphgraph.tables.model import Table
from morphgraph.tables.result import Result

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client

    from morphgraph.batch.plan import Plan

RunState = Literal["starting", "running", "reporting", "done", "stopped", "failed", "interrupted"]
"""``interrupted``: the runner is gone before the end, for example killed."""

_log = logging.getLogger("morphgraph.batch")
_SECONDS_BETWEEN = 0.5
_BETWEEN_LOOKS = 5.0
_MOST = 10**11
Count = Annotated[int, Field(ge=0, lt=_MOST)]
Seconds = Annotated[float, Field(ge=0, lt=_MOST, allow_inf_nan=False)]


# ------------------------------------------------------------------------------ progress


@dataclass(frozen=True)
class RunProgress:
    """The state of a run at one moment.

    ``total``, ``done``, ``failed``: tasks; ``kept`` of those done were so before this start.
    ``remaining``: estimated seconds; None while unknown. ``message``: why the run as a whole ended.
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
        parts += [f"{self.kept:,} done before"] if self.kept else []
        parts += [f"{self.failed:,} failed"] if self.failed else []
        if self.state == "running" and not self.workers and self.share < 1:
            parts.append("waiting for workers")
        elif self.remaining is not None and not self.is_over:
            parts.append(f"about {duration(self.remaining)} left")
        return ", ".join(parts)


class ProgressFile:
    """Keeps the progress of a run in its folder, written at most twice a second."""

    def __init__(self, folder: Path, first: RunProgress) -> None:
        self._path = folder / "progress.json"
        self._written = 0.0
        self.now = replace(first, started=time.time())

    def update(self, *, force: bool = False, **changes: Any) -> RunProgress:
        """Change the progress, and write it if it is time to."""
        self.now = replace(self.now, updated=time.time(), **changes)
        if force or time.monotonic() - self._written >= _SECONDS_BETWEEN:
            self._written = time.monotonic()
            write_file(self._path, json.dumps(asdict(self.now)))
        return self.now


def read_progress(folder: str | os.PathLike[str]) -> RunProgress | None:
    """Return the progress of the run in a folder; None if there is none, or it is invalid."""
    folder = Path(folder)
    progress = _last_written(folder)
    if progress is None or progress.is_over or has_runner(folder):
        return progress
    last = _last_written(folder)  # it may have ended since it was read, and written how
    return last if last != progress else replace(progress, state="interrupted", remaining=None)


def _last_written(folder: Path) -> RunProgress | None:
    try:
        document = parse_json(read_bytes(folder / "progress.json"), "progress.json")
        return TypeAdapter(RunProgress).validate_python(document)
    except (MorphGraphError, ValidationError):
        return None


# ------------------------------------------------------------------------------ the outcome

_MOST_TOLD = 20


@dataclass(frozen=True)
class RunOutcome(Result):
    """How all tasks of an evaluation ended, in order.

    ``stopped``: an early end was requested; ``left_out``: inputs that were missing, and why.

    >>> RunOutcome(Path("run"), reports=(), stopped=False)
    <RunOutcome: 0 tasks, 0 failed>
    """

    folder: Path
    reports: tuple[TaskReport, ...]
    stopped: bool
    left_out: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[TaskFailure, ...]:
        """Why tasks failed."""
        return tuple(report.failure for report in self.reports if report.failure is not None)

    @property
    def done(self) -> int:
        """The number of tasks that are done, by this start of the run or an earlier one."""
        return sum(report.state == "done" for report in self.reports)

    def to_frame(self) -> pd.DataFrame:
        """Return all results in long form, a row for each value."""
        import pandas as pd

        return pd.read_parquet(self.folder / "results.parquet")

    def table(self) -> Table:
        """Return the scores of all cells; without any, the first other table of the report.

        `MorphGraphError` if no cell has a result.
        """
        from morphgraph.batch.report import make_table, usual_tables

        results = self.to_frame()
        for spec in usual_tables(results):
            return make_table(results, spec)
        why = [f"{each.label}: {each.message}" for each in self.failures[:1]]
        raise MorphGraphError(" ".join(["The run has no results.", *why]))

    def to_dict(self) -> dict[str, Any]:
        """Return how many tasks are done, what failed, and why, as JSON data."""
        return {
            "folder": str(self.folder),
            "tasks": len(self.reports),
            "done": self.done,
            "stopped": self.stopped,
            "left_out": list(self.left_out),
            "failures": [{"task": each.label, "why": each.message} for each in self.failures],
        }

    def report(self, width: int | None = None) -> str:
        """Return what failed, how many tasks are done, and where the report is, in lines."""
        failures = self.failures
        lines = [f"left out: {why}" for why in self.left_out[:_MOST_TOLD]]
        lines += [f"failed: {each.label}: {each.message}" for each in failures[:_MOST_TOLD]]
        if len(failures) > _MOST_TOLD:
            lines.append(f"and {len(failures) - _MOST_TOLD:,} more")
        if failures:
            lines.append(f"tracebacks are in {self.folder / 'run.log'}")
        end = "stopped; the same command resumes it" if self.stopped else "done"
        tasks = counted(len(self.reports), "task")
        report = self.folder / "report.html"
        return "\n".join([*lines, f"{end}: {self.done:,} of {tasks}; the report is {report}"])

    def __repr__(self) -> str:
        tasks = f"{counted(len(self.reports), 'task')}, {len(self.failures):,} failed"
        return f"<RunOutcome: {tasks}{', stopped' if self.stopped else ''}>"


# ------------------------------------------------------------------------------ in the background

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


@dataclass(frozen=True)
class Run:
    """A run in a folder of runs: its name there, and its progress (None: not begun)."""

    name: str
    folder: Path
    progress: RunProgress | None


def runs_in(root: Path) -> list[Run]:
    """Return the runs in a folder, the most recently changed first."""

    def last_change(folder: Path) -> float:
        progress = folder / "progress.json"
        return (progress if progress.exists() else folder / "configuration.yaml").stat().st_mtime

    try:
        folders = [path for path in root.iterdir() if (path / "configuration.yaml").is_file()]
        folders.sort(key=last_change, reverse=True)
    except OSError:
        return []
    return [Run(path.name, path, read_progress(path)) for path in folders]


def start_run(configuration: str, root: Path, name: str, options: Sequence[str]) -> Run:
    """Start a run in the background, or resume a stopped one; return at once.

    ``root`` holds the runs, ``name`` is that of this one's folder there; ``options``: those of the
    command. `MorphGraphError` if it is already running, or if a run of this name has another
    configuration.
    """
    out = prepare_run(configuration, root, name)
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
    write_file(given, configuration)
    for old in (out / "progress.json", stop_path(out)):
        old.unlink(missing_ok=True)
    return out


def launch_run(out: Path, options: Sequence[str]) -> None:
    """Run the configuration in a folder in a process of its own, which quotes no file's content."""
    given = out / "configuration.yaml"
    command = [sys.executable, "-m", "morphgraph", "evaluate", str(given), "--out", str(out)]
    with (out / "console.log").open("wb") as console:
        _started[out] = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", UNQUOTED: "1"},
        )


_started: dict[Path, subprocess.Popen[bytes]] = {}
"""The processes started here, so that one that ended at once is not waited for."""


def is_launched(out: Path) -> bool:
    """Return whether a run is running in a folder, or about to be."""
    return _is_alive(out) or has_runner(out)


def _is_alive(out: Path) -> bool:
    return out in _started and _started[out].poll() is None


def ended_early(run: Run) -> str:
    """Return the output of a run that ended before its tasks began; empty if none did."""
    if run.progress is not None or _is_alive(run.folder):
        return ""
    return _end_of(run.folder / "console.log", 2000)


def _end_of(path: Path, most: int) -> str:
    """Return the last characters of a text; nothing if it cannot be read."""
    try:
        return path.read_text("utf-8", "replace").strip()[-most:]
    except OSError:
        return ""


def stop_path(folder: Path) -> Path:
    """Return the path of the file whose existence asks a runner to stop."""
    return folder / "stop"


def stop_run(folder: Path, why: str = "") -> None:
    """Ask a run to stop, resumably; ``why``: the reason that its progress reports."""
    write_file(stop_path(folder), why)


# ------------------------------------------------------------------------------ from plan to report


OnProgress = Callable[[RunProgress], None]
OpenClient = Callable[[], "AbstractContextManager[Client]"]


def run_evaluation(
    plan: Plan,
    out: Path,
    open_client: OpenClient,
    tell: OnProgress = lambda _: None,
    command: Sequence[str] = (),
) -> RunOutcome:
    """Run the missing tasks of an evaluation in a folder, and write results and report.

    Raises `MorphGraphError` if the run as a whole cannot continue; finished tasks are kept.
    """
    import psutil

    _check_apart(plan, out)
    for choice in chain.from_iterable(part.downstream for part in plan.evaluation.parts):
        require(f"The task {choice.task}", *choice.entry.packages)
    with Store(out) as store:
        with suppress(FileNotFoundError):  # a request from before this process began
            if stop_path(out).stat().st_mtime < psutil.Process().create_time():
                stop_path(out).unlink()
        progress = ProgressFile(out, RunProgress("starting", plan.evaluation.name))
        write_file(out / "configuration.yaml", plan.text)
        with _logging(out / "run.log"), _recording_the_end(progress, tell):
            tell(progress.update(force=True, total=len(plan.tasks)))
            tasks = plan.tasks
            with open_client() if Schedule(tasks, store, None).missing else nullcontext() as client:
                if client is not None:
                    warm_up(client)
                outcome = run_tasks(tasks, store, client, progress, tell)
            tell(progress.update(force=True, state="reporting", remaining=None))
            outcome = replace(outcome, left_out=plan.left_out)
            ended: Literal["done", "stopped"] = "stopped" if outcome.stopped else "done"
            facts = {**_about(plan, command), "state": ended, **_times(progress.now.started)}
            _report(plan, out, store, outcome, facts)
            why = _end_of(stop_path(out), 500)
            tell(progress.update(force=True, state=ended, message=why))
            stop_path(out).unlink(missing_ok=True)
    return outcome


def run_tasks(
    tasks: Sequence[Task],
    store: Store,
    client: Client | None,
    progress: ProgressFile,
    tell: OnProgress = lambda _: None,
) -> RunOutcome:
    """Run missing tasks until a stop is requested, store their results, record the progress."""
    schedule = Schedule(tasks, store, client)
    workers, kept = schedule.workers, len(schedule.reports)
    began, costs = time.monotonic(), {task.key: task.cost for task in schedule.missing}
    progress.update(
        force=True, state="running", total=len(tasks), done=kept, kept=kept, workers=workers
    )
    _log.info("%d tasks, %d of them kept, %d workers", len(tasks), kept, workers)

    def update(**changes: Any) -> None:
        failed = len(schedule.failures)
        changes |= {"done": len(schedule.reports) - failed, "failed": failed}
        failures = tuple(f"{f.label}: {f.message}"[:500] for f in schedule.failures[-20:])
        left = seconds_left(costs, schedule.reports, time.monotonic() - began)
        tell(progress.update(remaining=left, failures=failures, **changes))

    looked = time.monotonic()
    stopped = False
    with closing(schedule.results()) as results:
        for report in results:
            changes: dict[str, Any] = {}
            if report is not None:
                changes["last"] = report.task.label
            elif time.monotonic() - looked > _BETWEEN_LOOKS:
                looked = time.monotonic()
                # They vary on a cluster.
                changes = {"workers": schedule.workers, **_in_training(schedule)}
            update(**changes)
            stopped = len(schedule.reports) < len(tasks) and stop_path(store.folder).exists()
            if stopped:
                break
    update(force=True)
    reports = (schedule.reports.get(task.key, TaskReport(task)) for task in tasks)
    return RunOutcome(store.folder, tuple(reports), stopped)


def seconds_left(costs: Mapping[str, float], ended: Container[str], seconds: float) -> float | None:
    """Return the estimated seconds left: as many for each unit of cost as it took until now.

    >>> seconds_left({"a": 1.0, "b": 1.0, "c": 4.0}, {"a", "b"}, 10.0)
    20.0
    """
    done = sum(cost for key, cost in costs.items() if key in ended)
    return seconds * (sum(costs.values()) - done) / done if done else None


def _in_training(schedule: Schedule) -> dict[str, Any]:
    told = []
    for task in schedule.missing:
        is_open = task.resumes and task.key not in schedule.reports
        if is_open and (found := steps_in(schedule.store.checkpoints(task.key))) is not None:
            told.append(f"{task.label}: step {found[0]:,} of {found[1]:,}")
    return {"last": "; ".join(told)} if told else {}


def _check_apart(plan: Plan, out: Path) -> None:
    """Refuse to write a run's files among the texts that it counts."""
    for task in plan.tasks:
        for folder in task.spec.get("folders", ()):
            if out.resolve().is_relative_to(Path(folder).resolve()):
                raise MorphGraphError(
                    f"{out}: the run would be inside its own texts in {folder}. Choose another "
                    "folder with --out."
                )


@contextmanager
def _recording_the_end(progress: ProgressFile, tell: OnProgress) -> Iterator[None]:
    """Record in the progress how a run ended early."""
    try:
        yield
    except BaseException as error:
        _log.exception("the run ended early")
        state: Literal["stopped", "failed"]
        state = "stopped" if isinstance(error, KeyboardInterrupt) else "failed"
        message = str(error) if isinstance(error, MorphGraphError) else type(error).__name__
        with suppress(MorphGraphError):  # as on a full disk
            tell(progress.update(force=True, state=state, message=message, remaining=None))
        raise


@contextmanager
def _logging(path: Path) -> Iterator[None]:
    """Log to a file, which is silently given up if it cannot be written, as on a full disk."""
    with writing(path, " with --out"):
        handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.handleError = lambda record: None  # type: ignore[method-assign]
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level, _log.level = _log.level, logging.INFO
    _log.addHandler(handler)
    try:
        yield
    finally:
        _log.removeHandler(handler)
        _log.level = level
        with suppress(OSError):  # buffered lines are written now, or never
            handler.close()


_LIBRARIES = "dask distributed numba numpy pandas pyarrow sentencepiece tokenizers wordfreq"


def _about(plan: Plan, command: Sequence[str]) -> dict[str, Any]:
    return {
        "name": plan.evaluation.name,
        "command": list(command),
        "languages": list(plan.languages),
        "code": code_version(),
        "versions": {"morphgraph": __version__, **versions_of(_LIBRARIES)},
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _times(began: float) -> dict[str, Any]:
    ended = time.time()
    return {
        "started": _as_time(began),
        "finished": _as_time(ended),
        "seconds": round(ended - began, 3),
    }


def _report(
    plan: Plan, out: Path, store: Store, outcome: RunOutcome, facts: Mapping[str, Any]
) -> None:
    from morphgraph.batch.report import write_report
    from morphgraph.batch.results import LOST, collected, write_json, write_parquet

    rows = collected(plan.parts, outcome.reports, store)
    results = rows[~rows["metric"].isin(LOST)]
    write_parquet(results, out / "results.parquet")
    known = {task.key: task for task in plan.tasks}
    write_json(known, plan.text, results, facts, out / "results.json")
    write_report(plan, rows, outcome.reports, facts, out)


def _as_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

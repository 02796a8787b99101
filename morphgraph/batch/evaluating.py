"""An evaluation from its file to its report, and ``run.json``, the record of its starts."""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.batch.plan import Plan
from morphgraph.batch.progress import (
    ProgressFile,
    RunProgress,
    read_progress,
    stop_path,
    why_stopped,
)
from morphgraph.batch.runner import RunOutcome, log, missing_tasks, run_tasks, warm_up_worker
from morphgraph.batch.tasks import Store, code_version
from morphgraph.core import __version__
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import (
    checksum,
    parse_json,
    read_bytes,
    write_file,
)
from morphgraph.models.downstream.training import require_libraries

if TYPE_CHECKING:
    from distributed import Client


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
    _check_apart(plan, out)
    if plan.evaluation.downstream:
        require_libraries()
    with Store(out) as store:
        _forget_earlier_stop(out)
        progress = ProgressFile(out, RunProgress("starting", plan.evaluation.name))
        run_file = RunFile(out)
        with _logging(out / "run.log"), _recording_the_end(progress, run_file, tell):
            write_file(out / "configuration.yaml", plan.text.encode())
            run_file.begin(_about(plan, command))
            tell(progress.update(force=True, total=len(plan.tasks)))
            tasks = plan.tasks
            with open_client() if missing_tasks(tasks, store) else nullcontext() as client:
                if client is not None:
                    warm_up_worker(client)
                outcome = run_tasks(tasks, store, client, progress, tell)
            tell(progress.update(force=True, state="reporting", remaining=None))
            ended: Literal["done", "stopped"] = "stopped" if outcome.stopped else "done"
            facts = run_file.end(ended, _counts(outcome))
            _report(plan, out, store, outcome, facts)
            tell(progress.update(force=True, state=ended, message=why_stopped(out)))
            stop_path(out).unlink(missing_ok=True)
    return outcome


def _check_apart(plan: Plan, out: Path) -> None:
    """Refuse to write a run's files among the texts that it counts."""
    for task in plan.tasks:
        parallel = task.spec.get("parallel", {}).get("own_text", {})
        for folder in (*task.spec.get("folders", ()), *parallel.get("folders", ())):
            if out.resolve().is_relative_to(Path(folder).resolve()):
                raise MorphGraphError(
                    f"{out}: the run would lie among its own texts in {folder}. Choose another "
                    "folder with --out."
                )


def _forget_earlier_stop(out: Path) -> None:
    """Delete a stop request from before this process began."""
    import psutil

    with suppress(FileNotFoundError):
        if stop_path(out).stat().st_mtime < psutil.Process().create_time():
            stop_path(out).unlink()


@contextmanager
def _recording_the_end(
    progress: ProgressFile, run_file: RunFile, tell: OnProgress
) -> Iterator[None]:
    """Record in the progress and in ``run.json`` how a run ended early."""
    try:
        yield
    except BaseException as error:
        log.exception("the run ended early")
        state: Literal["stopped", "failed"]
        state = "stopped" if isinstance(error, KeyboardInterrupt) else "failed"
        message = str(error) if isinstance(error, MorphGraphError) else f"{type(error).__name__}"
        for write in (
            lambda: tell(progress.update(force=True, state=state, message=message, remaining=None)),
            lambda: run_file.end(state),
        ):
            try:
                write()
            except MorphGraphError:
                log.exception("the end could not be written")
        raise


class _Log(logging.FileHandler):
    """A log file that is silently given up if it cannot be written, as on a full disk."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass

    def close(self) -> None:
        with suppress(OSError):  # buffered lines are written now, or never
            super().close()


@contextmanager
def _logging(path: Path) -> Iterator[None]:
    """Log events to a file, with tracebacks."""
    try:
        handler = _Log(path, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise MorphGraphError(f"{path}: {(error.strerror or '').lower()}. Choose --out.") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level, log.level = log.level, logging.INFO
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.level = level
        handler.close()


def _about(plan: Plan, command: Sequence[str]) -> dict[str, Any]:
    """Return what is known of a run before its tasks: its content, and its software."""
    return {
        "name": plan.evaluation.name,
        "command": list(command),
        "configuration": checksum(plan.text.encode()),
        "languages": list(plan.languages),
        "code": code_version(),
        "versions": {
            "morphgraph": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES.split()},
        },
        "machine": {
            "system": f"{platform.system()} {platform.release()}",
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _counts(outcome: RunOutcome) -> dict[str, Any]:
    """Count the tasks of a run by how they ended."""
    done = [report for report in outcome.reports if report.state == "done"]
    return {
        "all": len(outcome.reports),
        "done": len(done),
        "failed": len(outcome.failures),
        "kept from before": sum(report.from_store for report in done),
        "seconds": round(sum(float(r.facts.get("seconds", 0)) for r in done), 3),
    }


def _report(
    plan: Plan,
    out: Path,
    store: Store,
    outcome: RunOutcome,
    facts: dict[str, Any],
) -> None:
    from morphgraph.batch.report import FinishedRun, write_report
    from morphgraph.batch.results import collected, task_frame, with_failed, write_parquet

    results, tasks = collected(plan.cells, store), task_frame(outcome.reports)
    write_parquet(results, out / "results.parquet")
    write_parquet(tasks, out / "tasks.parquet")
    asked = plan.evaluation
    finished = FinishedRun(
        title=asked.title or asked.name,
        description=asked.description,
        results=with_failed(results, outcome.reports),
        tasks=tasks,
        failures=outcome.failures,
        run={**facts, "starts": len(facts["starts"])},
        tables=asked.tables,
        published=asked.published,
        configuration=plan.text,
    )
    write_report(finished, out)


def command_line() -> list[str]:
    """Return the running command as one would type it."""
    return ["morphgraph", *sys.argv[1:]]


# ------------------------------------------------------------------------------ run.json

_LIBRARIES = "dask distributed numba numpy pandas pyarrow sentencepiece tokenizers wordfreq"
_NO_TASKS = {"all": 0, "done": 0, "failed": 0, "kept from before": 0, "seconds": 0.0}


class RunFile:
    """Keeps ``run.json`` in the folder of a run, from the beginning of a start to its end.

    Each start has when it ``started``, its ``seconds``, and its ``state``: running, done, stopped,
    failed, or killed. Only the next start can tell that one was killed; it takes its seconds from
    the progress file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._began = time.time()
        self._starts: list[dict[str, Any]] = []
        self._facts: dict[str, Any] = {}

    def begin(self, about: Mapping[str, Any]) -> None:
        """Record that the run is running, and what is known ``about`` it.

        Call this while the progress file is still that of the previous start.
        """
        before = self._read()
        self._starts = [self._ended(start) for start in before.get("starts", ())]
        now = {"started": _as_time(self._began), "seconds": 0.0, "state": "running"}
        self._starts.append(now)
        self._facts = {
            **about,
            "started": self._starts[0]["started"],
            # From the last start that ended; empty if there was none.
            "finished": before.get("finished"),
            "tasks": before.get("tasks") or _NO_TASKS,
        }
        self._write("running")

    def end(
        self, state: Literal["done", "stopped", "failed"], tasks: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Record how this start ended, with the counts of all ``tasks``; return all facts.

        Nothing is recorded if the start did not even begin.
        """
        if self._starts:
            ended = time.time()
            self._starts[-1] |= {"seconds": round(ended - self._began, 3), "state": state}
            self._facts["finished"] = _as_time(ended)
            if tasks is not None:
                self._facts["tasks"] = dict(tasks)
            self._write(state)
        return self._facts

    def _write(self, state: str) -> None:
        self._facts |= {
            "state": state,
            "seconds": round(sum(start["seconds"] for start in self._starts), 3),
            "starts": self._starts,
        }
        text = json.dumps(self._facts, indent=1, ensure_ascii=False)
        write_file(self._folder / "run.json", text.encode())

    def _read(self) -> dict[str, Any]:
        """Return the record of earlier starts; empty if it is damaged."""
        try:
            found = parse_json(read_bytes(self._folder / "run.json"), "run.json")
            starts = [
                {
                    "started": datetime.fromisoformat(start["started"]).strftime(_TIME),
                    "seconds": float(start["seconds"]),
                    # Earlier versions listed only starts that ended.
                    "state": str(start.get("state", "done")),
                }
                for start in found["starts"]
            ]
            return {**found, "starts": starts}
        except (MorphGraphError, LookupError, TypeError, ValueError, AttributeError):
            return {}

    def _ended(self, start: dict[str, Any]) -> dict[str, Any]:
        """Return a start with its state: one that still says running was killed."""
        if start["state"] != "running":
            return start
        progress, seconds = read_progress(self._folder), 0.0
        began = datetime.fromisoformat(start["started"]).timestamp()
        # An older progress file is of another start.
        if progress is not None and progress.started >= began - 1:
            seconds = max(0.0, progress.updated - began)
        return {**start, "seconds": round(seconds, 3), "state": "killed"}


_TIME = "%Y-%m-%dT%H:%M:%SZ"


def _as_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(_TIME)

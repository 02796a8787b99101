"""How far a run is, in words: its state, its times, what failed, what can be done with it now."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, ValidationError

from morphgraph.batch.progress import (
    Run,
    RunProgress,
    RunState,
    duration,
    ended_early,
    progress_path,
    read_progress,
    stop_path,
)
from morphgraph.batch.tasks import is_at_work
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import decode_utf8, parse_json, read_bytes
from morphgraph.core.text import counted, shortened, visible
from web.batch.queue import is_waiting
from web.batch.state import start_settings
from web.hosting import is_public

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.batch.runner import Ended

_PATIENCE = 120.0
"""So many seconds a run may take until it says anything."""
Colour = Literal["green", "blue", "orange", "red", "gray"]
STATES: dict[str, tuple[str, Colour, str]] = {
    "waiting": ("Waiting", "gray", ":material/hourglass_empty:"),
    "beginning": ("Starting", "blue", ":material/hourglass_top:"),
    "starting": ("Starting workers", "blue", ":material/hourglass_top:"),
    "running": ("Running", "blue", ":material/play_arrow:"),
    "reporting": ("Writing the report", "blue", ":material/edit_note:"),
    "done": ("Done", "green", ":material/check_circle:"),
    "stopped": ("Stopped", "orange", ":material/stop_circle:"),
    "failed": ("Failed", "red", ":material/error:"),
    "interrupted": ("Interrupted", "orange", ":material/power_off:"),
    "never": ("Not begun", "red", ":material/error:"),
}
"""What people call each state of a run, its colour and its icon."""
_DONE_IN_PART: tuple[str, Colour, str] = ("Completed with failures", "orange", ":material/warning:")


# ------------------------------------------------------------------------------------- state


def badge_of(run: Run) -> tuple[str, Colour, str]:
    """What people call the state of a run, its colour and its icon."""
    state = state_of(run)
    in_part = state == "done" and run.progress is not None and run.progress.failed > 0
    return _DONE_IN_PART if in_part else STATES[state]


def state_of(run: Run) -> str:
    """The state of a run, as in `STATES`: also one that has written nothing yet, or never did."""
    if is_waiting(run.folder):
        return "waiting"
    if run.progress is not None:
        return run.progress.state if run.progress.state in STATES else "failed"
    if ended_early(run) or _age(run.folder) > _PATIENCE:
        return "never"
    return "beginning"


def is_over(run: Run) -> bool:
    """Whether nothing is running any more."""
    return state_of(run) in ("done", "stopped", "failed", "interrupted", "never")


def _age(folder: Path) -> float:
    """Seconds since a run was started."""
    try:
        return time.time() - (folder / "console.log").stat().st_mtime
    except OSError:
        return float("inf")


def latest(run: Run) -> Run:
    """A run as it is now."""
    return recovered(replace(run, progress=read_progress(run.folder)))


def recovered(run: Run) -> Run:
    """A run whose progress cannot be read: with what ``run.json`` says of it, if there is that."""
    if run.progress is not None or not progress_path(run.folder).exists():
        return run
    facts = read_facts(run.folder)
    if facts is None or not run.has_results or is_at_work(run.folder):
        return run
    message = "progress.json cannot be read: this is what run.json says."
    state = "interrupted" if facts.state == "running" else facts.state
    counts = facts.tasks
    done = RunProgress(
        state, total=counts.all, done=counts.done, failed=counts.failed, message=message
    )
    return replace(run, progress=done)


def buttons_of(run: Run) -> str:
    """What can be done with a run at this moment."""
    if is_over(run):
        return "over"
    if is_waiting(run.folder):
        return "stop"
    if run.progress is None:
        return "wait"  # what is asked of a run before its first word would be overheard
    return "stopping" if stop_path(run.folder).exists() else "stop"


# ------------------------------------------------------------------------------------- numbers


_Number = Annotated[float, Field(ge=0, lt=1e11)]
_Count = Annotated[int, Field(ge=0, lt=1e11)]


class _Tasks(BaseModel):
    all: _Count
    done: _Count
    failed: _Count


class Facts(BaseModel):
    """What ``run.json`` says of the starts that are over: the last one's tasks, and all their time.

    ``state``: how the run ended; running if it did not, so far as ``run.json`` knows.
    """

    state: RunState
    seconds: _Number
    starts: list[dict[str, Any]]
    finished: str | None
    tasks: _Tasks

    @property
    def ended(self) -> int:
        """How many of the starts are over."""
        return sum(start.get("state") != "running" for start in self.starts)


def read_facts(folder: Path) -> Facts | None:
    """The facts of a run's starts that came to an end; None if there are none, or they are odd."""
    try:
        return Facts.model_validate(parse_json(read_bytes(folder / "run.json"), "run.json"))
    except (MorphGraphError, ValidationError):
        return None


def times_of(progress: RunProgress, facts: Facts | None = None) -> str:
    """When a run was started last, on what, and how long all its starts took if it is over."""
    parts = []
    if progress.started:
        parts.append(time.strftime("started %d %b %Y, %H:%M", time.localtime(progress.started)))
    if progress.workers:
        parts.append(counted(progress.workers, "worker"))
    seconds, starts = _spent(progress, facts)
    if progress.is_over and seconds > 0:
        among = f" in {starts:,} starts" if starts > 1 else ""
        parts.append(f"took {duration(seconds)}{among}")
    return " · ".join(parts)


def _spent(progress: RunProgress, facts: Facts | None) -> tuple[float, int]:
    """The seconds of all starts, and how many there were."""
    last = max(0.0, progress.updated - progress.started) if progress.started else 0.0
    if facts is None:
        return last, 1
    # A start that did not come to an end, as after a kill, is not among the facts.
    began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(progress.started))
    is_apart = progress.state in ("failed", "interrupted") and (facts.finished or "") <= began
    return facts.seconds + (last if is_apart else 0.0), facts.ended + is_apart


def tasks_of(progress: RunProgress | None) -> str:
    """How many tasks are done, of how many, and how many failed.

    >>> tasks_of(RunProgress("done", total=14, done=8, failed=6))
    '8 of 14 tasks done, 6 failed'
    >>> tasks_of(RunProgress("running", total=14, done=8, kept=3, workers=2, remaining=9))
    '8 of 14 tasks, 3 done before, about 9 s left'
    """
    if progress is None:
        return "n/a"
    number = f"{progress.done:,} of {counted(progress.total, 'task')}"
    parts = [f"{number}, {progress.kept:,} done before" if progress.kept else f"{number} done"]
    return ", ".join([*parts, *progress.outlook()])


def visible_lines(text: str, most: int = 12) -> str:
    """The last lines of what a program printed, without what a terminal would act upon.

    Of a traceback only its end is of use to people here; all of it is in the file.

    >>> visible_lines("Traceback (most recent call last):\\n  File 1\\nOSError: no\\n")
    'OSError: no'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if any("Traceback (most recent" in line for line in lines):
        lines = lines[-1:]
    return "\n".join(shortened(visible(line), 300) for line in lines[-most:])


_CUT = 500
"""Lines of a progress are cut at so many characters."""


def with_lost_cells(folder: Path, results: pd.DataFrame) -> pd.DataFrame:
    """Results with a row for each cell that failed or has not run.

    The plan of the run is made again for that. Keys of cells depend on the code, so after an update
    those of an older run are not found, and the results are as they were.
    """
    states = cell_states(folder)
    if all(state == "done" for state in states.values()):
        return results
    from morphgraph.batch.plan import make_plan
    from morphgraph.batch.results import with_failed
    from morphgraph.batch.runner import TaskReport

    settings = start_settings(folder)
    path = folder / "configuration.yaml"
    try:
        text = decode_utf8(read_bytes(path), path.name)
        start = folder if settings.folder is None else Path(settings.folder)
        known = make_plan(text, path.name, start, settings.languages, confined=is_public())
        cells = known.cells
    except MorphGraphError:
        return results
    if not {cell.key for cell in cells} <= set(states):
        return results
    return with_failed(results, [TaskReport(cell, states[cell.key]) for cell in cells])


def cell_states(folder: Path) -> dict[str, Ended]:
    """How each cell of a run ended, from ``tasks.parquet``; empty if that cannot be read."""
    from morphgraph.batch.runner import Ended

    known: dict[str, Ended] = {state: state for state in get_args(Ended)}
    return {
        str(task["key"]): known[task["state"]]
        for task in _tasks(folder, "key")
        if task["kind"] == "cell" and task["state"] in known
    }


def failed_lines(folder: Path) -> list[str]:
    """What failed and why, in the order of the plan, from ``tasks.parquet``."""
    tasks = _tasks(folder, "label", "message")
    return [f"{task['label']}: {task['message']}" for task in tasks if task["state"] == "failed"]


def _tasks(folder: Path, *columns: str) -> list[dict[str, str]]:
    import pyarrow
    from pyarrow import parquet

    try:
        found: list[dict[str, str]] = parquet.read_table(
            folder / "tasks.parquet", columns=["kind", "state", *columns]
        ).to_pylist()
    except (OSError, ValueError, LookupError, pyarrow.ArrowException):
        return []
    wanted = {"kind", "state", *columns}
    return [task for task in found if wanted <= set(task)]


def cells_done_text(states: Mapping[str, str]) -> str:
    """How many cells are done, if some have not run; else nothing.

    >>> cells_done_text({"a": "done", "b": "not run", "c": "failed"})
    '1 of 3 cells is done, 1 failed; the rest has not run.'
    >>> cells_done_text({"a": "done", "b": "failed"})
    ''
    """
    number = Counter(states.values())
    if not number["not run"]:
        return ""
    are = "is" if number["done"] == 1 else "are"
    done = f"{number['done']:,} of {counted(len(states), 'cell')} {are}"
    failed = f", {number['failed']:,} failed" if number["failed"] else ""
    return f"{done} done{failed}; the rest has not run."


def grouped_failures(lines: Sequence[str]) -> list[tuple[str, int]]:
    """Failures, each with the number of those that failed only because it did.

    Lines are ``LABEL: MESSAGE`` in the order in which they came; the message of a task whose need
    failed is ``LABEL failed: MESSAGE`` of that need.

    >>> grouped_failures(["a: no file", "b: a failed: no file", "c: b failed: a failed: no file"])
    [('a: no file', 2)]
    """
    roots: dict[str, str] = {}
    found: dict[str, int] = {}
    for line in lines:
        splits = [
            (line[:place], line[place + 2 :])
            for place in range(1, min(len(line), _CUT))
            if line.startswith(": ", place)
        ]
        is_cut = len(line) >= _CUT
        root = next((r for _, m in splits if (r := _root(roots, m, is_cut)) is not None), None)
        if root is None:
            found.setdefault(line, 0)
        else:
            found[root] += 1
        for label, message in splits:
            roots.setdefault(f"{label} failed: {message}", line if root is None else root)
    return list(found.items())


def _root(roots: Mapping[str, str], message: str, is_cut: bool) -> str | None:
    """The failure that a message tells of; of one that was cut, the beginning is enough."""
    if message in roots or not is_cut or " failed: " not in message:
        return roots.get(message)
    return next((root for text, root in roots.items() if text.startswith(message)), None)

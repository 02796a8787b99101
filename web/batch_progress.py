"""How far a run is, in words: its state, its times, what can be done with it now."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

from morphgraph.batch.background import Run, ended_early
from morphgraph.batch.progress import Progress, duration, read_progress, stop_path
from morphgraph.text import shortened, visible
from web.batch_checking import counted

_PATIENCE = 120.0
"""So many seconds a run may take until it says anything."""

Colour = Literal["green", "blue", "orange", "red", "gray"]

STATES: dict[str, tuple[str, Colour, str]] = {
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

DONE_IN_PART: tuple[str, Colour, str] = ("Done, not all of it", "orange", ":material/warning:")


def state_of(run: Run) -> str:
    """The state of a run, as in `STATES`: also one that has not told anything yet, or never did."""
    if run.progress is not None:
        return run.progress.state if run.progress.state in STATES else "failed"
    if ended_early(run) or _age(run.folder) > _PATIENCE:
        return "never"
    return "beginning"


def is_over(run: Run) -> bool:
    """Whether nothing is at work on a run any more."""
    return state_of(run) in ("done", "stopped", "failed", "interrupted", "never")


def _age(folder: Path) -> float:
    """Seconds since a run was started."""
    try:
        return time.time() - (folder / "console.log").stat().st_mtime
    except OSError:
        return float("inf")


def latest(run: Run) -> Run:
    """A run as it is now."""
    return Run(run.name, run.folder, read_progress(run.folder))


def buttons_of(run: Run) -> str:
    """What can be done with a run at this moment."""
    if is_over(run):
        return "over"
    if run.progress is None:
        return "wait"  # what is asked of a run before its first word would be overheard
    return "stopping" if stop_path(run.folder).exists() else "stop"


def share_of(progress: Progress) -> float:
    """How much is done; a file that was tampered with may say anything."""
    return min(1.0, max(0.0, progress.share))


def times_of(progress: Progress) -> str:
    """When a run was started, on what, and how long it took if it is over."""
    if not progress.started:
        return ""
    parts = [time.strftime("started %d %b %Y, %H:%M", time.localtime(progress.started))]
    if progress.workers:
        parts.append(counted(progress.workers, "worker"))
    if progress.is_over and progress.updated > progress.started:
        parts.append(f"took {duration(progress.updated - progress.started)}")
    return " · ".join(parts)


def tasks_of(progress: Progress | None) -> str:
    """How many tasks are done, of how many."""
    return "n/a" if progress is None else f"{progress.done:,} of {progress.total:,}"


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

"""The state of a run in words, and what can be done with it now."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

from morphgraph.batch.run import (
    Run,
    ended_early,
    stop_path,
)
from morphgraph.core.text import shortened, visible
from web.queue import is_waiting

_PATIENCE = 120.0
"""The limit in seconds until a run's first report."""
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
"""The label, colour and icon of each state of a run."""
_DONE_IN_PART: tuple[str, Colour, str] = ("Completed with failures", "orange", ":material/warning:")


def badge_of(run: Run) -> tuple[str, Colour, str]:
    """Return the label, colour and icon of a run's state."""
    state = state_of(run)
    in_part = state == "done" and run.progress is not None and run.progress.failed > 0
    return _DONE_IN_PART if in_part else STATES[state]


def state_of(run: Run) -> str:
    """Return a run's state, one of `STATES`, even if it has not written anything."""
    if is_waiting(run.folder):
        return "waiting"
    if run.progress is not None:
        return run.progress.state if run.progress.state in STATES else "failed"
    if ended_early(run) or _age(run.folder) > _PATIENCE:
        return "never"
    return "beginning"


def is_over(run: Run) -> bool:
    """Return whether nothing is running any more."""
    return state_of(run) in ("done", "stopped", "failed", "interrupted", "never")


def _age(folder: Path) -> float:
    """Return the seconds since a run was started."""
    try:
        return time.time() - (folder / "console.log").stat().st_mtime
    except OSError:
        return float("inf")


def buttons_of(run: Run) -> str:
    """Return the actions currently available for a run."""
    if is_over(run):
        return "over"
    if is_waiting(run.folder):
        return "stop"
    if run.progress is None:
        return "wait"  # before its first report, a run ignores requests
    return "stopping" if stop_path(run.folder).exists() else "stop"


def visible_lines(text: str, most: int = 12) -> str:
    """Return the last lines of a program's output, without control characters.

    Of a traceback only the end is shown; the file has all of it.

    >>> visible_lines("Traceback (most recent call last):\\n  File 1\\nOSError: no\\n")
    'OSError: no'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if any("Traceback (most recent" in line for line in lines):
        lines = lines[-1:]
    return "\n".join(shortened(visible(line), 300) for line in lines[-most:])

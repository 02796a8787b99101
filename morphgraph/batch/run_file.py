"""``run.json``: with what a run was made, and all its starts, also those that were killed."""

from __future__ import annotations

import calendar
import json
import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from morphgraph.batch.progress import read_progress
from morphgraph.batch.store import write_atomically
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import parse_json, read_bytes

_LIBRARIES = "dask distributed numba numpy pandas pyarrow sentencepiece tokenizers wordfreq"
_NO_TASKS = {"all": 0, "done": 0, "failed": 0, "kept from before": 0, "seconds": 0.0}
_FORM = "%Y-%m-%dT%H:%M:%SZ"


class RunFile:
    """Keeps ``run.json`` in the folder of a run, from the first moment of a start to its end.

    Each start has when it ``started``, its ``seconds``, and its ``state``: running, done, stopped,
    failed, or killed. That one was killed only the next start can tell, which takes its seconds
    from the progress that it left.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "run.json"
        self._began = time.time()
        self._starts: list[dict[str, Any]] = []
        self._facts: dict[str, Any] = {}

    def begin(self, about: Mapping[str, Any]) -> None:
        """Write that the run is running, and what is known ``about`` it from the first moment.

        To be called while the progress is still that of the start before.
        """
        before = _read(self._path)
        self._starts = [_ended(start, self._path.parent) for start in _starts(before)]
        now = {"started": _as_time(self._began), "seconds": 0.0, "state": "running"}
        self._starts.append(now)
        self._facts = {
            **about,
            "started": self._starts[0]["started"],
            # Of the last start that came to an end; nothing if there was none.
            "finished": before.get("finished"),
            "tasks": before.get("tasks") or _NO_TASKS,
        }
        self._write("running")

    def end(
        self, state: Literal["done", "stopped", "failed"], tasks: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Write how this start ended, and what became of all ``tasks``; all facts of the run.

        Nothing is written of a start that did not even begin.
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
        write_atomically(self._path, text.encode())


def versions_and_machine() -> dict[str, Any]:
    """What a run is made with: versions of the library and of those below it, and the machine."""
    from importlib.metadata import version

    from morphgraph.core import __version__

    return {
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


def _read(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(read_bytes(path), path.name)
    except MorphGraphError:
        return {}
    return found if isinstance(found, dict) else {}


def _starts(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The starts that a file lists; none if it is damaged."""
    try:
        return [
            {
                "started": str(start["started"]),
                "seconds": float(start["seconds"]),
                # Earlier versions listed only starts that came to an end.
                "state": str(start.get("state", "done")),
            }
            for start in found["starts"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        return []


def _ended(start: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A start as it is known after its end: if it still says that it is running, it was killed."""
    if start["state"] != "running":
        return start
    progress = read_progress(folder)
    seconds = 0.0
    if progress is not None:
        began = _as_seconds(start["started"])
        if progress.started >= began - 1:  # else it is that of the start before
            seconds = max(0.0, progress.updated - began)
    return {**start, "seconds": round(seconds, 3), "state": "killed"}


def _as_time(seconds: float) -> str:
    return time.strftime(_FORM, time.gmtime(seconds))


def _as_seconds(text: str) -> float:
    try:
        return float(calendar.timegm(time.strptime(text, _FORM)))
    except ValueError:
        return float("inf")

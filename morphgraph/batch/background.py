"""Runs in the background: started from a page, outliving it, visible from anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from morphgraph.batch.progress import RunProgress, progress_path, read_progress, stop_path
from morphgraph.batch.store import is_at_work, write_atomically
from morphgraph.core.errors import MorphGraphError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


@dataclass(frozen=True)
class Run:
    """A run in a folder of runs: its name there, and how far it has come (None: not begun)."""

    name: str
    folder: Path
    progress: RunProgress | None

    @property
    def has_results(self) -> bool:
        """Whether there are results to look at."""
        return (self.folder / "results.parquet").is_file()


def runs_in(root: Path) -> list[Run]:
    """The runs in a folder, the one that was changed last first."""
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
    languages: Sequence[str] | None = None,
    folder: Path | None = None,
) -> Run:
    """Start a run in the background, or resume one that stopped; returns at once.

    ``root`` holds the runs, ``name`` is that of this one's folder there. Relative paths in the
    configuration start from ``folder``, by default the run's own. `MorphGraphError` where one is at
    work already, or a run of this name has another configuration.
    """
    if not _NAME.fullmatch(name):
        raise MorphGraphError(
            f"“{name[:80]}” cannot be the name of a run. Use letters, digits, dots, dashes and "
            "underscores."
        )
    out = root / name
    if is_at_work(out):
        raise MorphGraphError(f"The run “{name}” is running. Wait for it, or stop it.")
    given = out / "configuration.yaml"
    if given.is_file() and given.read_bytes() != configuration.encode():
        raise MorphGraphError(
            f"There is a run “{name}” with another configuration. Choose another name."
        )
    write_atomically(given, configuration.encode())
    for old in (progress_path(out), stop_path(out)):
        old.unlink(missing_ok=True)
    command = [sys.executable, "-m", "morphgraph", "evaluate", str(given), "--out", str(out)]
    command += ["--workers", str(workers)]
    if languages is not None:
        command += ["--languages", ",".join(languages)]
    if folder is not None:
        command += ["--folder", str(folder)]
    with (out / "console.log").open("wb") as console:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    _started[out] = process
    return Run(name, out, read_progress(out))


_started: dict[Path, subprocess.Popen[bytes]] = {}
"""What this process started, so that one that ended at once is not waited for."""


def ended_early(run: Run) -> str:
    """What a run said that ended before it began its tasks; nothing if it did not."""
    process = _started.get(run.folder)
    if run.progress is not None or (process is not None and process.poll() is None):
        return ""
    try:
        said = (run.folder / "console.log").read_text("utf-8", "replace").strip()
    except OSError:
        return ""
    return said[-2000:]


def stop_run(folder: Path) -> None:
    """Ask a run to stop; what is done is kept, and it can be resumed later."""
    write_atomically(stop_path(folder), b"")

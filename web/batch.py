"""Evaluations of Build: their texts, checks, folders, runs and tables, without what is drawn."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from morphgraph.batch.run import Run, ended_early, runs_in, start_run
from morphgraph.core import files
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.limits import YAML_CHARACTERS, is_public
from morphgraph.core.system import available_cores
from morphgraph.core.text import counted, duration, shortened, visible
from web.jobs import UPLOADS, is_waiting, join_queue
from web.state import own_folder
from web.storage import check_space, make_private
from web.widgets import forget_oldest, kept_last, set_value, unique_name

if TYPE_CHECKING:
    from morphgraph.batch.plan import Plan
    from morphgraph.tables.model import Table

CHOSEN, SOURCE = "batch_run", "batch_source"
"""Keys of the run's name, and of the edited text."""
_FOLDER = "started in"
_DRAWN = 50
"""How often, about, the tables of a run are made anew while it runs: each time reads all cells."""


def check_text(text: str, file: str, folder: Path) -> Plan | str:
    """Return the plan of a configuration, or what is wrong with it.

    That of a visitor names no path outside ``folder``.
    """
    from morphgraph.batch.plan import make_plan

    try:
        return make_plan(text, file, folder, confined=is_public(), quoting=False)
    except MorphGraphError as error:
        return str(error)
    except OSError as error:
        return f"{file}: {(error.strerror or 'unreadable').lower()}."


def summary(plan: Plan) -> str:
    """Describe in one line the amount of work and its estimated time."""
    cells, workers = len(plan.cells), min(available_cores(), len(plan.tasks))
    time = duration(sum(task.cost for task in plan.tasks) / max(1, workers))
    return f"{counted(cells, 'cell')}, about {time}"


def kept(what: str) -> dict[Any, Any]:
    """Return what this session keeps: ``own`` texts, ``edited`` ones by name, or results."""
    texts: dict[Any, Any] = st.session_state.setdefault(f"batch {what}", {})
    return texts


def take(name: str, data: bytes) -> None:
    """Add a file as a text to start from, and choose it."""
    text = files.decode_utf8(data, name)
    YAML_CHARACTERS.check(len(text), name, fix="Choose the YAML file of an evaluation")
    shipped = files.shipped_configurations()
    name = unique_name(shortened(visible(name), 60), {*kept("own"), *shipped})
    kept("own")[name] = text.replace("\r\n", "\n").replace("\r", "\n")
    set_value(SOURCE, name)


def folder_of(source: str) -> Path:
    """Return the base of relative paths; in public mode no path can leave it."""
    if is_public():
        return uploads_folder()
    return Path.cwd() if source in kept("own") else files.shipped_folder()


def checked_text(source: str, text: str, folder: Path | None = None) -> Plan | str:
    """Check a text, again only if it or its surroundings may have changed."""
    file = source if source.endswith((".yaml", ".yml")) else f"{source}.yaml"
    folder, checked = folder or folder_of(source), kept("checked")
    key = (text, file, str(folder))
    if isinstance(checked.get(key, ""), str):
        checked[key] = check_text(text, file, folder)
        forget_oldest(checked, 4)
    result: Plan | str = checked[key]
    return result


def uploads_folder() -> Path:
    """Return the folder of files that a visitor of a public app opened for evaluations."""
    return own_folder() / UPLOADS


def keep_upload(name: str, data: bytes) -> None:
    """Store a visitor's file for evaluations, replacing one of the same name."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", name):
        raise MorphGraphError(
            f"“{shortened(visible(name), 60)}” cannot be named in an evaluation. Use unaccented "
            "letters a–z, digits, dots, dashes and underscores in its name."
        )
    check_space(own_folder(), len(data))
    make_private(uploads_folder())
    files.write_file(uploads_folder() / name, data)


def known_runs() -> list[Run]:
    """Return the runs of this app (in public mode, of this browser), the last changed first."""
    return runs_in(own_folder() / "runs")


def begin(text: str, name: str, folder: Path) -> Run:
    """Start or resume a run (in public mode it is queued), and show it.

    ``folder``: where its relative paths start.
    """
    root = own_folder() / "runs"
    with files.writing(own_folder(), " with MORPHGRAPH_STATE"):
        make_private(own_folder())
    if is_public():
        check_space(own_folder())
        run = join_queue(text, root, name)
    else:
        run = start_run(text, root, name, ["--folder", str(folder)])
    files.write_file(run.folder / _FOLDER, str(folder).encode())
    set_value(CHOSEN, name)  # before it is drawn
    return run


def resume(run: Run) -> None:
    """Run what is missing of a run, with the same text, name and files."""
    begin(configuration_of(run), run.name, folder_of_run(run))


def folder_of_run(run: Run) -> Path:
    """Return the base of a run's relative paths."""
    try:
        return Path(files.decode_utf8(files.read_bytes(run.folder / _FOLDER), _FOLDER))
    except MorphGraphError:
        return files.shipped_folder()


def configuration_of(run: Run) -> str:
    """Return the text of a run's configuration."""
    path = run.folder / "configuration.yaml"
    return files.decode_utf8(files.read_bytes(path), str(path))


def tables_of_run(run: Run) -> list[Table]:
    """Return the tables of a run as far as it has come; none if its file cannot be planned."""
    from morphgraph.batch.report import tables_so_far

    try:
        text = configuration_of(run)
    except MorphGraphError:
        return []
    ended, done = is_over(run), run.progress.done if run.progress else 0
    plan = checked_text(run.name, text, folder_of_run(run))
    if isinstance(plan, str) or not done:
        return []
    lately = done // max(1, len(plan.cells) // _DRAWN)
    key = run.folder, text, ended, lately
    return kept_last("batch tables", key, lambda: tables_so_far(plan, run.folder, ended=ended))


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


def state_of(run: Run) -> str:
    """Return a run's state, one of `STATES`, even if it has not written anything."""
    if is_waiting(run.folder):
        return "waiting"
    if run.progress is not None:
        return run.progress.state if run.progress.state in STATES else "failed"
    try:
        age = time.time() - (run.folder / "console.log").stat().st_mtime
    except OSError:
        age = float("inf")
    late = age > 120.0  # seconds without a first report
    return "never" if ended_early(run) or late else "beginning"


def is_over(run: Run) -> bool:
    """Return whether nothing is running any more."""
    return state_of(run) in ("done", "stopped", "failed", "interrupted", "never")


def visible_lines(text: str) -> str:
    """Return the last lines of a program's output, without control characters.

    Of a traceback only the end is shown; the file has all of it.

    >>> visible_lines("Traceback (most recent call last):\\n  File 1\\nOSError: no\\n")
    'OSError: no'
    >>> visible_lines("a\\n\\n\\x1b[31mb\\n"), len(visible_lines("c\\n" * 99))
    ('a\\n\\\\x1b[31mb', 23)
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if any("Traceback (most recent" in line for line in lines):
        lines = lines[-1:]
    return "\n".join(shortened(visible(line), 300) for line in lines[-12:])

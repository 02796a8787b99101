"""Cells that failed or have not run have no row in the results: tables show them all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.reading import decode_utf8, read_bytes
from morphgraph.core.text import counted
from web.batch_state import settings_of

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.batch.runner import Ended

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
    from morphgraph.batch.evaluating import prepare_text
    from morphgraph.batch.results import with_failed
    from morphgraph.batch.runner import TaskReport

    settings = settings_of(folder)
    path = folder / "configuration.yaml"
    try:
        text = decode_utf8(read_bytes(path), path.name)
        start = folder if settings.folder is None else Path(settings.folder)
        cells = prepare_text(text, path.name, start, settings.languages).plan.cells
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


def told_cells(states: Mapping[str, str]) -> str:
    """How many cells are done, if some have not run; else nothing.

    >>> told_cells({"a": "done", "b": "not run", "c": "failed"})
    '1 of 3 cells is done, 1 failed; the rest has not run.'
    >>> told_cells({"a": "done", "b": "failed"})
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

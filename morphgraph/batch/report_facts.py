"""What a report tells of the run itself, as plain texts: states, times, memory, signatures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from morphgraph.batch.report_data import LOST, TASK_COLUMNS, FinishedRun, complete, name_text
from morphgraph.core.text import UNDEFINED, shortened
from morphgraph.tables.model import Table, table_of_texts
from morphgraph.tables.writing import one_line

if TYPE_CHECKING:
    import pandas as pd

SLOWEST = 10

_STATES = ("done", "failed", "not run")
_TITLES = {
    "seconds": "Duration",
    "started": "Started",
    "finished": "Finished",
    "state": "State",
    "command": "Command",
    "machine": "Machine",
    "versions": "Versions",
    "version": "Version",
    "hashes": "Checksums",
}
_DEPTH = 6


def duration_text(seconds: float) -> str:
    """A duration as people say it.

    >>> duration_text(0.25), duration_text(59.96), duration_text(3725), duration_text(90061)
    ('0.25 s', '1 min 0 s', '1 h 2 min 5 s', '1 d 1 h 1 min')
    >>> duration_text(float("nan"))
    'n/a'
    """
    if not math.isfinite(seconds):
        return UNDEFINED
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h {minutes} min"
    return f"{hours} h {minutes} min {rest} s" if hours else f"{minutes} min {rest} s"


def memory_text(count: float) -> str:
    """Bytes as people say them.

    >>> memory_text(1500), memory_text(3 * 2**30), memory_text(float("nan"))
    ('1.5 KiB', '3.0 GiB', 'n/a')
    """
    if not math.isfinite(count):
        return UNDEFINED
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def states(tasks: pd.DataFrame, kind: str) -> dict[str, int]:
    """How many tasks of a kind are done, failed, not run."""
    frame = complete(tasks, TASK_COLUMNS, "tasks")
    found = frame.loc[frame["kind"] == kind, "state"].map(name_text).tolist()
    return {state: found.count(state) for state in _STATES}


def tasks_by_kind(tasks: pd.DataFrame) -> Table:
    """What the tasks of each kind took, in the order in which the kinds come."""
    frame = complete(tasks, TASK_COLUMNS, "tasks")
    rows = []
    for kind in dict.fromkeys(frame["kind"].map(name_text)):
        part = frame[frame["kind"] == kind]
        kept = sum(name_text(value) == "True" for value in part["from_store"])
        counts = [*states(frame, kind).values(), kept]
        times = [duration_text(_total(part[name])) for name in ("seconds", "cpu_seconds")]
        memory = memory_text(float(part["peak_memory"].astype(float).max()))
        rows.append([kind, *(f"{count:,}" for count in counts), *times, memory])
    titles = "Tasks", "Done", "Failed", "Not run", "From store", "Time", "CPU time", "Peak memory"
    return table_of_texts(titles, rows)


def _total(numbers: pd.Series[float]) -> float:
    """A sum; NaN if nothing is known."""
    return float(numbers.astype(float).sum(min_count=1))


def slowest_tasks(tasks: pd.DataFrame) -> Table:
    """The tasks that took longest, longest first."""
    frame = complete(tasks, TASK_COLUMNS, "tasks")
    numbers = frame["seconds"].astype(float)
    order = numbers[numbers > 0].sort_values(ascending=False, kind="stable").index[:SLOWEST]
    chosen = frame.loc[order]
    columns = [
        [shortened(one_line(name_text(label)), 120) for label in chosen["label"]],
        chosen["kind"].map(name_text),
        chosen["seconds"].astype(float).map(duration_text),
        chosen["cpu_seconds"].astype(float).map(duration_text),
        chosen["peak_memory"].astype(float).map(memory_text),
        chosen["worker"].map(name_text).map(one_line),
    ]
    titles = "Task", "Kind", "Time", "CPU time", "Peak memory", "Worker"
    return table_of_texts(titles, list(zip(*columns, strict=True)), 2)


def headline(run: FinishedRun) -> list[tuple[str, str]]:
    """The run in a few numbers: a value and what it is of."""
    cells = states(run.tasks, "cell")
    total = sum(cells.values())
    found = [(f"{cells['done']:,} of {total:,}", "cells done")]
    found += [(f"{cells[state]:,}", f"cells {state}") for state in _STATES[1:] if cells[state]]
    is_score = ~run.results["metric"].isin(LOST) if "metric" in run.results else ()
    scores = int(sum(is_score))
    found.append((f"{scores:,}", "results"))
    seconds = run.run.get("seconds")
    if isinstance(seconds, int | float):
        found.append((duration_text(float(seconds)), "duration"))
    return found


def run_facts(run: Mapping[str, object]) -> list[tuple[str, str]]:
    """Whatever is known of the run, as names and texts in one line each; nested names in a row.

    >>> run_facts({"seconds": 90, "machine": {"cores": 2, "disks": ["a", "b"]}, "state": None})
    [('Duration', '1 min 30 s'), ('Machine: cores', '2'), ('Machine: disks', 'a, b')]
    """
    return [
        (one_line(name), one_line(text))
        for key, value in run.items()
        for name, text in _fact(_TITLES.get(key, str(key).capitalize()), key, value, 0)
    ]


def short_facts(run: Mapping[str, object]) -> list[str]:
    """When, where and with which version a run was made.

    >>> short_facts({"versions": {"morphgraph": "0.1.0", "numpy": "2.0"}, "machine": {"cores": 2}})
    ['morphgraph 0.1.0', 'Machine: 2 cores']
    """
    found = []
    versions, machine = run.get("versions"), run.get("machine")
    if isinstance(versions, Mapping):
        found += [
            f"{name} {versions[name]}" for name in ("morphgraph", "python") if name in versions
        ]
    if isinstance(machine, Mapping):
        parts = (f"{part} cores" if name == "cores" else part for name, part in machine.items())
        found.append(f"Machine: {', '.join(map(str, parts))}")
    for name, text in run_facts(run):
        if name in ("Started", "Finished", "Version", "Machine"):
            found.append(f"{name}: {text}")
        elif name == "State" and text != "done":
            found.insert(0, f"State: {text}")
    return [one_line(text) for text in found]


def _fact(name: str, key: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and depth < _DEPTH:
        for inner, part in value.items():
            yield from _fact(f"{name}: {str(inner).replace('_', ' ')}", str(inner), part, depth + 1)
    elif key == "seconds" and isinstance(value, int | float):
        yield name, duration_text(float(value))
    elif key == "command" and isinstance(value, Sequence) and not isinstance(value, str):
        import shlex

        yield name, shlex.join(map(str, value))
    elif isinstance(value, list | tuple):
        yield name, ", ".join(map(str, value))
    elif key in ("started", "finished") and isinstance(value, str):
        yield name, _time_text(value)
    elif value is not None and value != "":
        yield name, str(value)


def _time_text(text: str) -> str:
    """A time of ISO 8601 as people read it; other text as it is.

    >>> _time_text("2026-01-02T03:04:05.678+00:00"), _time_text("yesterday")
    ('2026-01-02 03:04:05 UTC', 'yesterday')
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{found:%Y-%m-%d %H:%M:%S} {found.tzname() or ''}".rstrip()


def command_of(run: Mapping[str, object]) -> str:
    """The command that repeats a run, in one line; empty if it is not known."""
    return next((text for name, text in run_facts(run) if name == _TITLES["command"]), "")


def numbers_text(numbers: Sequence[int]) -> str:
    """Numbers with their runs drawn together.

    >>> numbers_text([3, 1, 2, 7]), numbers_text([])
    ('1–3, 7', '')
    """
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)

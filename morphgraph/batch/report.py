"""The report of an evaluation: an offline web page, Markdown, LaTeX and CSV."""

from __future__ import annotations

import math
import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.batch.build_tables import chart_note, chart_of, make_table, usual_tables
from morphgraph.batch.results import LOST, TASK_COLUMNS, TableSpec, complete, name_text
from morphgraph.core.files import write_file
from morphgraph.core.text import UNDEFINED, shortened
from morphgraph.tables.model import Table, table_of_texts
from morphgraph.tables.writing import one_line, rendered, to_csv, to_latex

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from morphgraph.batch.configuration import PublishedFigures
    from morphgraph.batch.tasks import TaskFailure

MOST_FAILURES = 200
"""The largest number of failures listed; the log has all."""
SLOWEST = 10
"""The number of slowest tasks listed."""
_NAME_LENGTH = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")


@dataclass(frozen=True)
class FinishedRun:
    """The content of an evaluation's report.

    ``results`` and ``tasks`` have the columns `RESULT_COLUMNS` and `TASK_COLUMNS`; a cell that
    failed, or was not run, may have a row in ``results`` whose metric is one of `LOST`. ``run``:
    versions, hashes, command, machine, times; ``configuration``: the YAML as given. Without
    ``tables``, `usual_tables` are made.
    """

    title: str
    description: str
    results: pd.DataFrame
    tasks: pd.DataFrame
    failures: Sequence[TaskFailure] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[TableSpec] = ()
    published: Sequence[PublishedFigures] = ()
    configuration: str = ""


def write_report(run: FinishedRun, folder: Path) -> list[Path]:
    """Write ``report.html``, ``report.md`` and each table as LaTeX and CSV to ``folder``.

    Returns the files written; ``tables/`` is created. Each file replaces an earlier one atomically,
    so that none is ever incomplete. `MorphGraphError` if a table asks for what results do not have,
    or a file cannot be written.
    """
    specs = run.tables or usual_tables(run.results)
    written = []
    for name, content in _files(run, [make_table(run.results, spec) for spec in specs]):
        write_file(folder / name, content)
        written.append(folder / name)
    return written


def _files(run: FinishedRun, tables: Sequence[Table]) -> Iterator[tuple[str, bytes]]:
    """Return the files of a report: their paths in the run's folder, and their contents."""
    content = _content(run, tables)
    for name in ("report.html", "report.md"):
        yield name, rendered(f"{name}.j2", **content).encode("utf-8", "replace")
    names = file_names([table.title for table in tables])
    for name, table in zip(names, tables, strict=True):
        yield f"tables/{name}.tex", to_latex(table, name).encode("utf-8", "replace")
        yield f"tables/{name}.csv", to_csv(table)


def _content(run: FinishedRun, tables: Sequence[Table]) -> dict[str, Any]:
    """Return the values for the templates of a report."""
    distinct = dict.fromkeys(text for table in tables for text in table.signatures)
    numbers = {text: number for number, text in enumerate(distinct, 1)}
    charts = [chart_of(table) for table in tables]
    titles = {table.title for table in tables}
    plotly = ""
    if any(chart is not None for chart in charts):
        from plotly.offline import get_plotlyjs

        plotly = get_plotlyjs()
    sections = []
    for table, chart in zip(tables, charts, strict=True):
        own = numbers_text([numbers[text] for text in table.signatures])
        notes = [*table.notes, *table.explained, *([f"Signatures: {own}."] if own else [])]
        sections.append(
            {
                "table": table,
                "constants": " · ".join(f"{k}: {text}" for k, text in table.constants.items()),
                "notes": " ".join(notes),
                "papers": [paper(one) for one in run.published if one.table == table.title],
                "chart": None if chart is None else _json(chart),
                "chart_note": chart_note(table),
            }
        )
    facts = run_facts(run.run)
    return {
        "run": run,
        "headline": headline(run),
        "short_facts": " · ".join(short_facts(run.run)),
        "has_rows": any(table.rows for table in tables),
        "sections": sections,
        "papers": [paper(one) for one in run.published if one.table not in titles],
        "failures": run.failures[:MOST_FAILURES],
        "more_failures": max(0, len(run.failures) - MOST_FAILURES),
        "kinds": tasks_by_kind(run.tasks),
        "slow": slowest_tasks(run.tasks),
        "facts": facts,
        "command": dict(facts).get("Command", ""),
        "signatures": list(numbers),
        "plotly": plotly,
    }


def paper(published: PublishedFigures) -> dict[str, Any]:
    """Return figures of a paper as a table, clearly marked as not ours."""
    data = f": {one_line(published.data)}" if published.data.strip() else ""
    heading = f"Figures of the paper: {one_line(published.source)}, on other data{data}"
    rows = [list(map(str, row)) for row in published.rows]
    table = table_of_texts(published.columns, rows, title=heading)
    return {"table": table, "note": one_line(published.note), "url": published.url}


def _json(chart: go.Figure) -> str:
    """Return a figure as JSON that is safe inside a script element: it contains no <."""
    from plotly.io.json import to_json_plotly

    figure = chart.to_plotly_json()
    figure["layout"].pop("template", None)
    return str(to_json_plotly(figure))


def file_names(titles: Sequence[str]) -> list[str]:
    """Return unique lower-case ASCII file names for titles that every system allows.

    >>> file_names(["Scores: Rényi & F1", "Scores (Rényi, F1)", "../..", "con"])
    ['scores-renyi-f1', 'scores-renyi-f1-2', 'table', 'table-con']
    """
    found: list[str] = []
    for title in titles:
        ascii_only = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
        name = re.sub("[^a-z0-9]+", "-", ascii_only.lower()).strip("-")[:_NAME_LENGTH].strip("-")
        name = f"table-{name}" if _RESERVED.fullmatch(name) else name or "table"
        number, unique = 1, name
        while unique in found:
            number += 1
            unique = f"{name}-{number}"
        found.append(unique)
    return found


# ------------------------------------------------------------------------------ the run

_STATES = ("done", "failed", "not run")


def headline(run: FinishedRun) -> list[tuple[str, str]]:
    """Return the key numbers of a run, each with its unit."""
    cells = _states(complete(run.tasks, TASK_COLUMNS, "tasks"), "cell")
    found = [(f"{cells['done']:,} of {sum(cells.values()):,}", "cells done")]
    found += [(f"{cells[state]:,}", f"cells {state}") for state in _STATES[1:] if cells[state]]
    is_score = ~run.results["metric"].isin(LOST) if "metric" in run.results else ()
    found.append((f"{int(sum(is_score)):,}", "results"))
    seconds = run.run.get("seconds")
    if isinstance(seconds, int | float):
        found.append((duration_text(float(seconds)), "duration"))
    return found


def short_facts(run: Mapping[str, object]) -> list[str]:
    """Return how, when, where and with which version a run was made.

    >>> short_facts({"versions": {"morphgraph": "0.1.0", "numpy": "2.0"}, "machine": {"cores": 2}})
    ['morphgraph 0.1.0', 'Machine: 2 cores']
    """
    facts = dict(run_facts(run))
    found = [] if facts.get("State", "done") == "done" else [f"State: {facts['State']}"]
    found += [
        f"{name} {facts[f'Versions: {name}']}"
        for name in ("morphgraph", "python")
        if f"Versions: {name}" in facts
    ]
    parts = {name: text for name, text in facts.items() if name.startswith("Machine: ")}
    shown = [f"{text} cores" if name.endswith("cores") else text for name, text in parts.items()]
    found += [f"Machine: {', '.join(shown)}"] if shown else []
    return found + [f"{name}: {facts[name]}" for name in ("Started", "Finished") if name in facts]


_TITLES = {"seconds": "Duration"}


def run_facts(run: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return all facts of a run as names and one-line texts; nested names are joined.

    >>> run_facts({"seconds": 90, "machine": {"cores": 2, "disks": ["a", "b"]}, "state": None})
    [('Duration', '1 min 30 s'), ('Machine: cores', '2'), ('Machine: disks', 'a, b')]
    """
    return [
        (one_line(name), one_line(text))
        for key, value in run.items()
        for name, text in _fact(_TITLES.get(key, str(key).capitalize()), key, value)
    ]


def _fact(name: str, key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for inner, part in value.items():
            yield from _fact(f"{name}: {str(inner).replace('_', ' ')}", str(inner), part)
    elif key == "seconds" and isinstance(value, int | float):
        yield name, duration_text(float(value))
    elif isinstance(value, list | tuple):
        texts = list(map(str, value))
        yield name, shlex.join(texts) if key == "command" else ", ".join(texts)
    elif key in ("started", "finished") and isinstance(value, str):
        yield name, _time_text(value)
    elif value is not None and value != "":
        yield name, str(value)


def _time_text(text: str) -> str:
    """Format an ISO 8601 time; other text is returned unchanged.

    >>> _time_text("2026-01-02T03:04:05.678+00:00"), _time_text("yesterday")
    ('2026-01-02 03:04:05 UTC', 'yesterday')
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{found:%Y-%m-%d %H:%M:%S} {found.tzname() or ''}".rstrip()


# ------------------------------------------------------------------------------ tasks


def tasks_by_kind(tasks: pd.DataFrame) -> Table:
    """Return what the tasks of each kind took, in order of first occurrence."""
    frame = complete(tasks, TASK_COLUMNS, "tasks")
    rows = []
    for kind in dict.fromkeys(frame["kind"].map(name_text)):
        part = frame[frame["kind"] == kind]
        kept = int(part["from_store"].astype(bool).sum())
        counts = [*_states(frame, kind).values(), kept]
        numbers = part[["seconds", "cpu_seconds", "peak_memory"]].astype(float)
        times = numbers[["seconds", "cpu_seconds"]].sum(min_count=1).map(duration_text)
        memory = memory_text(float(numbers["peak_memory"].max()))
        rows.append([kind, *(f"{count:,}" for count in counts), *times, memory])
    titles = "Tasks", "Done", "Failed", "Not run", "From store", "Time", "CPU time", "Peak memory"
    return table_of_texts(titles, rows)


def _states(tasks: pd.DataFrame, kind: str) -> dict[str, int]:
    """Count the tasks of a kind that are done, failed and not run."""
    found = tasks.loc[tasks["kind"] == kind, "state"].tolist()
    return {state: found.count(state) for state in _STATES}


def slowest_tasks(tasks: pd.DataFrame) -> Table:
    """Return the slowest tasks, slowest first."""
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


# ------------------------------------------------------------------------------ numbers


def duration_text(seconds: float) -> str:
    """Format a duration.

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
    """Format a number of bytes.

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


def numbers_text(numbers: Sequence[int]) -> str:
    """Format numbers, with consecutive ones as ranges.

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

"""The report of an evaluation: a web page that needs no network, Markdown, LaTeX and CSV."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from morphgraph.batch.build_tables import make_table, usual_tables
from morphgraph.batch.report_charts import chart_note, chart_of
from morphgraph.batch.report_data import FinishedRun, Published
from morphgraph.batch.report_facts import (
    command_of,
    headline,
    numbers_text,
    run_facts,
    short_facts,
    slowest_tasks,
    tasks_by_kind,
)
from morphgraph.batch.store import write_atomically
from morphgraph.core.text import UNDEFINED
from morphgraph.tables.latex import to_latex
from morphgraph.tables.model import Table, table_of_texts
from morphgraph.tables.writing import one_line, rendered, to_csv

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_FAILURES = 200
"""More failures than these are in the log only."""
_NAME_LENGTH = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")


def write_report(run: FinishedRun, folder: Path) -> list[Path]:
    """Write ``report.html``, ``report.md`` and each table as LaTeX and CSV into ``folder``.

    Returns what was written; ``tables/`` is made. Each file replaces an earlier one at once, so
    that none is ever half a report. `MorphGraphError` if a table asks for what results do not
    have, or a file cannot be written.
    """
    specs = run.tables or usual_tables(run.results)
    written = []
    for name, content in _files(run, [make_table(run.results, spec) for spec in specs]):
        write_atomically(folder / name, content)
        written.append(folder / name)
    return written


def _files(run: FinishedRun, tables: Sequence[Table]) -> Iterator[tuple[str, bytes]]:
    """The files of a report: their paths in the folder of the run, and their contents."""
    content = _content(run, tables)
    for name in ("report.html", "report.md"):
        yield name, rendered(f"{name}.j2", **content).encode("utf-8", "replace")
    names = file_names([table.title for table in tables])
    for name, table in zip(names, tables, strict=True):
        yield f"tables/{name}.tex", to_latex(table, name).encode("utf-8", "replace")
        yield f"tables/{name}.csv", to_csv(table)


def _content(run: FinishedRun, tables: Sequence[Table]) -> dict[str, Any]:
    """What the templates of a report show."""
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
        notes = [*table.notes, *table.explained]
        own = numbers_text([numbers[text] for text in table.signatures])
        sections.append(
            {
                "table": table,
                "constants": " · ".join(f"{k}: {text}" for k, text in table.constants.items()),
                "notes": " ".join([*notes, *([f"Signatures: {own}."] if own else [])]),
                "papers": [paper(one) for one in run.published if one.table == table.title],
                "chart": None if chart is None else _json(chart),
                "chart_note": chart_note(table),
            }
        )
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
        "facts": run_facts(run.run),
        "command": command_of(run.run),
        "signatures": list(numbers),
        "plotly": plotly,
    }


def paper(published: Published) -> dict[str, Any]:
    """Figures of a paper as a table, with a heading so that nobody takes them for ours.

    >>> paper(Published("A 2024", "the vocabulary of B", ["x"], [["y"]]))["table"].title
    'Figures of the paper: A 2024, on other data: the vocabulary of B'
    """
    data = f": {one_line(published.data)}" if published.data.strip() else ""
    heading = f"Figures of the paper: {one_line(published.source)}, on other data{data}"
    width = len(published.columns)
    rows = [
        [UNDEFINED if isinstance(c, float) and math.isnan(c) else str(c) for c in row]
        for row in published.rows
    ]
    rows = [(row + [""] * width)[:width] for row in rows]
    url = published.url.strip()
    try:
        is_web = urlsplit(url).scheme in ("http", "https")
    except ValueError:
        is_web = False
    table = table_of_texts(published.columns, rows, title=heading)
    return {"table": table, "note": one_line(published.note), "url": url, "is_web": is_web}


def _json(chart: go.Figure) -> str:
    """A figure as JSON that may stand inside a script element: it has no < at all."""
    figure = chart.to_plotly_json()
    figure["layout"].pop("template", None)
    from plotly.utils import PlotlyJSONEncoder

    text = json.dumps(figure, cls=PlotlyJSONEncoder)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def file_names(titles: Sequence[str]) -> list[str]:
    """Names of files for titles: lower case ASCII, none twice, none that a system forbids.

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

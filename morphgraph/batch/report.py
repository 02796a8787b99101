"""The report of an evaluation: a web page that needs no network, Markdown, LaTeX and CSV."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from morphgraph.batch.build_tables import make_table, usual_tables
from morphgraph.batch.report_data import FinishedRun
from morphgraph.batch.report_html import report_html
from morphgraph.batch.report_latex import table_csv, table_latex
from morphgraph.batch.report_markdown import report_markdown
from morphgraph.batch.report_table import Table
from morphgraph.batch.store import write_atomically

_NAME_LENGTH = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")


def write_report(run: FinishedRun, folder: Path) -> list[Path]:
    """Write ``report.html``, ``report.md`` and each table as LaTeX and CSV into ``folder``.

    Returns what was written; ``tables/`` is made. Each file replaces an earlier one at once, so
    that none is ever half a report. `MorphGraphError` if a table asks for what results do not
    have, or a file cannot be written.
    """
    tables = tables_of(run)
    written = []
    for name, content in report_files(run, tables):
        write_atomically(folder / name, content)
        written.append(folder / name)
    return written


def tables_of(run: FinishedRun) -> list[Table]:
    """The tables that a run asks for, or the usual ones."""
    specs = run.tables or usual_tables(run.results)
    return [make_table(run.results, spec) for spec in specs]


def report_files(run: FinishedRun, tables: Sequence[Table]) -> Iterator[tuple[str, bytes]]:
    """The files of a report: their paths in the folder of the run, and their contents."""
    yield "report.html", report_html(run, tables).encode("utf-8", "replace")
    yield "report.md", report_markdown(run, tables).encode("utf-8", "replace")
    names = file_names([table.title for table in tables])
    for name, table in zip(names, tables, strict=True):
        yield f"tables/{name}.tex", table_latex(table, name).encode("utf-8", "replace")
        yield f"tables/{name}.csv", table_csv(table)


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

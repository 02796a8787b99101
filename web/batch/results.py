"""The results of a run: its tables, its report, and its files to download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from morphgraph.batch.run import Run
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import decode_utf8, read_bytes
from morphgraph.core.text import shortened, visible
from morphgraph.tables.model import Table, text_frame
from morphgraph.tables.writing import frame_csv
from web.components import page_frame
from web.hosting import is_public
from web.text import plain_line
from web.widgets import (
    attempt,
    choice,
    download,
    forget_oldest,
    show_error,
    show_table,
    table_height,
    width_of,
    zipped,
)

if TYPE_CHECKING:
    import pandas as pd

_BOLD = "font-weight: 700; background-color: rgba(125, 90, 230, 0.18)"
_WIDEST = 300


def results_of(run: Run) -> bool:
    """Show a run's tables, report and files; return whether its results could be read."""
    from morphgraph.batch.results import read_results

    try:
        results = read_results(run.folder / "results.parquet")
    except MorphGraphError as error:
        show_error(f"The results cannot be shown: {error}")
        _download_buttons(run, None)
        return False
    st.subheader("Results", anchor=False)
    if not is_complete(run):
        st.info("Cells that failed or have not run are missing here; the report names them.")
    _download_buttons(run, results)
    shown = st.tabs(["Tables", "Report"], key=f"batch results {run.name}", on_change="rerun")
    if shown[0].open:
        with shown[0], attempt():
            _one_table(run, _tables(run.folder, results))
    if shown[1].open:
        with shown[1], attempt():
            page = decode_utf8(read_bytes(run.folder / "report.html"), "report.html")
            page_frame(page, "Report", key="batch report")
    return True


# ------------------------------------------------------------------------------------- tables


def _tables(folder: Path, results: pd.DataFrame) -> list[Table]:
    """Return the tables of a configuration, or the default ones, computed once for each report."""
    from morphgraph.batch.configuration import parse_evaluation
    from morphgraph.batch.report import make_table, usual_tables

    kept: dict[object, list[Table]] = st.session_state.setdefault("batch tables", {})
    path = folder / "configuration.yaml"
    key = (str(folder), (folder / "results.parquet").stat().st_mtime_ns)
    if key not in kept:
        try:
            specs = parse_evaluation(read_bytes(path), path.name)[0].tables
        except MorphGraphError:  # it cannot be read any more
            specs = []
        kept[key] = [make_table(results, spec) for spec in specs or usual_tables(results)]
        forget_oldest(kept, 8)
    return kept[key]


def is_complete(run: Run) -> bool:
    """Return whether all tasks of a run are known to be done."""
    return run.progress is None or run.progress.done >= run.progress.total


def _one_table(run: Run, tables: list[Table]) -> None:
    number = choice(
        st.selectbox,
        "Table",
        range(len(tables)),
        key=f"batch table {run.name} {len(tables)}",
        format_func=lambda n: shortened(visible(tables[n].title), 90),
    )
    if number is None:
        st.info("There are no results: no cell was finished.")
        return
    table = tables[number]
    frame, best = text_frame(table)
    if not is_complete(run):  # the best of each group is not known
        table, best[:] = replace(table, bold=""), False
    titles = [*(column.title for column in table.names), *(one.path for one in table.columns)]
    names = len(table.rows_by)
    show_table(
        frame.style.apply(lambda _: best.map(lambda is_best: _BOLD if is_best else ""), None),
        height=table_height(min(len(frame), 20)),
        column_config={
            str(number): st.column_config.TextColumn(
                shortened(visible(title), 60),
                width=width_of([title, *frame[str(number)]], _WIDEST),
                pinned=number < min(names, 2),
                alignment="left" if number < names else "right",
            )
            for number, title in enumerate(titles)
        },
        # Widths are measured on first drawing, so another table needs another key.
        key=f"batch frame {run.name} {hash((table.title, frame.to_csv()))}",
    )
    same = ", ".join(f"{name.lower()} {value}" for name, value in table.constants.items())
    notes = [*table.notes, *([f"The same in all rows: {same}."] if same else []), *table.explained]
    st.caption(plain_line(" ".join(notes), 1_500))


# ------------------------------------------------------------------------------------- files


_FILES = {
    "report.html": ("Report", "One web page with all tables and charts. It needs no network."),
    "report.md": ("Markdown", None),
    "results.csv": ("CSV", "All results, in long form."),
    "results.parquet": ("Parquet", "All results, in long form."),
    "tables.zip": ("LaTeX", "Each table as a .tex file."),
    "run.json": ("run.json", "Versions, machine, command, times."),
    "run.log": ("Log", "With the tracebacks of what failed."),
}


def _download_buttons(run: Run, results: pd.DataFrame | None) -> None:
    """Show a button for each existing file, which is read when the button is pressed."""
    folder = run.folder

    def content(name: str) -> Callable[[], bytes]:
        return lambda: read_bytes(folder / name)

    offered = {name: content(name) for name in _FILES if (folder / name).is_file()}
    if is_public():
        offered.pop("run.log", None)  # its tracebacks reveal details of the server
    if results is not None:
        offered["results.csv"] = lambda: frame_csv(results)
    tables = sorted((folder / "tables").glob("*.tex"))
    if tables:
        offered["tables.zip"] = lambda: zipped({path.name: read_bytes(path) for path in tables})
    with st.container(horizontal=True):
        for name, (label, note) in _FILES.items():
            if name in offered:
                download(
                    label,
                    offered[name],
                    f"{shortened(visible(run.name), 60)}-{name}",
                    key=f"batch download {name}",
                    primary=name == "report.html",
                    help=note,
                )

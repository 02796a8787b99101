"""What came out of a run: its tables with their charts, and its files to take away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from morphgraph.batch.background import Run
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened, visible
from morphgraph.tables.model import text_frame
from morphgraph.tables.writing import frame_csv
from web.batch.files import (
    column_titles,
    evaluation_of,
    file_content,
    files_in,
    read_run_results,
    specs_of,
    table_has_intervals,
)
from web.batch.progress import cell_states, cells_done_text, one_plain_line, with_lost_cells
from web.batch.state import SETTINGS_FILE
from web.downloads import download, zipped
from web.session import remembered

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.tables.model import Table

_ROW = 35
_MOST_ROWS_SHOWN = 20
_TINT = "background-color: rgba(125, 90, 230, 0.18)"
_KEPT = 8
_WIDEST = 300
_MOST_SIGNATURES = 30


def results_of(run: Run) -> bool:
    """The tables of a run and its files; unreadable ones are reported. True if results could be."""
    try:
        results = kept_results(run.folder)
    except MorphGraphError as error:
        st.error(
            one_plain_line(f"The results cannot be shown: {error}", 1_000), icon=":material/error:"
        )
        _take_away(run, None)
        return False
    try:
        tables = _tables(run.folder, results)
    except MorphGraphError as error:
        st.error(one_plain_line(str(error), 1_000), icon=":material/error:")
        _take_away(run, results)
        return True
    lacking = cells_done_text(cell_states(run.folder))
    if lacking:
        st.info(one_plain_line(lacking, 200), icon=":material/hourglass_bottom:")
    st.subheader("Results", anchor=False)
    _take_away(run, results)
    if tables:
        _one_table(run, tables)
    else:
        st.info("There are no results: no cell was finished.")
    return True


# ------------------------------------------------------------------------------------- reading


def kept_results(folder: Path) -> pd.DataFrame:
    """The results in a folder, read once for each state of the file."""
    found: pd.DataFrame = _once("results", folder, lambda: read_run_results(folder))
    return found


def _tables(folder: Path, results: pd.DataFrame) -> list[Table]:
    def make() -> list[Table]:
        from morphgraph.batch.build_tables import make_table

        evaluation = evaluation_of(folder)
        everything = with_lost_cells(folder, results)
        return [make_table(everything, spec) for spec in specs_of(evaluation, everything)]

    found: list[Table] = _once("tables", folder, make)
    return found


_READ = ("results.parquet", "tasks.parquet", "configuration.yaml", SETTINGS_FILE)
"""The files of a run that its tables are made of."""


def _state(path: Path) -> tuple[int, ...]:
    """What changes with a file's content; empty where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _once(what: str, folder: Path, make: Callable[[], Any]) -> Any:
    """Something made of a run's files, kept for the session while all of them are the same."""
    kept: dict[Any, Any] = st.session_state.setdefault("batch kept", {})
    if not (folder / "results.parquet").is_file():
        raise MorphGraphError("results.parquet is gone. Write the results again.")
    key = (what, str(folder), *(_state(folder / name) for name in _READ))
    if key not in kept:
        made = make()
        while len(kept) >= 2 * _KEPT:
            del kept[next(iter(kept))]
        kept[key] = made
    return kept[key]


# ------------------------------------------------------------------------------------- tables


def _one_table(run: Run, tables: list[Table]) -> None:
    left, right = st.columns([7, 2], vertical_alignment="bottom")
    number = 0
    key = f"batch table {run.name} {len(tables)}"
    if len(tables) > 1:
        with left, remembered(**{key: 0}):
            number = st.selectbox(
                f"Table, one of {len(tables)}",
                range(len(tables)),
                key=key,
                format_func=lambda n: shortened(visible(tables[n].title), 90),
            )
    else:
        left.markdown(f"**{one_plain_line(tables[0].title, 90)}**")
    table = tables[number]
    intervals = False
    if table_has_intervals(table):
        with right, remembered(batch_intervals=False):
            intervals = st.toggle(
                "Intervals",
                key="batch_intervals",
                help="95 % bootstrap intervals, or the spread over seeds.",
            )
    _frame(run, table, intervals)
    _notes(table)
    signatures_of(table.signatures)
    _chart(run, table)


def _frame(run: Run, table: Table, intervals: bool) -> None:
    frame, best = text_frame(table, intervals=intervals)
    titles = column_titles(table)
    names = len(table.rows_by)
    config = {
        str(number): st.column_config.TextColumn(
            shortened(visible(title), 60),
            help=one_plain_line(title, 300) if len(title) > 24 else None,
            width=width_of([title, *frame[str(number)]]),
            pinned=number < min(names, 2),
            alignment="left" if number < names else "right",
        )
        for number, title in enumerate(titles)
    }
    styled = frame.style.apply(lambda _: best.map(lambda is_best: _TINT if is_best else ""), None)
    st.dataframe(
        styled,
        hide_index=True,
        height=_ROW * (min(len(frame), _MOST_ROWS_SHOWN) + 1) + 3,
        column_config=config,
        # Widths are measured when a table is new: another one needs another key.
        key=f"batch frame {run.name} {hash((table.title, intervals, frame.to_csv()))}",
    )


def width_of(texts: Iterable[str]) -> int:
    """The width of a column, in pixels: nothing in it is cut unless it is very long."""
    return min(_WIDEST, 8 * max(map(len, texts), default=0) + 24)


def signatures_of(signatures: Iterable[str]) -> None:
    """What says how scores were made, each distinct one once, to be copied."""
    lines = [line for line in dict.fromkeys(signatures) if line]
    if not lines:
        return
    with st.expander("Signatures", icon=":material/fingerprint:"):
        for line in lines[:_MOST_SIGNATURES]:
            st.code(shortened(visible(line), 1_500), language=None, wrap_lines=True)
        if len(lines) > _MOST_SIGNATURES:
            st.caption(f"The first {_MOST_SIGNATURES} of {len(lines):,}; results have them all.")


def _notes(table: Table) -> None:
    parts = []
    if any(cell.is_best for row in table.rows for cell in row.cells):
        parts.append("Tinted: the best of its group.")
    if table.constants:
        same = [f"{k.lower()} {v}" for k, v in table.constants.items()]
        parts.append(f"The same in all rows: {', '.join(same)}.")
    cells = [cell for row in table.rows for cell in row.cells]
    if any(cell.state == "not run" for cell in cells):
        parts.append("A group with cells that have not run has no best.")
    if any(cell.is_undefined for cell in cells):
        parts.append("n/a: undefined, or not measured.")
    text = " ".join([*table.notes, *parts, *table.tests_explained])
    if text:
        st.caption(one_plain_line(text, 1_500))


def _chart(run: Run, table: Table) -> None:
    from morphgraph.batch.report_charts import chart_note, chart_of

    try:
        figure = chart_of(table)
    except MorphGraphError as error:
        st.caption(one_plain_line(str(error), 1_000))
        return
    if figure is not None:
        st.plotly_chart(
            figure,
            key=f"batch chart {run.name} {hash((table.title, table.rows, table.columns))}",
            config={"displaylogo": False},
        )
    note = chart_note(table)
    if note:
        st.caption(one_plain_line(note, 1_000))


# ------------------------------------------------------------------------------------- files


_FILES = {
    "report.html": ("Report", "One web page with all tables and charts. It needs no network."),
    "report.md": ("Markdown", None),
    "results.csv": ("CSV", "All results, in long form."),
    "results.parquet": ("Parquet", "All results; the tab Compare takes it."),
    "tables.zip": ("LaTeX", "Each table as a .tex file."),
    "run.json": ("run.json", "Versions, machine, command, times."),
    "run.log": ("Log", "With the tracebacks of what failed."),
}


def _take_away(run: Run, results: pd.DataFrame | None) -> None:
    """A button for each file that there is; what is in it is read when it is pressed."""
    folder = run.folder

    def content(name: str) -> Callable[[], bytes]:
        return lambda: file_content(folder / name) or b""

    as_it_is = _FILES.keys() - {"results.csv", "tables.zip"}
    offered = {name: content(name) for name in as_it_is if (folder / name).is_file()}
    if results is not None:
        offered["results.csv"] = lambda: frame_csv(results)
    if any((folder / "tables").glob("*.tex")):
        offered["tables.zip"] = lambda: zipped(files_in(folder / "tables", "*.tex"))
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

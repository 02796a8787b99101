"""What came out of a run: its tables with their charts, and its files to take away.

What a run left in its folder is read with care: anything may be missing, damaged or hostile.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from morphgraph.batch.progress import Run
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import decode_utf8, read_bytes
from morphgraph.core.text import shortened, visible
from morphgraph.tables.model import cell_texts, text_frame
from morphgraph.tables.writing import frame_csv
from web.batch.progress import cell_states, cells_done_text, with_lost_cells
from web.batch.state import SETTINGS_FILE
from web.components import page_frame
from web.hosting import is_public
from web.text import plain_line
from web.widgets import (
    attempt,
    choice,
    download,
    forget_oldest,
    remembered,
    rows_high,
    show_error,
    show_table,
    width_of,
    zipped,
)

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.tables.model import Table

_TINT = "background-color: rgba(125, 90, 230, 0.18)"
_KEPT = 16
_WIDEST = 300
_MOST_SIGNATURES = 30
_MOST_ROWS = 2_000_000
_LARGEST = 2**30
"""A small file can hold billions of equal rows: what would fill the memory is refused."""
_NUMBERS = ("value", "low", "high", "p")
_FIX = "Choose the results.parquet of a run, or start the run again."


def results_of(run: Run) -> bool:
    """The tables of a run and its files; unreadable ones are reported. True if results could be."""
    try:
        results = kept_results(run.folder)
    except MorphGraphError as error:
        show_error(f"The results cannot be shown: {error}")
        _take_away(run, None)
        return False
    try:
        tables = _tables(run.folder, results)
    except MorphGraphError as error:
        show_error(error)
        _take_away(run, results)
        return True
    lacking = cells_done_text(cell_states(run.folder))
    if lacking:
        st.info(plain_line(lacking, 200), icon=":material/hourglass_bottom:")
    st.subheader("Results", anchor=False)
    _take_away(run, results)
    shown = st.tabs(["Tables", "Report"], key=f"batch results {run.name}", on_change="rerun")
    if shown[0].open:
        with shown[0]:
            if tables:
                _one_table(run, tables)
            else:
                st.info("There are no results: no cell was finished.")
    if shown[1].open:
        with shown[1]:
            _report(run)
    return True


def _report(run: Run) -> None:
    """The report as it stands in the folder, in a frame of its own."""
    data = file_content(run.folder / "report.html")
    if data is None:
        st.info("There is no report in the folder of this run.")
        return
    with attempt():
        page_frame(decode_utf8(data, "report.html"), "Report", key="batch report")


# ------------------------------------------------------------------------------------- reading


def results_from(data: bytes, name: str, *, may_be_empty: bool = False) -> pd.DataFrame:
    """Results in long form from the bytes of a ``results.parquet``; else a `FileFormatError`.

    ``may_be_empty``: whether there may be no rows, as after a run in which no cell was done.
    """
    import pandas as pd
    import pyarrow
    from pyarrow import parquet

    from morphgraph.batch.results import read_results

    try:
        facts = parquet.read_metadata(io.BytesIO(data))
        groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
        schema = facts.schema.to_arrow_schema()
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise FileFormatError(
            name, "", "this is not a Parquet file, or a part of one", _FIX
        ) from error
    size = sum(group.total_byte_size for group in groups)
    if facts.num_rows > _MOST_ROWS or size > _LARGEST:
        problem = f"it holds {facts.num_rows:,} rows in {size:,} bytes, too much for results"
        raise FileFormatError(name, "", problem, _FIX)
    # Of no rows, Parquet may not know what they would hold.
    for field in schema if facts.num_rows else ():
        if field.name in _NUMBERS and not _is_number(field.type):
            problem = f"a value is not a number, but {field.type}"
            raise FileFormatError(name, f"column {field.name}", problem, _FIX)
    try:
        found = read_results(io.BytesIO(data))  # type: ignore[arg-type]  # pandas takes both
    except FileFormatError as error:
        raise FileFormatError(name, error.place, error.problem, error.fix) from error
    except (LookupError, AttributeError, NotImplementedError) as error:
        raise FileFormatError(name, "", "its columns are none of results", _FIX) from error
    if not isinstance(found, pd.DataFrame) or not found.columns.is_unique:
        raise FileFormatError(name, "", "a column is a duplicate", _FIX)
    _check_numbers(found, name)
    return found if may_be_empty else not_empty(found, name)


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_null(kind))


def _check_numbers(results: pd.DataFrame, name: str) -> None:
    """Refuse what is infinite: NaN is what has no value."""
    import numpy as np

    for column in _NUMBERS:
        infinite = np.flatnonzero(np.isinf(results[column].to_numpy(float)))
        if len(infinite):
            place = f"column {column}, row {infinite[0] + 1:,}"
            raise FileFormatError(name, place, "a value is not a number, but infinite", _FIX)


def not_empty(results: pd.DataFrame, name: str) -> pd.DataFrame:
    """Results that have rows; else a `FileFormatError`."""
    if not len(results):
        raise FileFormatError(name, "", "it holds no results", _FIX)
    return results


def kept_results(folder: Path) -> pd.DataFrame:
    """The results of a run, read once for each state of the file; without rows if none came out."""

    def read() -> pd.DataFrame:
        name = "results.parquet"
        return results_from(read_bytes(folder / name), name, may_be_empty=True)

    found: pd.DataFrame = _once("results", folder, read)
    return found


def _tables(folder: Path, results: pd.DataFrame) -> list[Table]:
    """The tables that a configuration asks for, or the usual ones."""

    def make() -> list[Table]:
        from morphgraph.batch.build_tables import make_table, usual_tables
        from morphgraph.batch.configuration import parse_evaluation

        path = folder / "configuration.yaml"
        try:
            evaluation, _ = parse_evaluation(decode_utf8(read_bytes(path), path.name), path.name)
            specs = evaluation.tables
        except MorphGraphError:  # it cannot be read any more
            specs = []
        everything = with_lost_cells(folder, results)
        return [make_table(everything, spec) for spec in specs or usual_tables(everything)]

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
        kept[key] = make()
        forget_oldest(kept, _KEPT)
    return kept[key]


# ------------------------------------------------------------------------------------- tables


def _one_table(run: Run, tables: list[Table]) -> None:
    left, right = st.columns([7, 2], vertical_alignment="bottom")
    number = 0
    if len(tables) > 1:
        number = choice(
            left.selectbox,
            f"Table, one of {len(tables)}",
            range(len(tables)),
            key=f"batch table {run.name} {len(tables)}",
            format_func=lambda n: shortened(visible(tables[n].title), 90),
        )
    else:
        left.markdown(f"**{plain_line(tables[0].title, 90)}**")
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
            help=plain_line(title, 300) if len(title) > 24 else None,
            width=width_of([title, *frame[str(number)]], _WIDEST),
            pinned=number < min(names, 2),
            alignment="left" if number < names else "right",
        )
        for number, title in enumerate(titles)
    }
    styled = frame.style.apply(lambda _: best.map(lambda is_best: _TINT if is_best else ""), None)
    show_table(
        styled,
        height=rows_high(min(len(frame), 20)),
        column_config=config,
        # Widths are measured when a table is new: another one needs another key.
        key=f"batch frame {run.name} {hash((table.title, intervals, frame.to_csv()))}",
    )


def column_titles(table: Table) -> list[str]:
    """The headings of a table's columns, those that are spread before the metric."""
    titles = [column.title for column in table.names]
    for column in table.columns:
        spread = ", ".join(part for part in column.spread if part)
        titles.append(f"{spread}: {column.title}" if spread else column.title)
    return titles


def table_has_intervals(table: Table) -> bool:
    """Whether any cell has an interval, or a spread over seeds."""
    return any(cell_texts(column, cell)[1] for cell, column in table.cells())


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
        st.caption(plain_line(text, 1_500))


def _chart(run: Run, table: Table) -> None:
    from morphgraph.batch.build_tables import chart_note, chart_of

    try:
        figure = chart_of(table)
    except MorphGraphError as error:
        st.caption(plain_line(str(error)))
        return
    if figure is not None:
        st.plotly_chart(
            figure,
            key=f"batch chart {run.name} {hash((table.title, table.rows, table.columns))}",
            config={"displaylogo": False},
        )
    note = chart_note(table)
    if note:
        st.caption(plain_line(note))


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
    if is_public():
        as_it_is -= {"run.log"}  # its tracebacks tell of the server, not of the run
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


def files_in(folder: Path, pattern: str) -> dict[str, bytes]:
    """The files of a folder that match, by name; what cannot be read is left out."""
    found = {}
    for path in sorted(folder.glob(pattern)):
        data = file_content(path)
        if data is not None:
            found[path.name] = data
    return found


def file_content(path: Path) -> bytes | None:
    """The content of a file, None if it cannot be read."""
    try:
        return read_bytes(path)
    except MorphGraphError:
        return None

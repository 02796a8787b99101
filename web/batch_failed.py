"""Cells that failed have no row in the results: tables show them all the same, as failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from morphgraph.errors import MorphGraphError
from morphgraph.reading import decode_utf8, read_bytes
from web.batch_state import settings_of

if TYPE_CHECKING:
    import pandas as pd


def failed_cells(folder: Path, results: pd.DataFrame) -> pd.DataFrame:
    """Results with a row for each cell that failed, where the plan of the run can be made again.

    Keys of cells depend on the code, so after an update those of an older run are not found.
    """
    failed = failed_keys(folder)
    if not failed:
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
    return with_failed(
        results,
        [TaskReport(cell, "failed" if cell.key in failed else "done") for cell in cells],
    )


def failed_keys(folder: Path) -> set[str]:
    """The keys of the cells that failed, from ``tasks.parquet``; none if that cannot be read."""
    import pyarrow
    from pyarrow import parquet

    path = folder / "tasks.parquet"
    try:
        tasks = parquet.read_table(path, columns=["key", "kind", "state"]).to_pylist()
    except (OSError, ValueError, KeyError, pyarrow.ArrowException):
        return set()
    return {str(t["key"]) for t in tasks if t["kind"] == "cell" and t["state"] == "failed"}

"""The work of a downstream cell: train a model on a tokeniser's ids, and measure it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.batch.cell_rows import ResultRow
from morphgraph.batch.cells import as_planned, as_table, cell_inputs, method_result
from morphgraph.batch.downstream import task_settings
from morphgraph.models.downstream import DOWNSTREAM
from morphgraph.models.downstream.task import TaskRun
from morphgraph.models.downstream.token_ids import dense_ids, folder_ids
from morphgraph.models.downstream.training import require_libraries

if TYPE_CHECKING:
    import pyarrow as pa


def measure_downstream(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """Measure one task on one tokeniser and method: a row for each `ResultRow`.

    ``folder`` in the spec: where checkpoints are kept until the end.
    """
    require_libraries()
    inputs = cell_inputs(spec, iter(needs))
    segmenter: Any = method_result(spec, inputs.base, inputs.gold_set, inputs.counts).segmenter
    asked = spec["downstream"]
    task, settings = DOWNSTREAM[asked["task"]], task_settings(asked)
    places = [*asked["data"].values(), *([asked["checkpoint"]] if asked["checkpoint"] else [])]
    files = {name: [file for part in places for file in part[name]] for name in ("files",)}
    content = sorted(checksum for part in places for checksum in part["content"])
    examples = as_planned({**files, "content": content}, lambda: task.read(settings))
    ids = dense_ids(segmenter) if settings.model is None else folder_ids(segmenter, settings.model)
    with _checkpoints(spec.get("folder")) as folder:
        run = TaskRun(ids, examples, settings, spec["run_seed"], folder, inputs.base)
        measured = list(task.run(run))
    signature = f"{segmenter.signature()}|task:{task.name}|code:{asked['code']}"
    rows = [
        ResultRow(
            each.metric,
            each.value,
            entries=each.entries,
            signature=signature,
            low=each.low,
            high=each.high,
            step=each.step,
            variant=each.variant,
        )
        for each in measured
    ]
    rows.append(ResultRow("types", float(segmenter.vocabulary_size), signature=signature))
    return as_table(rows)


@contextmanager
def _checkpoints(folder: str | None) -> Iterator[Path]:
    """Yield a folder for checkpoints, which stays if the cell is killed or fails."""
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            yield Path(made)
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)

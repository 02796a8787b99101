"""The batch runner: the scheduling cost of a cell, and the gain from a second worker.

Run: ``python -m benchmarks.batch``
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common import median, save, table

if TYPE_CHECKING:
    import pyarrow

SIMULATED, SECONDS = 200, 0.01
GRID = """\
name: twenty
languages: [en, de]
tokenisers: [{name: demo, file: "demo:{code}"}]
methods:
  - standard
  - dropout(p=0.05)
  - dropout(p=0.1)
  - flota
  - {method: knockout, threshold: [0.4, 0.5]}
  - {method: knockout, holdout: 0.5}
  - {method: rebpe, iterations: [1, 10]}
  - {method: rebpe, anneal: false}
references: ["demo:{code}"]
metrics: [all]
scopes: [morphemic, whole-word]
"""
TURNS = 3


def sleep(spec: Mapping[str, Any], _: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """A cell that only sleeps."""
    import pyarrow

    time.sleep(SECONDS)
    return pyarrow.table({"number": [spec["number"]]})


def compute(spec: Mapping[str, Any], _: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """A cell that only computes, to measure the gain from two workers on this machine."""
    import pyarrow

    return pyarrow.table({"number": [sum(n * n for n in range(3_000_000)) + spec["number"]]})


def main() -> None:
    """Print the median of several rounds of both."""
    from morphgraph.batch.plan import make_plan
    from morphgraph.batch.tasks import Task

    grid = make_plan(GRID, "the demo grid").tasks
    cells = sum(task.kind == "cell" for task in grid)
    simulated = [
        Task("cell", f"cell {number}", sleep, spec, (), SECONDS)
        for number in range(SIMULATED)
        for spec in [{"number": number}]
    ]
    bare = [
        Task("cell", f"cell {number}", compute, spec, (), 0.3)
        for number in range(20)
        for spec in [{"number": number}]
    ]
    starts, alone, one, two, bare_one, bare_two = [], [], [], [], [], []
    for _ in range(TURNS):
        for tasks, workers, found in (
            (simulated, 1, alone),
            (grid, 1, one),
            (grid, 2, two),
            (bare, 1, bare_one),
            (bare, 2, bare_two),
        ):
            start, seconds = _timed(tasks, workers)
            starts.append(start)
            found.append(seconds)
    overhead = (median(alone) - SIMULATED * SECONDS) / SIMULATED
    ratio = median(sorted(a / b for a, b in zip(one, two, strict=True)))
    ceiling = median(sorted(a / b for a, b in zip(bare_one, bare_two, strict=True)))
    rows = [
        [f"{SIMULATED} cells of 10 ms, one worker", f"{median(alone):.2f} s"],
        ["overhead of a cell", f"{1000 * overhead:.1f} ms"],
        [f"demo grid of {cells} cells, one worker", f"{median(one):.2f} s"],
        [f"demo grid of {cells} cells, two workers", f"{median(two):.2f} s"],
        ["two workers are faster", f"{ratio:.2f} ×"],
        ["the same for 20 cells that only compute", f"{ceiling:.2f} ×"],
        ["starting workers, the library loaded there", f"{median(starts):.2f} s"],
    ]
    table(["", "median"], rows)
    save(
        "batch",
        {
            "overhead_ms": 1000 * overhead,
            "simulated_s": alone,
            "one_worker_s": one,
            "two_workers_s": two,
            "ratio": ratio,
            "ceiling": ceiling,
            "start_s": starts,
        },
    )


def _timed(tasks: Sequence[Any], workers: int) -> tuple[float, float]:
    """Return the seconds until workers are ready, and from then until all results are stored."""
    from morphgraph.batch.cluster import local_cluster, warm_up
    from morphgraph.batch.run import ProgressFile, RunProgress, run_tasks
    from morphgraph.batch.tasks import Store

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        with Store(folder) as store, local_cluster(workers) as client:
            warm_up(client)
            ready = time.perf_counter()
            progress = ProgressFile(folder, RunProgress("starting"))
            outcome = run_tasks(tasks, store, client, progress)
            done = time.perf_counter()
    if outcome.failures:
        raise RuntimeError(outcome.failures[0].message)
    return ready - began, done - ready


if __name__ == "__main__":
    main()

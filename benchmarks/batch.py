"""The batch runner: the scheduling cost of a cell, and the gain from a second worker."""

import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow

from benchmarks import table
from morphgraph.batch.cluster import local_cluster, warm_up
from morphgraph.batch.plan import make_plan
from morphgraph.batch.run import ProgressFile, RunProgress, run_tasks
from morphgraph.batch.store import Store, Task

SECONDS = 0.01
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
  - {method: knockout, select: last, percent: 10}
  - {method: rebpe, iterations: [1, 10]}
  - {method: rebpe, anneal: false}
references: ["demo:{code}"]
metrics: [all]
scopes: [morphemic, whole-word]
"""


def sleep(spec: Mapping[str, Any], _: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """A cell that only sleeps."""
    time.sleep(SECONDS)
    return pyarrow.table({"number": [spec["number"]]})


def batch(cells: int = 200, turns: int = 3) -> None:
    """Cells that sleep, and the demo grid by one worker and by two."""
    grid = make_plan(GRID, "the demo grid").tasks
    in_grid = sum(task.kind == "cell" for task in grid)
    sleeping = [Task("cell", f"cell {n}", sleep, {"number": n}, (), SECONDS) for n in range(cells)]
    cases = {"sleeping": (sleeping, 1), "one": (grid, 1), "two": (grid, 2)}
    starts: list[float] = []
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(turns):
        for name, given in cases.items():
            start, taken = _timed(*given)
            starts.append(start)
            seconds[name].append(taken)

    gain = statistics.median(a / b for a, b in zip(seconds["one"], seconds["two"], strict=True))
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    overhead = 1000 * (medians["sleeping"] - cells * SECONDS) / cells
    rows = [
        (f"{cells} cells of 10 ms, one worker", f"{medians['sleeping']:.2f} s"),
        ("overhead of a cell", f"{overhead:.1f} ms"),
        (f"demo grid of {in_grid} cells, one worker", f"{medians['one']:.2f} s"),
        (f"demo grid of {in_grid} cells, two workers", f"{medians['two']:.2f} s"),
        ("two workers are faster", f"{gain:.2f} ×"),
        ("starting workers, the library loaded there", f"{statistics.median(starts):.2f} s"),
    ]
    table(["", "median"], rows)


def _timed(tasks: Sequence[Task], workers: int) -> tuple[float, float]:
    """Return the seconds until workers are ready, and from then until all results are stored."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        with Store(folder) as store, local_cluster(workers) as client:
            warm_up(client)
            ready = time.perf_counter()
            outcome = run_tasks(tasks, store, client, ProgressFile(folder, RunProgress("starting")))
            done = time.perf_counter()
    if outcome.failures:
        raise RuntimeError(outcome.failures[0].message)
    return ready - began, done - ready

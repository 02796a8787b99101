"""What it takes to schedule the tasks of a large counting: a simulated run of 10,000 of them.

    python -m benchmarks.scheduling [--tasks 10000] [--workers 256] [--seconds 0.6]

The tasks are those of `morphgraph count`, with the block, folder and options that travel with each,
on a local dask scheduler; instead of counting, a worker sleeps for about the seconds that a block
of 512 MB takes. All beyond the tasks' own time, divided among the workers, is scheduling.
Results go to benchmarks/results/scheduling.json.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from benchmarks.common import save, table

PROCESSES = 2


def pretend(task: dict[str, Any]) -> dict[str, Any]:
    """Sleep as long as a task would take, and return what counting returns."""
    time.sleep(task["seconds"])
    return {"counts": ["0" * 20 + ".parquet"], "rows": 10**6, "size": task["block"].size, "bad": 0}


def main() -> None:
    from distributed import Client, LocalCluster

    from morphgraph.batch.cluster import runner_on
    from morphgraph.corpus.counting import BLOCK_BYTES
    from morphgraph.corpus.counting_sql import TextBlock
    from morphgraph.corpus.text_files import TextFile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=0.6)
    given = parser.parse_args()
    common = {"pipeline": "whitespace", "column": "text", "bad_lines": "stop", "memory": 2**29}
    files = [
        TextFile(f"/corpus/part-{number:05}.jsonl", BLOCK_BYTES, "1790000000.0")
        for number in range(given.tasks)
    ]
    tasks = [
        {
            **common,
            "folder": "/corpus/.counts.counting",
            "block": TextBlock((file,), BLOCK_BYTES),
            "seconds": given.seconds,
        }
        for file in files
    ]
    threads = given.workers // PROCESSES
    with (
        LocalCluster(
            n_workers=PROCESSES, threads_per_worker=threads, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        run = runner_on(client)
        list(run(pretend, [{**task, "seconds": 0.0} for task in tasks[: given.workers]]))
        started = time.perf_counter()
        done = sum(1 for _ in run(pretend, tasks))
        seconds = time.perf_counter() - started
    own = given.seconds * -(-given.tasks // (threads * PROCESSES))
    each = 1000 * (seconds - own) / given.tasks
    header = ["tasks", "workers", "seconds a task", "s in all", "s without scheduling"]
    numbers = [f"{done:,}", f"{threads * PROCESSES}", f"{given.seconds:g}", f"{seconds:.1f}"]
    table([*header, "ms of scheduling a task"], [[*numbers, f"{own:.1f}", f"{each:.2f}"]])
    save("scheduling", {"tasks": done, "seconds": seconds, "own": own, "milliseconds": each})


if __name__ == "__main__":
    main()

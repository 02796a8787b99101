"""Shared by the benchmarks: real data, timing in rounds, tables, and results as JSON."""

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def data_folder() -> Path:
    """Return the folder of public data; exit with a message if it is missing."""
    folder = Path(os.environ.get("MORPHGRAPH_DATA", ROOT / ".." / "shared" / "data")).resolve()
    if not folder.is_dir():
        sys.exit("Set MORPHGRAPH_DATA to the folder of public data.")
    return folder


def one_thread() -> None:
    """Keep the `tokenizers` library to one thread; call this before importing it."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"


def in_turns(rounds: int, **contestants: Callable[[], object]) -> dict[str, list[float]]:
    """Return the seconds of each contestant in each round, after one warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for round_ in range(rounds + 1):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            if round_:
                seconds[name].append(time.perf_counter() - started)
    return seconds


def median(values: list[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def table(header: list[str], rows: list[list[str]]) -> None:
    """Print a Markdown table."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |")


def processor() -> str:
    """Return the processor's name and family, and its number of cores."""
    known = Path("/proc/cpuinfo")
    told = dict(
        (part.strip() for part in line.partition(":")[::2])
        for line in (known.read_text().splitlines() if known.exists() else [])
        if ":" in line
    )
    name = told.get("model name") or platform.processor() or platform.machine()
    family = f" (family {told['cpu family']})" if "cpu family" in told else ""
    return f"{name}{family}, {os.cpu_count()} cores"


def save(name: str, results: object) -> None:
    """Print the processor, and write results as JSON to ``benchmarks/results``."""
    print(f"\nMeasured on {processor()}.")
    RESULTS.mkdir(exist_ok=True)
    found = {"processor": processor(), "results": results}
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")

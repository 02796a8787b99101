"""Count the words of up to 2 GB of text: throughput, and the peak memory of all processes.

    python -m benchmarks.counting [--gigabytes 2] [--memory 512M] [--workers N] [--pipeline NAME]

The text is drawn from wordfreq's English words by their frequency; one word in twenty is a random
number instead, so that the distinct words keep growing with the text. It is made in a temporary
folder, in files of 1/32 of the whole, half of them plain text and half parquet. An eighth, a
quarter, a half and all of them are counted, each in a new process. Memory is the largest sum, over
all its processes, of the memory that each has to itself or shares in part (Pss), seen every 0.1
seconds; beside the given memory, it has Python and the libraries of each process. Results go to
benchmarks/results/counting.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, save, table

FILES = 32
PARTS = (8, 4, 2, 1)
WORDS_A_TEXT = 400


def make_texts(folder: Path, size: int) -> list[Path]:
    """Write `FILES` files with about ``size`` bytes of text in all, text and parquet in turn."""
    import numpy as np
    import wordfreq

    frequencies = wordfreq.get_frequency_dict("en", "large")
    words = np.array(list(frequencies), dtype=object)
    shares = np.cumsum(np.fromiter(frequencies.values(), float, len(frequencies)))
    random = np.random.default_rng(1)
    files = []
    for number in range(FILES):
        path = folder / f"{number:02}.{'parquet' if number % 2 else 'txt'}"
        _write(path, _lines(random, words, shares / shares[-1], size // FILES))
        files.append(path)
        print(f"\rmade {number + 1} of {FILES} files", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return files


def _lines(random: Any, words: Any, shares: Any, size: int) -> list[str]:
    import numpy as np

    lines: list[str] = []
    length = 0
    while length < size:
        some = words[np.searchsorted(shares, random.random(WORDS_A_TEXT * 250))]
        rare = random.integers(0, 2**40, len(some) // 20)
        some[::20] = [f"{value:x}" for value in rare.tolist()]
        for start in range(0, len(some), WORDS_A_TEXT):
            lines.append(" ".join(some[start : start + WORDS_A_TEXT]))
            length += len(lines[-1].encode()) + 1
    return lines


def _write(path: Path, lines: list[str]) -> None:
    if path.suffix == ".txt":
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"text": lines}), path, row_group_size=5000)


def processes(first: int) -> list[int]:
    """A process and all that come from it."""
    found = [first]
    for process in found:
        try:
            children = Path(f"/proc/{process}/task/{process}/children").read_text()
        except OSError:
            continue
        found += map(int, children.split())
    return found


def memory_of(process: int) -> int:
    """Bytes of memory: its own, and its part of what it shares."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def measure(files: list[Path], out: Path, options: list[str]) -> dict[str, Any]:
    """Count in a new process; gives its report, and its peak memory in bytes."""
    command = [sys.executable, "-m", "benchmarks.counting", "--run", str(out), *options]
    run = subprocess.Popen(
        [*command, *map(str, files)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    peak = 0
    while run.poll() is None:
        peak = max(peak, sum(map(memory_of, processes(run.pid))))
        time.sleep(0.1)
    assert run.stdout is not None
    printed = run.stdout.read()
    if run.returncode:
        raise SystemExit(f"Counting ended with {run.returncode}.")
    report: dict[str, Any] = json.loads(printed)
    return {**report, "peak_memory": peak}


def run_here(out: str, pipeline: str, memory: str, workers: int | None, files: list[str]) -> None:
    import resource
    from dataclasses import asdict

    from morphgraph.corpus.counting import count_to_parquet, parse_memory

    report = count_to_parquet(
        files, out, pipeline=pipeline, memory=parse_memory(memory), workers=workers
    )
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_seconds = sum(one.ru_utime + one.ru_stime for one in used)
    print(json.dumps({**asdict(report), "saved": "", "cpu_seconds": cpu_seconds}))


def text_bytes(files: list[Path]) -> int:
    """The text in some files; parquet packs it."""
    from pyarrow import parquet

    total = 0
    for file in files:
        if file.suffix == ".txt":
            total += file.stat().st_size
        else:
            metadata = parquet.read_metadata(file)
            groups = map(metadata.row_group, range(metadata.num_row_groups))
            total += sum(group.column(0).total_uncompressed_size for group in groups)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--pipeline", default="whitespace")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run_here(given.run, given.pipeline, given.memory, given.workers, given.files)
        return
    if not Path("/proc/self/smaps_rollup").exists():
        sys.exit("This system does not tell the memory of processes in /proc.")
    options = ["--memory", given.memory, "--pipeline", given.pipeline]
    options += ["--workers", str(given.workers)] if given.workers else []
    runs = []
    with tempfile.TemporaryDirectory(prefix="counting-") as name:
        folder = Path(name)
        files = make_texts(folder, int(given.gigabytes * 1e9))
        for part in PARTS:
            some = files[: FILES // part]
            found = measure(some, folder / "counts.parquet", options)
            runs.append({**found, "text_bytes": text_bytes(some)})
    rows = []
    for found in runs:
        size, seconds = found["text_bytes"] / 1e6, found["seconds"]
        rows.append(
            [
                f"{size:,.0f}",
                f"{found['words'] / 1e6:,.1f} M",
                f"{found['distinct'] / 1e6:,.2f} M",
                f"{found['partials']}",
                f"{seconds:.1f}",
                f"{found['cpu_seconds']:.1f}",
                f"{size / seconds:.1f}",
                f"{found['peak_memory'] / 2**20:,.0f}",
            ]
        )
    header = ["MB of text", "running words", "distinct", "parts", "s", "CPU s", "MB/s", "peak MiB"]
    table(header, rows)
    print(f"\n{given.pipeline}, --memory {given.memory}, {runs[-1]['workers']} workers")
    save("counting", {"memory": given.memory, "cores": os.cpu_count(), "runs": runs})


if __name__ == "__main__":
    main()

"""Count the words of up to 2 GB of text: throughput, and the peak memory of all processes.

    python -m benchmarks.counting [--gigabytes 2] [--memory 512M] [--workers N] [--pipeline NAME]

The text is drawn from wordfreq's English words by their frequency; one word in twenty is a number
instead that is drawn from a Pareto distribution, so that the distinct words keep growing with the
text as they do on the web. It is made in a temporary folder, in files of 1/32 of the whole, half of
them plain text and half parquet. An eighth, a quarter, a half and all of them are counted, each by
a new `morphgraph count`, and then by DuckDB (`string_split`, `unnest`, `group by`, written as
parquet) with as many
threads and without a limit of memory. A quarter is
counted by each other pipeline too, and Gigatoken, where it is installed, gets the plain text of it
to train no merges on, which is its pre-tokenisation. Memory is the
largest sum, over all its processes, of the memory that each has to itself or shares in part (Pss),
seen every 0.1 seconds; beside the given memory, it has Python and the libraries of each process.
Then what 100 GB and 10 TB would take is told, from the throughput of a core and Heaps' law, both as
measured. Results go to benchmarks/results/counting.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, save, table

FILES = 32
PARTS = (8, 4, 2, 1)
WORDS_PER_TEXT = 400
SIZES = (100e9, 10e12)
CORES = (1, 16, 256)
_TAIL = 0.1


def make_texts(folder: Path, size: int) -> list[Path]:
    """Write `FILES` files with about ``size`` bytes of text, alternately text and Parquet."""
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
        some = words[np.searchsorted(shares, random.random(WORDS_PER_TEXT * 250))]
        rare = np.minimum(random.pareto(_TAIL, -(-len(some) // 20)), 2.0**62).astype(np.int64)
        some[::20] = [f"{value:x}" for value in rare.tolist()]
        for start in range(0, len(some), WORDS_PER_TEXT):
            lines.append(" ".join(some[start : start + WORDS_PER_TEXT]))
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
    """Return a process and all its descendants."""
    found = [first]
    for process in found:
        for children in Path(f"/proc/{process}/task").glob("*/children"):  # of each thread
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def memory_of(process: int) -> int:
    """Return the bytes of memory that a process has to itself, and its part of shared ones."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def measure(command: list[str]) -> dict[str, Any]:
    """Run a command; return its JSON output, seconds, CPU seconds, and peak memory in bytes."""
    started, before = time.perf_counter(), os.times()
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    peak = 0
    while run.poll() is None:
        peak = max(peak, sum(map(memory_of, processes(run.pid))))
        time.sleep(0.1)
    seconds, after = time.perf_counter() - started, os.times()
    assert run.stdout is not None
    printed = run.stdout.read()
    if run.returncode:
        raise SystemExit(f"Counting ended with {run.returncode}.")
    report: dict[str, Any] = json.loads(printed[printed.index("{") :])
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    report["seconds_inside"] = report.get("seconds", seconds)  # without Python's start-up
    return {**report, "seconds": seconds, "cpu_seconds": used, "peak_memory": peak}


DUCKDB = """
import json, sys
import duckdb
folder, out, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
sql = duckdb.connect(config={"threads": threads, "temp_directory": out + ".tmp"})
sql.execute("set preserve_insertion_order = false")
sql.execute("set enable_progress_bar = false")
lines = "read_csv('%s/*.txt', header = false, delim = '\x01', quote = '', escape = '', " % folder
lines += "max_line_size = 10000000, columns = {'text': 'varchar'})"
sql.execute(f'''copy (
    select word, count(*) as count from (
        select unnest(string_split(text, ' ')) as word from (
            select text from {lines} union all select text from read_parquet('{folder}/*.parquet')
        )
    ) group by word
) to '{out}' (format parquet, compression zstd)''')
made = sql.execute(f"select count(*), sum(count) from read_parquet('{out}')")
((distinct, words),) = made.fetchall()
print(json.dumps({"distinct": distinct, "words": int(words)}))
"""


GIGATOKEN = """
import json, pathlib, sys, time
import gigatoken
text = b"".join(file.read_bytes() for file in sorted(pathlib.Path(sys.argv[1]).glob("*.txt")))
started = time.perf_counter()
gigatoken.train_bpe(text, 256, [], separator=b"\\n")
seconds = time.perf_counter() - started
print(json.dumps({"bytes": len(text), "seconds": seconds}))
"""


def text_bytes(files: list[Path]) -> int:
    """Return the bytes of text in some files; Parquet compresses it."""
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


def heaps_law(words: list[int], distinct: list[int]) -> tuple[float, float]:
    """Return K and β of distinct = K · wordsᵝ, by least squares of the logarithms.

    >>> K, beta = heaps_law([10**6, 10**8], [4 * 10**3, 4 * 10**4])
    >>> round(K, 6), beta
    (4.0, 0.5)
    """
    import numpy as np

    beta, log_k = np.polyfit(np.log(words), np.log(distinct), 1)
    return float(np.exp(log_k)), round(float(beta), 12)


def project(runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return estimates for large texts, as rows of a table.

    Each block yields its distinct words; a sum reads those of all blocks.
    """
    from morphgraph.corpus.counting import BLOCK_BYTES, partitions_of

    last = runs[-1]
    k, beta = heaps_law([run["words"] for run in runs], [run["distinct"] for run in runs])
    counting = last["workers"] * (last["seconds_inside"] - last["summing_seconds"])
    summing = last["workers"] * last["summing_seconds"] / last["rows"]  # seconds of a core a row
    a_word, a_kept = last["words"] / last["text_bytes"], last["out_bytes"] / last["distinct"]
    rows = []
    for size in SIZES:
        block = BLOCK_BYTES
        distinct = k * (size * a_word) ** beta
        in_blocks = size / block * k * (block * a_word) ** beta
        partitions = partitions_of(int(size))
        hours = size / last["text_bytes"] * counting / 3600, in_blocks * summing / 3600
        rows.append(
            [
                f"{size / 1e9:,.0f} GB",
                f"{distinct / 1e6:,.0f} M",
                f"{size / block:,.0f} of {block / 1e6:,.0f} MB",
                f"{in_blocks / 1e6:,.0f} M",
                f"{partitions:,} of {distinct * a_kept / partitions / 1e6:,.1f} MB",
                *(f"{hours[0] / cores:.2f} + {hours[1] / cores:.2f}" for cores in CORES),
            ]
        )
    print(f"\ndistinct = {k:.2f} · words^{beta:.3f}")
    print(f"a core counts {last['text_bytes'] / 1e6 / counting:.1f} MB/s, ", end="")
    print(f"and sums {1e-6 / summing:.2f} million words of blocks a second\n")
    return rows


def main() -> None:
    from morphgraph.corpus.counting import KINDS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--pipeline", default="whitespace")
    given = parser.parse_args()
    if not Path("/proc/self/smaps_rollup").exists():
        sys.exit("This system does not tell the memory of processes in /proc.")
    options = ["--memory", given.memory, "--json"]
    options += ["--workers", str(given.workers)] if given.workers else []
    runs = []
    with tempfile.TemporaryDirectory(prefix="counting-") as name:
        folder = Path(name)

        def counted(place: Path, pipeline: str) -> dict[str, Any]:
            command = [sys.executable, "-m", "morphgraph", "count", str(place), *options]
            command += ["--out", str(folder / "counts"), "--pipeline", pipeline]
            return measure(command)

        files = make_texts(folder, int(given.gigabytes * 1e9))
        for part in PARTS:
            some, place = files[: FILES // part], folder / f"{part}"
            place.mkdir()
            for file in some:
                (place / file.name).symlink_to(file)
            found = counted(place, given.pipeline)
            found["out_bytes"] = sum(file.stat().st_size for file in (folder / "counts").iterdir())
            threads = str(given.workers or os.cpu_count())
            theirs = [sys.executable, "-c", DUCKDB, str(place), str(folder / "peer"), threads]
            found["duckdb"] = measure(theirs)
            same = [found["duckdb"][name] == found[name] for name in ("words", "distinct")]
            if given.pipeline == "whitespace" and not all(same):
                sys.exit("The two have counted different words.")
            runs.append({**found, "text_bytes": text_bytes(some)})
        quarter = folder / "4"
        others = {kind: counted(quarter, kind) for kind in KINDS if kind != given.pipeline}
        if find_spec("gigatoken") is not None:
            others["Gigatoken"] = measure([sys.executable, "-c", GIGATOKEN, str(quarter)])
    rows = []
    for found in runs:
        size, other = found["text_bytes"] / 1e6, found["duckdb"]
        rows.append(
            [
                f"{size:,.0f}",
                f"{found['words'] / 1e6:,.1f} M",
                f"{found['distinct'] / 1e6:,.2f} M",
                f"{found['blocks']}",
                f"{found['seconds']:.1f}",
                f"{found['cpu_seconds']:.1f}",
                f"{size / found['seconds']:.1f}",
                f"{found['peak_memory'] / 2**20:,.0f}",
                f"{other['seconds']:.1f}",
                f"{other['cpu_seconds']:.1f}",
                f"{other['peak_memory'] / 2**20:,.0f}",
                f"{found['seconds'] / other['seconds']:.2f}",
            ]
        )
    header = ["MB of text", "running words", "distinct", "blocks", "s", "CPU s", "MB/s", "peak MiB"]
    table([*header, "DuckDB s", "CPU s", "peak MiB", "ratio"], rows)
    print(f"\n{given.pipeline}, --memory {given.memory}, {runs[-1]['workers']} workers")
    megabytes = runs[PARTS.index(4)]["text_bytes"] / 1e6
    rows = [
        [
            kind,
            f"{other['bytes'] / 1e6 if kind == 'Gigatoken' else megabytes:,.0f}",
            f"{other['seconds_inside']:.1f}",
            f"{other['cpu_seconds']:.1f}",
        ]
        for kind, other in others.items()
    ]
    table(["beside it", "MB of text", "s, without the start", "CPU s"], rows)
    header = ["text", "distinct", "blocks", "words in blocks", "partitions"]
    table([*header, *(f"hours on {cores}" for cores in CORES)], project(runs))
    save(
        "counting",
        {"memory": given.memory, "cores": os.cpu_count(), "runs": runs, "others": others},
    )


if __name__ == "__main__":
    main()

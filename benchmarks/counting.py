"""Counting up to 2 GB of text: throughput, and the peak memory of all processes.

The text is drawn from wordfreq's English words by their frequency; one word in twenty is a number
from a Pareto distribution, so that the distinct words keep growing with the text as they do on the
web. It is made in a temporary folder, in 32 files, half of them plain text and half Parquet.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import apart, measured, table

FILES = 32
PARTS = (8, 4, 2, 1)
WORDS_PER_TEXT = 400
MEMORY = "512M"
TOOK = ["s {:.1f}", "CPU s {:.1f}", "MB/s {:.1f}", "peak MiB {:,.0f}"]
_TAIL = 0.1
DUCKDB = """
copy (
    select word, count(*) as count from (
        select unnest(string_split(text, ' ')) as word from (
            select text from read_csv('{folder}/*.txt', header = false, delim = '\x01',
                quote = '', escape = '', max_line_size = 10000000, columns = {{'text': 'varchar'}})
            union all select text from read_parquet('{folder}/*.parquet')
        )
    ) group by word
) to '{out}' (format parquet, compression zstd)
"""


def make_texts(folder: Path, size: int) -> dict[Path, int]:
    """Write `FILES` files with about ``size`` bytes of text, alternately text and Parquet.

    Return the bytes of text in each.
    """
    import numpy as np
    import pyarrow
    import wordfreq
    from pyarrow import parquet

    frequencies = wordfreq.get_frequency_dict("en", "large")
    words = np.array(list(frequencies), dtype=object)
    shares = np.cumsum(np.fromiter(frequencies.values(), float, len(frequencies)))
    random = np.random.default_rng(1)
    files = {}
    for number in range(FILES):
        path = folder / f"{number:02}.{'parquet' if number % 2 else 'txt'}"
        lines = _lines(random, words, shares / shares[-1], size // FILES)
        if path.suffix == ".txt":
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        else:
            parquet.write_table(pyarrow.table({"text": lines}), path, row_group_size=5000)
        files[path] = sum(len(line.encode()) + 1 for line in lines)
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


def count_by_duckdb(folder: str, out: str, threads: int) -> dict[str, int]:
    """Count by plain SQL, without a limit of memory, into a Parquet file."""
    sql = duckdb.connect(config={"threads": threads, "temp_directory": out + ".tmp"})
    sql.execute("set preserve_insertion_order = false")
    sql.execute("set enable_progress_bar = false")
    sql.execute(DUCKDB.format(folder=folder, out=out))
    totals = sql.execute(f"select count(*), sum(count) from read_parquet('{out}')")
    [(distinct, words)] = totals.fetchall()
    return {"distinct": distinct, "words": int(words)}


def counting(gigabytes: float = 2.0) -> None:
    """`morphgraph count` of an eighth, a quarter, a half and all, beside DuckDB's plain SQL."""
    workers = os.cpu_count() or 1
    rows = []
    with tempfile.TemporaryDirectory(prefix="counting-") as name:
        folder = Path(name)
        sizes = make_texts(folder, int(gigabytes * 1e9))
        for part in PARTS:
            some, place = list(sizes)[: FILES // part], folder / f"{part}"
            place.mkdir()
            for file in some:
                (place / file.name).symlink_to(file)
            command = ["-m", "morphgraph", "count", place, "--memory", MEMORY, "--json"]
            command += ["--out", folder / "counts.parquet", "--workers", workers]
            ours = measured(command)
            peer = apart(count_by_duckdb, place, folder / "peer", workers)
            if any(peer[name] != ours[name] for name in ("words", "distinct")):
                sys.exit("The two have counted different words.")
            size = sum(map(sizes.__getitem__, some)) / 1e6
            own, theirs = took(ours, size), took(peer, size)
            counted = ours["words"] / 1e6, ours["distinct"] / 1e6
            rows.append((size, *counted, *own, *theirs, own[0] / theirs[0], own[1] / theirs[1]))
    header = ["MB of text {:,.0f}", "running words {:,.1f} M", "distinct {:,.2f} M", *TOOK]
    header += [f"DuckDB, {column}" for column in TOOK]
    table([*header, "ratio of s {:.2f}", "of CPU s {:.2f}"], rows)
    print(f"\n--memory {MEMORY}, {workers} workers")


def took(found: dict[str, Any], megabytes: float) -> list[float]:
    """Return what a command took, in the order of `TOOK`."""
    seconds = found["command_seconds"]
    return [seconds, found["cpu_seconds"], megabytes / seconds, found["together"] * 1e6 / 2**20]

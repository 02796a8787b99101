"""Counting and measuring up to 2 GB of text: throughput, and the peak memory of all processes.

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

from benchmarks import GERMAN_BPE, apart, data, measured, save, table

FILES = 32
PARTS = (8, 4, 2, 1)
WORDS_PER_TEXT = 400
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


def make_texts(folder: Path, size: int) -> list[Path]:
    """Write `FILES` files with about ``size`` bytes of text, alternately text and Parquet."""
    import numpy as np
    import pyarrow
    import wordfreq
    from pyarrow import parquet

    frequencies = wordfreq.get_frequency_dict("en", "large")
    words = np.array(list(frequencies), dtype=object)
    shares = np.cumsum(np.fromiter(frequencies.values(), float, len(frequencies)))
    random = np.random.default_rng(1)
    files = []
    for number in range(FILES):
        path = folder / f"{number:02}.{'parquet' if number % 2 else 'txt'}"
        lines = _lines(random, words, shares / shares[-1], size // FILES)
        if path.suffix == ".txt":
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        else:
            parquet.write_table(pyarrow.table({"text": lines}), path, row_group_size=5000)
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


def count_by_duckdb(folder: str, out: str, threads: int) -> dict[str, int]:
    """Count by plain SQL, without a limit of memory, into a Parquet file."""
    sql = duckdb.connect(config={"threads": threads, "temp_directory": out + ".tmp"})
    sql.execute("set preserve_insertion_order = false")
    sql.execute("set enable_progress_bar = false")
    sql.execute(DUCKDB.format(folder=folder, out=out))
    made = sql.execute(f"select count(*), sum(count) from read_parquet('{out}')")
    [(distinct, words)] = made.fetchall()
    return {"distinct": distinct, "words": int(words)}


def counting(
    gigabytes: float = 2.0, memory: str = "512M", workers: int = 0, pipeline: str = "whitespace"
) -> None:
    """`morphgraph count` of an eighth, a quarter, a half and all, beside DuckDB's plain SQL."""
    workers = workers or os.cpu_count() or 1
    runs = []
    with tempfile.TemporaryDirectory(prefix="counting-") as name:
        folder = Path(name)
        files = make_texts(folder, int(gigabytes * 1e9))
        for part in PARTS:
            some, place = files[: FILES // part], folder / f"{part}"
            place.mkdir()
            for file in some:
                (place / file.name).symlink_to(file)
            command = ["-m", "morphgraph", "count", place, "--memory", memory, "--json"]
            command += ["--out", folder / "counts", "--pipeline", pipeline, "--workers", workers]
            found = measured(command)
            peer = apart(count_by_duckdb, place, folder / "peer", workers)
            same = [peer[name] == found[name] for name in ("words", "distinct")]
            if pipeline == "whitespace" and not all(same):
                sys.exit("The two have counted different words.")
            runs.append({**found, "duckdb": peer, "text_bytes": text_bytes(some)})
    rows = []
    for found in runs:
        size, other = found["text_bytes"] / 1e6, found["duckdb"]
        seconds, theirs = found["command_seconds"], other["command_seconds"]
        rows.append(
            (
                f"{size:,.0f}",
                f"{found['words'] / 1e6:,.1f} M",
                f"{found['distinct'] / 1e6:,.2f} M",
                found["blocks"],
                f"{seconds:.1f}",
                f"{found['cpu_seconds']:.1f}",
                f"{size / seconds:.1f}",
                f"{found['together'] * 1e6 / 2**20:,.0f}",
                f"{theirs:.1f}",
                f"{other['cpu_seconds']:.1f}",
                f"{other['together'] * 1e6 / 2**20:,.0f}",
                f"{seconds / theirs:.2f}",
                f"{found['cpu_seconds'] / other['cpu_seconds']:.2f}",
            )
        )
    header = ["MB of text", "running words", "distinct", "blocks", "s", "CPU s", "MB/s", "peak MiB"]
    table([*header, "DuckDB s", "CPU s", "peak MiB", "ratio of s", "of CPU s"], rows)
    print(f"\n{pipeline}, --memory {memory}, {workers} workers")
    save("counting", {"memory": memory, "cores": os.cpu_count(), "runs": runs})


def measuring(gigabytes: float = 2.0, memory: str = "512M", workers: int = 2) -> None:
    """`morphgraph vocabulary --corpus` by oscar-de-40k: words, and an eighth as whole lines."""
    command = ["-m", "morphgraph", "vocabulary", data(GERMAN_BPE), "--json"]
    command += ["--set", f"memory={memory},workers={workers}"]
    runs, rows = [], []
    with tempfile.TemporaryDirectory(prefix="measuring-") as name:
        files = make_texts(Path(name), int(gigabytes * 1e9))
        for unit, part in (("words", 1), ("lines", 8)):
            some = files[: FILES // part]
            corpus = [word for file in some for word in ("--corpus", file)]
            found = measured([*command, "--set", f"unit={unit}", *corpus])
            runs.append({**found, "text_bytes": text_bytes(some)})
    for found in runs:
        size, [total] = found["text_bytes"] / 1e6, found["all"]
        rows.append(
            (
                found["unit"],
                f"{size:,.0f}",
                *(f"{total[key] / 1e6:,.1f} M" for key in ("words", "tokens")),
                f"{found['command_seconds']:.1f}",
                f"{found['cpu_seconds']:.1f}",
                f"{size / found['command_seconds']:.1f}",
                f"{found['together'] * 1e6 / 2**20:,.0f}",
            )
        )
    header = ["segmented", "MB of text", "words", "tokens", "s", "CPU s", "MB/s", "peak MiB"]
    table(header, rows)
    print(f"\n--memory {memory}, {workers} workers")
    save("measuring", {"memory": memory, "cores": os.cpu_count(), "runs": runs})

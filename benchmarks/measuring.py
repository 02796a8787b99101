"""Measure 2 GB of text by a tokeniser: throughput, and the peak memory of all processes.

    python -m benchmarks.measuring [--gigabytes 2] [--memory 512M] [--workers 2]

The text is that of `benchmarks.counting`, half of it plain and half parquet; the tokeniser is
oscar-de-40k of the public data. Each row is one `morphgraph vocabulary --corpus` over all files, in
processes of its own: words of running text, and lines as whole texts, of an eighth of the files as
that is slower. Memory is measured as there. Results go to benchmarks/results/measuring.json.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.common import data_folder, save, table
from benchmarks.counting import FILES, make_texts, measure, text_bytes

PARTS = {"words": 1, "lines": 8}
"""The unit of segmentation, and the share of the files."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    tokeniser = data_folder() / "tokenizers" / "oscar-de-40k"
    options = ["--memory", given.memory, "--workers", str(given.workers), "--json"]
    runs = []
    with tempfile.TemporaryDirectory(prefix="measuring-") as name:
        files = make_texts(Path(name), int(given.gigabytes * 1e9))
        for unit, part in PARTS.items():
            some = files[: FILES // part]
            command = [sys.executable, "-m", "morphgraph", "vocabulary", "--unit", unit]
            command += ["--tokenizer", str(tokeniser), *options]
            for file in some:
                command += ["--corpus", str(file)]
            runs.append({**measure(command), "text_bytes": text_bytes(some)})
    rows = []
    for found in runs:
        size, [total] = found["text_bytes"] / 1e6, found["all"]
        rows.append(
            [
                found["unit"],
                f"{size:,.0f}",
                f"{total['words'] / 1e6:,.1f} M",
                f"{total['tokens'] / 1e6:,.1f} M",
                f"{found['seconds']:.1f}",
                f"{found['cpu_seconds']:.1f}",
                f"{size / found['seconds']:.1f}",
                f"{found['peak_memory'] / 2**20:,.0f}",
            ]
        )
    header = ["segmented", "MB of text", "words", "tokens", "s", "CPU s", "MB/s", "peak MiB"]
    table(header, rows)
    print(f"\n--memory {given.memory}, {given.workers} workers")
    save("measuring", {"memory": given.memory, "cores": os.cpu_count(), "runs": runs})


if __name__ == "__main__":
    main()

"""Measuring up to 2 GB of text: throughput, and the peak memory of all processes."""

import tempfile
from pathlib import Path

from benchmarks import GERMAN_BPE, data, measured, table
from benchmarks.counting import FILES, MEMORY, TOOK, make_texts, took


def measuring(gigabytes: float = 2.0) -> None:
    """`morphgraph measure` by oscar-de-40k: words, and an eighth as whole lines."""
    command = ["-m", "morphgraph", "measure", data(GERMAN_BPE), "--json"]
    command += ["--set", f"memory={MEMORY},workers=2"]
    rows = []
    with tempfile.TemporaryDirectory(prefix="measuring-") as name:
        sizes = make_texts(Path(name), int(gigabytes * 1e9))
        for unit, part in (("words", 1), ("lines", 8)):
            some = list(sizes)[: FILES // part]
            corpus = [word for file in some for word in ("--corpus", file)]
            report = measured([*command, "--set", f"unit={unit}", *corpus])
            size, [total] = sum(map(sizes.__getitem__, some)) / 1e6, report["all"]
            words, tokens = (total[key] / 1e6 for key in ("words", "tokens"))
            rows.append((unit, size, words, tokens, *took(report, size)))
    header = ["segmented", "MB of text {:,.0f}", "words {:,.1f} M", "tokens {:,.1f} M"]
    table([*header, *TOOK], rows)
    print(f"\n--memory {MEMORY}, 2 workers")

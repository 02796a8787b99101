"""Small evaluations, and how to start a run of 60 cells as a process of its own.

All 60 are for a soak: else a third of them shows the same.
"""

import os
import subprocess
import sys

import pandas as pd
from effort import share_of

TINY = """\
name: tiny
title: A tiny run
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
methods: [standard, dropout(p=0.1)]
references: ["demo:en"]
intervals: false
"""
CELLS = share_of(60, 20)
RATES = ", ".join(f"{number / 100:g}" for number in range(1, CELLS // 2 + 1))
SIXTY = f"""\
name: sixty
languages: [en]
tokenisers:
  - name: demo
    file: demo:en
methods:
  - method: dropout
    p: [{RATES}]
references: ["demo:en"]
seeds: [0, 1]
intervals: false
"""


def evaluate(*arguments):
    """The command in a process of its own, as workers start from one."""
    return subprocess.run(
        [sys.executable, "-m", "morphgraph", "evaluate", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=180,
    )


def start(folder, workers=2):
    """Start the run in a folder, in a session of its own."""
    configuration = folder.parent / f"{folder.name}.yaml"
    configuration.write_text(SIXTY)
    command = [sys.executable, "-m", "morphgraph", "evaluate", str(configuration)]
    return subprocess.Popen(
        [*command, "--out", str(folder), "--workers", str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, "MORPHGRAPH_CACHE": str(folder.parent)},
    )


def results(folder):
    """The rows of a run."""
    return pd.read_parquet(folder / "results.parquet")

"""Carry a checkpoint of 1 GB over to another tokeniser: time beside copying it, and peak memory.

    python -m benchmarks.transplant [--gigabytes 1]

The checkpoint is made in a temporary folder, for a tokeniser of 32,000 types trained on wordfreq's
English words: an input and an output matrix of 2,048 float16 numbers a row, and tensors of 64 MB as
layers have them. It goes to what ReBPE makes of that tokeniser with the English demo's gold. Its
file is copied in turn with the transplant, each in a new process with the library loaded, until
what was written is on the disk; one round more comes first. Memory is the largest resident set of
that process. Results go to benchmarks/results/transplant.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ROOT, median, save, table

TYPES, WIDTH, LAYER = 32_000, 2_048, (16_384, 2_048)
ROUNDS = 3


def make(folder: Path, gigabytes: float) -> int:
    """Make a model and another tokeniser for it; return the bytes of its largest tensor."""
    import morphgraph as mg
    from morphgraph.corpus.counts import to_word_counts
    from morphgraph.models.checkpoint import NewTensor, write_safetensors
    from morphgraph.segment.training import train_tokeniser

    document, _ = train_tokeniser(to_word_counts("wordfreq:en"), TYPES)
    model = folder / "model"
    model.mkdir()
    (model / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    config = {"model_type": "llama", "vocab_size": TYPES, "tie_word_embeddings": False}
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    random = np.random.default_rng(1)

    def tensor(name: str, shape: tuple[int, int]) -> NewTensor:
        def chunks() -> Any:
            for start in range(0, shape[0], 256):
                size = (min(256, shape[0] - start), shape[1])
                yield random.standard_normal(size, np.float32).astype(np.float16)

        return NewTensor(name, "F16", shape, chunks)

    tensors = [tensor(name, (TYPES, WIDTH)) for name in ("embed_tokens.weight", "lm_head.weight")]
    largest = tensors[0].bytes_
    while sum(each.bytes_ for each in tensors) < gigabytes * 1e9:
        tensors.append(tensor(f"layers.{len(tensors) - 2}.weight", LAYER))
    write_safetensors(model / "model.safetensors", tensors, {"format": "pt"})
    mg.load(model).rebpe("demo:en").tokeniser.export(folder / "other")
    return largest


def run_here(what: str, folder: Path, out: Path) -> None:
    """Copy or transplant the checkpoint, and print seconds and memory."""
    import morphgraph as mg
    import morphgraph.models.transplanting  # loaded before the clock starts

    os.sync()  # flushes earlier writes
    started = time.perf_counter()
    made = None
    if what == "copy":
        out.mkdir()
        shutil.copyfile(folder / "model" / "model.safetensors", out / "model.safetensors")
        with (out / "model.safetensors").open("rb+") as file:
            os.fsync(file.fileno())
    else:
        made = mg.models.transplant(folder / "model", folder / "other", out)
    seconds = time.perf_counter() - started
    # Not ru_maxrss, which includes the parent process.
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
    counts = {} if made is None else {"kept": len(made.kept), "made": len(made.made)}
    print(json.dumps({"seconds": seconds, "peak_memory": peak, **counts}))


def measure(what: str, folder: Path) -> dict[str, Any]:
    """Do it in a new process, and delete its output."""
    out = folder / "out"
    command = [sys.executable, "-m", "benchmarks.transplant", "--run", what, str(folder), str(out)]
    printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    shutil.rmtree(out)
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


def main() -> None:
    """Make the checkpoint, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    given, _ = parser.parse_known_args()
    if given.run:
        what, folder, out = given.run
        run_here(what, Path(folder), Path(out))
        return
    with tempfile.TemporaryDirectory(prefix="transplant-") as name:
        folder = Path(name)
        largest = make(folder, given.gigabytes)
        size = (folder / "model" / "model.safetensors").stat().st_size
        found: dict[str, list[dict[str, Any]]] = {"copy": [], "transplant": []}
        for round_ in range(ROUNDS + 1):
            for what, runs in found.items():
                measured = measure(what, folder)
                if round_:
                    runs.append(measured)
    seconds = {what: median([run["seconds"] for run in runs]) for what, runs in found.items()}
    peaks = {what: max(run["peak_memory"] for run in runs) for what, runs in found.items()}
    table(
        ["work", "seconds", "× copying", "peak MB"],
        [
            [
                what,
                f"{seconds[what]:.2f}",
                f"{seconds[what] / seconds['copy']:.2f}",
                f"{peaks[what] / 1e6:,.0f}",
            ]
            for what in found
        ],
    )
    run = found["transplant"][0]
    print(
        f"\n{size / 1e6:,.0f} MB, the largest tensor {largest / 1e6:,.0f} MB; {run['kept']:,} rows "
        f"copied and {run['made']:,} made in each of two matrices; {ROUNDS} rounds"
    )
    save("transplant", {"bytes": size, "largest_tensor": largest, "runs": found})


if __name__ == "__main__":
    main()

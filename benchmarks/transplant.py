"""Carry a checkpoint of 1 GB over to another tokeniser: time beside copying it, and peak memory.

    python -m benchmarks.transplant [--gigabytes 1]

The checkpoint is made in a temporary folder: the demo's tokeniser (`demo:en`) with its first merges
many times wider, that is, 8,000 ids of 8,192 float16 numbers as input and as output, the rest in
tensors of 64 MB as layers have them. A quarter of the merged types are dropped, and as many new
ones are made. The file is copied by `shutil.copyfile`, in turn with the transplant, each in a new
process, after one round for the caches; memory is the largest resident set of that process, which
the kernel tells. Results go to benchmarks/results/transplant.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ROOT, median, save, table

ROWS, WIDTH, LAYER = 8_000, 8_192, (4_096, 8_192)
ROUNDS = 3


def make(folder: Path, gigabytes: float) -> None:
    """A model, and another tokeniser for it."""
    from morphgraph.core.demos import demo_tokeniser_path
    from morphgraph.models.safetensors_files import NewTensor, write_safetensors

    document = json.loads(demo_tokeniser_path("en").read_text(encoding="utf-8"))
    model, other = folder / "model", folder / "other"
    for place in (model, other):
        place.mkdir()
    (model / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    ids = document["model"]["vocab"]
    rows = max(ids.values()) + 1
    config = {"model_type": "llama", "vocab_size": rows, "tie_word_embeddings": False}
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    random = np.random.default_rng(1)

    def tensor(name: str, shape: tuple[int, int]) -> NewTensor:
        def chunks() -> Any:
            for start in range(0, shape[0], 256):
                size = (min(256, shape[0] - start), shape[1])
                yield random.standard_normal(size, np.float32).astype(np.float16)

        return NewTensor(name, "F16", shape, chunks)

    both = [
        tensor("model.embed_tokens.weight", (rows, WIDTH)),
        tensor("lm_head.weight", (rows, WIDTH)),
    ]
    left = gigabytes * 1e9 - sum(each.bytes_ for each in both)
    layer = tensor("", LAYER).bytes_
    layers = [
        tensor(f"model.layers.{n}.mlp.weight", LAYER) for n in range(max(1, int(left / layer)))
    ]
    write_safetensors(model / "model.safetensors", [*both, *layers], {"format": "pt"})
    merges = document["model"]["merges"]
    gone = len(merges) // 4
    kept = [each if isinstance(each, list) else each.split(" ") for each in merges[:-gone]]
    results = {"".join(parts) for parts in kept}
    atoms = [
        text
        for text in ids
        if text not in {"".join(m) if isinstance(m, list) else m.replace(" ", "") for m in merges}
    ]
    tails = sorted(results)[:: max(1, len(results) // gone)]
    for left_part in tails[:gone]:
        if left_part + "s" not in results:
            kept.append([left_part, "s"])
            results.add(left_part + "s")
    texts = dict.fromkeys([*atoms, *("".join(parts) for parts in kept)])
    document["model"] |= {"vocab": {text: n for n, text in enumerate(texts)}, "merges": kept}
    for token in document["added_tokens"]:
        token["id"] = document["model"]["vocab"][token["content"]]
    (other / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")


def run_here(what: str, folder: Path, out: Path) -> None:
    started = time.perf_counter()
    made = None
    if what == "copy":
        out.mkdir()
        shutil.copyfile(folder / "model" / "model.safetensors", out / "model.safetensors")
    else:
        import morphgraph as mg

        made = mg.transplant(folder / "model", folder / "other", out)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    counts = {} if made is None else {"kept": len(made.kept), "made": len(made.made)}
    print(json.dumps({"seconds": seconds, "peak_memory": peak, **counts}))


def measure(what: str, folder: Path) -> dict[str, Any]:
    """Do it in a new process, and remove what it wrote."""
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
        make(folder, given.gigabytes)
        size = (folder / "model" / "model.safetensors").stat().st_size
        found: dict[str, list[dict[str, Any]]] = {"copy": [], "transplant": []}
        for round_ in range(ROUNDS + 1):
            for what, runs in found.items():
                measured = measure(what, folder)
                if round_:
                    runs.append(measured)
    seconds = {what: median([run["seconds"] for run in runs]) for what, runs in found.items()}
    peaks = {what: max(run["peak_memory"] for run in runs) for what, runs in found.items()}
    largest = ROWS * WIDTH * 2
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

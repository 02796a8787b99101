"""Transplants beside copies of files: ``python -m benchmarks transplant`` of the repository."""

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import morphgraph as mg
from benchmarks import apart, table
from morphgraph_models.checkpoint import NewTensor, write_safetensors

TYPES, WIDTH, LAYER = 32_000, 2_048, (16_384, 2_048)


def transplant(gigabytes: float = 1.0, rounds: int = 3) -> None:
    """Carry a checkpoint over to what ReBPE makes of its tokeniser, beside copying its file.

    The checkpoint is made for 32,000 types trained on wordfreq's English words: two matrices of
    2,048 float16 numbers a row, and tensors of 64 MB as layers have them. Each copy and transplant
    is a new process with the library loaded, and ends when all is on the disk.
    """
    with tempfile.TemporaryDirectory(prefix="transplant-") as name:
        folder = Path(name)
        largest = _make_checkpoint(folder, gigabytes)
        size = (folder / "model" / "model.safetensors").stat().st_size
        measured: dict[str, list[dict[str, Any]]] = {"copy": [], "transplant": []}
        for _ in range(rounds + 1):
            for what, runs in measured.items():
                runs.append(apart(copy_or_transplant, what, folder, folder / "out"))
                shutil.rmtree(folder / "out")
    seconds = {
        what: statistics.median(run["seconds"] for run in runs[1:])
        for what, runs in measured.items()
    }
    rows = [
        (what, took, took / seconds["copy"], max(run["megabytes"] for run in measured[what]))
        for what, took in seconds.items()
    ]
    table(["work", "seconds {:.2f}", "× copying {:.2f}", "peak MB {:,.0f}"], rows)
    run = measured["transplant"][0]
    print(
        f"\n{size / 1e6:,.0f} MB, the largest tensor {largest / 1e6:,.0f} MB; {run['kept']:,} rows "
        f"copied and {run['made']:,} made in each of two matrices; {rounds} rounds"
    )


def _make_checkpoint(folder: Path, gigabytes: float) -> int:
    """Make a model and another tokeniser for it; return the bytes of its largest tensor."""
    model = folder / "model"
    model.mkdir()
    mg.train("bpe", "wordfreq:en", TYPES).save(model / "tokenizer.json")
    config = {"model_type": "llama", "vocab_size": TYPES, "tie_word_embeddings": False}
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    random = np.random.default_rng(1)

    def tensor(name: str, shape: tuple[int, int]) -> NewTensor:
        def chunks() -> Iterator[Any]:
            for start in range(0, shape[0], 256):
                size = (min(256, shape[0] - start), shape[1])
                yield random.standard_normal(size, np.float32).astype(np.float16)

        return NewTensor(name, "F16", shape, chunks)

    tensors = [tensor(name, (TYPES, WIDTH)) for name in ("embed_tokens.weight", "lm_head.weight")]
    largest = tensors[0].bytes_
    while sum(each.bytes_ for each in tensors) < gigabytes * 1e9:
        tensors.append(tensor(f"layers.{len(tensors) - 2}.weight", LAYER))
    write_safetensors(model / "model.safetensors", tensors, {"format": "pt"})
    mg.load(model).rebpe(mg.read_gold("demo:en")).tokeniser.export(folder / "other")
    return largest


def copy_or_transplant(what: str, folder: str, out: str) -> dict[str, Any]:
    """Copy or transplant the checkpoint; return seconds, and how many rows were kept and made."""
    os.sync()  # flushes earlier writes
    started = time.perf_counter()
    if what == "copy":
        Path(out).mkdir()
        copied = shutil.copyfile(f"{folder}/model/model.safetensors", f"{out}/model.safetensors")
        with Path(copied).open("rb+") as file:
            os.fsync(file.fileno())
        return {"seconds": time.perf_counter() - started}
    transplanted = mg.models.transplant(f"{folder}/model", f"{folder}/other", out)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "kept": len(transplanted.kept), "made": len(transplanted.made)}

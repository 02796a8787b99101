"""What tests of tasks share: files that are learned in seconds, and a run of a task on them."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from morphgraph.models.downstream import Measured, TaskRun
from morphgraph.models.downstream.tasks import DOWNSTREAM
from morphgraph.models.downstream.token_ids import dense_ids
from morphgraph.segment.models import load_segmenter

WORDS = ("house", "garden", "river", "winter", "letter", "summer", "table", "water")
COLOURS = {"red": "warm", "orange": "warm", "blue": "cold", "green": "cold"}


def use_one_thread() -> None:
    """As the workers of an evaluation do."""
    import torch

    os.environ["MORPHGRAPH_THREADS"] = "1"
    torch.set_num_threads(1)


def labelled(path: Path, count: int, seed: int) -> str:
    """Texts of which one word tells the label."""
    draw = random.Random(seed)
    lines = ["text,label"]
    for _ in range(count):
        words = [*draw.choices(WORDS, k=3), draw.choice(list(COLOURS))]
        lines.append(f"{' '.join(draw.sample(words, 4))},{COLOURS[words[3]]}")
    path.write_text("\n".join(lines))
    return str(path)


def sentences(path: Path, count: int, seed: int) -> str:
    """Texts in which each word says what the next one is."""
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        at = draw.randrange(len(WORDS))
        lines.append(" ".join(WORDS[(at + step) % len(WORDS)] for step in range(5)))
    path.write_text("\n".join(lines))
    return str(path)


def measured(
    task: str, folder: Path, method: str | None = None, seed: int = 0, **given: Any
) -> dict[str, Measured]:
    """What a task measures on the English demo, by metric."""
    entry = DOWNSTREAM[task]
    settings = entry.settings(given)
    parameters = {"p": 0.3} if method == "dropout" else {}
    ids = dense_ids(load_segmenter("demo:en", method, **parameters))
    folder.mkdir(exist_ok=True)
    found = entry.run(TaskRun(ids, entry.read(settings), settings, seed, folder))
    assert {each.metric for each in found} <= {metric.key for metric in entry.metrics}
    return {each.metric: each for each in found}


def scores(found: dict[str, Measured]) -> dict[str, float]:
    """All values but the speed, which is another one each time."""
    return {name: each.value for name, each in found.items() if name != "tokens_per_second"}

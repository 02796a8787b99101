"""What all tasks share that train a model: how they are declared, and what they measure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.batch.downstream import DownstreamTask, Measured, TaskRun
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.tables.model import Column
from morphgraph_models.checkpoint import CONFIG, read_config
from morphgraph_models.downstream.examples import TaskParts, TrainingSettings, trainings
from morphgraph_models.downstream.gold_morphs import GoldMorphs
from morphgraph_models.downstream.token_ids import TokenIds, dense_ids, folder_ids

COMMON = {
    "training_steps": Column("Steps of training", "count"),
    "tokens_per_second": Column("Tokens a second, training", "count"),
    "uncovered": Column("Text without a known token", "percent"),
}
"""Metrics that every task reports beside its own."""
PACKAGES = ("torch", "transformers", "accelerate", "sacrebleu")
_STARTING, _TOKENS_IN_TEXT = 15.0, 20
"""Estimates: seconds before training begins, and tokens in a text."""
_QUICK = {"steps": 20, "then": 20, "search": None, "draws": None}
"""Settings of a trial."""


@dataclass(frozen=True)
class ModelRun(TaskRun):
    """A run, with the ids that the model has for tokens.

    ``turn``: the number of the present training, from 0, and how many there are.
    """

    ids: TokenIds = field(kw_only=True)
    turn: tuple[int, int] = field(default=(0, 1), kw_only=True)

    def tell(self, done: int, total: int) -> None:
        number, of = self.turn
        super().tell(number * total + done, of * total)

    @property
    def marks_segments(self) -> bool:
        """Whether the model is told which tokens belong to the second of two texts."""
        folder = self.settings.model
        return folder is None or read_config(Path(folder) / CONFIG).get("type_vocab_size", 0) > 1

    def uncovered(self, texts: Sequence[str]) -> Measured:
        """Return the share of texts that has no known token, which every task reports."""
        return Measured("uncovered", self.ids.plain().uncovered(texts), len(texts))


def model_task(
    title: str,
    does: str,
    parameters: type[TrainingSettings],
    metrics: Mapping[str, Column],
    read: Callable[[Any], TaskParts],
    run: Callable[[ModelRun], Sequence[Measured]],
    speed: float,
    bytes_in_token: float = 4.0,
    compares: bool = False,
) -> DownstreamTask:
    """Declare a task that trains a model.

    ``speed``: roughly how many tokens per second a tiny model trains on; ``bytes_in_token``:
    roughly how many bytes of a file there are for each token; ``compares``: as of `DownstreamTask`.
    """

    def measured(given: TaskRun) -> Sequence[Measured]:
        segmenter, folder = given.segmenter, given.settings.model
        ids = dense_ids(segmenter) if folder is None else folder_ids(segmenter, folder)
        if given.examples.gold:
            ids = replace(ids, gold=GoldMorphs(given.examples.gold, segmenter.inventory()))
        return run(ModelRun(**vars(given), ids=ids))

    def seconds(settings: TrainingSettings) -> float:
        if settings.steps is not None:
            tokens: float = settings.steps * settings.batch_size * _TOKENS_IN_TEXT
        else:
            size = sum(Path(path).stat().st_size for path in settings.train)
            tokens = settings.epochs * size / bytes_in_token
        return trainings(settings) * (_STARTING + tokens / speed)

    work = measured, read, seconds
    quick = {name: value for name, value in _QUICK.items() if name in parameters.model_fields}
    return DownstreamTask(title, does, parameters, metrics, *work, PACKAGES, compares, quick)


def share_measured(key: str, right: npt.NDArray[np.float64], of: Any) -> Measured:
    """Return a share of what examples hold, with its interval."""
    ratio = Ratio(right, np.asarray(of, np.float64))
    [interval] = bootstrap_intervals([ratio])
    return Measured(key, ratio.value, int(ratio.whole.sum()), interval.low, interval.high)

"""Classification of texts or single words: accuracy and macro-F1, also under noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.models.examples import LabelledTexts, read_labelled
from morphgraph.models.noise import noisy, without_spaces
from morphgraph.models.presets import make_model
from morphgraph.models.task import (
    COMMON,
    UNCOVERED,
    ClassedParts,
    DownstreamTask,
    Measured,
    TaskMetric,
    TaskRun,
    TrainingSettings,
    read_parts,
)
from morphgraph.models.token_ids import IdArray, TokenIds, framed, sample_count
from morphgraph.models.training import Examples, Key, as_inputs, fit, in_batches
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals


class ClassificationSettings(TrainingSettings):
    """Files of labelled texts, and the noise to test with."""

    text: str = Field(default="text", description="The column with the text.")
    label: str = Field(default="label", description="The column with its class.")
    noise: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Test a second time, with characters of this share of the words swapped, "
        "dropped or doubled.",
    )
    noise_in: Literal["words", "spaces"] = Field(
        default="words",
        description="What noise damages: words, or the white space between them, which is dropped.",
    )


def _read(settings: ClassificationSettings) -> ClassedParts[LabelledTexts]:
    return read_parts(
        settings, lambda paths: read_labelled(paths, settings.text, settings.label), "label"
    )


@dataclass(frozen=True)
class _Batches:
    """Labelled texts as batches; ``draws``: their ids in each sample of a random method."""

    draws: Sequence[Sequence[IdArray]]
    labels: IdArray
    pad: int

    @property
    def lengths(self) -> IdArray:
        return np.array([len(row) for row in self.draws[0]], np.int64)

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        import torch

        rows = [self.draws[number % len(self.draws)][index] for index, number in keys]
        labels = torch.from_numpy(self.labels[[index for index, _ in keys]])
        return {**as_inputs(rows, self.pad), "labels": labels}


def _run(run: TaskRun) -> list[Measured]:
    data: ClassedParts[LabelledTexts] = run.examples
    settings: ClassificationSettings = run.settings
    number = {name: place for place, name in enumerate(data.classes)}

    def batches(part: LabelledTexts, ids: TokenIds, draws: int = 1) -> _Batches:
        rows = [framed(r, ids, settings.max_tokens) for r in ids.encode(part.texts, draws)]
        labels = np.array([number[label] for label in part.labels], np.int64)
        return _Batches(rows, labels, ids.special["pad"])

    plain = run.ids.plain()
    model = make_model("classification", run, len(data.classes))
    train = batches(data.train, run.ids, sample_count(run.ids, settings.epochs))
    dev = None if data.dev is None else batches(data.dev, plain)
    fitted = fit(model, train, settings, run.seed, run.folder, dev)
    found = _scored(fitted.model, batches(data.test, plain), settings.batch_size, "")
    if settings.noise is not None:
        damage = noisy if settings.noise_in == "words" else without_spaces
        texts = damage(data.test.texts, settings.noise, run.seed)
        damaged = batches(LabelledTexts(tuple(texts), data.test.labels), plain)
        found += _scored(fitted.model, damaged, settings.batch_size, "noisy_")
    lost = Measured(UNCOVERED.key, plain.uncovered(data.test.texts), len(data.test.texts))
    return [*found, *fitted.facts(), lost]


def _scored(model: Any, test: _Batches, size: int, prefix: str) -> list[Measured]:
    predicted = _predicted(model, test, size)
    right = (predicted == test.labels).astype(np.float64)
    ratio = Ratio(right, np.ones(len(right)))
    interval = bootstrap_intervals([ratio])[0]
    return [
        Measured(f"{prefix}accuracy", ratio.value, len(right), interval.low, interval.high),
        Measured(f"{prefix}macro_f1", macro_f1(test.labels, predicted), len(right)),
    ]


def _predicted(model: Any, test: Examples, size: int) -> IdArray:
    import torch

    found = np.zeros(len(test.lengths), np.int64)
    with torch.no_grad():
        for keys in in_batches(test.lengths, size):
            batch = {name: value.to(model.device) for name, value in test.batch(keys).items()}
            batch.pop("labels")
            logits = model(**batch).logits
            found[[index for index, _ in keys]] = logits.argmax(-1).cpu().numpy()
    return found


def macro_f1(gold: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64]) -> float:
    """Return the mean F1 over the classes that occur in either.

    >>> round(macro_f1(np.array([0, 0, 1]), np.array([0, 1, 1])), 4)
    0.6667
    """
    scores = []
    for label in np.union1d(gold, predicted):
        both = int(((gold == label) & (predicted == label)).sum())
        scores.append(2 * both / int((gold == label).sum() + (predicted == label).sum()))
    return float(np.mean(scores))


CLASSIFICATION = DownstreamTask(
    "classification",
    "Classification",
    "Texts, or single words, put into classes.",
    ClassificationSettings,
    (
        TaskMetric("accuracy", "Accuracy", "percent", 1),
        TaskMetric("macro_f1", "Macro-F1", "percent", 1),
        TaskMetric("noisy_accuracy", "Accuracy with noise", "percent", 1),
        TaskMetric("noisy_macro_f1", "Macro-F1 with noise", "percent", 1),
        *COMMON,
    ),
    _read,
    _run,
    speed=15_000,
)

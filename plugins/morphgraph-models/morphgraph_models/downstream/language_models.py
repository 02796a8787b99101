"""Language models, causal and masked: bits per character and byte, and the loss in training."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from morphgraph.batch.downstream import Measured
from morphgraph.core.files import write_file
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.tables.model import Column
from morphgraph_models.downstream.examples import (
    Examples,
    TaskParts,
    TrainingSettings,
    read_parts,
    read_texts,
)
from morphgraph_models.downstream.fitting import Looks, fitted_on
from morphgraph_models.downstream.model_task import COMMON, ModelRun, model_task
from morphgraph_models.downstream.token_ids import TokenIds
from morphgraph_models.downstream.windows import (
    MaskedWindows,
    Nats,
    Windows,
    text_losses,
)

BITS = {
    "bits_per_character": Column("Bits per character", "number", -1),
    "bits_per_byte": Column("Bits per byte", "number", -1),
}
PSEUDO_PERPLEXITY = {"pseudo_perplexity": Column("Pseudo-perplexity (PPPL)", "number", -1)}
CURVE = {
    "validation_loss": Column("Loss, nats a token", "number", -1),
    "validation_bits": Column("Loss, bits a character", "number", -1),
}


class LanguageModelSettings(TrainingSettings):
    """Files of plain texts."""

    text: str | None = Field(
        None,
        description="The column with the text. Without it, files are plain text, a text per line.",
    )
    curve: list[int] = Field(
        [], description="Steps of training after which the loss on the test's texts is measured."
    )


class MaskedSettings(LanguageModelSettings):
    """Files of plain texts, and the share of tokens to mask."""

    masked: float = Field(0.15, gt=0, lt=1, description="The share of tokens masked in training.")


def read_language_texts(settings: LanguageModelSettings) -> TaskParts:
    """Read the texts of all files."""
    return read_parts(settings, lambda paths: read_texts(paths, settings.text))


def windows_of(part: Examples, ids: TokenIds, draws: int = 1, *, run: ModelRun) -> Windows:
    """Cut texts into the windows of a run; masked ones where its settings have a share for it."""
    settings, (texts,) = run.settings, part
    masked = getattr(settings, "masked", None)
    if masked is None:
        return Windows.of(texts, ids, settings.max_tokens, draws)
    masks = {"masked": masked, "seed": run.seed}
    return MaskedWindows.of(texts, ids, settings.max_tokens, draws, **masks)


# ------------------------------------------------------------------------------ measures


def bits_measured(nats: Nats, texts: Sequence[str], ends: int = 1) -> list[Measured]:
    """Return bits per character and byte of texts with negative log-likelihoods ``nats``.

    ``ends``: how many characters the end of a text counts as; 0 if it was not predicted.

    >>> measured = bits_measured(np.array([8 * np.log(2)]), ["abc"])
    >>> [(each.metric, round(each.value, 6)) for each in measured]
    [('bits_per_character', 2.0), ('bits_per_byte', 2.0)]
    """
    sizes = ([len(text) + ends for text in texts], [len(text.encode()) + ends for text in texts])
    ratios = [Ratio(nats / np.log(2), np.array(size, np.float64)) for size in sizes]
    return [
        Measured(metric, ratio.value, len(texts), interval.low, interval.high)
        for metric, ratio, interval in zip(BITS, ratios, bootstrap_intervals(ratios), strict=True)
    ]


def texts_measured(model: Any, test: Windows, texts: Sequence[str], size: int) -> list[Measured]:
    """Return bits per character and byte of texts; of a masked model, its pseudo-perplexity too.

    That is e to the mean negative log-likelihood of a token that is masked alone, over all tokens
    of all texts (Salazar et al. 2020, §2.3). A masked model's bits are those of the same
    pseudo-likelihood. Tokens of other lengths have another perplexity, but bits compare.
    """
    nats, predicted = text_losses(model, test, size, each_once=True)
    bits = bits_measured(nats, texts, ends=test.shift)
    if not isinstance(test, MaskedWindows):
        return bits
    ratio = Ratio(nats, predicted)
    [interval] = bootstrap_intervals([ratio])
    values = np.exp([ratio.value, interval.low, interval.high]).tolist()
    [name] = PSEUDO_PERPLEXITY
    return [Measured(name, values[0], len(texts), *values[1:]), *bits]


def loss_measured(model: Any, test: Windows, texts: Sequence[str], size: int) -> list[Measured]:
    """Return the loss on texts as in training: the mean of a predicted token, and per character.

    Of a masked model, the same tokens are masked each time; each stands for all tokens per
    character.
    """
    nats, predicted = text_losses(model, test, size, each_once=False)
    ratio = Ratio(nats, predicted)
    [interval] = bootstrap_intervals([ratio])
    ends = test.shift * len(texts)  # a masked model does not predict them
    tokens = int(test.lengths.sum()) - len(test) - len(texts) + ends
    characters = sum(map(len, texts)) + ends
    loss = Measured("validation_loss", ratio.value, len(texts), interval.low, interval.high)
    scale = tokens / characters / np.log(2)
    low, value, high = (scale * each for each in (loss.low, loss.value, loss.high))
    return [loss, Measured("validation_bits", value, len(texts), low, high)]


class Curve:
    """What ``measure`` tells of a model after given steps of training.

    Each point is kept in a file, so that a killed run does not measure it again.
    """

    def __init__(self, folder: Path, steps: Sequence[int], measure: Any, variant: str = "") -> None:
        self.files = {step: folder / f"step-{step}.json" for step in sorted(set(steps))}
        self.measure, self.variant = measure, variant

    @property
    def looks(self) -> Looks:
        """For `fit`: its steps, and what is done after them."""
        return [*self.files], self.look

    @property
    def is_whole(self) -> bool:
        """Whether all points are there."""
        return all(file.is_file() for file in self.files.values())

    def look(self, step: int, model: Any) -> None:
        """Measure a model after a step, if that has not been done."""
        if not self.files[step].is_file():
            point = self.measure(model)
            values = [each._replace(step=step, variant=self.variant) for each in point]
            write_file(self.files[step], json.dumps(values))

    def points(self) -> list[Measured]:
        """Return all points that there are."""
        there = (file for file in self.files.values() if file.is_file())
        points = (json.loads(file.read_text()) for file in there)
        return [Measured(*values) for point in points for values in point]


# ------------------------------------------------------------------------------ tasks


def _run(run: ModelRun) -> list[Measured]:
    """Train a language model on windows, and measure it on the texts of the test."""
    settings, (texts,) = run.settings, run.examples.test
    windows = partial(windows_of, run=run)
    # What is masked differs between seeds in training alone.
    test = windows_of(run.examples.test, run.ids.plain(), run=replace(run, seed=0))
    given = test, texts, settings.batch_size
    curve = Curve(run.folder, settings.curve, lambda model: loss_measured(model, *given))
    fitted = fitted_on(run, test.kind, windows, curve.looks)
    measured = texts_measured(fitted.model, *given)
    return [*measured, *fitted.facts(), run.uncovered(texts), *curve.points()]


CAUSAL_LM = model_task(
    "Language model",
    "Each token is predicted from those before it.",
    LanguageModelSettings,
    BITS | CURVE | COMMON,
    read_language_texts,
    _run,
    speed=6_000,
)
MASKED_LM = model_task(
    "Masked language model",
    "Masked tokens are predicted from all around them.",
    MaskedSettings,
    PSEUDO_PERPLEXITY | BITS | CURVE | COMMON,
    read_language_texts,
    _run,
    speed=6_000,
)

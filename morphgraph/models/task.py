"""The declaration of a downstream task, and what all tasks share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

from pydantic import Field, model_validator

from morphgraph.core.errors import MorphGraphError
from morphgraph.models.examples import check_classes
from morphgraph.models.token_ids import TokenIds
from morphgraph.segment.parameters import Parameters
from morphgraph.segment.segmenter import Segmenter

PLACES = ("train", "dev", "test")
"""The settings that name files with examples."""

Files = Annotated[list[str], Field(min_length=1, max_length=1_000)]


class TrainingSettings(Parameters):
    """Settings of every task: files of examples, the model, and how to train it."""

    train: Files = Field(description="Files with the examples to train on.")
    test: Files = Field(description="Files with the examples to measure on.")
    dev: Files | None = Field(
        default=None, description="Files with examples that early stopping looks at."
    )
    most: int | None = Field(
        default=None, ge=1, description="Train on at most this many examples, from the start."
    )
    preset: Literal["tiny", "small"] | None = Field(
        default=None,
        description="A model made from scratch: tiny (2 layers of 128, the default) or small "
        "(4 layers of 256).",
    )
    model: str | None = Field(
        default=None,
        description="A folder with a checkpoint to be fine-tuned instead, whose own vocabulary "
        "the tokeniser has.",
    )
    epochs: float = Field(default=3, gt=0, le=10_000, description="Passes over the examples.")
    steps: int | None = Field(
        default=None, ge=1, le=10_000_000, description="Batches to train on, instead of epochs."
    )
    batch_size: int = Field(default=32, ge=1, le=100_000, description="Examples in a batch.")
    learning_rate: float = Field(
        default=5e-4, gt=0, le=1, description="The peak rate, after a warm-up and before decay."
    )
    max_tokens: int = Field(
        default=128, ge=8, le=8_192, description="Longer texts are cut, or split where possible."
    )
    patience: int | None = Field(
        default=None,
        ge=1,
        description="Stop early after this many looks at dev without a lower loss.",
    )
    look_every: int = Field(
        default=100, ge=1, description="Steps between two looks at dev, with patience."
    )
    time_budget: float | None = Field(
        default=None, gt=0, description="End the training of a cell after this many seconds."
    )
    precision: Literal["auto", "float32"] = Field(
        default="auto", description="auto: mixed precision where the device has bfloat16."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> TrainingSettings:
        if self.model is not None and self.preset is not None:
            raise ValueError("a model comes from one source. Give either model or preset.")
        if self.patience is not None and self.dev is None:
            raise ValueError("early stopping needs examples to look at. Add dev.")
        return self

    @property
    def scale(self) -> Literal["tiny", "small"]:
        """The preset of a model made from scratch."""
        return self.preset or "tiny"


class TaskMetric(NamedTuple):
    """A metric of a task: its key, title, display format, and which values are better."""

    key: str
    title: str
    form: Literal["percent", "count", "ratio", "number"]
    better: Literal[-1, 0, 1]


class Measured(NamedTuple):
    """A metric's value over a number of examples, with its 95 % interval.

    ``step``: the training step, for points of a curve; ``variant``: what distinguishes it from
    other values of the same cell, written like a parameter.
    """

    metric: str
    value: float
    entries: int
    low: float = nan
    high: float = nan
    step: int | None = None
    variant: str = ""


@dataclass(frozen=True)
class TaskRun:
    """The inputs of a task's run: token ids, examples, settings and seed.

    ``folder``: where checkpoints are kept, so that a killed run resumes. ``base``: the tokeniser
    that the method was applied to.
    """

    ids: TokenIds
    examples: Any = field(repr=False)
    settings: Any
    seed: int
    folder: Path
    base: Segmenter | None = None


@dataclass(frozen=True)
class DownstreamTask:
    """A task: its name in files, its title in tables, a description, and its settings.

    ``read`` makes and checks examples from settings, without torch; ``run`` trains a model on them
    and measures it. ``speed``: roughly how many tokens per second a tiny model trains on;
    ``bytes_in_token``: roughly how many bytes of a file there are for each token.
    """

    name: str
    title: str
    does: str
    parameters: type[TrainingSettings]
    metrics: tuple[TaskMetric, ...]
    read: Callable[[Any], Any]
    run: Callable[[TaskRun], Sequence[Measured]]
    speed: float
    bytes_in_token: float = 4.0

    def settings(self, given: dict[str, Any]) -> Any:
        """Validate given settings and fill in the defaults."""
        return self.parameters(**given)


STEPS = TaskMetric("training_steps", "Steps of training", "count", 0)
SPEED = TaskMetric("tokens_per_second", "Tokens a second, training", "count", 0)
UNCOVERED = TaskMetric("uncovered", "Text without a known token", "percent", 0)
COMMON = (STEPS, SPEED, UNCOVERED)
"""Metrics that every task reports beside its own."""


class Classed(Protocol):
    """Examples with one or more classes each."""

    @property
    def classes(self) -> Sequence[str]:
        """All classes in order, with repetitions."""
        ...

    def first(self, most: int | None) -> Self:
        """Return at most ``most`` examples from the start."""
        ...


T = TypeVar("T", bound=Classed)


@dataclass(frozen=True)
class ClassedParts(Generic[T]):
    """Examples for training, testing and development, with all classes in order."""

    train: T
    test: T
    dev: T | None
    classes: tuple[str, ...]


def read_parts(
    settings: TrainingSettings, read: Callable[[Sequence[str]], T], what: str
) -> ClassedParts[T]:
    """Read the files of a task, and check that training covers every class of the test.

    ``what``: ``label`` or ``tag``, for messages.
    """
    train = read(settings.train).first(settings.most)
    known = one_class_each(train.classes)

    def checked(paths: Sequence[str]) -> T:
        part = read(paths)
        check_classes(known, one_class_each(part.classes), ", ".join(paths), what)
        return part

    dev = None if settings.dev is None else checked(settings.dev)
    return ClassedParts(train, checked(settings.test), dev, tuple(known))


def one_class_each(labels: Sequence[str]) -> dict[str, int]:
    """Count how often each class occurs, sorted by name.

    >>> one_class_each(["b", "a", "b"])
    {'a': 1, 'b': 2}
    """
    if not labels:
        raise MorphGraphError("There are no examples. Give a file with some.")
    return dict(sorted(Counter(labels).items()))

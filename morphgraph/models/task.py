"""The entry of a downstream task, which it declares beside its code, and what all tasks share."""

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
from morphgraph.tokeniser.words import Segmenter

PLACES = ("train", "dev", "test")
"""The settings that name files with examples."""

Files = Annotated[list[str], Field(min_length=1, max_length=1_000)]


class TrainingSettings(Parameters):
    """What every task is told: files with examples, the model, and how it is trained."""

    train: Files = Field(description="Files with the examples to train on.")
    test: Files = Field(description="Files with the examples to measure on.")
    dev: Files | None = Field(
        default=None, description="Files with examples that early stopping looks at."
    )
    most: int | None = Field(
        default=None, ge=1, description="Train on so many examples only, the first ones."
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
    epochs: float = Field(default=3, gt=0, le=10_000, description="How often all are seen.")
    steps: int | None = Field(
        default=None, ge=1, le=10_000_000, description="Batches to train on, instead of epochs."
    )
    batch_size: int = Field(default=32, ge=1, le=100_000, description="Examples in a batch.")
    learning_rate: float = Field(
        default=5e-4, gt=0, le=1, description="The highest one; it rises at first, then falls."
    )
    max_tokens: int = Field(
        default=128, ge=8, le=8_192, description="Longer texts are cut, or split where they can be."
    )
    patience: int | None = Field(
        default=None,
        ge=1,
        description="Stop early if the loss on dev has not fallen for so many looks.",
    )
    look_every: int = Field(
        default=100, ge=1, description="Steps between two looks at dev, with patience."
    )
    time_budget: float | None = Field(
        default=None, gt=0, description="End the training of a cell after so many seconds."
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
    """A metric of a task: its key and title, how it reads, and which values are better."""

    key: str
    title: str
    form: Literal["percent", "count", "ratio", "number"]
    better: Literal[-1, 0, 1]


class Measured(NamedTuple):
    """A value of a metric, over so many examples, with its 95 % interval over them.

    ``step``: after so many steps of training, where a curve is asked for; ``variant``: what tells
    it from others of the same cell, written like a parameter.
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
    """What a task is run on: ids of a tokeniser, examples, settings, a seed.

    ``folder``: where checkpoints lie, so that a run that was killed resumes from the last one.
    ``base``: the tokeniser that the method was applied to.
    """

    ids: TokenIds
    examples: Any = field(repr=False)
    settings: Any
    seed: int
    folder: Path
    base: Segmenter | None = None


@dataclass(frozen=True)
class DownstreamTask:
    """A task: its name in files, its title in tables, what it is, and its settings.

    ``read``: makes examples of settings and checks them, without torch; ``run``: trains a model on
    them and measures it. ``speed``: about how many tokens a tiny model trains on in a second;
    ``bytes_in_token``: about how long a file is for each of them.
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
        """All its settings, checked."""
        return self.parameters(**given)


STEPS = TaskMetric("training_steps", "Steps of training", "count", 0)
SPEED = TaskMetric("tokens_per_second", "Tokens a second, training", "count", 0)
UNCOVERED = TaskMetric("uncovered", "Text without a known token", "percent", 0)
COMMON = (STEPS, SPEED, UNCOVERED)
"""What every task tells beside its own scores."""


def first_examples(examples: Sequence[Any], most: int | None) -> Sequence[Any]:
    """The first so many of some examples; all where nothing is asked."""
    return examples if most is None else examples[:most]


class Classed(Protocol):
    """Examples that have a class each, or many."""

    @property
    def classes(self) -> Sequence[str]:
        """All classes in order, each as often as it is there."""
        ...

    def first(self, most: int | None) -> Self:
        """The first so many of them."""
        ...


T = TypeVar("T", bound=Classed)


@dataclass(frozen=True)
class ClassedParts(Generic[T]):
    """Examples to train on, to test on, and to look at meanwhile; all classes in order."""

    train: T
    test: T
    dev: T | None
    classes: tuple[str, ...]


def read_parts(
    settings: TrainingSettings, read: Callable[[Sequence[str]], T], what: str
) -> ClassedParts[T]:
    """The files of a task, checked: no class is tested that training lacks.

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
    """How often each class is there, by name.

    >>> one_class_each(["b", "a", "b"])
    {'a': 1, 'b': 2}
    """
    if not labels:
        raise MorphGraphError("There are no examples. Give a file with some.")
    return dict(sorted(Counter(labels).items()))

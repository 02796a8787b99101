"""The declaration of a downstream task, its examples, and what all tasks share.

Readers take one or more files and join their examples in order; an invalid line raises
`FileFormatError` with its number. Examples are columns: one of texts, or two of the same length.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import nan
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from morphgraph.core.errors import FileFormatError, MorphGraphError, require
from morphgraph.core.files import decode_utf8, read_bytes
from morphgraph.models.downstream.token_ids import TokenIds
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.segment.method import Parameters
from morphgraph.segment.segmenter import Segmenter

PLACES = ("train", "dev", "test")
"""The settings that name files with examples."""
_SEPARATORS = {"csv": ",", "tsv": "\t"}

Files = Annotated[list[str], Field(min_length=1, max_length=1_000)]
Examples = tuple[tuple[Any, ...], ...]
"""Columns of the same length, with an entry for each example."""


class TrainingSettings(Parameters):
    """Settings of every task: files of examples, the model, and how to train it."""

    train: Files = Field(description="Files with the examples to train on.")
    test: Files = Field(description="Files with the examples to measure on.")
    dev: Files | None = Field(None, description="Files with examples that early stopping looks at.")
    most: int | None = Field(
        None, ge=1, description="Train on at most this many examples, from the start."
    )
    preset: Literal["tiny", "small"] | None = Field(
        None,
        description="A model made from scratch: tiny (2 layers of 128, the default) or small "
        "(4 layers of 256).",
    )
    model: str | None = Field(
        None,
        description="A folder with a checkpoint to be fine-tuned instead, whose own vocabulary "
        "the tokeniser has.",
    )
    epochs: float = Field(3, gt=0, le=10_000, description="Passes over the examples.")
    steps: int | None = Field(
        None, ge=1, le=10_000_000, description="Batches to train on, instead of epochs."
    )
    batch_size: int = Field(32, ge=1, le=100_000, description="Examples in a batch.")
    learning_rate: float = Field(
        5e-4, gt=0, le=1, description="The peak rate, after a warm-up and before decay."
    )
    max_tokens: int = Field(
        128, ge=8, le=8_192, description="Longer texts are cut, or split where possible."
    )
    patience: int | None = Field(
        None, ge=1, description="Stop early after this many looks at dev without a lower loss."
    )
    look_every: int = Field(100, ge=1, description="Steps between two looks at dev, with patience.")
    time_budget: float | None = Field(
        None, gt=0, description="End the training of a cell after this many seconds."
    )
    precision: Literal["auto", "float32"] = Field(
        "auto", description="auto: mixed precision where the device has bfloat16."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> TrainingSettings:
        if self.model is not None and self.preset is not None:
            raise ValueError("a model comes from one source. Give either model or preset.")
        if self.patience is not None and self.dev is None:
            raise ValueError("early stopping needs examples to look at. Add dev.")
        return self


class TaskMetric(NamedTuple):
    """A metric of a task: its key, title, display format, and which values are better."""

    key: str
    title: str
    form: Literal["percent", "count", "ratio", "number"]
    better: Literal[-1, 0, 1]


STEPS = TaskMetric("training_steps", "Steps of training", "count", 0)
SPEED = TaskMetric("tokens_per_second", "Tokens a second, training", "count", 0)
UNCOVERED = TaskMetric("uncovered", "Text without a known token", "percent", 0)
COMMON = (STEPS, SPEED, UNCOVERED)
"""Metrics that every task reports beside its own."""


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


def share_measured(key: str, right: npt.NDArray[np.float64], of: Any) -> Measured:
    """Return a share of what examples hold, with its interval."""
    ratio = Ratio(right, np.asarray(of, np.float64))
    [interval] = bootstrap_intervals([ratio])
    return Measured(key, ratio.value, int(ratio.whole.sum()), interval.low, interval.high)


@dataclass(frozen=True)
class TaskParts:
    """Examples for training, testing and development, and all classes in order, if any."""

    train: Examples
    test: Examples
    dev: Examples | None
    classes: tuple[str, ...] = ()


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

    def uncovered(self, texts: Sequence[str]) -> Measured:
        """Return the share of texts that has no known token, which every task reports."""
        return Measured(UNCOVERED.key, self.ids.plain().uncovered(texts), len(texts))


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
    read: Callable[[Any], TaskParts]
    run: Callable[[TaskRun], Sequence[Measured]]
    speed: float
    bytes_in_token: float = 4.0

    def settings(self, given: dict[str, Any]) -> Any:
        """Validate given settings and fill in the defaults."""
        return self.parameters(**given)


# ------------------------------------------------------------------------------ examples


def read_parts(
    settings: TrainingSettings, read: Callable[[Sequence[str]], Examples], what: str = ""
) -> TaskParts:
    """Read the files of a task, by ``read``.

    ``what``: ``label`` or ``tag``, where the second column holds them: training must cover every
    class of the test, and have two or more.
    """
    train = tuple(column[: settings.most] for column in read(settings.train))
    known = _counted(train[1]) if what else {}

    def checked(paths: Sequence[str]) -> Examples:
        part = read(paths)
        if what:
            check_classes(known, _counted(part[1]), ", ".join(paths), what)
        return part

    dev = None if settings.dev is None else checked(settings.dev)
    return TaskParts(train, checked(settings.test), dev, tuple(known))


def _counted(labels: Sequence[Any]) -> dict[str, int]:
    """Count how often each class occurs, sorted by name.

    >>> _counted(["b", "a", "b"]), _counted([("b", "a")])
    ({'a': 1, 'b': 2}, {'a': 1, 'b': 1})
    """
    each = (label if isinstance(label, tuple) else (label,) for label in labels)
    counts = Counter(chain.from_iterable(each))
    if not counts:
        raise MorphGraphError("There are no examples. Give a file with some.")
    return dict(sorted(counts.items()))


def check_classes(train: dict[str, int], test: Iterable[str], named: str, what: str) -> None:
    """Refuse training data of one class, and test data with classes missing from training.

    ``train``: how often each class occurs; ``named``: the test file; ``what``: ``label`` or
    ``tag``.
    """
    if len(train) < 2:
        problem = f"all examples of training have the {what} “{next(iter(train), '')}”"
        raise FileFormatError(named, "", problem, "Give examples of two classes or more.")
    if absent := [name for name in test if not train.get(name)]:
        listed = ", ".join(f"“{name[:40]}”" for name in absent[:5])
        problem = f"no example of training has the {what} {listed}"
        fix = "Add examples to what is trained on, or leave these out."
        raise FileFormatError(named, "", problem, fix)


def read_labelled(paths: Sequence[str], text: str, label: str) -> Examples:
    """Read texts and labels from two columns of CSV, TSV or Parquet files, gzipped or not.

    An empty text or label is an error.
    """
    found: tuple[list[str], list[str]] = ([], [])
    for path in paths:
        columns = _columns(path, (text, label))
        for number, pair in enumerate(zip(*columns, strict=True), start=2):
            for name, value in zip((text, label), pair, strict=True):
                if not value.strip():
                    problem = f"the column “{name}” is empty"
                    raise FileFormatError(path, f"row {number:,}", problem, "Fill or drop it.")
        for all_, own in zip(found, columns, strict=True):
            all_ += own
    return tuple(map(tuple, found))


def read_texts(paths: Sequence[str], column: str | None = None) -> Examples:
    """Read the non-empty lines of plain text, or a column of CSV, TSV or Parquet files."""
    found: list[str] = []
    for path in paths:
        own = _columns(path, (column,))[0] if column is not None else _lines(path)
        found += [text.strip() for text in own if text.strip()]
        if not own or not found:
            raise FileFormatError(path, "", "it has no text", "Choose a file with text.")
    return (tuple(found),)


def read_parallel(paths: Sequence[str]) -> Examples:
    """Read texts and translations line by line from two files; empty pairs are skipped."""
    if len(paths) != 2:
        problem = f"{len(paths)} files are given, not two"
        fix = "Name the texts, then their translations."
        raise FileFormatError(", ".join(paths), "", problem, fix)
    sources, targets = map(_lines, paths)
    if len(sources) != len(targets):
        problem = f"it has {len(targets):,} lines, {paths[0]} has {len(sources):,}"
        fix = "Give files in which each line translates the one of the same number."
        raise FileFormatError(paths[1], "", problem, fix)
    pairs = [(s.strip(), t.strip()) for s, t in zip(sources, targets, strict=True)]
    pairs = [pair for pair in pairs if all(pair)]
    if not pairs:
        raise FileFormatError(paths[0], "", "it has no text", "Choose files with text.")
    return tuple(zip(*pairs, strict=True))


def read_conllu(paths: Sequence[str], column: int) -> Examples:
    """Read words and tags from CoNLL-U files, gzipped or not; ``column`` holds the tags.

    Ranges such as ``1-2`` and empty words such as ``1.1`` are skipped.
    """
    sentences: list[list[tuple[str, str]]] = []
    for path in paths:
        sentence: list[tuple[str, str]] = []
        before = len(sentences)
        for number, line in enumerate(chain(_lines(path), [""]), start=1):
            if not line.strip():
                sentences += [sentence] if sentence else []
                sentence = []
            elif not line.startswith("#"):
                fields = line.split("\t")
                if len(fields) != 10:
                    problem = f"it has {len(fields)} columns instead of 10"
                    raise FileFormatError(path, f"line {number:,}", problem, "Give CoNLL-U.")
                if fields[0].isdecimal():
                    if fields[column] in ("", "_"):
                        problem = f"the word “{fields[1][:40]}” has no tag"
                        raise FileFormatError(path, f"line {number:,}", problem, "Add it.")
                    sentence.append((fields[1], fields[column]))
        if len(sentences) == before:
            raise FileFormatError(path, "", "it has no words", "Give a file in CoNLL-U.")
    pairs = [tuple(zip(*sentence, strict=True)) for sentence in sentences]
    return tuple(zip(*pairs, strict=True))


def _lines(path: str) -> list[str]:
    lines = decode_utf8(_content(path), path).split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]


def _content(path: str) -> bytes:
    data = read_bytes(path)
    if not path.endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        problem = "it is cut off or is not gzip"
        raise FileFormatError(path, "", problem, "Copy the file again.") from error


def _columns(path: str, names: Sequence[str]) -> list[list[str]]:
    """Return columns of a table as strings."""
    import pandas as pd

    plain = path.removesuffix(".gz")
    kinds: tuple[type[Exception], ...] = (ValueError,)
    try:
        frame: Any
        if plain.endswith(".parquet"):
            require("Reading Parquet files", "pyarrow")
            import pyarrow

            kinds += (pyarrow.ArrowException,)
            frame = pd.read_parquet(io.BytesIO(_content(path))).astype("string").fillna("")
        else:
            text = io.StringIO(decode_utf8(_content(path), path))
            separator = _SEPARATORS.get(plain.rpartition(".")[2].lower(), ",")
            as_is: dict[str, Any] = {"keep_default_na": False, "skip_blank_lines": False}
            frame = pd.read_csv(text, sep=separator, dtype=str, **as_is)
    except kinds as error:
        problem = f"it is not a table ({str(error).splitlines()[0][:100]})"
        raise FileFormatError(path, "", problem, "Give csv, tsv or parquet.") from error
    for name in names:
        if name not in frame.columns:
            listed = ", ".join(f"“{str(column)[:40]}”" for column in frame.columns[:20])
            problem = f"there is no column “{name[:40]}”"
            raise FileFormatError(path, "line 1", problem, f"Its columns: {listed}.")
    if not len(frame):
        raise FileFormatError(path, "", "it has a header only", "Give a file with rows.")
    return [[str(value) for value in frame[name]] for name in names]

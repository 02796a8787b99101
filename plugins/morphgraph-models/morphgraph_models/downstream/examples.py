"""What tasks read: their settings, and examples from files.

Readers take one or more files and join their examples in order; an invalid line raises
`FileFormatError` with its number. Examples are columns of the same length: of texts, pairs of them,
labels.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from morphgraph.batch.downstream import Inputs
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import decode_utf8
from morphgraph.core.packed import decompressed, opened
from morphgraph.corpus.texts import texts_in_order
from morphgraph.segment.method import Parameters
from morphgraph_models.downstream.scores import as_iob2
from morphgraph_models.downstream.token_ids import model_files

Files = Annotated[list[str], Field(min_length=1, max_length=1_000), Inputs()]
Examples = tuple[tuple[Any, ...], ...]
"""Columns of the same length, with an entry for each example."""


class TrainingSettings(Parameters):
    """Settings of every task: files of examples, the model, and how to train it."""

    train: Files = Field(description="Files with the examples to train on.")
    test: Files = Field(description="Files with the examples to measure on.")
    preset: Literal["tiny", "small"] | None = Field(
        None,
        description="A model made from scratch: tiny (2 layers of 128, the default) or small "
        "(4 layers of 256).",
    )
    model: Annotated[str | None, Inputs(model_files)] = Field(
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
    weight_decay: float = Field(0.01, ge=0, le=1, description="The decay of weights at each step.")
    max_tokens: int = Field(
        128, ge=8, le=8_192, description="Longer texts are cut, or split where possible."
    )
    time_budget: float | None = Field(
        None, gt=0, description="End the training of a cell after this many seconds."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.model is not None and self.preset is not None:
            raise ValueError("a model comes from one source. Give either model or preset.")
        return self


@dataclass(frozen=True)
class TaskParts:
    """Examples for training, testing and, if any, development, and all classes in order, if any.

    ``gold``: the morphs of words that are segmented by them.
    """

    train: Examples
    test: Examples
    classes: tuple[str, ...] = ()
    development: Examples | None = None
    gold: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)


def trainings(settings: TrainingSettings) -> int:
    """Return how many models a task trains: one, but for those that choose from a grid."""
    return getattr(settings, "trainings", 1)


def read_parts(
    settings: TrainingSettings, read: Callable[[Sequence[str]], Examples], what: str = ""
) -> TaskParts:
    """Read the files of a task, by ``read``.

    ``what``: ``label`` or ``tag``, where the last column holds them: training must cover every
    class of the test and of development, and have two or more.
    """
    train, test = read(settings.train), read(settings.test)
    development, named = None, getattr(settings, "development", None)
    if named is not None:
        development = read(named)
    elif share := getattr(settings, "development_share", None):
        train, development = _divided(train, share)
    if not what:
        return TaskParts(train, test, development=development)
    known = _classes(train[-1])
    if len(known) < 2:
        problem = f"all examples of training have the {what} “{known[0]}”"
        fix = "Give examples of two classes or more."
        raise FileFormatError(", ".join(settings.train), "", problem, fix)
    for part, files in ((test, settings.test), (development, named or settings.train)):
        if absent := [name for name in _classes(part[-1] if part else ()) if name not in known]:
            listed = ", ".join(f"“{name[:40]}”" for name in absent[:5])
            problem = f"no example of training has the {what} {listed}"
            fix = "Add examples to what is trained on, or leave these out."
            raise FileFormatError(", ".join(files), "", problem, fix)
    return TaskParts(train, test, tuple(known), development)


def _divided(train: Examples, share: float) -> tuple[Examples, Examples]:
    """Return examples without a share of them, and that share, which is the same each time."""
    order = np.random.default_rng(0).permutation(len(train[0]))
    taken = max(1, round(share * len(order)))
    first, rest = (sorted(part.tolist()) for part in (order[:taken], order[taken:]))

    def of(places: Sequence[int]) -> Examples:
        return tuple(tuple(column[place] for place in places) for column in train)

    return of(rest), of(first)


def _classes(labels: Sequence[Any]) -> list[str]:
    """Return all labels, or all tags of sentences, in order.

    >>> _classes(["b", "a", "b"]), _classes([("b", "a")])
    (['a', 'b'], ['a', 'b'])
    """
    return sorted({name for each in labels for name in (each if type(each) is tuple else (each,))})


def read_labelled(paths: Sequence[str], text: Sequence[str], label: str) -> Examples:
    """Read texts, or pairs of them, and labels from csv, tsv, JSON lines or Parquet files.

    ``text``: a column, or two. An empty text or label is an error.
    """
    columns = []
    for column in text:
        read = [pair for path in paths for pair in _texts(path, column, label)]
        columns += [tuple(text for text, _ in read), tuple(name for _, name in read)]
    return (*columns[::2], columns[1])


def read_texts(paths: Sequence[str], column: str | None = None) -> Examples:
    """Read the non-empty lines of plain text, or a column of tables, JSON lines or Parquet."""
    return (tuple(text.strip() for path in paths for text, _ in _texts(path, column)),)


def _texts(path: str, column: str | None, label: str | None = None) -> list[tuple[str, str]]:
    """Read the texts of a file, which must have some, with their labels."""
    texts = texts_in_order(path, column, label)
    if label is None:
        texts = [(text, name) for text, name in texts if text.strip()]
    for number, (text, name) in enumerate(texts, start=1):
        if not text.strip() or (label is not None and not name):
            problem = "its text is empty"
            if text.strip():
                problem = f"its “{(label or '')[:40]}” is empty, or no text"
            raise FileFormatError(path, f"example {number:,}", problem, "Fill or drop it.")
    if not texts:
        raise FileFormatError(path, "", "it has no text", "Choose a file with text.")
    return texts


def read_parallel(paths: Sequence[str]) -> Examples:
    """Read texts and translations line by line from two files; empty pairs are skipped."""
    if len(paths) != 2:
        problem = f"{len(paths)} files are given, not two"
        fix = "Name the texts, then their translations."
        raise FileFormatError(", ".join(paths), "", problem, fix)
    sources, targets = map(text_lines, paths)
    if len(sources) != len(targets):
        problem = f"its number of lines is {len(targets):,}, but {paths[0]} has {len(sources):,}"
        fix = "Give files whose lines are translations of each other, in the same order."
        raise FileFormatError(paths[1], "", problem, fix)
    pairs = [pair for pair in zip(sources, targets, strict=True) if all(map(str.strip, pair))]
    if not pairs:
        raise FileFormatError(paths[0], "", "it has no text", "Choose files with text.")
    return tuple(tuple(map(str.strip, texts)) for texts in zip(*pairs, strict=True))


def read_conllu(paths: Sequence[str]) -> Examples:
    """Read words and universal tags from CoNLL-U files.

    Ranges such as ``1-2`` and empty words such as ``1.1`` are skipped.
    """
    sentences: list[list[tuple[str, str]]] = []
    for path in paths:
        sentence: list[tuple[str, str]] = []
        before = len(sentences)
        for number, line in enumerate([*text_lines(path), ""], start=1):
            if not line.strip():
                sentences += [sentence] if sentence else []
                sentence = []
            elif not line.startswith("#"):
                fields = line.split("\t")
                if len(fields) != 10:
                    problem = f"it has {len(fields)} columns instead of 10"
                    raise FileFormatError(path, f"line {number:,}", problem, "Give CoNLL-U.")
                token, word, _, tag, *_ = fields
                if token.isdecimal():
                    if tag in ("", "_"):
                        problem = f"the word “{word[:40]}” has no tag"
                        raise FileFormatError(path, f"line {number:,}", problem, "Add it.")
                    sentence.append((word, tag))
        if len(sentences) == before:
            raise FileFormatError(path, "", "it has no words", "Give a file in CoNLL-U.")
    pairs = [tuple(zip(*sentence, strict=True)) for sentence in sentences]
    return tuple(zip(*pairs, strict=True))


def read_entities(paths: Sequence[str], encoding: str | None = None) -> Examples:
    """Read words and the tags of named entities, as IOB2, from files of CoNLL-2002 or -2003.

    Columns are separated by white space: the word comes first, its tag (IOB1 or IOB2) last.
    """
    words: list[tuple[str, ...]] = []
    tags: list[tuple[str, ...]] = []
    for path in paths:
        sentence: list[list[str]] = []
        before = len(words)
        for number, line in enumerate([*text_lines(path, encoding), ""], start=1):
            fields = _BLANKS.split(line.strip(" \t"))
            if fields == [""] or fields[0] == "-DOCSTART-":
                if sentence:
                    words.append(tuple(first for first, *_ in sentence))
                    tags.append(as_iob2([last for *_, last in sentence]))
                sentence = []
            elif len(fields) < 2 or not _IOB.fullmatch(fields[-1]):
                problem = f"its last column, “{fields[-1][:40]}”, is not a tag such as O or B-PER"
                fix = "Give files of CoNLL-2002 or CoNLL-2003."
                raise FileFormatError(path, f"line {number:,}", problem, fix)
            else:
                sentence.append(fields)
        if len(words) == before:
            raise FileFormatError(path, "", "it has no words", "Give a file in CoNLL's format.")
    return tuple(words), tuple(tags)


_IOB = re.compile(r"O|[BI]-\S+")
_BLANKS = re.compile(r"[ \t]+")


def text_lines(path: str, encoding: str | None = None) -> list[str]:
    """Return the lines of a file, packed or not; UTF-8 without an ``encoding``."""
    with opened(Path(path), path) as file:
        data = decompressed(file).read()
    try:
        text = data.decode(encoding) if encoding else decode_utf8(data, path)
    except (LookupError, UnicodeError) as error:
        problem = f"it cannot be read as {encoding} ({error})"
        raise FileFormatError(path, "", problem, "Name its encoding, such as latin-1.") from error
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]

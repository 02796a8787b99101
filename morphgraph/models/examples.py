"""Read the texts that models are trained and tested on: labelled, tagged, plain and parallel.

Each reader takes one or more files and joins their examples in order; an invalid line raises
`FileFormatError` with its number.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import decode_utf8, read_bytes

_SEPARATORS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with one label each."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def classes(self) -> Sequence[str]:
        """The label of each text."""
        return self.labels

    def first(self, most: int | None) -> LabelledTexts:
        """Return at most ``most`` texts from the start."""
        return LabelledTexts(self.texts[:most], self.labels[:most])


@dataclass(frozen=True)
class TaggedSentences:
    """Sentences as words, with a tag for each word."""

    words: tuple[tuple[str, ...], ...]
    tags: tuple[tuple[str, ...], ...]

    @property
    def classes(self) -> Sequence[str]:
        """The tags of all words, sentence by sentence."""
        return list(chain.from_iterable(self.tags))

    def first(self, most: int | None) -> TaggedSentences:
        """Return at most ``most`` sentences from the start."""
        return TaggedSentences(self.words[:most], self.tags[:most])


@dataclass(frozen=True)
class ParallelTexts:
    """Texts with one translation each."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]


def read_labelled(paths: Sequence[str], text: str, label: str) -> LabelledTexts:
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
    return LabelledTexts(tuple(found[0]), tuple(found[1]))


def read_texts(paths: Sequence[str], column: str | None = None) -> tuple[str, ...]:
    """Read the non-empty lines of plain text, or a column of CSV, TSV or Parquet files."""
    found: list[str] = []
    for path in paths:
        own = _columns(path, (column,))[0] if column is not None else _lines(path)
        found += [text.strip() for text in own if text.strip()]
        if not own or not found:
            raise FileFormatError(path, "", "it has no text", "Choose a file with text.")
    return tuple(found)


def read_parallel(paths: Sequence[str]) -> ParallelTexts:
    """Read texts and translations line by line from two files; empty pairs are skipped."""
    if len(paths) != 2:
        names = ", ".join(paths)
        problem = f"{len(paths)} files are given, not two"
        raise FileFormatError(names, "", problem, "Name the texts, then their translations.")
    sources, targets = map(_lines, paths)
    if len(sources) != len(targets):
        raise FileFormatError(
            paths[1],
            "",
            f"it has {len(targets):,} lines, {paths[0]} has {len(sources):,}",
            "Give files in which each line translates the one of the same number.",
        )
    pairs = [(s.strip(), t.strip()) for s, t in zip(sources, targets, strict=True)]
    pairs = [pair for pair in pairs if all(pair)]
    if not pairs:
        raise FileFormatError(paths[0], "", "it has no text", "Choose files with text.")
    return ParallelTexts(*map(tuple, zip(*pairs, strict=True)))


def read_conllu(paths: Sequence[str], column: int) -> TaggedSentences:
    """Read words and tags from CoNLL-U files, gzipped or not; ``column`` holds the tags.

    Ranges such as ``1-2`` and empty words such as ``1.1`` are skipped.
    """
    words: list[tuple[str, ...]] = []
    tags: list[tuple[str, ...]] = []
    for path in paths:
        sentence: list[tuple[str, str]] = []
        before = len(words)
        for number, line in enumerate(chain(_lines(path), [""]), start=1):
            if line.startswith("#"):
                continue
            if not line.strip():
                if sentence:
                    words.append(tuple(word for word, _ in sentence))
                    tags.append(tuple(tag for _, tag in sentence))
                sentence = []
                continue
            fields = line.split("\t")
            if len(fields) != 10:
                problem = f"it has {len(fields)} columns instead of 10"
                raise FileFormatError(path, f"line {number:,}", problem, "Give CoNLL-U.")
            if fields[0].isdecimal():
                if fields[column] in ("", "_"):
                    problem = f"the word “{fields[1][:40]}” has no tag"
                    raise FileFormatError(path, f"line {number:,}", problem, "Add it.")
                sentence.append((fields[1], fields[column]))
        if len(words) == before:
            raise FileFormatError(path, "", "it has no words", "Give a file in CoNLL-U.")
    return TaggedSentences(tuple(words), tuple(tags))


def check_classes(train: Mapping[str, int], test: Mapping[str, int], named: str, what: str) -> None:
    """Refuse training data of one class, and test data with classes missing from training.

    ``train`` and ``test``: how often each class occurs; ``named``: the test file; ``what``:
    ``label`` or ``tag``.
    """
    if len(train) < 2:
        problem = f"all examples of training have the {what} “{next(iter(train), '')}”"
        raise FileFormatError(named, "", problem, "Give examples of two classes or more.")
    absent = [name for name in test if not train.get(name)]
    if absent:
        listed = ", ".join(f"“{name[:40]}”" for name in absent[:5])
        raise FileFormatError(
            named,
            "",
            f"no example of training has the {what} {listed}",
            "Add examples to what is trained on, or leave these out.",
        )


# ------------------------------------------------------------------------------ files


def _content(path: str) -> bytes:
    data = read_bytes(path)
    if not path.endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        problem = "it is cut off or is not gzip"
        raise FileFormatError(path, "", problem, "Copy the file again.") from error


def _lines(path: str) -> list[str]:
    lines = decode_utf8(_content(path), path).split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]


def _columns(path: str, names: Sequence[str]) -> list[list[str]]:
    """Return columns of a table as strings."""
    import pandas as pd
    import pyarrow

    plain = path.removesuffix(".gz")
    try:
        frame: Any
        if plain.endswith(".parquet"):
            frame = pd.read_parquet(io.BytesIO(_content(path))).astype("string").fillna("")
        else:
            text = decode_utf8(_content(path), path)
            separator = _SEPARATORS.get(plain.rpartition(".")[2].lower(), ",")
            frame = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
            )
    except (ValueError, pyarrow.ArrowException) as error:
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

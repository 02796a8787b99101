"""Counting the words of one file into sorted partials, with a dictionary of bounded size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus.counting_store import BLOCK_WORDS, sorted_blocks, write_partial
from morphgraph.corpus.counting_texts import LONGEST_WORD, blocks, check_utf8, too_long
from morphgraph.corpus.counts import WordCounts

WHITESPACE = "whitespace"
KINDS = (WHITESPACE, "knockout", "rebpe")
"""What words can be: what white space separates, or what a pipeline of this name trains on."""

ENTRY = 140
"""Bytes that a word in a dictionary takes beside its own, at most: its object, its place in a table
that has just grown, and the table's old copy."""

_LARGEST_BLOCK = 2**22
_SMALLEST_BLOCK = 2**18
_FINER = re.compile(
    "[\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
)
"""The white space of Unicode that bytes are not split at."""


@dataclass(frozen=True)
class CountingTask:
    """One file to count: its number names its partials in ``folder``; ``memory`` is in bytes."""

    path: Path
    number: int
    kind: str
    column: str | None
    memory: int
    folder: Path


@dataclass
class Bounded:
    """Words and counts, and an upper estimate of the memory that they take, in bytes."""

    counts: dict[bytes, int] = field(default_factory=dict)
    size: int = 0

    def add(self, words: list[bytes], numbers: list[int]) -> None:
        """Add counts of words."""
        counts = self.counts
        before = len(counts)
        known = counts.get
        for word, number in zip(words, numbers, strict=True):
            counts[word] = known(word, 0) + number
        new = len(counts) - before
        if new:
            self.size += ENTRY * new + sum(map(len, islice(reversed(counts), new)))


def count_file(task: CountingTask, advance: Callable[[int], None]) -> list[Path]:
    """Count a file's words and write them as partials, whose paths are given.

    ``advance`` gets the number of bytes read since the last call; an exception of its ends the
    counting. Raises `FileFormatError` where the file cannot be read.
    """
    # The rest is for the block at hand, whose words may all be new.
    usable = task.memory // 2
    found = Bounded()
    written: list[Path] = []
    block_size = min(max(task.memory // 128, _SMALLEST_BLOCK), _LARGEST_BLOCK)
    # Pieces of words need room beside the words.
    most = usable if task.kind == WHITESPACE else usable * 2 // 3
    done = 0
    for position, block in blocks(task.path, task.column, block_size):
        found.add(*_distinct(block))
        if found.size > most:
            _spill(found, task, usable - most, written)
            found = Bounded()
        advance(max(position - done, 0))
        done = max(position, done)
    _spill(found, task, usable - most, written)
    return written


def _distinct(block: bytes) -> tuple[list[bytes], list[int]]:
    """The words of a block, as ASCII's white space separates them, and how often each is there."""
    import pyarrow
    from pyarrow import compute

    if not block:
        return [], []
    offsets = pyarrow.array([0, len(block)], pyarrow.int64()).buffers()[1]
    # Not checked to be UTF-8: words are, once, before they are written.
    text = pyarrow.LargeStringArray.from_buffers(1, offsets, pyarrow.py_buffer(block))
    counted = compute.ascii_split_whitespace(text).values.value_counts()
    words = counted.field("values").cast(pyarrow.large_binary()).to_pylist()
    numbers = counted.field("counts").to_pylist()
    if b"" in words:  # At the block's start and end.
        at = words.index(b"")
        del words[at], numbers[at]
    return words, numbers


def _spill(found: Bounded, task: CountingTask, room: int, written: list[Path]) -> None:
    try:
        for words in _pieces(found.counts, task.kind, room):
            if max(map(len, words), default=0) > LONGEST_WORD:
                raise too_long(str(task.path), "")
            if words:
                path = task.folder / f"{task.number}-{len(written)}"
                write_partial(path, sorted_blocks(words))
                written.append(path)
    except UnicodeDecodeError as error:
        check_utf8(task.path)
        raise FileFormatError(
            str(task.path), "", "it is not valid UTF-8", "Save the file as UTF-8."
        ) from error


def _pieces(counts: dict[bytes, int], kind: str, room: int) -> Iterator[dict[bytes, int]]:
    """The words that a kind of counting sees, in one or more dictionaries; empties ``counts``.

    What all kinds leave as it is stays in its place. What is made of the other words is kept apart
    until they are all done, as rules need not leave their own results alone.
    """
    split = _splitting(kind)
    made = Bounded()
    others = list(_not_settled(counts, kind))
    for start in range(0, len(others), BLOCK_WORDS):
        some = others[start : start + BLOCK_WORDS]
        words = [word.decode() for word in some]
        pieces = split(WordCounts(words, [counts.pop(word) for word in some]))
        made.add([piece.encode() for piece in pieces], list(pieces.values()))
        if made.size > room > 0:
            yield made.counts
            made = Bounded()
    del others
    for word, number in made.counts.items():
        counts[word] = counts.get(word, 0) + number
    yield counts


def _splitting(kind: str) -> Callable[[WordCounts], Any]:
    if kind == WHITESPACE:
        from morphgraph.corpus.rules import as_they_are

        return as_they_are
    from morphgraph.corpus.pipelines import pipeline_named

    return pipeline_named(kind).words


def _not_settled(counts: dict[bytes, int], kind: str) -> Iterator[bytes]:
    """The words that may have to be split or rewritten; checks that all are UTF-8."""
    if kind != WHITESPACE:
        # ASCII's letters and digits are neither marks nor white space, and NFKC keeps them.
        yield from (word for word in counts if not word.isalnum())
        return
    words = iter(counts)
    while some := list(islice(words, BLOCK_WORDS)):
        text = b"\n".join(some).decode()
        if _FINER.search(text):
            yield from (word for word in some if _FINER.search(word.decode()))


def check_kind(kind: str) -> None:
    """Raise `MorphGraphError` for an unknown kind (not in `KINDS`)."""
    if kind not in KINDS:
        raise MorphGraphError(
            f"There is no counting by {kind!r}. Choose one of {', '.join(KINDS)}."
        )

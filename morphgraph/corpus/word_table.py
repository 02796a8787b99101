"""Words and counts within a given memory: a hash table, and runs of it on the disk.

A run has the words of a full table in the order of their hashes, so that any range of hashes can be
read on its own. Its file: for how many words there is room, and of how many bytes the words are;
the first word of each of `RANGES` equal ranges of hashes, and the number of words; hashes, counts
and ends of the words, and their bytes. All numbers are 64-bit, little-endian.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.text import LONGEST_WORD
from morphgraph.kernels import Int64
from morphgraph.kernels.counting import (
    SLOT,
    add_counts,
    are_plain,
    count_words_in,
    gather,
    hash_words,
    is_full,
    move_slots,
)

RANGES = 4096
FORM = 2
"""Changes whenever hashes or runs do, so that no counting goes on with runs of another form."""

_SHIFT = np.uint64(64 - 12)
_BYTES_A_SLOT = 68
"""Of memory: its own 24, the arena's 8, and what sorting the words takes."""

_ARENA = 8
_LEAST_SLOTS, _FIRST_SLOTS = 2**10, 2**15
_AT_ONCE = 2**16
_HEAD = 8 * (2 + RANGES + 1)

Rows = tuple[npt.NDArray[np.uint64], Int64, Int64, npt.NDArray[np.uint8]]
"""Some words: their hashes, counts, ends, and bytes one behind the other."""


class TooLongWord(ValueError):
    """A word of more than `LONGEST_WORD` bytes; ``args``: the place behind it."""


class WordTable:
    """A hash table of words and counts that takes about ``memory`` bytes, when it is written too.

    >>> table = WordTable(2**20)
    >>> table.add_text(b"low lower low")
    13
    >>> sorted(table.words())
    [(b'low', 2), (b'lower', 1)]
    """

    def __init__(self, memory: int) -> None:
        slots = _LEAST_SLOTS
        while 2 * slots * _BYTES_A_SLOT <= memory:
            slots *= 2
        self._make(min(slots, _FIRST_SLOTS), slots * _ARENA, slots)

    @classmethod
    def holding(cls, words: int, size: int) -> WordTable:
        """One with room for so many words of so many bytes in all."""
        made = cls.__new__(cls)
        slots = max(_LEAST_SLOTS, 1 << (2 * words).bit_length())
        made._make(slots, size, slots)
        return made

    def _make(self, slots: int, arena: int, most_slots: int) -> None:
        self._most = most_slots * SLOT
        self._table = np.zeros(slots * SLOT, np.int64)
        self._arena = np.zeros(arena, np.uint8)
        self._state = np.zeros(2, np.int64)

    def __len__(self) -> int:
        return int(self._state[0])

    def add_text(self, text: bytes, start: int = 0) -> int:
        """Count the words of a text in UTF-8, by white space, from a place on; where it got to.

        That is the text's end, or the word at which the table got full. `TooLongWord` where one is
        too long; its place is the one behind it.
        """
        data = np.frombuffer(text, np.uint8)
        at, is_long = start, False
        while not is_long and at < len(data):
            before = self._table, self._arena, self._state
            at, is_long = count_words_in(data, at, LONGEST_WORD, *before)
            if at < len(data) and not is_long and not self._grow():
                break
        if is_long:
            raise TooLongWord(at)
        return at

    def add(self, rows: Rows, first: int = 0) -> int:
        """Add counts of words, from one of them on; gives the first one that had no room."""
        hashes, counts, ends, text = rows
        starts = np.append(0, ends[:-1])
        at = first
        while True:
            rest = (hashes[at:], starts[at:], ends[at:], counts[at:], text)
            at += int(add_counts(*rest, self._table, self._arena, self._state))
            if at == len(hashes) or not self._grow():
                return at

    def _grow(self) -> bool:
        """Four times as many slots, if they are what is wanting and there may be so many.

        A table that is as small as its words stays in the processor's caches.
        """
        if len(self._table) == self._most or not is_full(self._table, self._state):
            return False
        larger = np.zeros(min(4 * len(self._table), self._most), np.int64)
        move_slots(self._table, larger)
        self._table = larger
        return True

    def clear(self) -> None:
        """Forget all words."""
        self._table[:] = 0
        self._state[:] = 0

    def take_odd(self) -> Iterator[dict[bytes, int]]:
        """Remove words with more than ASCII's letters and digits, and give them, in portions."""
        for rows in self._places():
            odd = rows[~are_plain(rows, self._table, self._arena)]
            for start in range(0, len(odd), 4096):
                some = odd[start : start + 4096]
                text, ends = gather(some, self._table, self._arena)
                yield dict(zip(_split(text, ends), self._counts(some), strict=True))
                self._table[some * SLOT + 2] = 0

    def rows(self, least: int = 1) -> Iterator[Rows]:
        """The words of at least this count in the order of their hashes, in portions."""
        for rows in self._places():
            rows = rows[self._table[rows * SLOT + 2] >= least]
            if len(rows):
                hashes = self._table[rows * SLOT].view(np.uint64)
                text, ends = gather(rows, self._table, self._arena)
                yield hashes, self._table[rows * SLOT + 2], ends, text

    def words(self) -> Iterator[tuple[bytes, int]]:
        """Words and counts in the order of their hashes."""
        for _, counts, ends, text in self.rows():
            yield from zip(_split(text, ends), counts.tolist(), strict=True)

    def _counts(self, rows: Int64) -> list[int]:
        found: list[int] = self._table[rows * SLOT + 2].tolist()
        return found

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self._table[2::SLOT].sum())

    def _places(self) -> Iterator[Int64]:
        used = np.flatnonzero(self._table[1::SLOT])
        hashes = self._table[used * SLOT].view(np.uint64)
        order = used[np.argsort(hashes)]
        if len(order) > 1:
            sorted_ = self._table[order * SLOT]
            if (sorted_[1:] == sorted_[:-1]).any():
                order = self._by_words_too(order)
        for start in range(0, len(order), _AT_ONCE):
            yield order[start : start + _AT_ONCE]

    def _by_words_too(self, rows: Int64) -> Int64:
        """Those of one hash by their bytes, so that the order depends on nothing else."""
        text, ends = gather(rows, self._table, self._arena)
        hashes = self._table[rows * SLOT].view(np.uint64).tolist()
        keys = list(zip(hashes, _split(text, ends), strict=True))
        return rows[sorted(range(len(rows)), key=keys.__getitem__)]


def as_rows(counts: dict[bytes, int]) -> Rows:
    """Counts of words as a table takes them."""
    ends = np.cumsum([len(word) for word in counts], dtype=np.int64)
    text = np.frombuffer(b"".join(counts), np.uint8)
    return hash_words(text, ends), np.array(list(counts.values()), np.int64), ends, text


def _split(text: npt.NDArray[np.uint8], ends: Int64) -> list[bytes]:
    data, bounds = text.tobytes(), [0, *ends.tolist()]
    return [data[start:end] for start, end in pairwise(bounds)]


@dataclass(frozen=True)
class WordRun:
    """A run on the disk: its file, room for words, bytes, and the first word of each range."""

    path: Path
    room: int
    size: int
    words: Int64

    def read(self, first: int, last: int) -> Rows:
        """The words of the ranges from ``first`` to before ``last``."""
        start, end = int(self.words[first]), int(self.words[last])

        def section(number: int, kind: Any, begin: int, some: int) -> Any:
            place = _HEAD + 8 * self.room * number + begin * np.dtype(kind).itemsize
            found = np.fromfile(self.path, kind, some, offset=place)
            if len(found) != some:
                raise cut_off(self.path)
            return found

        ends = section(2, "<i8", max(start - 1, 0), end - max(start - 1, 0))
        before = int(ends[0]) if start and len(ends) else 0
        ends = (ends[1:] if start else ends) - before
        size = int(ends[-1]) if len(ends) else 0
        hashes, counts = (section(n, k, start, end - start) for n, k in ((0, "<u8"), (1, "<i8")))
        return hashes, counts, ends, section(3, np.uint8, before, size)

    def size_of(self, first: int, last: int) -> int:
        """How many bytes the words of these ranges have."""
        places = [int(self.words[at]) - 1 for at in (first, last)]
        ends = [
            int(np.fromfile(self.path, "<i8", 1, offset=_HEAD + 8 * (2 * self.room + at))[0])
            if at >= 0
            else 0
            for at in places
        ]
        return ends[1] - ends[0]

    @property
    def bytes_a_word(self) -> float:
        """How long its words are, on average."""
        return self.size / max(int(self.words[-1]), 1)


def cut_off(path: Path) -> MorphGraphError:
    """The error of a run that is not as it was written."""
    return MorphGraphError(
        f"{path}: this part of the counts was changed or cut off. Delete its folder, and count "
        "again."
    )


def write_run(path: Path, table: WordTable) -> None:
    """Write the words of a table."""
    count = len(table)
    index, done, before = np.zeros(RANGES, np.int64), 0, 0
    with path.open("wb+") as file:
        # What words were removed leaves gaps, so the sections stand where all of them would.
        sections = [_HEAD + 8 * count * number for number in range(4)]
        for hashes, counts, ends, text in table.rows():
            index += np.bincount((hashes >> _SHIFT).astype(np.int64), minlength=RANGES)
            for number, some in enumerate((hashes, counts, ends + before)):
                file.seek(sections[number] + 8 * done)
                file.write(some.astype(some.dtype.newbyteorder("<"), copy=False).tobytes())
            file.seek(sections[3] + before)
            file.write(text.tobytes())
            done += len(ends)
            before += len(text)
        file.seek(0)
        head = np.concatenate([[count, before, 0], np.cumsum(index)])
        file.write(head.astype("<i8").tobytes())


def read_run(path: Path) -> WordRun:
    """A run that was written before."""
    head = np.fromfile(path, "<i8", 2 + RANGES + 1)
    if len(head) != 2 + RANGES + 1:
        raise cut_off(path)
    return WordRun(path, int(head[0]), int(head[1]), head[2:])

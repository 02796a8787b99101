"""Partial word counts on disk, sorted, and their merging within a bound of memory.

A partial is a series of blocks: the number of words and their bytes in all, as two little-endian
64-bit numbers; a 64-bit count for each word; the words in UTF-8, a line feed between them. Words
ascend by their bytes, which is the order of their code points.
"""

from __future__ import annotations

import heapq
import struct
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

from morphgraph.core.errors import MorphGraphError

Block = tuple[list[bytes], list[int]]
"""Some words, ascending, and their counts."""

BLOCK_WORDS = 4096
BLOCK_BYTES = 2**16
SOURCE_MEMORY = 3 * 2**20
"""What one open partial is given while it is merged: a block, its part of the sums, and as much
again for what the allocator keeps from the counting before."""

MOST_OPEN = 128
_HEAD = struct.Struct("<QQ")


def write_partial(path: Path, blocks: Iterable[Block]) -> int:
    """Write a partial; gives its size in bytes."""
    with path.open("xb") as file:
        for words, counts in blocks:
            for some in _portions(words):
                text = b"\n".join(words[some])
                file.write(_HEAD.pack(some.stop - some.start, len(text)))
                file.write(_little_endian(array("q", counts[some])).tobytes())
                file.write(text)
        return file.tell()


def sorted_blocks(counts: Mapping[bytes, int]) -> Iterator[Block]:
    """The words of a dictionary in order, some thousands at a time.

    >>> list(sorted_blocks({b"low": 5, b"a": 2}))
    [([b'a', b'low'], [2, 5])]
    """
    words = iter(sorted(counts))
    while some := list(islice(words, BLOCK_WORDS)):
        yield some, [counts[word] for word in some]


def _portions(words: Sequence[bytes]) -> Iterator[slice]:
    """Parts with at most `BLOCK_WORDS` words and, but for single long words, `BLOCK_BYTES`."""
    if 0 < len(words) <= BLOCK_WORDS and sum(map(len, words)) <= BLOCK_BYTES:
        yield slice(0, len(words))
        return
    start = size = 0
    for at, word in enumerate(words):
        if at > start and (size + len(word) > BLOCK_BYTES or at - start == BLOCK_WORDS):
            yield slice(start, at)
            start, size = at, 0
        size += len(word)
    if len(words) > start:
        yield slice(start, len(words))


def read_partial(path: Path) -> Iterator[Block]:
    """The blocks of a partial; `MorphGraphError` where it is cut off."""
    with path.open("rb") as file:
        while head := file.read(_HEAD.size):
            try:
                number, size = _HEAD.unpack(head)
                counts = array("q")
                counts.frombytes(_exactly(file, 8 * number))
                words = _exactly(file, size).split(b"\n")
            except (struct.error, EOFError) as error:
                raise MorphGraphError(
                    f"{path}: this part of the counts was changed or cut off. Count again, with "
                    "another folder as --temp."
                ) from error
            yield words, _little_endian(counts).tolist()


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise EOFError
    return data


def _little_endian(numbers: array[int]) -> array[int]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


# ------------------------------------------------------------------------- merging


class _Source:
    """A partial that is being read: the block at hand, and how far it is used."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self.at = 0
        self.words: list[bytes] = []
        self.counts: list[int] = []

    def fill(self) -> bool:
        """Get the next block if the present one is used up; True if there is one."""
        if self.at == len(self.words):
            self.at = 0
            self.words, self.counts = next(self._blocks, ([], []))
        return bool(self.words)

    def take(self, last: bytes, total: dict[bytes, int]) -> None:
        """Add the counts of the words up to ``last`` to the totals."""
        end = bisect_right(self.words, last, self.at)
        words, counts = self.words[self.at : end], self.counts[self.at : end]
        self.at = end
        if not total:
            total.update(zip(words, counts, strict=True))
            return
        known = total.get
        for word, count in zip(words, counts, strict=True):
            total[word] = known(word, 0) + count


def merge(partials: Iterable[Iterator[Block]]) -> Iterator[Block]:
    """Sum sorted counts; of each partial, one block is in memory.

    What is at most the smallest of the blocks' last words can be summed: no later block has it.

    >>> list(merge([iter([([b"a", b"c"], [1, 2])]), iter([([b"b", b"c"], [3, 4])])]))
    [([b'a', b'b', b'c'], [1, 3, 6])]
    """
    sources = [source for source in map(_Source, partials) if source.fill()]
    while sources:
        last = min(source.words[-1] for source in sources)
        total: dict[bytes, int] = {}
        for source in sources:
            source.take(last, total)
        sources = [source for source in sources if source.fill()]
        words = sorted(total)
        yield words, [total[word] for word in words]


def most_open(memory: int) -> int:
    """How many partials may be merged at once within ``memory`` bytes.

    >>> most_open(2**26), most_open(2**40)
    (21, 128)
    """
    return max(2, min(MOST_OPEN, memory // SOURCE_MEMORY))


def merge_in_rounds(
    partials: Sequence[Path], folder: Path, at_once: int, advance: Callable[[], None]
) -> Iterator[Block]:
    """Sum partials of which at most ``at_once`` may be open; each is deleted once it is merged.

    Rounds merge the smallest ones into a new one, in ``folder``, until few enough are left; the
    first takes just as many as let the later ones be full. ``advance`` is called now and then.
    """
    heap = [(path.stat().st_size, number, path) for number, path in enumerate(partials)]
    heapq.heapify(heap)
    made = len(heap)
    while len(heap) > at_once:
        some = min(at_once, (len(heap) - 2) % (at_once - 1) + 2)
        chosen = [heapq.heappop(heap)[2] for _ in range(some)]
        path = folder / f"merged-{made}"
        size = write_partial(path, _reporting(merge(map(read_partial, chosen)), advance))
        for merged in chosen:
            merged.unlink()
        heapq.heappush(heap, (size, made, path))
        made += 1
    yield from merge(read_partial(path) for *_, path in heap)


def _reporting(blocks: Iterator[Block], advance: Callable[[], None]) -> Iterator[Block]:
    for block in blocks:
        advance()
        yield block

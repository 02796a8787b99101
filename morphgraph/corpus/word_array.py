"""Words as bytes in one array: ten million take little more memory than a file of them.

Strings are made in batches, or when they are accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, overload

from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from morphgraph.kernels import Int64

    Bytes = npt.NDArray[np.uint8]

BATCH_SIZE = 2**14
"""The number of words held in memory as strings at once."""


class WordArray(Sequence[str]):
    """A sequence of words: their bytes in UTF-8, one behind the other, and where each ends."""

    def __init__(self, text: Bytes, ends: Int64) -> None:
        self.text, self.ends = text, ends

    @classmethod
    def of_strings(cls, words: Collection[str]) -> WordArray:
        """Make an array from strings; `UnicodeEncodeError` for a lone surrogate."""
        import numpy as np

        text = np.frombuffer("".join(words).encode(), np.uint8)
        ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)))
        begins = np.flatnonzero((text & 0xC0) != 0x80)  # of each character
        return cls(text, np.append(begins, len(text))[ends])

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def starts(self) -> Int64:
        """Where each word starts."""
        import numpy as np

        return np.append(0, self.ends[:-1])[: len(self)]

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> WordArray: ...

    def __getitem__(self, place: int | slice) -> str | WordArray:
        if isinstance(place, slice):
            first, last, step = place.indices(len(self))
            if step != 1:
                return WordArray.of_strings([self[at] for at in range(first, last, step)])
            ends = self.ends[first : max(first, last)]
            start = int(self.ends[first - 1]) if first else 0
            return WordArray(self.text[start : ends[-1] if len(ends) else start], ends - start)
        end = range(len(self))[place]
        start = int(self.ends[end - 1]) if end else 0
        return self.text[start : self.ends[end]].tobytes().decode()

    def where(self, chosen: npt.NDArray[np.bool_]) -> WordArray:
        """Return the words selected by a mask."""
        import numpy as np

        lengths = np.diff(self.ends, prepend=0)
        return WordArray(self.text[np.repeat(chosen, lengths)], np.cumsum(lengths[chosen]))

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), BATCH_SIZE):
            some = self[first : first + BATCH_SIZE]
            text, ends = some.text.tobytes().decode(), some.lengths().cumsum().tolist()
            yield from (text[a:b] for a, b in zip([0, *ends], ends, strict=False))

    def __repr__(self) -> str:
        return f"WordArray({len(self):,} words)"

    def characters(self) -> tuple[npt.NDArray[np.uint32], Int64]:
        """Return the code points of all words, and the length of each word."""
        import numpy as np

        written = self.text.tobytes().decode().encode("utf-32-le")
        return np.frombuffer(written, np.uint32), self.lengths()

    def character_counts(self, numbers: Int64) -> Iterator[tuple[str, int]]:
        """Yield each character with its frequency, given the count of each word."""
        import numpy as np

        points, lengths = self.characters()
        found, places = np.unique(points, return_inverse=True)
        sums = np.zeros(len(found), np.int64)
        np.add.at(sums, places, np.repeat(numbers, lengths))
        yield from zip(map(chr, found.tolist()), sums.tolist(), strict=True)

    def lengths(self) -> Int64:
        """Return the number of characters of each word."""
        import numpy as np

        begun = _counted_before((self.text & 0xC0) != 0x80)
        ends: Int64 = begun[self.ends].astype(np.int64)
        return np.diff(ends, prepend=0)

    def consist_of(self, allowed: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Return which words have only characters that ``allowed``, a pure function, accepts."""
        import numpy as np

        points, lengths = self.characters()
        highest = int(points.max(initial=0)).bit_length()
        wrong = _counted_before(~_accepted(allowed, min(1 << highest, 0x110000))[points])
        ends = np.cumsum(lengths)
        is_allowed: npt.NDArray[np.bool_] = wrong[ends] == wrong[ends - lengths]
        return is_allowed

    def with_prefix(self, start: str, *, byte_level: bool) -> WordArray:
        """Return the words with a prefix; with ``byte_level``, in GPT-2's characters for bytes."""
        import numpy as np

        text, ends = self.text, self.ends
        if byte_level:
            first, second = _byte_characters()
            wide = second[text] > 0
            more = _counted_before(wide)
            written = np.empty(len(text) + int(more[-1]), np.uint8)
            places = np.arange(len(text)) + more[:-1]
            written[places] = first[text]
            written[places[wide] + 1] = second[text[wide]]
            text, ends = written, ends + more[ends]
        if not start:
            return WordArray(text, ends)
        prefix = np.frombuffer(start.encode(), np.uint8)
        behind = ends + np.arange(1, len(ends) + 1) * len(prefix)
        marked = np.empty(len(text) + len(ends) * len(prefix), np.uint8)
        own = np.ones(len(marked), np.bool_)
        begins = np.append(0, behind[:-1])[: len(ends)]
        for at, byte in enumerate(prefix):
            marked[begins + at] = byte
            own[begins + at] = False
        marked[own] = text
        return WordArray(marked, behind)


def _counted_before(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32] | Int64:
    """Return how many are chosen before each place, and in all."""
    import numpy as np

    dtype = np.dtype(np.int32 if len(chosen) < 2**31 else np.int64)
    counted: Int64 = np.zeros(len(chosen) + 1, dtype)
    np.cumsum(chosen, dtype=dtype, out=counted[1:])
    return counted


@lru_cache(maxsize=32)
def _accepted(allowed: Callable[[str], bool], size: int) -> npt.NDArray[np.bool_]:
    import numpy as np

    return np.fromiter(map(allowed, map(chr, range(size))), np.bool_, size)


@lru_cache(maxsize=1)
def _byte_characters() -> tuple[Bytes, Bytes]:
    """Return the UTF-8 of GPT-2's character for each byte: the first byte, and the second or 0."""
    import numpy as np

    from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR

    written = [character.encode().ljust(2, b"\0") for character in BYTE_TO_CHAR]
    both = np.frombuffer(b"".join(written), np.uint8).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


CountedArray = tuple[WordArray, "Int64"]
"""Words, and how often each occurs."""


def counted_array(words: Collection[str], numbers: Collection[int] | Int64) -> CountedArray:
    """Return word counts as arrays; `MorphGraphError` if one exceeds 64 bits or has no UTF-8."""
    import numpy as np

    try:
        array = words if isinstance(words, WordArray) else WordArray.of_strings(words)
        if isinstance(numbers, np.ndarray):
            return array, numbers.astype(np.int64, copy=False)
        return array, np.fromiter(numbers, np.int64, len(numbers))
    except OverflowError as error:
        raise MorphGraphError("A count has more than 64 bits. Scale the counts down.") from error
    except UnicodeEncodeError as error:
        lone = error.object[error.start]
        word = next(word for word in words if lone in word)
        raise MorphGraphError(
            f"The word {word!r} has half of a surrogate pair, which is not a character. Remove it."
        ) from error


def concatenate_counts(parts: list[CountedArray]) -> CountedArray:
    """Concatenate arrays and empty the list, so that memory is not held twice.

    Raises `MorphGraphError` if the sum of all counts comes near to 64 bits.
    """
    import numpy as np

    sizes = np.cumsum([0, *(len(words.text) for words, _ in parts)])
    ends = [words.ends + before for (words, _), before in zip(parts, sizes, strict=False)]
    words = WordArray(np.concatenate([part.text for part, _ in parts]), np.concatenate(ends))
    numbers = np.concatenate([some for _, some in parts])
    parts.clear()
    if float(numbers.sum(dtype=float)) >= 2.0**62:
        raise MorphGraphError("The counts add up to more than 2⁶². Scale the counts down.")
    return words, numbers


def sum_duplicates(words: WordArray, numbers: Int64) -> CountedArray:
    """Return unique words in order of first occurrence, with the sums of their counts."""
    import numpy as np

    from morphgraph.kernels.alignment import first_places

    first = first_places(words.text, words.ends)
    kept = first == np.arange(len(first))
    if kept.all():
        return words, numbers
    sums = np.zeros(len(words), np.int64)
    np.add.at(sums, first, numbers)
    return words.where(kept), sums[kept]

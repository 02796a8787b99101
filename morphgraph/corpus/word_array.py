"""Words as bytes in one array: ten million take little more memory than a file of them.

Strings are made in batches, or when they are accessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

from morphgraph.core.errors import MorphGraphError
from morphgraph.tokeniser.byte_level import BYTE_TO_CHAR

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from morphgraph.kernels import Int64

    Bytes = npt.NDArray[np.uint8]

BATCH_SIZE = 2**14
"""The number of words held in memory as strings at once."""


class WordArray(Sequence[str]):
    """A sequence of words in UTF-8, in an Arrow ``array`` of ``large_string``."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @classmethod
    def of_bytes(cls, text: Bytes, ends: Int64) -> WordArray:
        """Make an array from concatenated words in UTF-8 and the position where each ends."""
        import numpy as np
        import pyarrow

        parts = [np.append(0, ends), np.ascontiguousarray(text)]
        buffers = [None, *map(pyarrow.py_buffer, parts)]
        return cls(pyarrow.Array.from_buffers(pyarrow.large_string(), len(ends), buffers))

    def __len__(self) -> int:
        return len(self.array)

    @classmethod
    def of_strings(cls, words: Iterable[str]) -> WordArray:
        """Make an array from strings; `UnicodeEncodeError` for a lone surrogate."""
        import pyarrow

        return cls(pyarrow.array(words, pyarrow.large_string()))

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> WordArray: ...

    def __getitem__(self, place: int | slice) -> str | WordArray:
        if not isinstance(place, slice):
            word: str = self.array[place].as_py()
            return word
        return WordArray(self.array[place])

    def where(self, chosen: npt.NDArray[np.bool_]) -> WordArray:
        """Return the words selected by a mask."""
        import pyarrow

        return WordArray(self.array.filter(pyarrow.array(chosen)))

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), BATCH_SIZE):
            yield from self.array.slice(start, BATCH_SIZE).to_pylist()

    def __repr__(self) -> str:
        return f"WordArray({len(self):,} words)"

    def bytes_and_ends(self) -> tuple[Bytes, Int64]:
        """Return the concatenated words and the end of each, without copying."""
        import numpy as np

        if not len(self):
            return np.zeros(0, np.uint8), np.zeros(0, np.int64)
        _, offsets, data = self.array.buffers()
        first = self.array.offset
        bounds = np.frombuffer(offsets, np.int64)[first : first + len(self) + 1]
        if bounds[-1] == bounds[0]:
            return np.zeros(0, np.uint8), bounds[1:] - bounds[0]
        text = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]
        return text, bounds[1:] - bounds[0]

    def characters(self) -> tuple[npt.NDArray[np.uint32], Int64]:
        """Return the code points of all words, and the length of each word."""
        import numpy as np

        text, _ = self.bytes_and_ends()
        points = np.frombuffer(text.tobytes().decode().encode("utf-32-le"), np.uint32)
        return points, self.lengths()

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
        import pyarrow.compute

        lengths = pyarrow.compute.utf8_length(self.array)
        found: Int64 = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def consist_of(self, allowed: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Return which words have only characters that ``allowed``, a pure function, accepts."""
        import numpy as np

        points, lengths = self.characters()
        wrong = np.append(0, np.cumsum(~_accepted(allowed)[points]))
        ends = np.cumsum(lengths)
        found: npt.NDArray[np.bool_] = wrong[ends] == wrong[ends - lengths]
        return found

    def with_prefix(self, start: str, *, byte_level: bool) -> WordArray:
        """Return the words with a prefix; with ``byte_level``, in GPT-2's characters for bytes."""
        import numpy as np
        import pyarrow.compute

        words = self
        if byte_level:
            text, ends = self.bytes_and_ends()
            first, second = _byte_characters()
            wide = second[text] > 0
            more = np.append(0, np.cumsum(wide))
            written = np.empty(len(text) + int(more[-1]), np.uint8)
            places = np.arange(len(text)) + more[:-1]
            written[places] = first[text]
            written[places[wide] + 1] = second[text[wide]]
            words = WordArray.of_bytes(written, ends + more[ends])
        if not start:
            return words
        before, empty = (pyarrow.scalar(text, pyarrow.large_string()) for text in (start, ""))
        return WordArray(pyarrow.compute.binary_join_element_wise(before, words.array, empty))


@lru_cache(maxsize=8)
def _accepted(allowed: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
    import numpy as np

    return np.fromiter(map(allowed, map(chr, range(0x110000))), np.bool_, 0x110000)


@lru_cache(maxsize=1)
def _byte_characters() -> tuple[Bytes, Bytes]:
    """Return the UTF-8 of GPT-2's character for each byte: the first byte, and the second or 0."""
    import numpy as np

    written = [character.encode().ljust(2, b"\0") for character in BYTE_TO_CHAR]
    both = np.frombuffer(b"".join(written), np.uint8).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


CountedArray = tuple[WordArray, "Int64"]
"""Words, and how often each occurs."""


def counted_array(counts: Mapping[str, int]) -> CountedArray:
    """Return word counts as arrays; `MorphGraphError` if a count exceeds 64 bits."""
    import numpy as np

    try:
        numbers = np.fromiter(counts.values(), np.int64, len(counts))
    except OverflowError as error:
        raise MorphGraphError("A count has more than 64 bits. Scale the counts down.") from error
    return WordArray.of_strings(counts), numbers


def concatenate_counts(parts: list[CountedArray]) -> CountedArray:
    """Concatenate arrays and empty the list, so that memory is not held twice.

    Raises `MorphGraphError` if the sum of all counts comes near to 64 bits.
    """
    import numpy as np
    import pyarrow

    words = pyarrow.concat_arrays([part.array for part, _ in parts])
    numbers = np.concatenate([some for _, some in parts])
    parts.clear()
    if float(numbers.sum(dtype=float)) >= 2.0**62:
        raise MorphGraphError("The counts add up to more than 2⁶². Scale the counts down.")
    return WordArray(words), numbers


def sum_duplicates(words: WordArray, numbers: Int64) -> CountedArray:
    """Return unique words in order of first occurrence, with the sums of their counts."""
    import numpy as np
    import pyarrow.compute

    if len(pyarrow.compute.unique(words.array)) == len(words):
        return words, numbers
    encoded = words.array.dictionary_encode()
    sums = np.zeros(len(encoded.dictionary), np.int64)
    np.add.at(sums, encoded.indices.to_numpy(), numbers)
    return WordArray(encoded.dictionary), sums


def move_shared_counts(counted: CountedArray, others: CountedArray) -> CountedArray:
    """Return the words absent from ``others``; counts of shared words are added there."""
    import numpy as np
    import pyarrow.compute

    words, numbers = counted
    places = pyarrow.compute.index_in(words.array, others[0].array)
    common = places.is_valid().to_numpy(zero_copy_only=False)
    np.add.at(others[1], places.drop_null().to_numpy(), numbers[common])
    return words.where(~common), numbers[~common]

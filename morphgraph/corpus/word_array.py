"""Words of a corpus as bytes in one array: ten million take little more memory than a file of them.

Strings are made of a portion at a time, or where somebody asks for one.
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

AT_ONCE = 2**14
"""So many words are in memory as strings at once."""


class WordArray(Sequence[str]):
    """A sequence of words, held as UTF-8 in Arrow's form (``array``, of ``large_string``)."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @classmethod
    def of_bytes(cls, text: Bytes, ends: Int64) -> WordArray:
        """Words that stand one behind the other in UTF-8; ``ends``: the place behind each."""
        import numpy as np
        import pyarrow

        parts = [np.append(0, ends), np.ascontiguousarray(text)]
        buffers = [None, *map(pyarrow.py_buffer, parts)]
        return cls(pyarrow.Array.from_buffers(pyarrow.large_string(), len(ends), buffers))

    def __len__(self) -> int:
        return len(self.array)

    @classmethod
    def of_strings(cls, words: Iterable[str]) -> WordArray:
        """Words that are strings; `UnicodeEncodeError` for a lone surrogate."""
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
        """Some of the words."""
        import pyarrow

        return WordArray(self.array.filter(pyarrow.array(chosen)))

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), AT_ONCE):
            yield from self.array.slice(start, AT_ONCE).to_pylist()

    def __repr__(self) -> str:
        return f"WordArray({len(self):,} words)"

    def bytes_and_ends(self) -> tuple[Bytes, Int64]:
        """The words one behind the other, and the place behind each; neither is a copy."""
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
        """The code points of all words, and how many each word has."""
        import numpy as np

        text, _ = self.bytes_and_ends()
        points = np.frombuffer(text.tobytes().decode().encode("utf-32-le"), np.uint32)
        return points, self.lengths()

    def character_counts(self, numbers: Int64) -> Iterator[tuple[str, int]]:
        """Each character of the words, with how often it occurs if each word does so often."""
        import numpy as np

        points, lengths = self.characters()
        found, places = np.unique(points, return_inverse=True)
        sums = np.zeros(len(found), np.int64)
        np.add.at(sums, places, np.repeat(numbers, lengths))
        yield from zip(map(chr, found.tolist()), sums.tolist(), strict=True)

    def lengths(self) -> Int64:
        """How many characters each word has."""
        import numpy as np
        import pyarrow.compute

        lengths = pyarrow.compute.utf8_length(self.array)
        found: Int64 = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def made_of(self, allowed: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """Which words have only characters that ``allowed`` accepts, which must depend on nothing
        else."""
        import numpy as np

        points, lengths = self.characters()
        wrong = np.append(0, np.cumsum(~_accepted(allowed)[points]))
        ends = np.cumsum(lengths)
        found: npt.NDArray[np.bool_] = wrong[ends] == wrong[ends - lengths]
        return found

    def behind(self, start: str, *, byte_level: bool) -> WordArray:
        """The words with ``start`` before each; the words themselves in GPT-2's characters for
        bytes where ``byte_level``."""
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
    """The UTF-8 of GPT-2's character of each byte: first byte, and second one or 0."""
    import numpy as np

    written = [character.encode().ljust(2, b"\0") for character in BYTE_TO_CHAR]
    both = np.frombuffer(b"".join(written), np.uint8).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


CountedArray = tuple[WordArray, "Int64"]
"""Words, and how often each occurs."""


def counted_array(counts: Mapping[str, int]) -> CountedArray:
    """Counts of words as arrays; `MorphGraphError` where one has more than 64 bits."""
    import numpy as np

    try:
        numbers = np.fromiter(counts.values(), np.int64, len(counts))
    except OverflowError as error:
        raise MorphGraphError("A count has more than 64 bits. Scale the counts down.") from error
    return WordArray.of_strings(counts), numbers


def joined(parts: list[CountedArray]) -> CountedArray:
    """Some arrays one after the other; the list is emptied, so that nothing is held twice.

    `MorphGraphError` where the sum of all counts comes near to 64 bits.
    """
    import numpy as np
    import pyarrow

    words = pyarrow.concat_arrays([part.array for part, _ in parts])
    numbers = np.concatenate([some for _, some in parts])
    parts.clear()
    if float(numbers.sum(dtype=float)) >= 2.0**62:
        raise MorphGraphError("The counts add up to more than 2⁶². Scale the counts down.")
    return WordArray(words), numbers


def summed(words: WordArray, numbers: Int64) -> CountedArray:
    """Every word once, in the order in which they came first, with the sum of its counts."""
    import numpy as np
    import pyarrow.compute

    if len(pyarrow.compute.unique(words.array)) == len(words):
        return words, numbers
    encoded = words.array.dictionary_encode()
    sums = np.zeros(len(encoded.dictionary), np.int64)
    np.add.at(sums, encoded.indices.to_numpy(), numbers)
    return WordArray(encoded.dictionary), sums


def without_common(counted: CountedArray, others: CountedArray) -> CountedArray:
    """The words that are not among others; the counts of those that are go there."""
    import numpy as np
    import pyarrow.compute

    words, numbers = counted
    places = pyarrow.compute.index_in(words.array, others[0].array)
    common = places.is_valid().to_numpy(zero_copy_only=False)
    np.add.at(others[1], places.drop_null().to_numpy(), numbers[common])
    return words.where(~common), numbers[~common]

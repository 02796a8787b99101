"""Train a BPE tokeniser from word counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.word_array import BATCH_SIZE, WordArray

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class TrainedBpe:
    """The result of merge-based training: atoms, merges in order, and all types.

    ``alphabet`` is sorted by code point; ``types`` are the alphabet, then the results of merges in
    order of first occurrence, without duplicates.
    """

    alphabet: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]
    types: tuple[str, ...]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The types that count towards the requested size, by id."""
        return self.types


def train_bpe(
    counts: Mapping[str, int] | WordCounts,
    *,
    vocab_size: int,
    minimum_count: int = 0,
    alphabet: Iterable[str] = (),
    reserved: int = 0,
    progress: Callable[[float], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> TrainedBpe:
    """Train BPE on word counts, with the merges of Hugging Face's `BpeTrainer`, in order.

    The characters of the words are the atoms: encode bytes and add markers first
    (`counts.byte_level`). `alphabet` adds atoms that need not occur. Each step merges the pair with
    the highest count, ties going to the smallest left, then right id, ids in order of creation with
    atoms sorted by code point (docs/training.md). Training ends at `vocab_size` types, less the
    `reserved` ones that the caller adds (special tokens), or when no pair has a count of at least
    `minimum_count` and 1. `progress` is called repeatedly with a number from 0 to 1; an exception
    that it raises ends the training. `enough` is called as often: once it is true, training ends
    with the result for the number of types reached. Words with a count of 0 are ignored.

    Raises `MorphGraphError` for negative counts, for counts so large that 64 bits could overflow,
    for more than 2³¹ characters in all, for an `alphabet` item that is not one character, and where
    there is nothing to train on.

    >>> train_bpe({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=13).merges
    (('e', 's'), ('es', 't'), ('l', 'o'))
    """
    from morphgraph.kernels import training

    words, characters = packed_words(counts, alphabet)
    rows = training.train_merges(
        words, len(characters), vocab_size - reserved, minimum_count, progress, enough
    )
    vocabulary = list(characters)
    merges: list[tuple[str, str]] = []
    for left, right, _ in rows.tolist():
        merges.append((vocabulary[left], vocabulary[right]))
        vocabulary.append(vocabulary[left] + vocabulary[right])
    return TrainedBpe(characters, tuple(merges), tuple(vocabulary))


def packed_words(
    counts: Mapping[str, int] | WordCounts, alphabet: Iterable[str]
) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """Return the words packed for training kernels, and the atoms; errors as in `train_bpe`.

    Words are processed in portions; a `WordArray` is never converted to a list.
    """
    import numpy as np

    from morphgraph.kernels.training import append_words, room_for_words

    if not isinstance(counts, WordCounts):
        counts = WordCounts.from_mapping(counts)
    words, numbers = _counted(counts)
    if isinstance(words, WordArray):
        lengths = words.lengths()
    else:
        lengths = np.fromiter(map(len, words), np.int64, len(words))
    if float((lengths * numbers.astype(float)).sum()) >= 2.0**62:
        raise MorphGraphError("The counts add up to more than 2⁶². Scale the counts down.")

    extra = list(alphabet)
    for character in extra:
        if len(character) != 1:
            raise MorphGraphError(
                f"The alphabet has the item {character!r}. Every item must be one character."
            )
    present = np.zeros(0x110000, np.bool_)
    present[[ord(character) for character in extra]] = True
    for portion in _code_points(words):
        present[portion] = True
    characters = np.flatnonzero(present)
    atom_ids = np.zeros(0x110000, np.int32)
    atom_ids[characters] = np.arange(len(characters))
    packed, at = room_for_words(lengths), 0
    for number, portion in enumerate(_code_points(words)):
        some = slice(number * BATCH_SIZE, (number + 1) * BATCH_SIZE)
        at = append_words(packed, at, atom_ids[portion], lengths[some], numbers[some])
    return packed, tuple(map(chr, characters.tolist()))


def _counted(counts: WordCounts) -> tuple[Sequence[str], npt.NDArray[np.int64]]:
    """Return the words with a count above 0, and their counts."""
    import numpy as np

    words = counts.words
    try:
        numbers = np.asarray(counts.counts, np.int64)
    except OverflowError as error:
        raise MorphGraphError("A count has more than 64 bits. Scale the counts down.") from error
    if (numbers <= 0).any():
        if (numbers < 0).any():
            first = int(np.flatnonzero(numbers < 0)[0])
            raise MorphGraphError(
                f"The word {words[first]!r} has the count {numbers[first]}. Counts start at 1."
            )
        if isinstance(words, WordArray):
            words = words.where(numbers > 0)
        else:
            words = [word for word, number in zip(words, numbers.tolist(), strict=True) if number]
        numbers = numbers[numbers > 0]
    if not len(words):
        raise MorphGraphError("There are no words to train on. Give at least one, with its count.")
    return words, numbers


def _code_points(words: Sequence[str]) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield the characters of the words, for `BATCH_SIZE` words at a time."""
    import numpy as np

    for start in range(0, len(words), BATCH_SIZE):
        some = words[start : start + BATCH_SIZE]
        if isinstance(some, WordArray):
            yield some.characters()[0]
        else:
            # Lone surrogates are ordinary characters here.
            text = "".join(some).encode("utf-32-le", errors="surrogatepass")
            yield np.frombuffer(text, np.uint32)

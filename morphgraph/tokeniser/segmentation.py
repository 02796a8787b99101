"""How words are cut into tokens, whoever cuts them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from morphgraph.kernels import DROPPED
from morphgraph.tokeniser.words import INSIDE_CHARACTER, Words


@dataclass(frozen=True)
class Segmentation:
    """Words, and how a method segments them.

    ``closed_by``: int32, as long as ``words.atoms``: what closed the gap behind each atom, a number
    of 0 or more; -1 if it is open. ``token_at``: int32, the type id of the token that ends at each
    atom; `INSIDE_TOKEN` within a token, `DROPPED` where an atom is in no token (nothing closed its
    gaps then, and only those beside a token are splits: see `is_split`).
    """

    words: Words
    closed_by: npt.NDArray[np.int32]
    token_at: npt.NDArray[np.int32]

    def tokens(self, word: int) -> list[int]:
        """The type ids of a word's tokens."""
        start, end = self.words.word_offsets[word : word + 2]
        span = self.token_at[start:end]
        return [int(token) for token in span[span >= 0]]

    def token_ends(self, word: int) -> Iterator[tuple[int, int]]:
        """The last atom (position in ``words.atoms``) and type id of each token of a word."""
        start, end = (int(offset) for offset in self.words.word_offsets[word : word + 2])
        for atom in range(start, end):
            token = int(self.token_at[atom])
            if token >= 0:
                yield atom, token

    @cached_property
    def covered(self) -> npt.NDArray[np.bool_]:
        """Whether each character of all words, and one more, has an atom in a token."""
        return self.words.characters_of(self.token_at != DROPPED)

    @cached_property
    def is_split(self) -> npt.NDArray[np.bool_]:
        """Whether the gap behind each atom is split: what every score and list of splits goes by.

        A gap is split where it is open and a token is on at least one side of it: what a method
        leaves out is in no token, so nothing cuts it any further. A character is left out if all
        its atoms are.
        """
        is_open = self.closed_by < 0
        dropped = self.token_at == DROPPED
        if not dropped.any():
            return is_open
        words, covered = self.words, self.covered
        gaps = np.flatnonzero(is_open & (words.gap_position > 0))
        places = words.character_offsets[words.word_of_atom[gaps]] + words.gap_position[gaps]
        is_open[gaps] = covered[places - 1] | covered[places]
        between = dropped[:-1] & dropped[1:] & (words.gap_position[:-1] == INSIDE_CHARACTER)
        is_open[:-1] &= ~between
        return is_open

    def splits(self, word: int) -> list[int]:
        """Where a word is split: numbers of characters to the left, gaps between characters only.

        >>> from morphgraph.graph.merge_graph import MergeGraph
        >>> from morphgraph.tokeniser.merging import segment_plain
        >>> graph = MergeGraph.from_merges([("u", "n")], alphabet="undo")
        >>> segment_plain(graph, ["undo"]).splits(0)
        [2, 3]
        """
        start, end = self.words.word_offsets[word : word + 2]
        position = self.words.gap_position[start:end]
        return [int(p) for p in position[self.is_split[start:end] & (position > 0)]]

    def changed_words(self, other: "Segmentation") -> npt.NDArray[np.int64]:
        """Words that the other segmentation, of the same words, splits at other places."""
        differs = self.is_split != other.is_split
        return np.unique(self.words.word_of_atom[differs]).astype(np.int64)


def called(name: str, parameters: Mapping[str, object]) -> str:
    """A method with its parameters, as all signatures spell it; the name alone if it has none.

    >>> called("FLOTA", {"k": 2, "strict": True}), called("BPE", {})
    ('FLOTA(k=2,strict=true)', 'BPE')
    """
    settings = ",".join(f"{key}={spelled(value)}" for key, value in parameters.items())
    return f"{name}({settings})" if settings else name


def spelled(value: object) -> str:
    """The value of a parameter as it is written in methods and signatures.

    >>> spelled(True), spelled(0.1), spelled(None)
    ('true', '0.1', 'None')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


class Segmenter(Protocol):
    """A way to cut words into tokens, with its vocabulary and its parameters.

    ``name`` says which method it is, ``parameters`` what it was set to: both go into tables and
    signatures. ``types`` are the strings of its tokens, by id; `Words` of `encode` are for this
    segmenter only.
    """

    @property
    def name(self) -> str:
        """The method's name, as in the literature: ``BPE``, ``BPE-dropout``, ``FLOTA``."""
        ...

    @property
    def parameters(self) -> Mapping[str, object]:
        """Its settings by name; nothing that changes the result is left out."""
        ...

    @property
    def types(self) -> Sequence[str]:
        """The string of each type, by id."""
        ...

    @property
    def vocabulary_size(self) -> int:
        """How many types it has: |V|."""
        ...

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Words as atoms, as they stand in running text; ``bare``: as whole texts of their own."""
        ...

    def segment(self, words: Words) -> Segmentation:
        """Cut words that this segmenter encoded."""
        ...

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """The readable text of a token that ends at an atom."""
        ...

    def vocabulary_id(self, token: int) -> int | None:
        """The id of a type in the file that the model came from; None if it has none there."""
        ...

    def signature(self) -> str:
        """Name, parameters and checksum of its model: ``FLOTA(k=2):bert@0a1b2c``."""
        ...


@runtime_checkable
class RandomSegmenter(Protocol):
    """What a segmenter has besides whose result depends on a seed."""

    seed: int
    is_random: bool

    def reseeded(self, seed: int) -> Self:
        """The same with another seed."""
        ...

    def samples(self, words: Words, k: int) -> Sequence[Segmentation]:
        """The first ``k`` samples; the first of them is what `segment` gives."""
        ...

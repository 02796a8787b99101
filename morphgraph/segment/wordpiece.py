"""Segmenters over a vocabulary: WordPiece, and greedy longest match for any marker."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.segment.bte import check_document
from morphgraph.segment.method import Method
from morphgraph.segment.parameters import Parameters
from morphgraph.tokeniser.vocabulary import SubwordVocabulary, document_field
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words, called


class VocabularySegmenter(ABC):
    """What all segmenters that look substrings up share; ``method`` names one in a document."""

    method: ClassVar[str]

    def __init__(self, vocabulary: SubwordVocabulary) -> None:
        self.vocabulary = vocabulary

    @property
    @abstractmethod
    def name(self) -> str:
        """The method's name, as in the literature."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """Its settings by name, as JSON."""

    @abstractmethod
    def segment(self, words: Words) -> Segmentation:
        """Cut words that this segmenter encoded."""

    @property
    def types(self) -> Sequence[str]:
        """The string of each type, by id."""
        return self.vocabulary.types

    @property
    def vocabulary_size(self) -> int:
        """|V|, special types included."""
        return len(self.vocabulary)

    @property
    def unknown_id(self) -> int:
        """The type for what no type covers; `UNKNOWN` where the vocabulary has none."""
        unknown = self.vocabulary.unknown
        return UNKNOWN if unknown is None else self.vocabulary.ids[unknown]

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Words as characters, as they stand in running text; ``bare``: as texts of their own."""
        return self.vocabulary.encode(words, bare=bare)

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """The readable text of a token that ends at an atom; an unknown character as itself."""
        if token in (UNKNOWN, self.unknown_id):
            return self.vocabulary.atom_text(words, atom)
        return self.vocabulary.readable(token)

    def vocabulary_id(self, token: int) -> int | None:
        """The id of a type in the vocabulary's file; None for an unknown character without one."""
        return self.vocabulary.vocabulary_id(token)

    def signature(self) -> str:
        """Name, parameters and checksum of the model: ``FLOTA(k=2):bert.txt@0a1b2c3d4e5f``."""
        return f"{called(self.name, self.parameters)}:{self.vocabulary.signature()}"

    def document(self) -> dict[str, Any]:
        """Method, parameters and vocabulary as JSON, for `from_document`."""
        model = self.vocabulary.document()
        return {"method": self.method, "parameters": dict(self.parameters), "model": model}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read back what `document` wrote; anything else is a `MorphGraphError`."""
        check_document(document, cls.method)
        vocabulary = SubwordVocabulary.from_document(document_field(document, "model", dict))
        parameters = document_field(document, "parameters", dict)
        try:
            made = cls(vocabulary, **parameters)
        except TypeError:
            made = None
        if made is None or dict(made.parameters) != parameters:
            raise MorphGraphError(
                f"The field parameters does not hold those of {cls.method}. Save the model again."
            )
        return made


class Greedy(VocabularySegmenter):
    """From the left, the longest type that matches; an unmatched character is an unknown token.

    At the start of a piece, types that the vocabulary's marker allows there; later, those that it
    allows inside a word. A character ``<0x..>`` of a byte fallback is its own type.

    >>> greedy = Greedy(SubwordVocabulary(("▁un", "do", "▁", "d")))
    >>> words = greedy.encode(["▁undone"])
    >>> found = greedy.segment(words)
    >>> [greedy.token_text(words, *end) for end in found.token_ends(0)]
    ['▁un', 'do', 'n', 'e']
    """

    method = "greedy"

    @property
    def name(self) -> str:
        """The method's name."""
        return "Greedy"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """None: the vocabulary says it all."""
        return {}

    def segment(self, words: Words) -> Segmentation:
        """Cut words that this segmenter encoded."""
        return _leftmost_longest(self.vocabulary, words, self.unknown_id, None)


GREEDY = Method(
    "greedy",
    "Greedy",
    "The longest type from the left.",
    Greedy,
    "vocabulary",
    source="Wu et al. 2016",
)


class WordPieceParameters(Parameters):
    """What stands for words that WordPiece cannot finish."""

    unknown: str | None = Field(
        default=None,
        description="The unknown token; the vocabulary's own, else [UNK], if not given.",
    )
    longest_word: int = Field(default=100, ge=1, description="Longer pieces are one unknown token.")


_USUAL = WordPieceParameters()


class WordPiece(VocabularySegmenter):
    """Greedy longest match from the left, with ``##`` before types inside a word.

    A piece that cannot be finished, or has more than ``longest_word`` characters, is one
    ``unknown`` token, as in Hugging Face's `WordPiece`; where the vocabulary lacks that type, its
    id is `UNKNOWN`. Source: Wu et al. 2016; Devlin et al. 2019, the released tokeniser.

    >>> wordpiece = WordPiece(SubwordVocabulary(("un", "##do", "[UNK]"), "##"))
    >>> found = wordpiece.segment(wordpiece.encode(["undo", "undone"]))
    >>> found.tokens(0), found.tokens(1)
    ([0, 1], [2])
    """

    method = "wordpiece"

    def __init__(
        self,
        vocabulary: SubwordVocabulary,
        unknown: str | None = None,
        longest_word: int = _USUAL.longest_word,
    ) -> None:
        WordPieceParameters(unknown=unknown, longest_word=longest_word)
        super().__init__(vocabulary)
        self.unknown = unknown or vocabulary.unknown or "[UNK]"
        self.longest_word = longest_word

    @property
    def name(self) -> str:
        """The method's name."""
        return "WordPiece"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """``unknown`` and ``longest_word``."""
        return {"unknown": self.unknown, "longest_word": self.longest_word}

    @property
    def unknown_id(self) -> int:
        """The type for a piece that cannot be finished."""
        return self.vocabulary.ids.get(self.unknown, UNKNOWN)

    def segment(self, words: Words) -> Segmentation:
        """Cut words that this segmenter encoded."""
        return _leftmost_longest(self.vocabulary, words, self.unknown_id, self.longest_word)

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """The readable text of a token; an unknown one stands for a piece, so by its own name."""
        if token == self.unknown_id:
            return self.unknown
        return super().token_text(words, atom, token)


WORDPIECE = Method(
    "wordpiece",
    "WordPiece",
    "The longest type from the left, with ## inside words; what it cannot finish is unknown.",
    WordPiece,
    "vocabulary",
    WordPieceParameters,
    source="Wu et al. 2016; Devlin et al. 2019",
)


def _leftmost_longest(
    vocabulary: SubwordVocabulary, words: Words, unknown: int, longest_word: int | None
) -> Segmentation:
    from morphgraph.kernels.trie import leftmost_longest

    trie = vocabulary.trie
    closed_by, token_at = np.empty(len(words.atoms), np.int32), np.empty(len(words.atoms), np.int32)
    leftmost_longest(
        words.atoms,
        words.piece_offsets,
        trie.table,
        trie.root,
        trie.ends,
        *vocabulary.spelled_forms,
        trie.atom_types,
        unknown,
        longest_word is not None,
        min(longest_word or 0, len(words.atoms)),
        closed_by,
        token_at,
    )
    return Segmentation(words, closed_by, token_at)

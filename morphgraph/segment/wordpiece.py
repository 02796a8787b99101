"""Segmenters over a vocabulary: WordPiece, and greedy longest match for any marker."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from pydantic import Field

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import document_field
from morphgraph.segment.method import Method
from morphgraph.segment.parameters import Parameters
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Segmenter, Words


class VocabularySegmenter(Segmenter):
    """What all segmenters that look substrings up share."""

    def __init__(self, vocabulary: SubwordVocabulary) -> None:
        super().__init__(vocabulary)
        self.vocabulary = vocabulary

    @property
    def unknown_id(self) -> int:
        """The type for what no type covers; `UNKNOWN` where the vocabulary has none."""
        return self.vocabulary.unknown_id

    def document(self) -> dict[str, Any]:
        """Method, parameters and vocabulary, as JSON."""
        model = self.vocabulary.document()
        return {"method": self.method, "parameters": dict(self.parameters), "model": model}

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        vocabulary = SubwordVocabulary.from_document(document_field(document, "model", dict))
        parameters = document_field(document, "parameters", dict)
        try:
            made = cls(vocabulary, **parameters)
        except TypeError:
            made = None
        if made is None or dict(made.parameters) != parameters:
            problem = f"it does not hold those of {cls.method}"
            raise FileFormatError("model", "field parameters", problem, "Save it again.")
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
    name = "Greedy"

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
    name = "WordPiece"

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

"""Two more ways to look types up in a vocabulary: longest suffix and least tokens."""

import numpy as np

from morphgraph.segment.method import Method
from morphgraph.segment.unigram import BestPath
from morphgraph.segment.wordpiece import VocabularySegmenter
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import Segmentation, Words
from morphgraph_remedies.looking_up import UNKNOWN_COST


class Suffix(VocabularySegmenter):
    """Repeatedly takes the longest type that ends where the last one began, from the right.

    Where no type ends, the rest of the piece, at its front, is `DROPPED`; with a byte fallback that
    is never so. At the start of a piece, types that the vocabulary's marker allows there, and else
    those that it allows inside a word; a marker is a character of the type. Source: Uzan et al.
    2024, longest suffix.

    >>> suffix = Suffix(SubwordVocabulary(("a", "b", "c", "ab", "bc")))
    >>> [suffix.types[token] for token in suffix.segment(suffix.encode(["abc"])).tokens(0)]
    ['a', 'bc']
    """

    method = "suffix"
    name = "Longest suffix"

    def segment(self, words: Words) -> Segmentation:
        """Segment words encoded by this segmenter; ``closed_by`` holds the ids of tokens."""
        from morphgraph_remedies.lookup_kernel import longest_from_right

        pieces = words.atoms, words.piece_offsets
        arrays = longest_from_right(*pieces, self.vocabulary.trie, self.vocabulary.spelled_forms)
        return Segmentation(words, *arrays)


SUFFIX = Method(
    "suffix",
    "Longest suffix",
    "The longest type from the right; what is left at the front without a type is left out.",
    Suffix,
    "vocabulary",
    source="Uzan et al. 2024",
    standalone="morphgraph_remedies.looking_up:LookingFromRight",
)


class Least(BestPath):
    """The fewest tokens; of several such paths the one with the longest last token, and so on.

    That is, among those the one with the longest token before it, and so on to the start. Where no
    types spell a piece out, as few of its characters as possible are unknown, and neighbouring ones
    are one unknown token. A marker is a character of the type. Source: Uzan et al. 2024, least
    tokens; ties as in Schmidt et al. 2024, longest.

    >>> least = Least(SubwordVocabulary(("a", "b", "c", "ab", "bc")))
    >>> [least.types[token] for token in least.segment(least.encode(["abc"])).tokens(0)]
    ['a', 'bc']
    """

    method = "least"
    name = "Least tokens"
    _unknown_score = np.float64(-UNKNOWN_COST)

    def __init__(self, vocabulary: SubwordVocabulary) -> None:
        super().__init__(vocabulary)
        self._scores = np.full(len(vocabulary.types), -1.0)


LEAST = Method(
    "least",
    "Least tokens",
    "The fewest types; of several ways the one with the longest last type, then the one before it.",
    Least,
    "vocabulary",
    source="Uzan et al. 2024; Schmidt et al. 2024",
    standalone="morphgraph_remedies.looking_up:LookingForLeast",
)

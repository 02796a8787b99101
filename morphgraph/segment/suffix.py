"""Longest suffix: the longest type from the right, as greedy look-up does from the left."""

from morphgraph.segment.method import Method
from morphgraph.segment.wordpiece import VocabularySegmenter
from morphgraph.tokeniser.words import Segmentation, Words


class Suffix(VocabularySegmenter):
    """Repeatedly takes the longest type that ends where the last one began, from the right.

    Where no type ends, the rest of the piece, at its front, is `DROPPED`; with a byte fallback that
    is never so. At the start of a piece, types that the vocabulary's marker allows there, and else
    those that it allows inside a word; a marker is a character of the type. Source: Uzan et al.
    2024, longest suffix.

    >>> from morphgraph.tokeniser.vocabulary import SubwordVocabulary
    >>> suffix = Suffix(SubwordVocabulary(("a", "b", "c", "ab", "bc")))
    >>> [suffix.types[token] for token in suffix.segment(suffix.encode(["abc"])).tokens(0)]
    ['a', 'bc']
    """

    method = "suffix"
    name = "Longest suffix"

    def segment(self, words: Words) -> Segmentation:
        """Segment words encoded by this segmenter; ``closed_by`` holds the ids of tokens."""
        from morphgraph.kernels.trie import longest_from_right

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
    standalone="morphgraph.standalone.lookup:Suffix",
)

"""Least tokens: a word as the fewest types, ties by the longest last ones."""

import numpy as np

from morphgraph.segment.method import Method
from morphgraph.segment.unigram import BestPath
from morphgraph.standalone.lookup import UNKNOWN_COST
from morphgraph.tokeniser.vocabulary import SubwordVocabulary


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
    standalone="morphgraph.standalone.lookup:Least",
)

"""No merge at all: every atom is a token."""

from typing import Any

import numpy as np

from morphgraph.segment.bte import Bte, merging_model
from morphgraph.segment.method import Method, Training
from morphgraph.segment.training import train_bpe, train_merge_tokeniser
from morphgraph.tokeniser.words import Segmentation, Words


class Atoms(Bte):
    """Each atom of a word as a token of its own.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> atoms = Atoms(tokeniser_of_types("ab", ["a", "b", "ab"], ["ab"]))
    >>> [atoms.types[token] for token in atoms.segment(atoms.encode(["ab"])).tokens(0)]
    ['a', 'b']
    """

    method = "atoms"
    name = "Atoms"

    def segment(self, words: Words) -> Segmentation:
        """Cut words at every gap."""
        return Segmentation(words, np.full(len(words.atoms), -1, np.int32), words.atoms)

    def exported(self, unchanged: bool) -> Any:
        """Its types; the merges are not looked at."""
        return merging_model(self, unchanged)


ATOMS = Method(
    "atoms",
    "Atoms",
    "No merge at all: every atom is a token.",
    Atoms,
    "merges",
    training=Training(
        "BPE that is not used.",
        lambda *given, **more: Atoms(train_merge_tokeniser(train_bpe, *given, **more)[0]),
    ),
    standalone="morphgraph_examples.plain_atoms:Atoms",
)

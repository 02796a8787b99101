"""Scaffold-BPE: types that only help to build others are decomposed in the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum, document_field
from morphgraph.segment.bte import saved_tokeniser
from morphgraph.segment.method import Method, Training
from morphgraph.segment.trimmed import Decomposing

if TYPE_CHECKING:
    from morphgraph.tokeniser.tokeniser import BpeTokeniser


class Scaffold(Decomposing):
    """Scaffold-BPE: applies all merges, then replaces each scaffold token by its parts.

    ``scaffolds``: the types, as strings, that `train.scaffold.train_scaffold` marked; they do not
    count towards the vocabulary. The graph's present state is used. `MorphGraphError` if one is not
    a type that a merge makes. Source: Lian et al. 2025.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("abc", ["a", "b", "c", "ab", "abc"], ["ab", ("ab", "c")])
    >>> scaffold = Scaffold(tokeniser, ["ab"])
    >>> words = scaffold.encode(["abc", "ab"])
    >>> [[scaffold.types[token] for token in scaffold.segment(words).tokens(n)] for n in range(2)]
    [['abc'], ['a', 'b']]
    """

    method = "scaffold"
    name = "Scaffold-BPE"

    def __init__(self, tokeniser: BpeTokeniser, scaffolds: Iterable[str]) -> None:
        graph = tokeniser.graph
        self.scaffolds = frozenset(scaffolds)
        doomed = np.zeros(len(graph.types), np.bool_)
        for text in sorted(self.scaffolds):
            if text not in graph or not graph.is_removable(graph.ids[text]):
                raise MorphGraphError(
                    f"“{text}” cannot be a scaffold: no merge makes it, or it is an added token. "
                    "Leave it out."
                )
            doomed[graph.ids[text]] = True
        super().__init__(tokeniser, doomed)
        self._checksum = checksum("\n".join(sorted(self.scaffolds)).encode())

    @property
    def parameters(self) -> Mapping[str, Any]:
        """A checksum of the scaffold types."""
        return {"scaffolds": self._checksum}

    def document(self) -> dict[str, Any]:
        """Return the scaffold types and the tokeniser, as JSON data."""
        return {**super().document(), "scaffolds": sorted(self.scaffolds)}

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        return cls(saved_tokeniser(document), document_field(document, "scaffolds", list))


def _trained(*given: Any, **more: Any) -> Scaffold:
    from morphgraph.training.scaffold import train_scaffold
    from morphgraph.training.trainers import train_merge_tokeniser

    tokeniser, trained = train_merge_tokeniser(train_scaffold, *given, **more)
    return Scaffold(tokeniser, trained.scaffolds)


SCAFFOLD = Method(
    "scaffold",
    "Scaffold-BPE",
    "All merges, then tokens of types that, in training, hardly stood by themselves once others "
    "were built of them are taken apart again.",
    Scaffold,
    "training",
    offered=False,
    source="Lian et al. 2025",
    training=Training(
        "BPE that takes types apart again which only helped to build others (Lian et al. 2025).",
        _trained,
        seconds=3.0,
    ),
    standalone="morphgraph.standalone.bte:Merging",
)

"""Scaffold-BPE: all merges, after which types that only helped to build others are taken apart."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from morphgraph.core.files import checksum, document_field
from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.bte import saved_tokeniser
from morphgraph.segment.method import Method, Training
from morphgraph.segment.training import (
    TrainedBpe,
    merged_types,
    train_merge_tokeniser,
    trained_events,
)
from morphgraph.segment.trimmed import Decomposing, doomed_types
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@dataclass(frozen=True)
class TrainedScaffold(TrainedBpe):
    """A trained model, and its types that are scaffolds."""

    scaffolds: frozenset[str]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return tuple(text for text in self.types if text not in self.scaffolds)


def train_scaffold(counts: Mapping[str, int] | WordCounts, **settings: Any) -> TrainedScaffold:
    """Train Scaffold-BPE: BPE that marks parts with few remaining occurrences as scaffolds.

    As `train_bpe`; after merging (x, y), x is marked, and so is y, if it now occurs at most as
    often as the next pair to merge (0 if there is none). Scaffolds do not count towards
    ``vocab_size``, but are still merged. Choices that the source leaves open: a type once marked
    stays marked; atoms are never marked. Source: Lian et al. 2025.

    >>> trained = train_scaffold({"abc": 9, "ab": 1, "ad": 2}, vocab_size=6)
    >>> trained.vocabulary, sorted(trained.scaffolds)
    (('a', 'b', 'c', 'd', 'abc', 'ad'), ['ab'])
    """
    characters, rows, flags = trained_events(counts, scaffold=True, **settings)
    merges, types = merged_types(characters, rows)
    scaffolds = frozenset(types[n] for n, flag in enumerate(flags) if flag == 2)
    return TrainedScaffold(characters, merges, types, scaffolds)


class Scaffold(Decomposing):
    """Scaffold-BPE: applies all merges, then replaces each scaffold token by its parts.

    ``scaffolds``: types that training marked; `MorphGraphError` if no merge makes one. The graph's
    present state is used. On a Picky model, whose removed types are the scaffolds, this is
    inference with post-removal (Chizhov et al. 2024, Appendix A). Source: Lian et al. 2025.

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
        self.scaffolds = frozenset(scaffolds)
        super().__init__(tokeniser, doomed_types(tokeniser, self.scaffolds, "scaffold"))
        self._checksum = checksum("\n".join(sorted(self.scaffolds)).encode())

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"scaffolds": self._checksum}

    def document(self) -> dict[str, Any]:
        return {**super().document(), "scaffolds": sorted(self.scaffolds)}

    @classmethod
    def on(cls, base: Any) -> Self:
        """Take the types that another model has only for merging as scaffolds."""
        return cls(base.tokeniser, (base.types[number] for number in base.absent))

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        return cls(saved_tokeniser(document), document_field(document, "scaffolds", list))


def _trained(*given: Any, **more: Any) -> Scaffold:
    tokeniser, trained = train_merge_tokeniser(train_scaffold, *given, **more)
    return Scaffold(tokeniser, trained.scaffolds)


SCAFFOLD = Method(
    "scaffold",
    "Scaffold-BPE",
    "All merges; then tokens are taken apart again whose types hardly stood alone in training once "
    "others were built of them.",
    Scaffold,
    "training",
    build=Scaffold.on,
    source="Lian et al. 2025",
    training=Training(
        "BPE that takes apart types which only helped to build others (Lian et al. 2025).",
        _trained,
        seconds=3.0,
    ),
    standalone="morphgraph.standalone.merges:Merging",
)

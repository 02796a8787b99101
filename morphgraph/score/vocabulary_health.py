"""What a vocabulary is made of: its types without their marker, and which of them are useless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from morphgraph.reference.free_and_bound import MorphemeKind
from morphgraph.score.compression import Compression, NamedCounts, compress
from morphgraph.segment.segmenter import Inventory, Segmenter
from morphgraph.tokeniser.merging import never_formed

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.reference.entry import Reference

_AFFIXES = frozenset({MorphemeKind.PREFIX, MorphemeKind.SUFFIX, MorphemeKind.INTERFIX})
_MANY_CAPITALS = 0.01
"""So large a share of types with capitals matters on a corpus without any."""
Chain = tuple[int, ...]


@dataclass(frozen=True)
class ReferenceStrings:
    """The distinct strings of a reference: morphs, with how many entries have them, and so on."""

    morphs: Mapping[str, int]
    affixes: frozenset[str] | None
    words: frozenset[str]

    @classmethod
    def of(cls, reference: Reference) -> ReferenceStrings:
        told = [entry for entry in reference.entries if entry.kinds]
        affixes = frozenset(
            morph
            for entry in told
            for morph, kind in zip(entry.morphs, entry.kinds or (), strict=False)
            if kind in _AFFIXES
        )
        return cls(
            Counter(morph for entry in reference.entries for morph in set(entry.morphs)),
            affixes if told else None,
            frozenset(entry.word for entry in reference.entries),
        )


class VocabularyHealth:
    """The vocabulary of a segmenter, on its own, on a corpus, and against a reference.

    ``label`` names it in tables. Without a corpus or reference, the figures that need one are
    undefined. A segmenter whose graph is edited later needs a new one.

    >>> from morphgraph.segment.bte import Bte, tokeniser_of_types
    >>> from morphgraph.corpus.counts import WordCounts
    >>> bpe = Bte(tokeniser_of_types("abc", ["a", "b", "c", "ab", "abc"], ["ab", ("ab", "c")]))
    >>> health = VocabularyHealth(bpe, NamedCounts(WordCounts(["abc", "a"], [5, 1]), "my words"))
    >>> [[health.inventory.texts[number] for number in chain] for chain in health.chains]
    [['b', 'ab', 'abc'], ['c', 'abc']]
    """

    def __init__(
        self,
        segmenter: Segmenter,
        corpus: NamedCounts | None = None,
        reference: Reference | None = None,
        *,
        label: str | None = None,
    ) -> None:
        self.segmenter = segmenter
        self.label = segmenter.name if label is None else label
        self.corpus = corpus
        self.reference = reference
        self.tokeniser_signature = segmenter.signature()
        self.inventory = segmenter.inventory()
        self.size = segmenter.vocabulary_size
        self.compression: Compression | None = None
        if corpus is not None:
            self.compression = compress(segmenter, corpus.counts)
        has_tokens = self.compression is not None and self.compression.tokens
        self._used = self.compression if has_tokens else None
        found = segmenter.unreachable(self.inventory)
        self.unreachable = found and [n for n in found if n in self.inventory.spelled]
        self.chains = self._chains()
        self.scaffolds = self._scaffolds()
        self.gold: ReferenceStrings | None = None
        if reference is not None:
            self.gold = reference.cache.get(
                "entries", "strings", lambda: ReferenceStrings.of(reference)
            )

    # ------------------------------------------------------------------------------ parts

    @cached_property
    def duplicates(self) -> list[tuple[int, int]] | None:
        """Ids of types that differ in the marker only; None where there is no marker."""
        if not self.inventory.marker:
            return None
        spelled, marked = self.inventory.spelled, self.inventory.marked
        plain = {text: number for number, text in spelled.items() if number not in marked}
        pairs = ((number, plain.get(text)) for number, text in spelled.items() if number in marked)
        return [(number, other) for number, other in pairs if other is not None]

    @cached_property
    def never_formed(self) -> list[int] | None:
        """Ids of types that merges make, but never form; None without merges."""
        graph = self.inventory.graph
        if graph is None:
            return None
        return [number for number in never_formed(graph) if number in self.inventory.spelled]

    @property
    def never_used(self) -> list[int] | None:
        """Ids of types that are no token of the corpus; None without a corpus."""
        return None if self._used is None else unused_types(self.inventory, self._used)

    @cached_property
    def with_capitals(self) -> list[int]:
        """Ids of types with a capital letter."""
        bodies = self.inventory.bodies.items()
        return [number for number, body in bodies if body is not None and body != body.lower()]

    @cached_property
    def misses_capitals(self) -> bool:
        """Whether the corpus has no capital letter while 1 % of the types or more have one.

        Such types cannot be tokens, whatever the vocabulary is worth: figures of unused types say
        more about the corpus. False without a corpus, or with an empty one.
        """
        if self.corpus is None or self._used is None:
            return False
        if len(self.with_capitals) < max(1, _MANY_CAPITALS * len(self.inventory.spelled)):
            return False
        characters = set().union(*map(set, self.corpus.counts.words))
        return all(character == character.lower() for character in characters)

    def _chains(self) -> list[Chain] | None:
        graph, found = self.inventory.graph, self._used
        if graph is None or found is None:
            return None
        leads_to = {}
        for number in self.inventory.spelled:
            users = graph.outgoing(number) if not found.counts[number] else ()
            if len(users) == 1:
                leads_to[number] = graph.merge(users[0]).result
        chains = []
        for number in leads_to.keys() - set(leads_to.values()):
            chain = [number]
            while chain[-1] in leads_to:
                chain.append(leads_to[chain[-1]])
            chains.append(tuple(chain))
        return sorted(chains, key=lambda chain: (-len(chain), chain))

    def _scaffolds(self) -> list[int] | None:
        graph, found = self.inventory.graph, self._used
        if graph is None or found is None:
            return None
        ids = self.inventory.spelled
        results = [merge.result for merge in graph.merges().values() if merge.result in ids]
        if not results:
            return None
        limit = found.counts[results[-1]]
        return [
            number
            for number in ids
            if found.counts[number] <= limit and graph.incoming(number) and graph.outgoing(number)
        ]

    # ------------------------------------------------------------------------------ charts

    def frequency_rank(self) -> pd.DataFrame:
        """Types that are tokens of the corpus, most frequent first: rank from 1, type, count.

        No rows without a corpus.
        """
        import pandas as pd

        counts = np.zeros(0) if self.compression is None else self.compression.counts
        order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
        return pd.DataFrame(
            {
                "rank": np.arange(1, len(order) + 1),
                "type": [self.inventory.texts[number] for number in order.tolist()],
                "count": counts[order],
            }
        )

    def lengths(self) -> npt.NDArray[np.int64]:
        """How many types have 0, 1, 2 … characters, without those that are not whole characters."""
        found = [len(body) for body in self.inventory.bodies.values() if body is not None]
        return np.bincount(np.array(found, np.int64))

    @property
    def corpus_signature(self) -> str:
        """Name and checksum of the corpus; ``none`` without one."""
        return "none" if self.corpus is None else self.corpus.signature()


def unused_types(inventory: Inventory, corpus: Compression) -> list[int]:
    """Ids of types that are no token of a corpus; special and added ones are not looked at."""
    return [number for number in inventory.spelled if not corpus.counts[number]]

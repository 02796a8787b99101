"""What a vocabulary is made of, and which of its types are useless."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import percent
from morphgraph.reference.free_and_bound import MorphemeKind
from morphgraph.score.compression import ALPHA, Compression, NamedCounts, compress
from morphgraph.score.type_inventory import Inventory, inventory_of, unreachable
from morphgraph.score.vocabulary_figures import FIGURES, FigureValue, figure_called
from morphgraph.tokeniser.words import Segmenter

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.reference.entry import Reference

_AFFIXES = frozenset({MorphemeKind.PREFIX, MorphemeKind.SUFFIX, MorphemeKind.INTERFIX})
_NO_CORPUS = "no word frequencies are chosen"
_NO_REFERENCE = "no reference is chosen"
_NO_MERGES = "the vocabulary has no merges"
_NO_MARKER = "the types have no marker"
_NO_START = "the types do not show where a word starts"
_NO_KINDS = "the reference does not say which morphs are affixes"
_UNKNOWN_METHOD = "there is no way to look up a type's own string"
_EMPTY = "there is nothing to count"
_MANY_CAPITALS = 0.01
"""So large a share of types with capitals matters on a corpus without any."""
_OF_UNUSED = ("never_used", "single_use_chains", "scaffolds", "renyi")
"""Figures that types which the corpus cannot use make worse."""

Chain = tuple[int, ...]


@dataclass(frozen=True)
class ReferenceStrings:
    """The distinct strings of a reference: morphs, with how many entries have them, and so on."""

    morphs: Mapping[str, int]
    affixes: frozenset[str] | None
    words: frozenset[str]

    @classmethod
    def of(cls, reference: Reference) -> ReferenceStrings:
        affixes: set[str] = set()
        tells = False
        for entry in reference.entries:
            for morph, kind in zip(entry.morphs, entry.kinds or (), strict=False):
                tells = True
                if kind in _AFFIXES:
                    affixes.add(morph)
        return cls(
            Counter(morph for entry in reference.entries for morph in set(entry.morphs)),
            frozenset(affixes) if tells else None,
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
    >>> found = health.values()
    >>> found["never_used"].number, found["single_use_chains"].number
    (3.0, 2.0)
    >>> from morphgraph.score.vocabulary_lists import list_behind
    >>> list(list_behind(health, "single_use_chains")["chain"])
    ['b → ab → abc', 'c → abc']
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
        self.inventory: Inventory = inventory_of(segmenter)
        self.size = segmenter.vocabulary_size
        self.compression: Compression | None = None
        if corpus is not None:
            self.compression = compress(segmenter, corpus.counts)
        ids = set(self.inventory.ids)
        found = unreachable(segmenter, self.inventory)
        self.unreachable = None if found is None else [n for n in found if n in ids]
        self.chains = self._chains()
        self.scaffolds = self._scaffolds()
        self.gold = None if reference is None else ReferenceStrings.of(reference)

    # ------------------------------------------------------------------------------ parts

    @cached_property
    def duplicates(self) -> list[tuple[int, int]]:
        """Ids of types with and without the marker that are the same otherwise."""
        inventory = self.inventory
        plain: dict[str, int] = {}
        marked: dict[str, int] = {}
        for number, text, has in zip(
            inventory.ids, inventory.spelled, inventory.marked, strict=True
        ):
            (marked if has else plain)[text] = number
        return [(number, plain[text]) for text, number in marked.items() if text in plain]

    @property
    def never_used(self) -> list[int] | None:
        """Ids of types that are no token of the corpus; None without a corpus."""
        if self.compression is None or not self.compression.tokens:
            return None
        counts = self.compression.counts
        return [number for number in self.inventory.ids if not counts[number]]

    @cached_property
    def with_capitals(self) -> list[int]:
        """Ids of types with a capital letter."""
        return [
            number
            for number, body in zip(self.inventory.ids, self.inventory.bodies, strict=True)
            if body is not None and body != body.lower()
        ]

    @cached_property
    def misses_capitals(self) -> bool:
        """Whether the corpus has no capital letter while 1 % of the types or more have one.

        Such types cannot be tokens, whatever the vocabulary is worth: figures of unused types say
        more about the corpus. False without a corpus, or with an empty one.
        """
        if self.corpus is None or self.compression is None or not self.compression.tokens:
            return False
        if len(self.with_capitals) < max(1, _MANY_CAPITALS * len(self.inventory.ids)):
            return False
        characters = set().union(*map(set, self.corpus.counts.words))
        return all(character == character.lower() for character in characters)

    def _chains(self) -> list[Chain] | None:
        graph, found = self.inventory.graph, self.compression
        if graph is None or found is None or not found.tokens:
            return None
        leads_to = {}
        for number in self.inventory.ids:
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
        graph, found = self.inventory.graph, self.compression
        if graph is None or found is None or not found.tokens:
            return None
        ids = set(self.inventory.ids)
        results = [merge.result for merge in graph.merges().values() if merge.result in ids]
        if not results:
            return None
        limit = found.counts[results[-1]]
        return [
            number
            for number in self.inventory.ids
            if found.counts[number] <= limit and graph.incoming(number) and graph.outgoing(number)
        ]

    # ------------------------------------------------------------------------------ figures

    def values(
        self, alpha: float = ALPHA, baseline: VocabularyHealth | None = None
    ) -> dict[str, FigureValue]:
        """All of `FIGURES` by key; an undefined one is NaN and says why.

        ``alpha`` is that of the Rényi efficiency, ``baseline`` what corpus tokens are relative to,
        by default this vocabulary itself. `MorphGraphError` for an α that is not above 0, or a
        baseline on another corpus.
        """
        found = {**self._own_values, **self._corpus_values(alpha, baseline or self)}
        found |= self._reference_values
        return {figure.key: found[figure.key] for figure in FIGURES}

    @cached_property
    def _own_values(self) -> dict[str, FigureValue]:
        inventory = self.inventory
        ordinary = len(inventory.ids)
        lengths = [len(body) for body in inventory.bodies if body]
        partial = sum(body is None for body in inventory.bodies)
        initial = (
            _share(len(self.word_initial()), ordinary)
            if inventory.marks_start
            else FigureValue(math.nan, why=_NO_START)
        )
        duplicates = (
            FigureValue(float(len(self.duplicates)), ordinary)
            if inventory.marker
            else FigureValue(math.nan, why=_NO_MARKER)
        )
        return {
            "size": FigureValue(float(self.size)),
            "special": FigureValue(float(len(inventory.special))),
            "word_initial": initial,
            "mean_length": (
                FigureValue(sum(lengths) / len(lengths))
                if lengths
                else FigureValue(math.nan, why=_EMPTY)
            ),
            "partial": FigureValue(float(partial), ordinary),
            "duplicates": duplicates,
            "unreachable": _length(self.unreachable, ordinary, _UNKNOWN_METHOD),
        }

    def word_initial(self) -> list[int]:
        """Ids of types that stand at the start of a word, where the marker shows it."""
        inside = self.inventory.marker == "##"
        return [
            number
            for number, has in zip(self.inventory.ids, self.inventory.marked, strict=True)
            if bool(has) != inside
        ]

    def _corpus_values(self, alpha: float, baseline: VocabularyHealth) -> dict[str, FigureValue]:
        found, other, ordinary = self.compression, baseline.compression, len(self.inventory.ids)
        if found is None or other is None:
            keys = (figure.key for figure in FIGURES if figure.needs == "corpus")
            return {key: FigureValue(math.nan, why=_NO_CORPUS) for key in keys}
        if self.corpus != baseline.corpus and self.corpus_signature != baseline.corpus_signature:
            raise MorphGraphError("The baseline is on another corpus. Give both the same.")
        graph = self.inventory.graph
        why = _EMPTY if graph is not None and graph.merge_count else _NO_MERGES
        return {
            "never_used": _length(self.never_used, ordinary, _EMPTY),
            "single_use_chains": _length(self.chains, 0, why),
            "scaffolds": _length(self.scaffolds, ordinary, why),
            "words": FigureValue(found.words),
            "tokens": FigureValue(found.tokens),
            "fertility": _defined(found.fertility),
            "sequence_length": _defined(found.sequence_length),
            "characters_per_token": _defined(found.characters_per_token),
            "relative_tokens": _defined(found.relative_to(other)),
            "dropped": FigureValue(found.dropped, found.characters),
            "marker_tokens": FigureValue(found.marker_tokens, found.tokens),
            "unknown": FigureValue(found.unknown, found.tokens),
            "renyi": _defined(found.renyi_efficiency(alpha)),
        }

    @cached_property
    def _reference_values(self) -> dict[str, FigureValue]:
        gold, ordinary = self.gold, len(self.inventory.ids)
        if gold is None:
            keys = (figure.key for figure in FIGURES if figure.needs == "reference")
            return {key: FigureValue(math.nan, why=_NO_REFERENCE) for key in keys}
        affixes = FigureValue(math.nan, why=_NO_KINDS)
        if gold.affixes is not None:
            affixes = _share(len(self.among(gold.affixes)), ordinary)
        bodies = {body for body in self.inventory.bodies if body}
        return {
            "morph_types": _share(len(self.among(gold.morphs)), ordinary),
            "affix_types": affixes,
            "word_types": _share(len(self.among(gold.words)), ordinary),
            "morphs_covered": _share(sum(m in bodies for m in gold.morphs), len(gold.morphs)),
        }

    def among(self, strings: Collection[str]) -> list[int]:
        """Ids of types that are, without their marker, one of these strings."""
        return [
            number
            for number, body in zip(self.inventory.ids, self.inventory.bodies, strict=True)
            if body is not None and body in strings
        ]

    # ------------------------------------------------------------------------------ lists

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
        found = [len(body) for body in self.inventory.bodies if body is not None]
        return np.bincount(np.array(found, np.int64))

    @property
    def corpus_signature(self) -> str:
        """Name and checksum of the corpus; ``none`` without one."""
        return "none" if self.corpus is None else self.corpus.signature()


def case_warning(healths: Sequence[VocabularyHealth]) -> str:
    """What to know if a corpus `misses_capitals`, and which figures it touches; empty if none does.

    It names the tokenisers, if there are several.
    """
    found = [
        f"{percent(len(health.with_capitals) / len(health.inventory.ids), 1)} % of the types"
        + (f" of {health.label}" if len(healths) > 1 else "")
        for health in healths
        if health.misses_capitals
    ]
    if not found:
        return ""
    named = ", ".join(f"“{figure_called(key).label}”" for key in _OF_UNUSED)
    return (
        f"The corpus has no capital letters: {', '.join(found)} have some and cannot be used. "
        f"This makes {named} worse, and all tokens are those of lower-case text. "
        "Take word frequencies with capitals to judge them."
    )


def _share(part: int, whole: int) -> FigureValue:
    return FigureValue(part / whole) if whole else FigureValue(math.nan, why=_EMPTY)


def _defined(number: float) -> FigureValue:
    return FigureValue(number, why=_EMPTY if math.isnan(number) else "")


def _length(found: Sequence[object] | None, of: float, why: str) -> FigureValue:
    return FigureValue(math.nan, why=why) if found is None else FigureValue(float(len(found)), of)

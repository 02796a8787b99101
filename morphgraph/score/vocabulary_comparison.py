"""Two vocabularies beside each other: the types in both, and those in one of them only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from morphgraph.corpus.pipelines import script_of
from morphgraph.reference.entry import MorphemeKind

if TYPE_CHECKING:
    from morphgraph.score.vocabulary_health import VocabularyHealth

PartName = Literal["shared_types", "dropped_types", "added_types"]
PARTS: tuple[PartName, ...] = get_args(PartName)


@dataclass(frozen=True)
class VocabularyPart:
    """The types of one part; a number is NaN where it is undefined.

    ``word_initial``: the share that begins a word; ``mean_length``: in characters, without the
    marker; ``tokens_before``, ``tokens_after``: their tokens in the corpus, by the vocabulary that
    has them; ``prefixes``, ``suffixes``, ``morphs``: how many distinct ones of the reference they
    are, without the marker; ``scripts``: how many types are in each script, that of the first
    letter, or ``""`` without letters.
    """

    types: int
    word_initial: float
    mean_length: float
    tokens_before: float
    tokens_after: float
    prefixes: float
    suffixes: float
    morphs: float
    scripts: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class VocabularyComparison:
    """The change from one vocabulary to another; special types are in neither.

    Types are compared by `VocabularyHealth.by_spelling`, so ``Ġun`` of one is ``▁un`` of the other.

    >>> from morphgraph.score.vocabulary_health import VocabularyHealth
    >>> from morphgraph.segment.wordpiece import Greedy
    >>> from morphgraph.tokeniser.vocabulary import SubwordVocabulary
    >>> one = SubwordVocabulary(("a", "b", "ab", "Ġab", "Ġb"), "Ġ")
    >>> other = SubwordVocabulary(("a", "b", "ba", "▁ab"), "▁")
    >>> found = VocabularyComparison(*(VocabularyHealth(Greedy(v)) for v in (one, other)))
    >>> {name: part.types for name, part in found.parts.items()}, found.carried_over
    ({'shared_types': 3, 'dropped_types': 2, 'added_types': 1}, 0.6)
    """

    before: VocabularyHealth
    after: VocabularyHealth

    @cached_property
    def spellings(self) -> Mapping[PartName, Collection[str]]:
        """The keys of `VocabularyHealth.by_spelling` in each part, in the order of ids."""
        one, other = self.before.by_spelling, self.after.by_spelling
        return {
            "shared_types": [text for text in one if text in other],
            "dropped_types": [text for text in one if text not in other],
            "added_types": [text for text in other if text not in one],
        }

    @property
    def carried_over(self) -> float:
        """The share of the first one's types that the second one has (Gow-Smith et al. 2022)."""
        types = len(self.before.by_spelling)
        return len(self.spellings["shared_types"]) / types if types else math.nan

    def ids(self, part: PartName) -> tuple[VocabularyHealth, Sequence[int]]:
        """Return the types of a part by their ids, and the vocabulary that these are of.

        Shared ones are those of the first, but where only the second marks starts of words.
        """
        marks = self.after.inventory.marks_start and not self.before.inventory.marks_start
        second = part == "added_types" or (part == "shared_types" and marks)
        health = self.after if second else self.before
        return health, [health.by_spelling[text] for text in self.spellings[part]]

    @cached_property
    def parts(self) -> Mapping[PartName, VocabularyPart]:
        """The figures of each part."""
        return {part: self._part(part) for part in PARTS}

    def _part(self, part: PartName) -> VocabularyPart:
        health, numbers = self.ids(part)
        initial = None if health.word_initial is None else set(health.word_initial)
        bodies = [body for number in numbers if (body := health.inventory.bodies[number])]
        firsts = (next(filter(None, map(script_of, body)), "") for body in bodies)
        gold, among = health.gold, set(bodies)
        kinds = (MorphemeKind.PREFIX, MorphemeKind.SUFFIX)
        strings = [None] * 3 if gold is None else [*map(gold.of_kinds, kinds), gold.morphs]
        prefixes, suffixes, morphs = (
            math.nan if known is None else len(among.intersection(known)) for known in strings
        )
        return VocabularyPart(
            types=len(numbers),
            word_initial=math.nan if initial is None else mean([n in initial for n in numbers]),
            mean_length=mean([*map(len, bodies)]),
            tokens_before=math.nan if part == "added_types" else self._tokens(self.before, part),
            tokens_after=math.nan if part == "dropped_types" else self._tokens(self.after, part),
            prefixes=prefixes,
            suffixes=suffixes,
            morphs=morphs,
            scripts=dict(Counter(firsts)),
        )

    def _tokens(self, health: VocabularyHealth, part: PartName) -> float:
        if health.compression is None:
            return math.nan
        chosen = [health.by_spelling[text] for text in self.spellings[part]]
        return float(health.compression.counts[chosen].sum())


def mean(numbers: Sequence[float]) -> float:
    """Return the mean; NaN of nothing."""
    return sum(numbers) / len(numbers) if numbers else math.nan

"""What a reference holds, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import nan

from morphgraph.reference.entry import Reference
from morphgraph.reference.free_and_bound import MorphemeKind

TOP = 20
"""So many of the most frequent affixes are named."""


@dataclass(frozen=True)
class Description:
    """A reference in numbers; a mean or share of nothing is NaN.

    `words` are distinct; `words_with_several_analyses` have entries with different morphs.
    `morphs_per_word` counts entries by number of morphs, ascending; `index_of_synthesis` is their
    mean (Greenberg 1960). `whole_word_share` of the entries give their whole words, and
    `entries_with_kinds` give kinds: only their morphs are in `kinds` (all of `MorphemeKind`, by
    value) and `morphs_without_kind`. `prefixes` and `suffixes` are the most frequent ones in lower
    case, with counts, the most frequent first and equal ones alphabetically. `longest_word` is ""
    without entries, and the first of several.
    """

    entries: int
    words: int
    words_with_several_analyses: int
    morphs_per_word: dict[int, int]
    index_of_synthesis: float
    whole_word_share: float
    entries_with_kinds: int
    kinds: dict[str, int]
    morphs_without_kind: int
    longest_word: str
    prefixes: tuple[tuple[str, int], ...]
    suffixes: tuple[tuple[str, int], ...]


def describe_reference(reference: Reference) -> Description:
    """Describe a reference.

    >>> from morphgraph.reference.entry import Entry
    >>> kinds = (MorphemeKind.PREFIX, MorphemeKind.FREE)
    >>> entries = (Entry("undo", ("un", "do"), kinds=kinds), Entry("go", ("go",)))
    >>> found = describe_reference(Reference("gold.tsv", "plain", entries, (), "0" * 12))
    >>> found.index_of_synthesis, found.morphs_per_word, found.prefixes
    (1.5, {1: 1, 2: 1}, (('un', 1),))
    """
    entries = reference.entries
    sizes = Counter(len(entry.morphs) for entry in entries)
    analyses: dict[str, tuple[str, ...]] = {}
    several: set[str] = set()
    kinds: Counter[MorphemeKind | None] = Counter()
    affixes: dict[MorphemeKind | None, Counter[str]] = {
        MorphemeKind.PREFIX: Counter(),
        MorphemeKind.SUFFIX: Counter(),
    }
    with_kinds = 0
    for entry in entries:
        if analyses.setdefault(entry.word, entry.morphs) != entry.morphs:
            several.add(entry.word)
        if entry.kinds is None:
            continue
        with_kinds += 1
        kinds.update(entry.kinds)
        for morph, kind in zip(entry.morphs, entry.kinds, strict=True):
            if kind in affixes:
                affixes[kind][morph.lower()] += 1
    return Description(
        entries=len(entries),
        words=len(analyses),
        words_with_several_analyses=len(several),
        morphs_per_word=dict(sorted(sizes.items())),
        index_of_synthesis=_ratio(sum(n * times for n, times in sizes.items()), len(entries)),
        whole_word_share=_ratio(
            sum(entry.whole_words is not None for entry in entries), len(entries)
        ),
        entries_with_kinds=with_kinds,
        kinds={kind.value: kinds[kind] for kind in MorphemeKind} if with_kinds else {},
        morphs_without_kind=kinds[None],
        longest_word=max(analyses, key=len, default=""),
        prefixes=_most_frequent(affixes[MorphemeKind.PREFIX]),
        suffixes=_most_frequent(affixes[MorphemeKind.SUFFIX]),
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else nan


def _most_frequent(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ordered[:TOP])

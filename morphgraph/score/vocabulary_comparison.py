"""Two vocabularies beside each other: the types in both, and those in one of them only."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import lru_cache

import numpy as np

from morphgraph.core.text import SHOWN_MARKER
from morphgraph.score.vocabulary_health import VocabularyHealth

PARTS = ("shared_types", "dropped_types", "added_types")
"""Figures that are the sizes of parts."""


def by_spelling(health: VocabularyHealth) -> dict[str, int]:
    """Return the ids of types by readable string, to compare them with those of another vocabulary.

    ``␣`` stands before what starts a word, whatever the marker is, and behind what ends one if it
    is a suffix; with ``##``, all types without it start a word. Incomplete characters are compared
    as they are spelled. Special types are left out.
    """
    inventory, initial = health.inventory, set(health.word_initial or ())
    final = frozenset() if inventory.marks_start else inventory.marked
    return {
        SHOWN_MARKER * (n in initial)
        + (f"\0{inventory.spelled[n]}" if body is None else body)
        + SHOWN_MARKER * (n in final): n
        for n, body in inventory.bodies.items()
    }


@lru_cache(maxsize=2)
def compared(before: VocabularyHealth, after: VocabularyHealth) -> dict[str, VocabularyHealth]:
    """Return the parts of two vocabularies, each as a vocabulary of its own.

    ``shared_types``: the types in both, as those of the first; ``shared_after``: the same as those
    of the second; ``dropped_types``: those only in the first; ``added_types``: only in the second.
    Tokens of the corpus are those of the part's types. If only one of the two marks starts of
    words, the marker does not count, and types that differ in it alone are one (Gow-Smith et al.
    2022, Table 4).

    >>> from morphgraph.segment.wordpiece import Greedy
    >>> from morphgraph.tokeniser.vocabulary import SubwordVocabulary
    >>> one = SubwordVocabulary(("a", "b", "ab", "Ġab", "Ġb"), "Ġ")
    >>> other = SubwordVocabulary(("a", "b", "ba", "▁ab"), "▁")
    >>> parts = compared(*(VocabularyHealth(Greedy(vocabulary)) for vocabulary in (one, other)))
    >>> [[*by_spelling(part)] for part in parts.values()]
    [['a', 'b', '␣ab'], ['a', 'b', '␣ab'], ['ab', '␣b'], ['ba']]
    """
    alike = before.inventory.marks_start == after.inventory.marks_start
    one, other = (_alike(each, alike) for each in (before, after))
    return {
        "shared_types": _part(before, [n for t, n in one.items() if t in other], "In both, by {}"),
        "shared_after": _part(after, [n for t, n in other.items() if t in one], "In both, by {}"),
        "dropped_types": _part(before, [n for t, n in one.items() if t not in other], "Only in {}"),
        "added_types": _part(after, [n for t, n in other.items() if t not in one], "Only in {}"),
    }


def _alike(health: VocabularyHealth, marked: bool) -> dict[str, list[int]]:
    """Return the ids of types that count as one, by what is compared of them."""
    ids: dict[str, list[int]] = {}
    for text, number in by_spelling(health).items():
        key = text if marked else text.strip(f"{SHOWN_MARKER} Ġ▁") or SHOWN_MARKER
        ids.setdefault(key, []).append(number)
    return ids


def _part(health: VocabularyHealth, ids: list[list[int]], label: str) -> VocabularyHealth:
    numbers = [each[0] for each in ids]
    part, whole, kept = copy(health), health.inventory, frozenset(numbers)
    for name in ("word_initial", "never_used", "unreachable", "duplicates", "chains"):
        vars(part).pop(name, None)  # what follows from the types
    spelled = {number: whole.spelled[number] for number in numbers}
    bodies = {number: whole.bodies[number] for number in numbers}
    part.inventory = replace(
        whole, special=(), spelled=spelled, bodies=bodies, marked=whole.marked & kept
    )
    part.size, part.label = len(numbers), label.format(health.label)
    if (corpus := health.compression) is not None:
        counts = np.zeros_like(corpus.counts)
        counts[numbers] = [corpus.counts[each].sum() for each in ids]
        part.compression = replace(corpus, counts=counts, tokens=float(counts.sum()))
    return part

"""Families of words, and how some of them are kept aside: the one meaning of *kept aside*.

Words that share a stem are no independent evidence: what learned from *walked* has seen *walking*.
So whole families are kept aside from whatever learns, and scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from morphgraph.reference.entry import Entry

Numbers = npt.NDArray[np.int64]
SplitBy = Literal["families", "words"]
Side = Literal["rest", "kept"]
FEWEST_FAMILIES = 20
"""With fewer, nothing is kept aside by default."""
_LARGEST = 0.25
"""The largest family that is kept aside, as a share of what is."""


class Part(NamedTuple):
    """One side of a split: what is ``kept`` aside, or the ``rest``, and how it was drawn."""

    side: Side
    share: float
    seed: int
    by: SplitBy

    @property
    def other(self) -> Part:
        """The other side of the split."""
        return self._replace(side="rest" if self.side == "kept" else "kept")

    def __str__(self) -> str:
        what = "kept aside" if self.side == "kept" else "without"
        return f"{what} {self.share:g} by {self.by}, seed {self.seed}"


def are_apart(one: Sequence[Part], other: Sequence[Part]) -> bool:
    """Return whether two parts of the same gold, split again and again, have no word in common.

    >>> kept, rest = (Part(side, 0.2, 0, "families") for side in ("kept", "rest"))
    >>> are_apart([rest], [kept]), are_apart([rest], []), are_apart([rest, rest], [rest, kept])
    (True, False, True)
    """
    for first, second in zip(one, other, strict=False):
        if first != second:
            return first[1:] == second[1:]
    return False


def stem_of(entry: Entry) -> str:
    """Return the longest morph of an entry, case-folded; the first of several.

    >>> stem_of(Entry("Unbreakable", ("Un", "break", "able")))
    'break'
    """
    return max(entry.morphs, key=len, default=entry.word).casefold()


def families_of(entries: Sequence[Entry]) -> Numbers:
    """Return the family of each entry; families are numbered by their smallest words.

    Entries of a word are in one family, those linked to the same word too, directly or not, bases
    that are no entries included; where the source has no links, entries with the same stem are.

    >>> words = ("walked", ("walk", "ed")), ("dogs", ("dog", "s")), ("walking", ("walk", "ing"))
    >>> families_of([Entry(word, morphs) for word, morphs in words]).tolist()
    [1, 0, 1]
    """
    above: dict[object, object] = {}

    def root(node: object) -> object:
        while (parent := above.setdefault(node, node)) != node:
            above[node] = node = above[parent]
        return node

    for entry in entries:
        # A stem is no word: “er” may be a word of its own, of another family.
        linked: Iterable[object] = ((stem_of(entry),),) if entry.linked is None else entry.linked
        for other in linked:
            above[root(other)] = root(entry.word)
    return _numbered([entry.word for entry in entries], [root(entry.word) for entry in entries])


def word_numbers(entries: Sequence[Entry]) -> Numbers:
    """Return the number of each entry's word, in order of words: each is a family of its own."""
    words = [entry.word for entry in entries]
    return _numbered(words, words)


def _numbered(words: Sequence[str], groups: Sequence[object]) -> Numbers:
    smallest: dict[object, str] = {}
    for word, group in zip(words, groups, strict=True):
        smallest[group] = min(word, smallest.get(group, word))
    numbers = {group: n for n, group in enumerate(sorted(smallest, key=smallest.__getitem__))}
    return np.fromiter(map(numbers.__getitem__, groups), np.int64, len(groups))


def drawn_from(families: Numbers, share: float, seed: int, by: SplitBy) -> npt.NDArray[np.bool_]:
    """Return which entries are kept aside: whole families, until they have a share of all entries.

    The seed shuffles families. One that would be more than a quarter of what is kept aside stays
    with the rest.

    >>> drawn_from(np.array([0, 0, 1, 2, 3, 4, 5, 6]), 0.25, 0, "families").sum().item()
    2
    """
    wanted, sizes = round(len(families) * share), np.bincount(families)
    order = np.random.default_rng(seed).permutation(len(sizes))
    if by == "families":
        order = order[sizes[order] <= max(1.0, wanted * _LARGEST)]
    before = np.cumsum(sizes[order]) - sizes[order]
    kept = np.zeros(len(sizes), bool)
    kept[order[before < wanted]] = True
    is_kept: npt.NDArray[np.bool_] = kept[families]
    return is_kept

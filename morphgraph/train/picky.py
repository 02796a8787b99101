"""Train Picky BPE from word counts: BPE that takes back types it no longer needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.picky import Picky, PickyEvent, PickyParameters
from morphgraph.train.bpe import flatten

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class TrainedPicky:
    """A trained model: its atoms, all types that there ever were, and what happened, in order.

    ``types``: the alphabet, sorted by code point, then results of merges as they first came;
    ``removed``: ids of those that are not present in the end.
    """

    alphabet: tuple[str, ...]
    types: tuple[str, ...]
    events: tuple[PickyEvent, ...]
    removed: frozenset[int]
    threshold: float

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The present types, by id."""
        return tuple(text for n, text in enumerate(self.types) if n not in self.removed)

    def segmenter(self, name: str = "picky") -> Picky:
        """The segmenter of this model, with the preprocessing that its marker implies."""
        from morphgraph.segment.bte import tokeniser_of_types

        built: dict[int, list[str]] = {}
        for kind, parts, whole in self.events:
            if kind == "merge":
                built.setdefault(whole, [self.types[part] for part in parts])
        return Picky(
            tokeniser_of_types(name, self.types, built.values()), self.events, self.threshold
        )


def train_picky(
    counts: Mapping[str, int] | WordCounts,
    *,
    vocab_size: int,
    threshold: float = PickyParameters().threshold,
    minimum_count: int = 0,
    alphabet: Iterable[str] = (),
    reserved: int = 0,
    progress: Callable[[float], None] | None = None,
) -> TrainedPicky:
    """Train Picky BPE: after a merge, a part that occurs (almost) only in it is removed.

    As `train_bpe`, and after merging (x1, x2): if count(x1, x2) / count(x1), both from before the
    merge, is more than ``threshold``, x1 is removed, and what is left of it is split into the
    present types that it was first built from, recursively; then x2 likewise, if it is another
    type. Atoms are never removed. A removed type that is merged again is restored under its old id.
    ``vocab_size`` counts present types. With a threshold of 1, this is BPE. Other arguments and
    errors are those of `train_bpe`; `MorphGraphError` also for a threshold outside 0 to 1.
    Source: Chizhov et al. 2024, Algorithm 1, with ">" as in the authors' released code.

    >>> trained = train_picky({"abc": 9, "ab": 1, "bc": 5}, vocab_size=5, threshold=0.8)
    >>> trained.vocabulary
    ('a', 'b', 'c', 'bc', 'abc')
    >>> trained = train_picky({"abc": 9, "ab": 1}, vocab_size=5, threshold=0.8)
    >>> for event in trained.events:
    ...     print(*event)
    merge (0, 1) 3
    merge (3, 2) 4
    split (0, 1) 3
    merge (0, 1) 3
    """
    from morphgraph.kernels import picky_training

    PickyParameters(threshold=threshold)
    words, characters = packed_words(counts, alphabet)
    rows, flags = picky_training.learn_events(
        words,
        len(characters),
        vocab_size - reserved,
        threshold=threshold,
        minimum_count=minimum_count,
        progress=progress,
    )
    types = list(characters)
    built: dict[int, tuple[int, ...]] = {}
    absent: set[int] = set()

    def present_parts(number: int) -> tuple[int, ...]:
        found, waiting = [], [number]
        while waiting:
            part = waiting.pop()
            if part in absent:
                waiting += reversed(built[part])
            else:
                found.append(part)
        return tuple(found)

    events = []
    for left, right, whole in rows.tolist():
        if left < 0:
            absent.add(whole)
            events.append(PickyEvent("split", present_parts(whole), whole))
            continue
        if whole == len(types):
            types.append(types[left] + types[right])
            built[whole] = (left, right)
        absent.discard(whole)
        events.append(PickyEvent("merge", (left, right), whole))
    removed = frozenset(n for n, flag in enumerate(flags) if flag == 0)
    return TrainedPicky(characters, tuple(types), tuple(events), removed, threshold)


def packed_words(
    counts: Mapping[str, int] | WordCounts, alphabet: Iterable[str]
) -> tuple[npt.NDArray[np.int32], tuple[str, ...]]:
    """The words as the trainer's kernel takes them, and the atoms; errors as of `train_bpe`."""
    from morphgraph.kernels.training import pack_words

    atoms, offsets, numbers, characters = flatten(counts, alphabet)
    return pack_words(atoms, offsets, numbers), characters

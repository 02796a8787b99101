"""Train Picky BPE from word counts: BPE that removes types it no longer needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.training.bpe import TrainedBpe, packed_words


class PickyEvent(NamedTuple):
    """A merge of two ``parts`` into a ``type``, or a split of a removed ``type`` into ``parts``.

    Types are named by id; the parts of a split are those that were present at that time.
    """

    kind: Literal["merge", "split"]
    parts: tuple[int, ...]
    type: int


@dataclass(frozen=True)
class TrainedPicky(TrainedBpe):
    """A trained model: its events in order, and the types absent in the end.

    ``types``: all that ever existed; ``merges``: the first one of each; ``removed``: ids of those
    types that are absent in the end.
    """

    events: tuple[PickyEvent, ...]
    removed: frozenset[int]
    threshold: float

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The present types, by id."""
        return tuple(text for n, text in enumerate(self.types) if n not in self.removed)


def train_picky(
    counts: Mapping[str, int] | WordCounts,
    *,
    vocab_size: int,
    threshold: float,
    minimum_count: int = 0,
    alphabet: Iterable[str] = (),
    reserved: int = 0,
    progress: Callable[[float], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> TrainedPicky:
    """Train Picky BPE: after a merge, a part that occurs (almost) only in it is removed.

    As `train_bpe`, and after merging (x1, x2): if count(x1, x2) / count(x1), both from before the
    merge, is more than ``threshold``, x1 is removed, and its remaining occurrences are split into
    the present types that it was first built from, recursively; then x2 likewise, if it is another
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

    if not 0 <= threshold <= 1:
        raise MorphGraphError(f"threshold={threshold!r} does not fit. Give a number from 0 to 1.")
    words, characters = packed_words(counts, alphabet)
    rows, flags = picky_training.learn_events(
        words,
        len(characters),
        vocab_size - reserved,
        threshold=threshold,
        minimum_count=minimum_count,
        progress=progress,
        enough=enough,
    )
    types = list(characters)
    built: dict[int, tuple[int, int]] = {}
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
    merges = tuple((types[left], types[right]) for left, right in built.values())
    return TrainedPicky(characters, merges, tuple(types), tuple(events), removed, threshold)

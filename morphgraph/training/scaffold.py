"""Train Scaffold-BPE from word counts: types that only help to build others do not count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from morphgraph.corpus.counts import WordCounts
from morphgraph.training.bpe import TrainedBpe, packed_words


@dataclass(frozen=True)
class TrainedScaffold(TrainedBpe):
    """A trained model, and its types that are scaffolds."""

    scaffolds: frozenset[str]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The types that are not scaffolds, by id."""
        return tuple(text for text in self.types if text not in self.scaffolds)


def train_scaffold(
    counts: Mapping[str, int] | WordCounts,
    *,
    vocab_size: int,
    minimum_count: int = 0,
    alphabet: Iterable[str] = (),
    reserved: int = 0,
    progress: Callable[[float], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> TrainedScaffold:
    """Train Scaffold-BPE: BPE that marks parts with few remaining occurrences as scaffolds.

    As `train_bpe`; after merging (x, y), x is marked, and so is y, if it now occurs at most as
    often as the next pair to merge, which has the highest count of all (0 if there is none).
    Scaffolds do not count towards ``vocab_size``, but are still merged. Choices that the source
    leaves open: a type once marked stays marked; atoms are never marked, as they cannot be
    split. Other arguments and errors are those of `train_bpe`. Source: Lian et al. 2025.

    >>> trained = train_scaffold({"abc": 9, "ab": 1, "ad": 2}, vocab_size=6)
    >>> trained.vocabulary, sorted(trained.scaffolds)
    (('a', 'b', 'c', 'd', 'abc', 'ad'), ['ab'])
    """
    from morphgraph.kernels import picky_training

    words, characters = packed_words(counts, alphabet)
    rows, flags = picky_training.learn_events(
        words,
        len(characters),
        vocab_size - reserved,
        scaffold=True,
        minimum_count=minimum_count,
        progress=progress,
        enough=enough,
    )
    types = list(characters)
    merges: list[tuple[str, str]] = []
    for left, right, _ in rows.tolist():
        merges.append((types[left], types[right]))
        types.append(types[left] + types[right])
    scaffolds = frozenset(types[n] for n, flag in enumerate(flags) if flag == 2)
    return TrainedScaffold(characters, tuple(merges), tuple(types), scaffolds)

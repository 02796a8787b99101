"""Training Picky BPE against a naive trainer."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import training_oracles as plain
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import word_counts

from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.kernels import merge_training
from morphgraph.segment.training import train_bpe
from morphgraph_remedies.picky import TrainedPicky, train_picky
from morphgraph_remedies.scaffold import train_scaffold


def events_of(trained: TrainedPicky) -> list[plain.Event]:
    types = trained.types
    return [(kind, tuple(types[p] for p in parts), types[t]) for kind, parts, t in trained.events]


@examples(500)
@given(
    word_counts("a", 20, 9) | word_counts("ab", 12, 12) | word_counts("abβ語😀", 9, 20),
    st.integers(0, 40) | st.just(1000),
    st.sampled_from([0.0, 0.3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0]),
    st.integers(0, 4),
)
def test_same_as_naive(counts: dict[str, int], size: int, threshold: float, minimum: int) -> None:
    trained = train_picky(counts, vocab_size=size, threshold=threshold, minimum_count=minimum)
    types, events, present, _ = plain.train_picky(counts, size, threshold, minimum)
    assert list(trained.types) == types
    assert events_of(trained) == events
    assert trained.vocabulary == tuple(text for text in types if text in present)


@pytest.mark.slow
def test_same_as_naive_where_arrays_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many pairs and removals that the kernel asks for room, and ends in the middle."""
    random = np.random.default_rng(1)
    counts = {
        "".join(random.choice(list("abcd"), random.integers(2, 14))): int(random.integers(1, 9))
        for _ in range(300)
    }
    seen, train_events = set[int](), merge_training.train_events
    initial_pairs = merge_training.initial_pairs

    def barely(words: Any, state: Any, removing: bool) -> merge_training.Pairs:
        """Pairs in a table that has to grow."""
        pairs = initial_pairs(words, state, removing)
        table = merge_training._empty_table(1 << (int(state.pairs) + 1).bit_length())
        heads = np.full(len(table), -1, np.int32)
        merge_training.copy_rows(pairs.table, pairs.heads, table, heads)
        return pairs._replace(table=table, heads=heads)

    def watched(*arguments: Any) -> int:
        status: int = train_events(*arguments)
        seen.add(status)
        return status

    monkeypatch.setattr(merge_training, "EVENTS_PER_CALL", 50)
    monkeypatch.setattr(merge_training, "train_events", watched)
    monkeypatch.setattr(merge_training, "initial_pairs", barely)
    trained = train_picky(counts, vocab_size=300, threshold=0.3)
    types, events, _, _ = plain.train_picky(counts, 300, 0.3)
    assert (list(trained.types), events_of(trained)) == (types, events)
    assert len(trained.removed) > 300
    assert seen == {
        merge_training.DONE,
        merge_training.CHUNK,
        merge_training.REFILL,
        merge_training.GROW,
    }


@examples(200)
@given(word_counts("abc", 12, 20), st.integers(0, 40))
def test_without_removals_it_is_bpe(counts: dict[str, int], size: int) -> None:
    trained = train_picky(counts, vocab_size=size, threshold=1.0)
    plain = train_bpe(counts, vocab_size=size)
    assert [parts for _, parts, _ in events_of(trained)] == list(plain.merges)
    assert trained.vocabulary == trained.types == plain.vocabulary


@pytest.mark.slow
def test_a_long_chain_of_removed_types() -> None:
    """Types are removed for the next longer ones, so splits go deep."""
    word = "".join(chr(0x4E00 + i) for i in range(1500))
    counts = {word[:length]: 1 for length in range(2, 1501)}
    trained = train_picky(counts, vocab_size=1502, threshold=0.5)
    splits = [event for event in trained.events if event.kind == "split"]
    assert max(len(event.parts) for event in splits) > 700
    for _, parts, whole in splits:
        assert "".join(trained.types[part] for part in parts) == trained.types[whole]


@pytest.mark.parametrize("learn", [partial(train_picky, threshold=0.9), train_scaffold])
def test_what_ends_early_is_what_a_smaller_vocabulary_gives(
    learn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_training, "EVENTS_PER_CALL", 40)
    counts = {w: n for w, n in wordfreq_counts("en", wordlist="small").items() if n >= 20_000}
    sizes = set()
    for last in range(1, 9):
        asked = iter([False] * last)
        part = learn(counts, vocab_size=600, enough=partial(next, asked, True))
        sizes.add(len(part.vocabulary))
        assert part == learn(counts, vocab_size=len(part.vocabulary))
    assert len(sizes) == 8
    assert max(sizes) < 600
    whole = learn(counts, vocab_size=600)
    assert learn(counts, vocab_size=600, enough=lambda: False) == whole

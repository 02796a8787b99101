"""Training Picky BPE against a naive trainer, and on titles as in the paper."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import merge_method_oracles as naive
import numpy as np
import pytest
import wordfreq
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import trained_segmenter

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import picky_training
from morphgraph.segment.picky import TrainedPicky, train_picky
from morphgraph.segment.training import train_bpe


def word_counts(alphabet: str, longest: int, most: int) -> st.SearchStrategy[dict[str, int]]:
    words = st.text(alphabet, min_size=1, max_size=longest)
    return st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=most)


def events_of(trained: TrainedPicky) -> list[naive.Event]:
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
    types, events, present, _ = naive.train_picky(counts, size, threshold, minimum)
    assert list(trained.types) == types
    assert events_of(trained) == events
    assert trained.vocabulary == tuple(text for text in types if text in present)


def test_removed_types_come_back() -> None:
    """The cases that a random run might miss: restored, made from another pair, split in three."""
    random = np.random.default_rng(2)
    restored = remade = deep = 0
    for _ in range(60):
        counts = {
            "".join(random.choice(list("abcd"), random.integers(2, 14))): int(random.integers(1, 9))
            for _ in range(20)
        }
        trained = train_picky(counts, vocab_size=60, threshold=0.5)
        types, events, _, _ = naive.train_picky(counts, 60, 0.5)
        assert (list(trained.types), events_of(trained)) == (types, events)
        pairs: dict[str, set[tuple[str, ...]]] = {}
        for kind, parts, whole in events:
            if kind == "merge":
                restored += parts in pairs.get(whole, ())
                remade += bool(pairs.setdefault(whole, set()) - {parts})
                pairs[whole].add(parts)
            else:
                deep += len(parts) > 2
    assert min(restored, remade, deep) > 20


@examples(200)
@given(word_counts("abc", 12, 20), st.integers(0, 40))
def test_without_removals_it_is_bpe(counts: dict[str, int], size: int) -> None:
    trained = train_picky(counts, vocab_size=size, threshold=1.0)
    plain = train_bpe(counts, vocab_size=size)
    assert [parts for _, parts, _ in events_of(trained)] == list(plain.merges)
    assert trained.vocabulary == trained.types == plain.vocabulary


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "fi"])
def test_without_removals_it_is_bpe_on_a_language(language: str) -> None:
    frequencies = wordfreq.get_frequency_dict(language, "large")
    words = [word for word in frequencies if not any(map(str.isspace, word))][:60_000]
    counts = {word: 1 + int(frequencies[word] * 1e8) for word in words}
    trained = train_picky(counts, vocab_size=8_000, threshold=1.0)
    plain = train_bpe(counts, vocab_size=8_000)
    assert [parts for _, parts, _ in events_of(trained)] == list(plain.merges)
    assert trained.vocabulary == plain.vocabulary


def test_arrays_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same however often the driver is asked for room or a chunk ends."""
    random = np.random.default_rng(1)
    counts = {"".join(random.choice(list("abcdefghij"), 10)): 1 for _ in range(3000)}
    settings = {"vocab_size": 2500, "threshold": 0.05}
    expected = train_picky(counts, **settings)
    assert len(expected.removed) > 100
    seen = []
    train_events, pairs, types = (
        picky_training.train_events,
        picky_training._initial_pairs,
        picky_training._initial_types,
    )

    def watched(*arguments: Any) -> int:
        seen.append(train_events(*arguments))
        return seen[-1]

    def tight_pairs(words: Any, state: Any) -> Any:
        table, queue, lists = pairs(words, state)
        small = picky_training._empty_table(1 << 11)
        picky_training.copy_rows(table, small)
        used, low = int(state[picky_training.POSITIONS]), int(state[picky_training.LOW])
        nodes = int(state[picky_training.NODES])
        queue = queue._replace(heap=np.empty((64, 2), np.int64), low=queue.low[:low].copy())
        lists = lists._replace(nodes=lists.nodes[:nodes], positions=lists.positions[:used].copy())
        return small, queue, lists

    def barely(array: Any, used: int, room: int) -> Any:
        larger = np.empty((used + room, *array.shape[1:]), array.dtype)
        larger[:used] = array[:used]
        return larger

    monkeypatch.setattr(picky_training, "EVENTS_PER_CALL", 7)
    monkeypatch.setattr(picky_training, "train_events", watched)
    monkeypatch.setattr(picky_training, "_initial_pairs", tight_pairs)
    monkeypatch.setattr(picky_training, "_initial_types", lambda atoms, _: types(atoms, 9))
    monkeypatch.setattr(picky_training, "_with_room", barely)
    assert train_picky(counts, **settings) == expected
    wanted = {picky_training.CHUNK, picky_training.REFILL, picky_training.GROW_TABLE}
    wanted |= {picky_training.GROW_QUEUE, picky_training.GROW_LISTS, picky_training.GROW_TYPES}
    wanted |= {picky_training.GROW_EVENTS}
    assert wanted <= set(seen)


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


def test_reserved_types_and_progress() -> None:
    counts = {"low": 5, "lower": 2}
    trained = train_picky(counts, vocab_size=9, threshold=0.9, reserved=2)
    assert trained == train_picky(counts, vocab_size=7, threshold=0.9)
    shares: list[float] = []
    train_picky(counts, vocab_size=20, threshold=0.9, progress=shares.append)
    assert shares[0] == 0.0 and shares[-1] == 1.0

    def cancel(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_picky(counts, vocab_size=20, threshold=0.9, progress=cancel)


def test_refuses() -> None:
    for threshold in (-0.1, 1.5, float("nan")):
        with pytest.raises(MorphGraphError, match="from 0 to 1"):
            train_picky({"ab": 1}, vocab_size=9, threshold=threshold)
    with pytest.raises(MorphGraphError, match="no words to train on"):
        train_picky({}, vocab_size=9, threshold=0.9)


def test_titles(data_folder: Path) -> None:
    """Chizhov et al. 2024, Table 4, on other texts: what a lower threshold does."""
    counts: Counter[str] = Counter()
    files = sorted((data_folder / "text").glob("*.csv"))
    assert len(files) == 6
    for path in files:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                counts.update("▁" + word for word in row["text"].lower().split(" ") if word)
    weights = np.array(list(counts.values()))
    words = None
    removed, lengths, initials = [], [], []
    for threshold in (1.0, 0.9, 0.8, 0.7, 0.6):
        trained = train_picky(counts, vocab_size=4096, threshold=threshold)
        assert len(trained.vocabulary) == 4096
        picky = trained_segmenter(trained)
        if words is None:  # the atoms have the same ids in all models
            words = picky.encode([word[1:] for word in counts])
        assert not words.unknown
        tokens = picky.segment(words).token_at >= 0
        removed.append(len(trained.removed))
        lengths.append(int(weights[words.word_of_atom[tokens]].sum()))
        initials.append(sum(text.startswith("▁") for text in trained.vocabulary) / 4096)
        share = lengths[-1] / lengths[0]
        print(
            f"T = {threshold}: {removed[-1]} removed, tokens {share:.4f} of those of BPE, ", end=""
        )
        print(f"word-initial {initials[-1]:.2%}")
    assert removed[0] == 0 and removed == sorted(set(removed))
    assert lengths == sorted(set(lengths), reverse=True)
    assert initials[:4] == sorted(set(initials[:4]))
    assert initials[4] > initials[2]  # from 0.7 on, it hardly changes here

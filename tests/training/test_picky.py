"""Training Picky BPE against a naive trainer, and on titles as in the paper."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import merge_method_oracles as naive
import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import trained_segmenter, word_counts
from tokenizers import Tokenizer, models, trainers

from morphgraph.kernels import training
from morphgraph.segment.picky import TrainedPicky, train_picky
from morphgraph.segment.training import train_bpe


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


@pytest.mark.parametrize("threshold", [0.05, 1.0])
def test_arrays_grow(threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same however often the driver is asked for room or a chunk ends."""
    random = np.random.default_rng(1)
    counts = {"".join(random.choice(list("abcdefghij"), 10)): 1 for _ in range(3000)}
    settings = {"vocab_size": 2500, "threshold": threshold}
    expected = train_picky(counts, **settings)
    assert (len(expected.removed) > 100) == (threshold < 1)
    if threshold == 1:
        library = Tokenizer(models.BPE())
        trainer = trainers.BpeTrainer(vocab_size=2500, special_tokens=[], show_progress=False)
        library.train_from_iterator(counts, trainer)
        listed = json.loads(library.to_str())["model"]["merges"]
        assert [list(parts) for _, parts, _ in events_of(expected)] == listed
    seen, grown, sizes = set(), set(), dict[str, int]()
    train_events, initial_pairs = training.train_events, training.initial_pairs
    initial_types, with_room = training.initial_types, training._with_room

    def watched(*arguments: Any) -> int:
        _, pairs, types, _, events, *_ = arguments
        now = {n: np.size(a) for n, a in (pairs._asdict() | types._asdict()).items()}
        now["events"] = len(events)
        grown.update(name for name, size in sizes.items() if now[name] > size)
        sizes.update(now)
        status: int = train_events(*arguments)
        seen.add(status)
        return status

    def tight_pairs(words: Any, state: Any, removing: bool) -> Any:
        pairs = initial_pairs(words, state, removing)
        table = training._empty_table(1 << 11)
        heads = np.full(len(table) if removing else 0, -1, np.int32)
        training.copy_rows(pairs.table, pairs.heads, table, heads)
        rows = {name: int(state[name]) for name in ("low", "nodes", "positions")}
        cut = {name: getattr(pairs, name)[:count].copy() for name, count in rows.items()}
        heap = np.empty((64, 3), np.int64)
        return pairs._replace(table=table, heads=heads, heap=heap, **cut)

    def barely(array: Any, used: int, room: int, fill: int | None = None) -> Any:
        if array.shape[0] - used < room:
            array = with_room(array, used, room, fill)[: used + room]
        return np.ascontiguousarray(array)

    monkeypatch.setattr(training, "EVENTS_PER_CALL", 7)
    monkeypatch.setattr(training, "train_events", watched)
    monkeypatch.setattr(training, "initial_pairs", tight_pairs)
    monkeypatch.setattr(training, "initial_types", lambda n, _, *more: initial_types(n, 9, *more))
    monkeypatch.setattr(training, "_with_room", barely)
    assert train_picky(counts, **settings) == expected
    assert seen == {training.DONE, training.CHUNK, training.REFILL, training.GROW}
    queue, of_types = {"table", "heap", "low", "nodes", "positions"}, {"counts", "flags", "listed"}
    assert grown >= queue | of_types, sorted(grown)


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

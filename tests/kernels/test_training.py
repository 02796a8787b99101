"""The training kernel against Hugging Face's `BpeTrainer`, against counting everything afresh, and
by hand."""

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from morphgraph.kernels import training

MANY = 10_000


def train(
    counts: dict[str, int], size: int = MANY, minimum: int = 0
) -> tuple[list[tuple[str, str]], list[str]]:
    """Run the kernel on strings; returns merges and vocabulary as strings."""
    alphabet = sorted(set("".join(counts)))
    atoms = np.array([alphabet.index(c) for word in counts for c in word], np.int32)
    offsets = np.cumsum([0, *map(len, counts)], dtype=np.int64)
    numbers = np.array(list(counts.values()), np.int64)
    words = training.pack_words(atoms, offsets, numbers)
    rows = training.train_merges(words, len(alphabet), size, minimum)
    assert rows.dtype == np.int32
    assert rows[:, 2].tolist() == list(range(len(alphabet), len(alphabet) + len(rows)))
    vocabulary = list(alphabet)
    merges = []
    for left, right, _ in rows.tolist():
        merges.append((vocabulary[left], vocabulary[right]))
        vocabulary.append(vocabulary[left] + vocabulary[right])
    return merges, vocabulary


def train_by_recounting(
    counts: dict[str, int], size: int = MANY, minimum: int = 0
) -> tuple[list[tuple[str, str]], list[str]]:
    """Count all pairs afresh before each merge."""
    vocabulary = sorted(set("".join(counts)))
    ids = {atom: i for i, atom in enumerate(vocabulary)}
    words = [(list(word), count) for word, count in counts.items()]
    merges = []
    while len(vocabulary) < size:
        pairs: Counter[tuple[str, str]] = Counter()
        for tokens, count in words:
            for pair in pairwise(tokens):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))
        if pairs[best] < minimum:
            break
        result = "".join(best)
        assert result not in ids, "the same type from two pairs"
        ids[result] = len(vocabulary)
        vocabulary.append(result)
        merges.append(best)
        for tokens, _ in words:
            for i in range(len(tokens) - 1):
                if tuple(tokens[i : i + 2]) == best:
                    tokens[i : i + 2] = [result]
    return merges, vocabulary


def train_with_hugging_face(
    counts: dict[str, int], size: int = MANY, minimum: int = 0
) -> tuple[list[tuple[str, str]], list[str]]:
    """Train on the words repeated."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=minimum, special_tokens=[], show_progress=False
    )
    tokenizer.train_from_iterator(
        (word for word, count in counts.items() for _ in range(count)), trainer
    )
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    vocabulary = tokenizer.get_vocab()
    return [(left, right) for left, right in merges], sorted(vocabulary, key=vocabulary.__getitem__)


def word_counts(alphabet: str, longest: int, most: int) -> st.SearchStrategy[dict[str, int]]:
    words = st.text(alphabet, min_size=1, max_size=longest)
    return st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=most)


@examples(600)
@given(
    word_counts("ab", 16, 12) | word_counts("abc", 12, 20) | word_counts("aβ語😀", 8, 30),
    st.integers(0, 40) | st.just(MANY),
    st.integers(0, 4),
)
def test_same_as_hugging_face(counts: dict[str, int], size: int, minimum: int) -> None:
    assert train(counts, size, minimum) == train_with_hugging_face(counts, size, minimum)


@examples(400)
@given(
    word_counts("a", 40, 9) | word_counts("ab", 14, 12) | word_counts("abcdefgh", 12, 12),
    st.integers(0, 4),
)
def test_same_as_recounting(counts: dict[str, int], minimum: int) -> None:
    assert train(counts, minimum=minimum) == train_by_recounting(counts, minimum=minimum)


@pytest.mark.slow
def test_long_random_words_over_few_letters() -> None:
    """Here pairs overlap and runs are long, yet the same type never arises in two ways."""
    random = np.random.default_rng(5)
    for letters in ("ab", "aab", "aaaab", "abcd"):
        for _ in range(10):
            counts = {
                "".join(random.choice(list(letters), random.integers(20, 90))): count
                for count in random.integers(1, 4, 80).tolist()
            }
            assert train(counts, 900) == train_with_hugging_face(counts, 900)


def test_counts_beyond_32_bits() -> None:
    assert train({"ab": 2**40, "bc": 2**40 + 1, "cd": 1})[0][0] == ("b", "c")


@pytest.mark.slow
def test_arrays_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the same however often the driver is asked for room or a chunk ends."""
    random = np.random.default_rng(1)
    counts = {
        "".join(random.choice(list("abcdefghijklmnopqrstuvwxyz"), 12)): 1 for _ in range(12000)
    }
    expected = train(counts, 9000)
    statuses = []
    merge_pairs = training.merge_pairs

    def tight(array: np.ndarray) -> np.ndarray:
        larger = np.empty((array.shape[0] + 18_100, *array.shape[1:]), array.dtype)
        larger[: array.shape[0]] = array
        return larger

    def watched(*arguments: Any) -> int:
        statuses.append(merge_pairs(*arguments))
        return statuses[-1]

    monkeypatch.setattr(training, "MERGES_PER_CALL", 7)
    monkeypatch.setattr(training, "_larger", tight)
    monkeypatch.setattr(training, "merge_pairs", watched)
    assert train(counts, 9000) == expected
    assert expected == train_with_hugging_face(counts, 9000)
    wanted = {training.CHUNK, training.REFILL}
    wanted |= {training.GROW_TABLE, training.GROW_HEAP, training.GROW_LOW}
    assert wanted <= set(statuses)


def test_long_word() -> None:
    word = "ab" * 3000 + "c" * 5000
    assert train({word: 1}) == train_with_hugging_face({word: 1})


def test_progress_reports_and_cancels() -> None:
    atoms, offsets = np.array([0, 1, 2, 3], np.int32), np.array([0, 4])
    words = training.pack_words(atoms, offsets, np.array([1]))
    shares: list[float] = []
    training.train_merges(words.copy(), 4, 9, progress=shares.append)
    assert shares[0] == 0.0 and shares[-1] == 1.0

    def cancel(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train_merges(words, 4, 9, progress=cancel)


def test_warm_up_covers_all_types_of_array() -> None:
    training.warm_up()
    names = ["append_words", "count_pairs", "list_positions", "copy_pairs", "refill", "merge_pairs"]
    kernels = [getattr(training, name) for name in names]
    train({"hugs": 3, "bugs": 2})
    assert [len(kernel.signatures) for kernel in kernels] == [1] * len(kernels)

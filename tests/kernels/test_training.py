"""The training kernel against Hugging Face's `BpeTrainer`, against counting everything afresh, and
by hand."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import training
from morphgraph.kernels.training_tables import pack_words

MANY = 10_000


def train(
    counts: dict[str, int], size: int = MANY, minimum: int = 0
) -> tuple[list[tuple[str, str]], list[str]]:
    """Run the kernel on strings; returns merges and vocabulary as strings."""
    alphabet = sorted(set("".join(counts)))
    atoms = np.array([alphabet.index(c) for word in counts for c in word], np.int32)
    offsets = np.cumsum([0, *map(len, counts)], dtype=np.int64)
    numbers = np.array(list(counts.values()), np.int64)
    words = pack_words(atoms, offsets, numbers)
    rows, _ = training.learn_events(words, len(alphabet), size, minimum_count=minimum)
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


def test_long_word() -> None:
    word = "ab" * 3000 + "c" * 5000
    assert train({word: 1}) == train_with_hugging_face({word: 1})


def test_refuses_too_many_characters() -> None:
    huge = np.broadcast_to(np.zeros(1, np.int32), 2**31)
    with pytest.raises(MorphGraphError, match="more than 2³¹ characters"):
        training.learn_events(huge, 1, 2)

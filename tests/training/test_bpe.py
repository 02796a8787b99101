"""Training from word counts, up to real word lists, against Hugging Face's `BpeTrainer`."""

import json
import math
from functools import partial

import numpy as np
import pytest
import wordfreq
from effort import examples, one_of, share_of
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import word_counts
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.corpus.word_array import WordArray
from morphgraph.kernels import merge_training
from morphgraph.segment import training as bpe
from morphgraph.segment.training import TrainedBpe, train_bpe


def hugging_face(words, vocab_size, minimum_count=0, alphabet=()):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=minimum_count,
        initial_alphabet=list(alphabet),
        special_tokens=[],
        show_progress=False,
    )
    tokenizer.train_from_iterator(words, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    ids = tokenizer.get_vocab()
    vocabulary = sorted(ids, key=ids.__getitem__)
    return TrainedBpe(
        tuple(vocabulary[: len(vocabulary) - len(merges)]),
        tuple((left, right) for left, right in merges),
        tuple(vocabulary),
    )


def repeated(counts):
    return (word for word, count in counts.items() for _ in range(count))


@examples(600)
@given(
    word_counts("ab", 16, 12) | word_counts("abc", 12, 20) | word_counts("aéя語😀", 9, 30),
    st.integers(0, 40) | st.just(10_000),
    st.integers(0, 4),
    st.text("axyz", max_size=3),
)
def test_same_as_hugging_face(counts, vocab_size, minimum_count, alphabet):
    settings = {"vocab_size": vocab_size, "minimum_count": minimum_count}
    trained = train_bpe(counts, alphabet=alphabet, **settings)
    assert trained == hugging_face(repeated(counts), alphabet=alphabet, **settings)


@pytest.mark.slow
def test_long_random_words_over_few_letters():
    """Here pairs overlap and runs are long, yet the same type never arises in two ways."""
    random = np.random.default_rng(5)
    for letters in ("ab", "aab", "aaaab", "abcd"):
        for _ in range(10):
            counts = {
                "".join(random.choice(list(letters), random.integers(20, 90))): count
                for count in random.integers(1, 4, 80).tolist()
            }
            assert train_bpe(counts, vocab_size=900) == hugging_face(repeated(counts), 900)


def test_large_numbers():
    trained = train_bpe({"ab": 2**40, "bc": 2**40 + 1, "cd": 1}, vocab_size=9)
    assert trained.merges[0] == ("b", "c")
    word = "ab" * 3000 + "c" * 5000
    assert train_bpe({word: 1}, vocab_size=10_000) == hugging_face([word], 10_000)
    huge = np.broadcast_to(np.zeros(1, np.int32), 2**31)
    with refused():
        merge_training.learn_events(huge, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("language", one_of("fi", "en", "de", "ru"))
def test_same_as_hugging_face_on_a_language(language):
    """Many words, each once, and then one to five times by frequency."""
    frequencies = wordfreq.get_frequency_dict(language, "large")
    count = share_of(100_000, 30_000)
    words = [word for word in frequencies if not any(map(str.isspace, word))][:count]
    assert len(words) == count
    once = WordCounts(words, np.ones(len(words), np.int64))
    assert train_bpe(once, vocab_size=8_000) == hugging_face(words, 8_000)

    rarest = min(frequencies[word] for word in words)
    counts = {word: 1 + min(4, int(math.log10(frequencies[word] / rarest) * 2)) for word in words}
    assert set(counts.values()) == {1, 2, 3, 4, 5}
    assert train_bpe(counts, vocab_size=8_000) == hugging_face(repeated(counts), 8_000)


def test_reserved_types_are_the_callers():
    counts = {"low": 5, "lower": 2}
    assert train_bpe(counts, vocab_size=9, reserved=2) == train_bpe(counts, vocab_size=7)
    assert train_bpe(counts, vocab_size=7).vocabulary == ("e", "l", "o", "r", "w", "lo", "low")
    assert train_bpe(counts, vocab_size=0).merges == ()


@pytest.mark.parametrize(
    "counts",
    [
        {},
        {"low": 0},
        {"low": 1, "lower": -3},
        {"low": 2**70},
        {"low": 2**61},
    ],
)
def test_refuses(counts):
    with refused():
        train_bpe(counts, vocab_size=10)


def test_odd_words():
    assert train_bpe({"a": 5, "xyz": 0}, vocab_size=9).vocabulary == ("a",)
    assert train_bpe({"": 3, "a": 1}, vocab_size=9).vocabulary == ("a",)
    assert train_bpe({"\ud800b": 1}, vocab_size=9).merges == (("\ud800", "b"),)
    assert train_bpe({"New York": 2}, vocab_size=9).alphabet == tuple(" NYekorw")


@examples(100)
@given(
    st.dictionaries(st.text("aéя語😀", max_size=9), st.integers(0, 6), min_size=1).filter(
        lambda counts: any(counts.values())
    )
)
def test_words_in_an_array_give_the_same(counts):
    array = WordCounts(WordArray.of_strings(counts), np.array(list(counts.values())))
    expected = train_bpe(counts, vocab_size=30)
    assert train_bpe(array, vocab_size=30) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe, "BATCH_SIZE", 2)
        for in_portions in (array, counts):
            assert train_bpe(in_portions, vocab_size=30) == expected


def test_what_ends_early_is_what_a_smaller_vocabulary_gives(monkeypatch):
    monkeypatch.setattr(merge_training, "EVENTS_PER_CALL", 40)
    counts = {w: n for w, n in wordfreq_counts("en", wordlist="small").items() if n >= 20_000}
    sizes = set()
    for last in range(1, 9):
        asked = iter([False] * last)
        part = train_bpe(counts, vocab_size=600, enough=partial(next, asked, True))
        sizes.add(len(part.vocabulary))
        assert part == train_bpe(counts, vocab_size=len(part.vocabulary))
    assert len(sizes) == 8
    assert max(sizes) < 600
    whole = train_bpe(counts, vocab_size=600)
    assert train_bpe(counts, vocab_size=600, enough=lambda: False) == whole

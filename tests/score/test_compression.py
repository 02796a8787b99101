"""Compression: figures worked out by hand, and entropies by scipy and by the plain formula."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy
from strategies import WORDS, MergeList, well_formed

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.vocabulary import NamedCounts, compress, corpus_of, renyi_efficiency
from morphgraph.segment.bte import Bte, tokeniser_of_types
from morphgraph.segment.flota import First, Flota
from morphgraph.segment.segmenter import Segmenter, method_on
from morphgraph.segment.wordpiece import WordPiece
from morphgraph.tokeniser.loading import load_tokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN

POSITIVE = st.lists(st.integers(0, 10**6), min_size=1, max_size=30)


# --------------------------------------------------------------------------------- Rényi efficiency


def direct(counts: list[int], size: int, alpha: float) -> float:
    """The definition, sum for sum."""
    total = sum(counts)
    powers = sum((n / total) ** alpha for n in counts if n)
    return math.log(powers) / (1 - alpha) / math.log(size)


@given(POSITIVE, st.integers(0, 50))
def test_order_one_is_shannon(counts: list[int], unused: int) -> None:
    size = len(counts) + unused
    found = renyi_efficiency(counts, size, 1.0)
    if not sum(counts) or size < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(entropy(counts) / math.log(size), abs=1e-12)


@given(POSITIVE, st.integers(1, 50), st.floats(0.05, 8).filter(lambda a: abs(a - 1) > 1e-3))
def test_other_orders(counts: list[int], unused: int, alpha: float) -> None:
    size = len(counts) + unused
    if sum(counts):
        found = renyi_efficiency(counts, size, alpha)
        assert found == pytest.approx(direct(counts, size, alpha), abs=1e-9)
        assert 0 <= found <= 1 + 1e-9


@given(POSITIVE, st.floats(1e-12, 1e-6), st.sampled_from([-1, 1]))
def test_no_jump_at_one(counts: list[int], distance: float, sign: int) -> None:
    if sum(counts):
        near = renyi_efficiency(counts, 40, 1 + sign * distance)
        assert near == pytest.approx(renyi_efficiency(counts, 40, 1.0), abs=1e-4)


def test_large_orders_become_the_most_frequent_type() -> None:
    found = renyi_efficiency([6, 3, 1], 10, 50_000.0)
    assert found == pytest.approx(-math.log(0.6) / math.log(10), rel=1e-3)


@pytest.mark.parametrize(("counts", "size"), [([], 5), ([0, 0], 5), ([7], 1), ([7], 0)])
def test_undefined(counts: list[int], size: int) -> None:
    assert math.isnan(renyi_efficiency(counts, size))


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan, math.inf])
def test_alpha_out_of_bounds(alpha: float) -> None:
    with pytest.raises(MorphGraphError, match="above 0"):
        renyi_efficiency([1, 2], 2, alpha)


# --------------------------------------------------------------------------------- counting tokens


def naive(segmenter: Segmenter, words: WordCounts) -> tuple[Counter[int], float]:
    """Count tokens word by word, each segmented on its own."""
    found: Counter[int] = Counter()
    for word, count in words.items():
        for token in segmenter.segment(segmenter.encode([word])).tokens(0):
            found[token] += count
    return found, sum(found.values())


@given(well_formed(widest=2), st.dictionaries(WORDS, st.integers(0, 50), max_size=8))
def test_same_as_word_by_word(merges: MergeList, given_counts: dict[str, int]) -> None:
    types = list(dict.fromkeys(["a", "b", "c", *("".join(parts) for parts in merges)]))
    bpe = Bte(tokeniser_of_types("small", types, merges))
    counts = WordCounts.from_mapping(given_counts)
    found = compress(bpe, counts)
    expected, tokens = naive(bpe, counts)
    assert found.tokens == tokens
    assert found.unknown == expected.pop(UNKNOWN, 0)
    assert dict(enumerate(found.counts)) == {n: expected[n] for n in range(len(types))}
    assert found.words == sum(given_counts.values())
    assert found.characters == sum(len(word) * n for word, n in given_counts.items())
    assert found.dropped == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bpe", "flota", "first", "greedy"])
def test_same_as_word_by_word_with_markers_and_bytes(method: str) -> None:
    segmenter = method_on(load_tokeniser("demo:de"), method)
    words = ["häuser", "it's", "über-all", "🧩", "x", "Straße", "don’t", "Gehweg"]
    counts = WordCounts(words, [3, 1, 4, 1, 5, 9, 2, 6])
    found = compress(segmenter, counts)
    expected, tokens = naive(segmenter, counts)
    assert found.tokens == tokens
    assert {n: int(c) for n, c in enumerate(found.counts) if c} == dict(expected)


def test_dropped_characters_are_in_no_token_and_lengthen_none() -> None:
    """undesirable: the one token kept is desirable; u and n are dropped."""
    flota = Flota(SubwordVocabulary(("un", "desirable", "##desirable", "[UNK]"), "##"), k=1)
    found = compress(flota, WordCounts(["undesirable"], [10]))
    assert (found.tokens, found.characters, found.dropped) == (10, 110, 20)
    assert found.characters_per_token == found.bytes_per_token == 9
    assert found.fertility == 1


@pytest.mark.parametrize(("k", "dropped"), [(1, 2), (2, 1), (3, 1), (4, 0), (5, 0)])
def test_a_character_is_dropped_if_all_its_bytes_are(k: int, dropped: int) -> None:
    """üü is a marker and four bytes, each a token where no merge is applied."""
    bytes_ = method_on(load_tokeniser("demo:en"), "dropout", {"p": 1.0})
    found = compress(First(bytes_, k), WordCounts(["üü"], [3]))
    assert (found.characters, found.bytes) == (6, 12)
    assert (found.dropped, found.dropped_bytes) == (3 * dropped, 6 * dropped)


def test_markers_that_stand_alone_are_tokens() -> None:
    letters = method_on(load_tokeniser("demo:en"), "dropout", {"p": 1.0})
    found = compress(letters, WordCounts(["the", "a"], [2, 5]))
    assert (found.marker_tokens, found.tokens, found.characters) == (7, 4 * 2 + 2 * 5, 11)
    whole = method_on(load_tokeniser("demo:en"), "bpe")
    assert compress(whole, WordCounts(["the"], [2])).marker_tokens == 0


def test_a_word_that_wordpiece_gives_up_is_one_unknown_token() -> None:
    wordpiece = WordPiece(SubwordVocabulary(("un", "##do", "[UNK]"), "##"))
    assert wordpiece.unknown_id == 2
    found = compress(wordpiece, WordCounts(["undo", "undone"], [3, 4]))
    assert (found.unknown, found.tokens) == (4, 10)


def test_nothing_to_count_is_undefined() -> None:
    bpe = Bte(tokeniser_of_types("abc", ["a", "b"], []))
    for counts in (WordCounts([], []), WordCounts(["a"], [0])):
        found = compress(bpe, counts)
        for number in (found.fertility, found.characters_per_token, found.renyi_efficiency()):
            assert math.isnan(number)
        assert math.isnan(found.relative_to(found))


def test_huge_counts_do_not_overflow() -> None:
    bpe = Bte(tokeniser_of_types("abc", ["a", "b"], []))
    words = ["ab" * n for n in range(1, 30)]
    found = compress(bpe, WordCounts(words, [10**15] * len(words)))
    assert found.tokens == pytest.approx(10**15 * sum(2 * n for n in range(1, 30)))


# --------------------------------------------------------------------------------- the corpus


def test_corpus_of_frequencies(small_reference: Callable[..., Any]) -> None:
    tokeniser = tokeniser_of_types("abc", ["a", "b"], [])
    plain = Benchmark.build(tokeniser, small_reference("a b", "b"))
    assert corpus_of(plain) is None
    given_ = Benchmark.build(tokeniser, plain.reference, {"ab": 2.4, "b": 0.2, "a": 0}, "x")
    corpus = corpus_of(given_)
    assert corpus is not None
    assert dict(corpus.counts.items()) == {"ab": 2, "b": 0, "a": 0}
    assert corpus.signature() == f"x@{corpus.checksum}"
    # Several analyses of a word are one word; the counts come with the reference.
    counted = small_reference("a b", "ab", "b", counts=[7, 7, 3])
    found = corpus_of(Benchmark.build(tokeniser, counted))
    assert found is not None
    assert dict(found.counts.items()) == {"b": 3, "ab": 7}
    assert found.name == "small.tsv"


def test_the_checksum_is_of_the_words_and_counts() -> None:
    first = NamedCounts(WordCounts(["a", "b"], [1, 2]), "x")
    assert first.checksum == NamedCounts(WordCounts(["a", "b"], np.array([1, 2])), "y").checksum
    assert first.checksum != NamedCounts(WordCounts(["a", "b"], [1, 3]), "x").checksum
    assert len(NamedCounts(WordCounts(["\ud800"], [1]), "x").checksum) == 12

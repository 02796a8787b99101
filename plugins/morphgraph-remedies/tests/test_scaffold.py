"""Scaffold-BPE: training, and segmenting after it, against naive ones."""

import merge_method_oracles as naive
import oracles
import training_oracles as plain
import wordfreq
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import word_counts

from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.training import train_bpe
from morphgraph_remedies.scaffold import Scaffold, train_scaffold


@examples(500)
@given(
    word_counts("a", 20, 9) | word_counts("ab", 12, 12) | word_counts("abβ語😀", 9, 20),
    st.integers(0, 40) | st.just(1000),
    st.integers(0, 4),
)
def test_trained_as_naive(counts: dict[str, int], size: int, minimum: int) -> None:
    trained = train_scaffold(counts, vocab_size=size, minimum_count=minimum)
    merges, scaffolds = plain.train_scaffold(counts, size, minimum)
    assert list(trained.merges) == merges
    assert trained.scaffolds == scaffolds


def test_by_hand() -> None:
    # a+b (12), then ab+c (9): 3 ab are left, and a+d has 5. Scaffolds leave room for it.
    trained = train_scaffold({"abc": 9, "ab": 3, "ad": 5}, vocab_size=6)
    assert trained.merges == (("a", "b"), ("ab", "c"), ("a", "d"))
    assert trained.scaffolds == {"ab"}
    assert trained.vocabulary == ("a", "b", "c", "d", "abc", "ad")
    # With 6 ab left, it stays.
    trained = train_scaffold({"abc": 9, "ab": 6, "ad": 5}, vocab_size=6)
    assert (len(trained.merges), trained.scaffolds) == (2, frozenset())
    # With as many left as the next pair has, it does not.
    assert train_scaffold({"abc": 9, "ab": 5, "ad": 5}, vocab_size=6).scaffolds == {"ab"}


def test_merges_are_those_of_bpe() -> None:
    frequencies = wordfreq.get_frequency_dict("de", "large")
    counts = {word: 1 + int(f * 1e8) for word, f in list(frequencies.items())[:60_000]}
    trained = train_scaffold(counts, vocab_size=6_000)
    assert len(trained.vocabulary) == 6_000
    assert len(trained.scaffolds) > 300
    assert trained.merges == train_bpe(counts, vocab_size=len(trained.types)).merges


@examples(200)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 9), min_size=1),
    st.lists(st.text("abcd", max_size=12), max_size=6),
    st.integers(3, 30),
)
def test_same_as_naive(counts: dict[str, int], listed: list[str], size: int) -> None:
    trained = train_scaffold(counts, vocab_size=size)
    tokeniser = tokeniser_of_types("trained", trained.types, trained.merges)
    scaffold = Scaffold(tokeniser, trained.scaffolds)
    ranked = oracles.listed(trained.merges)
    listed = [*listed, *counts]
    words = scaffold.encode(listed)
    found = scaffold.segment(words)
    assert ((found.closed_by < 0) == (found.token_at >= 0)).all()
    for number, word in enumerate(listed):
        # Without an unknown token, other characters are left out.
        known = "".join(letter for letter in word if letter in scaffold.types)
        whole = oracles.segment(ranked, known)[0]
        ends = found.token_ends(number)
        shown = [scaffold.token_text(words, atom, token) for atom, token in ends]
        assert shown == naive.demolish(ranked, whole, trained.scaffolds)
    assert scaffold.vocabulary_size == len(trained.vocabulary)
    assert scaffold.name == "Scaffold-BPE"


def test_refuses() -> None:
    tokeniser = tokeniser_of_types("x", ["a", "b", "ab"], ["ab"])
    for wrong in ("a", "abc"):
        with refused():
            Scaffold(tokeniser, [wrong])

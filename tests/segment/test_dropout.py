"""BPE-dropout against a naive one: draw for draw, and in distribution."""

from collections import Counter

import merge_method_oracles as naive
import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import bpe_of, seen, with_words
from tokenizers import Tokenizer, models

from morphgraph.core.files import demo_tokeniser_path
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.segment.bte import Bte, tokeniser_of_types
from morphgraph.segment.dropout import Dropout


def texts(segmenter, found, word):
    words = found.words
    return [segmenter.token_text(words, atom, token) for atom, token in found.token_ends(word)]


@examples(300)
@given(
    with_words(),
    st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    st.sampled_from([0, 1, 2**64 - 1]),
    st.integers(0, 3),
    st.sampled_from([0, 400]),
    st.booleans(),
)
def test_same_as_naive_on_the_same_numbers(drawn, p, seed, sample, filler, queue):
    merges, listed = drawn
    dropout = Dropout(bpe_of(merges, filler), p, seed, queue)
    drop = naive.dropout_by_queue if queue else naive.dropout_in_order
    words = dropout.encode(listed)
    found = dropout.segment(words, sample)
    for number, word in enumerate(listed):
        numbers = naive.splitmix64(seed, sample, number)
        tokens = drop(
            oracles.listed(merges), seen(word), lambda numbers=numbers: next(numbers) >= p
        )
        assert texts(dropout, found, number) == tokens
        start, end = words.word_offsets[number : number + 2]
        assert ((found.closed_by[start:end] < 0) == (found.token_at[start:end] >= 0)).all()


@examples(100)
@given(with_words(), st.booleans())
def test_never_and_always(drawn, queue):
    merges, listed = drawn
    tokeniser = bpe_of(merges)
    words = tokeniser.encode(listed)
    never = Dropout(tokeniser, 0.0, 3, queue).segment(words)
    standard = Bte(tokeniser).segment(words)
    assert (never.token_at == standard.token_at).all()
    assert (never.closed_by == standard.closed_by).all()
    always = Dropout(tokeniser, 1.0, 3, queue).segment(words)
    assert (always.token_at == words.atoms).all()
    assert (always.closed_by == -1).all()


def queue_distribution(word, p):
    """How likely each segmentation is where the library's queue is drawn from.

    The naive program is run along every sequence of draws that is not too unlikely.
    """
    merges = oracles.listed(PAIRS)
    likely = Counter()
    waiting = [()]
    while waiting:
        drawn = waiting.pop()
        left = iter(drawn)
        try:
            tokens = naive.dropout_by_queue(merges, word, lambda left=left: next(left))
        except StopIteration:
            waiting += [(*drawn, True), (*drawn, False)]
            continue
        likely[tuple(tokens)] += (1 - p) ** sum(drawn) * p ** (len(drawn) - sum(drawn))
    assert sum(likely.values()) == pytest.approx(1)
    return likely


PAIRS = [("a", "b"), ("c", "d"), ("ab", "cd"), ("b", "c"), ("a", "bc"), ("abcd", "ab")]


@pytest.mark.slow
def test_the_queue_has_the_distribution_of_the_library():
    """Over 20,000 samples: the exact shares, ours, and those of `tokenizers`, which has no seed."""
    word, p, samples = "abcdab", 0.3, 20_000
    exact = queue_distribution(word, p)
    dropout = Dropout(bpe_of(PAIRS), p, seed=5, queue=True)
    words = dropout.encode([word] * samples)
    found = dropout.segment(words)
    ours = Counter(
        tuple(dropout.types[token] for token in found.tokens(number)) for number in range(samples)
    )
    types = dict.fromkeys("abcd") | dict.fromkeys(x + y for x, y in PAIRS)
    library = Tokenizer(models.BPE({t: n for n, t in enumerate(types)}, PAIRS, dropout=p))
    theirs = Counter(tuple(library.encode(word).tokens) for _ in range(samples))
    by_rule = Dropout(bpe_of(PAIRS), p, seed=5).segment(words)
    whole = sum(len(by_rule.tokens(number)) == 1 for number in range(samples)) / samples
    assert len(exact) > 5
    assert set(ours) | set(theirs) <= set(exact)
    for outcome, share in exact.items():
        spread = (share * (1 - share) / samples) ** 0.5
        assert ours[outcome] / samples == pytest.approx(share, abs=4 * spread + 1e-9)
        assert theirs[outcome] / samples == pytest.approx(share, abs=6 * spread + 1e-9)
    # By the paper's own rule more merges are lost, which the same samples tell.
    assert whole < exact[("abcdab",)] - 0.02


@pytest.mark.slow
def test_a_word_depends_on_its_place_only():
    tokeniser = from_tokenizer_json(demo_tokeniser_path("en").read_bytes(), "en")
    dropout = Dropout(tokeniser, 0.4, seed=5)
    listed = ["undoing", "a-b c", "segmentation", ""] * 5000
    words = dropout.encode(listed)
    one = dropout.segment(words, 2, threads=1)
    two = dropout.segment(words, 2, threads=2)
    assert (one.token_at == two.token_at).all() and (one.closed_by == two.closed_by).all()
    others = [word if n % 4 == 2 else "tokenisers" for n, word in enumerate(listed)]
    mixed = dropout.segment(dropout.encode(others), 2)
    found = [tuple(one.tokens(n)) for n in range(2, 400, 4)]
    assert found == [tuple(mixed.tokens(n)) for n in range(2, 400, 4)]
    assert len(set(found)) > 10
    first, second = dropout.samples(words, 2)
    assert (first.token_at == dropout.segment(words).token_at).all()
    assert (first.token_at != second.token_at).any()
    assert (first.token_at != Dropout(tokeniser, 0.4, seed=6).segment(words).token_at).any()


@pytest.mark.parametrize(("p", "seed"), [(-0.1, 0), (1.1, 0), (float("nan"), 0), (0.1, -1)])
def test_refuses(p, seed):
    with refused():
        Dropout(tokeniser_of_types("x", "a", []), p, seed)

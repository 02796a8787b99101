"""LiteToken against the plainest counting, splitting and merging again, and by hand."""

import json
from collections import Counter
from math import isnan, log2
from typing import Any

import merge_method_oracles as naive
import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import WORDS, MergeList, bpe_of, seen, token_texts, well_formed

from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.models import read_model, write_model
from morphgraph.segment.segmenter import method_on, segmenter_of
from morphgraph_remedies.finality import finality
from morphgraph_remedies.litetoken import LiteToken, LiteTokenParameters, residues


def again(merges: MergeList, tokens: list[str], doomed: set[str]) -> list[str]:
    """Merges whose result is no residue, lowest rank first, leftmost."""
    kept = [parts for parts in merges if "".join(parts) not in doomed]
    tokens = list(tokens)
    while True:
        for parts in kept:
            n = len(parts)
            at = [i for i in range(len(tokens)) if tuple(tokens[i : i + n]) == parts]
            if at:
                tokens[at[0] : at[0] + n] = ["".join(parts)]
                break
        else:
            return tokens


@examples(800)
@given(well_formed(), st.lists(WORDS, max_size=5), st.data())
def test_same_as_naive(merges: MergeList, texts: list[str], data: st.DataObject) -> None:
    made = sorted({"".join(parts) for parts in merges})
    doomed = set(data.draw(st.lists(st.sampled_from(made)))) if made else set()
    lite, ranked = LiteToken(bpe_of(merges), doomed), oracles.listed(merges)
    wholes = [oracles.segment(ranked, seen(text))[0] for text in texts]
    expected = []
    for tokens in wholes:
        split = naive.demolish(ranked, tokens, doomed)
        listed = [ranked[rank] for rank in sorted(ranked)]
        expected.append(split if split == tokens else again(listed, split, doomed))
    assert token_texts(lite, texts) == expected
    assert not doomed & {token for tokens in expected for token in tokens}
    words = lite.encode(texts)
    found = lite.segment(words)
    assert ((found.closed_by >= 0) == (found.token_at == -1)).all()
    assert lite.vocabulary_size == lite.tokeniser.vocabulary_size - len(doomed)


def entropy(beside: Counter[str]) -> float:
    every = sum(beside.values())
    return -sum(n / every * log2(n / every) for n in beside.values())


@examples(800)
@given(well_formed(widest=3), st.dictionaries(WORDS.filter(bool), st.integers(1, 4), min_size=1))
def test_counts_and_neighbours_as_naive(merges: MergeList, corpus: dict[str, int]) -> None:
    tokeniser = bpe_of(merges)
    final: Counter[str] = Counter()
    merged: Counter[str] = Counter()
    sides: tuple[dict[str, Counter[str]], dict[str, Counter[str]]] = ({}, {})
    for word, count in corpus.items():
        tokens, applied = applied_by(merges, seen(word))
        for parts in applied:
            for part in parts:
                merged[part] += count
        for at, token in enumerate(tokens):
            final[token] += count
            beside = tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""
            for side, one in zip(sides, beside, strict=True):
                side.setdefault(token, Counter())[one] += count
    found = finality(tokeniser, WordCounts.from_mapping(corpus))
    for number, text in enumerate(tokeniser.types):
        assert (found.final[number], found.merged[number]) == (final[text], merged[text])
        for side, bits in zip(sides, (found.left, found.right), strict=True):
            assert bits[number] == pytest.approx(
                entropy(side.get(text, Counter({"": 1}))), abs=1e-9
            )
        every = final[text] + merged[text]
        assert isnan(found.ratio[number]) if not every else True
        assert not every or found.ratio[number] == pytest.approx(final[text] / every)


def applied_by(merges: MergeList, word: str) -> tuple[list[str], list[tuple[str, ...]]]:
    tokens, applied = list(word), []
    while True:
        for parts in oracles.listed(merges).values():
            n = len(parts)
            at = [i for i in range(len(tokens)) if tuple(tokens[i : i + n]) == parts]
            if at:
                tokens[at[0] : at[0] + n] = ["".join(parts)]
                applied.append(parts)
                break
        else:
            return tokens, applied


def test_by_hand() -> None:
    """The example of a, b, c, ab, abc, bc: R(ab) = 1 ÷ 4, R(abc) = R(bc) = 1."""
    types, merges = ["a", "b", "c", "ab", "abc", "bc"], ["ab", ("ab", "c"), "bc"]
    tokeniser, counts = (
        tokeniser_of_types("t", types, merges),
        WordCounts(["abc", "ab", "bc"], [3, 1, 2]),
    )
    found = finality(tokeniser, counts)
    assert found.ratio.tolist() == [0, 0, 0, 0.25, 1, 1]
    some = LiteTokenParameters(ratio=0.3, occurrences=4)
    assert residues(tokeniser, counts, some) == ["ab"]
    for other in ({"ratio": 0.25}, {"occurrences": 5}, {"entropy": 0.0}):
        assert residues(tokeniser, counts, some.changed(**other)) == []
    lite = method_on(tokeniser, "litetoken", dict(some), counts)
    # abc is ab c by merges: ab is inside abc, which stays; alone it goes.
    assert token_texts(lite, ["abc", "ab", "abab"]) == [["abc"], ["a", "b"], ["a", "b", "a", "b"]]
    assert lite.signature().startswith("LiteToken (ours)(ratio=0.3,occurrences=4,entropy=1.0,resid")


def test_what_never_occurs_is_unseen_and_added_tokens_stay() -> None:
    tokeniser = tokeniser_of_types("t", ["a", "b", "ab", "<s>"], ["ab"])
    assert residues(tokeniser, WordCounts(["b"], [500])) == []
    with refused():
        LiteToken(tokeniser, ["<s>"])
    with refused():
        method_on(tokeniser, "litetoken")


def test_a_real_tokeniser_and_its_document() -> None:
    tokeniser, counts = load_tokeniser("demo:en"), wordfreq_counts("en", wordlist="small")
    lite: Any = method_on(tokeniser, "litetoken", {}, counts)
    assert 0.02 < len(lite.residues) / tokeniser.graph.merge_count < 0.12
    texts = ["important", "muscle", "relig", "import"]
    for copy in (
        segmenter_of(json.loads(json.dumps(lite.document()))),
        read_model(write_model(lite), "m"),
    ):
        assert token_texts(copy, texts) == token_texts(lite, texts)
        assert copy.signature() == lite.signature()

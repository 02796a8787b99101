"""Trimming against a naive one, and by hand."""

import json
from collections import Counter

import merge_method_oracles as naive
import numpy as np
import oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import bpe_of, seen, token_texts, with_words

from morphgraph.core.files import demo_tokeniser_path
from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.trimmed import Trimmed, token_counts


@examples(300)
@given(with_words(), st.data())
def test_same_as_naive(drawn, data):
    merges, listed = drawn
    tokeniser = bpe_of(merges)
    graph = tokeniser.graph
    corpus = data.draw(st.dictionaries(st.sampled_from([*listed, "abc", "ca"]), st.integers(0, 4)))
    ranked = oracles.listed(merges)
    counted = Counter()
    for word, count in corpus.items():
        for token in oracles.segment(ranked, seen(word))[0]:
            counted[token] += count
    counts = token_counts(tokeniser, WordCounts.from_mapping(corpus))
    assert {t: int(n) for t, n in zip(graph.types, counts, strict=True) if n} == {
        t: n for t, n in counted.items() if n and t in graph
    }
    threshold = data.draw(st.integers(0, 6))
    trimmed = Trimmed(tokeniser, counts, threshold)
    made = {"".join(parts) for parts in merges}
    doomed = {type_ for type_ in made if counted[type_] <= threshold}
    wholes = [oracles.segment(ranked, seen(word))[0] for word in listed]
    assert token_texts(trimmed, listed) == [
        naive.demolish(ranked, tokens, doomed) for tokens in wholes
    ]
    assert trimmed.vocabulary_size == len(graph.types) - len(doomed)


def test_parts_that_no_merge_forms():
    """The first merge of "abc" uses "ab", which never comes to be: its text tells its width."""
    types = ["a", "b", "c", "bc", "abc", "ab"]
    tokeniser = tokeniser_of_types("odd", types, [("ab", "c"), ("b", "c"), ("a", "bc")])
    trimmed = Trimmed(tokeniser, [9, 9, 9, 9, 0, 9], 0)
    assert token_texts(trimmed, ["abc", "cabc"]) == [["ab", "c"], ["c", "ab", "c"]]


def test_trimmed_to_a_size():
    """The rarest go, of equals the last; atoms never, however rare."""
    types = ["a", "b", "c", "ab", "bc", "abc"]
    tokeniser = tokeniser_of_types("sized", types, [("a", "b"), ("b", "c"), ("ab", "c")])
    counts = np.array([0, 0, 0, 2, 1, 1])
    left = {n: Trimmed(tokeniser, counts, vocab_size=n) for n in (3, 4, 5, 6)}
    gone = {n: [types[number] for number in sorted(one.absent)] for n, one in left.items()}
    assert gone == {3: ["ab", "bc", "abc"], 4: ["bc", "abc"], 5: ["abc"], 6: []}
    assert [one.vocabulary_size for one in left.values()] == [3, 4, 5, 6]
    copy = Trimmed.from_document(json.loads(json.dumps(left[5].document())))
    assert copy.signature() == left[5].signature() != left[4].signature()
    assert copy.absent == left[5].absent
    for impossible in (2, 7):
        with refused():
            Trimmed(tokeniser, counts, vocab_size=impossible)


def test_added_tokens_stay():
    tokeniser = tokeniser_of_types("x", ["a", "b", "ab", "<s>"], ["ab"])
    assert tokeniser.special == {"<s>"}
    trimmed = Trimmed(tokeniser, np.zeros(4), 0)
    assert token_texts(trimmed, ["ab<s>"]) == [["a", "b", "<s>"]]
    assert trimmed.vocabulary_size == 3


def test_later_edits_of_a_tokeniser_change_nothing():
    tokeniser = from_tokenizer_json(demo_tokeniser_path("en").read_bytes(), "en")
    tokeniser.graph.knockout(["Ġof"])
    words = wordfreq_counts("en", wordlist="small").items()
    second = WordCounts.from_mapping({word: count for word, count in words if count >= 20_000})
    counts = token_counts(tokeniser, second)
    trimmed = Trimmed(tokeniser, counts, 50_000)
    assert 100 < tokeniser.vocabulary_size - trimmed.vocabulary_size < 7_000
    listed = ["offspring", "unbelievable", "naïve", "segmentation", "it's"]
    found = token_texts(trimmed, listed)
    signature, size = trimmed.signature(), trimmed.vocabulary_size
    tokeniser.graph.knockout(["Ġthe"])  # later edits are not its business
    tokeniser.graph.anneal([("語", "e")], atoms=["語"])
    assert "語" in tokeniser.alphabet and len(token_texts(trimmed, ["語e"])[0]) == 5
    assert (token_texts(trimmed, listed), trimmed.signature(), trimmed.vocabulary_size) == (
        found,
        signature,
        size,
    )

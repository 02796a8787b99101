"""Outcomes of all segmenters against a naive one made of spans; golden ones by hand."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
import score_oracles as naive
import substring_oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from small import reference_of, small_tokeniser
from small import small_entry as entry
from strategies import bpe_of, seen, with_words
from tokenizers import normalizers, pre_tokenizers

from morphgraph.reference.entry import Entry
from morphgraph.score.gold_set import Cuts, GoldSet
from morphgraph.score.metrics import Tally
from morphgraph.score.outcome import gold_strings, ideal, outcome_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.flota import First, Flota, Longest
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.preprocess import Preprocessor, printable_bytes
from morphgraph.tokeniser.vocabulary import BYTES, SubwordVocabulary

MARKERS = st.sampled_from(("##", "Ġ", "▁", ""))
WORDS = st.lists(st.text("abcd", min_size=1, max_size=9), min_size=1, max_size=5)
BYTES_OF = st.lists(st.text("aäö字", min_size=1, max_size=6), min_size=1, max_size=4)


def gold_set_of(words):
    return GoldSet.of(reference_of(*(Entry(word, (word,)) for word in words)))


def found_in(outcome):
    """An outcome word by word."""
    strings = outcome.strings.lists
    assert outcome.pieces.tolist() == [len(row) for row in strings]
    if outcome.segmentation is not None:  # whoever asks it for splits gets those that score
        for number in range(len(strings)):
            assert sorted(set(outcome.segmentation.splits(number))) == outcome.splits(number)
    return [
        naive.Found(
            outcome.splits(number),
            strings[number],
            int(outcome.left_out[number]),
            int(outcome.tokens[number]),
            int(outcome.inside[number]),
            int(outcome.tokens[number] - outcome.parts[number]),
        )
        for number in range(len(strings))
    ]


def outcomes(segmenter, words):
    return found_in(outcome_of(segmenter, gold_set_of(words)))


def from_readable(segmenter, words, marker="", *, byte_level=False):
    """The naive outcome of tokens that cover all of each word, from their own strings."""
    outcome = outcome_of(segmenter, gold_set_of(words))
    rows = []
    for number, word in enumerate(words):
        tokens = outcome.token_texts(number)
        if byte_level:
            tokens = [segmenter.types[token] for token in outcome.segmentation.tokens(number)]
        inner = [token.removeprefix("##") for token in tokens[1:]]
        spans, alone = naive.spans([*tokens[:1], *inner], marker)
        assert spans[-1][1] == len(printable_bytes(word) if byte_level else word)
        rows.append(naive.outcome(word, spans, alone, byte_level=byte_level))
    return rows


def marked(marker):
    """Words stand in running text: the space before one is its marker."""
    if marker in ("##", ""):
        return Preprocessor()
    return Preprocessor(normalizer=normalizers.Replace(" ", marker), leading_space=True)


def byte_level():
    return Preprocessor(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        byte_level=True,
        leading_space=True,
    )


@st.composite
def vocabularies(draw, alphabet="abc"):
    """Random types with and without the marker, and sometimes the marker alone."""
    marker = draw(MARKERS)
    bodies = st.tuples(st.text(alphabet, min_size=1, max_size=4), st.booleans())
    types = [(marker if m else "") + body for body, m in draw(st.lists(bodies, min_size=1))]
    if marker in ("Ġ", "▁") and draw(st.booleans()):
        types.append(marker)
    # With an unknown token, every atom of a word is in some token.
    types = [*dict.fromkeys(types), "[UNK]"]
    return SubwordVocabulary(tuple(types), marker, marked(marker), frozenset({"[UNK]"}), "[UNK]")


@examples(200)
@given(vocabularies(), WORDS, st.sampled_from([1, 2, 3, None]))
def test_flota(vocabulary, words, k):
    types, marker = vocabulary.types[:-1], vocabulary.marker
    found = [substring_oracles.flota([word], types, marker, k or 99) for word in words]
    expected = [
        naive.outcome(word, [(start, end) for _, start, end in tokens])
        for word, tokens in zip(words, found, strict=True)
    ]
    assert outcomes(Flota(vocabulary, k), words) == expected


@examples(150)
@given(vocabularies(), WORDS)
def test_greedy(vocabulary, words):
    marker = vocabulary.marker if vocabulary.marker in ("Ġ", "▁") else ""
    greedy = Greedy(vocabulary)
    expected = from_readable(greedy, words, marker)
    assert outcomes(greedy, words) == expected
    for word, found in zip(words, expected, strict=True):
        tokens = substring_oracles.greedy(marker + word, vocabulary.types[:-1], vocabulary.marker)
        assert found.tokens == len(tokens)


@examples(150)
@given(with_words(), st.integers(1, 3))
def test_merges_first_and_longest(drawn, k):
    merges, words = drawn
    words = list(filter(None, map(seen, words))) or ["a"]
    tokeniser = bpe_of(merges)
    listed = oracles.listed(merges)
    cut = [oracles.segment(listed, word)[0] for word in words]
    spans = [naive.spans(tokens)[0] for tokens in cut]
    assert outcomes(Bte(tokeniser), words) == [*map(naive.outcome, words, spans)]
    assert outcomes(First(Bte(tokeniser), k), words) == [
        naive.outcome(word, found[:k]) for word, found in zip(words, spans, strict=True)
    ]
    longest = [substring_oracles.longest([("", *span) for span in found], k) for found in spans]
    assert outcomes(Longest(Bte(tokeniser), k), words) == [
        naive.outcome(word, [(start, end) for _, start, end in found])
        for word, found in zip(words, longest, strict=True)
    ]


@st.composite
def byte_vocabularies(draw):
    """Types that may begin and end inside a character, and some bytes of their own."""
    text = printable_bytes("aäö字" * 2)
    cut = st.tuples(st.integers(0, len(text) - 1), st.integers(1, 5))
    bodies = [text[start : start + length] for start, length in draw(st.lists(cut, max_size=12))]
    types = [*bodies, *("Ġ" + body for body in bodies[::2]), *sorted(set(text)), "Ġ", "[UNK]"]
    return SubwordVocabulary(
        tuple(dict.fromkeys(types)), "Ġ", byte_level(), frozenset({"[UNK]"}), "[UNK]"
    )


@examples(200)
@given(byte_vocabularies(), BYTES_OF)
def test_bytes(vocabulary, words):
    for segmenter in (Greedy(vocabulary), Flota(vocabulary)):
        found = outcomes(segmenter, words)
        if isinstance(segmenter, Greedy):
            assert found == from_readable(segmenter, words, "Ġ", byte_level=True)
        assert [row.left_out for row in found] == [0] * len(words)


@examples(200)
@given(byte_vocabularies(), BYTES_OF, st.integers(1, 3))
def test_characters_with_a_byte_in_a_token_are_not_left_out(vocabulary, words, k):
    """Whether a token holds the first or the last of their bytes."""
    for word, found in zip(words, outcomes(Flota(vocabulary, k), words), strict=True):
        spelled = printable_bytes(word)
        one = [0] * len(spelled)  # letters only
        tokens = substring_oracles.flota([spelled], vocabulary.types[:-1], "Ġ", k, unit=one)
        expected = naive.outcome(word, [span for _, *span in tokens], byte_level=True)
        numbers = (expected.tokens, expected.inside, expected.left_out)
        assert (found.tokens, found.inside, found.left_out) == numbers
        if not expected.inside:  # no token begins or ends inside a character
            assert found == expected


@examples(150)
@given(BYTES_OF)
def test_bytes_as_a_fallback(words):
    spaces = replace(marked("▁"), byte_fallback=True)
    vocabulary = SubwordVocabulary(("▁a", "aa", "字", *BYTES), "▁", spaces)
    for word, found in zip(words, outcomes(Greedy(vocabulary), words), strict=True):
        assert found.inside == word.count("ä") + word.count("ö")
        assert found.left_out == 0
        assert "".join(found.pieces) == word


def test_bare_words_have_no_marker():
    vocabulary = SubwordVocabulary(("▁", "▁a", "b", "a"), "▁", marked("▁"))
    bare = GoldSet.of(reference_of(entry("ba")), bare=True)
    [found] = found_in(outcome_of(Greedy(vocabulary), bare))
    assert found == naive.Found([1], ["b", "a"], 0, 2, 0)


UNKNOWN_A = SubwordVocabulary(("a", "[UNK]"), special=frozenset({"[UNK]"}), unknown="[UNK]")
LETTERS = ("Ġ", "b", "Ã", "¤", "r", "e", "n")


def normalised(types, normalizer):
    return Greedy(SubwordVocabulary(tuple(types), "", Preprocessor(normalizer=normalizer)))


def of_bytes(*types):
    return Greedy(SubwordVocabulary((*LETTERS, *types), "Ġ", byte_level()))


EDGES = {
    "each unknown character is a token": (
        Greedy(UNKNOWN_A), {"axya": ([1, 2, 3], ["a", "x", "y", "a"], 0, 4, 0)}),
    "a run of unknown characters is one": (
        Unigram(UNKNOWN_A, [-1.0, -2.0]), {"axya": ([1, 3], ["a", "xy", "a"], 0, 3, 0)}),
    "a word that cannot be finished is one token": (
        WordPiece(UNKNOWN_A), {"axya": ([], ["axya"], 0, 1, 0)}),
    "e + accent is one atom: no gap between them, though these are two characters": (
        normalised("abcdeéfi", normalizers.NFC()),
        {"ae\u0301b": ([1, 3], ["a", "e\u0301", "b"], 0, 3, 0)}),
    "a ligature becomes f and i: a split between them is inside a character": (
        normalised("abcdeéfi", normalizers.NFKC()),
        {"aﬁb": ([1, 2], ["a", "ﬁ", "b"], 0, 4, 1)}),
    "what vanishes belongs to its left neighbour": (
        normalised("ab", normalizers.Replace("x", "")),
        {"xx": ([], [], 2, 0, 0), "ab": ([1], ["a", "b"], 0, 2, 0),
         "axb": ([2], ["ax", "b"], 0, 2, 0)}),
    # Ġ b Ã ¤ r | e n: the gaps b|ä, ä|r, r|e, e|n are open.
    "Ġ is a token, and ä has one split": (
        of_bytes(), {"bären": ([1, 2, 3, 4], ["b", "ä", "r", "e", "n"], 0, 7, 1, 1)}),
    "bytes merged": (
        of_bytes("Ġb", "Ã¤r", "en"), {"bären": ([1, 3], ["b", "är", "en"], 0, 3, 0)}),
    "a token over the end of a character and the next: bÃ ¤r en": (
        of_bytes("ĠbÃ", "¤r", "en"), {"bären": ([3], ["bär", "en"], 0, 3, 1)}),
    "a marker alone is a token but no piece": (
        Greedy(SubwordVocabulary(("▁", "▁a", "b", "a"), "▁", marked("▁"))),
        {"ba": ([1], ["b", "a"], 0, 3, 0, 1), "ab": ([1], ["a", "b"], 0, 2, 0)}),
    # FLOTA, k = 1: xy|abc|zz; without any type: one piece in no token; the word itself a type.
    "what is left out stays together": (
        Flota(SubwordVocabulary(("abc", "b")), 1),
        {"xyabczz": ([2, 5], ["abc"], 4, 1, 0), "xyz": ([], [], 3, 0, 0),
         "abc": ([], ["abc"], 0, 1, 0), "": ([], [], 0, 0, 0), "abcabc": ([3], ["abc"], 3, 1, 0)}),
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_edges_by_hand(name):
    segmenter, expected = EDGES[name]
    assert outcomes(segmenter, list(expected)) == [
        naive.Found(*found) for found in expected.values()
    ]


GOLD = reference_of(
    entry("un do ing / undoing"),
    entry("bär"),
    entry("subsid is ed", underlying=("subside", "ise", "ed")),
    entry("😀 s / 😀 s"),
)


def test_what_encodes_alike_shares_the_words():
    tokeniser = small_tokeniser([("u", "n"), ("d", "o")], "ing")
    other = small_tokeniser([("i", "n"), ("d", "o")], "ung")
    gold_set = gold_set_of(["undo", "undoing"])
    before, after = Bte(tokeniser), Bte(tokeniser.copy())
    after.tokeniser.graph.knockout(["un"])
    first, second, third = (outcome_of(each, gold_set) for each in (before, after, Bte(other)))
    words = [each.segmentation and each.segmentation.words for each in (first, second, third)]
    assert words[0] is words[1] and first.splits(0) != second.splits(0)
    assert words[2] is not words[0]
    assert third.splits(1) == [1, 2, 4, 6]


def test_the_ideal_is_the_gold():
    outcome = ideal(GoldSet.of(GOLD))
    assert found_in(outcome) == [
        naive.Found([2, 4], ["un", "do", "ing"], 0, 3, 0),
        naive.Found([], ["bär"], 0, 1, 0),
        naive.Found([6, 8], ["subsid", "is", "ed"], 0, 3, 0),
        naive.Found([1], ["😀", "s"], 0, 2, 0),
    ]
    assert (outcome.label, outcome.tokeniser, outcome.vocabulary_size) == ("Ideal", "gold", 9)
    assert outcome.token_texts(0) == ["un", "do", "ing"]
    assert Tally(outcome, "morphemic", "types").hits.tolist() == [2, 0, 2, 1]
    assert Tally(outcome, "whole-word", "types").hits.tolist() == [0, 0, 0, 1]


def test_gold_strings():
    gold_set = GoldSet.of(GOLD)
    assert gold_strings(gold_set, "morphemic").lists == [[*e.morphs] for e in GOLD.entries]
    assert gold_strings(gold_set, "whole-word").lists == [["undoing"], [], [], ["😀", "s"]]
    own = [["un", "do", "ing"], ["bär"], ["subside", "ise", "ed"], ["😀", "s"]]
    assert gold_strings(gold_set, "morphemic", underlying=True).lists == own


def test_half_a_character_in_a_token_by_hand():
    # FLOTA, k = 1, takes bÃ: b and half of ä are in a token, r is not. Then ¤r: b alone is not.
    letters = ("b", "Ã", "¤", "r")
    for token, left_out in (("bÃ", 1), ("¤r", 1), ("ĠbÃ", 1), ("Ã¤", 2)):
        flota = Flota(SubwordVocabulary((*letters, token), "Ġ", byte_level()), 1)
        [found] = outcomes(flota, ["bär"])
        assert (token, found.left_out, len(found.pieces)) == (token, left_out, 1)


@given(st.lists(st.lists(st.integers(1, 12), max_size=9), max_size=8))
def test_cuts_at_places_in_any_order(places):
    flat = [(word, place) for word, found in enumerate(places) for place in found][::-1]
    words, at = (np.array([row[n] for row in flat], np.int64) for n in (0, 1))
    cuts = Cuts.at(words, at, len(places))
    expected = [sorted(set(found)) for found in places]
    assert cuts.positions.tolist() == [place for found in expected for place in found]
    assert np.diff(cuts.offsets).tolist() == [len(found) for found in expected]

"""FLOTA, FIRST and LONGEST against naive oracles, and on published vocabularies."""

import csv

import pytest
import substring_oracles as oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from morphgraph.formats.loading import load_vocabulary
from morphgraph.kernels import DROPPED, INSIDE_TOKEN
from morphgraph.segment.flota import First, Flota, Longest
from morphgraph.segment.segmenter import segmenter_of
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

BODIES = st.text("abc-", min_size=1, max_size=5)
MARKERS = st.sampled_from(("##", "Ġ", "▁", ""))


@st.composite
def vocabularies(draw):
    """Random types, with and without the marker."""
    marker = draw(MARKERS)
    bodies = draw(st.lists(st.tuples(BODIES, st.booleans()), min_size=1, max_size=25))
    types = dict.fromkeys((marker if marked else "") + body for body, marked in bodies)
    return SubwordVocabulary(tuple(types), marker)


def tokens_of(segmenter, text, marker=""):
    """The tokens of a word with the characters they cover, counted without the marker.

    Also checks that ``closed_by`` and ``token_at`` say the same.
    """
    return cut(segmenter, marker + text, len(marker))


def cut(segmenter, text, marker):
    """The tokens of a text whose first atoms, so many, are a marker."""
    found = segmenter.segment(segmenter.encode([text]))
    tokens = []
    at = start = -marker
    for closed, token in zip(found.closed_by.tolist(), found.token_at.tolist(), strict=True):
        at += 1
        assert (closed >= 0) == (token == INSIDE_TOKEN)
        if token >= 0:
            tokens.append((segmenter.types[token], max(start, 0), at))
        if token != INSIDE_TOKEN:
            start = at
    return tokens


@examples(600)
@given(vocabularies(), st.text("abcd-", max_size=14), st.none() | st.integers(1, 5), st.booleans())
def test_as_oracle(vocabulary, word, k, strict):
    marker = vocabulary.marker
    strict = strict and marker == "##"
    found = tokens_of(Flota(vocabulary, k, strict), word, marker if marker != "##" else "")
    assert found == oracles.flota([word], vocabulary.types, marker, k or 99, strict)


@examples(300)
@given(st.sampled_from(["##", ""]), st.data())
def test_pieces_as_oracle(marker, data):
    """No token crosses the ends of pieces; k counts for each unit."""
    bodies = data.draw(st.lists(st.text("ab=", min_size=1, max_size=4), min_size=1, unique=True))
    types = dict.fromkeys([*bodies, *(marker + body for body in bodies[::2])])
    pieces = data.draw(st.lists(st.text("abc", max_size=4).map(lambda t: t + "="), max_size=3))
    from tokenizers import pre_tokenizers

    split = Preprocessor(pre_tokenizer=pre_tokenizers.Split("=", "merged_with_previous"))
    k = data.draw(st.integers(1, 6))
    flota = Flota(SubwordVocabulary(tuple(types), marker, split), k)
    found = tokens_of(flota, "".join(pieces))
    assert found == oracles.flota(pieces, types, marker, k)


def test_k_counts_for_each_word_and_mark_of_a_text():
    vocabulary = SubwordVocabulary(("ab", "##ab", "c", "##c", "-", ","), "##", bert())
    text, words = "abc, abcab ab-abc", ["ab", "c", ",", "ab", "c", "ab", "ab", "-", "ab", "c"]
    of_first = [0, 2, 3, 6, 7, 8]  # the places of those that are kept with k = 1

    def bodies(segmenter):
        found = segmenter.segment(segmenter.encode([text], bare=True))
        return [segmenter.types[token].removeprefix("##") for token in found.tokens(0)]

    assert bodies(Flota(vocabulary)) == words
    assert bodies(Flota(vocabulary, 1)) == [words[place] for place in of_first]
    assert bodies(First(WordPiece(vocabulary), 1)) == [words[place] for place in of_first]
    assert bodies(Longest(WordPiece(vocabulary), 1)) == [words[place] for place in of_first]
    assert bodies(Longest(WordPiece(vocabulary), 2)) == words[:4] + words[5:]


def bert():
    from tokenizers import pre_tokenizers

    return Preprocessor(pre_tokenizer=pre_tokenizers.BertPreTokenizer())


def test_strict_takes_no_internal_form_at_the_start():
    vocabulary = SubwordVocabulary(("##ab", "a", "##b", "b"), "##")
    assert [found for found, *_ in tokens_of(Flota(vocabulary), "abab")] == ["##ab", "##ab"]
    assert [found for found, *_ in tokens_of(Flota(vocabulary, strict=True), "abab")] == [
        *("a", "##b", "##ab")
    ]
    flota = Flota(vocabulary, 2, strict=True)
    assert flota.signature().startswith("FLOTA(k=2,strict=true):")
    assert segmenter_of(flota.document()).parameters == {"k": 2, "strict": True}
    with refused():
        Flota(SubwordVocabulary(("▁a",), "▁"), strict=True)


@pytest.mark.parametrize(("k", "tokens"), [(1, 8.3), (2, 10.5), (3, 11.4), (4, 11.6)])
def test_tokens_of_a_title(data_folder, k, tokens):
    """The mean over titles of arXiv's physics papers, as Hofmann et al.'s program has it."""
    flota = Flota(load_vocabulary(data_folder / "vocabularies/bert-base-uncased.txt"), k)
    with (data_folder / "text/arxiv-physics-dev.csv").open(encoding="utf-8") as file:
        titles = [row["text"] for row in csv.DictReader(file)]
    found = flota.segment(flota.encode(titles, bare=True))
    assert round((found.token_at >= 0).sum() / len(titles), 1) == tokens


def test_dropped_characters_are_open_on_both_sides():
    flota = Flota(SubwordVocabulary(("ab", "cd", "e")), k=2)
    found = flota.segment(flota.encode(["abecdx"]))
    assert found.token_at.tolist() == [-1, 0, DROPPED, -1, 1, DROPPED]
    assert found.closed_by.tolist() == [0, -1, -1, 1, -1, -1]
    assert found.splits(0) == [2, 3, 5]
    assert found.words.unknown == {5: "x"}


@pytest.mark.parametrize(
    "path",
    [
        "vocabularies/bert-base-uncased.txt",
        "vocabularies/xlnet-base-cased.txt",
        "tokenizers/gpt2/vocab.json",
    ],
)
def test_published_vocabularies_as_oracle(data_folder, path):
    from wordfreq import top_n_list

    vocabulary = load_vocabulary(data_folder / path)
    words = [word for word in top_n_list("en", 30_000) if word.isascii() and word.isalpha()][::40]
    known = frozenset(vocabulary.types)
    flota = Flota(vocabulary, k=3)
    found = flota.segment(flota.encode(words))
    for number, word in enumerate(words):
        expected = oracles.flota([word], known, vocabulary.marker, 3)
        assert [vocabulary.types[t] for t in found.tokens(number)] == [t for t, *_ in expected]


def test_a_bare_text_has_no_marker(data_folder):
    vocabulary = load_vocabulary(data_folder / "tokenizers/gpt2/vocab.json")
    flota = Flota(vocabulary)
    found = flota.segment(flota.encode(["hyper", "undesirable"], bare=True))
    assert [vocabulary.types[token] for token in found.tokens(0)] == ["hyper"]
    # Without its marker the word does not start: its internal forms are preferred.
    assert "undesirable" not in vocabulary.ids
    assert [vocabulary.types[token] for token in found.tokens(1)] == ["Ġundesirable"]


@examples(300)
@given(vocabularies(), st.text("abcd-", max_size=12), st.integers(1, 4), st.integers(1, 3))
def test_baselines_as_oracle(vocabulary, word, k, most):
    if not word:
        return
    marker = len(vocabulary.marker) if vocabulary.marker != "##" else 0
    if marker:  # it stands for the space before a word, and does not count
        spaces = _spaces(vocabulary.marker)
        vocabulary = SubwordVocabulary(vocabulary.types, vocabulary.marker, spaces)
    special = {"special": frozenset({"<unk>"}), "unknown": "<unk>"}
    with_unknown = SubwordVocabulary((*vocabulary.types, "<unk>"), vocabulary.marker, **special)
    for standard in (Greedy(with_unknown), Flota(vocabulary, most)):
        if standard.method == "greedy" and marker:
            continue  # a marker may be a token of its own there: see the test below
        tokens = cut(standard, word, marker)
        first = oracles.by_unit(word, tokens, oracles.first, k)
        longest = oracles.by_unit(word, tokens, oracles.longest, k)
        assert cut(First(standard, k), word, marker) == first
        assert cut(Longest(standard, k), word, marker) == longest


def test_a_marker_breaks_no_tie():
    greedy = Greedy(SubwordVocabulary(("Ġab", "cde", "Ġ"), "Ġ", _spaces()))
    words = greedy.encode(["abcde"])
    assert [greedy.types[t] for t in greedy.segment(words).tokens(0)] == ["Ġab", "cde"]
    assert [greedy.types[t] for t in Longest(greedy, 1).segment(words).tokens(0)] == ["cde"]


def _spaces(marker="Ġ"):
    from tokenizers import normalizers

    return Preprocessor(normalizer=normalizers.Replace(" ", marker), leading_space=True)

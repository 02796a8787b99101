"""Pipelines before training: each rule by hand, and in Hugging Face's library as in ours."""

import json
import unicodedata
from functools import partial

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused
from tokenizers import Tokenizer

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import (
    AT_CONTRACTION,
    AT_DIGITS,
    AT_HYPHENS,
    CAPITAL,
    KEPT_ASCII,
    PIPELINES,
    covered_characters,
    mark_capitals,
    prepare,
    restore_capitals,
    split_apostrophes,
    split_off,
    split_outer_punctuation,
)
from morphgraph.corpus.word_array import WordArray
from morphgraph.segment.training import components
from morphgraph.tokeniser.preprocess import printable_bytes


def pieces(pipeline, counts, **options):
    return dict(prepare(pipeline, counts, **options).counts.items())


RULES = {
    partial(split_off, AT_CONTRACTION): [
        *("do|n't", "DO|N'T", "ca|n’t", "she|'ll|'ve", "mother|'s|-in-law", "they|'re", "I|'m"),
        "o'clock",  # 'c is no contraction
        "it'sy",  # 's only at the end
        "let",
    ],
    split_apostrophes: [
        "l|'eau",  # 1 < 3: the apostrophe goes to the longer side
        "aujourd'|hui",
        "ab’|cd",  # equal: left
        "o|'clock",
        "rock'|n|'roll",  # 4 > 1, then 1 < 4
        "a'|'b",  # the side between is empty
        *("a'|'|'b", "'s", "n't", "N’T", "x'", "'", "word"),
    ],
    partial(split_off, AT_DIGITS): [
        *("1", "1|000", "1|234|567", "123|456", "ab|1|234|cd|56", "▁|2|024", "٣|٤٥٦", "no"),
    ],
    partial(split_off, AT_HYPHENS): ["a|--|b|-|c", "-|a|-", "---"],
    split_outer_punctuation: [
        *("(|word|)|.", "what|?|!!|...", "don't", "'|tis", "dogs|'", "''|quoted|''", "3|.|14"),
        "well-known-",  # hyphens are not marks
        "$5+1",  # nor are symbols
        "«|l’eau|»",
    ],
}


@pytest.mark.parametrize(
    ("rule", "parts"), [(rule, text.split("|")) for rule, texts in RULES.items() for text in texts]
)
def test_where_a_rule_cuts(rule, parts):
    assert rule("".join(parts)) == parts


def test_nfkc_comes_first():
    # The ligature is two letters, the ellipsis three marks, the no-break space a space.
    counts = {"ﬁne…": 2, "fine": 3, "a\u00a0b": 1}
    assert PIPELINES["rebpe"].words(counts) == {"fine": 5, "...": 2, "a": 1, "b": 1}


@pytest.mark.slow
@given(st.text())
@example("⇧⇧A⇧a")
@example("ẞ ᾈ İ Ǆ Σς")
def test_lower_casing_loses_nothing(text):
    text = unicodedata.normalize("NFKC", text)
    lower = mark_capitals(text)
    assert restore_capitals(lower) == text
    assert lower == "".join(c.lower() for c in lower)


def test_character_coverage():
    # Of 20,000 characters 19,998 are 0.9999, so the two rarest, of one each, are out.
    words = {"a" * 10: 1_999, "aaaaaaaéé": 1, "ñ": 1}
    counted = {"a": 19_997, "é": 2, "ñ": 1}
    assert sum(counted.values()) == 20_000
    assert covered_characters(words.items()) - KEPT_ASCII == {"é"}
    assert covered_characters(words.items(), 0.99) - KEPT_ASCII == set()
    assert covered_characters(words.items(), 1.0) - KEPT_ASCII == {"é", "ñ"}
    # ASCII 33 to 122 is kept though nothing there but a occurs; { } and ~ are beyond.
    assert {"!", "z", "Z", "0"} <= covered_characters(words.items())
    assert not {"{", "}", "~", " "} & covered_characters(words.items())
    # Ties go to the smaller code point.
    assert covered_characters({"éñ": 1}.items(), 0.5) - KEPT_ASCII == {"é"}


def test_plain():
    counts = {"don't": 3, "né": 2, "co-op": 1}
    assert pieces("plain", counts) == {"Ġdon": 3, "'t": 3, "ĠnÃ©": 2, "Ġco": 1, "-": 1, "op": 1}
    assert pieces("plain", counts, kind="characters") == {"▁don't": 3, "▁né": 2, "▁co-op": 1}
    assert pieces("plain", counts, kind="unmarked") == counts


def test_knockout_in_its_order():
    counts = {"dog.": 6, "dog": 5, "(dog": 1, "co-op": 10, "rare": 9, "né": 10}
    # "dog" is counted after the marks are split off; the mark "." (6) and "(" (1) are too rare.
    prepared = prepare("knockout", counts)
    assert dict(prepared.counts.items()) == {"Ġdog": 12, "Ġco": 10, "-": 10, "op": 10, "ĠnÃ©": 10}
    assert prepared.dropped == {"rarer than 10": 9 + 6 + 1}
    assert len(prepared.alphabet) == 256


def test_knockout_drops_long_words_and_foreign_scripts():
    counts = {"a" * 60: 10, "b" * 61: 10, "слово": 20, "αβ-vitamin": 30, "word": 100}
    prepared = prepare("knockout", counts)
    assert dict(prepared.counts.items()) == {"Ġ" + "a" * 60: 10, "Ġword": 100}
    assert prepared.dropped == {"longer than 60 characters": 10, "letters of a foreign script": 50}
    assert set(pieces("knockout", {"слово": 30, "word": 10})) == {printable_bytes(" слово")}


def test_rebpe_in_its_order():
    counts = {"Don't": 5, "don't": 4, "(Don't)": 4, "L'Eau-1234": 5, "rare": 4, "né": 5}
    assert pieces("rebpe", counts, coverage=1.0) == {
        # Don't: 5 + 4 with the brackets off; don't and the brackets, with 4 each, are too rare.
        "▁⇧do": 9,
        "▁n't": 9,
        # The apostrophe goes to Eau-1234 (8 > 1), the marker comes before digits and hyphens.
        "▁⇧l": 5,
        "▁'⇧eau": 5,
        "-": 5,
        "1": 5,
        "234": 5,
        "▁né": 5,
    }


def test_no_piece_has_a_character_that_is_not_covered():
    prepared = prepare("rebpe", {"abñcd": 5, "a": 100_000, "B": 100_000})
    assert dict(prepared.counts.items()) == {"▁ab": 5, "cd": 5, "▁a": 100_000, "▁⇧b": 100_000}
    assert "ñ" not in prepared.alphabet
    assert {"▁", CAPITAL, "a", "z", "!"} <= set(prepared.alphabet)
    assert not {"A", "Z"} & set(prepared.alphabet), "capitals are signs"


@pytest.mark.parametrize("name", ["spaces", "no-spaces"])
def test_no_type_has_a_space(name):
    prepared = prepare(name, {"low": 5, "né": 2})
    assert dict(prepared.counts.items()) == {"low": 5, "nÃ©": 2}
    assert "Ġ" in prepared.alphabet, "the space is an atom"
    prepared = prepare(name, {"low": 5}, kind="characters")
    assert (dict(prepared.counts.items()), prepared.alphabet) == ({"low": 5}, ("▁",))


def test_what_cannot_be_prepared():
    with refused():
        prepare("best", {"a": 1})
    with refused():
        prepare("plain", {"a": 1}, kind="runes")
    with refused():
        prepare("knockout", {"a": 9})
    with refused():
        prepare("plain", {"\ud800": 1})
    assert pieces("plain", {"a": 0, "b": 1}) == {"Ġb": 1}


def library(pipeline, kind, alphabet):
    prepared = prepare(pipeline, {"word": 10}, kind=kind, minimum_count=1)
    if pipeline == "rebpe":
        prepared = prepare(pipeline, {"".join(alphabet): 1}, kind=kind, minimum_count=1)
    document = {
        "version": "1.0",
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": {}, "merges": []},
        **components(prepared),
    }
    return Tokenizer.from_str(json.dumps(document))


# Letters with and without capitals, digits, marks, apostrophes, hyphens, symbols; no control
# characters, some of which are white space to Python only; no ⇧, whose double may be cut in two.
ALPHABET = "abntTNsSdéÉßΣω09٣'’'’'--.!?…(+$▁日"
ONE_SCRIPT = ALPHABET.replace("Σω", "").replace("日", "")


@pytest.mark.parametrize("kind", ["bytes", "characters", "unmarked"])
@pytest.mark.parametrize("pipeline", list(PIPELINES))
def test_the_library_cuts_words_in_the_same_way(pipeline, kind):
    if (pipeline, kind) == ("rebpe", "bytes"):
        pytest.skip("its signs for capitals are characters")
    tokenizer = library(pipeline, kind, tuple(ALPHABET))

    @given(st.text(ONE_SCRIPT if pipeline == "knockout" else ALPHABET, min_size=1, max_size=12))
    @example("L'Eau-1234")
    @example("rock'n'roll")
    @example("DON'T")
    @example("a'''b")
    @example("''a'b-'")
    def same(word):
        ours = pieces(pipeline, {word: 1}, kind=kind, minimum_count=1, coverage=1.0)
        # The one pipeline whose marker is the space before a word in running text.
        text = f" {word}" if (pipeline, kind) == ("plain", "bytes") else word
        if tokenizer.normalizer is not None:
            text = tokenizer.normalizer.normalize_str(word)
        theirs = {}
        for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text):
            theirs[piece] = theirs.get(piece, 0) + 1
        assert theirs == ours

    if kind != "characters" or pipeline in ("plain", "knockout", "rebpe"):
        same()


def test_the_decoder_brings_capitals_back():
    tokenizer = library("rebpe", "characters", ("T", "h", "e", "N"))
    tokens = ["▁⇧", "the", "▁⇧n⇧", "a", "⇧⇧"]
    assert tokenizer.decoder.decode(tokens) == "The NA⇧"


@examples(150)
@given(
    st.sampled_from(list(PIPELINES)),
    st.sampled_from([None, "bytes", "characters", "unmarked"]),
    st.dictionaries(
        st.text("abAéÉ'’-.7⇧ \u00a0語жﬁ▁Ġ", min_size=1, max_size=6), st.integers(0, 30), min_size=1
    ),
    st.sampled_from([None, 1, 4]),
    st.integers(1, 5),
    st.booleans(),
)
def test_many_words_are_prepared_as_few(name, kind, words, least, at_once, made):
    """Arrays give the same pieces as a dictionary, whatever is gone through at once."""
    numbers = np.array(list(words.values()))
    of = name if made else None
    forms = [
        WordCounts(list(words), numbers, of),
        WordCounts(WordArray.of_strings(words), numbers, of),
    ]

    def outcome(counts):
        try:
            prepared = prepare(name, counts, kind=kind, minimum_count=least, longest=3)
        except MorphGraphError as error:
            return sorted(str(error))
        assert len({*prepared.counts.words}) == len(prepared.counts)
        return dict(prepared.counts.items()), prepared.alphabet, prepared.dropped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("morphgraph.corpus.pipelines.BATCH_SIZE", at_once)
        few, many = map(outcome, forms)
    assert few == many


def test_sums_that_are_too_large_are_refused():
    words = WordArray.of_strings([f"{n}a" for n in range(10)])
    with refused():
        prepare("plain", WordCounts(words, np.full(10, 2**60)))

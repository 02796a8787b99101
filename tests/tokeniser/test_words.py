"""Lists of encoded words: choosing, joining, finding gaps."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import WORDS
from tokenizers import pre_tokenizers

from morphgraph.tokeniser.encoding import WordEncoder
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, AddedToken, Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Words, concatenate

TEXTS = st.lists(WORDS, max_size=8)
ENCODER = WordEncoder(Preprocessor(), {"a": 0, "b": 1, "c": 2})


def assert_same(left: Words, right: Words) -> None:
    """Every field is equal, arrays in dtype too."""
    assert left.texts == right.texts
    assert dict(left.unknown) == dict(right.unknown)
    for name in ("atoms", "word_offsets", "piece_offsets", "gap_position"):
        found, expected = getattr(left, name), getattr(right, name)
        assert found.tolist() == expected.tolist(), name
        assert found.dtype == expected.dtype, name


@given(TEXTS, st.data())
def test_subset_is_encoding_only_those(texts: list[str], data: st.DataObject) -> None:
    numbers = st.lists(st.integers(0, len(texts) - 1), max_size=10) if texts else st.just([])
    chosen = data.draw(numbers)
    found = ENCODER.encode(texts).subset(np.array(chosen, np.int64))
    assert_same(found, ENCODER.encode([texts[i] for i in chosen]))


@given(st.lists(TEXTS, max_size=4))
def test_concatenate_is_encoding_all(lists: list[list[str]]) -> None:
    found = concatenate([ENCODER.encode(texts) for texts in lists])
    assert_same(found, ENCODER.encode([text for texts in lists for text in texts]))


@given(TEXTS, st.data())
def test_gaps_at(texts: list[str], data: st.DataObject) -> None:
    words = ENCODER.encode(texts)
    there = [(w, p) for w, text in enumerate(texts) for p in range(1, len(text))]
    absent = [(w, p) for w, text in enumerate(texts) for p in (0, len(text), len(text) + 3)]
    asked = data.draw(st.permutations(there + absent))[:12]
    gaps = words.gaps_at(
        np.array([w for w, _ in asked], np.int64), np.array([p for _, p in asked], np.int64)
    )
    real = [pair for pair in asked if pair in there]
    expected = [int(words.word_offsets[w]) + p - 1 for w, p in real]
    assert gaps.tolist() == expected


def test_word_of_atom() -> None:
    assert ENCODER.encode(["ab", "", "c"]).word_of_atom.tolist() == [0, 0, 2]


def test_unknown_characters_are_kept() -> None:
    words = ENCODER.encode(["axb", "é"])
    assert dict(words.unknown) == {1: "x", 3: "é"}
    assert dict(words.subset(np.array([1, 0])).unknown) == {0: "é", 2: "x"}


def test_pieces_bound_merges(small_tokeniser: Callable[..., BpeTokeniser]) -> None:
    """What the pre-tokeniser cuts is never merged across, also in a subset."""
    tokeniser = small_tokeniser(
        [("a", "-"), ("b", "-")], "ab-", pre_tokenizer={"type": "Punctuation"}
    )
    words = tokeniser.encode(["a-b", "ab"])
    assert words.piece_offsets.tolist() == [0, 1, 2, 3, 5]
    assert words.subset(np.array([1, 0])).piece_offsets.tolist() == [0, 2, 3, 4, 5]


ODD_WORDS = st.lists(st.text("abäß漢ª𐐷-1 ", max_size=5), max_size=6)


@pytest.mark.parametrize("added", [(), ("ab",), (" b",), ("a b",), ("-",)])
@given(texts=ODD_WORDS, bare=st.booleans())
def test_words_are_encoded_together_as_one_by_one(
    added: tuple[str, ...], texts: list[str], bare: bool
) -> None:
    """The bytes of all words go through a kernel; the library only tells where it cuts."""
    ids = {text: number for number, text in enumerate(BYTE_TO_CHAR)}
    preprocessor = Preprocessor(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        byte_level=True,
        splits_only_non_letters=True,
        leading_space=True,
        added=tuple(AddedToken(content) for content in added),
    )
    encoder = WordEncoder(preprocessor, ids, dict.fromkeys(added, len(ids)))
    expected = concatenate([encoder._encode_any(text, "" if bare else " ") for text in texts])
    assert_same(encoder.encode(texts, bare=bare), expected)


def byte_level(**settings: bool) -> pre_tokenizers.ByteLevel:
    return pre_tokenizers.ByteLevel(**{"add_prefix_space": False, "use_regex": False, **settings})


PIPELINES = {
    "space added": byte_level(add_prefix_space=True, use_regex=True),
    "digits one by one": pre_tokenizers.Sequence([pre_tokenizers.Digits(True), byte_level()]),
    "marks left out": pre_tokenizers.Sequence([pre_tokenizers.Split("-", "removed"), byte_level()]),
    "cut inside characters": pre_tokenizers.Sequence(
        [byte_level(), pre_tokenizers.Split("Ã", "isolated")]
    ),
    "bytes of bytes": pre_tokenizers.Sequence([byte_level(), byte_level()]),
}


@pytest.mark.parametrize("pipeline", PIPELINES)
@given(texts=ODD_WORDS, bare=st.booleans())
def test_words_of_any_pipeline_are_encoded_together_as_one_by_one(
    pipeline: str, texts: list[str], bare: bool
) -> None:
    adds_space = pipeline == "space added"
    preprocessor = Preprocessor(
        pre_tokenizer=PIPELINES[pipeline],
        byte_level=True,
        splits_only_non_letters=adds_space,
        adds_space=adds_space,
        leading_space=not adds_space,
    )
    encoder = WordEncoder(preprocessor, {text: n for n, text in enumerate(BYTE_TO_CHAR)})
    prefix = "" if bare or adds_space else " "
    expected = concatenate([encoder._encode_any(text, prefix) for text in texts])
    assert_same(encoder.encode(texts, bare=bare), expected)

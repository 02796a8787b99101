"""GPT-2's byte alphabet against Hugging Face's `ByteLevel`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, pre_tokenizers

from morphgraph.tokeniser.byte_level import (
    BYTE_TO_CHAR,
    CHAR_TO_BYTE,
    byte_alphabet,
    decode,
    encode,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_alphabet() -> None:
    assert sorted(BYTE_TO_CHAR) == sorted(pre_tokenizers.ByteLevel.alphabet())
    assert byte_alphabet() == BYTE_TO_CHAR
    assert [CHAR_TO_BYTE[char] for char in BYTE_TO_CHAR] == list(range(256))
    assert BYTE_TO_CHAR[0x20] == "Ġ"


@given(TEXT)
def test_encode_as_hugging_face(text: str) -> None:
    reference = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert encode(text) == "".join(piece for piece, _ in reference.pre_tokenize_str(text))


@given(TEXT)
def test_round_trip(text: str) -> None:
    assert decode(encode(text)) == text


@given(st.text(st.sampled_from(BYTE_TO_CHAR)))
def test_decode_as_hugging_face(text: str) -> None:
    assert decode(text) == decoders.ByteLevel().decode([text])


def test_characters_outside_the_alphabet() -> None:
    assert decode("語Ġa") == "語 a"
    assert decode("\ud800") == "?"
    with pytest.raises(UnicodeEncodeError):
        encode("\ud800")

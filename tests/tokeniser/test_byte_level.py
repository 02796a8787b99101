"""GPT-2's byte alphabet against Hugging Face's `ByteLevel`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from morphgraph.tokeniser.preprocess import (
    BYTE_TO_CHAR,
    CHAR_TO_BYTE,
    byte_alphabet,
    printable_bytes,
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
    assert printable_bytes(text) == "".join(piece for piece, _ in reference.pre_tokenize_str(text))


def test_what_has_no_bytes_has_no_characters() -> None:
    with pytest.raises(UnicodeEncodeError):
        printable_bytes("\ud800")

"""What damaged files brought to light, each as small as it gets."""

import json
from typing import Any

import pytest

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.formats.loading import read_vocabulary
from morphgraph.segment.picky import Picky
from morphgraph.segment.unigram import Unigram
from morphgraph.tokeniser.vocabulary import SubwordVocabulary


def released(*texts: Any) -> bytes:
    tokens = [
        {"id": number, "str": text, "left": None, "right": None}
        for number, text in enumerate(texts)
    ]
    return json.dumps({"tokens": tokens, "merges": [], "splits": []}).encode()


@pytest.mark.parametrize("text", [7, None, ["a"], {"a": 1}, ""])
def test_a_type_of_released_picky_that_is_no_string(text: Any) -> None:
    with pytest.raises(FileFormatError, match=r"picky\.json: it does not have the fields"):
        Picky.from_released(released("a", text), "picky.json")


def test_a_type_of_released_picky_that_is_there_twice() -> None:
    """Events would name the wrong types by their ids."""
    with pytest.raises(FileFormatError, match="field tokens: a type is listed more than once"):
        Picky.from_released(released("a", "b", "a"), "picky.json")


@pytest.mark.parametrize("unknown", [{}, ["a"], 7, "z"])
def test_an_unknown_token_that_is_no_type(unknown: Any) -> None:
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": unknown}
    vocabulary = read_vocabulary(json.dumps({"model": model}).encode(), "tokenizer.json")
    assert vocabulary.unknown is None
    assert vocabulary.special == frozenset()


def sentencepiece(*pieces: Any, charsmap: bytes = b"") -> bytes:
    from sentencepiece import sentencepiece_model_pb2

    messages: Any = sentencepiece_model_pb2
    model = messages.ModelProto()
    for text, kind in pieces:
        model.pieces.add(piece=text, score=-1.0, type=kind)
    model.trainer_spec.model_type = 1
    model.normalizer_spec.name = "x"
    model.normalizer_spec.precompiled_charsmap = charsmap
    return bytes(model.SerializeToString())


def test_a_type_of_sentencepiece_that_is_no_text() -> None:
    data = sentencepiece(("<unk>", 2), ("▁ab", 1), ("cd", 1))
    assert read_vocabulary(data, "m.model").types == ("<unk>", "▁ab", "cd")
    with pytest.raises(FileFormatError, match=r"m\.model"):
        read_vocabulary(data.replace(b"cd", b"\xffd"), "m.model")


def test_log_probabilities_beyond_single_precision() -> None:
    vocabulary = SubwordVocabulary(("a", "b"), scores=(-1.0, -1e300))
    assert Unigram(vocabulary).segment(Unigram(vocabulary).encode(["ab"])).tokens(0) == [0, 1]
    with pytest.raises(MorphGraphError, match="too large for single precision"):
        Unigram(vocabulary, single=True)

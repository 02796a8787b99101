"""Tokenisers with added tokens that merges make too, flags, suffixes, padding; hostile settings."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import ADDED_TOKENS
from morphgraph.formats.hugging_face import (
    from_tokenizer_json,
    from_vocabulary_and_merges,
    to_tokenizer_json,
)
from morphgraph.graph.merge_table import EditError
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR

MakeDocument = Callable[..., dict[str, Any]]


def loaded(document: dict[str, Any]) -> Any:
    return from_tokenizer_json(json.dumps(document).encode(), "t.json")


def tokens(tokeniser: Any, text: str) -> list[str]:
    found = segment(tokeniser.graph, tokeniser.encode([text], bare=True))
    return [tokeniser.graph.types[token] for token in found.tokens(0)]


def added(number: int, content: str, **flags: bool) -> dict[str, Any]:
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": number, "content": content, **dict.fromkeys(names, False), **flags}


def test_an_added_token_that_a_merge_makes_stays(small_document: MakeDocument) -> None:
    document = small_document([("a", "b"), ("ab", "c")])
    number = document["model"]["vocab"]["ab"]
    document["added_tokens"] = [added(number, "ab")]
    tokeniser = loaded(document)
    with pytest.raises(EditError, match="added token"):
        tokeniser.graph.knockout(["ab"])
    tokeniser.graph.cascade(["abc"])
    saved, _ = to_tokenizer_json(tokeniser)
    assert tokens(from_tokenizer_json(saved, "t.json"), "cab") == ["c", "ab"]


def test_the_end_of_a_word_cannot_be_removed(small_document: MakeDocument) -> None:
    document = small_document([("b", "</w>"), ("a", "b</w>")])
    document["model"]["end_of_word_suffix"] = "</w>"
    tokeniser = loaded(document)
    with pytest.raises(EditError, match="end of a word"):
        tokeniser.graph.knockout(["b</w>"])
    tokeniser.graph.knockout(["ab</w>"])
    assert tokens(tokeniser, "ab") == ["a", "b</w>"]


def test_padding_gets_its_new_id(small_document: MakeDocument) -> None:
    document = small_document([("a", "b")])
    document["model"]["vocab"]["[PAD]"] = 3
    document["added_tokens"] = [added(3, "[PAD]", special=True)]
    document["padding"] = {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 3,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    tokeniser = loaded(document)
    tokeniser.graph.knockout(["ab"])
    saved, _ = to_tokenizer_json(tokeniser)
    peer = Tokenizer.from_str(saved.decode())
    assert peer.encode_batch(["a", "aab"])[0].ids == [
        peer.token_to_id(t) for t in ("a", "[PAD]", "[PAD]")
    ]


FLAGGED = [
    AddedToken("covid", single_word=True, normalized=False),
    AddedToken("<mask>", lstrip=True, normalized=False),
    AddedToken("<end>", rstrip=True, normalized=False),
    AddedToken("<x>", normalized=False),
]
TEXTS = [
    "covidiot",
    "a covid b",
    "covid",
    "a <mask> b",
    "a <end> b",
    "a<x>b <x> c",
    "acovid covid-",
]


@pytest.mark.parametrize("text", TEXTS)
def test_flags_of_added_tokens(text: str) -> None:
    peer = Tokenizer(models.BPE({c: n for n, c in enumerate(BYTE_TO_CHAR)}, []))
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.add_tokens(FLAGGED)
    ours = from_tokenizer_json(peer.to_str().encode(), "t.json")
    # The library's tokens carry the white space that they took along, so ids are compared.
    assert [peer.token_to_id(token) for token in tokens(ours, text)] == peer.encode(text).ids


def test_letters_with_a_suffix_on_bytes() -> None:
    vocabulary = {c: n for n, c in enumerate([*BYTE_TO_CHAR, *(c + "</w>" for c in BYTE_TO_CHAR)])}
    merges = [("t", "h"), ("th", "e</w>")]
    for merge in merges:
        vocabulary["".join(merge)] = len(vocabulary)
    peer = Tokenizer(models.BPE(vocabulary, merges, end_of_word_suffix="</w>"))
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    ours = from_tokenizer_json(peer.to_str().encode(), "t.json")
    for word in ("the", "thé", "other"):
        assert tokens(ours, word) == peer.encode(word).tokens


def test_bytes_with_a_suffix_in_two_files() -> None:
    vocabulary = {c: n for n, c in enumerate([*BYTE_TO_CHAR, *(c + "</w>" for c in BYTE_TO_CHAR)])}
    vocabulary["ca"] = len(vocabulary)
    ours = from_vocabulary_and_merges(
        json.dumps(vocabulary).encode(), b"#version: 0.2\nc a\n", "vocab.json", "merges.txt"
    )
    assert tokens(ours, "Café") == ["ca", "f", "Ã", "©</w>"]


def test_too_many_added_tokens_are_refused(small_document: MakeDocument) -> None:
    document = small_document([("a", "b")])
    document["added_tokens"] = [added(9 + n, f"<{n}>") for n in range(ADDED_TOKENS.usual + 1)]
    with pytest.raises(FileFormatError, match="added tokens, the limit is"):
        loaded(document)


def test_a_failing_pattern_is_an_error_not_a_panic(small_document: MakeDocument) -> None:
    document = small_document([("a", "b")], alphabet="x")
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    document["pre_tokenizer"] = {**split, "pattern": {"Regex": "(x+x+)+y"}}
    tokeniser = loaded(document)
    with pytest.raises(MorphGraphError, match="normaliser or pre-tokeniser fails"):
        tokeniser.encode(["x" * 40])


@pytest.mark.parametrize("where", ["added", "decoder"])
def test_half_a_surrogate_pair_is_refused_everywhere(
    small_document: MakeDocument, where: str
) -> None:
    document = small_document([("a", "b")])
    if where == "added":
        document["added_tokens"] = [added(9, "<\ud800>")]
    else:
        document["decoder"] = {"type": "BPEDecoder", "suffix": "\udfff"}
    with pytest.raises(FileFormatError, match="half of a surrogate pair"):
        loaded(document)
    document = small_document([("a", "b")])
    document["decoder"] = {"type": "BPEDecoder", "suffix": "\U0001f600"}
    assert "\\ud83d\\ude00" in json.dumps(document), "a whole pair, escaped"
    loaded(document)


def test_a_knockout_of_doubling_types_takes_no_quadratic_time(
    small_document: MakeDocument,
) -> None:
    merges = [("a" * 2**k, "a" * 2**k) for k in range(17)]
    tokeniser = loaded(small_document(merges))
    change = tokeniser.graph.knockout(["a" * 2**k for k in range(1, 17)])
    assert [len(entry.new_parts) for entry in change.rewired] == [2**17]

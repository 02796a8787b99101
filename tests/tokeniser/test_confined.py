"""Unknown parts run in a process of their own: slow perhaps, never fatal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hostile.files import metaspaces, replace, split, steps, tokeniser

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.tokeniser.parts import LONG_TEXT
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

pytestmark = pytest.mark.slow

BYTES = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
SLOW = "(?:a|a){2}a*a*a*!"
ADDED = [
    {"id": 3, "content": "<x>", "normalized": False, "special": True},
    {"id": 4, "content": "né", "normalized": True, "special": False},
]
WORDS = ["ab", "undo", "né<x>ab", "a b-c", "", "ǅﷺ", "<x>", "İaa", " x  y"]
PIPELINES: tuple[dict[str, Any], ...] = (
    {"normalizer": steps({"type": "NFKD"}, {"type": "Lowercase"}), "pre_tokenizer": None},
    {"normalizer": replace("n", "nn"), "pre_tokenizer": split("a")},
    {"pre_tokenizer": metaspaces(1)},
    {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                split(r"\p{N}|b"),
                BYTES,
            ],
        },
    },
)


def loaded(**parts: Any) -> Any:
    return from_tokenizer_json(tokeniser(**parts), "a.json")


@pytest.mark.parametrize("parts", PIPELINES)
def test_it_makes_the_same_of_words(parts: dict[str, Any]) -> None:
    here = loaded(**parts, added_tokens=ADDED)
    assert here.preprocessor.is_known
    there = loaded(**parts, added_tokens=ADDED)
    there.preprocessor.is_known = False
    for words in (WORDS, [" ".join(WORDS)]):
        ours, theirs = here.encode(words), there.encode(words)
        for field in ("atoms", "word_offsets", "piece_offsets", "gap_position"):
            assert getattr(ours, field).tolist() == getattr(theirs, field).tolist()
        assert ours.unknown == theirs.unknown


def test_unknown_parts_give_what_known_ones_of_the_same_meaning_do() -> None:
    known = loaded(normalizer=steps({"type": "Lowercase"}), pre_tokenizer=split("a+"))
    unknown = loaded(normalizer=steps({"type": "Lowercase"}), pre_tokenizer=split("(?:a)+"))
    assert known.preprocessor.is_known and not unknown.preprocessor.is_known
    for encoding in ({}, {"bare": True}):
        ours, theirs = known.encode(WORDS, **encoding), unknown.encode(WORDS, **encoding)
        assert ours.atoms.tolist() == theirs.atoms.tolist()
        assert ours.piece_offsets.tolist() == theirs.piece_offsets.tolist()
    normaliser, cut = unknown.preprocessor.normalizer, unknown.preprocessor.pre_tokenizer
    assert normaliser.normalize_str("aÀ") == "aà"
    assert cut.pre_tokenize_str("baac") == [("b", (0, 1)), ("aa", (1, 3)), ("c", (3, 4))]


def test_a_vocabulary_of_unknown_parts_is_saved_and_read_again() -> None:
    own = loaded(pre_tokenizer=split("(?:a)+")).preprocessor
    held = SubwordVocabulary(("a", "b"), "", own, name="a.json").document()
    read = SubwordVocabulary.from_document(json.loads(json.dumps(held))).preprocessor
    assert read.pieces("baab") == own.pieces("baab") and not read.is_known


def test_parts_that_cannot_be_built_are_not_taken_for_the_last_ones() -> None:
    good = loaded(pre_tokenizer=split("(?:a)+"))
    for _ in range(2):
        with pytest.raises(FileFormatError, match="they fail on a simple word"):
            loaded(pre_tokenizer=split("(?:b"))
        assert [len(piece) for piece in good.preprocessor.pieces("baac")] == [1, 2, 1]


@pytest.mark.parametrize("part", ["NFC", "", 1, [{"type": "NFC"}]])
def test_a_part_that_is_no_object_is_an_error(part: Any) -> None:
    for key in ("normalizer", "pre_tokenizer"):
        with pytest.raises(FileFormatError, match="no part of a pipeline") as caught:
            loaded(**{key: part})
        assert caught.value.place == f"field {key}"


@pytest.mark.parametrize(
    "parts, place",
    [
        ({"pre_tokenizer": metaspaces(60)}, "field pre_tokenizer.pretokenizers["),
        ({"normalizer": steps({"type": "NFC"}, replace("a", "b" * 9000))}, ".normalizers[1]"),
        ({"normalizer": steps(*[{"type": "ByteLevel"}] * 100)}, "field normalizer.normalizers["),
    ],
)
def test_what_grows_is_refused_with_its_part(parts: dict[str, Any], place: str) -> None:
    with pytest.raises(FileFormatError, match="characters, the limit is") as caught:
        loaded(**parts)
    assert place in caught.value.place


def test_seconds_are_limited_and_the_part_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = loaded(pre_tokenizer={"type": "Sequence", "pretokenizers": [split("b"), split(SLOW)]})
    before = found.encode(["aab"]).atoms.tolist()
    monkeypatch.setenv("MORPHGRAPH_MAX_PIPELINE_SECONDS", "1")
    with pytest.raises(MorphGraphError, match=r"takes more than 1 seconds") as caught:
        found.encode(["a" * 1_000])
    assert "field pre_tokenizer.pretokenizers[1] of the tokeniser" in str(caught.value)
    monkeypatch.undo()
    assert found.encode(["aab"]).atoms.tolist() == before, "another process has taken its place"


def test_memory_is_limited_and_the_part_is_named() -> None:
    found = loaded(normalizer=steps({"type": "NFC"}, replace("q", "b" * 9_000_000)))
    with pytest.raises(MorphGraphError, match="bytes of memory") as caught:
        found.encode(["q" * 1_000])
    assert "field normalizer.normalizers[1] of the tokeniser" in str(caught.value)


def test_long_texts_are_cut_there_even_by_known_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of them take the square of the length."""
    found = loaded(pre_tokenizer=split(r"\d{1,3}(?=(?:\d{3})*\b)"))
    monkeypatch.setenv("MORPHGRAPH_MAX_PIPELINE_SECONDS", "1")
    with pytest.raises(MorphGraphError, match="takes more than 1 seconds"):
        found.encode(["1" * 10 * LONG_TEXT])
    assert len(found.encode(["ab" * LONG_TEXT]).atoms) == 2 * LONG_TEXT


def test_a_preprocessor_without_parts_needs_no_process() -> None:
    assert Preprocessor().pieces("a" * (LONG_TEXT + 1))[0][-1] == ("a", LONG_TEXT, LONG_TEXT + 1)

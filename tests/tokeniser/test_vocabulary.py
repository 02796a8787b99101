"""A vocabulary: forms, characters, what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import normalizers, pre_tokenizers

from morphgraph.core.errors import MorphGraphError
from morphgraph.formats.loading import load_vocabulary
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tokeniser.preprocess import AddedToken, Preprocessor
from morphgraph.tokeniser.vocabulary import BYTES, SubwordVocabulary
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP, UNKNOWN


def test_special_types_are_found_by_no_string() -> None:
    vocabulary = SubwordVocabulary(("[A]", "[", "A", "]"), special=frozenset({"[A]"}))
    greedy = Greedy(vocabulary)
    assert greedy.segment(greedy.encode(["[A]"])).tokens(0) == [1, 2, 3]


def test_bert_lowercases_and_strips_accents(data_folder: Path) -> None:
    vocabulary = load_vocabulary(data_folder / "vocabularies/bert-base-uncased.txt")
    words = vocabulary.encode(["Éa", "x🦉"])
    assert "".join(vocabulary.atom_text(words, i) for i in range(4)) == "eax🦉"
    assert words.texts == ("Éa", "x🦉")
    assert words.atoms[3] == UNKNOWN
    assert words.unknown == {3: "🦉"}
    assert words.gap_position.tolist() == [1, NO_GAP, 1, NO_GAP]


def test_gpt2_has_bytes(data_folder: Path) -> None:
    vocabulary = load_vocabulary(data_folder / "tokenizers/gpt2/vocab.json")
    words = vocabulary.encode(["é日"])
    assert "".join(vocabulary.atom_text(words, i) for i in range(6)) == "ĠÃ©æĹ¥"
    inside = INSIDE_CHARACTER
    assert words.gap_position.tolist() == [NO_GAP, inside, 1, inside, inside, NO_GAP]
    assert vocabulary.readable(vocabulary.ids["ĠÃ©"]) == "␣é"
    assert vocabulary.readable(vocabulary.ids["æĹ"]) == "⟨E6⟩⟨97⟩"


def test_xlnet_marks_the_start(data_folder: Path) -> None:
    vocabulary = load_vocabulary(data_folder / "vocabularies/xlnet-base-cased.txt")
    words = vocabulary.encode(["Ab"])
    assert "".join(vocabulary.atom_text(words, i) for i in range(3)) == "▁Ab"
    assert words.gap_position.tolist() == [NO_GAP, 1, NO_GAP]


def test_an_end_of_word_suffix_belongs_to_the_last_character() -> None:
    types = ("in", "g</w>", "ing</w>", "g")
    greedy = Greedy(SubwordVocabulary(types, preprocessor=Preprocessor(suffix="</w>")))
    found = greedy.segment(greedy.encode(["ing", "gin"]))
    assert found.tokens(0) == [2]
    # The n at the end is another character than the n in “in”.
    assert found.tokens(1)[:1] == [3]
    assert found.words.unknown == {5: "n"}


def test_a_byte_fallback_needs_all_bytes() -> None:
    types = ("a", "bc", *BYTES)
    fallback = Preprocessor(byte_fallback=True)
    greedy = Greedy(SubwordVocabulary(types, preprocessor=fallback))
    words = greedy.encode(["abcbé"])
    # b is a character of a type but no type: in bytes where bc does not match.
    names = [types[token] for token in greedy.segment(words).tokens(0)]
    assert names == ["a", "bc", "<0x62>", "<0xC3>", "<0xA9>"]
    some = Greedy(SubwordVocabulary(types[:-1], preprocessor=fallback))
    assert some.segment(some.encode(["é"])).tokens(0) == [UNKNOWN]


def test_added_tokens_stay_whole() -> None:
    added = Preprocessor(added=(AddedToken("<sep>"),))
    vocabulary = SubwordVocabulary(
        ("<sep>", "<", "s", "a"), preprocessor=added, special=frozenset({"<sep>"})
    )
    greedy = Greedy(vocabulary)
    assert greedy.segment(greedy.encode(["a<sep>s<"])).tokens(0) == [3, 0, 2, 1]


def test_document_keeps_the_pipeline() -> None:
    vocabulary = SubwordVocabulary(
        ("ab", "##c", "[X]"),
        "##",
        Preprocessor(
            normalizer=normalizers.Lowercase(),
            pre_tokenizer=pre_tokenizers.Split("-", "removed"),
            added=(AddedToken("[X]", single_word=True),),
        ),
        frozenset({"[X]"}),
        "[X]",
        "some/folder/small.txt",
        (-1.0, -2.5, 0.0),
        True,
    )
    document = json.loads(json.dumps(vocabulary.document()))
    again = SubwordVocabulary.from_document(document)
    assert again.document() == vocabulary.document()
    assert again.signature() == vocabulary.signature()
    assert vocabulary.signature().startswith("small.txt@")
    words, other = vocabulary.encode(["AB-c", "[X]"]), again.encode(["AB-c", "[X]"])
    assert words.atoms.tolist() == other.atoms.tolist()
    assert words.piece_offsets.tolist() == other.piece_offsets.tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize(
    "changed",
    [
        {"types": ["a", 1]},
        {"types": "ab"},
        {"marker": "@@"},
        {"marker": None},
        {"special": None},
        {"unknown": 3},
        {"unknown": "missing"},
        {"scores": [1, 2, 3]},
        {"scores": ["x"]},
        {"single": 1},
        {"preprocessor": None},
        {"preprocessor": {}},
        {"types": ["a", "a"]},
        {"types": []},
        {"types": [""]},
    ],
)
def test_damaged_documents_are_refused(changed: dict[str, Any]) -> None:
    document = SubwordVocabulary(("a",)).document()
    SubwordVocabulary.from_document(document)
    with pytest.raises(MorphGraphError):
        SubwordVocabulary.from_document({**document, **changed})


def test_a_pipeline_that_is_no_pipeline_is_refused() -> None:
    document = SubwordVocabulary(("a",)).document()
    for change, said in (
        ({"normalizer": {"type": "Nothing"}}, "they fail on a simple word"),
        ({"added": [{"text": "x"}]}, "field content: it is missing"),
    ):
        broken = {**document, "preprocessor": {**document["preprocessor"], **change}}
        with pytest.raises(MorphGraphError, match=said):
            SubwordVocabulary.from_document(broken)


def test_the_checksum_is_of_the_content() -> None:
    one = SubwordVocabulary(("a", "b"))
    assert one.checksum == SubwordVocabulary(("a", "b"), name="other").checksum
    others = [
        SubwordVocabulary(("b", "a")),
        SubwordVocabulary(("a", "b"), "##"),
        SubwordVocabulary(("a", "b"), unknown="a"),
        SubwordVocabulary(("a", "b"), preprocessor=Preprocessor(normalizer=normalizers.NFC())),
    ]
    assert len({one.checksum, *(other.checksum for other in others)}) == 5

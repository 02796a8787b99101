"""Words as atoms: bytes as characters, added tokens, and many words at once as one by one."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import WORDS, file_ids
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from morphgraph.formats.hugging_face import (
    from_tokenizer_json,
    to_tokenizer_json,
    tokenizer_document,
)
from morphgraph.tokeniser.encoding import WordEncoder, is_word_character
from morphgraph.tokeniser.pipeline import preprocessor_of
from morphgraph.tokeniser.preprocess import (
    BYTE_TO_CHAR,
    BYTES,
    CHAR_TO_BYTE,
    AddedToken,
    Preprocessor,
    printable_bytes,
)
from morphgraph.tokeniser.words import NO_GAP, concatenate

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_alphabet():
    assert sorted(BYTE_TO_CHAR) == sorted(pre_tokenizers.ByteLevel.alphabet())
    assert [CHAR_TO_BYTE[char] for char in BYTE_TO_CHAR] == list(range(256))
    assert BYTE_TO_CHAR[0x20] == "Ġ"


@given(ANY_TEXT)
def test_encode_as_hugging_face(text):
    reference = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert printable_bytes(text) == "".join(piece for piece, _ in reference.pre_tokenize_str(text))


TEXTS = st.lists(WORDS, max_size=8)

ENCODER = WordEncoder(Preprocessor(), {"a": 0, "b": 1, "c": 2})


def assert_same(left, right):
    """Every field is equal, arrays in dtype too."""
    assert left.texts == right.texts
    assert dict(left.unknown) == dict(right.unknown)
    for name in ("atoms", "word_offsets", "piece_offsets", "gap_position"):
        found, expected = getattr(left, name), getattr(right, name)
        assert found.tolist() == expected.tolist(), name
        assert found.dtype == expected.dtype, name


@given(TEXTS, st.data())
def test_subset_is_encoding_only_those(texts, data):
    numbers = st.lists(st.integers(0, len(texts) - 1), max_size=10) if texts else st.just([])
    chosen = data.draw(numbers)
    found = ENCODER.encode(texts).subset(np.array(chosen, np.int64))
    assert_same(found, ENCODER.encode([texts[i] for i in chosen]))


@given(st.lists(TEXTS, max_size=4))
def test_concatenate_is_encoding_all(lists):
    found = concatenate([ENCODER.encode(texts) for texts in lists])
    assert_same(found, ENCODER.encode([text for texts in lists for text in texts]))


@given(TEXTS, st.data())
def test_gaps_at(texts, data):
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


@pytest.mark.parametrize("length", [3, 255, 256, 1_000])
def test_a_text_that_is_one_piece_has_the_spans_of_its_characters(length):
    """However long it is; the space that is put before it has the first character's span."""
    text = ("aé世 " * length)[:length]
    whole = Preprocessor(pre_tokenizer=pre_tokenizers.Metaspace(split=False))
    spaced = [(c.replace(" ", "▁"), i, i + 1) for i, c in enumerate(text)]
    assert whole.pieces(text) == [[("▁", 0, 1), *spaced]]
    in_bytes = pre_tokenizers.ByteLevel(use_regex=False)
    bytes_ = [(b, i, i + 1) for i, c in enumerate(text) for b in printable_bytes(c)]
    found = Preprocessor(pre_tokenizer=in_bytes, byte_level=True).pieces(text)
    assert found == [[("Ġ", 0, 1), *bytes_]]


ODD_WORDS = st.lists(st.text("abAäß漢ª𐐷\u0308-1 ", max_size=5), max_size=6)


@pytest.mark.parametrize("added", [(), ("ab",), ("-",)])
@pytest.mark.parametrize("splits", [False, True])
@given(texts=st.lists(st.text("abä漢Ġ▁𐐷- ", max_size=5), max_size=6), bare=st.booleans())
def test_known_letters_are_encoded_together_as_one_by_one(splits, added, texts, bare):
    """As Gemma has them: a space is swapped for ▁, a letter is an atom, others become bytes."""
    ids = {text: number for number, text in enumerate((*"abä▁Ġ-", *BYTES))}
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious"}
    document = {
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {**split, "invert": False} if splits else None,
        "model": {"byte_fallback": True},
    }
    found = preprocessor_of(document, "test.json", ids)
    assert found.space == "▁"
    preprocessor = replace(found, added=tuple(AddedToken(content) for content in added))
    encoder = WordEncoder(preprocessor, ids, dict.fromkeys(added, len(ids)))
    prefix = " " if found.leading_space and not bare else ""
    expected = concatenate([encoder._encode_any(text, prefix) for text in texts])
    assert_same(encoder.encode(texts, bare=bare), expected)


def byte_level(**settings):
    return pre_tokenizers.ByteLevel(**{"add_prefix_space": False, "use_regex": False, **settings})


PIPELINES = {
    "words": byte_level(use_regex=True),
    "space added": byte_level(add_prefix_space=True, use_regex=True),
    "digits one by one": pre_tokenizers.Sequence([pre_tokenizers.Digits(True), byte_level()]),
    "marks left out": pre_tokenizers.Sequence([pre_tokenizers.Split("-", "removed"), byte_level()]),
    "cut inside characters": pre_tokenizers.Sequence(
        [byte_level(), pre_tokenizers.Split("Ã", "isolated")]
    ),
    "space added to a whole": pre_tokenizers.ByteLevel(use_regex=False),
    "bytes of bytes": pre_tokenizers.Sequence([byte_level(), byte_level()]),
}


ADDED = st.sampled_from([(), (), ("ab",), (" b",), ("a b",), ("-",)])


@pytest.mark.parametrize("normalizer", [None, normalizers.NFC(), normalizers.Lowercase()])
@pytest.mark.parametrize("pipeline", PIPELINES)
@given(texts=ODD_WORDS, bare=st.booleans(), added=ADDED)
def test_words_of_any_pipeline_are_encoded_together_as_one_by_one(
    pipeline, normalizer, texts, bare, added
):
    """The bytes of all words are placed together; the library only tells where it cuts."""
    adds_space = pipeline.startswith("space added")
    preprocessor = Preprocessor(
        normalizer=normalizer,
        pre_tokenizer=PIPELINES[pipeline],
        byte_level=True,
        splits_only_non_letters=pipeline in ("words", "space added"),
        adds_space=adds_space,
        leading_space=not adds_space,
        added=tuple(AddedToken(content) for content in added),
    )
    ids = {text: n for n, text in enumerate(BYTE_TO_CHAR)}
    encoder = WordEncoder(preprocessor, ids, dict.fromkeys(added, len(ids)))
    prefix = "" if bare or adds_space else " "
    expected = concatenate([encoder._encode_any(text, prefix) for text in texts])
    assert_same(encoder.encode(texts, bare=bare), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("morphgraph.tokeniser.encoding._CUT_TOGETHER", 2)
        assert_same(encoder.encode(texts, bare=bare), expected)


ALPHABET = "abcdx½-"

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


def added(*tokens):
    """Added tokens as a file lists them, of (content, id, flags that are true)."""
    return [
        {"id": number, "content": content, **{flag: flag in flags for flag in FLAGS}}
        for content, number, *flags in tokens
    ]


def document(tokens):
    vocabulary = {text: number for number, text in enumerate([*ALPHABET, "[UNK]"])}
    parts = dict.fromkeys(("normalizer", "pre_tokenizer", "decoder", "post_processor"))
    return tokenizer_document(vocabulary, [], tokens, parts, unk_token="[UNK]")


def loaded(made):
    return from_tokenizer_json(json.dumps(made, ensure_ascii=False).encode(), "t.json")


def ids(tokeniser, text):
    return file_ids(tokeniser, [text], bare=True)[0]


def test_gaps_lie_where_the_contents_are():
    tokeniser = loaded(document(added(("b", 1, "lstrip", "rstrip"), ("cd", 8, "normalized"))))
    words = tokeniser.encode(["ab cd", "acdx"], bare=True)
    # a|b_|cd and a|cd|x: a token that takes white space along ends where its content does.
    assert words.gap_position.tolist() == [1, 3, NO_GAP, 1, 3, NO_GAP]


def test_an_edit_may_make_what_was_only_an_added_token():
    tokeniser = loaded(document(added(("ab", 8, "single_word"), ("Z", 9, "single_word"))))
    tokeniser.graph.anneal([("a", "b")])
    assert ids(tokeniser, "abx") == [8, 4]
    saved, _ = to_tokenizer_json(tokeniser)
    library = Tokenizer.from_str(saved.decode())
    assert library.encode("abx aZ").ids[:2] == [8, 4]
    assert ids(loaded(json.loads(saved)), "abx") == [8, 4]


def test_word_characters_are_the_librarys():
    letters = [character for character in map(chr, range(0x3000)) if character.isprintable()]
    library = Tokenizer.from_str(json.dumps(document(added(("aa", 8, "single_word"), ("bb", 9)))))
    for character in letters:
        if character not in "ab":
            found = library.encode(f"{character}aa").ids
            assert (8 not in found) == is_word_character(character), character

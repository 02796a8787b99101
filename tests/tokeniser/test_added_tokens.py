"""Added tokens: by hand, and as the `tokenizers` library finds them in random texts."""

import json
from typing import Any

import pytest
from effort import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from morphgraph.core.errors import MorphGraphError
from morphgraph.formats.hugging_face import from_tokenizer_json, to_tokenizer_json
from morphgraph.formats.loading import read_vocabulary
from morphgraph.segment.wordpiece import WordPiece
from morphgraph.tokeniser.encoding import is_word_character
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.preprocess import AddedToken
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import NO_GAP

ALPHABET = "abcdx½-"
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")

NORMALIZERS: list[dict[str, Any] | None] = [
    None,
    {"type": "NFC"},
    {"type": "NFKC"},
    {"type": "Lowercase"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    {"type": "Replace", "pattern": {"String": "b"}, "content": "cab"},
]


def metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}


PRE_TOKENIZERS: list[dict[str, Any] | None] = [
    None,
    {"type": "Whitespace"},
    metaspace("first"),
    metaspace("always"),
    metaspace("never"),
]


def added(*tokens: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Added tokens as a file lists them, of (content, id, flags that are true)."""
    return [
        {"id": number, "content": content, **{flag: flag in flags for flag in FLAGS}}
        for content, number, *flags in tokens
    ]


def document(
    tokens: list[dict[str, Any]],
    *,
    alphabet: str = ALPHABET,
    normalizer: dict[str, Any] | None = None,
    pre_tokenizer: dict[str, Any] | None = None,
) -> dict[str, Any]:
    types = [*alphabet, "[UNK]"]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": tokens,
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "[UNK]",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: number for number, text in enumerate(types)},
            "merges": [],
        },
    }


def loaded(made: dict[str, Any]) -> BpeTokeniser:
    return from_tokenizer_json(json.dumps(made, ensure_ascii=False).encode(), "t.json")


def ids(tokeniser: BpeTokeniser, text: str) -> list[int | None]:
    found = segment(tokeniser.graph, tokeniser.encode([text], bare=True))
    return [tokeniser.vocabulary_id(token) for token in found.tokens(0)]


@pytest.mark.parametrize(
    ("tokens", "text", "expected"),
    [
        (added(("Z", 8, "single_word")), "aZ", [0, 7]),
        (added(("a", 0, "lstrip"), ("abcd", 8, "lstrip"), ("ab", 9)), "abx", [9, 4]),
        (added(("ab", 8, "normalized"), ("bc", 9, "special")), "abc", [0, 9]),
        (added(("ab", 8, "single_word")), "ab½", [8, 5]),
        (added(("ab", 8, "single_word")), "ab\u0301", [0, 1, 7]),
        (added(("a", 0, "rstrip"), (" b", 8)), "a b", [0, 8]),
        (added((" ", 8, "lstrip", "rstrip")), "  ", [8]),
    ],
)
def test_by_hand(tokens: list[dict[str, Any]], text: str, expected: list[int]) -> None:
    made = document(tokens)
    assert Tokenizer.from_str(json.dumps(made)).encode(text).ids == expected
    tokeniser = loaded(made)
    assert ids(tokeniser, text) == expected
    assert tokeniser.warnings == ()


def test_a_token_is_found_in_the_normalised_text_only_if_it_says_so() -> None:
    # The text is normalised to é; as an added token alone, é is no atom, so unknown.
    for flags, expected in (((), [0, 7]), (("normalized",), [0, 8])):
        made = document(added(("é", 8, *flags)), normalizer={"type": "NFC"})
        assert Tokenizer.from_str(json.dumps(made)).encode("ae\u0301").ids == expected
        tokeniser = loaded(made)
        assert ids(tokeniser, "ae\u0301") == expected
        assert tokeniser.warnings == ()
        assert tokeniser.missing_atoms(["é"]) == []


def test_what_strip_leaves_does_not_start_the_text() -> None:
    for left, expected in ((True, [0, 1]), (False, [7, 7, 0, 1])):
        made = document(
            [],
            normalizer={"type": "Strip", "strip_left": left, "strip_right": True},
            pre_tokenizer={**metaspace("first"), "split": False},
        )
        assert Tokenizer.from_str(json.dumps(made)).encode("  ab").ids == expected
        assert ids(loaded(made), "  ab") == expected


def test_gaps_lie_where_the_contents_are() -> None:
    tokeniser = loaded(document(added(("b", 1, "lstrip", "rstrip"), ("cd", 8, "normalized"))))
    words = tokeniser.encode(["ab cd", "acdx"], bare=True)
    # a|b_|cd and a|cd|x: a token that takes white space along ends where its content does.
    assert words.gap_position.tolist() == [1, 3, NO_GAP, 1, 3, NO_GAP]


def test_an_added_token_is_no_atom_of_a_vocabulary() -> None:
    made = document(added(("Z", 8, "single_word")), pre_tokenizer={"type": "WhitespaceSplit"})
    made["model"] = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {"a": 0, "##a": 1, "b": 2, "c": 3, "d": 4, "x": 5, "½": 6, "[UNK]": 7},
    }
    library = Tokenizer.from_str(json.dumps(made))
    wordpiece = WordPiece(read_vocabulary(json.dumps(made).encode(), "t.json"))
    for text, expected in (("aZ", [7]), ("Z", [8]), ("aa Z", [0, 1, 8])):
        assert library.encode(text).ids == expected
        assert wordpiece.segment(wordpiece.encode([text], bare=True)).tokens(0) == expected


def test_an_edit_may_make_what_was_only_an_added_token() -> None:
    tokeniser = loaded(document(added(("ab", 8, "single_word"), ("Z", 9, "single_word"))))
    tokeniser.graph.anneal([("a", "b")])
    assert ids(tokeniser, "abx") == [8, 4]
    saved, _ = to_tokenizer_json(tokeniser)
    library = Tokenizer.from_str(saved.decode())
    assert library.encode("abx aZ").ids[:2] == [8, 4]
    assert ids(loaded(json.loads(saved)), "abx") == [8, 4]


TEXT = "aabbcdxZeEéÉ½- \u0301\t²_\xa0"


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    contents = draw(
        st.lists(st.text(TEXT, min_size=1, max_size=4), min_size=1, max_size=5, unique=True)
    )
    number = len(ALPHABET) + 1
    tokens = []
    for content in contents:
        flags = [flag for flag in FLAGS if draw(st.booleans())]
        own = ALPHABET.find(content) if len(content) == 1 else -1
        tokens += added((content, own if own >= 0 else number, *flags))
        number += own < 0
    made = document(
        tokens,
        normalizer=draw(st.sampled_from(NORMALIZERS)),
        pre_tokenizer=draw(st.sampled_from(PRE_TOKENIZERS)),
    )
    pieces = st.one_of(st.sampled_from(contents), st.text(TEXT, max_size=3))
    texts = draw(st.lists(st.lists(pieces, max_size=6).map("".join), min_size=1, max_size=4))
    return made, texts


@examples(200)
@given(cases())
def test_same_as_the_library(case: tuple[dict[str, Any], list[str]]) -> None:
    made, texts = case
    library = Tokenizer.from_str(json.dumps(made))
    normalizer = library.normalizer
    sought = [
        normalizer.normalize_str(token["content"]) if normalizer else token["content"]
        for token in made["added_tokens"]
        if token["normalized"]
    ]
    # Searching for nothing is not defined: the library cuts between any two bytes then. Of two
    # that look alike once normalised, it takes one at random, another one each time it is made.
    assume(
        normalizer is None
        or all(normalizer.normalize_str(t["content"]) for t in made["added_tokens"])
    )
    assume(len(set(sought)) == len(sought))
    tokeniser = loaded(made)
    for text in texts:
        try:
            expected = library.encode(text, add_special_tokens=False).ids
        except BaseException as error:  # it panics where a token begins before the taken space ends
            assert "bad split" in str(error)
            continue
        assert ids(tokeniser, text) == expected, text


def test_word_characters_are_the_librarys() -> None:
    letters = [character for character in map(chr, range(0x3000)) if character.isprintable()]
    library = Tokenizer.from_str(json.dumps(document(added(("aa", 8, "single_word"), ("bb", 9)))))
    for character in letters:
        if character not in "ab":
            found = library.encode(f"{character}aa").ids
            assert (8 not in found) == is_word_character(character), character


@pytest.mark.parametrize(
    "wrong",
    [{"content": ["a"]}, {"content": 5}, {"content": ""}, {"single_word": 1}, {"other": True}],
)
def test_damaged_added_tokens_of_a_saved_vocabulary(wrong: dict[str, Any]) -> None:
    made = document(added(("ab", 8, "normalized")))
    saved = read_vocabulary(json.dumps(made).encode(), "t.json").document()
    read = SubwordVocabulary.from_document(json.loads(json.dumps(saved)))
    assert read.preprocessor.added == (AddedToken("ab", normalized=True),)
    saved["preprocessor"]["added"] = [saved["preprocessor"]["added"][0] | wrong]
    with pytest.raises(MorphGraphError, match="Save it again"):
        SubwordVocabulary.from_document(saved)

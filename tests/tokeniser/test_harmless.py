"""What is proven before a library sees it: growth of texts, patterns and maps of characters."""

from __future__ import annotations

import io
import json
import random
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from effort import share_of
from fuzz.grammar import LETTERS, random_normaliser
from tokenizers import Tokenizer, normalizers

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus.pipelines import PIPELINES, prepare
from morphgraph.tokeniser.harmless import checked_charsmap, checked_growth
from morphgraph.tokeniser.patterns import checked_pattern, effort_of
from morphgraph.tokeniser.sentencepiece import SentencePieceText
from morphgraph.train.components import components

GPT_4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QUICK = (
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s+",
    GPT_4O,
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"(?=(\d{3})+(?!\d))",
    "^ +| +$",
    "[一-龥]+",
    r"[\p{Ll}\p{M}&&[^\p{Han}]]*[\]x]",
)
SLOW = (
    *("(x+x+)+y", "(a|a)*b", "(a|b)" * 12, "a?" * 30, "a*" * 4 + "b", "(?:(?=x){1000}){1000}"),
    *(r"(a)\1", r"(?<x>a\g<x>)", "(?x) #(", "(" * 60 + ")" * 60, "[a", "[]a]", r"[\c]]", "(?~a)"),
)


@pytest.mark.parametrize("pattern", QUICK)
def test_patterns_in_use_are_quick(pattern: str) -> None:
    checked_pattern(pattern, "a.json", "")


@pytest.mark.parametrize("pattern", SLOW)
def test_patterns_that_may_take_for_ever(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileFormatError, match="may take for ever") as caught:
        checked_pattern(pattern, "a.json", "")
    variable = caught.value.fix.rpartition(" ")[2].rstrip(".").partition("=")[0]
    monkeypatch.setenv(variable, str(10**9))
    checked_pattern(pattern, "a.json", "")


@pytest.mark.parametrize(
    "pattern, least",
    [("a", 1), ("ab?c", 2), ("a|bcd", 1), ("(?:ab){3}", 6), (r"x*\p{L}{2,5}", 2), ("(?=a)|^", 0)],
)
def test_the_least_that_a_pattern_matches(pattern: str, least: int) -> None:
    assert effort_of(pattern).least == least


def steps(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"normalizer": {"type": "Sequence", "normalizers": list(parts)}}


def replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


@pytest.mark.parametrize(
    "parts, growth",
    [
        ([], 1),
        ([replace("a", "aa")] * 3, 8),
        ([replace(mark, f" {mark}") for mark in ".,;:!?"], 2),
        ([replace(mark, f" {mark}") for mark in ".,;"] + [replace(" ", "▁▁")], 3),
        ([replace("aa", "bbb"), replace("b", "cc")], 3),
        ([replace("a+", "bb", "Regex")], 2),
        ([replace("a*", "b", "Regex")], 3),
        ([{"type": "Prepend", "prepend": "▁"}, replace("▁", "abc")], 6),
        ([{"type": "NFKC"}, {"type": "ByteLevel"}], 72),
        ([{"prepend": "abc"}], 4),  # as files without types have it
    ],
)
def test_how_a_text_may_grow(parts: list[dict[str, Any]], growth: int) -> None:
    assert checked_growth(steps(*parts), "a.json") == growth


def test_no_text_grows_more() -> None:
    """What the library makes of words, by pipelines of a grammar."""
    for seed in range(share_of(2_000)):
        choose = random.Random(seed)
        part = random_normaliser(choose)
        try:
            growth = checked_growth({"normalizer": part}, "a.json")
        except FileFormatError:
            continue
        document = {"version": "1.0", "added_tokens": [], "normalizer": part}
        document["model"] = {"type": "BPE", "vocab": {}, "merges": []}
        normaliser = Tokenizer.from_str(json.dumps(document)).normalizer
        word = "".join(choose.choices(LETTERS + "ﷺİǅ½ ", k=choose.randint(1, 12)))
        normal = word if normaliser is None else normaliser.normalize_str(word)
        assert len(normal) <= growth * len(word), (part, word)


@pytest.mark.parametrize("name", PIPELINES)
def test_our_own_pipelines_are_harmless(name: str) -> None:
    words = {letter: 100 for letter in map(chr, range(65, 0x250)) if letter.isalpha()}
    assert checked_growth(components(prepare(name, words)), "a.json") <= 200


@cache
def charsmap() -> bytes:
    """The map that SentencePiece ships."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c hello"] * 10),
        model_writer=written,
        vocab_size=12,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    messages: Any = sentencepiece_model_pb2
    model = messages.ModelProto.FromString(written.getvalue())
    return bytes(model.normalizer_spec.precompiled_charsmap)


def test_a_map_of_characters() -> None:
    """Its longest text is what ﷺ becomes: 18 letters."""
    assert checked_charsmap(charsmap(), "m.model", "") == 18
    assert checked_charsmap(b"", "m.model", "") == 1


def test_damaged_maps_are_refused_or_can_be_used() -> None:
    refused = 0
    for seed in range(share_of(400)):
        choose = random.Random(seed)
        damaged = bytearray(charsmap())
        for _ in range(choose.choice((1, 100, 5_000))):
            damaged[choose.randrange(4 if choose.random() < 0.01 else len(damaged))] ^= (
                1 << choose.randrange(8)
            )
        try:
            checked_charsmap(bytes(damaged), "m.model", "")
        except FileFormatError:
            refused += 1
            continue
        some = "".join(map(chr, choose.choices(range(32, 0xD800), k=40)))
        for text in ("ﷺ½Ａé", "日本 ㌔", some):
            normalizers.Precompiled(bytes(damaged)).normalize_str(text)
            # The library may refuse more, which is an error as well.
            with suppress(MorphGraphError):
                SentencePieceText(bytes(damaged)).characters(text)
    assert refused

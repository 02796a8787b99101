"""Parts of pipelines: known ones, maps of characters, and unknown ones in their own process."""

import json
import random
import string
import time
from contextlib import suppress
from functools import cache

import pytest
from effort import share_of
from hostile.files import metaspaces, replace, split, steps, tokeniser
from refusals import refused
from small import trained_pieces
from tokenizers import PreTokenizedString, Tokenizer, normalizers

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import PUBLIC_TEXT
from morphgraph.corpus.pipelines import PIPELINES, START_MARKERS, prepare
from morphgraph.formats.hugging_face import assumed_document, from_tokenizer_json
from morphgraph.segment.training import components
from morphgraph.tokeniser.isolated_pipeline import LONG_TEXT
from morphgraph.tokeniser.parts import check_charsmap, is_known_pattern, unknown_part
from morphgraph.tokeniser.preprocess import SentencePieceText
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}

O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

PUBLISHED = {
    "GPT-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "GPT-2 in tiktoken": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$"
    r"|\s+(?!\S)|\s",
    "cl100k, Llama 3": CL100K,
    "cl100k in tiktoken": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "Qwen 2": CL100K.replace("{1,3}", ""),
    "Qwen 2 with line ends as such": CL100K.replace(r"\r\n", "\r\n"),
    "Qwen 3.5": CL100K.replace(r"]?\p{L}+", r"]?[\p{L}\p{M}]+").replace("{1,3}", ""),
    "o200k": O200K,
    "Tekken": O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace("{1,3}", ""),
    "Kimi": r"[\p{Han}]+|" + O200K.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace("/", ""),
    "DeepSeek LLM": r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    "DeepSeek, at the end": r"\s+$",
    "BLOOM": " ?[^(\\s|[.,!?…。，、।۔،])]+",
    "CLIP": r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "Falcon": "[0-9][0-9][0-9]",
    "OLMo": r"(?=(\d{3})+(?!\d))",
    "SentencePiece": "^ +| +$",
    "SuperBPE": r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)",
    "a class": r"[一-龥぀-ゟ゠-ヿ]+",
}

BOMBS = (
    *("(?:a|a){2}a*a*a*!", "(x+x+)+y", "(a|a)*b", "(a|b)" * 12, "a?" * 30, "a*" * 4 + "b", "a+b+"),
    *(r"(a)\1", r"(?<x>a\g<x>)", "(?x) #(", "[a", "[]a]", "[[a]b]", "[a&&b]", r"[\c]]", "(?~a)"),
    *("a{0,}", "a{10}", "a{1,3}{1,3}", "a+?b", "a|" * 20 + "b", "a" * 3_000, "", "|a", "a**"),
)


@pytest.mark.parametrize("name", PUBLISHED)
def test_patterns_of_published_tokenisers_are_known(name):
    assert is_known_pattern(PUBLISHED[name])


@pytest.mark.parametrize("pattern", BOMBS)
def test_other_patterns_are_not(pattern):
    assert not is_known_pattern(pattern)


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


@pytest.mark.parametrize(
    "key, pipeline, place",
    [
        ("normalizer", None, ""),
        ("normalizer", {"type": "Sequence", "normalizers": []}, ""),
        ("normalizer", steps({"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")), ""),
        ("normalizer", steps(replace(r"\s+", " ", "Regex"), {"type": "Lowercase"}), ""),
        ("normalizer", steps(replace("``", '"'), replace("''", '"'), {"type": "NFKD"}), ""),
        ("normalizer", steps(replace("⇧", "⇧⇧"), replace("A", "⇧a"), replace("B", "⇧b")), ""),
        ("normalizer", steps(replace("a", "bb"), replace("b", "cc")), ".normalizers[1]"),
        ("normalizer", steps(replace("A", "bb"), {"type": "NFC"}, replace("c", "dd")), "[2]"),
        ("normalizer", steps({"type": "NFC"}, {"type": "NFC"}), ".normalizers[1]"),
        ("normalizer", steps(replace("a", "aa"), replace("a", "aaa")), ".normalizers[1]"),
        *(("normalizer", replace(at, "", "Regex"), "") for at in (r"\A +| +\z", "^ +| +$")),
        ("normalizer", replace("", "a"), "normalizer"),
        ("normalizer", replace("x*", "", "Regex"), "normalizer"),
        ("normalizer", replace("x+", "aa", "Regex"), "normalizer"),
        ("normalizer", replace("a", "b" * 9000), "normalizer"),
        ("normalizer", {"type": "Prepend", "prepend": "b" * 9000}, "normalizer"),
        ("normalizer", {"type": "Wild"}, "normalizer"),
        ("normalizer", ["NFC"], "normalizer"),
        ("normalizer", {"type": ["NFC"]}, "normalizer"),
        ("normalizer", {"prepend": "a"}, "normalizer"),
        ("pre_tokenizer", sequence(split(r"\p{N}"), split("[a-z]+"), split(CL100K), BYTES), ""),
        ("pre_tokenizer", sequence(split("-"), sequence(split("-"))), "[1].pretokenizers[0]"),
        ("pre_tokenizer", sequence(BYTES, BYTES), ".pretokenizers[1]"),
        ("pre_tokenizer", sequence(*(split(c) for c in "abcdefghijk")), ".pretokenizers[10]"),
        ("pre_tokenizer", metaspaces(2), ".pretokenizers[1]"),
        ("pre_tokenizer", split("(?:a|a){2}a*a*a*!"), "pre_tokenizer"),
        ("decoder", {"type": "Sequence", "decoders": [{"type": "Fuse"}, replace("▁", " ")]}, ""),
        ("decoder", replace("a", "aaaaa"), "decoder"),
    ],
)
def test_the_first_part_that_is_not_known(key, pipeline, place):
    found = unknown_part({key: pipeline}, key)
    assert found.endswith(place) and bool(found) == bool(place)


KEYS = ("normalizer", "pre_tokenizer", "decoder")


@pytest.mark.parametrize("kind", START_MARKERS)
@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_of_train_are_known(name, kind):
    words = {letter: 100 for letter in map(chr, range(65, 0x550)) if letter.isalpha()}
    try:
        parts = components(prepare(name, words, kind=kind))
    except MorphGraphError:
        pytest.skip("there is no such pipeline")
    assert [unknown_part(parts, key) for key in KEYS] == ["", "", ""]


@pytest.mark.parametrize("types", [["a</w>"], ["▁a"], ["Ġa"], ["a"]])
def test_assumed_pipelines_are_known(types):
    for alphabet in ([], list(map(chr, range(33, 0x180)))):
        document = assumed_document({text: n for n, text in enumerate([*types, *alphabet])}, [])
        assert [unknown_part(document, key) for key in KEYS] == ["", "", ""]


def test_real_tokenisers_are_known(data_folder):
    paths = list(data_folder.glob("tokenizers/*/tokenizer.json"))
    assert paths
    for path in paths:
        document = json.loads(path.read_bytes())
        assert [unknown_part(document, key) for key in KEYS] == ["", "", ""], path


def test_a_public_server_takes_no_other_parts(monkeypatch):
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    bombs = {
        "field pre_tokenizer.pretokenizers[1]": metaspaces(60),
        "field pre_tokenizer": split("(?:a|a){2}a*a*a*!"),
    }
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")
    for place, part in bombs.items():
        data = json.dumps({"model": model, "pre_tokenizer": part}).encode()
        with refused(FileFormatError, place):
            from_tokenizer_json(data, "a.json")
    tokeniser = from_tokenizer_json(json.dumps({"model": model}).encode(), "a.json")
    tokeniser.encode(["a" * PUBLIC_TEXT.usual])
    with refused():
        tokeniser.encode(["a" * (PUBLIC_TEXT.usual + 1)])


NORMALISERS = (
    *({"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")),
    *({"type": kind} for kind in ("ByteLevel", "Nmt")),
    {"type": "Prepend", "prepend": "abab"},
    *(replace(a, b) for a in "ab⇧A" for b in ("a", "bb", "AAAA", "⇧a")),
    *(replace(a, b, "Regex") for a in (".", "[^a]", "[^b]", r"\w", r"\s+") for b in ("", "a", "b")),
)

SPLITTERS = (
    *({"type": kind} for kind in ("Whitespace", "BertPreTokenizer", "UnicodeScripts")),
    {**BYTES, "add_prefix_space": True},
    *(
        {"type": "Metaspace", "replacement": c, "prepend_scheme": "always", "split": True}
        for c in "▁_"
    ),
    {"type": "Digits", "individual_digits": True},
    *map(split, (*PUBLISHED.values(), r"\d{1,3}(?=(?:\d{3})*\b)", ".", r"\s*[\r\n]+")),
)


def test_no_known_pipeline_is_slow_or_grows():
    """What the library makes of long words, by pipelines of all known parts in any order."""
    words = [
        *(c * 1_000 for c in "aA1' \n.ﷺ▁_⇧-日"),
        *(" " * 500 + "a" + "\n" * 499, "a'" * 500, "Aa1 " * 250, "1" * 999 + "a", "ﷺA'" * 333),
    ]
    known = 0
    for seed in range(share_of(600)):
        choose = random.Random(seed)
        document = {
            "normalizer": steps(*choose.sample(NORMALISERS, choose.randint(1, 5))),
            "pre_tokenizer": sequence(*choose.sample(SPLITTERS, choose.randint(1, 10))),
        }
        if unknown_part(document, "normalizer") or unknown_part(document, "pre_tokenizer"):
            continue
        known += 1
        model = {"type": "BPE", "vocab": {}, "merges": []}
        rest = {"version": "1.0", "added_tokens": [], "model": model}
        library = Tokenizer.from_str(json.dumps({**rest, **document}))
        for word in (*choose.sample(words, 3), "".join(choose.choices(string.printable, k=1_000))):
            start = time.thread_time()
            work = PreTokenizedString(word)
            work.normalize(library.normalizer.normalize)
            library.pre_tokenizer.pre_tokenize(work)
            seconds = time.thread_time() - start
            made = sum(len(piece) for piece, *_ in work.get_splits())
            assert seconds < 1, (document, word[:10])
            assert made < 100 * len(word) * (1 + 17 * ("ﷺ" in word)), (document, word[:10])
    assert known > share_of(600) / 20


@cache
def charsmap():
    """The map that SentencePiece ships."""
    from sentencepiece import sentencepiece_model_pb2

    messages = sentencepiece_model_pb2
    made = trained_pieces(["a b c hello"] * 10, "unigram", 12, hard_vocab_limit=False)
    model = messages.ModelProto.FromString(made)
    return bytes(model.normalizer_spec.precompiled_charsmap)


@pytest.mark.slow
def test_a_map_of_characters(monkeypatch):
    """Its longest text is what ﷺ becomes: 18 letters."""
    check_charsmap(b"", "m.model", "")
    monkeypatch.setenv("MORPHGRAPH_MAX_TEXT_GROWTH", "18")
    check_charsmap(charsmap(), "m.model", "")
    monkeypatch.setenv("MORPHGRAPH_MAX_TEXT_GROWTH", "17")
    with refused(FileFormatError):
        check_charsmap(charsmap(), "m.model", "")


@pytest.mark.slow
def test_damaged_maps_are_refused_or_can_be_used():
    refused = 0
    for seed in range(share_of(400)):
        choose = random.Random(seed)
        damaged = bytearray(charsmap())
        for _ in range(choose.choice((1, 100, 5_000))):
            place = choose.randrange(4 if choose.random() < 0.01 else len(damaged))
            damaged[place] ^= 1 << choose.randrange(8)
        try:
            check_charsmap(bytes(damaged), "m.model", "")
        except FileFormatError:
            refused += 1
            continue
        some = "".join(map(chr, choose.choices(range(32, 0xD800), k=40)))
        for text in ("ﷺ½Ａé", "日本 ㌔", some):
            normalizers.Precompiled(bytes(damaged)).normalize_str(text)
            # The library may refuse more, which is an error as well.
            with suppress(MorphGraphError):
                SentencePieceText(bytes(damaged)).normalised(text)
    assert refused


SLOW = "(?:a|a){2}a*a*a*!"

ADDED = [
    {"id": 3, "content": "<x>", "normalized": False, "special": True},
    {"id": 4, "content": "né", "normalized": True, "special": False},
]

WORDS = ["ab", "undo", "né<x>ab", "a b-c", "", "ǅﷺ", "<x>", "İaa", " x  y"]

PIPELINES = (
    {"normalizer": steps({"type": "NFKD"}, {"type": "Lowercase"}), "pre_tokenizer": None},
    {"normalizer": replace("n", "nn"), "pre_tokenizer": split("a")},
    {"pre_tokenizer": metaspaces(1)},
    {"normalizer": {"type": "NFC"}, "pre_tokenizer": sequence(split(r"\p{N}|b"), BYTES)},
)


def loaded(**parts):
    return from_tokenizer_json(tokeniser(**parts), "a.json")


@pytest.mark.slow
@pytest.mark.parametrize("parts", PIPELINES)
def test_it_makes_the_same_of_words(parts):
    here = loaded(**parts, added_tokens=ADDED)
    assert here.preprocessor.is_known
    there = loaded(**parts, added_tokens=ADDED)
    there.preprocessor.is_known = False
    for words in (WORDS, [" ".join(WORDS)]):
        ours, theirs = here.encode(words), there.encode(words)
        for field in ("atoms", "word_offsets", "piece_offsets", "gap_position"):
            assert getattr(ours, field).tolist() == getattr(theirs, field).tolist()
        assert ours.unknown == theirs.unknown


@pytest.mark.slow
def test_a_vocabulary_of_unknown_parts_is_saved_and_read_again():
    own = loaded(pre_tokenizer=split("(?:a)+")).preprocessor
    held = SubwordVocabulary(("a", "b"), "", own, name="a.json").document()
    read = SubwordVocabulary.from_document(json.loads(json.dumps(held))).preprocessor
    assert read.pieces("baab") == own.pieces("baab") and not read.is_known


@pytest.mark.slow
def test_parts_that_cannot_be_built_are_not_taken_for_the_last_ones():
    good = loaded(pre_tokenizer=split("(?:a)+"))
    for _ in range(2):
        with refused(FileFormatError):
            loaded(pre_tokenizer=split("(?:b"))
        assert [len(piece) for piece in good.preprocessor.pieces("baac")] == [1, 2, 1]


@pytest.mark.slow
def test_seconds_are_limited_and_the_part_is_named(monkeypatch):
    found = loaded(pre_tokenizer={"type": "Sequence", "pretokenizers": [split("b"), split(SLOW)]})
    before = found.encode(["aab"]).atoms.tolist()
    monkeypatch.setenv("MORPHGRAPH_MAX_PIPELINE_SECONDS", "1")
    with refused():
        found.encode(["a" * 1_000])
    monkeypatch.undo()
    assert found.encode(["aab"]).atoms.tolist() == before, "another process has taken its place"


@pytest.mark.slow
def test_memory_is_limited_and_the_part_is_named():
    found = loaded(normalizer=steps({"type": "NFC"}, replace("q", "b" * 9_000_000)))
    with refused():
        found.encode(["q" * 1_000])


@pytest.mark.slow
def test_long_texts_are_cut_there_even_by_known_parts(monkeypatch):
    """Some of them take the square of the length."""
    found = loaded(pre_tokenizer=split(r"\d{1,3}(?=(?:\d{3})*\b)"))
    monkeypatch.setenv("MORPHGRAPH_MAX_PIPELINE_SECONDS", "1")
    with refused():
        found.encode(["1" * 10 * LONG_TEXT])
    assert len(found.encode(["ab" * LONG_TEXT]).atoms) == 2 * LONG_TEXT

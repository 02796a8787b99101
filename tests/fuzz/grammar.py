"""Files that stay loadable: each made by a grammar and then changed within it, chosen by a seed.

Damaged bytes are mostly refused at the door. What is made here gets past it, with rare parts and
odd combinations of them.
"""

import json
import random
from collections.abc import Sequence
from typing import Any

from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, printable_bytes

LETTERS = "abdeginoruäéß日"
WORDS = (
    *("undoing", "undo", "redoing", "doing", "bandaging", "ruinöse", "né", "日日a", "Binde", "a-b"),
)
_NORMALISERS: tuple[dict[str, Any], ...] = (
    *(
        {"type": kind}
        for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")
    ),
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Replace", "pattern": {"String": "é"}, "content": "e"},
    {"type": "Replace", "pattern": {"Regex": "n+"}, "content": "nd"},
    {"type": "Replace", "pattern": {"Regex": "(?<=a)b|i?$"}, "content": ""},
    {"type": "Prepend", "prepend": "a"},
    {
        "type": "BertNormalizer",
        **dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), True),
        "strip_accents": None,
    },
)
_SPLITTERS: tuple[dict[str, Any], ...] = (
    *({"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")),
    {"type": "Digits", "individual_digits": True},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "UnicodeScripts"},
    *(
        {"type": "Split", "pattern": pattern, "behavior": behaviour, "invert": invert}
        for pattern in ({"String": "o"}, {"Regex": r"\p{L}+|[^\p{L}]"}, {"Regex": "d(?=o)|g$"})
        for behaviour in ("Isolated", "Removed", "MergedWithNext", "MergedWithPrevious")
        for invert in (False, True)
    ),
)


def tokenizer_json(choose: random.Random) -> bytes:
    """A BPE tokeniser: its alphabet, merges in any order, pipeline, added tokens and flags."""
    style = choose.choice(("bytes", "marked", "suffix", "plain"))
    suffix = "</w>" if style == "suffix" else ""
    alphabet = list(BYTE_TO_CHAR) if style == "bytes" else [*LETTERS[: choose.randint(6, 14)], "▁"]
    alphabet += [letter + suffix for letter in alphabet] if suffix else []
    words = [printable_bytes(" " + w) if style == "bytes" else "▁" + w + suffix for w in WORDS]
    types = dict.fromkeys(alphabet)
    merges: dict[tuple[str, str], None] = {}
    for _ in range(choose.choice((0, 3, 12, 40))):
        left, right = _pair(choose, list(types), words, suffix)
        types[left + right] = merges[left, right] = None
    listed: list[Any] = [list(parts) for parts in merges]
    if choose.random() < 0.3:
        choose.shuffle(listed)
    if listed and choose.random() < 0.2:
        listed.insert(choose.randrange(len(listed)), choose.choice(listed))
    if choose.random() < 0.5:
        listed = [" ".join(parts) for parts in listed]
    specials = ["<unk>", *choose.sample(("<s>", "do", "in", "a", " b", "日", "<0x41>"), 2)]
    ids = list(range(len(types) + len(specials) + 5))
    if choose.random() < 0.5:
        choose.shuffle(ids)
    vocabulary = {text: ids[number] for number, text in enumerate(types)}
    unknown = choose.choice((None, "<unk>"))
    if unknown:
        vocabulary["<unk>"] = ids[len(vocabulary)]
    added = []
    for text in specials:
        flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
        number = vocabulary.get(text, ids[-1 - len(added)])
        token = {"id": number, "content": text, **{f: choose.random() < 0.3 for f in flags}}
        added.append(token)
    model = {
        "type": choose.choice(("BPE", "BPE", "BTE")),
        "dropout": None,
        "unk_token": unknown,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": suffix or None,
        "fuse_unk": choose.random() < 0.5,
        "byte_fallback": choose.random() < 0.2,
        "ignore_merges": False,
        "vocab": vocabulary,
        "merges": listed,
    }
    document = {
        "version": "1.0",
        "added_tokens": added if choose.random() < 0.7 else [],
        "normalizer": random_normaliser(choose),
        "pre_tokenizer": _sequence(choose, "pretokenizers", _SPLITTERS, _own(choose, style)),
        "model": model,
    }
    return json.dumps(document, ensure_ascii=choose.random() < 0.5).encode()


def _pair(
    choose: random.Random, types: Sequence[str], words: Sequence[str], suffix: str
) -> tuple[str, str]:
    """Two types, mostly neighbours in a word."""
    inner = [text for text in types if not suffix or not text.endswith(suffix)]
    for _ in range(20):
        left, word = choose.choice(inner), choose.choice(words)
        right = choose.choice(types)
        if left + right in word:
            break
    return left, right


def _own(choose: random.Random, style: str) -> list[dict[str, Any]]:
    """What a style of marking the starts of words needs."""
    if style == "bytes":
        flags = {"add_prefix_space": choose.random() < 0.5, "trim_offsets": True}
        return [{"type": "ByteLevel", **flags, "use_regex": choose.random() < 0.7}]
    if style == "marked":
        scheme = choose.choice(("always", "first", "never"))
        metaspace = {"replacement": "▁", "prepend_scheme": scheme, "split": choose.random() < 0.7}
        return [{"type": "Metaspace", **metaspace}]
    return [{"type": "WhitespaceSplit"}] if style == "suffix" else []


def _sequence(
    choose: random.Random, key: str, parts: Sequence[dict[str, Any]], own: list[dict[str, Any]]
) -> dict[str, Any] | None:
    chosen = [choose.choice(parts) for _ in range(choose.choice((0, 0, 0, 1, 2, 4)))] + own
    if len(chosen) == 1 and choose.random() < 0.8:
        return chosen[0]
    return {"type": "Sequence", key: chosen} if chosen else None


def random_normaliser(choose: random.Random) -> dict[str, Any] | None:
    """A normaliser of some parts."""
    return _sequence(choose, "normalizers", _NORMALISERS, [])


def sentencepiece(choose: random.Random) -> bytes:
    """A BPE model of SentencePiece: pieces with scores, ties among them, symbols and flags."""
    from sentencepiece import sentencepiece_model_pb2

    messages: Any = sentencepiece_model_pb2
    model = messages.ModelProto()
    kind = model.SentencePiece
    model.pieces.add(piece="<unk>", score=0, type=kind.UNKNOWN)
    types = dict.fromkeys(["▁", *LETTERS[: choose.randint(6, 14)]])
    words = ["▁" + word for word in WORDS]
    for _ in range(choose.choice((0, 3, 12, 40))):
        types["".join(_pair(choose, list(types), words, ""))] = None
    listed = list(types)
    choose.shuffle(listed)
    flat = choose.random() < 0.3
    for number, text in enumerate(listed):
        chance = choose.random()
        odd = len(text) > 1 and chance < 0.1
        which = choose.choice((kind.USER_DEFINED, kind.UNUSED)) if odd else kind.NORMAL
        model.pieces.add(piece=text, score=-(number // 5 if flat else number), type=which)
    if byte_fallback := choose.random() < 0.3:
        for byte in range(256):
            model.pieces.add(piece=f"<0x{byte:02X}>", score=0, type=kind.BYTE)
    model.trainer_spec.model_type = model.trainer_spec.BPE
    model.trainer_spec.byte_fallback = byte_fallback
    for flag in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        setattr(model.normalizer_spec, flag, choose.random() < 0.7)
    return bytes(model.SerializeToString())

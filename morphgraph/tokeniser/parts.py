"""The normalisers, pre-tokenisers and decoders known to be fast and to add little text.

They are those of published tokenisers and of our own, each part at most once. What becomes of
others, `tokeniser.isolated_pipeline` says.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

PARTS_OF_TEXT = ("normalizer", "pre_tokenizer")
_MOST = {"normalizer": 2_000, "pre_tokenizer": 10, "decoder": 2_000}
"""Parts of each kind of pipeline; those written by Train replace each capital letter."""
SEQUENCES = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
_KINDS = {
    key: frozenset(kinds.split())
    for key, kinds in {
        "normalizer": "NFC NFD NFKC NFKD Nmt Lowercase StripAccents Strip Prepend BertNormalizer "
        "ByteLevel Precompiled Replace",
        "pre_tokenizer": "ByteLevel Metaspace Whitespace WhitespaceSplit BertPreTokenizer Digits "
        "Punctuation UnicodeScripts CharDelimiterSplit Split",
        "decoder": "ByteLevel Metaspace WordPiece BPEDecoder ByteFallback Fuse Strip CTC Replace",
    }.items()
}
_REPEATED = ("Replace", "Split")
"""Kinds that may occur several times in a pipeline, with different patterns."""
_LONGEST = 4
"""Characters that a part may insert before a text or for a string."""
_PATTERN_CHARACTERS = 2_000

CAPITAL = "⇧"
"""Before a letter: it is a capital. Twice: the sign itself."""
_LETTER = f"{CAPITAL}?"
_UNIT = f"(?:{CAPITAL}{CAPITAL}|{CAPITAL}?[^'’{CAPITAL}])"
"""One character of the text, with its sign for capitals."""
OUTER_MARKS = r"^(['’])\1*|(['’])\2*$|([^\P{P}'’-])\3*"
CONTRACTIONS = (
    f"(?:{_LETTER}n['’]{_LETTER}t|['’](?:"
    + "|".join("".join(_LETTER + c for c in text) for text in ("s", "re", "ve", "m", "ll", "d"))
    + "))(?=$|[-'’])"
)
# A side that is at least as long as the next one takes the apostrophe after it. A recursive group
# checks this: as many characters before the apostrophe as after it.
APOSTROPHES = (
    f"^{_LETTER}n['’]{_LETTER}t$"
    f"|['’]?(?:(?={_UNIT}*(?<even>{_UNIT}\\g<even>{_UNIT}|['’])(?:['’]|$)){_UNIT}+['’]|{_UNIT}+)"
)
DIGITS = r"\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?!\p{Nd}))"
_OWN = frozenset((OUTER_MARKS, CONTRACTIONS, APOSTROPHES, DIGITS))

_CONTRACTED = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_START = r"[^\r\n\p{L}\p{N}]?"
_CASED = (
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
    (
        r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]",
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]",
    ),
)
_EXACT = (
    _CONTRACTED,  # cl100k, Llama 3, Qwen
    "'(?i:[sdmt]|ll|ve|re)",
    "'(?:[sdmt]|ll|ve|re)",
    r"\s*[\r\n]+",
    r"\s*[\r\n]",
    r"\s+(?!\S)",
    r" +(?!\S)",  # SuperBPE
    r"\s++$",
    r"\s+$",  # DeepSeek LLM
    "^ +",  # SentencePiece's removal of extra white space
    " +$",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",  # BLOOM
    r"(?:\r?\n)+(?!\r?\n)",
    r"\d{1,3}(?=(?:\d{3})*\b)",  # Cohere
    r"(?=(\d{3})+(?!\d))",  # OLMo
    *(  # o200k, Tekken, Kimi
        f"{_START}{cased}{contracted}"
        for upper, lower in _CASED
        for cased in (f"{upper}*{lower}+", f"{upper}+{lower}*")
        for contracted in ("", f"{_CONTRACTED}?")
    ),
)
_ESCAPE = r"\\(?:[pP]\{\^?\w{1,40}\}|u[0-9a-fA-F]{4}|[dDsSwWhHrnt]|[^a-zA-Z0-9])"
_CLASS = rf"(?:\[\^?(?:{_ESCAPE}|[^\[\]\\&]|&(?!&))+\]|{_ESCAPE}|[^\\^$|?*+()\[\]{{}}])"
_TIMES = r"(?:\+|\{[1-9](?:,\d?)?\})"
# Nothing in it can match in two ways, except an optional character at either end.
_PLAIN = rf"(?:{_CLASS}\?\+?)?{_CLASS}{{1,16}}(?:{_TIMES}\+?)?(?:{_CLASS}[*?]\+?)?"
_ONE = rf"(?:{'|'.join(map(re.escape, sorted(_EXACT, key=len, reverse=True)))}|{_PLAIN})"
_MORE = 15
"""The number of alternatives beside the first one; GPT-2's pattern has nine."""
_ALL_PLAIN = re.compile(rf"{_PLAIN}(?:\|{_PLAIN}){{0,{_MORE}}}")
_KNOWN = re.compile(rf"{_ONE}(?:\|{_ONE}){{0,{_MORE}}}")
_CONTROLS = str.maketrans({"\r": r"\r", "\n": r"\n", "\t": r"\t"})


def is_known_pattern(pattern: str) -> bool:
    r"""Return whether a regular expression is ours, or made of published alternatives.

    These are plain strings, runs of characters of a class, or listed ones.

    >>> is_known_pattern(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|\p{N}{1,3}| ?[^\s\p{L}]+[\r\n]*|\s+(?!\S)")
    True
    >>> is_known_pattern("(?:a|a){2}a*a*a*!")
    False
    """
    return pattern in _OWN or _matches(_KNOWN, pattern)


def _matches(known: re.Pattern[str], pattern: str) -> bool:
    if len(pattern) > _PATTERN_CHARACTERS:
        return False
    return known.fullmatch(pattern.translate(_CONTROLS)) is not None


def parts_in_order(pipeline: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Return the parts of a pipeline with their places, sequences flattened.

    >>> fuse_twice = {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Fuse"}]}
    >>> [place for place, _ in parts_in_order(fuse_twice, "decoder")]
    ['decoder.decoders[0]', 'decoder.decoders[1]']
    """
    waiting = [(key, pipeline)]
    while waiting:
        place, part = waiting.pop()
        inner = part.get(SEQUENCES[key]) if isinstance(part, dict) else None
        if isinstance(inner, list) and part.get("type") == "Sequence":
            places = (f"{place}.{SEQUENCES[key]}[{number}]" for number in range(len(inner)))
            waiting += reversed(list(zip(places, inner, strict=True)))
        elif part is not None:
            yield place, part


def unknown_part(document: Mapping[str, Any], key: str) -> str:
    """Return the place of the first unknown part of a pipeline; empty if all are known."""
    seen: set[str] = set()
    written: set[str] = set()
    is_over = False
    for number, (place, part) in enumerate(parts_in_order(document.get(key), key)):
        kind = part.get("type") if isinstance(part, dict) else None
        if number >= _MOST[key] or not isinstance(kind, str) or kind not in _KINDS[key]:
            return place
        name = kind if kind not in _REPEATED else json.dumps([kind, part.get("pattern")])
        if name in seen or not _is_small(part):
            return place
        seen.add(name)
        if not _grows(part):
            is_over |= bool(written)
            continue
        # Added text must not grow again: no part matches the output of an earlier one, and no other
        # part is between them.
        if is_over or not written.isdisjoint(part["pattern"]["String"]):
            return place
        written.update(part["content"])
    return ""


_AT_ENDS = (r"\A +| +\z", "^ +| +$")
"""Spaces at the ends of a text, and of each of its lines as exports had it."""


def _is_small(part: Mapping[str, Any]) -> bool:
    """Return whether a part's pattern is known, and its replacement short."""
    if part["type"] == "Prepend":
        return len(str(part.get("prepend"))) <= _LONGEST
    if part["type"] not in _REPEATED:
        return True
    pattern, content = part.get("pattern"), part.get("content", "")
    if not isinstance(pattern, dict) or len(pattern) != 1 or not isinstance(content, str):
        return False
    if isinstance(plain := pattern.get("String"), str):
        return bool(plain) and len(content) <= max(_LONGEST, len(plain))
    expression = pattern.get("Regex")
    if not isinstance(expression, str) or part["type"] == "Split":
        return isinstance(expression, str) and is_known_pattern(expression)
    # It matches at least one character.
    return len(content) <= 1 and (expression in _AT_ENDS or _matches(_ALL_PLAIN, expression))


def _grows(part: Mapping[str, Any]) -> bool:
    plain = part["pattern"].get("String") if part["type"] == "Replace" else None
    return plain is not None and len(part["content"]) > len(plain)


DOWNLOAD_AGAIN = "Download the file again."

"""The parts of pipelines: which are known to be fast and to add little text, and those built.

Known are those of published tokenisers and of our own, each part at most once. What becomes of
others, `tokeniser.isolated_pipeline` says.
"""

import base64
import json
import re
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import CHARSMAP_BYTES, TEXT_GROWTH, is_public
from morphgraph.core.text import shortened

DOWNLOAD_AGAIN = "Download the file again."

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


def check_parts(document: Mapping[str, Any], name: str, fix: str) -> bool:
    """Return whether all parts of a document's pipeline are known.

    `FileFormatError` for those that run nowhere, or not in public mode.
    """
    for place, part in parts_in_order(document.get("normalizer"), "normalizer"):
        charsmap = part.get("precompiled_charsmap") if isinstance(part, dict) else None
        if isinstance(charsmap, str):
            check_charsmap(charsmap, name, f"field {place}")
    *places, decoder = (unknown_part(document, key) for key in (*PARTS_OF_TEXT, "decoder"))
    unknown, public = next(filter(None, places), ""), is_public()
    if decoder or (unknown and public):
        problem = "a public server does not run this part"
        own = "Open the file on your own machine."
        if not public:
            problem, own = "no published tokeniser has such a decoder", "Remove it."
        raise FileFormatError(name, f"field {decoder or unknown}", problem, own)
    for key in PARTS_OF_TEXT:
        if document.get(key) is not None and not isinstance(document[key], dict):
            raise FileFormatError(name, f"field {key}", "this is not a part of a pipeline", fix)
    return not unknown


def charsmap_of(document: Mapping[str, Any]) -> bytes:
    """Return a normaliser's rules for characters; empty if it has none."""
    parts = parts_in_order(document.get("normalizer"), "normalizer")
    charsmaps = (part.get("precompiled_charsmap") for _, part in parts if isinstance(part, dict))
    return base64.b64decode(next((text for text in charsmaps if isinstance(text, str)), ""))


_LONGEST_RULE = 32
"""Bytes that a rule may replace; sentencepiece has room for this many rules with a common prefix.
"""
_LEAF, _LABEL, _VALUE = np.uint32(1 << 8), np.uint32(0x8000_00FF), np.uint32(0x7FFF_FFFF)


def check_charsmap(charsmap: bytes | str, name: str, place: str) -> None:
    """Raise `FileFormatError` if a map could leave its array, or make texts very long.

    A string is in base64, as in files of Hugging Face's library. The map is the length of a trie in
    bytes, the trie as a double array (Darts), and the texts that its values point to, each ending
    in a zero byte.
    """
    wrong = FileFormatError(
        name, place, "the precompiled map of characters is damaged", DOWNLOAD_AGAIN
    )
    try:
        if isinstance(charsmap, str):
            charsmap = base64.b64decode(charsmap, validate=True)
    except ValueError as error:
        raise wrong from error
    if not charsmap:
        return
    CHARSMAP_BYTES.check(len(charsmap), name, place)
    size = struct.unpack_from("<I", charsmap)[0] if len(charsmap) >= 4 else 0
    if not 4 <= size <= len(charsmap) - 4 or size % 4:
        raise wrong
    units = np.frombuffer(charsmap, "<u4", size // 4, 4)
    texts = charsmap[4 + size :]
    try:
        lengths = [len(text) for text in texts.decode().split("\0")]
    except UnicodeDecodeError as error:
        raise wrong from error
    values = _values_of(units)
    if values is None:
        raise wrong
    starts = np.zeros(len(texts) + 1, np.bool_)
    starts[: len(texts)] = (np.frombuffer(texts, np.uint8) & 0xC0) != 0x80
    if (values >= len(texts)).any() or not starts[values].all():
        raise wrong
    TEXT_GROWTH.check(max(lengths), name, place)


def _values_of(units: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64] | None:
    """Return the values in a double array; None if a search could leave the array."""
    count = len(units)
    offsets = (units >> np.uint32(10)) << ((units & np.uint32(1 << 9)) >> np.uint32(6))
    bases = np.arange(count, dtype=np.int64) ^ offsets.astype(np.int64)
    reached, values = np.zeros(1, np.int64), []
    letters = np.arange(256)
    for _ in range(_LONGEST_RULE + 1):
        if (bases[reached] | 0xFF).max(initial=0) >= count:
            return None
        with_leaf = reached[(units[reached] & _LEAF) != 0]
        values.append(units[bases[with_leaf]] & _VALUE)
        # A search continues where the label of a place is the letter that leads to it.
        following = []
        for first in range(0, len(reached), 4096):
            places = bases[reached[first : first + 4096], None] ^ letters
            following.append(places[(units[places] & _LABEL) == letters])
        reached = np.unique(np.concatenate(following))
        if not len(reached):
            return np.concatenate(values).astype(np.int64)
    return None


def library_of(parts: Any) -> Any:
    """Return a tokeniser of the library with some parts and nothing else."""
    from tokenizers import Tokenizer

    model = {"type": "BPE", "vocab": {}, "merges": []}
    return Tokenizer.from_str(
        json.dumps({"version": "1.0", "added_tokens": [], "model": model, **parts})
    )


class PartError(MorphGraphError):
    """A part of a pipeline exceeded a limit; ``place``: the part, ``problem``: the limit."""

    def __init__(self, place: str, problem: str, variable: str, text: str) -> None:
        self.place, self.problem, self.variable = place, problem, variable
        super().__init__(
            f"On “{shortened(text)}”, {place} of the tokeniser {problem}. Leave that text out, use "
            f"another tokeniser, or set {variable}."
        )


@contextmanager
def trying(name: str, fix: str, problem: str = "they fail on a simple word") -> Iterator[None]:
    """Try a pipeline; any failure is a `FileFormatError`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except PartError as error:
        out = f"Remove it, or set {error.variable}."
        raise FileFormatError(name, error.place, f"it {error.problem}", out) from error
    except BaseException as error:  # a panic of the library is no Exception
        problem = f"{problem} ({shortened(str(error), 120)})"
        raise FileFormatError(name, "fields normalizer and pre_tokenizer", problem, fix) from error

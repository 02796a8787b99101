"""The parts of a pipeline, proven harmless before a library sees them.

What the `tokenizers` and `sentencepiece` libraries would do with a file is native code: no limit
on memory or time holds there, and where they read beyond an array, or cannot get memory, the whole
process ends. So the number of parts, what each makes of a text at most, every regular expression
and every compiled map of characters are checked here first.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import (
    CHARSMAP_BYTES,
    GROWN_CHARACTERS,
    PIPELINE_GROWTH,
    PIPELINE_PARTS,
    TEXT_GROWTH,
)
from morphgraph.core.text import shortened
from morphgraph.tokeniser.patterns import checked_pattern

PARTS_OF_TEXT = ("normalizer", "pre_tokenizer")
_PARTS_OF_IDS = ("post_processor", "decoder")
_FIX = "Take out what is not needed"
_DOWNLOAD_AGAIN = "Download the file again."

_FACTORS = {"NFC": 4, "NFD": 4, "NFKC": 18, "NFKD": 18, "Lowercase": 3, "ByteLevel": 4}
"""Characters that one may become: Unicode's longest forms, and the bytes of one character."""
_FACTORS["BertNormalizer"] = _FACTORS["NFD"] * _FACTORS["Lowercase"]


def checked_growth(document: Mapping[str, Any], name: str) -> int:
    """The most characters that a pipeline makes of one, at least 1.

    Its parts stand in the fields of a ``tokenizer.json``. `FileFormatError` for what could take for
    ever, fill the memory or end the process.
    """
    found = [
        (f"field {key}", value)
        for key in (*PARTS_OF_TEXT, *_PARTS_OF_IDS)
        for value in _in_order(document.get(key))
    ]
    PIPELINE_PARTS.check(len(found), name, fix=_FIX)
    growth = _Growth()
    for place, part in reversed(found):
        grown = growth.before(part, name, place)
        if place.removeprefix("field ") in PARTS_OF_TEXT:
            growth = grown
        if growth.most > PIPELINE_GROWTH.value:
            problem = f"its parts may make {math.ceil(growth.most):,} characters of one"
            raise PIPELINE_GROWTH.exceeded(name, place, problem, _FIX)
    return math.ceil(growth.most)


_ALWAYS_FITS = 1_000  # characters; to ask for the limit takes longer than to encode a word


def check_length(text: str, growth: int) -> None:
    """`MorphGraphError` for a text that a pipeline of this growth could make too long."""
    longest = len(text) * growth
    if longest > _ALWAYS_FITS and longest > GROWN_CHARACTERS.value:
        raise MorphGraphError(
            f"“{shortened(text)}” might become {longest:,} characters in the tokeniser's "
            f"normaliser, the limit is {GROWN_CHARACTERS.value:,}. Leave it out, use another "
            f"tokeniser, or set {GROWN_CHARACTERS.variable}."
        )


def check_grown(text: str, grown: int) -> None:
    """`MorphGraphError` where a text became much longer than any normal form makes it."""
    if grown > 1_000 + TEXT_GROWTH.value * len(text):
        raise MorphGraphError(
            f"The tokeniser's normaliser makes {grown:,} characters of the {len(text):,} of "
            f"“{shortened(text)}”. Use another tokeniser, or set {TEXT_GROWTH.variable}, now "
            f"{TEXT_GROWTH.value:,} for each."
        )


def _in_order(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in a value of JSON, in their order."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            if isinstance(inner, dict | list):
                yield from _in_order(inner)


_MOST_OWN = 5_000
"""So many characters are told apart."""


@dataclass(frozen=True)
class _Growth:
    """How many characters become of one: of ``own`` characters, and of any other one."""

    usual: float = 1
    own: Mapping[str, float] = field(default_factory=dict)
    most: float = 1

    @classmethod
    def any(cls, most: float) -> _Growth:
        """The same of any character."""
        return cls(most, {}, most)

    def of(self, text: str) -> float:
        """What becomes of a text; where it is very long anyway, at most."""
        if len(text) > PIPELINE_GROWTH.value:
            return len(text) * self.most
        return sum(self.own.get(character, self.usual) for character in text)

    def at_least(self, size: float, more: float = 0) -> _Growth:
        """Where any character may become so many, and has some more beside it."""
        own = {character: max(own, size) + more for character, own in self.own.items()}
        return _Growth(max(self.usual, size) + more, own, max(self.most, size) + more)

    def before(self, part: Mapping[str, Any], name: str, place: str) -> _Growth:
        """With a part before it, which may lack a type, as in old files."""
        kind = part.get("type")
        if isinstance(kind, str) and kind in _FACTORS:
            return _Growth.any(_FACTORS[kind] * self.most)
        if "strip_accents" in part:
            return _Growth.any(_FACTORS["BertNormalizer"] * self.most)
        if isinstance(prefix := part.get("prepend"), str):
            return self.at_least(0, self.of(prefix))
        if isinstance(charsmap := part.get("precompiled_charsmap"), str):
            return _Growth.any(_longest_of(charsmap, name, place) * self.most)
        pattern, content = part.get("pattern"), part.get("content")
        if not isinstance(pattern, dict):
            return self
        size = self.of(content) if isinstance(content, str) else 0
        if isinstance(expression := pattern.get("Regex"), str):
            least = checked_pattern(expression, name, place).least
            # What matches nothing is replaced before and behind each character.
            return self.at_least(size / least) if least else self.at_least(0, 2 * size)
        if not isinstance(plain := pattern.get("String"), str) or not size:
            return self
        if not plain:
            return self.at_least(0, 2 * size)
        most = max(self.most, size / len(plain))
        if len(self.own) + len(plain) > _MOST_OWN:
            return _Growth.any(most)
        own = {letter: max(self.of(letter), size / len(plain)) for letter in plain}
        return _Growth(self.usual, {**self.own, **own}, most)


def _longest_of(charsmap: str, name: str, place: str) -> int:
    try:
        return checked_charsmap(base64.b64decode(charsmap, validate=True), name, place)
    except (binascii.Error, ValueError) as error:
        problem = "the precompiled map of characters is not base64"
        raise FileFormatError(name, place, problem, _DOWNLOAD_AGAIN) from error


_LONGEST_RULE = 32
"""Bytes that a rule may replace; sentencepiece has room for so many rules that begin alike."""
_LEAF, _LABEL, _VALUE = np.uint32(1 << 8), np.uint32(0x8000_00FF), np.uint32(0x7FFF_FFFF)


def checked_charsmap(charsmap: bytes, name: str, place: str) -> int:
    """The most characters that SentencePiece's compiled map makes of one, at least 1.

    The map is the length of a trie in bytes, the trie as a double array (Darts), and the texts that
    its values point at, each ending in a zero byte. `FileFormatError` where a search could leave
    the array or point elsewhere: both libraries follow it without looking.
    """
    if not charsmap:
        return 1
    wrong = FileFormatError(
        name, place, "the precompiled map of characters is damaged", _DOWNLOAD_AGAIN
    )
    CHARSMAP_BYTES.check(len(charsmap), name, place, _FIX)
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
    return max(1, *lengths)


def _values_of(units: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64] | None:
    """The values that a search in a double array can find; None if one could leave the array."""
    count = len(units)
    offsets = (units >> np.uint32(10)) << ((units & np.uint32(1 << 9)) >> np.uint32(6))
    bases = np.arange(count, dtype=np.int64) ^ offsets.astype(np.int64)
    reached, found = np.zeros(1, np.int64), []
    letters = np.arange(256)
    for _ in range(_LONGEST_RULE + 1):
        if (bases[reached] | 0xFF).max(initial=0) >= count:
            return None
        with_leaf = reached[(units[reached] & _LEAF) != 0]
        found.append(units[bases[with_leaf]] & _VALUE)
        # A search goes on where the label of a place is the letter that leads to it.
        following = []
        for first in range(0, len(reached), 4096):
            places = bases[reached[first : first + 4096], None] ^ letters
            following.append(places[(units[places] & _LABEL) == letters])
        reached = np.unique(np.concatenate(following))
        if not len(reached):
            return np.concatenate(found).astype(np.int64)
    return None

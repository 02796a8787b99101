"""Check SentencePiece's compiled character maps before a library uses them.

Both `tokenizers` and `sentencepiece` follow such a map unchecked: one that leads beyond its array
would crash the whole process.
"""

import base64
import binascii
import struct

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import CHARSMAP_BYTES, TEXT_GROWTH

_DOWNLOAD_AGAIN = "Download the file again."


def check_encoded_charsmap(charsmap: str, name: str, place: str) -> None:
    """Apply `check_charsmap` to a base64 map, as in files of Hugging Face's library."""
    try:
        check_charsmap(base64.b64decode(charsmap, validate=True), name, place)
    except (binascii.Error, ValueError) as error:
        problem = "the precompiled map of characters is not base64"
        raise FileFormatError(name, place, problem, _DOWNLOAD_AGAIN) from error


_LONGEST_RULE = 32
"""Bytes that a rule may replace; sentencepiece has room for this many rules with a common prefix.
"""
_LEAF, _LABEL, _VALUE = np.uint32(1 << 8), np.uint32(0x8000_00FF), np.uint32(0x7FFF_FFFF)


def check_charsmap(charsmap: bytes, name: str, place: str) -> None:
    """Raise `FileFormatError` if a map could leave its array, or make texts very long.

    The map is the length of a trie in bytes, the trie as a double array (Darts), and the texts that
    its values point to, each ending in a zero byte.
    """
    if not charsmap:
        return
    wrong = FileFormatError(
        name, place, "the precompiled map of characters is damaged", _DOWNLOAD_AGAIN
    )
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
    reached, found = np.zeros(1, np.int64), []
    letters = np.arange(256)
    for _ in range(_LONGEST_RULE + 1):
        if (bases[reached] | 0xFF).max(initial=0) >= count:
            return None
        with_leaf = reached[(units[reached] & _LEAF) != 0]
        found.append(units[bases[with_leaf]] & _VALUE)
        # A search continues where the label of a place is the letter that leads to it.
        following = []
        for first in range(0, len(reached), 4096):
            places = bases[reached[first : first + 4096], None] ^ letters
            following.append(places[(units[places] & _LABEL) == letters])
        reached = np.unique(np.concatenate(following))
        if not len(reached):
            return np.concatenate(found).astype(np.int64)
    return None

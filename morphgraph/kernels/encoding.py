"""Encode words of letters for a byte-level tokeniser in one pass over their bytes."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def encode_letters(text, separator, words, prefix, byte_atoms, inside):  # type: ignore[no-untyped-def]
    """Return the atoms, word offsets (n + 1) and gap positions of separated words.

    ``text`` and ``separator``, a character of two bytes: uint8, UTF-8. ``prefix``: uint8, put
    before each word. ``byte_atoms``: int32, by byte. The offsets end in -1 where a word is empty or
    holds the separator. A gap's position is the number of characters to its left; ``inside`` a
    character's bytes, and 0 after the prefix and at the end of the word (see `Words`).
    """
    length = text.shape[0]
    size = length - 2 * (words + 1) + words * prefix.shape[0]
    atoms = np.empty(size, np.int32)
    position = np.empty(size, np.int32)
    offsets = np.zeros(words + 1, np.int64)
    at = np.int64(0)
    word = np.int64(0)
    read = np.int64(2)
    while word < words and read < length:
        for byte in prefix:
            atoms[at] = byte_atoms[byte]
            position[at] = 0
            at += 1
        characters = np.int32(0)
        first = read
        while text[read] != separator[0] or text[read + 1] != separator[1]:
            if (text[read] & 0xC0) == 0x80:
                position[at - 1] = inside
            else:
                characters += 1
            atoms[at] = byte_atoms[text[read]]
            position[at] = characters
            at += 1
            read += 1
        if read == first:
            break
        position[at - 1] = 0
        read += 2
        word += 1
        offsets[word] = at
    if word < words or read < length:
        offsets[words] = -1
    return atoms, offsets, position


def warm_up() -> None:
    """Compile every kernel for the dtypes in use, so that the disk cache holds them."""
    text, space = (np.frombuffer(part, np.uint8) for part in (b"::a::b::", b" "))
    encode_letters(text, text[:2], 2, space, np.zeros(256, np.int32), -1)

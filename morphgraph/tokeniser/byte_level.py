"""GPT-2's encoding of any string in 256 printable characters, one per UTF-8 byte.

Source: Radford et al. 2019, the released encoder. Hugging Face's `ByteLevel` uses the same
characters.
"""


def byte_alphabet() -> tuple[str, ...]:
    """Return the printable character of each of the 256 bytes.

    Bytes that are a visible Latin-1 character stand for themselves; the others, in ascending order,
    get the code points from 256 on.

    >>> characters = byte_alphabet()
    >>> characters[ord("a")], characters[ord(" ")], characters[ord("\\n")]
    ('a', 'Ġ', 'Ċ')
    """
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    substitutes = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in visible else next(substitutes)) for byte in range(256))


BYTE_TO_CHAR: tuple[str, ...] = byte_alphabet()
CHAR_TO_BYTE: dict[str, int] = {char: byte for byte, char in enumerate(BYTE_TO_CHAR)}

_FROM_LATIN_1 = dict(enumerate(BYTE_TO_CHAR))


def encode(text: str) -> str:
    """Write the UTF-8 bytes of `text` in printable characters; a lone surrogate raises
    `UnicodeEncodeError`.

    >>> encode(" café")
    'ĠcafÃ©'
    """
    return text.encode("utf-8").decode("latin-1").translate(_FROM_LATIN_1)


def readable_bytes(type_: str) -> str:
    """Decode the bytes of a byte-level type.

    >>> readable_bytes("ĠÃ¤hn")
    'Ġähn'
    >>> readable_bytes("Ã")
    '⟨C3⟩'
    """
    if type_.isascii():
        return type_
    marker = "Ġ" if type_.startswith("Ġ") else ""
    body = type_[len(marker) :]
    if not all(character in CHAR_TO_BYTE for character in body):
        return type_
    decoded = bytes(CHAR_TO_BYTE[character] for character in body).decode(
        "utf-8", "surrogateescape"
    )
    return marker + "".join(map(_visible, decoded))


def _visible(character: str) -> str:
    """Return a character, or hexadecimal for a stray byte or a control character."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte, from "surrogateescape"
        code -= 0xDC00
    elif character.isprintable() or character == " ":
        return character
    return f"⟨{code:02X}⟩"

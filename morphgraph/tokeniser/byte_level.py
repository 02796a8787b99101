"""GPT-2's way to write any string in 256 printable characters, one per UTF-8 byte.

Source: Radford et al. 2019, the released encoder. Hugging Face's `ByteLevel` uses the same
characters.
"""


def byte_alphabet() -> tuple[str, ...]:
    """Give the printable character of each of the 256 bytes.

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


def decode(text: str) -> str:
    """Read back what `encode` wrote.

    Bytes that are no UTF-8 (a type may end inside a character) become U+FFFD; a character outside
    the 256 counts as its own UTF-8 bytes.

    >>> decode("ĠcafÃ©"), decode("cafÃ")
    (' café', 'caf\\ufffd')
    """
    data = bytearray()
    for char in text:
        byte = CHAR_TO_BYTE.get(char)
        if byte is None:
            data += char.encode("utf-8", errors="replace")
        else:
            data.append(byte)
    return data.decode("utf-8", errors="replace")

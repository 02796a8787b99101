"""A vocabulary for looking up substrings of a piece."""

from collections.abc import Iterable, Mapping
from typing import Any

from tokenizers import Token

from .pieces import Pieces


class Lookup(Pieces):
    """The base of methods without merges: types by their strings, in two forms.

    ``plain``: as they stand; ``marked``: without the marker that they have in front, ``##`` inside
    a word, ``Ġ`` or ``▁`` at its start. An end-of-word suffix belongs to the last character.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        vocabulary = model["method"]["model"]
        settings = vocabulary["preprocessor"]
        self.parameters: dict[str, Any] = model["method"]["parameters"]
        self.types: list[str] = vocabulary["types"]
        self.shown = [model["vocab"][text] for text in self.types]
        """The id of each type, by its number."""
        self.marker: str = vocabulary["marker"]
        self.suffix: str = settings["suffix"]
        self.bytes = {f"<0x{byte:02X}>": -1 for byte in range(256)}
        numbers = {text: number for number, text in enumerate(self.types)}
        self.byte_fallback = settings["byte_fallback"] and numbers.keys() >= self.bytes.keys()
        if self.byte_fallback:
            self.bytes = {text: numbers[text] for text in self.bytes}
        self.unknown_number: int | None = numbers.get(vocabulary["unknown"])
        left_out = {*vocabulary["special"], *(token["content"] for token in settings["added"])}
        if self.byte_fallback:
            left_out |= self.bytes.keys()
        self.plain = {text: n for text, n in numbers.items() if text not in left_out}
        self.marked = {
            text[len(self.marker) :]: number
            for text, number in self.plain.items()
            if self.marker and text.startswith(self.marker) and text != self.marker
        }
        alphabet = {
            c for text in self.plain if not self.byte_fallback or len(text) == 1 for c in text
        }
        self.has_marker = self.marker in alphabet
        # An unknown marker does not count as a character of a token either, but may be bytes.
        self.marks = "".join(m for m in "Ġ▁" if m in alphabet or not self.byte_fallback)
        self.longest = max(map(len, self.plain), default=0)
        # By their marker or without it, types spell a piece out: at its start, and later.
        self.spelled = (self.plain, self.marked if self.marker == "##" else self.plain)

    def atom_count(self, characters: Iterable[str]) -> int:
        """A character that is no type of its own is its bytes, where there are types for these."""
        if not self.byte_fallback:
            return sum(1 for _ in characters)
        return sum(1 if c in self.plain else len(c.encode()) for c in characters)

    def size(self, text: str, token: Token | None) -> int:
        """A token of a byte is one."""
        if token is not None and self.byte_fallback and token.value in self.bytes:
            return 1
        return self.atom_count(character for character in text if character not in self.marks)

    def characters(self, piece: str) -> tuple[list[str], list[int]]:
        """The characters of a piece, and the byte at which each begins and the last one ends."""
        characters = list(piece)
        offsets = [0]
        for character in characters:
            offsets.append(offsets[-1] + len(character.encode()))
        if characters:
            characters[-1] += self.suffix
        return characters, offsets

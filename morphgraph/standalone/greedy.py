"""The longest type from the left: greedy for any marker, and WordPiece."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Token

from .vocabulary import Lookup


class Greedy(Lookup):
    """Takes the longest type at each place; a character without one is an unknown token.

    As WordPiece, a piece that cannot be finished, or is too long, is one unknown token.
    Source: Wu et al. 2016.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        self.whole = model["type"] == "wordpiece"
        if self.whole:
            name = self.parameters["unknown"]
            self.unknown_number = self.types.index(name) if name in self.types else None
        self.unknown = None if self.unknown_number is None else self.shown[self.unknown_number]

    def cut(self, piece: str) -> list[Token]:
        """Return the tokens of a piece."""
        characters, offsets = self.characters(piece)
        found: list[tuple[int | None, int, int]] = []
        at = 0
        if self.whole and self.atom_count(characters) > self.parameters["longest_word"]:
            return self._tokens([(self.unknown_number, 0, offsets[-1])])
        while at < len(characters):
            form = self.spelled[at > 0]
            end = min(len(characters), at + self.longest)
            while end > at and "".join(characters[at:end]) not in form:
                end -= 1
            if end > at:
                found.append((form["".join(characters[at:end])], offsets[at], offsets[end]))
            elif self.whole:
                return self._tokens([(self.unknown_number, 0, offsets[-1])])
            else:
                end = at + 1
                found += self._stand_ins(characters[at], offsets[at], offsets[end])
            at = end
        return self._tokens(found)

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """Return the whole piece for WordPiece."""
        if self.whole:
            return [] if tokens else [(0, len(piece.encode()))]
        return super().unnamed(piece, tokens)

    def _stand_ins(self, character: str, start: int, end: int) -> list[tuple[int | None, int, int]]:
        if not self.byte_fallback or character in self.plain:
            return [(self.unknown_number, start, end)]
        return [(self.bytes[f"<0x{byte:02X}>"], start, end) for byte in character.encode()]

    def _tokens(self, found: list[tuple[int | None, int, int]]) -> list[Token]:
        return [
            Token(self.shown[number], self.types[number], (start, end))
            for number, start, end in found
            if number is not None
        ]

"""Least tokens and longest suffix in plain Python, which ships in exported folders."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Token

from morphgraph.standalone.lookup import Lookup, Placed, Unigram

UNKNOWN_COST = float(1 << 26)
"""More than the tokens of any piece."""


class LookingForLeast(Unigram):
    """The fewest tokens and, before that, the fewest unknown characters; earlier starts win ties.

    Source: Uzan et al. 2024; Schmidt et al. 2024.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        Lookup.__init__(self, model)
        self.unknown = None if self.unknown_number is None else self.shown[self.unknown_number]
        self._kind = "d"
        self.scores = [-1.0] * len(self.types)
        self._penalty = -UNKNOWN_COST


class LookingFromRight(Lookup):
    """Takes the longest type from the right; what is left without a type is left out.

    Source: Uzan et al. 2024.
    """

    def cut(self, piece: str) -> list[Token]:
        characters, offsets = self.characters(piece)
        placed: list[Placed] = []
        end = len(characters)
        while end > 0:
            start = max(0, end - self.longest)
            while start < end and "".join(characters[start:end]) not in self.spelled[start > 0]:
                start += 1
            if start < end:
                type_ = self.spelled[start > 0]["".join(characters[start:end])]
                placed.append((type_, offsets[start], offsets[end]))
            elif self.byte_fallback and characters[end - 1] not in self.plain:
                start = end - 1
                placed += reversed(self.bytes_of(characters[start], offsets[start], offsets[end]))
            else:
                break
            end = start
        return self.tokens(reversed(placed))

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """Return nothing: what is left out is no token."""
        return []

"""FIRST and LONGEST: keep a few of the tokens of another method."""

from collections.abc import Iterable, Mapping
from typing import Any

from tokenizers import Token

from .pieces import Pieces, units


class Kept(Pieces):
    """Keeps the ``k`` first or longest tokens of each unit of a text, leftmost among equals.

    A token belongs to the unit that it begins in; its length is in characters without a
    start-of-word marker. Source: Hofmann et al. 2022, §3.
    """

    def __init__(self, model: Mapping[str, Any], inner: Pieces) -> None:
        super().__init__(model)
        self.inner: Pieces = inner
        self.symbols = inner.symbols
        self.k: int = model["k"]
        self.by_length = model["type"] == "longest"

    def fill(self, pieces: Iterable[str]) -> None:
        """Fill the other method's cache."""
        self.inner.fill(pieces)

    def pre_tokenize(self, text: Any) -> None:
        """Segment pieces of one unit together, as they share its ``k``."""
        pieces = units(text)
        rows = self.inner.several(pieces)
        of_unit: dict[int, list[tuple[int, int, int, int]]] = {}
        for number, ((piece, numbers), tokens) in enumerate(zip(pieces, rows, strict=True)):
            whole = piece.encode()
            spans = [(*token.offsets, place) for place, token in enumerate(tokens)]
            spans += [(*span, -1) for span in self.inner.unnamed(piece, tokens)]
            for start, end, place in spans:
                token = tokens[place] if place >= 0 else None
                length = self.inner.size(whole[start:end].decode(), token)
                unit = numbers[len(whole[:start].decode())]
                first = -length if self.by_length else 0
                of_unit.setdefault(unit, []).append((first, number, start, place))
        kept = {
            (number, place)
            for entries in of_unit.values()
            for _, number, _, place in sorted(entries)[: self.k]
        }
        found: list[list[Token]] = [
            [token for place, token in enumerate(tokens) if (number, place) in kept]
            for number, tokens in enumerate(rows)
        ]
        left = iter(found)
        text.tokenize(lambda _: next(left))

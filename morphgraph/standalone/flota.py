"""FLOTA: repeatedly take the longest substring that is a type, leftmost among equals."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Token

from .pieces import units
from .vocabulary import Lookup


class Flota(Lookup):
    """At most ``k`` tokens of each unit of a text, in order of position; the rest is left out.

    Source: Hofmann et al. 2022, Fig. 1.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        self.k: int | None = self.parameters["k"]
        self.strict = bool(self.parameters.get("strict"))
        self.marks_start = self.marker in ("Ġ", "▁")
        # The form of types that start a word, and of those inside one.
        self.initial, self.inside = self.plain, self.marked
        if self.marks_start:
            self.initial, self.inside = self.marked, self.plain
        self.has_marker &= self.marks_start

    def cut(self, piece: str) -> list[Token]:
        """Return the tokens of a piece that is exactly one unit."""
        return self._cut([(piece, [0] * len(piece))])[0]

    def pre_tokenize(self, text: Any) -> None:
        """Segment pieces of one unit together where there is a limit."""
        if self.k is None:
            super().pre_tokenize(text)
            return
        found = iter(self.several(units(text)))
        text.tokenize(lambda _: next(found))

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """Return nothing: what is left out is no token."""
        return []

    def several(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        """Return the tokens of all pieces of a text; each unit has its own limit."""
        if self.k is None:
            return super().several(pieces)
        found: list[list[Token]] = []
        start = 0
        for end in range(1, len(pieces) + 1):
            if end < len(pieces) and pieces[end][1][0] == pieces[end - 1][1][-1]:
                continue
            first, numbers = pieces[start]
            if end - start == 1 and numbers[0] == numbers[-1]:
                found.append(self(first))
            else:
                found += self._cut(pieces[start:end])
            start = end
        return found

    def _cut(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        left: dict[int, int] = {}
        matches: list[tuple[int, int, int]] = []  # minus the length, piece, start
        cut = []
        for number, (piece, numbers) in enumerate(pieces):
            characters, offsets = self.characters(piece)
            marked = self.has_marker and piece.startswith(self.marker)
            limit = [len(characters)] * len(characters)
            cut.append((characters, offsets, limit, marked, numbers))
            for at in range(marked, len(characters)):
                if length := self._longest(cut[-1], at)[0]:
                    matches.append((-length, number, at))
        found: list[list[tuple[int, int, int]]] = [[] for _ in pieces]
        while matches:
            matches.sort()
            again = []
            level = matches[0][0]
            for match in matches:
                length, number, at = match
                if length != level:
                    again.append(match)
                    continue
                characters, offsets, limit, marked, numbers = cut[number]
                if limit[at] <= at:
                    continue
                now, end, type_, with_marker = self._longest(cut[number], at)
                if -now != length:
                    if now:
                        again.append((-now, number, at))
                    continue
                if self.k is not None and left.setdefault(numbers[at], self.k) == 0:
                    continue
                left[numbers[at]] = left.get(numbers[at], 0) - 1
                start = at - 1 if with_marker else at
                found[number].append((offsets[start], offsets[end], type_))
                for before in range(end):
                    limit[before] = min(limit[before], at)
            matches = again
        return [
            [Token(self.shown[type_], self.types[type_], (start, end)) for start, end, type_ in row]
            for row in map(sorted, found)
        ]

    def _longest(self, cut: Any, at: int) -> tuple[int, int, int, bool]:
        """Return the longest match: length, end, type, and whether it includes the marker."""
        characters, _, limit, marked, _ = cut
        starts = at == marked and (marked or not self.marks_start)
        forms = (self.initial, self.inside) if starts else (self.inside, self.initial)
        text = "".join(characters[at : min(limit[at], at + self.longest)])
        for end in range(min(limit[at], at + self.longest), at, -1):
            for form in forms[: 1 if self.strict and starts else 2]:
                if (type_ := form.get(text)) is not None:
                    with_marker = bool(marked and starts and form is self.initial)
                    return self.atom_count(characters[at:end]), end, type_, with_marker
            text = text[: -len(characters[end - 1])]
        return 0, at, 0, False

"""Byte-tuple encoding: merges of two parts or more, in order of rank."""

import heapq
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tokenizers import Token

from .pieces import Pieces, symbols_of

_BYTE = re.compile("<0x[0-9A-F]{2}>")

Atom = tuple[int | None, int, int]
"""A type id, None for a character that has none, and the bytes of the piece that it covers."""
Merged = tuple[int | None, int, int]
"""A type id, and the first and last atom that it covers."""


class Merging(Pieces):
    """Segments a piece: repeatedly applies the lowest rank, leftmost, until none applies.

    ``model``: vocabulary and merges, or, in its field ``method``, a model of morphgraph's that has
    them; then some types only exist for merging, and ``apart`` has the parts into which some types
    are decomposed in the end, with their numbers of atoms. Merges of the same number in ``levels``
    count as of one rank. Symbols that a SentencePiece model's user defined are atoms, the longest
    at each place. A character outside the alphabet becomes its bytes (``byte_fallback``), or the
    unknown token, or, where there is none, nothing; no merge crosses it.

    >>> vocabulary = {"u": 0, "n": 1, "d": 2, "o": 3, "un": 4, "undo": 5}
    >>> merging = Merging({"vocab": vocabulary, "merges": [["u", "n"], ["un", "d", "o"]]})
    >>> [token.value for token in merging("undoun")]
    ['undo', 'un']
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        settings = model["method"]["model"]["model"] if "method" in model else model
        shown = model["vocab"]
        hidden = (text for text in settings["vocab"] if text not in shown)
        self.ids: dict[str, int] = {text: -1 - n for n, text in enumerate(hidden)}
        self.ids |= {text: shown[text] for text in settings["vocab"] if text in shown}
        self.types = {number: text for text, number in self.ids.items()}
        self.suffix: str = settings.get("end_of_word_suffix") or ""
        self.byte_fallback = bool(settings.get("byte_fallback"))
        self.fuse_unknown = bool(settings.get("fuse_unk"))
        unknown = settings.get("unk_token")
        self.unknown = self.ids.get(unknown) if unknown is not None else None
        self.marks = "".join(mark for mark in "Ġ▁" if mark in self.ids)
        self.symbols = symbols_of(settings)
        apart = model.get("apart") or {}
        self._apart = {
            self.ids[text]: [(self.ids[part], atoms) for part, atoms in parts]
            for text, parts in apart.items()
        }
        # First two parts → what must follow them, and the result; lowest rank first.
        self._starts: dict[
            tuple[int | None, int | None], list[tuple[int, tuple[int, ...], int]]
        ] = {}
        self._widest = 2
        for rank, parts in zip(self._ranks(settings), settings["merges"], strict=True):
            texts = parts.split(" ") if isinstance(parts, str) else parts
            first, second, *others = (self.ids[text] for text in texts)
            known = self._starts.setdefault((first, second), [])
            # Of several merges with the same parts the first one applies.
            if all(entry[1] != tuple(others) for entry in known):
                known.append((rank, tuple(others), self.ids["".join(texts)]))
            self._widest = max(self._widest, len(texts))

    def size(self, text: str, token: Token | None) -> int:
        """Return 1 for a byte, a symbol and fused unknown characters; 0 for a marker."""
        if token is not None and self.byte_fallback and _BYTE.fullmatch(token.value):
            return 1
        if text in ("Ġ", "▁"):
            return 0
        return len(self.atoms(text)) - sum(character in self.marks for character in text)

    def _ranks(self, settings: Mapping[str, Any]) -> Any:
        return settings.get("levels") or range(len(settings["merges"]))

    def cut(self, piece: str) -> list[Token]:
        """Return the tokens of a piece."""
        atoms = self.atoms(piece)
        return [
            Token(number, self.types[number], (atoms[first][1], atoms[last][2]))
            for number, first, last in self._taken_apart(self._merged(atoms))
            if number is not None
        ]

    def _taken_apart(self, merged: Iterator[Merged]) -> Iterator[Merged]:
        for number, first, last in merged:
            if number not in self._apart:
                yield number, first, last
                continue
            for part, atoms in self._apart[number]:
                yield part, first, first + atoms - 1
                first += atoms

    def atoms(self, piece: str) -> list[Atom]:
        """Return the atoms of a piece."""
        found: list[Atom] = []
        at = 0
        last_unknown = False
        position = 0
        while position < len(piece):
            character = self._symbol(piece, position) or piece[position]
            position += len(character)
            text = character + self.suffix if position == len(piece) else character
            end = at + len(character.encode())
            number = self.ids.get(text)
            if number is not None:
                found.append((number, at, end))
                last_unknown = False
            elif self.byte_fallback and (numbers := self._bytes(text)):
                found += [(number, at, end) for number in numbers]
                last_unknown = False
            elif last_unknown and self.fuse_unknown:
                found[-1] = (self.unknown, found[-1][1], end)
            else:
                found.append((self.unknown, at, end))
                last_unknown = self.unknown is not None
            at = end
        return found

    def _symbol(self, piece: str, at: int) -> str | None:
        return next((text for text in self.symbols if piece.startswith(text, at)), None)

    def _bytes(self, text: str) -> list[int]:
        numbers = [self.ids.get(f"<0x{byte:02X}>") for byte in text.encode()]
        known = [number for number in numbers if number is not None]
        return known if len(known) == len(numbers) else []

    def _merged(self, atoms: list[Atom]) -> Iterator[Merged]:
        """Merge until nothing applies, with a linked list of tokens and a heap of candidates."""
        size = len(atoms)
        tokens: list[int | None] = [number for number, _, _ in atoms]
        following = list(range(1, size + 1))
        preceding = list(range(-1, size))
        alive = [True] * size
        waiting: list[tuple[int, int]] = []

        def lowest(at: int) -> tuple[int, int, int] | None:
            """Return rank, result and last token of the merge that applies from here."""
            second = following[at]
            if second >= size:
                return None
            first_two = (tokens[at], tokens[second])
            for rank, others, result in self._starts.get(first_two, ()):
                last = second
                for part in others:
                    last = following[last]
                    if last >= size or tokens[last] != part:
                        break
                else:
                    return rank, result, last
            return None

        for at in range(size):
            if match := lowest(at):
                waiting.append((match[0], at))
        heapq.heapify(waiting)
        while waiting:
            rank, at = heapq.heappop(waiting)
            match = lowest(at) if alive[at] else None
            if match is None or match[0] != rank:
                continue  # a neighbouring merge came first, and updated the candidates then
            _, tokens[at], last = match
            part = following[at]
            while part <= last:
                alive[part] = False
                part = following[part]
            following[at] = part
            if part < size:
                preceding[part] = at
            for _ in range(self._widest):
                if match := lowest(at):
                    heapq.heappush(waiting, (match[0], at))
                at = preceding[at]
                if at < 0:
                    break
        at = 0
        while at < size:
            yield tokens[at], at, following[at] - 1
            at = following[at]

"""Byte-tuple encoding: merges of two parts or more; also at random."""

import heapq
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from tokenizers import Token

from .piece_methods import Pieces, symbols_of

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
    unknown token, or, where there is none, nothing before it is merged. With ``ignore_merges`` a
    piece that is a type stays whole.

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
        self._whole = self.ids if settings.get("ignore_merges") else {}
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
        whole = self._whole.get(piece)
        atoms = self.atoms(piece, leaves_out=whole is None)
        merged = self._merged(atoms) if whole is None else iter([(whole, 0, len(atoms) - 1)])
        return self._tokens(atoms, self._taken_apart(merged))

    def _tokens(self, atoms: list[Atom], merged: Iterable[Merged]) -> list[Token]:
        return [
            Token(number, self.types[number], (atoms[first][1], atoms[last][2]))
            for number, first, last in merged
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

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """Return nothing: an unknown character without a token is left out before merging."""
        return []

    def atoms(self, piece: str, leaves_out: bool = True) -> list[Atom]:
        """Return the atoms of a piece; ``leaves_out``: without those that have no type."""
        atoms: list[Atom] = []
        waiting: list[Atom] = []  # unknown
        at = position = 0
        while position < len(piece):
            symbols = (text for text in self.symbols if piece.startswith(text, position))
            character = next(symbols, piece[position])
            position += len(character)
            text = character + self.suffix if position == len(piece) else character
            end = at + len(character.encode())
            numbers = [self.ids.get(text)]
            is_known = numbers != [None]
            if not is_known and self.byte_fallback:
                numbers = [self.ids.get(f"<0x{byte:02X}>") for byte in text.encode()]
            if is_known or (None in numbers and not self.fuse_unknown):
                atoms += waiting
                waiting = []
            # As in the library, bytes come before an unknown token that may go on behind them.
            if None not in numbers:
                atoms += [(number, at, end) for number in numbers]
            elif self.unknown is not None or not leaves_out:
                first = waiting[0][1] if waiting else at
                waiting = [(self.unknown, first, end)]
            at = end
        return atoms + waiting

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


# ------------------------------------------------------------------------- at random

_WORD = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def mixed(state: int) -> int:
    """Return SplitMix64's output for a state (Steele et al. 2014)."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _WORD
    return state ^ (state >> 31)


def _worker() -> str:
    """Return the seed of this process's part of a PyTorch loader, different in each epoch.

    Each epoch begins with copies of the tokeniser, whose turns are all the same.
    """
    data = sys.modules.get("torch.utils.data")
    worker = data.get_worker_info() if data is not None else None
    return "" if worker is None else f"{worker.seed} "


class Dropping(Merging):
    """At each step, leaves out applicable occurrences of merges with probability ``p``.

    The draws for a text depend on ``seed``, on `turn`, on the text, and on the worker of a PyTorch
    loader, if any, so neither the order nor the threads in which texts are encoded matter. Unless
    `training`, no merge is left out. Source: Provilkov et al. 2020.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        self.p: float = model["method"]["p"]
        self.seed: int = model["method"]["seed"]

    def pre_tokenize(self, text: Any) -> None:
        """Bypass the cache during training."""
        pieces = [(piece, ()) for piece, _, tokens in text.get_splits() if tokens is None]
        rows = iter(self.several(pieces))
        text.tokenize(lambda _: next(rows))

    def several(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        """Return the tokens of all pieces of a text, drawn anew during training."""
        if not self.training or self.p == 0:
            return super().several(pieces)
        texts = [piece for piece, _ in pieces]
        return self.draw(texts, self.sample(texts))

    def sample(self, pieces: list[str]) -> int:
        """Return the index of the sample that is drawn for the pieces of a text."""
        drawn_by = "\0".join([f"{_worker()}{self.turn}", *pieces]).encode()
        return int.from_bytes(blake2b(drawn_by, digest_size=8).digest(), "big")

    def draw(self, pieces: list[str], sample: int) -> list[list[Token]]:
        """Return one sample of the tokens of a text: that of the first text in morphgraph."""
        key = mixed((self.seed + _STEP) & _WORD) ^ sample
        state = mixed((mixed((key + _STEP) & _WORD) + _STEP) & _WORD)
        rows = []
        for piece in pieces:
            atoms = self.atoms(piece)
            tokens: list[Merged] = [(number, at, at) for at, (number, *_) in enumerate(atoms)]
            while True:
                for at, count, result in self._applicable(tokens):
                    state = (state + _STEP) & _WORD
                    if (mixed(state) >> 11) * 2.0**-53 >= self.p:
                        span = tokens[at][1], tokens[at + count - 1][2]
                        tokens[at : at + count] = [(result, *span)]
                        break
                else:
                    break
            rows.append(self._tokens(atoms, tokens))
        return rows

    def _ranks(self, settings: Mapping[str, Any]) -> Any:
        """Return ranks in which tied merges are visited one by one."""
        return range(len(settings["merges"]))

    def _applicable(self, tokens: list[Merged]) -> list[tuple[int, int, int]]:
        """Return where merges apply, their numbers of tokens, and results, by rank and place."""
        numbers = [number for number, *_ in tokens]
        places = [
            (order, at, len(others) + 2, result)
            for at in range(len(numbers) - 1)
            for order, others, result in self._starts.get((numbers[at], numbers[at + 1]), ())
            if tuple(numbers[at + 2 : at + 2 + len(others)]) == others
        ]
        return [place for _, *place in sorted(places)]  # type: ignore[misc]

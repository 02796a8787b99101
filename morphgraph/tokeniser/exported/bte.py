"""Byte-tuple encoding for the `tokenizers` library: merges of two parts or more.

The library does all but the merging: added tokens, normaliser, pre-tokeniser, special tokens,
padding, truncation, offsets and decoding. `plug_in` puts a step behind its pre-tokeniser that
gives each piece its tokens, so that the library's own model has nothing left to do.

This file needs nothing but `tokenizers`, and is read by `tokenization_bte.py` beside it.
"""

import heapq
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from tokenizers import Token, Tokenizer
from tokenizers.pre_tokenizers import PreTokenizer, Sequence

Atom = tuple[int | None, int, int]
"""A type id, None for a character that has none, and the bytes of the piece that it stands for."""

CACHED_PIECES = 1 << 16
LONGEST_CACHED = 100


class Merging:
    """Gives a piece its tokens: the lowest rank that applies, leftmost, until none does.

    ``model``: the field of that name in the JSON. ``types``: id → string. Merges of the same number
    in ``levels`` count as of one rank. Symbols that a SentencePiece model's user defined are atoms,
    the longest at each place. Pieces seen before are looked up. A character outside the alphabet
    becomes its bytes (``byte_fallback``), or the unknown token, or, where there is none, nothing;
    no merge crosses it.

    >>> vocabulary = {"u": 0, "n": 1, "d": 2, "o": 3, "un": 4, "undo": 5}
    >>> merging = Merging({"vocab": vocabulary, "merges": [["u", "n"], ["un", "d", "o"]]})
    >>> [token.value for token in merging("undoun")]
    ['undo', 'un']
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.ids: dict[str, int] = dict(model["vocab"])
        self.types = {number: text for text, number in self.ids.items()}
        self.suffix: str = model.get("end_of_word_suffix") or ""
        self.byte_fallback = bool(model.get("byte_fallback"))
        self.fuse_unknown = bool(model.get("fuse_unk"))
        unknown = model.get("unk_token")
        self.unknown: int | None = self.ids.get(unknown) if unknown is not None else None
        self.symbols = symbols_of(model)
        ranks = model.get("levels") or range(len(model["merges"]))
        # First two parts → what must follow them, and the result; lowest rank first.
        self._starts: dict[
            tuple[int | None, int | None], list[tuple[int, tuple[int, ...], int]]
        ] = {}
        self._widest = 2
        for rank, parts in zip(ranks, model["merges"], strict=True):
            texts = parts.split(" ") if isinstance(parts, str) else parts
            first, second, *others = (self.ids[text] for text in texts)
            entry = (rank, tuple(others), self.ids["".join(texts)])
            self._starts.setdefault((first, second), []).append(entry)
            self._widest = max(self._widest, len(texts))
        self._cached = lru_cache(CACHED_PIECES)(self._tokens)

    def __call__(self, piece: str) -> list[Token]:
        """The tokens of a piece, with the bytes of it that they stand for."""
        return self._cached(piece) if len(piece) <= LONGEST_CACHED else self._tokens(piece)

    def pre_tokenize(self, text: Any) -> None:
        """What the library calls for each text that its own pre-tokeniser has cut into pieces."""
        text.tokenize(self)

    def _tokens(self, piece: str) -> list[Token]:
        return [
            Token(number, self.types[number], (start, end))
            for number, start, end in self._merged(self.atoms(piece))
            if number is not None
        ]

    def atoms(self, piece: str) -> list[Atom]:
        """A piece before any merge."""
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

    def _merged(self, atoms: list[Atom]) -> Iterator[Atom]:
        """Merge until nothing applies: a linked list of tokens, and a heap of what may apply."""
        size = len(atoms)
        tokens: list[int | None] = [number for number, _, _ in atoms]
        ends = [end for _, _, end in atoms]
        following = list(range(1, size + 1))
        preceding = list(range(-1, size))
        alive = [True] * size
        waiting: list[tuple[int, int]] = []

        def lowest(at: int) -> tuple[int, int, int] | None:
            """Rank, result and last token of the merge that applies from here."""
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
                continue  # a merge nearby came first, and what applies now was noted then
            _, tokens[at], last = match
            part = following[at]
            while part <= last:
                alive[part] = False
                part = following[part]
            ends[at] = ends[last]
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
            yield tokens[at], atoms[at][1], ends[at]
            at = following[at]


def load(document: Mapping[str, Any]) -> tuple[Tokenizer, Merging]:
    """A tokeniser of the library without merges, and the merging to plug into it, from JSON."""
    model = document["model"]
    tokens = document.get("added_tokens") or []
    added = {token["content"]: token["id"] for token in tokens}
    # All types are in the model's vocabulary here: the library would renumber the others.
    plain = {**model, "type": "BPE", "vocab": {**model["vocab"], **added}, "merges": []}
    # The library would cut a text there before it is normalised; these are looked for later.
    symbols = symbols_of(model)
    tokens = [token for token in tokens if token["content"] not in symbols]
    rest = {**document, "added_tokens": tokens, "model": plain}
    return Tokenizer.from_str(json.dumps(rest)), Merging(model)


def symbols_of(model: Mapping[str, Any]) -> list[str]:
    """The symbols that a SentencePiece model's user defined, longest first."""
    symbols = (model.get("sentencepiece") or {}).get("symbols") or []
    return sorted(symbols, key=lambda text: len(text.encode()), reverse=True)


def plug_in(library: Tokenizer, merging: Merging) -> Any:
    """Let a tokeniser of the library merge by ``merging``; returns its own pre-tokeniser."""
    own = library.pre_tokenizer
    last = PreTokenizer.custom(merging)
    library.pre_tokenizer = last if own is None else Sequence([own, last])
    return own

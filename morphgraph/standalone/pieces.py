"""Tokens by a method of Python's for the `tokenizers` library, which does all else.

Added tokens, normaliser, pre-tokeniser, special tokens, padding, truncation, offsets and decoding
are the library's. `plug_in` puts a step behind its pre-tokeniser that gives each piece its tokens,
so that the library's own model has nothing left to do. Kernels, where there are some, segment what
many texts have in common before that (`Pieces.fill`), with the same result.
"""

import base64
import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tokenizers import Token, Tokenizer, normalizers, pre_tokenizers
from tokenizers.decoders import Decoder
from tokenizers.normalizers import Normalizer
from tokenizers.pre_tokenizers import PreTokenizer

CACHED_PIECES = 1 << 18
LONGEST_CACHED = 100
WORTH_KERNELS = 20_000
"""Python segments this many characters in the time that loading the kernels takes."""

_UNIT = re.compile(r"\w+|[^\w\s▁]")
_BYTE = re.compile("(<0x[0-9A-F]{2}>)")


class Pieces:
    """Gives pieces their tokens by `cut`; those seen before are looked up.

    ``model``: the field of that name in the JSON.
    """

    unknown: int | None = None
    """The id that stands for characters outside the alphabet."""
    marks = ""
    """Which of ``Ġ`` and ``▁`` count towards no token's length."""
    inner: "Pieces | None" = None
    """The method that this one builds on."""
    training = True
    """Whether what is random is drawn."""
    turn = 0
    """How many batches there were before."""
    symbols: Sequence[str] = ()
    """The symbols of a SentencePiece model's user that are atoms, longest first."""
    kernel_for: "Callable[[Mapping[str, Any]], Any] | None" = None
    """What makes kernels for a model, which segment lists of pieces; it may give None."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.model = model
        self._known: dict[str, list[Token]] = {}
        self._kernel: Any = None

    def cut(self, piece: str) -> list[Token]:
        """The tokens of a piece, with the bytes of it that they stand for."""
        raise NotImplementedError

    def __call__(self, piece: str) -> list[Token]:
        """The tokens of a piece, perhaps from memory."""
        found = self._known.get(piece)
        if found is None:
            found = self.cut(piece)
            if len(piece) <= LONGEST_CACHED:
                self._remember({piece: found})
        return found

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """The bytes of tokens that have no id: by default each character outside the alphabet."""
        covered = {at for token in tokens for at in range(*token.offsets)}
        found, start = [], 0
        for character in piece:
            end = start + len(character.encode())
            if start not in covered:
                found.append((start, end))
            start = end
        return found

    def size(self, text: str, token: Token | None) -> int:
        """How many characters of the alphabet a token stands for, markers apart."""
        return sum(character not in self.marks for character in text)

    def several(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        """The tokens of all pieces of a text, from the unit of each of their characters."""
        return [self(piece) for piece, _ in pieces]

    def _remember(self, found: Mapping[str, list[Token]]) -> None:
        if len(self._known) + len(found) > CACHED_PIECES:
            self._known.clear()
        self._known.update(found)

    def pre_tokenize(self, text: Any) -> None:
        """What the library calls for each text that its own pre-tokeniser has cut into pieces."""
        text.tokenize(self)

    def fill(self, pieces: Iterable[str]) -> None:
        """Have kernels segment many pieces at once, if there are some."""
        if self.kernel_for is None:
            return
        new = [
            p for p in dict.fromkeys(pieces) if len(p) <= LONGEST_CACHED and p not in self._known
        ]
        if self._kernel is None and sum(map(len, new)) >= WORTH_KERNELS:
            self._kernel = self.kernel_for(self.model) or False
        if self._kernel and new:
            found = zip(new, self._kernel(new), strict=True)
            self._remember(
                {p: [Token(*row) for row in rows] for p, rows in found if rows is not None}
            )


def method_of(
    model: Mapping[str, Any],
    methods: Mapping[str, Any],
    kernel_for: Callable[[Mapping[str, Any]], Any] | None = None,
) -> Pieces:
    """The method of a file's field ``model``; in its field ``of`` is the one that it builds on.

    ``methods``: the class of each by the name that the file has for it; ``kernel_for``: see there.
    """
    inner = []
    if "of" in model:
        inner = [method_of({"vocab": model["vocab"], **model["of"]}, methods, kernel_for)]
    made: Pieces = methods[model["type"]](model, *inner)
    made.kernel_for = kernel_for
    return made


def load(document: Mapping[str, Any]) -> Tokenizer:
    """A tokeniser of the library without a method, to plug one into, from JSON."""
    model = document["model"]
    tokens = document.get("added_tokens") or []
    added = {token["content"]: token["id"] for token in tokens}
    # All types are in the model's vocabulary here: the library would renumber the others.
    plain = {"type": "BPE", "vocab": {**model["vocab"], **added}, "merges": []}
    # The library would cut a text there before it is normalised; these are looked for later.
    symbols = symbols_of(model)
    tokens = [token for token in tokens if token["content"] not in symbols]
    rest = {**document, "added_tokens": tokens, "model": plain}
    return Tokenizer.from_str(json.dumps(rest))


def symbols_of(model: Mapping[str, Any]) -> list[str]:
    """The symbols that a SentencePiece model's user defined, longest first."""
    symbols = (model.get("sentencepiece") or {}).get("symbols") or []
    return sorted(symbols, key=lambda text: len(text.encode()), reverse=True)


class Own(NamedTuple):
    """What a tokeniser of the library has of its own where a method is plugged in."""

    pre_tokenizer: Any
    decoder: Any
    normalizer: Any


def plug_in(library: Tokenizer, step: Pieces) -> Own:
    """Let a tokeniser of the library segment by ``step``; returns what stood there."""
    own = Own(library.pre_tokenizer, library.decoder, library.normalizer)
    if step.model.get("sentencepiece") is not None and own.normalizer is not None:
        library.normalizer = _with_rules(own.normalizer, step.symbols)
    last = PreTokenizer.custom(step)
    first = own.pre_tokenizer
    library.pre_tokenizer = last if first is None else pre_tokenizers.Sequence([first, last])
    if knows_bytes(own.decoder):
        mixed = {t: parts for t in step.model["vocab"] if len(parts := byte_parts(t)) > 1}
        if mixed:
            library.decoder = Decoder.custom(_Bytes(mixed, own.decoder))
    return own


def _with_rules(own: Any, symbols: Sequence[str]) -> Any:
    """A normaliser that applies SentencePiece's rules as that library does."""
    state = json.loads(own.__getstate__())
    listed = state.get("normalizers")
    parts = [(state, own)] if listed is None else [*zip(listed, own, strict=True)]
    return normalizers.Sequence(
        [
            Normalizer.custom(Rules(base64.b64decode(part["precompiled_charsmap"]), symbols))
            if part["type"] == "Precompiled"
            else made
            for part, made in parts
        ]
    )


class Rules:
    """SentencePiece's rules for characters: at each place the longest one, or else a symbol.

    The library's own `Precompiled` takes the shortest rule for a letter with its marks, and loses
    what is behind it. ``charsmap``: the length of a double-array trie, the trie, and the texts that
    its values are places in. ``symbols``: what no rule changes, longest first.
    """

    def __init__(self, charsmap: bytes, symbols: Sequence[str]) -> None:
        size = int.from_bytes(charsmap[:4], "little")
        self._trie = struct.unpack(f"<{size // 4}I", charsmap[4 : 4 + size])
        self._texts = charsmap[4 + size :]
        self._symbols = symbols

    def normalize(self, text: Any) -> None:
        """What the library calls for each text."""
        before: str = text.normalized
        data = before.encode()
        new: list[str] = []
        at = 0  # in bytes
        while len(new) < len(before):
            start = len(new)
            symbol = next((s for s in self._symbols if before.startswith(s, start)), "")
            length, made = self._longest(data, at)
            if symbol:
                new += symbol
                at += len(symbol.encode())
            elif length:
                new += [made] + [""] * (len(data[at : at + length].decode()) - 1)
                at += length
            else:
                new.append(before[start])
                at += len(before[start].encode())
        # The library maps one character to one other: what is longer or nothing takes its turn.
        used = {*before, *"".join(new)}
        spare = (c for c in map(chr, range(0xF0000, 0x10FFFE)) if c not in used)
        stand_in = {made: next(spare) for made in dict.fromkeys(new) if len(made) != 1}
        mapped = (stand_in.get(made, made) for made in new)
        text.map(lambda _: next(mapped))
        for made, character in stand_in.items():
            text.replace(character, made)

    def _longest(self, data: bytes, at: int) -> tuple[int, str]:
        """The bytes that the longest rule at a place takes, and what it makes of them."""
        trie = self._trie
        if not trie:
            return 0, ""
        node, found, value = _below(trie[0]), 0, 0
        for place in range(at, len(data)):
            node ^= data[place]
            if node >= len(trie) or trie[node] & 0x800000FF != data[place]:
                break
            has_value = trie[node] >> 8 & 1
            node ^= _below(trie[node])
            if has_value:
                found, value = place + 1 - at, trie[node] & 0x7FFFFFFF
        if not found:
            return 0, ""
        return found, self._texts[value : self._texts.index(0, value)].decode()


def _below(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def knows_bytes(decoder: Any) -> bool:
    """Whether a decoder takes ``<0x41>`` for a byte."""
    return decoder is not None and decoder.decode(["<0x41>"]) == "A"


def byte_parts(text: str) -> list[str]:
    """A type cut into the names of bytes and the strings between them."""
    return [part for part in _BYTE.split(text) if part]


class _Bytes:
    """Decodes types that glue bytes to characters, of which the library knows bytes alone."""

    def __init__(self, mixed: Mapping[str, Sequence[str]], decoder: Any) -> None:
        self._mixed, self._decoder = mixed, decoder

    def decode_chain(self, tokens: Sequence[str]) -> list[str]:
        parts = [part for token in tokens for part in self._mixed.get(token, (token,))]
        return [self._decoder.decode(parts)]


def units(text: Any) -> list[tuple[str, Sequence[int]]]:
    r"""The pieces of a text, and of which unit of the text each of their characters is.

    A unit is a run of ``\w`` or a mark; white space is of the unit behind it. An added token is a
    unit by itself, and so is white space before it.
    """
    splits = [(span, tokens) for _, span, tokens in text.get_splits("original", "char")]
    spans = [span for span, tokens in splits if tokens is None]
    parts: list[Any] = []

    def look(_: int, part: Any) -> list[Any]:
        parts.append(part)
        return [part]

    text.split(look)
    original = [" "] * max((end for (_, end), _ in splits), default=0)
    for (start, end), tokens in splits:
        if tokens is not None and start < end:
            original[end - 1] = "."
    for part, (start, end) in zip(parts, spans, strict=True):
        original[start:end] = part.original
    ends = [match.end() for match in _UNIT.finditer("".join(original))]
    number, numbers = 0, []
    for at in range(len(original)):
        while number < len(ends) - 1 and ends[number] <= at:
            number += 1
        numbers.append(number)
    found: list[tuple[str, Sequence[int]]] = []
    for part, (start, end) in zip(parts, spans, strict=True):
        piece, first = part.normalized, numbers[start]
        if numbers[end - 1] == first:
            found.append((piece, [first] * len(piece)))
        elif len(piece) == end - start and piece.isascii() and part.original.isascii():
            found.append((piece, numbers[start:end]))
        else:
            of_each, last = [], start
            for at in range(len(piece)):
                whole, own = part[: at + 1].original, part[at : at + 1].original
                last = max(last, start + len(whole) - len(own))
                of_each.append(numbers[min(last, end - 1)])
            found.append((piece, of_each))
    return found

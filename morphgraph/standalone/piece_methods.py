"""Run a segmentation method in Python inside the `tokenizers` library.

Added tokens, normaliser, pre-tokeniser, special tokens, padding, truncation, offsets and decoding
are the library's. `plug_in` adds a step after its pre-tokeniser that gives each piece its tokens,
so that the library's own model has nothing left to do. Kernels, if available, segment the pieces of
many texts beforehand (`Pieces.fill`), with the same result.
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
"""The number of characters that Python segments while the kernels would load."""

_UNIT = re.compile(r"\w+|[^\w\s▁]")
_BYTE = re.compile("(<0x[0-9A-F]{2}>)")


class Pieces:
    """Gives pieces their tokens by `cut`, with a cache.

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
        """Return the tokens of a piece, with the bytes of it that they cover."""
        raise NotImplementedError

    def __call__(self, piece: str) -> list[Token]:
        """Return the tokens of a piece, cached if possible."""
        tokens = self._known.get(piece)
        if tokens is None:
            tokens = self.cut(piece)
            if len(piece) <= LONGEST_CACHED:
                self._remember({piece: tokens})
        return tokens

    def unnamed(self, piece: str, tokens: Sequence[Token]) -> list[tuple[int, int]]:
        """Return the bytes of tokens without an id: by default unknown characters."""
        covered = {at for token in tokens for at in range(*token.offsets)}
        spans, start = [], 0
        for character in piece:
            end = start + len(character.encode())
            if start not in covered:
                spans.append((start, end))
            start = end
        return spans

    def size(self, text: str, token: Token | None) -> int:
        """Return the number of characters that a token covers, without markers."""
        return sum(character not in self.marks for character in text)

    def several(self, pieces: Sequence[tuple[str, Sequence[int]]]) -> list[list[Token]]:
        """Return the tokens of all pieces of a text, given the unit of each character."""
        return [self(piece) for piece, _ in pieces]

    def _remember(self, found: Mapping[str, list[Token]]) -> None:
        if len(self._known) + len(found) > CACHED_PIECES:
            self._known.clear()
        self._known.update(found)

    def pre_tokenize(self, text: Any) -> None:
        """Segment a text that the library's own pre-tokeniser has cut; called by the library."""
        text.tokenize(self)

    def fill(self, pieces: Iterable[str]) -> None:
        """Segment many pieces with kernels, if available."""
        if self.kernel_for is None:
            return
        new = [
            p for p in dict.fromkeys(pieces) if len(p) <= LONGEST_CACHED and p not in self._known
        ]
        if self._kernel is None and sum(map(len, new)) >= WORTH_KERNELS:
            self._kernel = self.kernel_for(self.model) or False
        if self._kernel and new:
            rows_of_pieces = zip(new, self._kernel(new), strict=True)
            self._remember(
                {p: [Token(*row) for row in rows] for p, rows in rows_of_pieces if rows is not None}
            )


def method_of(
    model: Mapping[str, Any],
    methods: Mapping[str, Any],
    kernel_for: Callable[[Mapping[str, Any]], Any] | None = None,
) -> Pieces:
    """Build the method of a file's field ``model``, and of its field ``of``, which it builds on.

    ``methods``: the class of each by its name in the file; ``kernel_for``: see there.
    """
    inner = []
    if "of" in model:
        inner = [method_of({"vocab": model["vocab"], **model["of"]}, methods, kernel_for)]
    method: Pieces = methods[model["type"]](model, *inner)
    method.kernel_for = kernel_for
    return method


def load(document: Mapping[str, Any]) -> Tokenizer:
    """Return a tokeniser of the library from JSON, ready to plug a method into."""
    model = document["model"]
    tokens = document.get("added_tokens") or []
    added = {token["content"]: token["id"] for token in tokens}
    # All types are in the model's vocabulary here: the library would renumber the others.
    plain = {"type": "BPE", "vocab": {**model["vocab"], **added}, "merges": []}
    # The library would split texts there before normalising; these are searched for later.
    symbols = symbols_of(model)
    tokens = [token for token in tokens if token["content"] not in symbols]
    rest = {**document, "added_tokens": tokens, "model": plain}
    return Tokenizer.from_str(json.dumps(rest))


def symbols_of(model: Mapping[str, Any]) -> list[str]:
    """Return the user-defined symbols of a SentencePiece model, longest first."""
    symbols = (model.get("sentencepiece") or {}).get("symbols") or []
    return sorted(symbols, key=lambda text: len(text.encode()), reverse=True)


class Own(NamedTuple):
    """The library's own parts of a tokeniser into which a method is plugged."""

    pre_tokenizer: Any
    decoder: Any
    normalizer: Any


def plug_in(library: Tokenizer, step: Pieces) -> Own:
    """Make a tokeniser of the library segment by ``step``; return its own parts."""
    own = Own(library.pre_tokenizer, library.decoder, library.normalizer)
    if step.model.get("sentencepiece") is not None and own.normalizer is not None:
        library.normalizer = _with_rules(own.normalizer, step.symbols)
    last = PreTokenizer.custom(step)
    first = own.pre_tokenizer
    library.pre_tokenizer = last if first is None else pre_tokenizers.Sequence([first, last])
    let_decode_bytes(library, step.model["vocab"])
    return own


def let_decode_bytes(library: Tokenizer, types: Iterable[str]) -> None:
    """Let a tokeniser of the library decode types that glue bytes to characters."""
    if knows_bytes(library.decoder):
        mixed = {text: parts for text in types if len(parts := byte_parts(text)) > 1}
        if mixed:
            library.decoder = Decoder.custom(_Bytes(mixed, library.decoder))


def _with_rules(own: Any, symbols: Sequence[str]) -> Any:
    """Return a normaliser that applies SentencePiece's rules as SentencePiece does."""
    state = json.loads(own.__getstate__())
    listed = state.get("normalizers")
    parts = [(state, own)] if listed is None else [*zip(listed, own, strict=True)]
    return normalizers.Sequence(
        [
            Normalizer.custom(Rules(base64.b64decode(part["precompiled_charsmap"]), symbols))
            if part["type"] == "Precompiled"
            else built
            for part, built in parts
        ]
    )


class Rules:
    """SentencePiece's rules for characters: at each place the longest rule, or else a symbol.

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
        """Normalise a text; called by the library."""
        before: str = text.normalized
        data = before.encode()
        new: list[str] = []
        at = 0  # in bytes
        while len(new) < len(before):
            start = len(new)
            symbol = next((s for s in self._symbols if before.startswith(s, start)), "")
            length, result = self._longest(data, at)
            if symbol:
                new += symbol
                at += len(symbol.encode())
            elif length:
                new += [result] + [""] * (len(data[at : at + length].decode()) - 1)
                at += length
            else:
                new.append(before[start])
                at += len(before[start].encode())
        # The library maps one character to one other: what is longer or nothing takes its turn.
        used = {*before, *"".join(new)}
        spare = (c for c in map(chr, range(0xF0000, 0x10FFFE)) if c not in used)
        stand_in = {result: next(spare) for result in dict.fromkeys(new) if len(result) != 1}
        mapped = (stand_in.get(result, result) for result in new)
        text.map(lambda _: next(mapped))
        for result, character in stand_in.items():
            text.replace(character, result)

    def _longest(self, data: bytes, at: int) -> tuple[int, str]:
        """Return the length in bytes of the longest rule at a place, and its result."""
        trie = self._trie
        if not trie:
            return 0, ""
        node, length, value = _below(trie[0]), 0, 0
        for place in range(at, len(data)):
            node ^= data[place]
            if node >= len(trie) or trie[node] & 0x800000FF != data[place]:
                break
            has_value = trie[node] >> 8 & 1
            node ^= _below(trie[node])
            if has_value:
                length, value = place + 1 - at, trie[node] & 0x7FFFFFFF
        if not length:
            return 0, ""
        return length, self._texts[value : self._texts.index(0, value)].decode()


def _below(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def knows_bytes(decoder: Any) -> bool:
    """Return whether a decoder reads ``<0x41>`` as a byte."""
    return decoder is not None and decoder.decode(["<0x41>"]) == "A"


def byte_parts(text: str) -> list[str]:
    """Split a type into names of bytes and the strings between them."""
    return [part for part in _BYTE.split(text) if part]


class _Bytes:
    """Decodes types that join bytes to characters, as the library only knows single bytes."""

    def __init__(self, mixed: Mapping[str, Sequence[str]], decoder: Any) -> None:
        self._mixed, self._decoder = mixed, decoder

    def decode_chain(self, tokens: Sequence[str]) -> list[str]:
        parts = [part for token in tokens for part in self._mixed.get(token, (token,))]
        return [self._decoder.decode(parts)]


def units(text: Any) -> list[tuple[str, Sequence[int]]]:
    r"""Return the pieces of a text, and the unit of each of their characters.

    A unit is a run of ``\w`` or a mark; white space belongs to the next unit. An added token is a
    unit, and so is white space before it, and that behind it which ends the text.
    """
    splits = [(span, tokens) for _, span, tokens in text.get_splits("original", "char")]
    spans = [span for span, tokens in splits if tokens is None]
    parts: list[Any] = []

    def look(_: int, part: Any) -> list[Any]:
        parts.append(part)
        return [part]

    text.split(look)
    original = [" "] * max((end for (_, end), _ in splits), default=0)
    added = [end for (start, end), tokens in splits if tokens is not None and start < end]
    for end in added:
        original[end - 1] = "."
    for part, (start, end) in zip(parts, spans, strict=True):
        original[start:end] = part.original
    ends = [match.end() for match in _UNIT.finditer("".join(original))]
    number, numbers = 0, []
    most = len(ends) - (ends[-1:] != added[-1:])
    for at in range(len(original)):
        while number < most and ends[number] <= at:
            number += 1
        numbers.append(number)
    with_units: list[tuple[str, Sequence[int]]] = []
    for part, (start, end) in zip(parts, spans, strict=True):
        piece, first = part.normalized, numbers[start]
        if numbers[end - 1] == first:
            with_units.append((piece, [first] * len(piece)))
        elif len(piece) == end - start and piece.isascii() and part.original.isascii():
            with_units.append((piece, numbers[start:end]))
        else:
            of_each, last = [], start
            for at in range(len(piece)):
                whole, own = part[: at + 1].original, part[at : at + 1].original
                last = max(last, start + len(whole) - len(own))
                of_each.append(numbers[min(last, end - 1)])
            with_units.append((piece, of_each))
    return with_units


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
        kept_tokens: list[list[Token]] = [
            [token for place, token in enumerate(tokens) if (number, place) in kept]
            for number, tokens in enumerate(rows)
        ]
        left = iter(kept_tokens)
        text.tokenize(lambda _: next(left))

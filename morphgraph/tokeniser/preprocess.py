"""A tokeniser's own normaliser and pre-tokeniser, and the characters they make."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import document_field
from morphgraph.core.limits import GROWN_CHARACTERS, PUBLIC_TEXT, is_public
from morphgraph.core.text import SHOWN_MARKER, shortened
from morphgraph.tokeniser.parts import check_charsmap

_VISIBLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_substitutes = iter(range(0x100, 0x200))
BYTE_TO_CHAR: tuple[str, ...] = tuple(
    chr(byte if byte in _VISIBLE else next(_substitutes)) for byte in range(256)
)
"""The printable character of each byte: a visible Latin-1 character, else code points from 256."""
CHAR_TO_BYTE: dict[str, int] = {char: byte for byte, char in enumerate(BYTE_TO_CHAR)}
_FROM_LATIN_1 = dict(enumerate(BYTE_TO_CHAR))


def printable_bytes(text: str) -> str:
    """Write the UTF-8 bytes of a text in printable characters: `` café`` is ``ĠcafÃ©``.

    A lone surrogate raises `UnicodeEncodeError`.
    """
    return text.encode("utf-8").decode("latin-1").translate(_FROM_LATIN_1)


def readable_bytes(type_: str) -> str:
    """Decode the bytes of a byte-level type: ``ĠÃ¤hn`` is ``Ġähn``, a stray ``Ã`` is ``⟨C3⟩``."""
    if type_.isascii():
        return type_
    marker = "Ġ" if type_.startswith("Ġ") else ""
    body = type_[len(marker) :]
    if not all(character in CHAR_TO_BYTE for character in body):
        return type_
    decoded = bytes(CHAR_TO_BYTE[character] for character in body).decode(
        "utf-8", "surrogateescape"
    )
    return marker + "".join(map(_visible, decoded))


def _visible(character: str) -> str:
    """Return a character, or hexadecimal for a stray byte or a control character."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte, from "surrogateescape"
        code -= 0xDC00
    elif character.isprintable() or character == " ":
        return character
    return f"⟨{code:02X}⟩"


_ALWAYS_FITS = 200  # characters; reading the limit takes longer than encoding a word


def check_length(text: str) -> None:
    """Raise `MorphGraphError` for a text that exceeds the memory, or a public server's limit."""
    if len(text) <= _ALWAYS_FITS:
        return
    limit = PUBLIC_TEXT if is_public() else GROWN_CHARACTERS
    if len(text) > limit.value:
        raise MorphGraphError(
            f"“{shortened(text)}” has {len(text):,} characters; the limit is {limit.value:,}. "
            f"Leave it out, cut it into several, or set {limit.variable}."
        )


class AddedToken(NamedTuple):
    """A token that texts are searched for before anything else.

    ``single_word``: only if not adjacent to a word character; ``lstrip`` and ``rstrip``: it
    includes white space on that side; ``normalized``: it is matched after normalisation, with its
    content normalised too.
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


TOKEN_FLAGS = AddedToken._fields[1:]
SENTENCEPIECE_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
_SPACE = "▁"


@dataclass(frozen=True)
class SentencePieceText:
    """Normalises a text as the `sentencepiece` library does for a model, and splits it into atoms.

    ``charsmap``: the model's compiled rules, which replace characters; none if empty. The flags are
    those of the model's ``normalizer_spec``. ``symbols``: symbols that the user defined, which
    no rule changes and no merge touches: at each place the longest one counts.

    >>> text = SentencePieceText(symbols=("<sep>",))
    >>> text.joined(text.normalised(" un  do<sep>"))
    [('▁', 1, 2), ('u', 1, 2), ('n', 2, 3), ('▁', 3, 5), ('d', 5, 6), ('o', 6, 7), ('<sep>', 7, 12)]
    """

    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    symbols: tuple[str, ...] = ()

    @cached_property
    def _library(self) -> Any:
        """The library, with a model of just these symbols."""
        from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

        check_charsmap(self.charsmap, "The SentencePiece model", "its normalisation")
        messages: Any = sentencepiece_model_pb2
        model = messages.ModelProto()
        kind = model.SentencePiece
        # A model needs an unknown type, which may not be one of the symbols.
        unknown = "?" * (1 + max(map(len, self.symbols), default=0))
        model.pieces.add(piece=unknown, type=kind.UNKNOWN)
        for symbol in self.symbols:
            model.pieces.add(piece=symbol, type=kind.USER_DEFINED)
        model.trainer_spec.model_type = model.trainer_spec.BPE
        model.trainer_spec.unk_piece = unknown
        model.normalizer_spec.precompiled_charsmap = self.charsmap
        for flag in SENTENCEPIECE_FLAGS:
            setattr(model.normalizer_spec, flag, getattr(self, flag))
        try:
            return SentencePieceProcessor(model_proto=model.SerializeToString())
        except Exception as error:
            raise MorphGraphError(
                f"The normalisation of the SentencePiece model cannot be read ({error!s:.120}). "
                "Download the file again."
            ) from error

    @cached_property
    def _by_first(self) -> dict[str, list[str]]:
        """The symbols by their first character, longest first."""
        symbols: dict[str, list[str]] = {}
        for symbol in sorted(self.symbols, key=lambda text: len(text.encode()), reverse=True):
            symbols.setdefault(symbol[0], []).append(symbol)
        return symbols

    def normalised(self, text: str) -> list[tuple[str, int, int]]:
        """Return the characters of a normalised text, with spans in ``text``."""
        normalised, starts = self._library.Normalize(text, with_offsets=True)
        check_length(normalised)
        # A character ends where the next one of another origin begins.
        ends = [0] * len(normalised)
        end = starts[-1] if starts else 0
        for i in range(len(normalised) - 1, -1, -1):
            if starts[i + 1] > starts[i]:
                end = starts[i + 1]
            ends[i] = end
        return list(zip(normalised, starts, ends, strict=False))

    def normalize_str(self, text: str) -> str:
        """Return the normalised text; named as in the `tokenizers` library."""
        return "".join(character for character, _, _ in self.normalised(text))

    def joined(self, characters: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
        """Join the characters of each symbol, keeping spans."""
        if not self.symbols:
            return list(characters)
        text = "".join(character for character, _, _ in characters)
        characters_joined = []
        at = 0
        while at < len(text):
            symbols = self._by_first.get(text[at], ())
            whole = next((each for each in symbols if text.startswith(each, at)), text[at])
            last = at + len(whole)
            characters_joined.append((whole, characters[at][1], characters[last - 1][2]))
            at = last
        return characters_joined

    def settings(self) -> dict[str, Any]:
        """Return everything but the rules, as JSON data."""
        flags = {flag: getattr(self, flag) for flag in SENTENCEPIECE_FLAGS}
        return {**flags, "symbols": list(self.symbols)}

    @classmethod
    def from_settings(cls, settings: Any, charsmap: bytes) -> "SentencePieceText":
        """Read the result of `settings`; anything else is a `MorphGraphError`."""
        symbols = document_field(settings, "symbols", list, of=str)
        if not all(symbols):
            raise MorphGraphError("A symbol of SentencePiece is empty. Save it again.")
        flags = {flag: document_field(settings, flag, bool) for flag in SENTENCEPIECE_FLAGS}
        return cls(charsmap, symbols=tuple(symbols), **flags)


MARKERS = frozenset("Ġ▁")
"""Start-of-word markers, as characters of a piece."""
_SHOWN = str.maketrans("▁ ", SHOWN_MARKER * 2)


def shown_token(token: str) -> str:
    """Return the text of a token with ``␣`` for its start-of-word marker and its spaces.

    >>> [shown_token(text) for text in ("Ġähn", "▁of▁the", "##ing")]
    ['␣ähn', '␣of␣the', '##ing']
    """
    text = token.translate(_SHOWN)
    return SHOWN_MARKER + text[1:] if text.startswith("Ġ") else text


def spans_words(shown: str) -> bool:
    """Return whether the text of `shown_token` has letters on both sides of a space.

    Bytes in hexadecimal are no letters.

    >>> [spans_words(text) for text in ("␣of␣the", "␣the", ".␣The", "a␣.", "⟨0A⟩␣⟨0A⟩")]
    [True, False, False, False, False]
    """
    parts = _HEXADECIMAL.sub("", shown).split(SHOWN_MARKER)
    return sum(any(map(str.isalpha, part)) for part in parts) > 1


_HEXADECIMAL = re.compile("⟨[0-9A-F]{2}⟩")


INNER_SPACE = re.compile(r"(?s).+[Ġ▁ ]")
"""What a type begins with that may have several words."""


Piece = list[tuple[str, int, int]]
"""The characters of a piece, each with its span in the original text."""

WHOLE = slice(None)
_CUT_FIRST = 256
"""The length of parts that become characters: to cut off one takes time by what it is cut from."""


def _in_parts_of(width: int, _: int, piece: Any) -> list[Any]:
    return [piece[start : start + width] for start in range(0, len(piece.normalized), width)]


@dataclass
class Preprocessor:
    """Turns words into atoms exactly as the tokeniser's own pipeline does.

    ``normalizer`` and ``pre_tokenizer`` are objects of the ``tokenizers`` library, or None.
    ``byte_level``: the pre-tokeniser maps bytes to printable characters.
    ``splits_only_non_letters``: it leaves a run of letters whole. ``adds_space``: it puts a space
    before every text. ``leading_space``: a word in running text is seen with the space before it,
    which becomes its start-of-word marker. ``suffix`` is joined to the last character of a piece
    (``</w>``). ``unknown`` is the type for characters outside the alphabet; ``fuse_unknown`` joins
    adjacent ones. ``byte_fallback``: such a character becomes its bytes ``<0x..>`` first, where the
    alphabet has them. ``added``: the added tokens, kept whole wherever they occur. ``parts``:
    normaliser and pre-tokeniser as JSON; ``is_known``: whether they are known to be fast.
    ``sentencepiece`` replaces ``normalizer`` and ``pre_tokenizer`` if present; it treats the text
    between two added tokens as a whole.
    """

    normalizer: Any = None
    pre_tokenizer: Any = None
    byte_level: bool = False
    splits_only_non_letters: bool = False
    adds_space: bool = False
    leading_space: bool = False
    suffix: str = ""
    unknown: str | None = None
    fuse_unknown: bool = False
    byte_fallback: bool = False
    added: tuple[AddedToken, ...] = ()
    sentencepiece: SentencePieceText | None = None
    parts: str = ""
    is_known: bool = True

    def pieces(self, text: str) -> list[Piece]:
        """Return the pieces of the pre-tokeniser, as characters with spans into ``text``."""
        if self.sentencepiece is not None:
            return self.pieces_of_part(text)
        normal = text if self.normalizer is None else self.normalizer.normalize_str(text)
        check_length(normal)
        if normal != text and not self._swap:
            return self.pieces_of_part(text)
        if self.pre_tokenizer is None:
            return [[(c, i, i + 1) for i, c in enumerate(normal)]] if text else []
        spelled = printable_bytes if self.byte_level else str
        pieces = []
        for piece, (start, end) in self.pre_tokenizer.pre_tokenize_str(normal):
            if spelled(normal[start:end]) != piece:
                return self.pieces_of_part(text)
            pieces.append([(c, i, i + 1) for i in range(start, end) for c in spelled(normal[i])])
        return pieces

    @cached_property
    def _swap(self) -> tuple[str, str] | None:
        """The characters of which normalising puts one for the other, if it does only that."""
        match json.loads(self.parts)["normalizer"] if self.parts else None:
            case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)}:
                return (old, new) if len(old) == len(new) == 1 else None
        return None

    @cached_property
    def space(self) -> str:
        """What a space becomes, where nothing else changes or cuts a word; else empty."""
        if self._swap is None or self._swap[0] != " " or self.sentencepiece or self.suffix:
            return ""
        match json.loads(self.parts)["pre_tokenizer"]:
            # As no space is left, nothing is split at one.
            case None | {"type": "Split", "pattern": {"String": " "}}:
                return self._swap[1]
        return ""

    def pieces_of_part(
        self, text: str, raw: slice = WHOLE, normalised: slice = WHOLE
    ) -> list[Piece]:
        """Return the pieces of a part of a text, giving the library its context.

        ``raw``: the part's span in the text; ``normalised``: its span in that after normalisation.
        """
        if self.sentencepiece is not None:
            joined = self.sentencepiece.joined(self._characters(text, raw, normalised))
            return [joined] if joined else []
        work = self._part(text, raw, normalised)
        if self.pre_tokenizer is not None:
            self.pre_tokenizer.pre_tokenize(work)
        lengths = [len(piece) for piece, *_ in work.get_splits("original", "char")]
        for width in (_CUT_FIRST, 1):
            work.split(partial(_in_parts_of, width))
        characters = iter(work.get_splits("original", "char"))
        return [
            [(text, *span) for _, (text, span, _) in zip(range(n), characters, strict=False)]
            for n in lengths
        ]

    def span_of_part(self, text: str, raw: slice, normalised: slice) -> tuple[int, int]:
        """Return the span in the text of a part of its normalised form."""
        if self.sentencepiece is not None:
            characters = self._characters(text, raw, normalised)
            return characters[0][1], characters[-1][2]
        splits = self._part(text, raw, normalised).get_splits("original", "char")
        return splits[0][1] if splits else (raw.start, raw.start)

    def _characters(self, text: str, raw: slice, normalised: slice) -> Piece:
        """Return the characters of a part, normalised separately by SentencePiece."""
        assert self.sentencepiece is not None
        shift = raw.start or 0
        characters = self.sentencepiece.normalised(text[raw])[normalised]
        return [(character, start + shift, end + shift) for character, start, end in characters]

    def _part(self, text: str, raw: slice, normalised: slice) -> Any:
        from tokenizers import PreTokenizedString

        def chosen(_: int, whole: Any) -> list[Any]:
            part = whole[raw]
            if part is None:
                return []
            if self.normalizer is not None:
                self.normalizer.normalize(part)
            part = part[normalised]
            return [] if part is None else [part]

        work = PreTokenizedString(text)
        work.split(chosen)
        return work


BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The spelling of a byte where characters outside the alphabet become bytes."""

"""How SentencePiece prepares a text: its own normalisation, and symbols that stay whole."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from morphgraph.core.errors import MorphGraphError

SENTENCEPIECE_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
_SPACE = "▁"


@dataclass(frozen=True)
class SentencePieceText:
    """Normalises a text as the `sentencepiece` library does for a model, and cuts it into atoms.

    ``charsmap``: the model's compiled rules, which replace characters; none if empty. The flags are
    those of the model's ``normalizer_spec``. ``symbols``: symbols that the user defined, which
    no rule changes and no merge touches: at each place the longest one counts.

    >>> text = SentencePieceText(symbols=("<sep>",))
    >>> text.characters(" un  do<sep>")
    [('▁', 1, 2), ('u', 1, 2), ('n', 2, 3), ('▁', 3, 5), ('d', 5, 6), ('o', 6, 7), ('<sep>', 7, 12)]
    """

    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    symbols: tuple[str, ...] = ()

    @cached_property
    def _library(self) -> Any:
        """The library with a model of nothing but these symbols."""
        from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

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
        found: dict[str, list[str]] = {}
        for symbol in sorted(self.symbols, key=lambda text: len(text.encode()), reverse=True):
            found.setdefault(symbol[0], []).append(symbol)
        return found

    def characters(self, text: str) -> list[tuple[str, int, int]]:
        """The characters and symbols of a normalised text, with their spans in ``text``."""
        normalised, starts = self._library.Normalize(text, with_offsets=True)
        # A character ends where the next one of another origin begins.
        ends = [0] * len(normalised)
        end = starts[-1] if starts else 0
        for i in range(len(normalised) - 1, -1, -1):
            if starts[i + 1] > starts[i]:
                end = starts[i + 1]
            ends[i] = end
        found = []
        at = 0
        while at < len(normalised):
            whole = self._symbol(normalised, at)
            last = at + len(whole)
            found.append((whole, starts[at], ends[last - 1]))
            at = last
        return found

    def _symbol(self, text: str, at: int) -> str:
        """The longest symbol at a place of a text, or the character there."""
        for symbol in self._by_first.get(text[at], ()):
            if text.startswith(symbol, at):
                return symbol
        return text[at]

    def settings(self) -> dict[str, Any]:
        """All but the rules, as JSON."""
        held = asdict(self)
        held.pop("charsmap")
        return {**held, "symbols": list(self.symbols)}

    @classmethod
    def from_settings(cls, settings: Any, charsmap: bytes) -> "SentencePieceText":
        """Read back what `settings` wrote; anything else is a `MorphGraphError`."""
        symbols = settings.get("symbols") if isinstance(settings, Mapping) else None
        good = (
            isinstance(symbols, list)
            and all(isinstance(symbol, str) and symbol for symbol in symbols)
            and all(isinstance(settings.get(flag), bool) for flag in SENTENCEPIECE_FLAGS)
        )
        if not good or not isinstance(symbols, Sequence):
            raise MorphGraphError("The settings of SentencePiece are incomplete. Save it again.")
        flags = {flag: settings[flag] for flag in SENTENCEPIECE_FLAGS}
        return cls(charsmap, symbols=tuple(symbols), **flags)

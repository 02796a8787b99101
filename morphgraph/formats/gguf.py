"""The tokeniser in a GGUF file, as llama.cpp reads it: the head of the file is enough."""

import struct
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from morphgraph.core.errors import FileFormatError, NoMergesError
from morphgraph.core.limits import MERGES
from morphgraph.formats.framing import frame_template
from morphgraph.formats.hugging_face import tokenizer_document
from morphgraph.formats.pipeline_parts import (
    byte_level_parts,
    replacing,
    special_token,
    split,
    to_text,
)
from morphgraph.formats.ranks import NEEDS_PATTERN
from morphgraph.formats.tokeniser_classes import OTHER_TEXT, TEXT
from morphgraph.tokeniser.parts import DOWNLOAD_AGAIN
from morphgraph.tokeniser.preprocess import BYTES

MAGIC = b"GGUF"
PREFIX = "tokenizer.ggml."
PATTERN_OF = {
    "gpt-2": "r50k_base",
    "gpt-4o": "o200k_base",
    "llama4": "o200k_base",
    "qwen2": "qwen2",
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "smaug-bpe"), "llama3"),
}
"""The pattern that cuts text into pieces, by the name that a file gives its pre-tokeniser."""
STAYS_WHOLE = (
    *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1"),
    *("pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "tekken", "youtu"),
)
"""Those under which a piece that is a type stays whole (``ignore_merges``)."""

_WITHOUT_MERGES = {
    "t5": "Unigram",
    "bert": "WordPiece",
    "rwkv": "RWKV's own",
    "none": "without a tokeniser",
}

_SCALARS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""The format of a value by the number of its type."""
STRING, ARRAY = 8, 9
_MOST_FIELDS, _MOST_ALIGNED = 10_000, 65_536
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The kinds of types."""
WHOLE_IN_TEXT = (UNKNOWN, CONTROL, USER_DEFINED)
"""Kinds of types that llama.cpp looks for in a text before it is cut."""


class Head:
    """The fields of a file, read one after the other; ``invalid``: what no UTF-8 becomes."""

    def __init__(self, data: bytes, name: str, invalid: str) -> None:
        self.data, self.name, self.at, self.place = data, name, 0, "its head"
        self.invalid = invalid
        self.places: dict[str, tuple[int, int]] = {}
        self.tensors, self.alignment = 0, 32

    def _take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            problem = "the file is cut off, or its head is too large to be read"
            raise FileFormatError(self.name, self.place, problem, DOWNLOAD_AGAIN)
        self.at += size
        return self.data[self.at - size : self.at]

    def _numbers(self, format_: str, count: int = 1) -> tuple[Any, ...]:
        size = struct.calcsize(f"<{format_}")
        return struct.unpack(f"<{count}{format_}", self._take(size * count))

    def _string(self) -> str:
        # A token of a single byte is no whole character in some files.
        return self._take(self._numbers("Q")[0]).decode("utf-8", self.invalid)

    def _value(self, kind: int) -> Any:
        if kind == ARRAY:
            (kind,), (count,) = self._numbers("I"), self._numbers("Q")
            MERGES.check(count, self.name, self.place)
            if kind == STRING:
                return [self._string() for _ in range(count)]
            if kind in _SCALARS:
                return list(self._numbers(_SCALARS[kind], count))
        elif kind == STRING:
            return self._string()
        elif kind in _SCALARS:
            return self._numbers(_SCALARS[kind])[0]
        problem = f"a value has the type {kind}, which is not known"
        raise FileFormatError(self.name, self.place, problem, DOWNLOAD_AGAIN)

    def fields(self) -> dict[str, Any]:
        """Return all fields of the tokeniser."""
        self.at = len(MAGIC)
        (version,), (self.tensors, count) = self._numbers("I"), self._numbers("Q", 2)
        if version not in (2, 3) or count > _MOST_FIELDS:
            problem = f"this is GGUF of version {version} with {count:,} fields; versions 2 and 3 "
            problem += f"with at most {_MOST_FIELDS:,} can be read"
            raise FileFormatError(self.name, "", problem, "Convert the model again.")
        fields: dict[str, Any] = {}
        for _ in range(count):
            key = self._string()
            self.place = f"field {key}"
            start = self.at
            value = self._value(self._numbers("I")[0])
            self.places[key] = start, self.at
            if key == "general.alignment":
                if type(value) is not int or not 1 <= value <= _MOST_ALIGNED:
                    problem = f"a number of bytes up to {_MOST_ALIGNED:,} is expected here"
                    raise FileFormatError(self.name, self.place, problem, DOWNLOAD_AGAIN)
                self.alignment = value
            if key.startswith(PREFIX):
                fields[key.removeprefix(PREFIX)] = value
        return fields

    def after_tensors(self) -> int:
        """Return where the descriptions of tensors end, once `fields` were read."""
        self.place = "its tensors"
        for _ in range(self.tensors):
            self._string()
            (dimensions,) = self._numbers("I")
            self._take(8 * dimensions + 12)  # their sizes, the kind of number, and the place
        return self.at


class TokeniserFields:
    """The fields of a file's tokeniser, and its types with their kinds."""

    def __init__(self, data: bytes, name: str, invalid: str = "backslashreplace") -> None:
        self.name, self.head = name, Head(data, name, invalid)
        self.fields = self.head.fields()
        types = self.fields.get("tokens")
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            raise self._wrong("tokens", "it lists no types", "Choose a model with its tokeniser.")
        self.types: list[str] = types
        self.kinds = self.listed("token_type", int) or [NORMAL] * len(types)

    def _wrong(self, key: str, problem: str, fix: str = DOWNLOAD_AGAIN) -> FileFormatError:
        return FileFormatError(self.name, f"field {PREFIX}{key}", problem, fix)

    def listed(self, key: str, kind: type) -> list[Any]:
        """Return a list with a value for each type; empty if there is none."""
        value, count = self.fields.get(key), len(self.types)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) != count or type(value[0]) is not kind:
            problem = f"a list with a number for each of {count:,} types is expected here"
            raise self._wrong(key, problem)
        return value

    def byte_level(self, pattern: str | None) -> dict[str, Any]:
        """Return a tokeniser of bytes, cut by a pattern, or by that of its pre-tokeniser."""
        pre = self.fields.get("pre")
        cut = pattern or PATTERN_OF.get(str(pre))
        if cut is None:
            problem = f"the pre-tokeniser {pre!r} is not known, and the file does not say how it "
            raise self._wrong("pre", f"{problem}cuts text", NEEDS_PATTERN)
        parts = byte_level_parts(cut)
        if self.fields.get("add_bos_token") is True:
            parts["post_processor"] = self._with_start()
        return self._merging(parts, ignore_merges=pre in STAYS_WHOLE)

    def gemma(self) -> dict[str, Any]:
        """Return a tokeniser with merges of characters, ``▁`` for spaces, and bytes for the rest.

        As in llama.cpp, text is only cut beside line ends, and always has the token of its start.
        """
        if not {*BYTES} <= {*self.types}:
            problem = "some of the 256 bytes are missing, from <0x00> to <0xFF>"
            raise self._wrong("tokens", problem)
        parts = {
            "normalizer": replacing(" ", "▁"),
            "pre_tokenizer": split(r"\n+"),
            "post_processor": self._with_start(),
            "decoder": to_text(spaced=False),
        }
        document = self._merging(parts, byte_fallback=True)
        merges = document["model"]["merges"]
        ranks = {(a, b): n for n, (a, b) in enumerate(merges) if not f"{a}{b}".strip("\n")}
        for text in self.types:
            if len(text) > 1 and not text.strip("\n") and len(_cut(text, ranks)) > 1:
                problem = f"the merges do not make the type of {len(text)} line ends, which "
                fix = "Choose the tokenizer.json of the same model."
                raise self._wrong("merges", f"{problem}llama.cpp takes whole", fix)
        return document

    def _merging(self, parts: Mapping[str, Any], **model: Any) -> dict[str, Any]:
        """Return ``tokenizer.json`` with the file's own merges."""
        lines = self.fields.get("merges")
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise self._wrong("merges", "a list of merges is expected here")
        # The first space parts two types, unless it is the first character.
        halves = [(line[:1], *line[1:].partition(" ")) for line in lines]
        merges = [(first + rest, second) for first, rest, _, second in halves]
        numbered = list(zip(self.types, self.kinds, range(len(self.types)), strict=True))
        added = [
            special_token(text, number) | {"special": kind != USER_DEFINED}
            for text, kind, number in numbered
            if kind in WHOLE_IN_TEXT
        ]
        vocabulary = {text: n for text, kind, n in numbered if kind not in WHOLE_IN_TEXT}
        return tokenizer_document(vocabulary, merges, added, parts, **model)

    def _with_start(self) -> dict[str, Any] | None:
        """Return a post-processor that puts the token of the start before a text, if any."""
        number = self.fields.get("bos_token_id")
        if type(number) is not int or number >= len(self.types):
            return None
        text = self.types[number]
        return frame_template([text, TEXT], [text, TEXT, text, OTHER_TEXT], {text: number})

    def sentencepiece(self) -> bytes:
        """Return a SentencePiece model."""
        from sentencepiece import sentencepiece_model_pb2

        messages: Any = sentencepiece_model_pb2
        model, types = messages.ModelProto(), self.types
        scores = self.listed("scores", float) or [0.0] * len(types)
        unknown = [number for number, kind in enumerate(self.kinds) if kind == UNKNOWN]
        if self.fields.get("unknown_token_id") in unknown:
            unknown = [self.fields["unknown_token_id"]]
        pieces = zip(types, self.kinds, scores, strict=True)
        for number, (text, kind, score) in enumerate(pieces):
            if not NORMAL <= kind <= BYTE:
                problem = f"“{text[:20]}” has the type {kind}, which is not known"
                raise self._wrong("token_type", problem)
            # Of several that are unknown, as Phi-3 has, SentencePiece allows one; no text has the
            # rest.
            is_spare = kind == UNKNOWN and number != unknown[0]
            model.pieces.add(piece=text, type=CONTROL if is_spare else kind, score=score)
        model.trainer_spec.model_type = model.trainer_spec.BPE
        model.trainer_spec.byte_fallback = BYTE in self.kinds
        model.trainer_spec.unk_piece = types[unknown[0]] if unknown else ""
        preparing = model.normalizer_spec
        preparing.add_dummy_prefix = self.fields.get("add_space_prefix") is not False
        preparing.remove_extra_whitespaces = self.fields.get("remove_extra_whitespaces") is True
        return model.SerializeToString()  # type: ignore[no-any-return]


def read_gguf(data: bytes, name: str, pattern: str | None) -> dict[str, Any] | bytes:
    """Return a file's tokeniser: ``tokenizer.json`` as a document, or a SentencePiece model.

    ``data``: at least the head. ``pattern``: as in `ranks_document`, needed if the file names a
    pre-tokeniser that is not known. Errors: `FileFormatError`, also for models without merges.
    """
    tokeniser = TokeniserFields(data, name)
    model = tokeniser.fields.get("model")
    if model == "gpt2":
        return tokeniser.byte_level(pattern)
    if model == "llama":
        return tokeniser.sentencepiece()
    if model == "gemma4":
        return tokeniser.gemma()
    place = f"field {PREFIX}model"
    if kind := _WITHOUT_MERGES.get(str(model)):
        problem = f"this is GGUF of the kind {model!r} ({kind}), which has no merges"
        raise NoMergesError(name, place, problem, "Choose a BPE tokeniser.")
    problem = f"this is GGUF of the kind {model!r}; only gpt2, llama and gemma4 are read"
    raise FileFormatError(name, place, problem, "Choose the tokenizer.json of the same model.")


def _cut(text: str, ranks: Mapping[tuple[str, str], int]) -> list[str]:
    """Return what merges make of a short text."""
    parts = list(text)
    while known := [(ranks[pair], n) for n, pair in enumerate(pairwise(parts)) if pair in ranks]:
        _, at = min(known)
        parts[at : at + 2] = ["".join(parts[at : at + 2])]
    return parts

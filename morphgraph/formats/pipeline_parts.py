"""The parts of the `tokenizers` library's pipelines as JSON, and the patterns of encodings."""

import base64
from typing import Any

from morphgraph.tokeniser.parts import SEQUENCES
from morphgraph.tokeniser.preprocess import TOKEN_FLAGS

PipelineParts = dict[str, Any]
NO_PARTS: PipelineParts = dict.fromkeys(
    ("normalizer", "pre_tokenizer", "post_processor", "decoder")
)
"""The parts of a pipeline that does nothing."""

_CONTRACTED = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_START = r"[^\r\n\p{L}\p{N}]?"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UP, _LOW = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PATTERNS = {
    "r50k_base": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    # {1,3}+ is not possessive in the `tokenizers` library; after {1,3} nothing follows anyway.
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s++$|\s*[\r\n]|\s+(?!\S)|\s+",
    "o200k_base": rf"{_START}{_UP}*{_LOW}+{_CONTRACTED}?|{_START}{_UP}+{_LOW}*{_CONTRACTED}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "llama3": rf"{_CONTRACTED}|{_START}\p{{L}}+|\p{{N}}{{1,3}}{_REST}",
    "qwen2": rf"{_CONTRACTED}|{_START}\p{{L}}+|\p{{N}}{_REST}",
}
"""The patterns that cut a text into pieces, by the name of an encoding."""


def sequence(key: str, *parts: PipelineParts | None) -> PipelineParts | None:
    """Return parts of a "normalizer", "pre_tokenizer" or "decoder" in sequence.

    A single one stays as it is; None if there is none.
    """
    present = [part for part in parts if part is not None]
    if len(present) > 1:
        return {"type": "Sequence", SEQUENCES[key]: present}
    return present[0] if present else None


def byte_level(*, spaced: bool = False, regex: bool = True) -> PipelineParts:
    """Return the pre-tokeniser of GPT-2; ``spaced``: whether a space is put before a text."""
    flags = {"add_prefix_space": spaced, "trim_offsets": True, "use_regex": regex}
    return {"type": "ByteLevel", **flags}


def byte_level_parts(pattern: str, *, spaced: bool = False) -> PipelineParts:
    """Return the pipeline that cuts text by a pattern, or by that of an encoding, into bytes."""
    cut = split(PATTERNS.get(pattern, pattern)), byte_level(spaced=spaced, regex=False)
    return {
        **NO_PARTS,
        "pre_tokenizer": sequence("pre_tokenizer", *cut),
        "decoder": byte_level(),
    }


def split(
    pattern: str, behavior: str = "Isolated", *, invert: bool = False, kind: str = "Regex"
) -> PipelineParts:
    """Return a pre-tokeniser that cuts at a pattern, or a "String" as its ``kind``."""
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def replacing(pattern: str, content: str, kind: str = "String") -> PipelineParts:
    """Return what puts one string for another, or for a "Regex" as its ``kind``."""
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def metaspace(scheme: str, *, split: bool = True) -> PipelineParts:
    """Return the pre-tokeniser, and decoder, with ``▁`` for spaces."""
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}


def precompiled(charsmap: bytes) -> PipelineParts | None:
    """Return the rules for characters of a SentencePiece model; None if it has none."""
    text = base64.b64encode(charsmap).decode()
    return {"type": "Precompiled", "precompiled_charsmap": text} if charsmap else None


def to_text(*, spaced: bool) -> PipelineParts | None:
    """Return the decoder of SentencePiece; ``spaced``: without the space before a text."""
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0} if spaced else None
    parts = replacing("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}
    return sequence("decoder", *parts, strip)


def special_token(text: str, number: int) -> dict[str, Any]:
    """Return a special token as ``tokenizer.json`` lists it."""
    flags = dict.fromkeys(TOKEN_FLAGS, False)
    return {"id": number, "content": text, **flags, "special": True}

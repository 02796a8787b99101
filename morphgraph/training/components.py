"""Pipelines as Hugging Face components, so that a tokeniser segments as in training.

The normaliser runs before any splitting, and pre-tokenisers split without changing text; so
capitals are marked first here but last in `morphgraph.corpus.rules`, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from morphgraph.corpus.pipelines import PreparedCorpus, pipeline_named
from morphgraph.corpus.rules import mark_capitals, restore_capitals
from morphgraph.tokeniser.known_parts import APOSTROPHES, CAPITAL, CONTRACTIONS, DIGITS, OUTER_MARKS

UNKNOWN_TOKEN = "<unk>"


def components(prepared: PreparedCorpus) -> dict[str, Any]:
    """Return normaliser, pre-tokeniser and decoder for a ``tokenizer.json``, as data.

    >>> from morphgraph.corpus.pipelines import prepare
    >>> parts = components(prepare("no-spaces", {"word": 1}, kind="unmarked"))
    >>> parts["pre_tokenizer"]
    {'type': 'WhitespaceSplit'}
    """
    chosen, kind = pipeline_named(prepared.pipeline), prepared.kind
    marker = _marker(kind) if chosen.marked else []
    normalizers: list[dict[str, Any]] = []
    decoders: list[dict[str, Any]] = []
    pre_tokenizers: list[dict[str, Any]]
    if chosen.name == "plain" and kind == "bytes":
        pre_tokenizers = [{**_byte_level(add_prefix_space=False), "use_regex": True}]
    elif chosen.name == "knockout":
        pre_tokenizers = [_WORDS, _split(r"[^\P{P}-]"), *marker, _split("-")]
    elif chosen.name == "rebpe":
        normalizers = [{"type": "NFKC"}, *_capitals(prepared.alphabet)]
        pre_tokenizers = [
            _WORDS,
            *map(_split, (OUTER_MARKS, CONTRACTIONS, APOSTROPHES)),
            *marker,
            *map(_split, (DIGITS, "-+")),
        ]
        decoders = _capitals_back(prepared.alphabet)
    elif chosen.marked:
        pre_tokenizers = [_WORDS, *marker]
    else:
        pre_tokenizers = [_split(r"\s")] if chosen.name == "spaces" else [_WORDS]
        if kind == "bytes":
            pre_tokenizers.append(_byte_level(add_prefix_space=False))
        elif kind == "characters" and chosen.name == "spaces":
            normalizers, pre_tokenizers = [_replace(" ", "▁")], [_split("▁")]
    if kind == "bytes":
        decoders = [_byte_level(add_prefix_space=False), *decoders]
    elif kind == "characters":
        decoders = [{**_METASPACE, "split": True}, *decoders]
    return {
        "normalizer": _sequence("normalizers", normalizers),
        "pre_tokenizer": _sequence("pretokenizers", pre_tokenizers),
        "decoder": _sequence("decoders", decoders),
    }


_WORDS: dict[str, Any] = {"type": "WhitespaceSplit"}
_METASPACE: dict[str, Any] = {
    "type": "Metaspace",
    "replacement": "▁",
    "prepend_scheme": "always",
    "split": False,
}


def _marker(kind: str) -> list[dict[str, Any]]:
    if kind == "bytes":
        return [_byte_level(add_prefix_space=True)]
    return [_METASPACE] if kind == "characters" else []


def _byte_level(*, add_prefix_space: bool) -> dict[str, Any]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": False,
    }


def _split(pattern: str, behavior: str = "Isolated") -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": behavior,
        "invert": False,
    }


def _replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def _capitals(alphabet: Iterable[str]) -> list[dict[str, Any]]:
    """Insert ⇧ before capitals of the alphabet's letters; other capitals are unknown anyway."""
    capitals = _capitals_of(alphabet)
    return [_replace(CAPITAL, CAPITAL * 2)] + [_replace(c, mark_capitals(c)) for c in capitals]


def _capitals_back(alphabet: Iterable[str]) -> list[dict[str, Any]]:
    capitals = _capitals_of(alphabet)
    return [{"type": "Fuse"}] + [_replace(mark_capitals(c), c) for c in (*capitals, CAPITAL)]


def _capitals_of(alphabet: Iterable[str]) -> list[str]:
    found = (restore_capitals(CAPITAL + c) for c in sorted(alphabet) if c != CAPITAL)
    # I is the capital of i and ı; capitals of several characters never occur in a text.
    return list(dict.fromkeys(c for c in found if len(c) == 1 and mark_capitals(c) != c))


def _sequence(key: str, parts: list[dict[str, Any]]) -> dict[str, Any] | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", key: parts}

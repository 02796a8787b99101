"""What a page needs to cut words by itself, as a tokeniser does in its present state."""

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from morphgraph.graph.arrays import merge_arrays
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_MOST_TYPES = 60_000
_MOST_ADDED = 100
_GPT_2 = (
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
)
"""How GPT-2 divides text before anything is merged, as its files write it."""


@dataclass(frozen=True, slots=True)
class CuttingTables:
    """The merges of a state, ``packed``; equal ``state`` if and only if equal tables.

    First the length of a JSON header, in bytes (uint32, little-endian); then the header, whose
    ``wide`` are the ranks of merges of three parts or more, with their numbers of parts; then
    uint16: the atoms of the 256 bytes, the results of all merges by rank, and their parts.
    """

    state: str
    packed: bytes


def cutting_tables(tokeniser: BpeTokeniser) -> CuttingTables | None:
    """Return a tokeniser's present state for `segment.js`; None if it cannot cut as the library.

    It can with bytes as atoms, GPT-2's division of text, no type that is longer than a word, and
    merges that neither tie nor leave pieces whole, of at most 60,000 types.
    """
    graph, settings = tokeniser.graph, tokeniser.preprocessor
    added = [token.content for token in settings.added]
    if len(graph.types) > _MOST_TYPES or len(added) > _MOST_ADDED or graph.never_whole is not None:
        return None
    if not _is_plain(settings) or tokeniser.several_words:
        return None
    atoms = [graph.ids.get(character, -1) for character in BYTE_TO_CHAR]
    arrays = merge_arrays(graph)
    if min(atoms) < 0 or len(arrays.leaders) or not all(map(graph.is_atom, atoms)):
        return None
    widths = np.diff(arrays.part_offsets)
    wide = np.flatnonzero(widths > 2)
    numbers = np.concatenate([atoms, arrays.results, arrays.parts]).astype("<u2").tobytes()
    header = {
        "space": settings.leading_space or settings.adds_space,
        "added": added,
        "merges": len(arrays),
        "wide": [wide.tolist(), widths[wide].tolist()],
    }
    state = blake2b(json.dumps(header).encode() + numbers, digest_size=16).hexdigest()
    text = json.dumps({"state": state, **header}).encode()
    text += b" " * (len(text) % 2)
    return CuttingTables(state, len(text).to_bytes(4, "little") + text + numbers)


def _is_plain(settings: Preprocessor) -> bool:
    """Whether text is divided as GPT-2 does, into bytes, and nothing else is done to it."""
    if settings.normalizer is not None or settings.sentencepiece is not None or settings.suffix:
        return False
    if not settings.byte_level or not settings.parts:
        return False
    part: Any = json.loads(settings.parts)["pre_tokenizer"]
    match part:
        case {"type": "ByteLevel", "use_regex": True}:
            return True
        case {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"} as split,
                {"type": "ByteLevel", "use_regex": False},
            ],
        }:
            return pattern in _GPT_2 and not split.get("invert")
    return False

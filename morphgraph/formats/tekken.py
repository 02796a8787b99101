"""Mistral's ``tekken.json``: ranks behind special tokens, with the pattern that cuts text."""

import binascii
from collections.abc import Mapping
from itertools import chain, starmap
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import json_bytes
from morphgraph.core.limits import ADDED_TOKENS, TYPES
from morphgraph.formats.hugging_face import id_choice, removed_ids
from morphgraph.formats.pipeline_parts import special_token
from morphgraph.formats.ranks import checked_ranks, document_of, ranked_types
from morphgraph.tokeniser.parts import DOWNLOAD_AGAIN
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_USUAL = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
"""The special tokens of the first files, which list none."""


def is_tekken(fields: Mapping[str, Any]) -> bool:
    """Return whether JSON looks like a Tekken file."""
    return isinstance(fields.get("vocab"), list) and isinstance(fields.get("config"), dict)


def tekken_document(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a Tekken file as ``tokenizer.json``; anything invalid is a `FileFormatError`.

    Special tokens have the first ids, and a rank counts from the id behind them. What says more
    than types and merges stays in the model's field ``tekken``, for `to_tekken`. Source:
    mistral-common 1.13.1, ``tokens/tokenizers/tekken.py``.
    """
    pattern, special, size = _layout(fields, name)
    listed = fields["vocab"][:size]
    if not 256 <= size == len(listed):
        problem = f"{max(size, 256):,} types are expected here, but there are {len(listed):,}"
        raise FileFormatError(name, "field vocab", problem, DOWNLOAD_AGAIN)
    place = "field vocab, entry {:,}"
    fields_of = (each if isinstance(each, dict) else {} for each in listed)
    entries = ((each.get("token_bytes"), each.get("rank")) for each in fields_of)
    ranks = checked_ranks(entries, name, place)
    for number, (type_, rank) in enumerate(ranks.items()):
        if rank != number or (number < 256 and type_ != bytes([number])):
            problem = f"the rank {number:,} is expected here, and the 256 bytes in order first"
            raise FileFormatError(name, place.format(number + 1), problem, DOWNLOAD_AGAIN)
    ids = {type_: len(special) + rank for type_, rank in ranks.items()}
    document = document_of(ids, name, pattern, starmap(special_token, special.items()))
    model = document["model"]
    if both := special.keys() & model["vocab"].keys():
        problem = f"“{min(both)}” is also a type"
        raise FileFormatError(name, "field special_tokens", problem, "Give it another name.")
    model["vocab"] = special | model["vocab"]
    model["tekken"] = {key: value for key, value in fields.items() if key != "vocab"}
    return document


def to_tekken(tokeniser: BpeTokeniser) -> bytes:
    """Return an edited Tekken file, with which mistral-common segments alike.

    Ids are as in every export. Where removed types would leave gaps, which that program refuses,
    stand entries that no text has. `MorphGraphError` for what came from no Tekken file, and as for
    `ranked_types`.
    """
    kept, name = tokeniser.document["model"].get("tekken"), tokeniser.name
    if not isinstance(kept, dict):
        raise MorphGraphError(
            f"{name} does not come from a tekken.json, so its special tokens may mean something "
            "else to mistral-common. Export a folder, which has a tokenizer.json."
        )
    _, special, _ = _layout(kept, name)
    ids = ranked_types(tokeniser).items()
    types = {number - len(special): type_ for type_, number in ids}
    gone = () if id_choice(tokeniser) == "dense" else removed_ids(tokeniser)
    size = max(chain(types, (number - len(special) for number in gone))) + 1
    TYPES.check(size, name)
    if min(types) < 0 or [types.get(n) for n in range(256)] != [bytes([n]) for n in range(256)]:
        raise MorphGraphError(
            f"In {name} the 256 bytes no longer come first after the special tokens. Load the "
            "tekken.json again."
        )
    # No text has the byte 0xFF.
    entries = ((rank, types.get(rank, b"\xff%d" % rank)) for rank in range(size))
    vocabulary = [
        {
            "rank": rank,
            "token_bytes": binascii.b2a_base64(type_, newline=False).decode(),
            "token_str": text
            if (text := type_.decode(errors="replace")).encode() == type_
            else None,
        }
        for rank, type_ in entries
    ]
    sizes = {"num_vocab_tokens": size, "default_vocab_size": len(special) + size}
    document = {**kept, "config": {**kept["config"], **sizes}, "vocab": vocabulary}
    return json_bytes(document, name)


def _layout(fields: Mapping[str, Any], name: str) -> tuple[str, dict[str, int], int]:
    """Return the pattern, the ids of special tokens, and the number of other types."""
    match fields.get("config"):
        case {
            "pattern": str(pattern),
            "default_vocab_size": int(size),
            "default_num_special_tokens": int(count),
        } if count >= 0:
            ADDED_TOKENS.check(count, name, "field config")
        case _:
            problem = "pattern, default_vocab_size and default_num_special_tokens are expected here"
            raise FileFormatError(name, "field config", problem, DOWNLOAD_AGAIN)
    listed = fields.get("special_tokens")
    texts = list(_USUAL) if listed is None else []
    for number, token in enumerate(listed if isinstance(listed, list) else ()):
        match token:
            case {"rank": int(rank), "token_str": str(text)} if rank == number and text:
                texts.append(text)
            case _:
                place = f"field special_tokens, entry {number + 1:,}"
                problem = f"a token_str with the rank {number:,} is expected here"
                raise FileFormatError(name, place, problem, DOWNLOAD_AGAIN)
    texts += [f"<SPECIAL_{number}>" for number in range(len(texts), count)]
    special = {text: number for number, text in enumerate(texts)}
    if not len(special) == len(texts) == count:
        problem = f"{count:,} different special tokens are expected here"
        raise FileFormatError(name, "field special_tokens", problem, DOWNLOAD_AGAIN)
    return pattern, special, size - count

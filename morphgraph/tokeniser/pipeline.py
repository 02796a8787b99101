"""What all files of Hugging Face's library share: vocabulary, added tokens, and the pipeline."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.text import shortened
from morphgraph.tokeniser.added_tokens import AddedToken
from morphgraph.tokeniser.preprocess import Preprocessor, letters_stay_whole
from morphgraph.tokeniser.sentencepiece import SentencePieceText

_cut = partial(shortened, length=60)
SPECIAL = re.compile(r"(<[^<>\s]{1,40}>|\[[A-Za-z_0-9]{2,40}\])")
"""Types that are special by their looks: ``<s>``, ``[CLS]``."""

MAX_ADDED_TOKENS = 20_000
"""More added tokens than this are refused: each text is searched for all of them."""


def checked_vocabulary(value: Any, name: str, place: str = "") -> dict[str, int]:
    """A vocabulary (type → id) as JSON, checked; else a `FileFormatError`."""
    fix = "Download the file again, or give each type an id of its own."
    if not isinstance(value, dict) or not value:
        raise FileFormatError(name, place, "a vocabulary (type → id) is expected here", fix)
    seen: dict[int, str] = {}
    for text, number in value.items():
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise FileFormatError(name, place, f"the id of “{_cut(text)}” is not a valid id", fix)
        if number in seen:
            both = f"“{_cut(seen[number])}” and “{_cut(text)}” share the id {number:,}"
            raise FileFormatError(name, place, both, fix)
        if not text:
            raise FileFormatError(name, place, f"the type with the id {number:,} is empty", fix)
        seen[number] = text
    try:
        "".join(value).encode()
    except UnicodeEncodeError as error:
        problem = "a type holds half of a surrogate pair, which is not a character"
        raise FileFormatError(name, place, problem, "Download the file again.") from error
    return value


def added_tokens(
    document: Mapping[str, Any], vocabulary: Mapping[str, int], name: str
) -> dict[str, int]:
    """Contents and ids of a document's added tokens, checked against its vocabulary."""
    added: dict[str, int] = {}
    listed = document.get("added_tokens") or []
    if not isinstance(listed, list):
        raise FileFormatError(
            name, "field added_tokens", "a list is expected here", "Download the file again."
        )
    if len(listed) > MAX_ADDED_TOKENS:
        raise FileFormatError(
            name,
            "field added_tokens",
            f"there are {len(listed):,} added tokens, the limit is {MAX_ADDED_TOKENS:,}",
            "Remove those that are not needed.",
        )
    owner = {number: text for text, number in vocabulary.items()}
    for position, token in enumerate(listed, start=1):
        place = f"field added_tokens, entry {position:,}"
        text = token.get("content") if isinstance(token, dict) else None
        number = token.get("id") if isinstance(token, dict) else None
        if not isinstance(text, str) or not text or not isinstance(number, int):
            raise FileFormatError(
                name, place, "an added token with content and id is expected", "Correct the entry."
            )
        if owner.setdefault(number, text) != text or added.get(text, number) != number:
            raise FileFormatError(
                name,
                place,
                f"the id {number:,} of “{_cut(text)}” belongs to “{_cut(owner[number])}”",
                "Give each type an id of its own.",
            )
        if text in vocabulary and vocabulary[text] != number:
            raise FileFormatError(
                name,
                place,
                f"“{_cut(text)}” has the id {number:,} here and {vocabulary[text]:,} in the "
                "vocabulary",
                "Use the same id in both places.",
            )
        added[text] = number
    return added


def preprocessor_of(document: Mapping[str, Any], name: str, ids: Mapping[str, int]) -> Preprocessor:
    """The normaliser, pre-tokeniser and alphabet of a document; `FileFormatError` if they fail.

    A model that came from SentencePiece has a field ``sentencepiece`` with `SentencePieceText`'s
    settings: then text is prepared as that library does it, which looks for no added tokens.
    """
    from tokenizers import Tokenizer

    settings = document["model"]
    pre_tokenizer = document.get("pre_tokenizer")
    pipeline: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": document.get("normalizer"),
        "pre_tokenizer": pre_tokenizer,
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    }
    try:
        loaded = Tokenizer.from_str(json.dumps(pipeline))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        raise FileFormatError(
            name,
            "fields normalizer and pre_tokenizer",
            f"the tokenizers library cannot build them ({shortened(str(error), 120)})",
            "Download the file again.",
        ) from error
    suffix = settings.get("end_of_word_suffix") or ""
    unknown = settings.get("unk_token")
    whole = letters_stay_whole(pre_tokenizer)
    preprocessor = Preprocessor(
        normalizer=loaded.normalizer,
        pre_tokenizer=loaded.pre_tokenizer,
        byte_level='"ByteLevel"' in json.dumps([pre_tokenizer, pipeline["normalizer"]]),
        splits_only_non_letters=whole,
        adds_space=whole and bool((pre_tokenizer or {}).get("add_prefix_space", True)),
        suffix=suffix if isinstance(suffix, str) else "",
        unknown=unknown if isinstance(unknown, str) else None,
        fuse_unknown=bool(settings.get("fuse_unk")),
        byte_fallback=bool(settings.get("byte_fallback")),
        added=tuple(
            AddedToken(
                token["content"], *(token.get(flag) is True for flag in AddedToken._fields[1:])
            )
            # Of two with one normalised form the library takes the special one, else the first.
            for token in sorted(
                document.get("added_tokens") or [],
                key=lambda token: token.get("special") is not True,
            )
        ),
    )
    if settings.get("sentencepiece") is not None:
        text = _sentencepiece_text(document, name)
        preprocessor = replace(
            preprocessor, normalizer=None, pre_tokenizer=None, added=(), sentencepiece=text
        )
    try:
        preprocessor.leading_space = _sees_leading_space(preprocessor, ids)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise FileFormatError(
            name,
            "fields normalizer and pre_tokenizer",
            f"they fail on a simple word ({shortened(str(error), 120)})",
            "Download the file again.",
        ) from error
    return preprocessor


def _sentencepiece_text(document: Mapping[str, Any], name: str) -> SentencePieceText:
    normalizer = document.get("normalizer") or {}
    parts = normalizer.get("normalizers", [normalizer])
    rules = (part["precompiled_charsmap"] for part in parts if part.get("type") == "Precompiled")
    try:
        charsmap = base64.b64decode(next(rules, ""))
        return SentencePieceText.from_settings(document["model"]["sentencepiece"], charsmap)
    except (ValueError, MorphGraphError) as error:
        problem = f"they cannot be read ({shortened(str(error), 120)})"
        fix = "Save the tokeniser again."
        raise FileFormatError(name, "field model.sentencepiece", problem, fix) from error


def _sees_leading_space(preprocessor: Preprocessor, ids: Mapping[str, int]) -> bool:
    """Whether the space before a word becomes exactly one marker that the word alone lacks."""
    bare = preprocessor.pieces("a")
    spaced = preprocessor.pieces(" a")
    if len(bare) != 1 or len(spaced) != 1 or len(spaced[0]) != len(bare[0]) + 1:
        return False
    marker = spaced[0][0][0]
    return marker in ids and marker != bare[0][0][0]

"""The pipeline of a tokeniser as JSON, in Hugging Face files and in saved models."""

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from morphgraph.core.cache import State
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import document_field
from morphgraph.core.text import shortened
from morphgraph.tokeniser.isolated_pipeline import (
    IsolatedPart,
    IsolatedPreprocessor,
)
from morphgraph.tokeniser.parts import (
    DOWNLOAD_AGAIN,
    PARTS_OF_TEXT,
    charsmap_of,
    check_parts,
    library_of,
    trying,
)
from morphgraph.tokeniser.preprocess import (
    TOKEN_FLAGS,
    AddedToken,
    Preprocessor,
    SentencePieceText,
)

cut = partial(shortened, length=60)


IDS_END = 1 << 32
"""Ids have 32 bits in the `tokenizers` library."""


def check_id(number: int, text: str, name: str, place: str) -> None:
    """Raise `FileFormatError` for an id that the library's numbers have no room for."""
    if number >= IDS_END:
        problem = f"the id of “{cut(text)}” is {number:,}, and ids have 32 bits"
        raise FileFormatError(name, place, problem, f"Give it one below {IDS_END:,}.")


def added_tokens(
    document: Mapping[str, Any], vocabulary: Mapping[str, int], name: str
) -> dict[str, int]:
    """Return contents and ids of a document's added tokens, checked against its vocabulary."""
    place = "field added_tokens"
    listed = document.get("added_tokens") or []
    if not isinstance(listed, list):
        raise FileFormatError(name, place, "a list is expected here", DOWNLOAD_AGAIN)
    added: dict[str, int] = {}
    owner = {number: text for text, number in vocabulary.items()}
    for position, token in enumerate(listed, start=1):
        wrong = partial(FileFormatError, name, f"{place}, entry {position:,}")
        text = token.get("content") if isinstance(token, dict) else None
        number = token.get("id") if isinstance(token, dict) else None
        if not isinstance(text, str) or not text or type(number) is not int or number < 0:
            problem = "an added token with content and id is expected"
            raise wrong(problem, "Correct the entry.")
        check_id(number, text, name, f"{place}, entry {position:,}")
        if owner.setdefault(number, text) != text or added.get(text, number) != number:
            problem = f"the id {number:,} of “{cut(text)}” belongs to “{cut(owner[number])}”"
            raise wrong(problem, "Give each type an id of its own.")
        if vocabulary.get(text, number) != number:
            both = f"{number:,} here and {vocabulary[text]:,} in the vocabulary"
            raise wrong(f"“{cut(text)}” has the id {both}", "Use the same id in both places.")
        added[text] = number
    return added


_FLAGS = (
    "byte_level",
    "splits_only_non_letters",
    "adds_space",
    "leading_space",
    "fuse_unknown",
    "byte_fallback",
)
_PROBE = " a_▁ Aé1-ǅﷺ'b  _▁_\n"
"""A short text with something for most parts, which none should enlarge much."""


def preprocessor_of(document: Mapping[str, Any], name: str, ids: Mapping[str, int]) -> Preprocessor:
    """Return the normaliser, pre-tokeniser and alphabet of a document, or `FileFormatError`.

    A model from SentencePiece has a field ``sentencepiece`` with `SentencePieceText`'s settings:
    then text is prepared as that library does, after added tokens are found as in `transformers`.
    User-defined symbols are found in normalised text.
    """
    built = _built(document, name, DOWNLOAD_AGAIN)
    settings = document["model"]
    pre_tokenizer = document.get("pre_tokenizer") or {}
    suffix = settings.get("end_of_word_suffix")
    unknown = settings.get("unk_token")
    in_bytes = pre_tokenizer.get("type") == "ByteLevel"
    by_pattern = in_bytes and pre_tokenizer.get("use_regex", True) is True  # GPT-2's own
    preprocessor: Preprocessor = IsolatedPreprocessor(
        **built,
        byte_level='"ByteLevel"' in json.dumps([pre_tokenizer, document.get("normalizer")]),
        splits_only_non_letters=by_pattern,
        adds_space=in_bytes and bool(pre_tokenizer.get("add_prefix_space", True)),
        suffix=suffix if isinstance(suffix, str) else "",
        unknown=unknown if isinstance(unknown, str) else None,
        fuse_unknown=bool(settings.get("fuse_unk")),
        byte_fallback=bool(settings.get("byte_fallback")),
        added=added_tokens_of(document),
    )
    if settings.get("sentencepiece") is not None:
        text = _sentencepiece_text(document, name)
        added = tuple(token for token in preprocessor.added if token.content not in text.symbols)
        preprocessor = replace(
            preprocessor, normalizer=None, pre_tokenizer=None, added=added, sentencepiece=text
        )
    with trying(name, DOWNLOAD_AGAIN):
        preprocessor.leading_space = _sees_leading_space(preprocessor, ids)
    return preprocessor


def added_tokens_of(document: Mapping[str, Any]) -> tuple[AddedToken, ...]:
    """Return the added tokens to search texts for, from a document like ``tokenizer.json``."""
    return tuple(
        AddedToken(token["content"], *(token.get(flag) is True for flag in TOKEN_FLAGS))
        # Of two with the same normalised form the library takes the special one, else the first.
        for token in sorted(
            document.get("added_tokens") or [],
            key=lambda token: token.get("special") is not True,
        )
    )


def _built(document: Mapping[str, Any], name: str, fix: str) -> dict[str, Any]:
    """Return the parts of a pipeline as objects of the `tokenizers` library, or proxies.

    Unknown parts run in a separate process.
    """
    is_known = check_parts(document, name, fix)
    chosen = {key: document.get(key) for key in PARTS_OF_TEXT}
    parts = json.dumps(chosen)
    fields: dict[str, Any] = {"parts": parts, "is_known": is_known}
    if not is_known:
        present = (key for key, part in chosen.items() if part is not None)
        fields |= {key: IsolatedPart(parts, key) for key in present}
        with trying(name, fix):
            IsolatedPreprocessor(**fields).pieces(_PROBE)
    else:
        with trying(name, fix, "the tokenizers library cannot build them"):
            library = library_of(chosen)
        fields |= {key: getattr(library, key) for key in PARTS_OF_TEXT}
    return fields


def _sentencepiece_text(document: Mapping[str, Any], name: str) -> SentencePieceText:
    try:
        settings = document["model"]["sentencepiece"]
        return SentencePieceText.from_settings(settings, charsmap_of(document))
    except (ValueError, MorphGraphError) as error:
        problem = f"they cannot be read ({shortened(str(error), 120)})"
        fix = "Save the tokeniser again."
        raise FileFormatError(name, "field model.sentencepiece", problem, fix) from error


def _sees_leading_space(preprocessor: Preprocessor, ids: Mapping[str, int]) -> bool:
    """Return whether the space before a word becomes exactly one marker."""
    bare = preprocessor.pieces("a")
    spaced = preprocessor.pieces(" a")
    if len(bare) != 1 or len(spaced) != 1 or len(spaced[0]) != len(bare[0]) + 1:
        return False
    marker = spaced[0][0][0]
    return marker in ids and marker != bare[0][0][0]


def preprocessor_document(preprocessor: Preprocessor) -> dict[str, Any]:
    """Return a pipeline as JSON data; `MorphGraphError` if it is Python code."""
    parts: dict[str, Any] = dict.fromkeys(PARTS_OF_TEXT)
    for key in PARTS_OF_TEXT:
        part = getattr(preprocessor, key)
        try:
            own = isinstance(part, IsolatedPart)
            if part is not None:  # an empty sequence is false
                parts[key] = part.as_json() if own else json.loads(part.__getstate__())
        except Exception as error:
            raise MorphGraphError(
                f"The tokeniser's {key} is Python code, which cannot be saved. Use a built-in one."
            ) from error
    document = {
        **parts,
        **{flag: getattr(preprocessor, flag) for flag in _FLAGS},
        "suffix": preprocessor.suffix,
        "unknown": preprocessor.unknown,
        "added": [token._asdict() for token in preprocessor.added],
    }
    if (text := preprocessor.sentencepiece) is not None:
        document["sentencepiece"] = text.settings()
        document["charsmap"] = base64.b64encode(text.charsmap).decode()
    return document


def preprocessor_state(preprocessor: Preprocessor) -> State:
    """The identity of a pipeline; one with Python code in it is equal to itself only."""
    try:
        return State.of("preprocessor", preprocessor_document(preprocessor))
    except MorphGraphError:
        return State.of("preprocessor", uuid4().hex)


def preprocessor_from(document: Mapping[str, Any]) -> Preprocessor:
    """Read the result of `preprocessor_document`; anything else is a `MorphGraphError`."""
    text = None
    if (settings := document.get("sentencepiece")) is not None:
        try:
            charsmap = base64.b64decode(document_field(document, "charsmap", str))
        except ValueError as error:
            problem = "it is not base64"
            raise FileFormatError("model", "field charsmap", problem, "Save it again.") from error
        text = SentencePieceText.from_settings(settings, charsmap)
    return IsolatedPreprocessor(
        **_built(document, "model", "Save it again."),
        **{flag: document_field(document, flag, bool) for flag in _FLAGS},
        suffix=document_field(document, "suffix", str),
        unknown=document_field(document, "unknown", str, optional=True),
        added=tuple(map(_added_token, document_field(document, "added", list))),
        sentencepiece=text,
    )


def _added_token(document: Any) -> AddedToken:
    content = document_field(document, "content", str)
    flags = {flag: document_field(document, flag, bool) for flag in TOKEN_FLAGS}
    if not content or document.keys() != {"content", *TOKEN_FLAGS}:
        problem = "an added token is not as it was saved"
        raise FileFormatError("model", "field added", problem, "Save it again.")
    return AddedToken(content, **flags)

"""The pipeline of a tokeniser as JSON: in files of Hugging Face's library, and in saved models."""

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import document_field
from morphgraph.core.limits import GROWN_CHARACTERS
from morphgraph.core.text import shortened
from morphgraph.tokeniser.added_tokens import AddedToken
from morphgraph.tokeniser.document import DOWNLOAD_AGAIN
from morphgraph.tokeniser.harmless import PARTS_OF_TEXT, checked_growth
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.sentencepiece import SentencePieceText

_PLACE = "fields normalizer and pre_tokenizer"
_FLAGS = (
    "byte_level",
    "splits_only_non_letters",
    "adds_space",
    "leading_space",
    "fuse_unknown",
    "byte_fallback",
)
_TOKEN_FLAGS = AddedToken._fields[1:]


def preprocessor_of(document: Mapping[str, Any], name: str, ids: Mapping[str, int]) -> Preprocessor:
    """The normaliser, pre-tokeniser and alphabet of a document; `FileFormatError` if they fail.

    A model that came from SentencePiece has a field ``sentencepiece`` with `SentencePieceText`'s
    settings: then text is prepared as that library does it, which looks for no added tokens.
    """
    built = _built(document, name, DOWNLOAD_AGAIN)
    settings = document["model"]
    pre_tokenizer = document.get("pre_tokenizer") or {}
    suffix = settings.get("end_of_word_suffix")
    unknown = settings.get("unk_token")
    by_pattern = pre_tokenizer.get("use_regex", True) is True
    whole = pre_tokenizer.get("type") == "ByteLevel" and by_pattern  # GPT-2's own
    preprocessor = Preprocessor(
        **built,
        byte_level='"ByteLevel"' in json.dumps([pre_tokenizer, document.get("normalizer")]),
        splits_only_non_letters=whole,
        adds_space=whole and bool(pre_tokenizer.get("add_prefix_space", True)),
        suffix=suffix if isinstance(suffix, str) else "",
        unknown=unknown if isinstance(unknown, str) else None,
        fuse_unknown=bool(settings.get("fuse_unk")),
        byte_fallback=bool(settings.get("byte_fallback")),
        added=tuple(
            AddedToken(token["content"], *(token.get(flag) is True for flag in _TOKEN_FLAGS))
            # Of two with one normalised form the library takes the special one, else the first.
            for token in sorted(
                document.get("added_tokens") or [],
                key=lambda token: token.get("special") is not True,
            )
        ),
    )
    together = "".join(token.content for token in preprocessor.added if token.normalized)
    longest = len(together) * preprocessor.growth
    GROWN_CHARACTERS.check(longest, name, "field added_tokens")
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
        problem = f"they fail on a simple word ({shortened(str(error), 120)})"
        raise FileFormatError(name, _PLACE, problem, DOWNLOAD_AGAIN) from error
    return preprocessor


def _built(document: Mapping[str, Any], name: str, fix: str) -> dict[str, Any]:
    """The parts of a pipeline as objects of the `tokenizers` library, and how a text may grow."""
    growth = checked_growth(document, name)
    from tokenizers import Tokenizer

    pipeline: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        **{part: document.get(part) for part in PARTS_OF_TEXT},
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    }
    try:
        loaded = Tokenizer.from_str(json.dumps(pipeline))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        problem = f"the tokenizers library cannot build them ({shortened(str(error), 120)})"
        raise FileFormatError(name, _PLACE, problem, fix) from error
    return {**{part: getattr(loaded, part) for part in PARTS_OF_TEXT}, "growth": growth}


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


def preprocessor_document(preprocessor: Preprocessor) -> dict[str, Any]:
    """A pipeline as JSON, for `preprocessor_from`; `MorphGraphError` where it is Python code."""
    parts = {}
    for key in PARTS_OF_TEXT:
        part = getattr(preprocessor, key)
        try:
            parts[key] = None if part is None else json.loads(part.__getstate__())
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


def preprocessor_from(document: Mapping[str, Any]) -> Preprocessor:
    """Read back what `preprocessor_document` wrote; anything else is a `MorphGraphError`."""
    text = None
    if (settings := document.get("sentencepiece")) is not None:
        try:
            charsmap = base64.b64decode(document_field(document, "charsmap", str))
        except ValueError as error:
            problem = "it is not base64"
            raise FileFormatError("model", "field charsmap", problem, "Save it again.") from error
        text = SentencePieceText.from_settings(settings, charsmap)
    return Preprocessor(
        **_built(document, "model", "Save it again."),
        **{flag: document_field(document, flag, bool) for flag in _FLAGS},
        suffix=document_field(document, "suffix", str),
        unknown=document_field(document, "unknown", str, optional=True),
        added=tuple(map(_added_token, document_field(document, "added", list))),
        sentencepiece=text,
    )


def _added_token(document: Any) -> AddedToken:
    content = document_field(document, "content", str)
    # A model saved by an earlier version lacks the last flag.
    flags = {flag: document_field(document, flag, bool, optional=True) for flag in _TOKEN_FLAGS}
    if not content or not document.keys() <= {"content", *_TOKEN_FLAGS}:
        problem = "an added token is not as it was saved"
        raise FileFormatError("model", "field added", problem, "Save it again.")
    return AddedToken(content, **{flag: bool(value) for flag, value in flags.items()})

"""Complete a tokeniser by the settings that `transformers` keeps in the files beside it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.text import shortened
from morphgraph.formats.framing import frame_template, frames
from morphgraph.formats.hugging_face import are_numbered, listed_ids, tokenizer_document
from morphgraph.formats.tokeniser_classes import (
    MORE_TOKENS,
    TEXT,
    TOKEN_ROLES,
    FolderSettings,
    TokeniserClass,
    class_name,
    frame_of_class,
    implied_merges,
    role_of,
    token_content,
    tokeniser_class,
)
from morphgraph.tokeniser.preprocess import TOKEN_FLAGS

_IN_FILE = {
    "add_prefix_space": "add_prefix_space",
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
"""FolderSettings of a class by the fields of tokenizer.json that say the same."""
_OF_TEXT = (
    *(*_IN_FILE, "add_bos_token", "add_eos_token", "keep_accents", "language", "legacy"),
    *("legacy_behaviour", "never_split", "predict_timestamps", "split_special_tokens"),
    *("src_lang", "task"),
)
"""FolderSettings that can change the ids of a text."""


def document_of_class(
    settings: FolderSettings,
    vocabulary: Mapping[str, int] | Sequence[Sequence[Any]],
    merges: Iterable[str | Sequence[str]] | None = None,
) -> dict[str, Any] | None:
    """Return the ``tokenizer.json`` that the class in the settings makes of a vocabulary.

    ``vocabulary``: types with ids, or the pieces of a SentencePiece model with their scores, for
    which ``merges`` are implied. None if the settings name no class that is known, or one of
    another kind of model.
    """
    kind = tokeniser_class(class_name(settings))
    if kind is None:
        return None
    model: dict[str, Any] = {"type": kind.kind, **kind.model}
    if "unk_token" in model:
        model["unk_token"] = role_of(kind, settings, "unk_token")
    if isinstance(vocabulary, Mapping):
        if (kind.kind == "BPE") != (merges is not None) or kind.kind == "Unigram":
            return None
        types: Any = vocabulary
    else:
        pieces = kind.pieces([list(piece) for piece in vocabulary], settings)
        types = pieces
        if kind.kind == "BPE":
            types = {text: number for number, (text, _) in enumerate(pieces)}
            merges = implied_merges(types)
        elif kind.kind != "Unigram":
            return None
    parts = {**kind.parts(settings), "post_processor": None}
    document = tokenizer_document({}, merges or (), [], parts, **model)
    document["model"]["vocab"] = types
    return document


def completed(
    document: Mapping[str, Any], settings: FolderSettings, *, whole: bool, implied: bool = False
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a document with what its settings add to it, and warnings.

    These are the added tokens that it lacks, and what is put around a text if it puts nothing
    there. ``whole``: the document is a ``tokenizer.json``, which decides about all else; otherwise
    the class made it, which is ``implied`` by the types if no file names it. One with faulty added
    tokens stays as it is.
    """
    name = class_name(settings)
    kind = tokeniser_class(name)
    listed = list(document.get("added_tokens") or [])
    if not are_numbered(listed):
        return {**document}, ()
    ids = listed_ids(document["model"])
    known = {token["content"]: token["id"] for token in listed}
    warnings: list[str] = []
    for number, token in _lacking(kind, settings, ids if whole or implied else None):
        text = token["content"]
        if text in known:
            continue
        last = max(known.values(), default=-1)
        id_ = ids.get(text, last + 1 if last >= len(ids) else len(ids))
        if number is not None and number != id_:
            warnings.append(
                f"“{shortened(text)}” has the id {number:,} in the files beside it, and {id_:,} in "
                "the tokenizers library, which numbers added tokens itself."
            )
        known[text] = id_
        listed.append({"id": id_, **token})
    whole_document = {**document, "added_tokens": sorted(listed, key=lambda token: token["id"])}
    if not frames(document.get("post_processor")):
        asked, pair = frame_of_class(kind, settings, whole=whole)
        if asked:
            text_ids = ids | known
            if lost := [part for part in asked if part != TEXT and part not in text_ids]:
                warnings.append(f"“{lost[0]}” should be put around texts, but it is not a type.")
            else:
                whole_document["post_processor"] = frame_template(asked, pair, text_ids)
    return whole_document, (*warnings, *not_honoured(whole_document, settings, whole=whole))


def _lacking(
    kind: TokeniserClass | None, settings: FolderSettings, present: Mapping[str, int] | None
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield added tokens with the ids that the settings state, in the order of their numbering.

    ``present``: types of which a class's usual special tokens must be some; None if any may be.
    """
    stated = settings.get("added_tokens_decoder")
    stated = stated if isinstance(stated, dict) else {}
    for number, token in sorted(stated.items(), key=_number):
        if token_content(token) is not None and _number((number, None)) >= 0:
            yield int(number), _token(token)
    flags = {token_content(token): token for token in stated.values()}
    usual = kind.roles if kind else {}
    for role in TOKEN_ROLES:
        token = settings.get(role, usual.get(role))
        text = token_content(token)
        if text is None or (role not in settings and present is not None and text not in present):
            continue
        yield None, _token(flags.get(text, token), special=True)
    for key in MORE_TOKENS:
        more = settings.get(key)
        for token in more.values() if isinstance(more, dict) else more or ():
            if token_content(token) is not None:
                yield None, _token(token, special=not isinstance(token, dict))
    for text in kind.more(settings) if kind else ():
        if present is None or text in present:
            yield None, _token(text, special=True)


def _number(entry: tuple[Any, Any]) -> int:
    text = str(entry[0])
    return int(text) if text.isdecimal() and len(text) < 12 else -1


def _token(token: Any, *, special: bool = False) -> dict[str, Any]:
    """Return an added token as ``tokenizer.json`` lists it, without its id."""
    given = token if isinstance(token, dict) else {"content": token}
    special = special or given.get("special") is True
    flags = {flag: given.get(flag) is True for flag in TOKEN_FLAGS}
    if "normalized" not in given:
        flags["normalized"] = not special
    return {"content": given["content"], **flags, "special": special}


def not_honoured(
    document: Mapping[str, Any] | None, settings: FolderSettings, *, whole: bool
) -> Iterator[str]:
    """Yield a warning for each setting that does not count; ``document``: None if none was made."""
    name = class_name(settings)
    kind = None if document is None else tokeniser_class(name)
    if name and kind is None and not whole:
        yield (
            f"the class {shortened(name)}Tokenizer is ignored, so text is cut as the types "
            "suggest. Save the tokeniser as tokenizer.json to be sure."
        )
    asked = {key for key in _OF_TEXT if settings.get(key) not in (None, False, [], "")}
    if not whole:
        if document is not None:
            asked -= kind.reads if kind else frozenset({"add_bos_token", "add_eos_token"})
        for key in sorted(asked):
            yield f"the setting {key} is ignored."
        return
    document = document or {}
    unframed = () if frames(document.get("post_processor")) else ("add_bos_token", "add_eos_token")
    for key in ("split_special_tokens", *unframed):
        if settings.get(key) is True:
            yield (
                f"the setting {key} does not count: tokenizer.json says otherwise, and "
                "transformers 5 follows it."
            )
    held = json.dumps([document.get("normalizer"), document.get("pre_tokenizer")])
    for key, field in _IN_FILE.items():
        wanted = settings.get(key)
        if wanted is None or f'"{field}": ' not in held:
            continue
        if f'"{field}": {json.dumps(wanted)}' not in held:
            yield (
                f"the setting {key}, {json.dumps(wanted)} in tokenizer_config.json, does not "
                "count: tokenizer.json says otherwise."
            )


def read_settings(files: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Combine the settings of a folder from its files by name, as parsed; ``place``: the folder.

    Those of ``tokenizer_config.json``; unless that lists added tokens, ``special_tokens_map.json``
    and ``added_tokens.json`` count, too, as in `transformers`. Of ``config.json`` only the class
    and the type of the model. Errors: `FileFormatError`.
    """
    for name, read in files.items():
        if not isinstance(read, dict):
            fix = "Download the file again, or remove it."
            raise FileFormatError(f"{place}{name}", "", "an object of JSON is expected here", fix)
    model, config = files.get("config.json", {}), files.get("tokenizer_config.json", {})
    settings = {key: model[key] for key in ("tokenizer_class", "model_type") if model.get(key)}
    settings |= config
    if isinstance(config.get("added_tokens_decoder"), dict):
        return settings
    settings |= files.get("special_tokens_map.json", {})
    if not (stated := files.get("added_tokens.json", {})):
        return settings
    roles = {token_content(settings.get(role)) for role in TOKEN_ROLES}
    settings["added_tokens_decoder"] = {
        str(number): {"content": text, "normalized": text not in roles, "special": text in roles}
        for text, number in stated.items()
        if isinstance(number, int) and isinstance(text, str)
    }
    return settings

"""``tokenizer.json`` as data: what the models of Hugging Face's library share."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import ADDED_TOKENS, TYPES, TYPES_CHARACTERS
from morphgraph.core.text import shortened

SPECIAL = re.compile(r"(<[^<>\s]{1,40}>|\[[A-Za-z_0-9]{2,40}\])")
"""Types that look special: ``<s>``, ``[CLS]``."""

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""The spelling of a byte where characters outside the alphabet become bytes."""

DOWNLOAD_AGAIN = "Download the file again."

cut = partial(shortened, length=60)


def special_token(text: str, number: int) -> dict[str, Any]:
    """Return a special token as ``tokenizer.json`` lists it."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": text, **flags, "special": True}


def tokenizer_document(
    vocabulary: Mapping[str, int],
    merges: Iterable[Sequence[str]],
    added: Iterable[Mapping[str, Any]],
    parts: Mapping[str, Any],
    **model: Any,
) -> dict[str, Any]:
    """Return the ``tokenizer.json`` of a BPE model.

    ``parts``: normaliser, pre-tokeniser, post-processor and decoder; ``model``: its unusual fields.
    """
    usual: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": dict(vocabulary),
        "merges": [list(parts) for parts in merges],
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": list(added),
        **parts,
        "model": usual | model,
    }


def check_types(types: Collection[str], name: str, place: str = "") -> None:
    """Raise `FileFormatError` for too many types, or types that are too long in all."""
    TYPES.check(len(types), name, place)
    TYPES_CHARACTERS.check(sum(map(len, types)), name, place)


def checked_vocabulary(value: Any, name: str, place: str = "") -> dict[str, int]:
    """Check a vocabulary (type → id) from JSON, or raise `FileFormatError`."""
    wrong = partial(FileFormatError, name, place)
    fix = "Download the file again, or give each type an id of its own."
    if not isinstance(value, dict) or not value:
        raise wrong("a vocabulary (type → id) is expected here", fix)
    check_types(value, name, place)
    seen: dict[int, str] = {}
    for text, number in value.items():
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise wrong(f"the id of “{cut(text)}” is not a valid id", fix)
        if number in seen:
            raise wrong(f"“{cut(seen[number])}” and “{cut(text)}” share the id {number:,}", fix)
        if not text:
            raise wrong(f"the type with the id {number:,} is empty", fix)
        seen[number] = text
    try:
        "".join(value).encode()
    except UnicodeEncodeError as error:
        problem = "a type holds half of a surrogate pair, which is not a character"
        raise wrong(problem, DOWNLOAD_AGAIN) from error
    return value


def added_tokens(
    document: Mapping[str, Any], vocabulary: Mapping[str, int], name: str
) -> dict[str, int]:
    """Return contents and ids of a document's added tokens, checked against its vocabulary."""
    place = "field added_tokens"
    listed = document.get("added_tokens") or []
    if not isinstance(listed, list):
        raise FileFormatError(name, place, "a list is expected here", DOWNLOAD_AGAIN)
    ADDED_TOKENS.check(len(listed), name, place, "Remove those that are not needed")
    added: dict[str, int] = {}
    owner = {number: text for text, number in vocabulary.items()}
    for position, token in enumerate(listed, start=1):
        wrong = partial(FileFormatError, name, f"{place}, entry {position:,}")
        text = token.get("content") if isinstance(token, dict) else None
        number = token.get("id") if isinstance(token, dict) else None
        if not isinstance(text, str) or not text or not isinstance(number, int):
            problem = "an added token with content and id is expected"
            raise wrong(problem, "Correct the entry.")
        if owner.setdefault(number, text) != text or added.get(text, number) != number:
            problem = f"the id {number:,} of “{cut(text)}” belongs to “{cut(owner[number])}”"
            raise wrong(problem, "Give each type an id of its own.")
        if vocabulary.get(text, number) != number:
            both = f"{number:,} here and {vocabulary[text]:,} in the vocabulary"
            raise wrong(f"“{cut(text)}” has the id {both}", "Use the same id in both places.")
        added[text] = number
    check_types(added, name, place)
    return added

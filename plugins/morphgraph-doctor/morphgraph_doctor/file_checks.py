"""What is wrong inside the files of a tokeniser, whichever program reads them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from morphgraph.core.text import counted, shortened, visible
from morphgraph.formats.checks import Check
from morphgraph.formats.framing import framing, known_ids
from morphgraph.formats.hugging_face import library_numbers, listed_ids
from morphgraph.formats.tokeniser_classes import TOKEN_ROLES, token_content
from morphgraph.tokeniser.preprocess import CHAR_TO_BYTE

CONFIGS = ("tokenizer_config.json", "config.json", "generation_config.json")
"""The files that may say which ids special tokens have."""
_SHOWN = 5


def named(texts: Sequence[str]) -> str:
    """Return some of many texts, in quotes.

    >>> named(["un", "do"]), named("abcdef")
    ('“un”, “do”', '“a”, “b”, “c”, “d”, “e”, …')
    """
    some = ", ".join(f"“{visible(shortened(text, 20))}”" for text in texts[:_SHOWN])
    return f"{some}, …" if len(texts) > _SHOWN else some


def text_of_type(name: str, suffix: str, in_bytes: bool) -> str:
    """Return the text that a type stands for; empty for bytes that are no text.

    >>> text_of_type("Ġund", "", True), text_of_type("▁und", "", False)
    (' und', ' und')
    """
    if in_bytes:
        try:
            return bytes(map(CHAR_TO_BYTE.__getitem__, name)).decode()
        except (KeyError, UnicodeDecodeError):
            return ""
    return name.replace("▁", " ").removesuffix(suffix).removeprefix("##")


def check_ids(document: Mapping[str, Any]) -> list[Check]:
    """Return the checks that each type has an id of its own, and each id a type.

    Beyond the last type that is no added token, ids may be left free.
    """
    listed, added = listed_ids(document["model"]), _added(document)
    owners = Counter({**listed, **added}.values())
    pieces = document["model"].get("vocab")
    twice = len(pieces) - len(listed) if isinstance(pieces, list) else 0
    shared = [number for number, times in owners.items() if times > 1]
    of_shared = [text for text, number in {**listed, **added}.items() if number in {*shared}]
    last = max((n for text, n in listed.items() if text not in added), default=-1)
    holes = [number for number in range(last) if number not in owners]
    free = max(owners, default=-1) + 1 - len(owners) - len(holes)
    several, listed_so = len(shared) + twice, f"those of {named(of_shared)}" if shared else ""
    return [
        Check("ids that several types have", several, not several, listed_so),
        Check(
            "ids that no type has",
            len(holes),
            not holes,
            (", ".join(f"{n:,}" for n in holes[:_SHOWN]) + ", …" * (len(holes) > _SHOWN))
            or (f"but {counted(free, 'id')} among those of added tokens" if free else ""),
        ),
    ]


def check_special(
    document: Mapping[str, Any],
    settings: Mapping[str, Any],
    configs: Mapping[str, Any],
    is_whole: bool,
) -> Check:
    """Return the check that files agree on the ids of special tokens.

    ``settings``: of the folder; ``configs``: what is in `CONFIGS`, by name; ``is_whole``: the
    document is a ``tokenizer.json``.
    """
    faults = [*dict.fromkeys(_faults(document, settings, configs, is_whole))]
    told = "; ".join(faults[:_SHOWN]) + "; …" * (len(faults) > _SHOWN)
    return Check("special ids that do not agree", len(faults), not faults, told)


def _added(document: Mapping[str, Any]) -> dict[str, int]:
    return {token["content"]: token["id"] for token in document.get("added_tokens") or []}


def _faults(
    document: Mapping[str, Any],
    settings: Mapping[str, Any],
    configs: Mapping[str, Any],
    is_whole: bool,
) -> Iterator[str]:
    known, listed = known_ids(document), document.get("added_tokens") or []

    def told(text: str, place: str, id_: Any, other: Any) -> str:
        there = "none" if other is None else f"{other:,}"
        return f"“{visible(shortened(text))}” has the id {id_} in {place} and {there} here"

    if is_whole:
        numbers = library_numbers(listed_ids(document["model"]), listed)
        for token in listed:
            text = token["content"]
            if numbers[text] != token["id"]:
                yield told(text, "added_tokens", token["id"], numbers[text])
            known[text] = numbers[text]
    for id_, name in filter(None, framing(document.get("post_processor"))):
        if known.get(name) != id_:
            yield told(name, "post_processor", id_, known.get(name))
    stated = settings.get("added_tokens_decoder")
    for number, token in (stated if isinstance(stated, dict) else {}).items():
        text = token_content(token)
        if text is not None and str(known.get(text)) != str(number):
            yield told(text, "tokenizer_config.json", number, known.get(text))
    types, rows = {*known.values()}, max(known.values(), default=-1) + 1
    for place, config in configs.items():
        held = config.get("text_config")
        config = {**held, **config} if isinstance(held, dict) else config
        for role in TOKEN_ROLES:
            text, value = token_content(settings.get(role)), config.get(f"{role}_id")
            ids = {n for n in (value if isinstance(value, list) else [value]) if type(n) is int}
            for n in sorted(ids - types - {-1}):
                yield f"{role}_id is {n:,} in {place}, which no type has"
            if text in known and ids and known[text] not in ids:
                yield told(text, f"{place} ({role}_id)", min(ids), known[text])
        size = config.get("vocab_size")
        if type(size) is int and size < rows and place != CONFIGS[0]:
            yield f"{place} has rows for {size:,} types, but the highest id is {rows - 1:,}"
    for role in TOKEN_ROLES:
        text = token_content(settings.get(role))
        if text is not None and text not in known:
            yield f"{role} is “{visible(shortened(text))}”, which is not a type"


def check_formed(unformed: Iterable[str] | None) -> Check:
    """Return the check that a type's own text is cut into it; None without merges.

    No fault: types that an edit removed keep their ids, so that no row of a model moves.
    """
    what = "types that nothing forms"
    if unformed is None:
        return Check(what, None, None, "only for merges")
    texts = [*unformed]
    return Check(what, len(texts), None if texts else True, named(texts))

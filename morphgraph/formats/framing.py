"""Special tokens around a text: the post-processor of a tokeniser."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from tokenizers import Tokenizer

from morphgraph.formats.hugging_face import listed_ids
from morphgraph.formats.tokeniser_classes import OTHER_TEXT, TEXT


def known_ids(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the id of every type of a document, added tokens included."""
    added = {token["content"]: token["id"] for token in document.get("added_tokens") or []}
    return {**listed_ids(document["model"]), **added}


def framing(processor: Any) -> list[tuple[int, str] | None]:
    """Return what a post-processor makes of a text: None stands for the text.

    A special token is its id and its name, as the post-processor has them.
    """
    if processor is None:
        return [None]
    named = {*map(int, re.findall(r"\b\d+\b", json.dumps(processor)))}
    text = next(number for number in count() if number not in named)
    model = {"type": "WordLevel", "vocab": {"x": text}, "unk_token": "x"}
    plain = {"version": "1.0", "added_tokens": [], "model": model, "post_processor": processor}
    encoding = Tokenizer.from_str(json.dumps(plain)).encode("x")
    both = zip(encoding.ids, encoding.tokens, strict=True)
    return [None if number == text else (number, name) for number, name in both]


def with_frame(ids: Sequence[list[int]], processor: Any) -> list[list[int]]:
    """Return the ids of texts with those that a post-processor puts around each."""
    frame = framing(processor)
    return [[n for p in frame for n in (each if p is None else [p[0]])] for each in ids]


def frame_template(
    one: Sequence[str], two: Sequence[str], ids: Mapping[str, int]
) -> dict[str, Any]:
    """Return a post-processor that puts special tokens around a text, and around two.

    >>> made = frame_template(["<s>", "$A"], ["<s>", "$A", "$B"], {"<s>": 0})
    >>> made["single"]
    [{'SpecialToken': {'id': '<s>', 'type_id': 0}}, {'Sequence': {'id': 'A', 'type_id': 0}}]
    """

    def parts(texts: Sequence[str]) -> Iterator[dict[str, Any]]:
        type_ = 0
        for text in texts:
            type_ |= text == OTHER_TEXT
            if text in (TEXT, OTHER_TEXT):
                yield {"Sequence": {"id": text[1:], "type_id": type_}}
            else:
                yield {"SpecialToken": {"id": text, "type_id": type_}}

    used = dict.fromkeys(text for text in (*one, *two) if text not in (TEXT, OTHER_TEXT))
    return {
        "type": "TemplateProcessing",
        "single": [*parts(one)],
        "pair": [*parts(two)],
        "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in used},
    }


def frames(processor: Any) -> bool:
    """Return whether a post-processor puts special tokens around a text."""
    if not isinstance(processor, dict):
        return False
    kind = processor.get("type")
    if kind == "Sequence":
        return any(map(frames, processor.get("processors") or []))
    if kind == "TemplateProcessing":
        return bool(processor.get("special_tokens"))
    return kind in ("BertProcessing", "RobertaProcessing")

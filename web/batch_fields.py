"""The fields of a configuration as tables for people, made of its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

_TOP = "the file"
_PARTS = {
    "corpora": "Corpus",
    "tokenisers": "TokeniserChoice",
    "references": "ReferenceChoice",
    "predictions": "PredictionsChoice",
    "tables": "TableChoice",
    "published": "PublishedFigures",
}
_LISTS_SHOWN = 60
"""More values than these are not listed."""


class FieldOfFile(NamedTuple):
    """A field: its name, what it means, what can stand there, and what holds if it is left out."""

    name: str
    meaning: str
    values: str
    default: str


@cache
def parts_of_file() -> dict[str, tuple[str, list[FieldOfFile]]]:
    """What each part of a configuration is, and its fields: the file itself, its lists, methods."""
    from morphgraph.batch.configuration import schema
    from morphgraph.batch.methods import METHOD_MODELS

    found = schema()
    known = found["$defs"]
    parts = {_TOP: found}
    parts |= {name: known[title] for name, title in _PARTS.items()}
    parts |= {f"method {name}": known[model.__name__] for name, model in METHOD_MODELS.items()}
    told = {
        name: (part.get("description", ""), list(_fields(part, known)))
        for name, part in parts.items()
    }
    return told | {"metrics": ("What scores are called in metrics.", list(_metrics()))}


def _metrics() -> Iterator[FieldOfFile]:
    from morphgraph.batch.names import FACTS, named_metrics

    for key, named in named_metrics().items():
        if not key.startswith("vocabulary."):
            where = "in tables only" if key in FACTS else "in metrics, and in tables"
            yield FieldOfFile(key, named.label, where, "")


def _fields(part: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[FieldOfFile]:
    needed = part.get("required", [])
    for name, field in part["properties"].items():
        default = "needed" if name in needed else _default(field)
        yield FieldOfFile(name, field.get("description", ""), values_of(field, known), default)


def _default(field: Mapping[str, Any]) -> str:
    given = field.get("default")
    if given in (None, "", [], {}):
        return "nothing"
    if isinstance(given, list):
        return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in given)
    return given if isinstance(given, str) else json.dumps(given)


def values_of(field: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """What can stand in a field, in words.

    >>> values_of({"type": "integer", "minimum": 2}, {})
    'a whole number, 2 or more'
    >>> values_of({"enum": ["types", "tokens"], "type": "string"}, {})
    'types, tokens'
    >>> values_of({"type": "array", "items": {"type": "string"}}, {})
    'a list: text'
    """
    if "discriminator" in field:
        return "see the methods"
    if "$ref" in field:
        title = field["$ref"].rpartition("/")[2]
        part = next((name for name, its in _PARTS.items() if its == title), None)
        return f"see {part}" if part else values_of(known.get(title, {}), known)
    if "enum" in field:
        return ", ".join(map(str, field["enum"][:_LISTS_SHOWN]))
    if "const" in field:
        return str(field["const"])
    if "anyOf" in field or "oneOf" in field:
        return _one_of(field.get("anyOf") or field["oneOf"], known)
    match field.get("type"):
        case "array":
            inner = values_of(field["items"], known) if "items" in field else ""
            return f"a list: {inner}" if inner else "a list"
        case "integer":
            return "a whole number" + _bounds(field)
        case "number":
            return "a number" + _bounds(field)
        case "boolean":
            return "true, false"
        case "string":
            return "text"
        case "object":
            return "fields"
    return ""


def _one_of(choices: list[Mapping[str, Any]], known: Mapping[str, Any]) -> str:
    shapes = [choice for choice in choices if choice.get("type") != "null"]
    if len(shapes) == 2 and shapes[1].get("type") == "array":
        single = values_of(shapes[0], known)
        if single == values_of(shapes[1].get("items", {}), known):
            return f"{single}; or a list of them"
    return " or ".join(dict.fromkeys(filter(None, (values_of(one, known) for one in shapes))))


def _bounds(field: Mapping[str, Any]) -> str:
    least, most = field.get("minimum"), field.get("maximum")
    below = field.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f", {least:g} to {most:,}" if most > 1000 else f", {least:g} to {most:g}"
    if least is not None and below is not None:
        return f", {least:g} or more, below {below:g}"
    return "" if least is None else f", {least:g} or more"

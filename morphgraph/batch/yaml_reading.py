"""YAML with the line of every field, for error messages, and strict models to check it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import decode_utf8
from morphgraph.core.limits import YAML_CHARACTERS, YAML_VALUES

MAX_YAML_DEPTH = 50
Path = tuple[Hashable, ...]
Lines = Mapping[Path, int]
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class Strict(BaseModel):
    """A model that rejects unknown fields and never converts values."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, given: Any) -> Any:
        if isinstance(given, dict):
            for field in given:
                if field not in cls.model_fields:
                    raise _unknown_field(str(field), list(cls.model_fields))
        return given


def _unknown_field(field: str, known: list[str]) -> PydanticCustomError:
    near = difflib.get_close_matches(field, known, 1)
    return PydanticCustomError(
        "unknown_field",
        "there is no such field{near}. Use one of: {known}",
        {
            "field": field,
            "near": f" (did you mean “{near[0]}”?)" if near else "",
            "known": ", ".join(known),
        },
    )


class _Loader(yaml.SafeLoader):
    """Loads plain values only: null, true, false, numbers; all else is text, even ``no``."""

    yaml_implicit_resolvers = {}


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?",
        "-+0123456789.",
    ),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first)
    )
_Loader.yaml_implicit_resolvers[""] = _Loader.yaml_implicit_resolvers.get("\0", [])


def load_yaml(data: bytes | str, name: str) -> tuple[Any, Lines]:
    """Return the plain content of a YAML document, and the line of each field by its path.

    Tags that create objects, duplicate keys, several documents, and excessive nesting or repetition
    raise `FileFormatError` with the line.

    >>> load_yaml("a:\\n  - b: 1\\n", "x.yaml")
    ({'a': [{'b': 1}]}, {(): 1, ('a',): 1, ('a', 0): 2, ('a', 0, 'b'): 2})
    """
    text = decode_utf8(data, name) if isinstance(data, bytes) else data
    YAML_CHARACTERS.check(len(text), name, fix="Split it into several evaluations")
    if not text.strip():
        raise FileFormatError(name, "", "the file is empty", "Start from one of the examples.")
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                raise FileFormatError(name, "", "it holds nothing", "Start from an example.")
            return _Plain(loader, name).all(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(filter(None, (error.context, error.problem)))
        raise FileFormatError(name, _place(mark), f"this is not YAML ({problem})", _FIX) from error
    except yaml.YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        problem = f"this is not YAML ({str(error).splitlines()[0]})"
        raise FileFormatError(name, f"line {line:,}", problem, _FIX) from error
    except (RecursionError, ValueError) as error:
        problem = "it is nested too deeply or has a huge number"
        raise FileFormatError(name, "", problem, _FIX) from error


_FIX = "Correct it there; indent with spaces, and put text with special characters in quotes."


def _place(mark: Any) -> str:
    return f"line {mark.line + 1:,}, column {mark.column + 1:,}" if mark else ""


class _Plain:
    """Converts nodes to plain values, and records their lines."""

    def __init__(self, loader: _Loader, name: str) -> None:
        self.loader, self.name = loader, name
        self.lines: dict[Path, int] = {}
        self.seen = 0

    def all(self, node: yaml.Node) -> tuple[Any, Lines]:
        return self.value(node, ()), self.lines

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.seen += 1
        if self.seen > YAML_VALUES.value or len(path) > MAX_YAML_DEPTH:
            raise self.error(node, "it is nested or repeated too often", "Make it simpler.")
        self.lines.setdefault(path, node.start_mark.line + 1)
        if node.tag not in _PLAIN:
            raise self.error(node, f"the tag {node.tag} is not known", "Leave it out.")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(child, (*path, place)) for place, child in enumerate(node.value)]
        return self.scalar(node)

    def scalar(self, node: yaml.Node) -> Any:
        kind, text = node.tag.rpartition(":")[2], str(node.value)
        try:
            if kind == "int":
                return int(text, 10)  # a leading 0 says nothing
            if kind == "float":
                return float(text)
            if kind == "bool":
                return {"true": True, "false": False}[text.lower()]
            return None if kind == "null" else text
        except (KeyError, ValueError) as error:
            raise self.error(
                node, f"{_given(text)} is not a valid {kind}", "Correct it."
            ) from error

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, child in node.value:
            key = key_node.value
            if not isinstance(key, str):
                raise self.error(key_node, "a field is named by a list", "Name it by a word.")
            if key in found:
                raise self.error(
                    key_node, f"the field “{key}” is given more than once", "Keep one."
                )
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            found[key] = self.value(child, (*path, key))
        return found

    def error(self, node: yaml.Node, problem: str, fix: str) -> FileFormatError:
        return FileFormatError(self.name, _place(node.start_mark), problem, fix)


_KINDS = ("map", "seq", "str", "int", "float", "bool", "null")
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in _KINDS}


def check(model: type[M], data: Any, lines: Lines, name: str) -> M:
    """Check plain data against a model; `FileFormatError` names the line and field."""
    if not isinstance(data, dict):
        known = ", ".join(model.model_fields)
        raise FileFormatError(name, "line 1", "it has no fields", f"Its fields: {known}.")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [_problem(found, lines) for found in error.errors()]
    place, problem, fix = problems[0]
    if len(problems) > 1:
        more = "; ".join(f"{where}: {what}" for where, what, _ in problems[1:4])
        left = f"; and {len(problems) - 4} more" if len(problems) > 4 else ""
        fix = f"{fix} Also: {more}{left}."
    raise FileFormatError(name, place, problem, fix)


def field_line(lines: Lines, path: Path) -> int:
    """Return the line of a field, or of its nearest parent that has one."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def field_name(path: Path) -> str:
    """Format the path of a field.

    >>> field_name(("methods", 0, "p"))
    'methods[0].p'
    """
    shown = ""
    for part in path:
        shown += f"[{part}]" if isinstance(part, int) else f".{part}" if shown else str(part)
    return shown


def _problem(found: ErrorDetails, lines: Lines) -> tuple[str, str, str]:
    """Return where an error is, what it is, and how to fix it."""
    context = found.get("ctx", {})
    path = _real_path(found, lines)
    if found["type"] == "unknown_field":
        path = (*path, context["field"])
    shown = field_name(path)
    place = f"line {field_line(lines, path):,}" + (f", field {shown}" if shown else "")
    message = found["msg"].removeprefix("Value error, ").removesuffix(".")
    given = _given(found["input"])
    match found["type"]:
        case "unknown_field":
            problem, _, fix = message.partition(". ")
            return place, problem, f"{fix}."
        case "missing":
            return place, "the field is missing", "Add it."
        case "literal_error" | "enum" | "union_tag_invalid":
            allowed = str(context.get("expected") or context.get("expected_tags"))
            return place, f"{given} is not allowed", f"Use one of: {_listed(allowed)}."
        case "union_tag_not_found":
            return place, "it does not say which one it is", "Add the field “method”."
        case "value_error":
            problem, _, fix = message.partition(". ")
            return place, problem, f"{fix}." if fix else "Correct it."
        case "string_pattern_mismatch" if context.get("pattern") in _IN_WORDS:
            return place, f"{given} does not fit", _IN_WORDS[context["pattern"]]
    return place, f"{given} does not fit", f"{message}."


_ONE_LINE = r"^[^\x00-\x1f|]+$"
_IN_WORDS = {
    _ONE_LINE: "Write it in one line, without “|” and tabs.",
    r"^(https?://[^\s\"'<>]+)?$": "Give an address that begins with https:// or http://.",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$": "Use up to 80 unaccented letters a–z, digits, dots, "
    "dashes and underscores, and begin with a letter or a digit.",
}
"""Explanations of the patterns of fields."""
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=_ONE_LINE)]
"""A name for use in tables."""


def _listed(allowed: str) -> str:
    return allowed.replace("'", "").replace(" or ", ", ")


def _given(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


def _real_path(found: ErrorDetails, lines: Lines) -> Path:
    """Return an error's path in the file, without kinds of choices and single-item lists."""
    path: Path = ()
    for part in found["loc"]:
        if (*path, part) in lines:
            path = (*path, part)
    return (*path, found["loc"][-1]) if found["type"] == "missing" else path


def listed(given: Any) -> Any:
    """Wrap a single value in a list; return a list unchanged."""
    return given if isinstance(given, list) or given is None else [given]


ListOrOne = Annotated[list[T], BeforeValidator(listed)]
"""A list; a single value is a list of one."""
OneOrMore = Annotated[
    ListOrOne[T],
    Field(min_length=1, max_length=1_000, json_schema_extra={"x-one-or-more": True}),
]
"""One value, or a list of values."""


def with_single_values(schema: Any) -> Any:
    """Return a JSON schema in which lists of one or more may also be single values."""
    if isinstance(schema, list):
        return [with_single_values(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: with_single_values(inner) for key, inner in schema.items()}
    if found.pop("x-one-or-more", None) is None:
        return found
    of_lists = {"type", "items", "minItems", "maxItems"}
    shape = {key: found.pop(key) for key in list(found) if key in of_lists}
    return found | {"anyOf": [shape["items"], shape]}

"""YAML with the line of every field, for error messages, and strict models to check it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Mapping
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
        known = list(cls.model_fields)
        for field in given if isinstance(given, dict) else ():
            if field not in known:
                near = "".join(difflib.get_close_matches(str(field), known, 1))
                meant = f" (did you mean “{near}”?)" if near else ""
                told = {"field": str(field), "near": meant, "known": ", ".join(known)}
                message = "there is no such field{near}. Use one of: {known}"
                raise PydanticCustomError("unknown_field", message, told)
        return given


class _SingleToo:
    """In JSON schemas: a list may also be a single value."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        shape = handler(core_schema)
        return {"anyOf": [shape["items"], shape]}


def listed(given: Any) -> Any:
    """Wrap a single value in a list; return a list unchanged."""
    return given if isinstance(given, list) or given is None else [given]


ListOrOne = Annotated[list[T], BeforeValidator(listed)]
"""A list; a single value is a list of one."""
OneOrMore = Annotated[ListOrOne[T], Field(min_length=1, max_length=1_000), _SingleToo()]
"""One value, or a list of values."""
_ONE_LINE = r"^[^\x00-\x1f|]+$"
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=_ONE_LINE)]
"""A name for use in tables."""
_IN_WORDS = {
    _ONE_LINE: "Write it in one line, without “|” and tabs.",
    r"^(https?://[^\s\"'<>]+)?$": "Give an address that begins with https:// or http://.",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$": "Use up to 80 unaccented letters a–z, digits, dots, "
    "dashes and underscores, and begin with a letter or a digit.",
}
"""Explanations of the patterns of fields."""


# ------------------------------------------------------------------------------ reading


class _Loader(yaml.SafeLoader):
    """Loads plain values only: null, true, false, numbers; all else is text, even ``no``."""

    yaml_implicit_resolvers = {}


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+0123456789."),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first)
    )
_Loader.yaml_implicit_resolvers[""] = _Loader.yaml_implicit_resolvers.get("\0", [])
_FIX = "Correct it there; indent with spaces, and put text with special characters in quotes."


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
        node = yaml.compose(text, _Loader)
        if node is None:
            raise FileFormatError(name, "", "it holds nothing", "Start from an example.")
        plain = _Plain(name)
        return plain.value(node, ()), plain.lines
    except yaml.MarkedYAMLError as error:
        problem = " ".join(filter(None, (error.context, error.problem)))
        place, problem = _place(error.problem_mark or error.context_mark), f" ({problem})"
    except yaml.YAMLError as error:
        number = text.count("\n", 0, getattr(error, "position", 0)) + 1
        place, problem = f"line {number:,}", f" ({str(error).splitlines()[0]})"
    except (RecursionError, ValueError) as error:
        problem = "it is nested too deeply or has a huge number"
        raise FileFormatError(name, "", problem, _FIX) from error
    raise FileFormatError(name, place, f"this is not YAML{problem}", _FIX)


def _place(mark: Any) -> str:
    return f"line {mark.line + 1:,}, column {mark.column + 1:,}" if mark else ""


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "null": lambda text: None,
    "int": lambda text: int(text, 10),  # a leading 0 says nothing
    "float": float,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
}


class _Plain:
    """Converts nodes to plain values, and records their lines."""

    def __init__(self, name: str) -> None:
        self.name, self.seen = name, 0
        self.lines: dict[Path, int] = {}

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.seen += 1
        if self.seen > YAML_VALUES.value or len(path) > MAX_YAML_DEPTH:
            raise self.error(node, "it is nested or repeated too often", "Make it simpler.")
        self.lines.setdefault(path, node.start_mark.line + 1)
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind not in ("map", "seq", *_SCALARS):
            raise self.error(node, f"the tag {node.tag} is not known", "Leave it out.")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(child, (*path, place)) for place, child in enumerate(node.value)]
        try:
            return _SCALARS[kind](str(node.value))
        except (KeyError, ValueError) as error:
            problem = f"{_given(str(node.value))} is not a valid {kind}"
            raise self.error(node, problem, "Correct it.") from error

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, child in node.value:
            key = key_node.value
            if not isinstance(key, str):
                raise self.error(key_node, "a field is named by a list", "Name it by a word.")
            if key in found:
                problem = f"the field “{key}” is given more than once"
                raise self.error(key_node, problem, "Keep one.")
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            found[key] = self.value(child, (*path, key))
        return found

    def error(self, node: yaml.Node, problem: str, fix: str) -> FileFormatError:
        return FileFormatError(self.name, _place(node.start_mark), problem, fix)


# ------------------------------------------------------------------------------ checking


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


def field_place(lines: Lines, path: Path) -> str:
    """Return the line of a field, or of its nearest parent that has one, and its name.

    >>> field_place({(): 1, ("methods",): 4}, ("methods", 0, "p"))
    'line 4, field methods[0].p'
    """
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    while path and path not in lines:
        path = path[:-1]
    return f"line {lines.get(path, 1):,}" + (f", field {shown.removeprefix('.')}" if shown else "")


def _problem(found: ErrorDetails, lines: Lines) -> tuple[str, str, str]:
    """Return where an error is, what it is, and how to fix it."""
    context, kind = found.get("ctx", {}), found["type"]
    path: Path = ()  # without kinds of choices and single-item lists
    for part in found["loc"]:
        path = (*path, part) if (*path, part) in lines else path
    path += (found["loc"][-1],) if kind == "missing" else ()
    path += (context["field"],) if kind == "unknown_field" else ()
    place, given = field_place(lines, path), _given(found["input"])
    message = found["msg"].removeprefix("Value error, ").removesuffix(".")
    match kind:
        case "missing":
            return place, "the field is missing", "Add it."
        case "literal_error" | "enum" | "union_tag_invalid":
            allowed = str(context.get("expected") or context.get("expected_tags"))
            listed = allowed.replace("'", "").replace(" or ", ", ")
            return place, f"{given} is not allowed", f"Use one of: {listed}."
        case "union_tag_not_found":
            return place, "it does not say which one it is", "Add the field “method”."
        case "value_error" | "unknown_field":
            problem, _, fix = message.partition(". ")
            return place, problem, f"{fix or 'Correct it'}."
        case "string_pattern_mismatch" if context.get("pattern") in _IN_WORDS:
            return place, f"{given} does not fit", _IN_WORDS[context["pattern"]]
    return place, f"{given} does not fit", f"{message}."


def _given(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"

"""YAML with the line of every field, for error messages, and strict models to check it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from morphgraph.core.errors import FileFormatError, nearest
from morphgraph.core.files import decode_utf8
from morphgraph.core.limits import YAML_CHARACTERS, YAML_VALUES
from morphgraph.core.text import visible

MAX_YAML_DEPTH = 50
Path = tuple[Hashable, ...]
Lines = Mapping[Path, int]
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class Strict(BaseModel):
    """A model that rejects unknown fields and never converts values."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    @classmethod
    def known_fields(cls) -> list[str]:
        """Return the names of all fields that may be given."""
        return [*cls.model_fields]

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, given: Any) -> Any:
        known = cls.known_fields()
        for field in given if isinstance(given, dict) else ():
            if field not in known:
                near, listed = nearest(str(field), known), ", ".join(known)
                told = {"field": str(field), "near": near, "known": listed}
                message = "there is no such field.{near} Use one of: {known}"
                raise PydanticCustomError("unknown_field", message, told)
        return given


class _SingleToo:
    """In JSON schemas: a list may also be a single value."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        shape = handler(core_schema)
        return {"anyOf": [shape["items"], shape]}


def listed(given: Any) -> Any:
    """Wrap a single value in a list."""
    return given if isinstance(given, list) or given is None else [given]


ListOrOne = Annotated[list[T], BeforeValidator(listed)]
"""A list; a single value is a list of one."""
OneOrMore = Annotated[ListOrOne[T], Field(min_length=1, max_length=1_000), _SingleToo()]
"""One value, or a list of values."""
_ONE_LINE = r"^[^\x00-\x1f|]+$"
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=_ONE_LINE)]
"""A name for use in tables."""
_IN_WORDS = {
    _ONE_LINE: "Write it in one line, without “|” and tabs",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$": "Use up to 80 unaccented letters a–z, digits, dots, "
    "dashes and underscores, and begin with a letter or a digit",
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
    place = ""
    try:
        node = yaml.compose(text, _Loader)
        if node is None:
            raise FileFormatError(name, "", "it has no content", "Start from an example.")
        lines: dict[Path, int] = {}
        return _plain(node, (), lines, name), lines
    except yaml.MarkedYAMLError as error:
        problem = " ".join(filter(None, (error.context, error.problem)))
        place, problem = _place(error.problem_mark or error.context_mark), f"not YAML ({problem})"
    except yaml.YAMLError as error:
        number = text.count("\n", 0, getattr(error, "position", 0)) + 1
        place, problem = f"line {number:,}", f"not YAML ({str(error).splitlines()[0]})"
    except (RecursionError, ValueError):
        problem = "nested too deeply, or has a huge number"
    raise FileFormatError(name, place, f"this is {problem}", _FIX)


def _place(mark: Any) -> str:
    return f"line {mark.line + 1:,}, column {mark.column + 1:,}" if mark else ""


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "null": lambda text: None,
    "int": lambda text: int(text, 10),  # a leading 0 says nothing
    "float": float,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
}


def _plain(node: yaml.Node, path: Path, lines: dict[Path, int], name: str) -> Any:
    """Return the plain value of a node, and record its line and those of all in it."""

    def error(problem: str, fix: str, at: yaml.Node = node) -> FileFormatError:
        return FileFormatError(name, _place(at.start_mark), problem, fix)

    lines.setdefault(path, node.start_mark.line + 1)
    if len(lines) > YAML_VALUES.value or len(path) > MAX_YAML_DEPTH:
        raise error("it is nested or repeated too often", "Make it simpler.")
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in ("map", "seq", *_SCALARS):
        raise error(f"the tag {node.tag} is not known", "Leave it out.")
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each, (*path, n), lines, name) for n, each in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        fields: dict[str, Any] = {}
        for key, child in node.value:
            if not isinstance(key.value, str):
                raise error("the name of a field is a list", "Use a word.", key)
            if key.value in fields:
                raise error(f"the field “{key.value}” is given more than once", "Keep one.", key)
            inner = (*path, key.value)
            lines[inner] = key.start_mark.line + 1
            fields[key.value] = _plain(child, inner, lines, name)
        return fields
    try:
        return _SCALARS[kind](str(node.value))
    except (KeyError, ValueError) as problem:
        raise error(f"{_given(str(node.value))} is not a valid {kind}", "Correct it.") from problem


# ------------------------------------------------------------------------------ checking


def check(model: type[M], data: Any, lines: Lines, name: str) -> M:
    """Check plain data against a model; `FileFormatError` names the line and field."""
    if not isinstance(data, dict):
        known = ", ".join(model.model_fields)
        raise FileFormatError(
            name, "line 1", "it has no fields", f"Fields that it can have: {known}."
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [*dict.fromkeys(_problem(found, lines) for found in error.errors())]
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
    named = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    shown = visible("".join(named))
    while path and path not in lines:
        path = path[:-1]
    return f"line {lines.get(path, 1):,}" + (f", field {shown.removeprefix('.')}" if shown else "")


def _problem(found: ErrorDetails, lines: Lines) -> tuple[str, str, str]:
    """Return where an error is, what it is, and how to fix it."""
    context, kind = found.get("ctx", {}), found["type"]
    loc = found["loc"]
    path: Path = ()  # without kinds of choices and single-item lists
    # What is for all parts stands beside them.
    for part in loc[2:] if loc[:1] == ("parts",) and loc[:3] not in lines else loc:
        path = (*path, part) if (*path, part) in lines else path
    path += (loc[-1],) if kind == "missing" else ()
    path += (context["field"],) if kind == "unknown_field" else ()
    message = found["msg"].removeprefix("Value error, ").removesuffix(".")
    problem, fix = f"{_given(found['input'])} does not fit", message
    match kind:
        case "missing":
            problem, fix = "the field is missing", "Add it"
        case "literal_error" | "union_tag_invalid":
            allowed = str(context.get("expected") or context.get("expected_tags"))
            listed = allowed.replace("'", "").replace(" or ", ", ")
            problem, fix = f"{_given(found['input'])} is not allowed", f"Use one of: {listed}"
        case "union_tag_not_found":
            problem = f"the field “{context['discriminator'].strip(chr(39))}” is missing"
            fix = "Add it"
        case "value_error" | "unknown_field":
            problem, _, fix = message.partition(". ")
        case "string_pattern_mismatch":
            fix = _IN_WORDS[context["pattern"]]
    return field_place(lines, path), problem, f"{fix}."


def _given(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"

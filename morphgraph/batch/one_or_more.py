"""Fields that take one value or a list of them: each value is a column of the grid."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field

T = TypeVar("T")


def listed(given: Any) -> Any:
    """A list as it is, a single value as a list of one."""
    return given if isinstance(given, list) or given is None else [given]


_ONE = "one value or a list"

OneOrMore = Annotated[
    list[T],
    BeforeValidator(listed),
    Field(min_length=1, max_length=1_000, json_schema_extra={"x-one-or-more": _ONE}),
]
"""One value, or a list of values."""


def with_single_values(schema: Any) -> Any:
    """A JSON schema in which a list of one or more may also be the one value."""
    if isinstance(schema, list):
        return [with_single_values(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: with_single_values(inner) for key, inner in schema.items()}
    if found.pop("x-one-or-more", None) is None:
        return found
    shape = {key: found.pop(key) for key in list(found) if key in _OF_LISTS}
    return found | {"anyOf": [shape["items"], shape]}


_OF_LISTS = ("type", "items", "minItems", "maxItems")

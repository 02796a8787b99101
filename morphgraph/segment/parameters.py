"""Parameters of methods, each with default, bounds and meaning: one model per method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from morphgraph.core.errors import MorphGraphError, nearest


class Parameters(BaseModel):
    """Strictly validated values; an invalid one raises `MorphGraphError`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def __init__(self, /, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise MorphGraphError(_message(type(self), error)) from error

    @classmethod
    def of(cls, method: str, given: Mapping[str, Any]) -> Self:
        """Validate given parameters of a method and fill in the defaults."""
        unknown = next((name for name in given if name not in cls.model_fields), None)
        if unknown is not None:
            takes = ", ".join(cls.model_fields) or "no parameters"
            raise MorphGraphError(
                f"{method} has no parameter “{unknown}”.{nearest(unknown, cls.model_fields)} It "
                f"takes {takes}."
            )
        return cls(**given)

    def changed(self, **values: Any) -> Self:
        """Return a copy with some values changed."""
        return type(self)(**{**dict(self), **values})

    @property
    def is_random(self) -> bool:
        """Whether the result depends on a seed."""
        return False

    @property
    def sees_gold(self) -> bool:
        """Whether the result depends on a reference's gold boundaries."""
        return False


@dataclass(frozen=True)
class OnlyMarked:
    """Marks a parameter for vocabularies with this marker only."""

    marker: str


def bounds(field: FieldInfo) -> Mapping[str, float]:
    """Return the bounds of a parameter by pydantic's names: ``ge``, ``gt``, ``le``, ``lt``."""
    found = {sign: getattr(m, sign, None) for m in field.metadata for sign in _SIGNS & set(dir(m))}
    return {sign: value for sign, value in found.items() if value is not None}


_SIGNS = {"ge", "gt", "le", "lt"}


def values_of(field: FieldInfo) -> Any:
    """Return the type of a parameter's values, without None."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    optional = type(None) in get_args(field.annotation)
    return kinds[0] if optional else field.annotation


def _message(kind: type[Parameters], error: ValidationError) -> str:
    """Describe an invalid value, and the valid ones."""
    found = error.errors()[0]
    name, value = str(found["loc"][0]) if found["loc"] else "", found["input"]
    if found["type"] == "value_error":
        return str(found["msg"]).removeprefix("Value error, ")
    if name not in kind.model_fields:
        meant = nearest(name, kind.model_fields)
        return f"“{name}” is not a setting.{meant} Use some of: {', '.join(kind.model_fields)}."
    return f"{name}={value!r:.60} does not fit. Give {_wanted(kind.model_fields[name])}."


def _wanted(field: FieldInfo) -> str:
    kind = values_of(field)
    if kind is bool:
        return "true or false"
    if get_origin(kind) is Literal:
        return f"one of: {', '.join(get_args(kind))}"
    if kind is str:
        return "a text"
    limits = bounds(field)
    what = "a whole number" if kind is int else "a number"
    if "le" in limits:
        return f"{what} from {limits['ge']} to {limits['le']}"
    if "lt" in limits:
        return f"{what} from {limits['ge']} to below {limits['lt']}"
    return f"{what} of {limits['ge']} or more" if "ge" in limits else what

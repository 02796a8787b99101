"""Methods of an evaluation, each with its parameters; a list of values is a grid."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import product
from math import prod
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from morphgraph.batch.yaml_reading import OneOrMore, Strict
from morphgraph.core.errors import MorphGraphError
from morphgraph.refine.registry import EVERY_METHOD, offered
from morphgraph.segment.method import Method
from morphgraph.segment.parameters import Parameters, values_of
from morphgraph.segment.registry import parse_method

AS_IT_IS = "standard"
"""The tokeniser as it is."""


class MethodChoice(Strict):
    """The tokeniser as it is, or another method; what tables call it, and for which tokenisers."""

    method: str
    label: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        None, description="What tables call it."
    )
    tokenisers: list[str] | None = Field(
        None, description="Names of the tokenisers that it is for; all if not given."
    )

    def grid(self) -> list[dict[str, Any]]:
        """Every combination of its parameters, those that stand in the file first."""
        given = self._grid_fields()
        return [dict(zip(given, chosen, strict=True)) for chosen in product(*given.values())]

    def _grid_fields(self) -> dict[str, list[Any]]:
        """The values of each of its parameters that has some."""
        own = [name for name in type(self).model_fields if name not in MethodChoice.model_fields]
        values = {name: getattr(self, name) for name in own}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def grid_size(self) -> int:
        """How many combinations there are."""
        return prod(len(values) for values in self._grid_fields().values())

    def title(self) -> str:
        """What tables call it; nothing for the tokeniser as it is, which has its own name."""
        return self.label or ("" if self.method == AS_IT_IS else EVERY_METHOD[self.method].title)

    @property
    def needs_counts(self) -> bool:
        """Whether it needs word counts, in itself or because it blames by tokens."""
        counted = self.method != AS_IT_IS and EVERY_METHOD[self.method].counts
        return counted or "tokens" in getattr(self, "weighting", ())

    def learns(self) -> bool:
        """Whether it looks at gold boundaries for some of its parameters."""
        return any(settings_of(self.method, given).sees_gold for given in self.grid())


def settings_of(method: str, parameters: Mapping[str, Any]) -> Parameters:
    """The parameters of one cell; none for the tokeniser as it is and for predictions."""
    known = EVERY_METHOD.get(method)
    return Parameters() if known is None else known.settings(parameters)


def one_or_more_values(field: FieldInfo) -> Any:
    """The type of one value or several of a parameter of a method."""
    one: Any = values_of(field)
    for bound in field.metadata:
        one = Annotated[one, bound]
    return OneOrMore[one]


def _grid_field(field: FieldInfo) -> Any:
    """A parameter of a method as a field of a file."""
    kind = one_or_more_values(field)
    if field.default is None:
        return (kind | None, Field(None, description=field.description))
    return (kind, Field([field.default], description=field.description))


def _model(method: Method) -> type[MethodChoice]:
    """The model of a method; seeds are those of the evaluation."""
    fields = {name: _grid_field(field) for name, field in method.fields.items() if name != "seed"}
    made: type[MethodChoice] = create_model(
        method.name.capitalize(),
        __base__=MethodChoice,
        __doc__=method.does,
        **{"method": (Literal[method.name], ...), **fields},
    )
    return made


class Standard(MethodChoice):
    """The tokeniser as it is."""

    method: Literal["standard"] = "standard"


METHOD_MODELS: dict[str, type[MethodChoice]] = {
    AS_IT_IS: Standard,
    **{name: _model(EVERY_METHOD[name]) for name in offered() if name != "bpe"},
}
"""The model of each method, by name."""

if TYPE_CHECKING:
    AnyMethod = MethodChoice
else:
    AnyMethod = Annotated[reduce(or_, METHOD_MODELS.values()), Field(discriminator="method")]


def as_method(given: Any) -> Any:
    """A method written as a text, such as ``dropout(p=0.05)``, as its fields."""
    if not isinstance(given, str):
        return given
    try:
        name, parameters = parse_method(given)
    except MorphGraphError as error:
        raise ValueError(str(error)) from error
    return {"method": name, **parameters}

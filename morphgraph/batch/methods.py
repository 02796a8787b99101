"""Methods of an evaluation, each with its parameters; a list of values is a grid."""

from __future__ import annotations

from functools import reduce
from itertools import product
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from morphgraph.batch.one_or_more import OneOrMore
from morphgraph.batch.yaml_reading import Strict
from morphgraph.errors import MorphGraphError
from morphgraph.evaluate.methods import METHODS, Parameter, parse_method
from morphgraph.evaluate.yardstick import Scope, Weighting
from morphgraph.refine.anneal import MINIMUM_GOOD, MINIMUM_RATIO
from morphgraph.refine.blame import DEFAULT_THRESHOLD
from morphgraph.refine.knockout import Selection

Share = Annotated[float, Field(ge=0, le=1)]
Holdout = Annotated[float, Field(ge=0, lt=1)]
Size = Annotated[int, Field(ge=0, le=10_000_000)]


class BaseMethod(Strict):
    """A method, what tables call it, and the names of the tokenisers that it is for."""

    method: str
    label: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    tokenisers: list[str] | None = None

    def grid(self) -> list[dict[str, Any]]:
        """Every combination of its parameters, those that stand in the file first."""
        own = [name for name in type(self).model_fields if name not in BaseMethod.model_fields]
        values = {name: getattr(self, name) for name in own}
        given = {name: value for name, value in values.items() if value is not None}
        return [dict(zip(given, chosen, strict=True)) for chosen in product(*given.values())]

    def title(self) -> str:
        """What tables call it."""
        return self.label or TITLES[self.method]


class Standard(BaseMethod):
    """The tokeniser as it is."""

    method: Literal["standard"] = "standard"


class Knockout(BaseMethod):
    """BPE-knockout, and the baselines that it is held against."""

    method: Literal["knockout"]
    select: OneOrMore[Selection] = ["blame"]
    threshold: OneOrMore[Share] = [DEFAULT_THRESHOLD]
    percent: OneOrMore[Annotated[float, Field(ge=0, le=100)]] | None = Field(
        None, description="For random, last and leaves: so many percent of the types."
    )
    holdout: OneOrMore[Holdout] = [0.0]
    scope: OneOrMore[Scope] = ["morphemic"]
    weighting: OneOrMore[Weighting] = Field(
        ["types"], description="tokens: blame weighted by the corpus."
    )
    tuples_once: OneOrMore[bool] = [False]
    cascade: OneOrMore[bool] = [False]
    minimum_vocabulary: OneOrMore[Size] = [0]


class Rebpe(BaseMethod):
    """ReBPE: anneal, then knock out and reify in turn until nothing changes."""

    method: Literal["rebpe"]
    anneal: OneOrMore[bool] = [True]
    reify: OneOrMore[bool] = Field([True], description="false: none of repair, link and expand.")
    repair: OneOrMore[bool] = [True]
    link: OneOrMore[bool] = [True]
    expand: OneOrMore[bool] = [True]
    iterations: OneOrMore[Annotated[int, Field(ge=0, le=1_000)]] = [10]
    threshold: OneOrMore[Share] = [DEFAULT_THRESHOLD]
    holdout: OneOrMore[Holdout] = [0.0]
    scope: OneOrMore[Scope] = ["morphemic"]
    weighting: OneOrMore[Weighting] = ["types"]
    tuples_once: OneOrMore[bool] = [False]
    cascade: OneOrMore[bool] = [False]
    minimum_vocabulary: OneOrMore[Size] = [0]
    maximum_vocabulary: OneOrMore[Size] | None = None
    minimum_good: OneOrMore[Annotated[int, Field(ge=1)]] = [MINIMUM_GOOD]
    minimum_ratio: OneOrMore[Share] = [MINIMUM_RATIO]


def _field(parameter: Parameter) -> Any:
    kind: Any = type(parameter.default)
    bounded = Annotated[kind, Field(ge=parameter.least, le=parameter.most)]
    return (
        OneOrMore[bounded],
        Field([parameter.default], description=parameter.meaning),
    )


def _model(name: str) -> type[BaseMethod]:
    """The model of one of the methods that need no training, made of its parameters."""
    fields = {key: _field(p) for key, p in METHODS[name].parameters.items() if key != "seed"}
    made: type[BaseMethod] = create_model(
        name.capitalize(),
        __base__=BaseMethod,
        __doc__=METHODS[name].does,
        **{"method": (Literal[name], ...), **fields},
    )
    return made


METHOD_MODELS: dict[str, type[BaseMethod]] = {
    "standard": Standard,
    **{name: _model(name) for name in METHODS if name != "bpe"},
    "knockout": Knockout,
    "rebpe": Rebpe,
}
"""The model of each method, by name."""

TITLES = {
    "standard": "",
    **{name: METHODS[name].title for name in METHODS},
    "knockout": "BPE-knockout",
    "rebpe": "ReBPE",
}

ON_MERGES = ("dropout", "trimmed", "knockout", "rebpe")
"""Methods that need a tokeniser with merges."""

if TYPE_CHECKING:
    Method = BaseMethod
else:
    _any = reduce(or_, METHOD_MODELS.values())
    Method = Annotated[_any, Field(discriminator="method")]


def as_method(given: Any) -> Any:
    """A method written as a text, such as ``dropout(p=0.05)``, as its fields."""
    if not isinstance(given, str):
        return given
    try:
        name, parameters = parse_method(given)
    except MorphGraphError as error:
        raise ValueError(str(error)) from error
    return {"method": name, **parameters}


def is_random(method: str, parameters: dict[str, Any]) -> bool:
    """Whether a seed changes what comes out."""
    if method == "dropout":
        return bool(0 < parameters["p"] < 1)
    return bool(parameters.get("holdout")) or parameters.get("select") == "random"

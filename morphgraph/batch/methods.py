"""Methods of an evaluation, each with its parameters; a list of values is a grid."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from morphgraph.batch.yaml_reading import OneOrMore, Strict
from morphgraph.core.errors import MorphGraphError
from morphgraph.refine.anneal import MINIMUM_GOOD, MINIMUM_RATIO
from morphgraph.refine.blame import DEFAULT_THRESHOLD
from morphgraph.refine.knockout import Selection
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.segment.registry import METHODS, Parameter, parse_method

Share = Annotated[float, Field(ge=0, le=1)]
Holdout = Annotated[float, Field(ge=0, lt=1)]
Size = Annotated[int, Field(ge=0, le=10_000_000)]

_THRESHOLD = "Merges with R ≥ this are to blame."
_HOLDOUT = "Share of the words that it does not see, which alone are scored."
_SCOPE = "Blame by boundaries between morphs, or whole words."
_WEIGHTING = "Blame counts each word once, or as often as the corpus has it."
_TUPLES = "Blame counts a tuple merge once for each application, not for each join."
_CASCADE = "What is made from a removed type goes with it."


class BaseMethod(Strict):
    """A method, what tables call it, and the names of the tokenisers that it is for."""

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
        own = [name for name in type(self).model_fields if name not in BaseMethod.model_fields]
        values = {name: getattr(self, name) for name in own}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def grid_size(self) -> int:
        """How many combinations there are."""
        return prod(len(values) for values in self._grid_fields().values())

    def title(self) -> str:
        """What tables call it."""
        return self.label or TITLES[self.method]


class Standard(BaseMethod):
    """The tokeniser as it is."""

    method: Literal["standard"] = "standard"


class Knockout(BaseMethod):
    """BPE-knockout, and its baselines."""

    method: Literal["knockout"]
    select: OneOrMore[Selection] = Field(
        ["blame"], description="Which types go: those to blame, or as many others as a baseline."
    )
    threshold: OneOrMore[Share] = Field([DEFAULT_THRESHOLD], description=_THRESHOLD)
    percent: OneOrMore[Annotated[float, Field(ge=0, le=100)]] | None = Field(
        None, description="For random, last and leaves: this percentage of the types."
    )
    holdout: OneOrMore[Holdout] = Field([0.0], description=_HOLDOUT)
    scope: OneOrMore[Scope] = Field(["morphemic"], description=_SCOPE)
    weighting: OneOrMore[Weighting] = Field(["types"], description=_WEIGHTING)
    tuples_once: OneOrMore[bool] = Field([False], description=_TUPLES)
    cascade: OneOrMore[bool] = Field([False], description=_CASCADE)
    minimum_vocabulary: OneOrMore[Size] = Field([0], description="At least this many types stay.")


class Rebpe(BaseMethod):
    """ReBPE: anneal, then knock out and reify in turn until nothing changes."""

    method: Literal["rebpe"]
    anneal: OneOrMore[bool] = Field(
        [True], description="First add merges that hardly ever cross a boundary."
    )
    reify: OneOrMore[bool] = Field([True], description="false: none of repair, link and expand.")
    repair: OneOrMore[bool] = Field(
        [True], description="Tuple merges that cannot apply any more get other parts."
    )
    link: OneOrMore[bool] = Field([True], description="Use pair merges inside tuple merges.")
    expand: OneOrMore[bool] = Field([True], description="Create pair merges inside tuple merges.")
    iterations: OneOrMore[Annotated[int, Field(ge=0, le=1_000)]] = Field(
        [10], description="At most this many."
    )
    threshold: OneOrMore[Share] = Field([DEFAULT_THRESHOLD], description=_THRESHOLD)
    holdout: OneOrMore[Holdout] = Field([0.0], description=_HOLDOUT)
    scope: OneOrMore[Scope] = Field(["morphemic"], description=_SCOPE)
    weighting: OneOrMore[Weighting] = Field(["types"], description=_WEIGHTING)
    tuples_once: OneOrMore[bool] = Field([False], description=_TUPLES)
    cascade: OneOrMore[bool] = Field([False], description=_CASCADE)
    minimum_vocabulary: OneOrMore[Size] = Field([0], description="At least this many types stay.")
    maximum_vocabulary: OneOrMore[Size] | None = Field(
        None, description="Annealing adds types up to this number."
    )
    minimum_good: OneOrMore[Annotated[int, Field(ge=1)]] = Field(
        [MINIMUM_GOOD], description="Anneal pairs that are so often inside a morph."
    )
    minimum_ratio: OneOrMore[Share] = Field(
        [MINIMUM_RATIO], description="Anneal pairs that are inside a morph in this share."
    )


def _field(parameter: Parameter) -> Any:
    kind: Any = type(parameter.default)
    bounded: Any = kind
    if kind is not bool:
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


def learns(method: str, parameters: dict[str, Any]) -> bool:
    """Whether a method looks at the gold boundaries of the reference."""
    return method == "rebpe" or (method == "knockout" and parameters["select"] == "blame")


def is_random(method: str, parameters: dict[str, Any]) -> bool:
    """Whether a seed changes what comes out."""
    if method == "dropout":
        return bool(0 < parameters["p"] < 1)
    return bool(parameters.get("holdout")) or parameters.get("select") == "random"

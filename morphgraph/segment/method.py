"""How a method declares itself, beside its code, and the registry of all methods by name.

A method is written as its name and parameters: ``dropout(p=0.1, seed=3)``.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from morphgraph.core.errors import MorphGraphError, nearest
from morphgraph.core.plugins import Registry

Needs = Literal["merges", "vocabulary", "segmenter", "training", "gold"]
Value = bool | int | float | str

# ------------------------------------------------------------------------- parameters


class Parameters(BaseModel):
    """Strictly validated values of a method; an invalid one raises `MorphGraphError`."""

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
    signs = ("ge", "gt", "le", "lt")
    return {sign: getattr(m, sign) for m in field.metadata for sign in signs if hasattr(m, sign)}


def values_of(field: FieldInfo) -> Any:
    """Return the type of a parameter's values, without None."""
    kinds = get_args(field.annotation)
    if type(None) not in kinds:
        return field.annotation
    return next(kind for kind in kinds if kind is not type(None))


def _message(kind: type[Parameters], error: ValidationError) -> str:
    """Describe an invalid value, and the valid ones."""
    found = error.errors()[0]
    name, value = str(found["loc"][0]) if found["loc"] else "", found["input"]
    if found["type"] == "value_error":
        return str(found["msg"]).removeprefix("Value error, ")
    if name not in kind.model_fields:
        meant = nearest(name, kind.model_fields)
        return f"“{name}” is not a setting.{meant} Use any of: {', '.join(kind.model_fields)}."
    return f"{name}={value!r:.60} does not fit. Give {_wanted(kind.model_fields[name])}."


def _wanted(field: FieldInfo) -> str:
    kind, limits = values_of(field), bounds(field)
    if kind is bool:
        return "true or false"
    if get_origin(kind) is Literal:
        return f"one of: {', '.join(get_args(kind))}"
    if kind is str:
        return "a text"
    what = "a whole number" if kind is int else "a number"
    low = f"above {limits['gt']}, up" if "gt" in limits else f"from {limits.get('ge')}"
    if "le" in limits:
        return f"{what} {low} to {limits['le']}"
    if "lt" in limits:
        return f"{what} {low} to below {limits['lt']}"
    return f"{what} of {limits['ge']} or more" if "ge" in limits else what


# ------------------------------------------------------------------------- methods


@dataclass(frozen=True)
class Training:
    """How to train a method on word counts.

    ``run`` makes a segmenter of a `PreparedCorpus`, the vocabulary size, a name, a function to call
    with the share done, and its ``parameters`` by name. ``stoppable``: it also takes ``enough``
    (see `train`); else it runs to the end. ``special``: it also takes ``special`` tokens.
    ``several``: it only trains on counts of several languages. ``unmarked``: it only supports
    pipelines without a start-of-word marker. ``atoms``: the kind that it needs, if not the
    pipeline's. ``seconds``: estimated time for 32,000 types on one core.
    """

    description: str
    run: Callable[..., Any] = field(repr=False)
    parameters: type[Parameters] = Parameters
    unmarked: bool = False
    atoms: str | None = None
    stoppable: bool = True
    special: bool = False
    several: bool = False
    seconds: float = 2.5

    @property
    def pipelines(self) -> tuple[str, ...]:
        """The pipelines that it supports, its default first."""
        from morphgraph.corpus.pipelines import PIPELINES

        known = PIPELINES.values()
        return tuple(each.name for each in known if not (self.unmarked and each.marked))


@dataclass(frozen=True)
class Method:
    """A method: its name in commands and files, its title in tables, and a description.

    ``kind``: the class of its segmenters; None if it makes segmenters of another method. ``needs``:
    what it is built on: a tokeniser by its ``merges``, a ``vocabulary``, another ``segmenter``'s
    tokens, its own ``training`` only, or a tokeniser and a reference's ``gold``. ``build``: builds
    one from that and its ``parameters`` by name, by default ``kind``; with ``counts``, it also
    takes word counts, as ``counts=``. ``source``: its publication. ``seconds``: estimated time on a
    usual reference, on one core. ``training``: how to train it, if possible. ``learn``: makes a
    `Learned` of a tokeniser, which is not changed, a gold set and settings. ``retrain``: makes a
    segmenter of what BPE trained, the word counts of that, a reference, the vocabulary size,
    ``parameters`` and the share kept aside, if it trains anew. ``standalone``: the plain-Python
    class in exported folders, as ``module:Class``.
    """

    name: str
    title: str
    does: str
    kind: type[Any] | None
    needs: Needs
    parameters: type[Parameters] = Parameters
    build: Callable[..., Any] | None = None
    counts: bool = False
    source: str = ""
    seconds: float = 1.0
    training: Training | None = None
    learn: Callable[..., Any] | None = None
    retrain: Callable[..., Any] | None = None
    standalone: str = ""

    @property
    def learns(self) -> bool:
        """Whether it learns from gold."""
        return self.learn is not None

    @property
    def abilities(self) -> list[str]:
        """What it can do: it is ``offered`` where any tokeniser with merges will do.

        It ``segments``, can be ``trained``, of ``several`` languages only, ``follows`` another
        method's training, ``learns`` from gold, ``retrains`` on word counts and gold, or needs the
        ``counts`` of a second corpus.
        """
        is_free = self.training is None or self.needs == "merges"
        can = {
            "segments": self.kind is not None,
            "offered": self.kind is not None and is_free,
            "counts": self.counts,
            "trained": self.training is not None,
            "several": self.training is not None and self.training.several,
            "follows": self.needs == "training" and self.build is not None,
            "learns": self.learns,
            "retrains": self.retrain is not None,
        }
        return [ability for ability, has in can.items() if has]

    @property
    def fields(self) -> Mapping[str, FieldInfo]:
        """Its parameters by name: default, bounds and meaning."""
        return self.parameters.model_fields

    def settings(self, given: Mapping[str, Any]) -> Parameters:
        """Validate given parameters and fill in the defaults."""
        return self.parameters.of(self.name, given)

    def label(self, given: Mapping[str, Any]) -> str:
        """Return its title with the given parameters, for tables."""
        from morphgraph.tokeniser.words import spelled

        listed = ", ".join(f"{name}={spelled(value)}" for name, value in given.items())
        return self.title + (f" ({listed})" if listed else "")


_ABILITIES = {
    "segments",
    "offered",
    "counts",
    "trained",
    "several",
    "follows",
    "learns",
    "retrains",
}


class Methods(Registry[Method]):
    """Methods by name: to list names, and what the methods can do, loads none.

    What a method can do is written in brackets behind its entry point, as `Method.abilities` says;
    one that says nothing there, or another word, is loaded to know.
    """

    @property
    def segmenting(self) -> list[str]:
        """The names of methods that have segmenters."""
        return self.able("segments")

    @property
    def offered(self) -> list[str]:
        """The names of methods for any tokeniser with merges."""
        return self.able("offered")

    @property
    def trained(self) -> list[str]:
        """The names of methods that can be trained."""
        return self.able("trained")

    @property
    def learning(self) -> list[str]:
        """The names of methods that learn from gold."""
        return self.able("learns")

    def able(self, ability: str) -> list[str]:
        """Return the names of methods with an ability, by its name in `Method.abilities`.

        >>> "trimmed" in METHODS.able("counts"), "bpe" in METHODS.able("counts")
        (True, False)
        """
        return [name for name in [*self._known] if ability in self._abilities(name)]

    def _abilities(self, name: str) -> Sequence[str]:
        declared: Sequence[str] = getattr(self._known.get(name), "extras", ())
        if declared and _ABILITIES.issuperset(declared):
            return declared
        return self[name].abilities if name in self else ()

    def _load(self, entry: EntryPoint) -> Method:
        method = super()._load(entry)
        for name in (method.name, getattr(method.kind, "method", method.name)):
            if name != entry.name:
                raise ValueError(f"its Method or its class calls it “{name}”, not “{entry.name}”")
        return method


METHODS = Methods("morphgraph.methods", Method)
"""All methods."""


def method_named(name: str, among: Sequence[str]) -> Method:
    """Return a method by name; `MorphGraphError` if it is not ``among`` the given ones."""
    if name not in among or name not in METHODS:
        among = [each for each in among if each in METHODS]  # without those that cannot be loaded
        raise MorphGraphError(
            f"There is no method “{name}”.{nearest(name, among)} Use one of: {', '.join(among)}."
        )
    return METHODS[name]


# ------------------------------------------------------------------------- as it is written


def parse_method(text: str) -> tuple[str, dict[str, Value]]:
    """Parse a method as it is written into its name and parameters.

    >>> parse_method("dropout(p=0.1, queue=true)"), parse_method("knockout(select=random)")
    (('dropout', {'p': 0.1, 'queue': True}), ('knockout', {'select': 'random'}))
    """
    found = re.fullmatch(r"\s*([\w-]+)\s*(?:\(([^()]*)\))?\s*", text)
    if found is None:
        raise MorphGraphError(f"“{text[:80]}” is not a method. Write it like dropout(p=0.1).")
    parts = [part.strip() for part in (found[2] or "").split(",")]
    return found[1], dict(_parameter(part) for part in parts if part)


def _parameter(text: str) -> tuple[str, Value]:
    name, _, value = (item.strip() for item in text.partition("="))
    if name and value in ("true", "false"):
        return name, value == "true"
    if name and re.fullmatch(r"[+-]?\d{1,15}", value):
        return name, int(value)
    try:
        number = float(value[:30])
    except ValueError:
        if name and re.fullmatch(r"[a-z]+(-[a-z]+)*", value):
            return name, value
    else:
        if name and math.isfinite(number):
            return name, number
    raise MorphGraphError(f"“{text[:80]}” is not a parameter. Write it like p=0.1.")


def split_methods(text: str) -> list[str]:
    """Split methods at commas that are not inside brackets.

    >>> split_methods("bpe, dropout(p=0.1, seed=3), flota")
    ['bpe', 'dropout(p=0.1, seed=3)', 'flota']
    """
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]

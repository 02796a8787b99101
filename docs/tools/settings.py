"""docs/reference/settings.md: settings of commands and methods, fields of evaluations, limits."""

import re
from collections.abc import Iterable, Mapping
from inspect import cleandoc
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from docs.tools import from_template, markdown_table
from morphgraph.batch.configuration import (
    Corpus,
    DownstreamChoice,
    Evaluation,
    EvaluationPart,
    LoadedTokeniser,
    MethodChoice,
    Missing,
    ReferenceChoice,
    TrainedTokeniser,
)
from morphgraph.batch.results import DIMENSIONS, OWN_METRICS, TableSpec, named_metrics
from morphgraph.batch.yaml_reading import listed
from morphgraph.cli.options import GoldReading
from morphgraph.cli.score import Statistics
from morphgraph.core.limits import LIMITS
from morphgraph.core.plugins import installed
from morphgraph.refine import KnockoutSettings, ReBPESettings
from morphgraph.score.gold_reading import Reading
from morphgraph.segment.method import METHODS, bounds, values_of
from morphgraph.tokeniser.words import spelled


def page() -> str:
    """Return the whole page."""
    shared = [name for name in KnockoutSettings.model_fields if name in ReBPESettings.model_fields]
    known = named_metrics()
    metrics = [(f"`{key}`", each.title) for key, each in known.items() if key in OWN_METRICS]
    return from_template(
        "settings.md",
        reading=table(GoldReading),
        statistics=table(Statistics),
        knockout=table(KnockoutSettings),
        rebpe=table(ReBPESettings, but=shared),
        methods=_of_methods(),
        evaluation=table(Evaluation, but=["parts"]),
        part=table(EvaluationPart),
        corpora=table(Corpus),
        loaded=table(LoadedTokeniser),
        trained=table(TrainedTokeniser),
        chosen=table(MethodChoice),
        references=table(ReferenceChoice, but=Reading.model_fields),
        downstream=table(DownstreamChoice),
        tables=table(TableSpec),
        missing=table(Missing),
        dimensions=_names(DIMENSIONS),
        metrics=markdown_table([("name", "meaning"), *metrics]),
        limits=_limits(),
        limits_of_files=_limits_of_files(),
    )


def table(kind: type[BaseModel], but: Iterable[str] = ()) -> str:
    """Return the fields of a model: their names, values, defaults and meanings."""
    fields = {name: each for name, each in kind.model_fields.items() if name not in set(but)}
    return markdown_table([_HEADS, *(_row(name, each, kind) for name, each in fields.items())])


_HEADS = ("name", "values", "if not given", "meaning")


def _row(name: str, field: FieldInfo, kind: type[BaseModel] | None = None) -> tuple[str, ...]:
    told = field.description or _in_docstring(kind, name) or _TOLD.get(name, "")
    return f"`{name}`", _values(field), _default(field), told.replace("|", "\\|")


_TOLD = {"train": "The method of training.", "method": "Its name.", "task": "Its name."}


def _in_docstring(kind: type[BaseModel] | None, name: str) -> str:
    """Return what the docstring of a class, or of one that it is made from, says of a field."""
    for each in kind.__mro__ if kind else ():
        found = re.search(rf"^{name}: (.*(?:\n +.*)*)", cleandoc(each.__doc__ or ""), re.M)
        if found:
            return " ".join(found[1].split())
    return ""


def _values(field: FieldInfo) -> str:
    """Return what a field takes, in words."""
    kind, limits = values_of(field), bounds(field)
    kind = Annotated[kind, *field.metadata[:1]] if _LISTED in field.metadata[:1] else kind
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    limited = ", ".join(f"{signs[sign]} {limit:,}" for sign, limit in limits.items())
    return " ".join(filter(None, [_kind(kind), limited]))


def _kind(kind: Any) -> str:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        known = [f"`{each}`" for each in inside]
        return ", ".join(known) if len(known) <= 12 else "a name"
    if kind in _WORDS:
        return _WORDS[kind]
    if hasattr(kind, "__metadata__"):
        taken = _kind(inside[0])
        return f"one, or a {taken}" if kind.__metadata__[0] == _LISTED else taken
    if origin is list:
        within = _kind(inside[0])
        return f"list of {within}" if "`" in within else "list"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "names with values"
    kinds = [_kind(each) for each in inside if each is not type(None)]
    return " or ".join(dict.fromkeys(kinds)) or "a name"


_LISTED = BeforeValidator(listed)
"""By what a single value counts as a list of one."""
_WORDS: dict[Any, str] = {
    bool: "yes or no",
    int: "whole number",
    float: "number",
    str: "text",
}


def _names(listed: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in listed)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.default
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, list):
        return _names(map(str, value))
    return f"`{spelled(value)}`" if not isinstance(value, bool) else ("no", "yes")[value]


def of(package: str, *names: str) -> list[str]:
    """Return those of the names of methods whose entry points are in a package."""
    entries = installed().select(group="morphgraph.methods")
    own = {entry.name for entry in entries if entry.module.partition(".")[0] == package}
    return [name for name in names if name in own]


def _of_methods() -> str:
    rows = [("method", *_HEADS)]
    for name in of("morphgraph", *METHODS.segmenting):
        fields = METHODS[name].fields.items()
        rows += [(f"`{name}`", *_row(key, each)) for key, each in fields]
    return markdown_table(rows)


def _limits() -> str:
    app = ("MORPHGRAPH_PUBLIC", "MORPHGRAPH_APP_MEMORY")
    rows = [("variable", "limits the number of", "default")]
    rows += [
        (f"`{one.variable}`", one.what, f"{one.public:,}")
        for one in LIMITS
        if one.variable.startswith(app)
    ]
    return markdown_table(rows)


def _limits_of_files() -> str:
    rows = [("variable", "limits the number of", "on your own machine", "in public", "why")]
    rows += [
        (f"`{one.variable}`", one.what, f"{one.own:,}", f"{one.public:,}", one.reason)
        for one in LIMITS
        if one.variable.startswith("MORPHGRAPH_MAX")
    ]
    return markdown_table(rows)

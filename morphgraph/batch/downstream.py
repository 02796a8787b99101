"""Downstream tasks of an evaluation: their configuration, and what their cells need."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, create_model, model_validator

from morphgraph.batch.tasks import contents
from morphgraph.batch.yaml_reading import Name, OneOrMore, Strict
from morphgraph.core.errors import MorphGraphError, unquoted
from morphgraph.models.downstream import DOWNSTREAM
from morphgraph.models.downstream.task import PLACES, DownstreamTask
from morphgraph.models.downstream.token_ids import model_files
from morphgraph.models.downstream.training import training_version

_STARTING, _SMALL, _TOKENS_IN_TEXT, _UNPACKED = 15.0, 5.0, 20, 3
"""Estimates: seconds before a cell trains, slow-down of small over tiny, tokens in a text, and size
of a file without gzip."""


class DownstreamChoice(Strict):
    """A task that models are trained and measured on, once for each seed."""

    name: Name | None = Field(None, description="Its name in tables.")
    task: str
    tokenisers: list[str] | None = Field(
        None, description="Names of the tokenisers that it is for; all if not given."
    )
    languages: OneOrMore[Name] | None = Field(None, description="Only for these languages.")

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        try:
            self.entry.settings(self.given())
        except MorphGraphError as error:
            raise ValueError(str(error)) from error
        return self

    @property
    def entry(self) -> DownstreamTask:
        """Its entry among the tasks."""
        return DOWNSTREAM[self.task]

    @property
    def title(self) -> str:
        """Its title in tables."""
        return self.name or self.entry.title

    def given(self) -> dict[str, Any]:
        """The task's own settings."""
        own = [name for name in type(self).model_fields if name not in _SHARED]
        return {name: getattr(self, name) for name in own}


_SHARED = frozenset(DownstreamChoice.model_fields)


def _choice_of(task: DownstreamTask) -> type[DownstreamChoice]:
    """Return the configuration model of a task."""
    fields: dict[str, Any] = {}
    for name, field in task.parameters.model_fields.items():
        kind: Any = field.annotation
        default: Any = copy(field)
        if name in PLACES:
            kind = OneOrMore[Annotated[str, Field(min_length=1)]]
            kind = kind if field.is_required() else kind | None
            default = ... if field.is_required() else None
            default = Field(default, description=field.description)
        fields[name] = (kind, default)
    made: type[DownstreamChoice] = create_model(
        "".join(part.capitalize() for part in task.name.split("-")),
        __base__=DownstreamChoice,
        __doc__=task.does,
        **{"task": (Literal[task.name], ...), **fields},
    )
    return made


DOWNSTREAM_MODELS: dict[str, type[DownstreamChoice]] = {
    name: _choice_of(task) for name, task in DOWNSTREAM.items()
}
"""The model of each task, by name."""

if TYPE_CHECKING:
    AnyDownstream = DownstreamChoice
else:
    AnyDownstream = Annotated[reduce(or_, DOWNSTREAM_MODELS.values()), Field(discriminator="task")]


# ------------------------------------------------------------------------------ planning


@dataclass(frozen=True)
class PlannedTask:
    """A task in one language: its title, the spec of its cells, and their cost in seconds."""

    title: str
    spec: dict[str, Any]
    cost: float
    tokenisers: list[str] | None

    def is_for(self, tokeniser: str | None) -> bool:
        """Return whether it is for the tokeniser of this name."""
        return self.tokenisers is None or tokeniser in self.tokenisers


def planned_task(
    choice: DownstreamChoice, place: Callable[[str], str], quoting: bool = True
) -> PlannedTask:
    """Plan a task, reading and checking its files once.

    ``place``: resolves the name of a file to its path; ``quoting``: as in `make_plan`.
    `MorphGraphError` for missing files, and for examples that do not fit.
    """
    spec = _spec(choice, place)
    files = [path for part in spec["data"].values() for path in part["files"]]
    with unquoted(*files, asked=not quoting):
        _checked(json.dumps(spec, sort_keys=True))
    return PlannedTask(choice.title, spec, _cost(spec), choice.tokenisers)


def _spec(choice: DownstreamChoice, place: Callable[[str], str]) -> dict[str, Any]:
    given = choice.given()
    data: dict[str, Any] = {}
    for part in PLACES:
        if given.pop(part) is not None:
            files = [place(path) for path in getattr(choice, part)]
            # In order, which is the direction of translation.
            content = [checksum for path in files for checksum in contents([path])]
            data[part] = {"files": files, "content": content}
    folder, checkpoint = given.pop("model"), None
    if folder is not None:
        folder = place(folder)
        files = model_files(folder)
        checkpoint = {"path": folder, "files": files, "content": contents(files)}
    return {
        "task": choice.task,
        "settings": given,
        "data": data,
        "checkpoint": checkpoint,
        "code": training_version(),
    }


def task_settings(spec: Mapping[str, Any]) -> Any:
    """Return the settings of a task in a spec, with its files at their paths."""
    places = {part: found["files"] for part, found in spec["data"].items()}
    checkpoint = spec["checkpoint"]
    model = None if checkpoint is None else checkpoint["path"]
    return DOWNSTREAM[spec["task"]].settings({**spec["settings"], **places, "model": model})


@lru_cache(maxsize=64)
def _checked(spec: str) -> None:
    """Read the examples of a spec once, so that errors are found before the run."""
    known = json.loads(spec)
    DOWNSTREAM[known["task"]].read(task_settings(known))


def _cost(spec: Mapping[str, Any]) -> float:
    settings = task_settings(spec)
    if settings.steps is not None:
        tokens = settings.steps * settings.batch_size * _TOKENS_IN_TEXT
    else:
        size = sum(
            Path(path).stat().st_size * (_UNPACKED if path.endswith(".gz") else 1)
            for path in settings.train
        )
        tokens = settings.epochs * size / DOWNSTREAM[spec["task"]].bytes_in_token
    speed = DOWNSTREAM[spec["task"]].speed / (1 if settings.scale == "tiny" else _SMALL)
    seconds = tokens / speed
    if settings.time_budget is not None:
        seconds = min(seconds, settings.time_budget)
    return float(_STARTING + seconds)

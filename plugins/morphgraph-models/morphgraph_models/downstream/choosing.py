"""Hyper-parameters searched on development data: every choice of a grid, or some drawn from it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isnan
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from morphgraph.batch.downstream import Inputs, Measured
from morphgraph.batch.yaml_reading import OneOrMore
from morphgraph.core.files import write_file
from morphgraph.tables.model import Column
from morphgraph_models.downstream.examples import Examples, TrainingSettings
from morphgraph_models.downstream.fitting import Batches, Fitted, ModelKind, fitted_on
from morphgraph_models.downstream.model_task import ModelRun
from morphgraph_models.downstream.token_ids import TokenIds

DEVELOPMENT = "development_"
"""The prefix of metrics that are measured on development data."""
TRIED = {
    "tried": Column("Score on development data", "percent", 1),
    "chosen": Column("Chosen", "percent"),
}
"""What is told of each choice of a grid, which is a variant of its cell."""

SearchField = Literal["learning_rate", "batch_size", "epochs", "weight_decay"]


class DevelopedSettings(TrainingSettings):
    """Settings of tasks that also measure on development data, and choose by it."""

    development: Annotated[list[str] | None, Inputs()] = Field(
        None, description="Files with the examples to choose on, measured too."
    )
    development_share: float | None = Field(
        None, gt=0, lt=1, description="Instead of files, this share of what would be trained on."
    )
    search: dict[SearchField, OneOrMore[int | float]] | None = Field(
        None,
        description="Values of learning_rate, batch_size, epochs or weight_decay, of which the "
        "best on development data are measured on the test.",
    )
    draws: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="Try only this many choices of the grid, drawn by the seed.",
    )

    @model_validator(mode="after")
    def _can_choose(self) -> Self:
        if self.development is not None and self.development_share is not None:
            raise ValueError("development data come from files or from training. Leave one out.")
        if self.search and self.development is None and self.development_share is None:
            raise ValueError("a search needs development data. Add development.")
        if self.draws is not None and not self.search:
            raise ValueError("draws are of a search. Add one, or leave draws out.")
        for choice in self._every() if self.search else ():
            self.chosen(choice)
        return self

    def _every(self) -> list[dict[str, Any]]:
        grid: Mapping[str, list[Any]] = self.search or {}  # type: ignore[assignment]
        return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]

    @property
    def decisive(self) -> str:
        """The metric by which the best of the grid is chosen."""
        raise NotImplementedError

    @property
    def trainings(self) -> int:
        """How many models are trained."""
        return min(len(self._every()), self.draws or 10_000)

    def choices(self, seed: int) -> list[dict[str, Any]]:
        """Return the values to try, in the order of the grid."""
        every = self._every()
        picked = np.random.default_rng(seed).permutation(len(every))[: self.trainings]
        return [every[place] for place in sorted(picked.tolist())]

    def chosen(self, choice: Mapping[str, Any]) -> Self:
        """Return the settings with one choice of the grid."""
        return self.changed(search=None, draws=None, **choice)


def choice_text(choice: Mapping[str, Any]) -> str:
    """Return a choice as it is written in tables.

    >>> choice_text({"learning_rate": 3e-05, "batch_size": 16})
    'learning_rate=3e-05, batch_size=16'
    """
    return ", ".join(f"{name}={value}" for name, value in choice.items())


Measure = Callable[[Any, Examples, str], Sequence[Measured]]
"""Measures a model on examples, as metrics with a prefix."""


def fitted_on_best(
    run: ModelRun,
    kind: ModelKind,
    make_batches: Callable[[Examples, TokenIds, int], Batches],
    measure: Measure,
) -> tuple[Fitted, list[Measured]]:
    """Train the model of a run, with each choice of its grid if it has one.

    Returns the model that is the best on development data, the first among equals, and what was
    measured there. A killed run does not train again what it has measured, but for the best one.
    """
    settings, development = run.settings, run.examples.development
    if not settings.search:
        only = fitted_on(run, kind, make_batches)
        seen = () if development is None else measure(only.model, development, DEVELOPMENT)
        return only, [*seen]
    choices = settings.choices(run.seed)
    metric = f"{DEVELOPMENT}{settings.decisive}"
    best: tuple[float, int, Fitted | None] = (-np.inf, -1, None)
    measured: list[list[Measured]] = []
    told: list[Measured] = []

    def fit(number: int) -> Fitted:
        own = settings.chosen(choices[number])
        one = replace(run, settings=own, turn=(number, len(choices)))
        return fitted_on(one, kind, make_batches, folder=run.folder / f"choice-{number}")

    for number, choice in enumerate(choices):
        file = run.folder / f"choice-{number}.json"
        fitted: Fitted | None = None
        if not file.is_file():
            fitted = fit(number)
            write_file(file, json.dumps([*measure(fitted.model, development, DEVELOPMENT)]))
        measured.append([Measured(*each) for each in json.loads(file.read_text())])
        tried = next(each for each in measured[-1] if each.metric == metric)
        told.append(tried._replace(metric="tried", variant=choice_text(choice)))
        score = -1e9 if isnan(tried.value) else tried.value
        if score > best[0]:
            best = score, number, fitted
    for number, choice in enumerate(choices):
        told.append(Measured("chosen", float(number == best[1]), 1, variant=choice_text(choice)))
    return best[2] or fit(best[1]), [*measured[best[1]], *told]

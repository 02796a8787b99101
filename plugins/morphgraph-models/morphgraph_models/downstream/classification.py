"""Texts, or pairs of them, put into classes or given a number."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from morphgraph.batch.downstream import Inputs, Measured
from morphgraph.batch.yaml_reading import ListOrOne
from morphgraph.core.errors import FileFormatError
from morphgraph.tables.model import Column
from morphgraph_models.downstream.choosing import (
    DEVELOPMENT,
    TRIED,
    DevelopedSettings,
    fitted_on_best,
)
from morphgraph_models.downstream.examples import Examples, TaskParts, read_labelled, read_parts
from morphgraph_models.downstream.fitting import Batches, Key, padded, predictions
from morphgraph_models.downstream.glue import GlueClasses, GlueNumbers, read_glue
from morphgraph_models.downstream.gold_morphs import read_gold_morphs
from morphgraph_models.downstream.model_task import COMMON, ModelRun, model_task, share_measured
from morphgraph_models.downstream.noise import NOISE, NoiseIn
from morphgraph_models.downstream.scores import macro_f1, matthews, pearson, spearman
from morphgraph_models.downstream.token_ids import TokenIds, framed, framed_pairs


class TextSettings(DevelopedSettings):
    """Files of labelled texts, and how words in them are segmented."""

    text: Annotated[ListOrOne[str], Field(min_length=1, max_length=2)] = Field(
        ["text"], description="The column with the text, or two with the texts of a pair."
    )
    label: str = Field("label", description="The column with its class or number.")
    gold: Annotated[str | None, Inputs()] = Field(
        None, description="A gold file: words in it are segmented by its morphs, as for DelBERT."
    )


class ClassificationSettings(TextSettings):
    """Files of texts with a class, and the noise to test with."""

    glue: GlueClasses | None = Field(
        None, description="Files are those of this task of GLUE, as its archive has them."
    )
    choose_by: Literal["accuracy", "macro_f1", "mcc"] | None = Field(
        None, description="The metric by which the grid's best is chosen; macro_f1 if not given."
    )
    noise: float | None = Field(
        None, gt=0, le=1, description="Test again, with this share of the words or spaces damaged."
    )
    noise_in: Annotated[ListOrOne[NoiseIn], Field(min_length=1)] = Field(
        ["words"],
        description="What noise damages: words, characters of which are swapped, dropped or "
        "doubled, or spaces, which are dropped; or each in a test of its own.",
    )

    @property
    def decisive(self) -> str:
        return self.choose_by or "macro_f1"


class RegressionSettings(TextSettings):
    """Files of texts with a number."""

    glue: GlueNumbers | None = Field(
        None, description="Files are those of this task of GLUE, as its archive has them."
    )
    choose_by: Literal["pearson", "spearman"] | None = Field(
        None, description="The metric by which the grid's best is chosen; spearman if not given."
    )

    @property
    def decisive(self) -> str:
        return self.choose_by or "spearman"

    @model_validator(mode="after")
    def _columns_differ(self) -> Self:
        if self.label in self.text and self.glue is None:
            raise ValueError("the text and its number stand in one column. Name another.")
        return self


def _read(settings: TextSettings, what: str = "") -> TaskParts:
    task: str | None = getattr(settings, "glue", None)

    def read(paths: Sequence[str]) -> Examples:
        if task is not None:
            return read_glue(paths, task)
        return read_labelled(paths, settings.text, settings.label)

    parts = read_parts(settings, read, what)
    return parts if settings.gold is None else replace(parts, gold=read_gold_morphs(settings.gold))


def _read_numbers(settings: RegressionSettings) -> TaskParts:
    """Read texts with numbers; a label that is none is an error."""
    parts = _read(settings)

    def as_numbers(part: Examples) -> Examples:
        try:
            return (*part[:-1], tuple(map(float, part[-1])))
        except ValueError as error:
            problem = f"a label is not a number ({error})"
            files = ", ".join([*settings.train, *settings.test])
            raise FileFormatError(files, "", problem, "Correct it, or classify.") from error

    return replace(
        parts,
        train=as_numbers(parts.train),
        test=as_numbers(parts.test),
        development=parts.development and as_numbers(parts.development),
    )


@dataclass(frozen=True)
class _Labelled(Batches):
    """Texts or pairs, with a label each.

    ``begins``: where the second text begins in each row of each sample, if the model is told.
    """

    labels: npt.NDArray[Any]
    begins: Sequence[Sequence[int]] = ()

    @classmethod
    def of(
        cls, texts: Examples, labels: npt.NDArray[Any], run: ModelRun, ids: TokenIds, draws: int = 1
    ) -> Self:
        """Segment a column of texts, or two."""
        columns, most = [ids.encode(each, draws) for each in texts], run.settings.max_tokens
        if len(columns) == 1:
            return cls([framed(rows, ids, most) for rows in columns[0]], ids, labels)
        pairs = [
            framed_pairs(*both, ids, most) for both in zip(columns[0], columns[1], strict=True)
        ]
        begins = [begins for _, begins in pairs] if run.marks_segments else ()
        return cls([rows for rows, _ in pairs], ids, labels, begins)

    def inputs(self, keys: Sequence[Key]) -> dict[str, Any]:
        given = super().inputs(keys)
        if self.begins:
            begins = (self.begins[number % len(self.begins)][index] for index, number in keys)
            second = [
                (np.arange(len(row)) >= begin).astype(np.int64)
                for row, begin in zip(self.rows(keys), begins, strict=True)
            ]
            given["token_type_ids"] = padded(second, 0)
        return given

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        import torch

        labels = torch.from_numpy(self.labels[[index for index, _ in keys]])
        return {**self.inputs(keys), "labels": labels}

    def predicted(self, model: Any, size: int) -> npt.NDArray[Any]:
        """Return what a model predicts for each text."""
        predicted = np.zeros(len(self.labels), self.labels.dtype)
        for places, guesses, _ in predictions(model, self, size):
            predicted[places] = guesses
        return predicted


# ------------------------------------------------------------------------------ classes


def _run_classification(run: ModelRun) -> list[Measured]:
    data, settings = run.examples, run.settings
    number = {name: place for place, name in enumerate(data.classes)}

    def batches(part: Examples, ids: TokenIds, draws: int = 1) -> _Labelled:
        labels = np.array([number[label] for label in part[-1]], np.int64)
        return _Labelled.of(part[:-1], labels, run, ids, draws)

    def measure(model: Any, part: Examples, prefix: str) -> list[Measured]:
        test = batches(part, run.ids.plain())
        predicted = test.predicted(model, settings.batch_size)
        right = (predicted == test.labels).astype(np.float64)
        share = share_measured(f"{prefix}accuracy", right, np.ones(len(right)))
        others = {"macro_f1": macro_f1, "mcc": matthews}
        return [share] + [
            Measured(f"{prefix}{name}", score(test.labels, predicted), len(right))
            for name, score in others.items()
        ]

    fitted, told = fitted_on_best(run, "classification", batches, measure)
    told += measure(fitted.model, data.test, "")
    *texts, labels = data.test
    for damaged in settings.noise_in if settings.noise is not None else ():
        prefix, damage = NOISE[damaged]
        columns = [tuple(damage(each, settings.noise, run.seed)) for each in texts]
        told += measure(fitted.model, (*columns, labels), prefix)
    return [*told, *fitted.facts(), run.uncovered([text for each in texts for text in each])]


_PREFIXES = {
    "": "",
    DEVELOPMENT: " on development data",
    "noisy_": " with noise",
    "unspaced_": " without some spaces",
}
_CLASS_METRICS = {
    f"{prefix}{key}": Column(f"{title}{where}", "percent", 1)
    for key, title in {"accuracy": "Accuracy", "macro_f1": "Macro-F1", "mcc": "MCC"}.items()
    for prefix, where in _PREFIXES.items()
}

CLASSIFICATION = model_task(
    "Classification",
    "Texts, pairs of texts, or single words, put into classes.",
    ClassificationSettings,
    {**_CLASS_METRICS, **TRIED, **COMMON},
    lambda given: _read(given, "label"),
    _run_classification,
    speed=15_000,
)

# ------------------------------------------------------------------------------ numbers


def _run_regression(run: ModelRun) -> list[Measured]:
    data, settings = run.examples, run.settings

    def batches(part: Examples, ids: TokenIds, draws: int = 1) -> _Labelled:
        return _Labelled.of(part[:-1], np.array(part[-1], np.float32), run, ids, draws)

    def measure(model: Any, part: Examples, prefix: str) -> list[Measured]:
        test = batches(part, run.ids.plain())
        numbers = [test.labels, test.predicted(model, settings.batch_size)]
        gold, predicted = (each.astype(np.float64) for each in numbers)
        scores = {"pearson": pearson(gold, predicted), "spearman": spearman(gold, predicted)}
        return [Measured(f"{prefix}{key}", each, len(gold)) for key, each in scores.items()]

    fitted, told = fitted_on_best(run, "regression", batches, measure)
    told += measure(fitted.model, data.test, "")
    texts = [text for each in data.test[:-1] for text in each]
    return [*told, *fitted.facts(), run.uncovered(texts)]


REGRESSION = model_task(
    "Regression",
    "Texts, or pairs of texts, given a number, such as how alike they are.",
    RegressionSettings,
    {
        **{
            f"{prefix}{key}": Column(f"{title}{_PREFIXES[prefix]}", "percent", 1)
            for key, title in {"pearson": "Pearson", "spearman": "Spearman"}.items()
            for prefix in ("", DEVELOPMENT)
        },
        **TRIED,
        **COMMON,
    },
    _read_numbers,
    _run_regression,
    speed=15_000,
)

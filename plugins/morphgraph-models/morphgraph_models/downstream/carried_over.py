"""Language models carried over to another tokeniser by a transplant, and trained further."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from morphgraph.batch.downstream import Measured
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.segment.segmenter import Segmenter
from morphgraph_models.downstream.fitting import ModelKind, fit, make_model
from morphgraph_models.downstream.language_models import (
    BITS,
    CURVE,
    PSEUDO_PERPLEXITY,
    Curve,
    LanguageModelSettings,
    loss_measured,
    read_language_texts,
    texts_measured,
    windows_of,
)
from morphgraph_models.downstream.model_task import ModelRun, model_task
from morphgraph_models.downstream.token_ids import ROLES, TokenIds, dense_ids
from morphgraph_models.settings import RowInit
from morphgraph_models.transplanting import transplant

Start = RowInit | Literal["mean+median", "length+median", "scratch"]


class TransplantCurveSettings(LanguageModelSettings):
    """Files of texts, the training before and after, and how to initialise new rows.

    ``steps`` or ``epochs`` apply to the model on the original tokeniser.
    """

    then: int = Field(
        400, ge=1, le=10_000_000, description="Steps of training on the new tokeniser."
    )
    then_learning_rate: float | None = Field(
        None, gt=0, le=1, description="The highest one of that training; as before it."
    )
    starts: list[Start] = Field(
        ["mean", "zeros", "normal", "scratch"],
        min_length=1,
        description="How rows of new types are initialised; +median: with input rows of the median "
        "norm; scratch: a whole new model.",
    )
    tied: bool = Field(True, description="Whether input and output rows are one matrix.")
    masked: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="Make it a masked language model, with this share of tokens masked.",
    )
    curve: list[int] = Field(
        [0, 25, 50, 100, 200, 400],
        min_length=1,
        description="Steps on the new tokeniser after which the loss is measured.",
    )

    @model_validator(mode="after")
    def _can_be_scaled(self) -> Self:
        if self.tied and any(start.endswith("+median") for start in self.starts):
            raise ValueError(
                "+median does not scale rows of one matrix. Set tied: false, or leave out +median."
            )
        return self


def numbered_as_exported(segmenter: Segmenter) -> tuple[TokenIds, bytes]:
    """Return the ids of a merge-based tokeniser, and its ``tokenizer.json``.

    Special tokens come first. Raises `MorphGraphError` for other segmenters.
    """
    tokeniser = segmenter.editable
    if tokeniser is None:
        raise MorphGraphError(
            f"{segmenter.name} does not segment by merges alone, so its model cannot be carried "
            "over here. List under the task's tokenisers those that it is for."
        )
    ids = dense_ids(segmenter)
    numbers = {text: number for number, text in ids.by_id.items()}
    document = json.loads(to_tokenizer_json(tokeniser)[0])
    model = document["model"]
    model.pop("morphgraph", None)
    model["vocab"] = {text: numbers[text] for text in model["vocab"] if text in numbers}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    document["added_tokens"] = [
        *({"id": ids.special[r], "content": f"<|{r}|>", "special": True, **flags} for r in ROLES),
        *({**token, "id": numbers[token["content"]]} for token in document["added_tokens"] or []),
    ]
    return ids, json.dumps(document, ensure_ascii=False).encode()


def _run(run: ModelRun) -> list[Measured]:
    settings: TransplantCurveSettings = run.settings
    if run.base is None or settings.model is not None:
        raise MorphGraphError(
            "Curves of a transplant begin with a model made from scratch. Leave model out."
        )
    base, base_file = numbered_as_exported(run.base)
    ids, file = numbered_as_exported(run.ids.segmenter)
    folder = run.folder
    before = replace(run, ids=base)
    trained = folder / "trained"
    if not (trained / "config.json").is_file():
        texts = windows_of(run.examples.train, base, run=before)
        model = make_model(texts.kind, before, tie_word_embeddings=settings.tied)
        fitted = fit(model, texts, before, folder / "base")
        shutil.rmtree(trained, ignore_errors=True)
        write_file(folder / "unfinished" / "tokenizer.json", base_file)
        fitted.model.save_pretrained(folder / "unfinished")
        (folder / "unfinished").rename(trained)
    write_file(folder / "tokeniser" / "tokenizer.json", file)
    starts: Sequence[str] = ["as it was"] if base_file == file else settings.starts
    return [each for start in starts for each in _curve(replace(run, ids=ids), start)]


def _curve(run: ModelRun, start: str) -> list[Measured]:
    """Measure a model after given steps, for one initialisation."""
    settings: TransplantCurveSettings = run.settings
    (texts,) = run.examples.test
    test = windows_of(run.examples.test, run.ids, run=replace(run, seed=0))
    place = run.folder / start
    place.mkdir(exist_ok=True)

    def measure(model: Any) -> list[Measured]:
        given = model, test, texts, settings.batch_size
        return texts_measured(*given) + (loss_measured(*given) if settings.masked else [])

    steps = [min(step, settings.then) for step in settings.curve]
    curve = Curve(place, steps, measure, f"start={start}")
    if curve.is_whole:
        return curve.points()
    rate = settings.then_learning_rate or settings.learning_rate
    further = settings.changed(steps=settings.then, learning_rate=rate)
    after = replace(run, settings=further, seed=run.seed + 1)
    train = windows_of(run.examples.train, run.ids, run=after)
    model = _initial_model(run, start, train.kind)
    fit(model, train, after, place, curve.looks)
    for step in steps:  # those that a time budget left out
        curve.look(step, model)
    return curve.points()


def _initial_model(run: ModelRun, start: str, kind: ModelKind) -> Any:
    if start == "scratch":
        again = replace(run, seed=run.seed + 1)
        return make_model(kind, again, tie_word_embeddings=run.settings.tied)
    folder = run.folder / "trained"
    if start != "as it was":
        carried = run.folder / f"carried-{start}"
        if not carried.is_dir():
            init, _, norm = start.partition("+")
            options: Any = {"init": init, "norm": norm or None, "seed": run.seed}
            transplant(folder, run.folder / "tokeniser", carried, **options)
        folder = carried
    settings = run.settings.changed(model=str(folder), preset=None)
    return make_model(kind, replace(run, settings=settings))


TRANSPLANT_CURVES = model_task(
    "Language model carried over",
    "A language model is trained on a tokeniser, transplanted to its refinement by a method, and "
    "trained further.",
    TransplantCurveSettings,
    PSEUDO_PERPLEXITY | BITS | CURVE,
    read_language_texts,
    _run,
    speed=6_000,
)

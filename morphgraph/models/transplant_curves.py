"""The loss of a transplanted language model over further training."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.models.language_models import (
    BITS,
    CausalWindows,
    LanguageModelSettings,
    bits_measured,
    causal_nats,
    read_language_texts,
)
from morphgraph.models.presets import make_model
from morphgraph.models.task import DownstreamTask, Measured, TaskRun
from morphgraph.models.token_ids import ROLES, TokenIds
from morphgraph.models.training import fit
from morphgraph.models.transplanting import TransplantSettings, transplant_model
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.hugging_face import new_ids, to_tokenizer_json

Start = Literal["mean", "zeros", "normal", "scratch"]


class TransplantCurveSettings(LanguageModelSettings):
    """Files of texts, the training before and after, and how to initialise new rows.

    ``steps`` or ``epochs`` apply to the model on the original tokeniser.
    """

    then: int = Field(
        default=400, ge=1, le=10_000_000, description="Steps of training on the new tokeniser."
    )
    then_learning_rate: float | None = Field(
        default=None, gt=0, le=1, description="The highest one of that training; as before it."
    )
    starts: list[Start] = Field(
        default=["mean", "zeros", "normal", "scratch"],
        min_length=1,
        description="How rows of new types are initialised; scratch: a whole new model.",
    )
    curve: list[int] = Field(
        default=[0, 25, 50, 100, 200, 400],
        min_length=1,
        description="Steps on the new tokeniser after which the loss is measured.",
    )


def numbered_as_exported(segmenter: Segmenter) -> tuple[TokenIds, bytes]:
    """Return the ids of a merge-based tokeniser, and its ``tokenizer.json``.

    Special tokens come first. Raises `MorphGraphError` for other segmenters.
    """
    tokeniser, first = segmenter.editable, len(ROLES)
    if tokeniser is None:
        raise MorphGraphError(
            f"{segmenter.name} is no tokeniser of merges alone, so its model cannot be carried "
            "over here. Say in the task which tokenisers it is for."
        )
    document = json.loads(to_tokenizer_json(tokeniser)[0])
    model = document["model"]
    model.pop("morphgraph", None)
    model["vocab"] = {text: number + first for text, number in model["vocab"].items()}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [{"content": f"<|{role}|>", "special": True, **flags} for role in ROLES]
    others = [{**token, "id": token["id"] + first} for token in document["added_tokens"] or []]
    document["added_tokens"] = [
        *({"id": number, **token} for number, token in enumerate(added)),
        *others,
    ]
    numbers = np.full(len(tokeniser.types), -1, np.int64)
    known = {number: new + first for number, new in new_ids(tokeniser).items()}
    numbers[list(known)] = list(known.values())
    special = {role: number for number, role in enumerate(ROLES)}
    by_id = {new: tokeniser.types[number] for number, new in known.items()}
    ids = TokenIds(segmenter, numbers, first + len(known), special, by_id)
    return ids, json.dumps(document, ensure_ascii=False).encode()


def _run(run: TaskRun) -> list[Measured]:
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
        texts = CausalWindows.of(run.examples.train, base, settings.max_tokens)
        fitted = fit(make_model("causal-lm", before), texts, settings, run.seed, folder / "base")
        shutil.rmtree(trained, ignore_errors=True)
        write_file(folder / "unfinished" / "tokenizer.json", base_file)
        fitted.model.save_pretrained(folder / "unfinished")
        (folder / "unfinished").rename(trained)
    write_file(folder / "tokeniser" / "tokenizer.json", file)
    if base_file == file:
        starts: Sequence[str] = ["as it was"]
    else:
        starts = settings.starts
    found: list[Measured] = []
    for start in starts:
        found += _kept(folder / f"{start}.json", partial(_curve, replace(run, ids=ids), start))
    return found


def _kept(path: Path, measure: Callable[[], list[Measured]]) -> list[Measured]:
    """Return a measurement from its file, measuring first if there is none."""
    if path.is_file():
        return [Measured(*values) for values in json.loads(path.read_text())]
    found = measure()
    write_file(path, json.dumps(found).encode())
    return found


def _curve(run: TaskRun, start: str) -> list[Measured]:
    """Measure bits per character and byte after given steps, for one initialisation."""
    settings: TransplantCurveSettings = run.settings
    model = _initial_model(run, start)
    test = CausalWindows.of(run.examples.test, run.ids, settings.max_tokens)
    train = CausalWindows.of(run.examples.train, run.ids, settings.max_tokens)
    texts = run.examples.test
    points: dict[int, list[Measured]] = {}
    place = run.folder / start

    def look(step: int, model: Any) -> None:
        name = place / f"step-{step}.json"
        points[step] = _kept(
            name,
            lambda: [
                each._replace(step=step, variant=f"start={start}")
                for each in bits_measured(
                    causal_nats(model, test, len(texts), settings.batch_size), texts
                )
            ],
        )

    place.mkdir(exist_ok=True)
    wanted = sorted({min(step, settings.then) for step in settings.curve})
    rate = settings.then_learning_rate or settings.learning_rate
    further = settings.changed(steps=settings.then, learning_rate=rate, patience=None)
    if 0 in wanted:
        look(0, model.eval())
    fit(model, train, further, run.seed + 1, place, looks=(wanted, look))
    for step in wanted:  # steps before the checkpoint that a killed run resumed from
        if step not in points:
            look(step, model)
    return [each for step in wanted for each in points[step]]


def _initial_model(run: TaskRun, start: str) -> Any:
    if start == "scratch":
        return make_model("causal-lm", replace(run, seed=run.seed + 1))
    folder = run.folder / "trained"
    if start != "as it was":
        carried = run.folder / f"carried-{start}"
        if not carried.is_dir():
            how = TransplantSettings(init=start, seed=run.seed)  # type: ignore[arg-type]
            transplant_model(folder, run.folder / "tokeniser", carried, how)
        folder = carried
    settings = run.settings.changed(model=str(folder), preset=None)
    return make_model("causal-lm", replace(run, settings=settings))


TRANSPLANT_CURVES = DownstreamTask(
    "transplant",
    "Language model carried over",
    "A language model is trained on a tokeniser, transplanted to its refinement by a method, and "
    "trained further.",
    TransplantCurveSettings,
    BITS,
    read_language_texts,
    _run,
    speed=6_000,
)

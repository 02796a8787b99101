"""Causal and masked language models, measured in bits per character and byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.formats.hugging_face import new_ids, to_tokenizer_json
from morphgraph.models.downstream import (
    COMMON,
    DownstreamTask,
    Examples,
    Measured,
    TaskMetric,
    TaskParts,
    TaskRun,
    TrainingSettings,
    read_parts,
    read_texts,
)
from morphgraph.models.downstream.token_ids import ROLES, IdArray, TokenIds
from morphgraph.models.downstream.training import (
    IGNORED,
    Batches,
    Key,
    as_inputs,
    fit,
    fitted_on,
    in_batches,
    make_model,
    padded,
)
from morphgraph.models.transplanting import TransplantSettings, transplant_model
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.segment.segmenter import Segmenter

_Floats = npt.NDArray[np.float64]


BITS = (
    TaskMetric("bits_per_character", "Bits per character", "number", -1),
    TaskMetric("bits_per_byte", "Bits per byte", "number", -1),
)
_METRICS = (*BITS, *COMMON)


class LanguageModelSettings(TrainingSettings):
    """Files of plain texts."""

    text: str | None = Field(
        None,
        description="The column with the text; without it, files are plain text, a text a line.",
    )


class MaskedSettings(LanguageModelSettings):
    """Files of plain texts, and the share of tokens to mask."""

    masked: float = Field(
        0.15, gt=0, lt=1, description="The share of tokens that is masked at once."
    )


def read_language_texts(settings: LanguageModelSettings) -> TaskParts:
    """Read the texts of all files."""
    return read_parts(settings, lambda paths: read_texts(paths, settings.text))


@dataclass(frozen=True)
class Windows(Batches):
    """Texts cut into windows of bounded length, framed by the start and end ids.

    ``texts``: the index of the text that each window of the first sample belongs to.
    """

    texts: IdArray

    @classmethod
    def of(
        cls, texts: Sequence[str], ids: TokenIds, most: int, draws: int = 1, **more: Any
    ) -> Self:
        """Cut texts into windows of at most ``most`` ids."""
        start, end = np.array([ids.special["bos"]]), np.array([ids.special["eos"]])
        drawn, owners = [], []
        for sample in ids.encode(texts, draws):
            wholes = [np.concatenate([row, end]) for row in sample]
            cuts = [(n, at) for n, row in enumerate(wholes) for at in range(0, len(row), most - 1)]
            drawn.append([np.concatenate([start, wholes[n][at : at + most - 1]]) for n, at in cuts])
            owners.append(np.array([n for n, _ in cuts], np.int64))
        return cls(drawn, ids, owners[0], **more)


# ------------------------------------------------------------------------------ bits


def bits_measured(nats: _Floats, texts: Sequence[str]) -> list[Measured]:
    """Return bits per character and byte of texts with negative log-likelihoods ``nats``.

    >>> measured = bits_measured(np.array([8 * np.log(2)]), ["abc"])
    >>> [(each.metric, round(each.value, 6)) for each in measured]
    [('bits_per_character', 2.0), ('bits_per_byte', 2.0)]
    """
    # The end of a text counts as one character more.
    sizes = ([len(text) + 1 for text in texts], [len(text.encode()) + 1 for text in texts])
    ratios = [Ratio(nats / np.log(2), np.array(size, np.float64)) for size in sizes]
    return [
        Measured(metric.key, ratio.value, len(texts), interval.low, interval.high)
        for metric, ratio, interval in zip(BITS, ratios, bootstrap_intervals(ratios), strict=True)
    ]


def _token_losses(model: Any, inputs: dict[str, Any], labels: Any, shift: int) -> _Floats:
    """Return the loss of each row summed over labels, which lag ``shift`` behind the inputs."""
    import torch

    device = model.device
    logits = model(**{name: value.to(device) for name, value in inputs.items()}).logits
    logits = logits[:, : logits.shape[1] - shift].float()
    wanted = labels[:, shift:].to(device)
    losses = torch.nn.functional.cross_entropy(
        logits.transpose(1, 2), wanted, ignore_index=IGNORED, reduction="none"
    )
    summed: _Floats = losses.sum(1).double().cpu().numpy()
    return summed


# ------------------------------------------------------------------------------ causal


@dataclass(frozen=True)
class CausalWindows(Windows):
    """Windows in which every id but the first is predicted from those before it."""

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        return {**self.inputs(keys), "labels": padded(self.rows(keys), IGNORED)}


def causal_nats(model: Any, windows: CausalWindows, texts: int, size: int) -> _Floats:
    """Return the negative log-likelihood of each text, its end included."""
    import torch

    found = np.zeros(texts)
    with torch.no_grad():
        for keys in in_batches(windows.lengths, size):
            batch = windows.batch(keys)
            labels = batch.pop("labels")
            losses = _token_losses(model, batch, labels, 1)
            np.add.at(found, windows.texts[[index for index, _ in keys]], losses)
    return found


def _run_causal(run: TaskRun) -> list[Measured]:
    settings = run.settings

    def windows(part: Examples, ids: TokenIds, draws: int = 1) -> CausalWindows:
        return CausalWindows.of(part[0], ids, settings.max_tokens, draws)

    fitted, (texts,) = fitted_on(run, "causal-lm", windows), run.examples.test
    test = windows((texts,), run.ids.plain())
    nats = causal_nats(fitted.model, test, len(texts), settings.batch_size)
    return [*bits_measured(nats, texts), *fitted.facts(), run.uncovered(texts)]


# ------------------------------------------------------------------------------ masked


@dataclass(frozen=True)
class MaskedWindows(Windows):
    """Windows with a share of the ids masked, differently in each epoch.

    Of the ids to predict, 80 % are masked, 10 % replaced and 10 % left (Devlin et al. 2019).
    """

    masked: float = 0.15
    seed: int = 0

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        rows, labels = [], []
        for key, row in zip(keys, self.rows(keys), strict=True):
            random = np.random.default_rng([self.seed, *key])
            chosen = random.random(len(row)) < self.masked
            chosen[0] = False
            if len(row) > 1 and not chosen.any():
                chosen[random.integers(1, len(row))] = True
            fate = random.random(len(row))
            others = random.integers(0, self.ids.size, len(row))
            shown = np.where(chosen & (fate < 0.8), self.ids.special["mask"], row)
            rows.append(np.where(chosen & (fate >= 0.9), others, shown))
            labels.append(np.where(chosen, row, IGNORED))
        return {**as_inputs(rows, self.ids.special["pad"]), "labels": padded(labels, IGNORED)}


def pseudo_nats(model: Any, windows: MaskedWindows, texts: int, size: int) -> _Floats:
    """Return the negative pseudo-log-likelihood of each text, masking every id once.

    Each of 1 / ``masked`` passes masks evenly spaced ids, as many at a time as in training. Source:
    Salazar et al. 2020, who mask one id at a time.
    """
    import torch

    goes = max(2, round(1 / windows.masked))
    found = np.zeros(texts)
    with torch.no_grad():
        for keys in in_batches(windows.lengths, size):
            rows = windows.rows(keys)
            for go in range(goes):
                places = [np.arange(len(row)) % goes == go for row in rows]
                for place in places:
                    place[0] = False
                mask = windows.ids.special["mask"]
                shown = [np.where(p, mask, row) for p, row in zip(places, rows, strict=True)]
                wanted = [np.where(p, row, IGNORED) for p, row in zip(places, rows, strict=True)]
                inputs = as_inputs(shown, windows.ids.special["pad"])
                losses = _token_losses(model, inputs, padded(wanted, IGNORED), 0)
                np.add.at(found, windows.texts[[index for index, _ in keys]], losses)
    return found


def _run_masked(run: TaskRun) -> list[Measured]:
    settings = run.settings
    if len({run.ids.special[role] for role in ("mask", "unk", "pad")}) < 3:
        raise MorphGraphError(
            "The model has no ids of its own for a mask, padding and unknown characters. Choose a "
            "checkpoint that was trained with masks, or make one from scratch."
        )

    def windows(part: Examples, ids: TokenIds, draws: int = 1) -> MaskedWindows:
        masks = {"masked": settings.masked, "seed": run.seed}
        return MaskedWindows.of(part[0], ids, settings.max_tokens, draws, **masks)

    fitted, (texts,) = fitted_on(run, "masked-lm", windows), run.examples.test
    test = windows((texts,), run.ids.plain())
    nats = pseudo_nats(fitted.model, test, len(texts), settings.batch_size)
    return [*bits_measured(nats, texts), *fitted.facts(), run.uncovered(texts)]


CAUSAL_LM = DownstreamTask(
    "causal-lm",
    "Language model",
    "Each token is predicted from those before it.",
    LanguageModelSettings,
    _METRICS,
    read_language_texts,
    _run_causal,
    speed=6_000,
)
MASKED_LM = DownstreamTask(
    "masked-lm",
    "Masked language model",
    "Masked tokens are predicted from all around them.",
    MaskedSettings,
    _METRICS,
    read_language_texts,
    _run_masked,
    speed=5_000,
)


Start = Literal["mean", "zeros", "normal", "scratch"]


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
        description="How rows of new types are initialised; scratch: a whole new model.",
    )
    curve: list[int] = Field(
        [0, 25, 50, 100, 200, 400],
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
    ours = [{"id": number, **token} for number, token in enumerate(added)]
    document["added_tokens"] = [*ours, *others]
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
        texts = CausalWindows.of(run.examples.train[0], base, settings.max_tokens)
        fitted = fit(make_model("causal-lm", before), texts, settings, run.seed, folder / "base")
        shutil.rmtree(trained, ignore_errors=True)
        write_file(folder / "unfinished" / "tokenizer.json", base_file)
        fitted.model.save_pretrained(folder / "unfinished")
        (folder / "unfinished").rename(trained)
    write_file(folder / "tokeniser" / "tokenizer.json", file)
    starts: Sequence[str] = ["as it was"] if base_file == file else settings.starts
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
    (texts,) = run.examples.test
    test = CausalWindows.of(texts, run.ids, settings.max_tokens)
    train = CausalWindows.of(run.examples.train[0], run.ids, settings.max_tokens)
    points: dict[int, list[Measured]] = {}
    place = run.folder / start

    def look(step: int, model: Any) -> None:
        def measure() -> list[Measured]:
            nats = causal_nats(model, test, len(texts), settings.batch_size)
            found = bits_measured(nats, texts)
            return [each._replace(step=step, variant=f"start={start}") for each in found]

        points[step] = _kept(place / f"step-{step}.json", measure)

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

"""Language models, measured in bits per character and byte."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from morphgraph.batch.downstream import Measured
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.formats.hugging_face import to_tokenizer_json
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.model import Column
from morphgraph_models.downstream.examples import (
    Examples,
    TaskParts,
    TrainingSettings,
    read_parts,
    read_texts,
)
from morphgraph_models.downstream.fitting import (
    IGNORED,
    Batches,
    Key,
    fit,
    fitted_on,
    in_batches,
    make_model,
    padded,
)
from morphgraph_models.downstream.model_task import COMMON, ModelRun, model_task
from morphgraph_models.downstream.token_ids import ROLES, IdArray, TokenIds, dense_ids
from morphgraph_models.settings import RowInit
from morphgraph_models.transplanting import transplant

_Floats = npt.NDArray[np.float64]


BITS = {
    "bits_per_character": Column("Bits per character", "number", -1),
    "bits_per_byte": Column("Bits per byte", "number", -1),
}


class LanguageModelSettings(TrainingSettings):
    """Files of plain texts."""

    text: str | None = Field(
        None,
        description="The column with the text; without it, files are plain text, a text a line.",
    )


def read_language_texts(settings: LanguageModelSettings) -> TaskParts:
    """Read the texts of all files."""
    return read_parts(settings, lambda paths: read_texts(paths, settings.text))


@dataclass(frozen=True)
class Windows(Batches):
    """Texts cut into windows of bounded length, framed by the start and end ids.

    Every id of a window but the first is predicted from those before it. ``texts``: the index of
    the text that each window of the first sample belongs to.
    """

    texts: IdArray

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        return {**self.inputs(keys), "labels": padded(self.rows(keys), IGNORED)}

    @classmethod
    def of(cls, texts: Sequence[str], ids: TokenIds, most: int, draws: int = 1) -> Self:
        """Cut texts into windows of at most ``most`` ids."""
        start, end = np.array([ids.special["bos"]]), np.array([ids.special["eos"]])
        drawn, owners = [], []
        for sample in ids.encode(texts, draws):
            wholes = [np.concatenate([row, end]) for row in sample]
            cuts = [(n, at) for n, row in enumerate(wholes) for at in range(0, len(row), most - 1)]
            drawn.append([np.concatenate([start, wholes[n][at : at + most - 1]]) for n, at in cuts])
            owners.append(np.array([n for n, _ in cuts], np.int64))
        return cls(drawn, ids, owners[0])


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
        Measured(metric, ratio.value, len(texts), interval.low, interval.high)
        for metric, ratio, interval in zip(BITS, ratios, bootstrap_intervals(ratios), strict=True)
    ]


def text_nats(model: Any, windows: Windows, texts: int, size: int) -> _Floats:
    """Return the negative log-likelihood of each text, its end included."""
    import torch

    nats = np.zeros(texts)
    with torch.no_grad():
        for keys in in_batches(windows.lengths, size):
            batch = windows.batch(keys)
            inputs = {name: value.to(model.device) for name, value in batch.items()}
            wanted = inputs.pop("labels")[:, 1:]
            logits = model(**inputs).logits[:, :-1].float()
            losses = torch.nn.functional.cross_entropy(
                logits.transpose(1, 2), wanted, ignore_index=IGNORED, reduction="none"
            )
            summed = losses.sum(1).double().cpu().numpy()
            np.add.at(nats, windows.texts[[index for index, _ in keys]], summed)
    return nats


def _run_causal(run: ModelRun) -> list[Measured]:
    """Train a language model on windows, and measure it on the texts of the test."""
    settings, (texts,) = run.settings, run.examples.test

    def windows(part: Examples, ids: TokenIds, draws: int = 1) -> Windows:
        return Windows.of(part[0], ids, settings.max_tokens, draws)

    fitted = fitted_on(run, "causal-lm", windows)
    test = windows((texts,), run.ids.plain())
    nats = text_nats(fitted.model, test, len(texts), settings.batch_size)
    return [*bits_measured(nats, texts), *fitted.facts(), run.uncovered(texts)]


CAUSAL_LM = model_task(
    "Language model",
    "Each token is predicted from those before it.",
    LanguageModelSettings,
    BITS | COMMON,
    read_language_texts,
    _run_causal,
    speed=6_000,
)


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
    curve: list[int] = Field(
        [0, 25, 50, 100, 200, 400],
        min_length=1,
        description="Steps on the new tokeniser after which the loss is measured.",
    )

    @model_validator(mode="after")
    def _can_be_scaled(self) -> Self:
        if self.tied and any(start.endswith("+median") for start in self.starts):
            raise ValueError(
                "rows of one matrix are not scaled. Set tied: false, or leave +median."
            )
        return self


def numbered_as_exported(segmenter: Segmenter) -> tuple[TokenIds, bytes]:
    """Return the ids of a merge-based tokeniser, and its ``tokenizer.json``.

    Special tokens come first. Raises `MorphGraphError` for other segmenters.
    """
    tokeniser = segmenter.editable
    if tokeniser is None:
        raise MorphGraphError(
            f"{segmenter.name} is no tokeniser of merges alone, so its model cannot be carried "
            "over here. Say in the task which tokenisers it is for."
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
        texts = Windows.of(run.examples.train[0], base, settings.max_tokens)
        model = make_model("causal-lm", before, tie_word_embeddings=settings.tied)
        fitted = fit(model, texts, before, folder / "base")
        shutil.rmtree(trained, ignore_errors=True)
        write_file(folder / "unfinished" / "tokenizer.json", base_file)
        fitted.model.save_pretrained(folder / "unfinished")
        (folder / "unfinished").rename(trained)
    write_file(folder / "tokeniser" / "tokenizer.json", file)
    starts: Sequence[str] = ["as it was"] if base_file == file else settings.starts
    return [each for start in starts for each in _curve(replace(run, ids=ids), start)]


def _curve(run: ModelRun, start: str) -> list[Measured]:
    """Measure bits per character and byte after given steps, for one initialisation.

    What was measured is kept in a file each, so that a killed run does not measure it again.
    """
    settings: TransplantCurveSettings = run.settings
    (texts,) = run.examples.test
    test = Windows.of(texts, run.ids, settings.max_tokens)
    place = run.folder / start
    place.mkdir(exist_ok=True)
    files = {min(step, settings.then): place / f"step-{step}.json" for step in settings.curve}

    def look(step: int, model: Any) -> None:
        if not files[step].is_file():
            nats = text_nats(model, test, len(texts), settings.batch_size)
            point = bits_measured(nats, texts)
            values = [each._replace(step=step, variant=f"start={start}") for each in point]
            write_file(files[step], json.dumps(values))

    if not all(file.is_file() for file in files.values()):
        model = _initial_model(run, start)
        if 0 in files:
            look(0, model.eval())
        rate = settings.then_learning_rate or settings.learning_rate
        further = settings.changed(steps=settings.then, learning_rate=rate)
        after = replace(run, settings=further, seed=run.seed + 1)
        train = Windows.of(run.examples.train[0], run.ids, settings.max_tokens)
        fit(model, train, after, place, looks=(sorted(files), look))
        for step in files:  # those that a time budget left out
            look(step, model)
    points = (json.loads(files[step].read_text()) for step in sorted(files))
    return [Measured(*values) for point in points for values in point]


def _initial_model(run: ModelRun, start: str) -> Any:
    if start == "scratch":
        again = replace(run, seed=run.seed + 1)
        return make_model("causal-lm", again, tie_word_embeddings=run.settings.tied)
    folder = run.folder / "trained"
    if start != "as it was":
        carried = run.folder / f"carried-{start}"
        if not carried.is_dir():
            init, _, norm = start.partition("+")
            options: Any = {"init": init, "norm": norm or None, "seed": run.seed}
            transplant(folder, run.folder / "tokeniser", carried, **options)
        folder = carried
    settings = run.settings.changed(model=str(folder), preset=None)
    return make_model("causal-lm", replace(run, settings=settings))


TRANSPLANT_CURVES = model_task(
    "Language model carried over",
    "A language model is trained on a tokeniser, transplanted to its refinement by a method, and "
    "trained further.",
    TransplantCurveSettings,
    BITS,
    read_language_texts,
    _run,
    speed=6_000,
)

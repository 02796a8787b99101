"""Training with transformers' Trainer: reproducible batches, resumed after a kill."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from morphgraph.batch.downstream import Measured
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.core.system import keep_freed_memory, usual_threads
from morphgraph_models.downstream.examples import Examples, TrainingSettings
from morphgraph_models.downstream.model_task import ModelRun
from morphgraph_models.downstream.token_ids import IdArray, TokenIds

CHECKPOINT_SECONDS = 60.0
"""Roughly how much work a killed cell loses at most."""
IGNORED = -100
"""The label of positions that are not predicted."""
_TELL_SECONDS = 2.0
_POOL = 50
"""The number of batches drawn together and sorted by length, to reduce padding."""

Looks = tuple[Sequence[int], Callable[[int, Any], None]]
NO_LOOKS: Looks = ((), lambda step, model: None)
Key = tuple[int, int]
"""The index of an example, and the epoch in which it is seen."""


# ------------------------------------------------------------------------------ batches


@dataclass(frozen=True)
class Batches:
    """Examples that can be batched, as rows of ids.

    ``draws``: the rows in each sample of a random method. As a data set, its items are their own
    keys, so that whole batches are made at once.
    """

    draws: Sequence[Sequence[IdArray]]
    ids: TokenIds

    def __len__(self) -> int:
        return len(self.draws[0])

    def __getitem__(self, key: Key) -> Key:
        return key

    @property
    def lengths(self) -> IdArray:
        """The number of tokens of each example."""
        return np.array([len(row) for row in self.draws[0]], np.int64)

    def rows(self, keys: Sequence[Key]) -> list[IdArray]:
        """Return the rows of some keys; a sample with fewer rows is repeated."""
        rows = []
        for index, number in keys:
            drawn = self.draws[number % len(self.draws)]
            rows.append(drawn[index % len(drawn)])
        return rows

    def inputs(self, keys: Sequence[Key]) -> dict[str, Any]:
        """Return the rows of some keys as inputs of a model, with their attention mask."""
        return with_mask(self.rows(keys), self.ids)

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        """Return tensors of some examples as the model takes them, with ``labels``."""
        raise NotImplementedError


def batch_plan(lengths: IdArray, settings: TrainingSettings, seed: int) -> list[list[Key]]:
    """Return all batches of a training run in order: random, but of similar lengths."""
    count, size = len(lengths), settings.batch_size
    total = settings.steps or ceil(settings.epochs * ceil(count / size))
    random = np.random.default_rng(seed)
    plan: list[list[Key]] = []
    number = 0
    while len(plan) < total:
        order = random.permutation(count)
        batches = []
        for start in range(0, count, _POOL * size):
            pool = order[start : start + _POOL * size]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            batches += [pool[at : at + size] for at in range(0, len(pool), size)]
        order = random.permutation(len(batches))
        plan += [[(int(index), number) for index in batches[place]] for place in order]
        number += 1
    return plan[:total]


def in_batches(lengths: IdArray, size: int) -> Iterator[list[Key]]:
    """Yield all examples once in batches, the shortest first, for evaluation."""
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), size):
        yield [(int(index), 0) for index in order[start : start + size]]


def padded(rows: Sequence[IdArray], filler: int) -> Any:
    """Return rows of ids as one int64 tensor, padded on the right."""
    import torch

    tensors = [torch.from_numpy(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=filler)


def with_mask(rows: Sequence[IdArray], ids: TokenIds) -> dict[str, Any]:
    """Return rows as inputs of a model, with their attention mask."""
    mask = padded([np.ones(len(row), np.int64) for row in rows], 0)
    return {"input_ids": padded(rows, ids.special["pad"]), "attention_mask": mask}


def predictions(
    model: Any, test: Batches, size: int
) -> Iterator[tuple[list[int], npt.NDArray[Any], npt.NDArray[Any]]]:
    """Yield the places of examples, what a model predicts for them, and their labels.

    Predictions are classes, or numbers if the model gives only one for each example.
    """
    import torch

    for keys in in_batches(test.lengths, size):
        batch = {name: value.to(model.device) for name, value in test.batch(keys).items()}
        labels = batch.pop("labels")
        with torch.no_grad():
            logits = model(**batch).logits.float()
        guesses = logits[..., 0] if logits.shape[-1] == 1 else logits.argmax(-1)
        yield [index for index, _ in keys], guesses.cpu().numpy(), labels.cpu().numpy()


# ------------------------------------------------------------------------------ training


class Fitted(NamedTuple):
    """A trained model, with the steps, tokens and seconds of its training."""

    model: Any
    steps: int
    tokens: int
    seconds: float

    def facts(self) -> list[Measured]:
        """Return the steps and speed that every task reports."""
        speed = self.tokens / self.seconds if self.seconds else np.nan
        return [
            Measured("training_steps", self.steps, self.steps),
            Measured("tokens_per_second", float(speed), self.tokens),
        ]


def fitted_on(
    run: ModelRun,
    kind: ModelKind,
    make_batches: Callable[[Examples, TokenIds, int], Batches],
    looks: Looks = NO_LOOKS,
    prepare: Callable[[Any], None] = lambda model: None,
    folder: Path | None = None,
) -> Fitted:
    """Train the model of a run on its examples.

    ``make_batches`` puts examples into batches, with a number of samples of a random method;
    ``looks``: as of `fit`; ``prepare``: changes the model before it is trained; ``folder``: where
    checkpoints are kept, if not in that of the run.
    """
    data, settings = run.examples, run.settings
    # With a random method, each epoch has a sample of its own, up to eight.
    train = make_batches(data.train, run.ids, min(8, max(1, round(settings.epochs))))
    model = make_model(kind, run, len(data.classes))
    prepare(model)
    return fit(model, train, run, folder or run.folder, looks)


def fit(
    model: Any,
    examples: Batches,
    run: ModelRun,
    folder: Path,
    looks: Looks = NO_LOOKS,
) -> Fitted:
    """Train a model as a run says, resuming from the last checkpoint in the folder.

    ``looks``: steps, and a function called after each of them with the current model; 0 is before
    training.

    Without a time budget, and on one device, the result depends only on the arguments, even if the
    training was killed in between.
    """
    import torch
    from torch.utils.data import DataLoader
    from transformers import PrinterCallback, Trainer, TrainingArguments

    torch.set_num_threads(usual_threads())
    keep_freed_memory()
    lengths = examples.lengths
    settings = run.settings
    plan = batch_plan(lengths, settings, run.seed)

    class OurBatches(Trainer):
        def get_train_dataloader(self) -> Any:
            return DataLoader(examples, batch_sampler=plan, collate_fn=examples.batch)

    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=len(plan),
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        warmup_steps=len(plan) // 10,
        weight_decay=settings.weight_decay,
        seed=run.seed,
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        save_strategy="no",
        save_total_limit=1,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    clock = _clock(folder, run, looks)
    trainer = OurBatches(model=model, args=arguments, train_dataset=examples, callbacks=[clock])
    trainer.remove_callback(PrinterCallback)
    last = last_checkpoint(folder)
    if 0 in looks[0] and last is None:
        looks[1](0, model.eval())
    try:
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
    except Exception:
        # An unreadable checkpoint, as of another version, must not fail for ever.
        if last is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    steps = clock.steps
    tokens = int(lengths[[index for batch in plan[:steps] for index, _ in batch]].sum())
    trained = trainer.accelerator.unwrap_model(trainer.model)
    return Fitted(trained.eval(), steps, tokens, clock.seconds)


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last complete checkpoint in a folder, deleting incomplete ones."""
    complete = []
    for path in folder.glob("checkpoint-*"):
        try:
            json.loads((path / "trainer_state.json").read_text())  # this file is written last
            complete.append((int(path.name.rpartition("-")[2]), path))
        except (OSError, ValueError):
            shutil.rmtree(path, ignore_errors=True)
    return max(complete)[1] if complete else None


def _clock(folder: Path, run: ModelRun, looks: Looks) -> Any:
    """Return a callback that times all runs, saves checkpoints, and keeps to the budget."""
    from transformers import TrainerCallback

    path, budget = folder / "clock.json", run.settings.time_budget

    class Clock(TrainerCallback):
        steps = 0
        before = seconds = told = 0.0

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.began = self.saved = time.monotonic()
            if state.global_step:
                with suppress(OSError, ValueError, KeyError):
                    self.before = float(json.loads(path.read_text())["seconds"])
            self.seconds = self.before

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            now = time.monotonic()
            self.steps = state.global_step
            self.seconds = self.before + now - self.began
            if now - self.told >= _TELL_SECONDS or self.steps == 1:
                self.told = now
                run.tell(self.steps, args.max_steps)
            if self.steps in looks[0]:
                model = _["model"]
                looks[1](self.steps, model.eval())
                model.train()
            if budget is not None and self.seconds >= budget:
                control.should_training_stop = True
            elif now - self.saved >= CHECKPOINT_SECONDS and self.steps < args.max_steps:
                control.should_save = True
            return control

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.saved = time.monotonic()
            write_file(path, json.dumps({"seconds": self.seconds}))

    return Clock()


# ------------------------------------------------------------------------------ models


ModelKind = Literal[
    "classification", "regression", "tagging", "causal-lm", "masked-lm", "translation"
]
_CLASSES: dict[str, str] = {
    "classification": "AutoModelForSequenceClassification",
    "regression": "AutoModelForSequenceClassification",
    "tagging": "AutoModelForTokenClassification",
    "causal-lm": "AutoModelForCausalLM",
    "masked-lm": "AutoModelForMaskedLM",
    "translation": "AutoModelForSeq2SeqLM",
}


_SHAPES = {"tiny": (128, 2, 2), "small": (256, 4, 4)}
"""The width, layers and heads of a model; of each half of it for a translator."""


def make_model(kind: ModelKind, run: ModelRun, classes: int = 0, **config: Any) -> Any:
    """Return the model of a run, initialised from its seed; ``config``: of one made from scratch.

    Nothing is looked up on a model hub. A model made from scratch is a BERT, GPT-2 or BART with one
    row for each id. A folder that transformers cannot open as such a model raises
    `MorphGraphError`.
    """
    os.environ.update(dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"), "1"))
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    transformers.set_seed(run.seed)
    kind_of = getattr(transformers, _CLASSES[kind])
    labels: dict[str, Any] = {"num_labels": classes} if classes else {}
    if kind == "classification":  # a checkpoint may have been saved for something else
        labels["problem_type"] = "single_label_classification"
    if kind == "regression":
        labels = {"num_labels": 1, "problem_type": "regression"}
    folder = run.settings.model
    if folder is None:
        return kind_of.from_config(_config(kind, run, **labels, **config))
    try:
        # A head for other classes is initialised afresh.
        own = {**labels, "ignore_mismatched_sizes": True} if labels else {}
        model = kind_of.from_pretrained(folder, local_files_only=True, **own)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        problem = str(error).strip().splitlines()[0][:200]
        raise MorphGraphError(
            f"{folder}: transformers cannot open it for {kind} ({problem}). Choose a checkpoint "
            "of a model that is made for this."
        ) from error
    if model.config.pad_token_id is None:
        model.config.pad_token_id = run.ids.special["pad"]
    return model


def _config(kind: ModelKind, run: ModelRun, **more: Any) -> Any:
    from transformers import BartConfig, BertConfig, GPT2Config

    (width, layers, heads), ids = _SHAPES[run.settings.preset or "tiny"], run.ids
    positions = run.settings.max_tokens + 2
    tokens = {f"{role}_token_id": ids.special[role] for role in ("pad", "bos", "eos")}
    if kind == "causal-lm":
        size = {"n_positions": positions, "n_embd": width, "n_layer": layers, "n_head": heads}
        return GPT2Config(vocab_size=ids.size, **size, **tokens, **more)
    if kind == "translation":
        half = {"layers": layers, "attention_heads": heads, "ffn_dim": 4 * width}
        halves = {f"{end}_{name}": n for end in ("encoder", "decoder") for name, n in half.items()}
        return BartConfig(
            vocab_size=ids.size,
            d_model=width,
            max_position_embeddings=positions,
            decoder_start_token_id=ids.special["bos"],
            forced_eos_token_id=None,
            scale_embedding=True,
            **halves,
            **tokens,
        )
    return BertConfig(
        vocab_size=ids.size,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=positions,
        pad_token_id=ids.special["pad"],
        **more,
    )

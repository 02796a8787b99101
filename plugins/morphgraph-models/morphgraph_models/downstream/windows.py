"""Windows of texts, in which a language model predicts each id from those before it, or masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph_models.downstream.fitting import (
    IGNORED,
    Batches,
    Key,
    ModelKind,
    in_batches,
    padded,
    with_mask,
)
from morphgraph_models.downstream.token_ids import IdArray, TokenIds

Nats = npt.NDArray[np.float64]
_ROWS = 256
"""The number of rows with a single masked id that are predicted together."""


@dataclass(frozen=True)
class Windows(Batches):
    """Texts cut into windows of bounded length, framed by the start and end ids.

    Every id of a window but the first is predicted from those before it. ``texts``: the index of
    the text that each window of the first sample belongs to.
    """

    texts: IdArray
    kind: ClassVar[ModelKind] = "causal-lm"
    shift: ClassVar[int] = 1
    """How many places before an id the model predicts it."""

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        return {**self.inputs(keys), "labels": padded(self.rows(keys), IGNORED)}

    def each_once(self, keys: Sequence[Key]) -> Iterator[tuple[IdArray, dict[str, Any]]]:
        """Yield batches that together predict every id once, with the index of each row's text."""
        yield self.owners(keys), self.batch(keys)

    def owners(self, keys: Sequence[Key]) -> IdArray:
        """Return the indices of the texts that some windows belong to."""
        return self.texts[[index for index, _ in keys]]

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


@dataclass(frozen=True)
class MaskedWindows(Windows):
    """Windows with a share of the ids masked, others in each epoch; never the start or the end.

    Of the ids to predict, 80 % are masked, 10 % replaced and 10 % left (Devlin et al. 2019).
    """

    masked: float = 0.15
    seed: int = 0
    kind: ClassVar[ModelKind] = "masked-lm"
    shift: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if len({self.ids.special[role] for role in ("mask", "unk", "pad")}) < 3:
            raise MorphGraphError(
                "the model has no ids of its own for a mask, padding and unknown characters. "
                "Choose a checkpoint that was trained with masks, or make one from scratch."
            )

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        rows, shown, labels = self.rows(keys), [], []
        for key, row in zip(keys, rows, strict=True):
            random = np.random.default_rng([self.seed, *key])
            inner = self._inner(row)
            at = inner[random.random(len(inner)) < self.masked]
            if not len(at):  # each window has something to predict
                at = random.choice(inner if len(inner) else [1], 1)
            fate = random.random(len(at))
            others = random.integers(0, self.ids.size, len(at))
            put = np.where(fate < 0.8, self.ids.special["mask"], row[at])
            shown.append(row.copy())
            shown[-1][at] = np.where(fate >= 0.9, others, put)
            labels.append(_only(row, at))
        return {**with_mask(shown, self.ids), "labels": padded(labels, IGNORED)}

    def each_once(self, keys: Sequence[Key]) -> Iterator[tuple[IdArray, dict[str, Any]]]:
        """Yield batches in which each row has one id masked (Salazar et al. 2020, §2.1)."""
        rows, owners = self.rows(keys), self.owners(keys)
        places = [(n, at) for n, row in enumerate(rows) for at in self._inner(row).tolist()]
        for start in range(0, len(places), _ROWS):
            chunk = places[start : start + _ROWS]
            shown = [rows[n].copy() for n, _ in chunk]
            for row, (_, at) in zip(shown, chunk, strict=True):
                row[at] = self.ids.special["mask"]
            labels = padded([_only(rows[n], [at]) for n, at in chunk], IGNORED)
            yield owners[[n for n, _ in chunk]], {**with_mask(shown, self.ids), "labels": labels}

    def _inner(self, row: IdArray) -> IdArray:
        """Return the places of a window's ids between the start and the end."""
        return np.arange(1, len(row) - int(row[-1] == self.ids.special["eos"]))


def _only(row: IdArray, places: Any) -> IdArray:
    labels = np.full(len(row), IGNORED, np.int64)
    labels[places] = row[places]
    return labels


class TextLosses(NamedTuple):
    """The summed negative log-likelihood of what was predicted of each text, and how much it was.

    ``nats``, ``predicted``: float64, an entry for each text.
    """

    nats: Nats
    predicted: Nats


def text_losses(model: Any, windows: Windows, size: int, *, each_once: bool) -> TextLosses:
    """Return what a model loses on texts.

    ``each_once``: on every id, a masked one with all others shown, which gives the
    pseudo-log-likelihood; otherwise on those of a batch in training.
    """
    import torch

    count = int(windows.texts.max(initial=-1)) + 1
    losses = TextLosses(np.zeros(count), np.zeros(count))
    wanted: Any = None

    def chosen(_: Any, inputs: Any) -> Any:
        return (inputs[0][wanted], *inputs[1:])

    # The projection to all types, which costs most, is only made of what is asked.
    projection = model.get_output_embeddings()
    hook = None if projection is None else projection.register_forward_pre_hook(chosen)
    try:
        with torch.no_grad():
            for keys in in_batches(windows.lengths, size):
                alone = [(windows.owners(keys), windows.batch(keys))]
                for owners, batch in windows.each_once(keys) if each_once else alone:
                    inputs = {name: value.to(model.device) for name, value in batch.items()}
                    labels = inputs.pop("labels")
                    wanted = torch.zeros_like(labels, dtype=torch.bool)
                    last = labels.shape[1] - windows.shift
                    wanted[:, :last] = labels[:, windows.shift :] != IGNORED
                    logits = model(**inputs).logits
                    logits = (logits[wanted] if logits.dim() == 3 else logits).float()
                    asked = labels[:, windows.shift :][wanted[:, :last]]
                    nats = torch.nn.functional.cross_entropy(logits, asked, reduction="none")
                    rows = owners[wanted.nonzero()[:, 0].cpu().numpy()]
                    np.add.at(losses.nats, rows, nats.double().cpu().numpy())
                    np.add.at(losses.predicted, rows, 1.0)
    finally:
        if hook is not None:
            hook.remove()
    return losses

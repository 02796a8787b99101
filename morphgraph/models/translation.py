"""Translation of texts: chrF and BLEU, computed by sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from morphgraph.models.examples import ParallelTexts, read_parallel
from morphgraph.models.presets import make_model
from morphgraph.models.task import (
    COMMON,
    UNCOVERED,
    DownstreamTask,
    Measured,
    TaskMetric,
    TaskRun,
    TrainingSettings,
)
from morphgraph.models.token_ids import IdArray, TokenIds, decoded, framed, sample_count
from morphgraph.models.training import IGNORED, Key, as_inputs, fit, in_batches, padded


class TranslationSettings(TrainingSettings):
    """Two files: texts, and their translations line by line."""

    beams: int = Field(
        default=1, ge=1, le=100, description="Beams of the search for a translation; 1 is greedy."
    )


@dataclass(frozen=True)
class _Pairs:
    train: ParallelTexts
    test: ParallelTexts
    dev: ParallelTexts | None


def _read(settings: TranslationSettings) -> _Pairs:
    train, most = read_parallel(settings.train), settings.most
    dev = None if settings.dev is None else read_parallel(settings.dev)
    train = ParallelTexts(train.sources[:most], train.targets[:most])
    return _Pairs(train, read_parallel(settings.test), dev)


@dataclass(frozen=True)
class _Translations:
    """Pairs of texts as batches; the decoder reads its targets shifted by one."""

    sources: Sequence[Sequence[IdArray]]
    targets: Sequence[Sequence[IdArray]]
    ids: TokenIds

    @property
    def lengths(self) -> IdArray:
        pairs = zip(self.sources[0], self.targets[0], strict=True)
        return np.array([len(source) + len(target) for source, target in pairs], np.int64)

    def inputs(self, keys: Sequence[Key]) -> dict[str, Any]:
        """Return the texts to translate."""
        rows = [self.sources[number % len(self.sources)][index] for index, number in keys]
        return as_inputs(rows, self.ids.special["pad"])

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        rows = [self.targets[number % len(self.targets)][index] for index, number in keys]
        return {
            **self.inputs(keys),
            "decoder_input_ids": padded([row[:-1] for row in rows], self.ids.special["pad"]),
            "labels": padded([row[1:] for row in rows], IGNORED),
        }


def _run(run: TaskRun) -> list[Measured]:
    data: _Pairs = run.examples
    settings: TranslationSettings = run.settings

    def pairs(part: ParallelTexts, ids: TokenIds, draws: int = 1) -> _Translations:
        most = settings.max_tokens
        sources = [framed(rows, ids, most) for rows in ids.encode(part.sources, draws)]
        targets = [framed(rows, ids, most) for rows in ids.encode(part.targets, draws)]
        return _Translations(sources, targets, ids)

    plain = run.ids.plain()
    train = pairs(data.train, run.ids, sample_count(run.ids, settings.epochs))
    dev = None if data.dev is None else pairs(data.dev, plain)
    fitted = fit(make_model("translation", run), train, settings, run.seed, run.folder, dev)
    written = _translated(fitted.model, pairs(data.test, plain), settings)
    lost = plain.uncovered([*data.test.sources, *data.test.targets])
    return [
        *translation_scores(written, data.test.targets),
        *fitted.facts(),
        Measured(UNCOVERED.key, lost, 2 * len(data.test.sources)),
    ]


def translation_scores(written: Sequence[str], targets: Sequence[str]) -> list[Measured]:
    """Return chrF and BLEU of translations, from 0 to 100, with sacrebleu's defaults."""
    from sacrebleu.metrics import BLEU, CHRF

    found = []
    for name, metric in (("chrf", CHRF()), ("bleu", BLEU())):
        score = metric.corpus_score(list(written), [list(targets)]).score
        found.append(Measured(name, float(score), len(targets)))
    return found


def _translated(model: Any, test: _Translations, settings: TranslationSettings) -> list[str]:
    import torch

    special, by_id = test.ids.special, test.ids.by_id
    written = [""] * len(test.lengths)
    with torch.no_grad():
        for keys in in_batches(test.lengths, settings.batch_size):
            inputs = {name: value.to(model.device) for name, value in test.inputs(keys).items()}
            width = inputs["input_ids"].shape[1]
            found = model.generate(
                **inputs,
                num_beams=settings.beams,
                do_sample=False,
                max_new_tokens=min(settings.max_tokens - 2, 2 * width + 10),
                decoder_start_token_id=special["bos"],
                eos_token_id=special["eos"],
                pad_token_id=special["pad"],
            )
            for (index, _), row in zip(keys, found.tolist(), strict=True):
                end = row.index(special["eos"], 1) if special["eos"] in row[1:] else len(row)
                pieces = [by_id[number] for number in row[1:end] if number in by_id]
                written[index] = decoded(pieces, test.ids.segmenter)
    return written


TRANSLATION = DownstreamTask(
    "translation",
    "Translation",
    "Texts are translated by an encoder and a decoder that share one vocabulary.",
    TranslationSettings,
    (TaskMetric("chrf", "chrF", "ratio", 1), TaskMetric("bleu", "BLEU", "ratio", 1), *COMMON),
    _read,
    _run,
    speed=6_000,
)

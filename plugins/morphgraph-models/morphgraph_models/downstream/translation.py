"""Translation, by an encoder and a decoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from morphgraph.batch.downstream import Measured
from morphgraph.tables.model import Column
from morphgraph_models.downstream.examples import (
    Examples,
    TrainingSettings,
    read_parallel,
    read_parts,
)
from morphgraph_models.downstream.fitting import (
    IGNORED,
    Batches,
    Key,
    fitted_on,
    in_batches,
    padded,
)
from morphgraph_models.downstream.model_task import COMMON, ModelRun, model_task
from morphgraph_models.downstream.token_ids import IdArray, TokenIds, decoded, framed


@dataclass(frozen=True)
class _Translations(Batches):
    """Pairs of texts; the decoder reads its targets shifted by one."""

    targets: Batches

    @property
    def lengths(self) -> IdArray:
        return super().lengths + self.targets.lengths

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        rows = self.targets.rows(keys)
        return {
            **self.inputs(keys),
            "decoder_input_ids": padded([row[:-1] for row in rows], self.ids.special["pad"]),
            "labels": padded([row[1:] for row in rows], IGNORED),
        }


def _run_translation(run: ModelRun) -> list[Measured]:
    data, settings = run.examples, run.settings

    def batches(part: Examples, ids: TokenIds, draws: int = 1) -> _Translations:
        sources, targets = (
            [framed(rows, ids, settings.max_tokens) for rows in ids.encode(texts, draws)]
            for texts in part
        )
        return _Translations(sources, ids, Batches(targets, ids))

    fitted = fitted_on(run, "translation", batches)
    sources, targets = data.test
    written = _translated(fitted.model, batches(data.test, run.ids.plain()), settings)
    lost = run.uncovered([*sources, *targets])
    return [*translation_scores(written, targets), *fitted.facts(), lost]


def translation_scores(written: Sequence[str], targets: Sequence[str]) -> list[Measured]:
    """Return chrF and BLEU of translations, from 0 to 100, with sacrebleu's defaults."""
    from sacrebleu.metrics import BLEU, CHRF

    scores = []
    for name, metric in (("chrf", CHRF()), ("bleu", BLEU())):
        score = metric.corpus_score(list(written), [list(targets)]).score
        scores.append(Measured(name, float(score), len(targets)))
    return scores


def _translated(model: Any, test: _Translations, settings: TrainingSettings) -> list[str]:
    import torch

    special, by_id = test.ids.special, test.ids.by_id
    written = [""] * len(test.lengths)
    with torch.no_grad():
        for keys in in_batches(test.lengths, settings.batch_size):
            inputs = {name: value.to(model.device) for name, value in test.inputs(keys).items()}
            width = inputs["input_ids"].shape[1]
            generated = model.generate(
                **inputs,
                num_beams=1,
                do_sample=False,
                max_new_tokens=min(settings.max_tokens - 2, 2 * width + 10),
                decoder_start_token_id=special["bos"],
                eos_token_id=special["eos"],
                pad_token_id=special["pad"],
            )
            for (index, _), row in zip(keys, generated.tolist(), strict=True):
                end = row.index(special["eos"], 1) if special["eos"] in row[1:] else len(row)
                pieces = [by_id[number] for number in row[1:end] if number in by_id]
                written[index] = decoded(pieces, test.ids.segmenter)
    return written


TRANSLATION = model_task(
    "Translation",
    "Texts are translated by an encoder and a decoder that share one vocabulary.",
    TrainingSettings,
    {"chrf": Column("chrF", "ratio", 1), "bleu": Column("BLEU", "ratio", 1), **COMMON},
    lambda given: read_parts(given, read_parallel),
    _run_translation,
    speed=6_000,
)

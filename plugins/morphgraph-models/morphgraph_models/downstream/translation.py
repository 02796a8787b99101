"""Translation, by an encoder and a decoder, tested against another system's translations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from morphgraph.batch.downstream import Measured
from morphgraph.core.errors import MorphGraphError
from morphgraph.tables.model import Column
from morphgraph_models.downstream.examples import (
    Examples,
    TaskParts,
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
from morphgraph_models.downstream.token_ids import (
    ROLES,
    IdArray,
    TokenIds,
    decoded,
    dense_ids,
    framed,
)


class TranslationSettings(TrainingSettings):
    """Two files of parallel texts, and how vocabularies and the search are."""

    vocabularies: Literal["joint", "separate"] = Field(
        "joint",
        description="One vocabulary for both sides, or a second one for the target side. It is "
        "trained on the target's file; the corpus is then the source side alone.",
    )
    beams: int = Field(1, ge=1, le=64, description="Translations kept while searching.")


# ------------------------------------------------------------------------------ vocabularies


class Sides(NamedTuple):
    """The ids of source texts and of target texts, in one matrix of rows."""

    source: TokenIds
    target: TokenIds

    def plain(self) -> "Sides":
        """The same without sampling."""
        return Sides(self.source.plain(), self.target.plain())


def in_one_matrix(source: TokenIds, target: TokenIds) -> Sides:
    """Return two vocabularies as parts of one matrix; they share the special ids alone.

    Both are of `dense_ids`; the target's follow the source's.
    """
    shift, size = source.size - len(ROLES), source.size + target.size - len(ROLES)
    moved = replace(
        target,
        numbers=np.where(target.numbers < 0, -1, target.numbers + shift),
        size=size,
        by_id={number + shift: text for number, text in target.by_id.items()},
    )
    return Sides(replace(source, size=size), moved)


def _sides(run: ModelRun) -> Sides:
    settings: TranslationSettings = run.settings
    if settings.vocabularies == "joint":
        return Sides(run.ids, run.ids)
    if run.retrain is None or run.segmenter is not run.base or settings.model is not None:
        raise MorphGraphError(
            "separate vocabularies are for tokenisers that are trained here, by their own method, "
            "and for models made from scratch. Set vocabularies: joint."
        )
    return in_one_matrix(run.ids, dense_ids(run.retrain(settings.train[1:])))


# ------------------------------------------------------------------------------ examples


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


def _read(settings: TranslationSettings) -> TaskParts:
    return read_parts(settings, read_parallel)


def _run(run: ModelRun) -> list[Measured]:
    data, settings, sides = run.examples, run.settings, _sides(run)

    def batches(part: Examples, sides: Sides, draws: int = 1) -> _Translations:
        sources, targets = (
            [framed(rows, ids, settings.max_tokens) for rows in ids.encode(texts, draws)]
            for ids, texts in zip(sides, part, strict=True)
        )
        return _Translations(sources, sides.source, Batches(targets, sides.target))

    def trained(part: Examples, _: TokenIds, draws: int) -> _Translations:
        return batches(part, sides, draws)

    def apart(model: Any) -> None:
        if settings.vocabularies == "separate":  # types of the source side are never written
            first, last = len(ROLES), run.ids.size
            model.final_logits_bias[0, first:last] = _NEVER

    fitted = fitted_on(replace(run, ids=sides.source), "translation", trained, prepare=apart)
    sources, targets = data.test
    written = _translated(fitted.model, batches(data.test, sides.plain()), settings)
    run.keep(written)
    lost = replace(run, ids=sides.target).uncovered(targets)
    if settings.vocabularies == "joint":
        lost = run.uncovered([*sources, *targets])
    return [*translation_scores(written, targets, run.baseline), *fitted.facts(), lost]


_NEVER = -1e9
"""What is added to the logits of types that are never written."""


def _translated(model: Any, test: _Translations, settings: TranslationSettings) -> list[str]:
    import torch

    ids = test.targets.ids
    special, by_id = ids.special, ids.by_id
    written = [""] * len(test.lengths)
    with torch.no_grad():
        for keys in in_batches(test.lengths, settings.batch_size):
            inputs = {name: value.to(model.device) for name, value in test.inputs(keys).items()}
            width = inputs["input_ids"].shape[1]
            generated = model.generate(
                **inputs,
                num_beams=settings.beams,
                do_sample=False,
                max_new_tokens=min(settings.max_tokens - 2, 2 * width + 10),
                decoder_start_token_id=special["bos"],
                eos_token_id=special["eos"],
                pad_token_id=special["pad"],
            )
            for (index, _), row in zip(keys, generated.tolist(), strict=True):
                end = row.index(special["eos"], 1) if special["eos"] in row[1:] else len(row)
                pieces = [by_id[number] for number in row[1:end] if number in by_id]
                written[index] = decoded(pieces, ids.segmenter)
    return written


# ------------------------------------------------------------------------------ scores


def translation_scores(
    written: Sequence[str], targets: Sequence[str], baseline: Sequence[str] | None = None
) -> list[Measured]:
    """Return chrF and BLEU of translations, from 0 to 100, with sacrebleu's defaults.

    Intervals and, against the translations of a ``baseline``, p-values are by its paired bootstrap
    of 1,000 resamples (Koehn 2004).
    """
    from sacrebleu.metrics import BLEU, CHRF
    from sacrebleu.significance import PairedTest

    systems = [("baseline", list(written if baseline is None else baseline))]
    systems += [] if baseline is None else [("system", list(written))]
    metrics: dict[str, Any] = {"chrf": CHRF(), "bleu": BLEU()}
    _, scores = PairedTest(systems, metrics, [list(targets)], test_type="bs")()
    _, chrf, bleu = ([*column][-1] for column in scores.values())
    return [
        Measured(
            name,
            float(found.score),
            len(targets),
            float(found.mean - found.ci),
            float(found.mean + found.ci),
            p=np.nan if found.p_value is None else float(found.p_value),
        )
        for name, found in (("chrf", chrf), ("bleu", bleu))
    ]


TRANSLATION = model_task(
    "Translation",
    "Texts are translated by an encoder and a decoder, of one vocabulary or one each.",
    TranslationSettings,
    {"chrf": Column("chrF", "ratio", 1), "bleu": Column("BLEU", "ratio", 1), **COMMON},
    _read,
    _run,
    speed=6_000,
    compares=True,
)

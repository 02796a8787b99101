"""Segmentations that another program made, scored like those of a tokeniser."""

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.predictions import Predictions
from morphgraph.score.cuts import Cuts
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import Outcome
from morphgraph.tokeniser.tokeniser import base_name

_SHOWN = 3


def outcome_of_predictions(predictions: Predictions, gold_set: GoldSet, label: str = "") -> Outcome:
    """How a file cuts the words of a gold set; its tokens are the morphs, its |V| is undefined.

    `MorphGraphError` if it lacks a word: how many, and which first. None is ever left out silently.
    """
    words = dict.fromkeys(gold_set.texts)
    missing = [word for word in words if word not in predictions.entries]
    if missing:
        more = ", …" if len(missing) > _SHOWN else ""
        listed = ", ".join(f"“{word}”" for word in missing[:_SHOWN])
        raise MorphGraphError(
            f"{base_name(predictions.name)} lacks {len(missing):,} of the {len(words):,} words of "
            f"{base_name(gold_set.reference.name)}: {listed}{more}. Segment them too, or leave "
            "them out of the reference."
        )
    entries = tuple(predictions.entries[word] for word in gold_set.texts)
    cuts = Cuts.of(entry.morphs for entry in entries)
    return Outcome(
        gold_set,
        label or base_name(predictions.name),
        f"predictions:{base_name(predictions.name)}@{predictions.checksum}",
        None,
        cuts,
        cuts.counts + 1,
        np.zeros(len(cuts), np.int64),
        np.ones(int(gold_set.lengths.sum()) + 1, bool),
        predicted=entries,
    )

"""Scores of several tokenisers by the same gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from morphgraph.api.engine import Engine
from morphgraph.api.gold import Gold, read_gold
from morphgraph.core.errors import MorphGraphError, check_choice, check_list
from morphgraph.reference.predictions import Predictions
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, Scope, Weighting

if TYPE_CHECKING:
    from morphgraph.score.table import ScoreTable


def table_of(
    compared: Mapping[str, Engine | Predictions],
    gold: Gold,
    scope: Scope,
    weighting: Weighting,
    metrics: Sequence[str],
    baseline: int | None = None,
) -> ScoreTable:
    """The scores of each by its label; `MorphGraphError` if none can be scored."""
    from morphgraph.refine.learning import Entrant, learn_and_score
    from morphgraph.score.metrics import USUAL
    from morphgraph.score.table import ScoreTable, SegmentationFailure

    check_choice("scope", scope, SCOPES)
    check_choice("weighting", weighting, WEIGHTINGS)
    chosen = check_list(metrics, "scores") or USUAL
    gold_set = read_gold(gold)
    gold_set.weights(weighting)  # fails if there are no frequencies
    if not gold_set.has_gold(scope).any():
        raise MorphGraphError(
            f"{gold_set.reference.name} has no {scope} boundaries. Choose another scope."
        )
    entrants = [
        Entrant(label, made.segmenter, made.base)
        if isinstance(made, Engine)
        else Entrant(label, made)
        for label, made in compared.items()
    ]
    outcomes = learn_and_score(entrants, gold_set)
    failed = [outcome for outcome in outcomes if isinstance(outcome, SegmentationFailure)]
    if len(failed) == len(outcomes):
        raise MorphGraphError(f"{failed[0].label}: {failed[0].message}")
    return ScoreTable(outcomes, scope, weighting, chosen, baseline=baseline)

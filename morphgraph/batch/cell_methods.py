"""A method on a tokeniser: what comes out, what scores it, and what it reports about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morphgraph.batch.methods import AS_IT_IS
from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCounts
    from morphgraph.reference.predictions import Predictions
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.tokeniser.tokeniser import Tokeniser
    from morphgraph.tokeniser.words import Segmenter


@dataclass(frozen=True)
class MethodResult:
    """What a method made of a tokeniser, what scores it, and what it reports about itself."""

    segmenter: Segmenter | Predictions
    gold_set: GoldSet | None
    facts: Mapping[str, float]


def method_result(
    spec: Mapping[str, Any],
    base: Any,
    gold_set: GoldSet | None,
    counts: WordCounts | None,
) -> MethodResult:
    """What a cell's method makes of a tokeniser, which stays as it is, or of predictions.

    ``spec``: its ``method``, ``parameters``, ``seed``, and the share and seed of the words that are
    ``held_out`` or None. `MorphGraphError` for a method that does not go with the tokeniser.
    """
    from morphgraph.reference.predictions import Predictions
    from morphgraph.refine.registry import LEARNERS
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.registry import method_on

    method, parameters = spec["method"], dict(spec["parameters"])
    unseen = spec["held_out"]
    if spec["seed"] is not None:
        parameters["seed"] = spec["seed"]
    if method in LEARNERS:
        if gold_set is None:
            raise MorphGraphError(f"{method} needs a reference. Add references.")
        if unseen is not None:
            parameters |= {"holdout": unseen["share"], "seed": unseen["seed"]}
        settings = LEARNERS[method].settings(parameters)
        found = LEARNERS[method].learn(_merges_of(base, method), gold_set, settings)
        return MethodResult(Bte(found.tokeniser), found.scored, found.facts)
    if unseen is not None and gold_set is not None:
        gold_set = gold_set.hold_out(unseen["share"], unseen["seed"])
    if isinstance(base, Predictions):
        return MethodResult(base, gold_set, {})
    made = base if method == AS_IT_IS else method_on(base, method, parameters, counts)
    facts = {}
    if type(base) is Bte and isinstance(made, Bte):
        facts["merges"] = base.tokeniser.graph.merge_count
    return MethodResult(made, gold_set, facts)


def _merges_of(base: Segmenter, method: str) -> Tokeniser:
    from morphgraph.segment.bte import Bte

    if type(base) is not Bte:
        raise MorphGraphError(
            f"{method} needs a tokeniser of merges alone, which {base.name} is not. Say in the "
            f"method which tokenisers it is for."
        )
    return base.tokeniser

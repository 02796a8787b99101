"""A method on a tokeniser: what comes out, what scores it, and what it reports about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCounts
    from morphgraph.reference.predictions import Predictions
    from morphgraph.refine.learning import LearnerSettings
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.tokeniser.segmentation import Segmenter
    from morphgraph.tokeniser.tokeniser import Tokeniser


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
    from morphgraph.refine.learning import LEARNERS
    from morphgraph.segment.bte import Bte

    method, parameters = spec["method"], dict(spec["parameters"])
    unseen = spec["held_out"]
    if method in LEARNERS:
        if gold_set is None:
            raise MorphGraphError(f"{method} needs a reference. Add references.")
        tokeniser, scored, facts = _learned(spec, _merges_of(base, method), gold_set)
        return MethodResult(Bte(tokeniser), scored, facts)
    if unseen is not None and gold_set is not None:
        gold_set = gold_set.hold_out(unseen["share"], unseen["seed"])
    if isinstance(base, Predictions):
        return MethodResult(base, gold_set, {})
    if spec["seed"] is not None:
        parameters["seed"] = spec["seed"]
    made = _segmenter(method, parameters, base, counts)
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


def _segmenter(
    method: str, parameters: Mapping[str, Any], base: Segmenter, counts: WordCounts | None
) -> Segmenter:
    """A method that needs no reference, on a tokeniser."""
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.flota import First, Flota, Longest
    from morphgraph.segment.registry import method_on
    from morphgraph.segment.wordpiece import Greedy, VocabularySegmenter

    if method == "standard":
        return base
    if type(base) is Bte:
        return method_on(base.tokeniser, method, parameters, counts)
    if method == "first":
        return First(base, **parameters)
    if method == "longest":
        return Longest(base, **parameters)
    if not isinstance(base, VocabularySegmenter):
        _merges_of(base, method)
    vocabulary = base.vocabulary  # type: ignore[attr-defined]
    if method == "flota":
        return Flota(vocabulary, parameters["k"] or None, parameters.get("strict", False))
    if method == "greedy":
        return Greedy(vocabulary)
    _merges_of(base, method)
    raise AssertionError(method)


def _learned(
    spec: Mapping[str, Any], tokeniser: Tokeniser, gold_set: GoldSet
) -> tuple[Tokeniser, GoldSet, dict[str, float]]:
    """A tokeniser after BPE-knockout or ReBPE, and the words that these did not see, if asked."""
    from morphgraph.refine.learning import learn, learn_unseen

    settings = _settings(spec, tokeniser)
    unseen = spec["held_out"]
    if unseen is None:
        found = learn(tokeniser, gold_set, settings)
    else:
        found = learn_unseen(tokeniser, gold_set, settings, unseen["share"], unseen["seed"])
    return found.tokeniser, found.scored, dict(found.facts)


def _settings(spec: Mapping[str, Any], tokeniser: Tokeniser) -> LearnerSettings:
    from morphgraph.refine.baselines import percent_of_types
    from morphgraph.refine.learning import LEARNERS

    parameters = {**spec["parameters"], "seed": spec["seed"] or 0}
    if not parameters.pop("reify", True):
        parameters |= {"repair": False, "link": False, "expand": False}
    percent = parameters.pop("percent", None)
    if percent is not None:
        parameters["count"] = percent_of_types(tokeniser.graph, percent)
    return LEARNERS[spec["method"]](**parameters)

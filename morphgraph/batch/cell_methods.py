"""A method on a tokeniser: what comes out, what scores it, and what it tells of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morphgraph.errors import MorphGraphError

if TYPE_CHECKING:
    from morphgraph.evaluate.boundaries import Benchmark
    from morphgraph.evaluate.yardstick import Yardstick
    from morphgraph.files.tokeniser import Tokeniser
    from morphgraph.segment.segmentation import Segmenter
    from morphgraph.train.counts import WordCounts


@dataclass(frozen=True)
class Made:
    """What a method made of a tokeniser, what scores it, and what it tells of itself."""

    segmenter: Segmenter
    yardstick: Yardstick | None
    facts: Mapping[str, float]


def made_of(
    spec: Mapping[str, Any],
    base: Segmenter,
    yardstick: Yardstick | None,
    counts: WordCounts | None,
) -> Made:
    """What a cell's method makes of a tokeniser, which stays as it is.

    ``spec``: its ``method``, ``parameters`` and ``seed``. `MorphGraphError` for a method that does
    not go with the tokeniser.
    """
    from morphgraph.segment.bte import Bte

    method, parameters = spec["method"], dict(spec["parameters"])
    if method in ("knockout", "rebpe"):
        if yardstick is None:
            raise MorphGraphError(f"{method} needs a reference. Add references.")
        # The tokeniser is edited, and other cells start from it as it was.
        tokeniser = _merges_of(base, method).fork()
        return _refined(method, parameters, spec["seed"], tokeniser, yardstick)
    if spec["seed"] is not None:
        parameters["seed"] = spec["seed"]
    made = _segmenter(method, parameters, base, counts)
    facts: dict[str, float] = {}
    if type(base) is Bte and isinstance(made, Bte):
        facts["merges"] = base.tokeniser.graph.merge_count
    return Made(made, yardstick, facts)


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
    from morphgraph.evaluate.methods import method_on
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.flota import First, Flota, Longest
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
        return Flota(vocabulary, parameters["k"] or None)
    if method == "greedy":
        return Greedy(vocabulary)
    _merges_of(base, method)
    raise AssertionError(method)


def _refined(
    method: str,
    parameters: dict[str, Any],
    seed: int | None,
    tokeniser: Tokeniser,
    yardstick: Yardstick,
) -> Made:
    """A tokeniser after BPE-knockout or ReBPE, scored on what these did not see, if asked for."""
    from morphgraph.evaluate.boundaries import Benchmark
    from morphgraph.segment.bte import Bte

    benchmark = Benchmark.on(yardstick, tokeniser)
    parameters["seed"] = seed or 0
    run = _knocked_out if method == "knockout" else _rebpe
    scored, facts = run(tokeniser, benchmark, parameters)
    facts["merges"] = tokeniser.graph.merge_count
    return Made(Bte(tokeniser), scored, facts)


def _knocked_out(
    tokeniser: Tokeniser, benchmark: Benchmark, parameters: dict[str, Any]
) -> tuple[Benchmark, dict[str, float]]:
    from morphgraph.refine.baselines import percent_of_types
    from morphgraph.refine.knockout import KnockoutSettings, knock_out

    percent = parameters.pop("percent", None)
    if percent is not None:
        parameters["count"] = percent_of_types(tokeniser.graph, percent)
    result = knock_out(tokeniser, benchmark, KnockoutSettings(**parameters))
    facts = {
        "removed": len(result.removed),
        "dropout_rate": result.dropout_rate,
        "share_of_merges": result.share_of_merges,
    }
    return result.scored, facts


def _rebpe(
    tokeniser: Tokeniser, benchmark: Benchmark, parameters: dict[str, Any]
) -> tuple[Benchmark, dict[str, float]]:
    from morphgraph.refine.rebpe import ReBPERun, ReBPESettings

    if not parameters.pop("reify"):
        parameters |= {"repair": False, "link": False, "expand": False}
    run = ReBPERun(tokeniser, benchmark, ReBPESettings(**parameters))
    run.finish()
    facts: dict[str, float] = {
        "removed": sum(phase.counts.get("removed", 0) for phase in run.phases),
        # The last knockout of a run is counted as one iteration more.
        "iterations": min(max(p.iteration for p in run.phases), run.settings.iterations),
    }
    return run.scored, facts

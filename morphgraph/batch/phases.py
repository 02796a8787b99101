"""The phases of a run of ReBPE as results: scores, |V|, what changed, and what was knocked out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from morphgraph.graph.merge_table import ORIGINS
from morphgraph.refine.rebpe_run import follow_phases
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment

if TYPE_CHECKING:
    from morphgraph.graph.merge_graph import MergeGraph
    from morphgraph.refine.rebpe_run import ReBPERun
    from morphgraph.score.boundaries import BoundaryScore
    from morphgraph.score.gold_set import GoldSet

_CHANGES = {
    "anneal": ("annealed",),
    "knockout": ("removed", "split"),
    "reify": ("repaired", "linked", "created"),
    "portable": ("paired", "chained"),
}
Point = tuple[str, float, int, str]
"""A metric, its value, the step, and what the value is of, if the metric has several."""


def phase_scores(run: ReBPERun, gold_set: GoldSet) -> list[BoundaryScore]:
    """Score gold after each phase, whether the run learned from it or not, as the run scores it."""
    benchmark, settings = Benchmark.on(gold_set, run.tokeniser), run.settings

    def score(graph: MergeGraph) -> BoundaryScore:
        # Annealing completes the alphabet.
        words = benchmark.encoded_for(replace(run.tokeniser, graph=graph))
        segmented = segment(graph, words.words)
        return words.score(segmented, settings.scope, settings.weighting)

    return follow_phases(run, score)


def phase_points(run: ReBPERun, scores: Sequence[BoundaryScore]) -> Iterator[Point]:
    """Yield the figures of each phase.

    Steps are half-iterations: 0 is the start, 1 annealing, 2i the knockout of iteration i, 2i + 1
    its reification. A phase that a run does not have is no step of it. Source: Bauwens & de Lhoneux
    2026, Table 4, Figures 3 and 4.
    """
    steps = [2 * each.iteration + (each.kind not in ("start", "knockout")) for each in run.phases]
    for step, phase, score in zip(steps, run.phases, scores, strict=True):
        yield "phase_f1", score.f1, step, ""
        yield "phase_types", phase.vocabulary_size, step, ""
        for kind in _CHANGES.get(phase.kind, ()):
            yield "phase_changes", phase.counts.get(kind, 0), step, f"change={kind}"
        for origin in ORIGINS if phase.kind == "knockout" else ():
            yield "phase_removed", phase.removed_by_origin.get(origin, 0), step, f"origin={origin}"
    for step, (before, after) in zip(steps[1:], pairwise(scores), strict=True):
        yield "phase_gain", after.f1 - before.f1, step, ""

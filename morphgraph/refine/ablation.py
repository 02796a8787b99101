"""The contribution of each half of ReBPE: runs without annealing or reification.

Source: Bauwens & de Lhoneux 2026, Table 4.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark, BoundaryScore
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@dataclass(frozen=True)
class AblationCell:
    """The result of a run: its score, vocabulary size and number of iterations."""

    anneal: bool
    reify: bool
    score: BoundaryScore
    vocabulary_size: int
    iterations: int
    converged: bool


def ablation(
    tokeniser: BpeTokeniser,
    benchmark: Benchmark,
    settings: ReBPESettings,
    steps: Sequence[Mapping[str, Any]] = (),
    progress: Callable[[float], None] | None = None,
) -> list[AblationCell]:
    """Run ReBPE four times: annealing off and on, reification off and on.

    Each run is on a copy of the loaded tokeniser with the edits ``steps`` made first; the tokeniser
    itself is not changed. Where it is on, reification is as in ``settings``, or complete if they
    have it off.
    """
    cells = []
    for done, (anneal, reify) in enumerate((a, r) for a in (False, True) for r in (False, True)):
        chosen = settings.changed(anneal=anneal, reify=reify)
        if reify and not settings.reifies:
            chosen = chosen.changed(repair=True, link=True, expand=True)
        forked = tokeniser.fork()
        forked.graph.replay(steps)
        run = ReBPERun(forked, benchmark.encoded_for(forked), chosen)

        def advance(share: float, done: int = done) -> None:
            if progress:
                progress((done + share) / 4)

        run.finish(advance)
        last = run.phases[-1]
        cells.append(
            AblationCell(
                anneal,
                reify,
                last.score,
                last.vocabulary_size,
                max(phase.iteration for phase in run.phases),
                run.converged,
            )
        )
    return cells

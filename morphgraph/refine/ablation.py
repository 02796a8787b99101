"""What each half of ReBPE is worth: runs with and without annealing and reification.

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
    """How a run ends: its score, vocabulary size and number of iterations."""

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
    """Four runs to their end: annealing off and on, reification off and on.

    Each on a copy of the tokeniser as it was loaded, with the edits ``steps`` made first; the
    tokeniser itself is not changed. Where it is on, reification is as ``settings`` say, or whole if
    they have it off.
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

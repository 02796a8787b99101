"""What learned edits do to other words: they are learned again, without those that are scored.

The step of an edit that was learned from a reference says how (`BlameSettings.learned`). Such edits
are made again on the tokeniser as loaded, from the words that are not held out. Nothing is decided
on the held-out words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine import SHARE_HELD_OUT, KnockoutSettings, ReBPESettings
from morphgraph.refine.knockout import preview_knockout, seen_and_scored
from morphgraph.refine.learning import held_out_of
from morphgraph.refine.portable import preview_portable
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark, BoundaryScore
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_ORDER = ("anneal", "knockout", "cascade", "reify", "portable")
_Step = Mapping[str, Any]


@dataclass(frozen=True)
class HeldOut:
    """Scores on words that edits were not learned from, before these edits and after them.

    ``tokeniser``: the one whose edits were learned again, without those words. ``scored``: these
    words, encoded for it.
    """

    tokeniser: BpeTokeniser
    scored: Benchmark
    before: list[BoundaryScore]
    after: list[BoundaryScore]
    signature_before: str

    def scores(self, scope: Scope, weighting: Weighting) -> tuple[BoundaryScore, BoundaryScore]:
        """Return the scores of a scope and weighting, before and after."""
        before, after = (
            next(one for one in scores if (one.scope, one.weighting) == (scope, weighting))
            for scores in (self.before, self.after)
        )
        return before, after


def learned_steps(tokeniser: BpeTokeniser, gold_set: GoldSet) -> list[_Step]:
    """Return the edits of a tokeniser, since it was loaded, that were learned from a reference."""
    return [step for step in tokeniser.graph.recipe() if _mark(step, gold_set)]


def split_of(tokeniser: BpeTokeniser, gold_set: GoldSet) -> tuple[float, int]:
    """Return the share and the seed with which all was learned, else the usual ones."""
    learned = learned_steps(tokeniser, gold_set)
    seed = _mark(learned[-1], gold_set)["settings"].get("seed", 0) if learned else 0
    return (*held_out_of(tokeniser, gold_set), (SHARE_HELD_OUT, seed))[0]


def held_out(
    tokeniser: BpeTokeniser,
    gold_set: GoldSet,
    share: float | None = None,
    seed: int | None = None,
    *,
    edits_before: int = 0,
) -> HeldOut:
    """Learn the edits of a tokeniser again without a share of the words, and score these.

    By default the share and the seed are those with which all was learned, else 20 % and the
    seed of the settings. ``before``: after the first ``edits_before`` edits. The tokeniser itself
    is not changed. `MorphGraphError` where it cannot be learned again, as one that was saved after
    it had seen the words, and where the words are too few.
    """
    if not learned_steps(tokeniser, gold_set) and not held_out_of(tokeniser, gold_set):
        raise MorphGraphError(
            "The edits do not say how they were learned. Open the tokeniser as it was before, and "
            "learn them again."
        )
    usual = split_of(tokeniser, gold_set)
    share = usual[0] if share is None else share
    seed = usual[1] if seed is None else seed
    words = gold_set.hold_out(share, seed)
    steps = tokeniser.graph.recipe()
    start = _again(tokeniser, gold_set, steps[:edits_before], share, seed)
    twin = _again(tokeniser, gold_set, steps, share, seed)
    first, scored = Benchmark.on(words, start), Benchmark.on(words, twin)
    return HeldOut(
        twin,
        scored,
        first.scores(segment(start.graph, first.words)),
        scored.scores(segment(twin.graph, scored.words)),
        first.signature(start),
    )


def _mark(step: _Step, gold_set: GoldSet) -> dict[str, Any]:
    """Return how an edit was learned from this reference; empty if it was not."""
    mark: dict[str, Any] = step.get("learned", {})
    return mark if mark.get("reference") == gold_set.reference.checksum else {}


def _again(
    tokeniser: BpeTokeniser, gold_set: GoldSet, steps: Sequence[_Step], share: float, seed: int
) -> BpeTokeniser:
    """Make edits again, those learned from the reference from the words that are not held out."""
    twin, main = tokeniser.fork(), tokeniser.fork()
    benchmark, drawn = Benchmark.on(gold_set, twin), {"holdout": share, "seed": seed}
    run, own, done = None, ReBPESettings(), (0, 0)
    for step in steps:
        mark = _mark(step, gold_set)
        phase = mark.get("iteration", -1), _ORDER.index(step["edit"]) if mark else 0
        if run is not None and phase <= done and _is_over(main, benchmark, own):
            run.finish()
        if phase[0] >= 0:
            own = ReBPESettings(**mark["settings"])
            settings = own.changed(**drawn)
            if run is None or run.settings != settings or phase <= done:
                run = ReBPERun(twin, benchmark.encoded_for(twin), settings)
            while run.upcoming and (run.upcoming[0], _ORDER.index(run.upcoming[1])) <= phase:
                run.step()
            done = phase
        elif mark:
            _learn(twin, benchmark.encoded_for(twin), step["edit"], mark["settings"] | drawn)
        else:
            _repeat(twin.graph, step)
        main.graph.replay([step])
    if run is not None and _is_over(main, benchmark, own):
        run.finish()
    return twin


def _is_over(main: BpeTokeniser, benchmark: Benchmark, settings: ReBPESettings) -> bool:
    """Whether a run of ReBPE with these settings leaves a tokeniser as it is."""
    benchmark = benchmark.encoded_for(main)
    seen, _ = seen_and_scored(benchmark, settings)
    words = segment(main.graph, benchmark.words)
    change, _ = preview_knockout(main, benchmark, words, settings.knockout(), seen)
    return change.is_empty and not (settings.portable and main.graph.has_tuples)


def _learn(twin: BpeTokeniser, benchmark: Benchmark, edit: str, given: _Step) -> None:
    """Learn one edit, from the words that are not held out."""
    settings = KnockoutSettings(**given)
    seen, _ = seen_and_scored(benchmark, settings)
    if edit == "portable":
        change = preview_portable(twin.graph, benchmark, settings, seen)
    else:
        words = segment(twin.graph, benchmark.words)
        change, _ = preview_knockout(twin, benchmark, words, settings, seen)
    twin.graph.apply(change)


def _repeat(graph: MergeGraph, step: _Step) -> None:
    """Make an edit that was chosen by hand; types that another edit has not left are not there."""
    if "types" in step:
        step = {**step, "types": [text for text in step["types"] if text in graph]}
        if not step["types"]:
            return
    graph.replay([step])

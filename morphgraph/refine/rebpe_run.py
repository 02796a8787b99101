"""A run of ReBPE on a tokeniser: its phases with undo, redo and scores, its history, ablations."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, TypeVar

from morphgraph.core.system import without_collection
from morphgraph.graph.atoms import TypeAtoms
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Origin, Parts
from morphgraph.refine import ReBPESettings
from morphgraph.refine.blame import Blame
from morphgraph.refine.knockout import preview_knockout
from morphgraph.refine.portable_edits import preview_portable
from morphgraph.refine.rebpe import (
    PhaseKind,
    Step,
    preview_annealing,
    preview_reification,
    rebpe,
)
from morphgraph.score.boundaries import Benchmark, BoundaryScore, or_none
from morphgraph.tokeniser.merging import MergeSegmentation, segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@dataclass(frozen=True)
class Phase:
    """One phase of a run, and the state after it.

    ``iteration``: 0 for the start and annealing. ``counts``: what changed, by kind (see
    `Change.counts`). ``removed_by_origin``: the merges knocked out, by their origin. ``blame``: N
    and B of each, by which they were chosen. ``score``: on the reference, with the run's scope and
    weighting. ``tokens``: of the words scored.
    """

    iteration: int
    kind: PhaseKind
    change: Change
    vocabulary_size: int
    merges: int
    score: BoundaryScore
    tokens: int
    removed_by_origin: Mapping[Origin, int] = field(default_factory=dict)
    blame: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """What changed, by kind, without zeros."""
        return self.change.counts()

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data; undefined scores are null."""
        return {
            "iteration": self.iteration,
            "phase": self.kind,
            "vocab_size": self.vocabulary_size,
            "merges": self.merges,
            "precision": or_none(self.score.precision),
            "recall": or_none(self.score.recall),
            "f1": or_none(self.score.f1),
            "tokens": self.tokens,
            "changes": self.counts,
            "removed_by_origin": dict(self.removed_by_origin),
            "seconds": self.seconds,
        }


class ReBPERun:
    """A run of ReBPE on a tokeniser, in place, phase by phase.

    It learns from all words of ``benchmark``; phases are scored on ``scored``, by default the same.
    Each phase that changes something is one edit of the graph, which can be undone; the run resumes
    from any such state. Iterating over a run performs the remaining phases.
    """

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        benchmark: Benchmark,
        settings: ReBPESettings | None = None,
        scored: Benchmark | None = None,
    ) -> None:
        self.tokeniser = tokeniser
        self.settings = settings or ReBPESettings()
        self._benchmark = benchmark
        self._scored = None if scored is benchmark else scored
        self._atoms = TypeAtoms()
        self.all_phases: list[Phase] = []
        """The phases performed, including those undone since, which redo would restore."""
        self.edits_before = len(self.graph.history)
        """The number of edits of the graph when the run began."""
        self._cursor = 0
        self._begun_from = self.graph.numbered
        started = time.perf_counter()
        self._record((0, "start"), Change({"edit": "start"}), None, started)

    @property
    def graph(self) -> MergeGraph:
        """The graph that is edited."""
        return self.tokeniser.graph

    @property
    def benchmark(self) -> Benchmark:
        """The words learned from, encoded with the present alphabet."""
        self._benchmark = self._benchmark.encoded_for(self.tokeniser)
        return self._benchmark

    @property
    def scored(self) -> Benchmark:
        """The words scored: those kept aside, or the same."""
        if self._scored is None:
            return self.benchmark
        self._scored = self._scored.encoded_for(self.tokeniser)
        return self._scored

    def _segmented(self, benchmark: Benchmark) -> MergeSegmentation:
        """The words of a benchmark, segmented by the present merges."""
        question = "segmentation", benchmark.identity
        return self.graph.derived(question, lambda: segment(self.graph, benchmark.words))

    # ------------------------------------------------------------------------------- doing it

    @property
    def upcoming(self) -> Step | None:
        """The iteration and kind of the next phase; None if none remains."""
        return self._algorithm()[0]

    @property
    def converged(self) -> bool:
        """Whether it ended by itself: the last iteration changed nothing."""
        return self._algorithm()[1]

    def _algorithm(self) -> tuple[Step | None, bool]:
        """Replay the algorithm; return the next phase, and whether it has converged."""
        steps = rebpe(self.settings)
        try:
            upcoming = next(steps)
            for phase in self.phases[1:]:
                upcoming = steps.send(phase.change)
        except StopIteration as end:
            return None, bool(end.value)
        return upcoming, False

    @without_collection()
    def step(self) -> Phase | None:
        """Perform the next phase; None if there is none."""
        upcoming = self.upcoming
        if upcoming is None:
            return None
        position = self._position()
        if position < len(self.all_phases):
            # Redo must not restore phases that the run has dropped.
            del self.all_phases[position:]
            self.graph.forget_undone()
        started = time.perf_counter()
        change, blamed = self._preview(upcoming[1])
        change = self.settings.learned(change, self._benchmark)
        return self._record(upcoming, self.graph.apply(change), blamed, started)

    def __iter__(self) -> Iterator[Phase]:
        while phase := self.step():
            yield phase

    def finish(self, progress: Callable[[float], None] | None = None) -> list[Phase]:
        """Perform all remaining phases; ``progress`` receives numbers from 0 to 1."""
        phases = []
        for phase in self:
            phases.append(phase)
            if progress:
                # The number of iterations is unknown in advance, so the bar approaches its end.
                progress(1 - 0.8**phase.iteration)
        if progress:
            progress(1.0)
        return phases

    def _preview(self, kind: PhaseKind) -> tuple[Change, Blame | None]:
        """Return what a phase would change, and the blame behind a knockout."""
        settings, benchmark = self.settings, self.benchmark
        if kind == "knockout":
            words, chosen = self._segmented(benchmark), settings.knockout()
            return preview_knockout(self.tokeniser, benchmark, words, chosen)
        if kind == "anneal":
            return preview_annealing(self.tokeniser, benchmark, settings), None
        if kind == "portable":
            return preview_portable(self.graph, benchmark, settings), None
        which = {name: getattr(settings, name) for name in ("repair", "link", "expand")}
        blacklist = self._blacklist()
        return preview_reification(self.graph, blacklist, atoms=self._atoms, **which), None

    def _blacklist(self) -> set[Parts]:
        """The parts of all merges knocked out in this run."""
        return {
            merge.parts
            for phase in self.phases
            if phase.kind == "knockout"
            for merge in phase.change.removed_merges.values()
        }

    def _record(self, step: Step, change: Change, blamed: Blame | None, started: float) -> Phase:
        settings, words = self.settings, self._segmented(self.scored)
        score = self.scored.score(words, settings.scope, settings.weighting)
        removed = change.removed_merges
        phase = Phase(
            *step,
            change,
            self.tokeniser.vocabulary_size,
            self.graph.merge_count,
            score,
            words.token_count,
            Counter(self.graph.origin(merge) for merge in removed),
            {} if blamed is None else {merge: blamed.counts(merge) for merge in removed},
            time.perf_counter() - started,
        )
        self.all_phases.append(phase)
        self._cursor = len(self.all_phases)
        return phase

    # ------------------------------------------------------------------------------- where it is

    @property
    def phases(self) -> list[Phase]:
        """The phases in effect: those performed and not undone."""
        return self.all_phases[: self._position()]

    @property
    def tokens_added(self) -> float:
        """How many more tokens the words scored have now than at the start, as a share."""
        first, last = self.phases[0].tokens, self.phases[-1].tokens
        return last / first - 1 if first else math.nan

    def _position(self) -> int:
        """The number of phases in effect.

        It is as set by `go_to`, unless undo or redo elsewhere has moved the graph since. Phases
        that changed nothing leave no trace in the graph, so only the stored position counts them.
        """
        in_effect = {id(change) for change in self.graph.history}
        least = most = 0
        for number, phase in enumerate(self.all_phases, start=1):
            if phase.change.is_empty:
                most = number
            elif id(phase.change) in in_effect:
                least = most = number
            else:
                break
        return min(max(self._cursor, least), most)

    @property
    def is_stale(self) -> bool:
        """Whether the run can no longer resume from the state of the graph.

        Edits before its start were undone or replaced, or the run is at its start and other edits
        were made since, so that its start describes another state.
        """
        graph, before = self.graph, self.edits_before
        if len(graph.history) < before or graph.numbered_after(before) != self._begun_from:
            return True
        return self._position() == 1 and len(graph.history) != before

    def go_to(self, position: int) -> None:
        """Undo or redo until ``position`` phases are in effect, including edits in between."""
        position = min(max(position, 1), len(self.all_phases))
        wanted = {id(p.change) for p in self.all_phases[:position] if not p.change.is_empty}
        others = {id(p.change) for p in self.all_phases[position:] if not p.change.is_empty}
        graph = self.graph
        while others & {id(change) for change in graph.history}:
            graph.undo()
        while graph.undone and wanted - {id(change) for change in graph.history}:
            graph.redo()
        self._cursor = position


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
    progress: Callable[[float], None] = lambda share: None,
    scored: Benchmark | None = None,
) -> list[AblationCell]:
    """Run ReBPE four times: annealing off and on, reification off and on.

    Each run is on a copy of the loaded tokeniser with the edits ``steps`` made first; the tokeniser
    itself is not changed. Where it is on, reification is as in ``settings``, or complete if they
    have it off. ``scored``: as of a run. Source: Bauwens & de Lhoneux 2026, Table 4.
    """
    cells = []
    for done, (anneal, reify) in enumerate(product((False, True), repeat=2)):
        chosen = settings.changed(anneal=anneal, reify=reify)
        if reify and not settings.reifies:
            chosen = chosen.changed(repair=True, link=True, expand=True)
        forked = tokeniser.fork()
        forked.graph.replay(steps)
        run = ReBPERun(forked, benchmark.encoded_for(forked), chosen, scored)
        run.finish(lambda share, done=done: progress((done + share) / 4))  # type: ignore[misc]
        last = run.phases[-1]
        iterations = max(phase.iteration for phase in run.phases)
        state = (last.score, last.vocabulary_size, iterations, run.converged)
        cells.append(AblationCell(anneal, reify, *state))
    return cells


# ------------------------------------------------------------------------------- its history


MergeChange = Literal[
    "annealed",
    "removed",
    "split",
    "repaired",
    "linked",
    "created",
    "shortened",
    "paired",
    "chained",
]
T = TypeVar("T")


def follow_phases(run: ReBPERun, look: Callable[[MergeGraph], T]) -> list[T]:
    """Return ``look`` of the graph after each phase in effect, the start included.

    One copy of the graph is undone further each time, so results must not refer to it.
    """
    numbers = range(len(run.graph.history), run.edits_before - 1, -1)
    states = zip(numbers, run.graph.states_back(), strict=False)
    looks = {edits: look(graph) for edits, graph in states}
    return [looks[edits] for edits in edits_after(run)[: len(run.phases)]]


def edits_after(run: ReBPERun) -> list[int]:
    """Return the number of edits right after each phase, the start included, also undone ones."""
    changes = (*run.graph.history, *reversed(run.graph.undone))
    position = {id(change): number for number, change in enumerate(changes, start=1)}
    edits = [run.edits_before]
    for phase in run.all_phases[1:]:
        edits.append(position.get(id(phase.change), edits[-1]))
    return edits


@dataclass(frozen=True)
class ChangedMerge:
    """One merge that an edit changed.

    ``before`` and ``after`` are its parts, ids of types; empty before it existed or once removed.
    ``also``: merges changed with it: the tuple merges that a linked or created one is in.
    """

    kind: MergeChange
    merge: int
    result: int
    rank: int
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    also: int = 0


def changed_merges(graph: MergeGraph, change: Change) -> list[ChangedMerge]:
    """Return every merge that a change touched, by kind, in order.

    ``graph`` is as right after the change: its ranks are those shown.
    """
    changed = []
    created = {entry.merge for entry in change.reified if entry.created}
    for number, merge in change.added_merges.items():
        if number not in created:
            rank, parts, result = merge
            added_as: MergeChange = "chained" if change.edit == "portable" else "annealed"
            changed.append(ChangedMerge(added_as, number, result, rank, (), parts))
    for number, (rank, parts, result) in change.removed_merges.items():
        changed.append(ChangedMerge("removed", number, result, rank, parts))
    for number, is_new, tuple_merges in change.reified:
        rank, parts, result = change.added_merges.get(number) or graph.merge(number)
        kind: MergeChange = "created" if is_new else "linked"
        before, also = (() if is_new else parts), len(tuple_merges)
        changed.append(ChangedMerge(kind, number, result, rank, before, parts, also))
    kinds: dict[str, MergeChange]
    kinds = {"knockout": "split", "repair": "repaired", "reify": "shortened", "portable": "paired"}
    for number, old, new, cause in change.rewired:
        rank, _, result = graph.merge(number)
        changed.append(ChangedMerge(kinds[cause], number, result, rank, old, new))
    return changed

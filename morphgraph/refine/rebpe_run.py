"""A run of ReBPE on a tokeniser, phase by phase, with undo, redo and scores."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.graph.change import Change, Origin
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.plans import Parts
from morphgraph.graph.type_atoms import TypeAtoms
from morphgraph.refine.anneal import preview_annealing
from morphgraph.refine.blame import Blame
from morphgraph.refine.knockout import preview_knockout
from morphgraph.refine.rebpe import PhaseKind, ReBPESettings, Step, rebpe
from morphgraph.refine.reify import preview_reification
from morphgraph.score.boundaries import Benchmark, BoundaryScore, or_none
from morphgraph.score.gold_set import split_entries
from morphgraph.tokeniser.merging import MergeSegmentation, segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@dataclass(frozen=True)
class Phase:
    """One phase of a run, and the state after it.

    ``iteration``: 0 for the start and annealing. ``counts``: what changed, by kind (see
    `Change.counts`). ``removed_by_origin``: the merges knocked out, by their origin. ``blame``: N
    and B of each, by which they were chosen. ``score``: on the reference, with the run's scope and
    weighting.
    """

    iteration: int
    kind: PhaseKind
    change: Change
    vocabulary_size: int
    merges: int
    score: BoundaryScore
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
            "changes": self.counts,
            "removed_by_origin": dict(self.removed_by_origin),
            "seconds": self.seconds,
        }


class _SegmentedReference:
    """A reference as segmented by a tokeniser, computed once for each state."""

    def __init__(self, tokeniser: BpeTokeniser, benchmark: Benchmark) -> None:
        self.tokeniser = tokeniser
        self._benchmark = benchmark

    @property
    def benchmark(self) -> Benchmark:
        """The reference, encoded with the present alphabet."""
        self._benchmark = self._benchmark.encoded_for(self.tokeniser)
        return self._benchmark

    @property
    def segmentation(self) -> MergeSegmentation:
        """Its words, segmented by the present merges."""
        graph, benchmark = self.tokeniser.graph, self.benchmark
        question = "segmentation", benchmark.identity
        return graph.derived(question, lambda: segment(graph, benchmark.words))


class ReBPERun:
    """A run of ReBPE on a tokeniser, in place, phase by phase.

    Each phase that changes something is one edit of the graph, which can be undone; the run resumes
    from any such state. Iterating over a run performs the remaining phases.
    """

    def __init__(
        self, tokeniser: BpeTokeniser, benchmark: Benchmark, settings: ReBPESettings | None = None
    ) -> None:
        self.tokeniser = tokeniser
        self.settings = settings = settings or ReBPESettings()
        self._reference = self._scored = _SegmentedReference(tokeniser, benchmark)
        self._seen: npt.NDArray[np.int64] | None = None
        if settings.holdout:
            share, seed = settings.holdout, settings.seed
            self._seen, held_out = split_entries(benchmark.words.texts, share, seed)
            unseen = self._reference.benchmark.held_out(held_out, share, seed)
            self._scored = _SegmentedReference(tokeniser, unseen)
        self._atoms = TypeAtoms(tokeniser.suffix)
        self._all: list[Phase] = []
        self._cursor = 0
        self._before = len(self.graph.history)
        self._begun_from = self.graph.numbered
        started = time.perf_counter()
        self._record((0, "start"), Change({"edit": "start"}), None, started)

    @property
    def graph(self) -> MergeGraph:
        """The graph that is edited."""
        return self.tokeniser.graph

    @property
    def benchmark(self) -> Benchmark:
        """The whole reference, encoded with the present alphabet."""
        return self._reference.benchmark

    @property
    def scored(self) -> Benchmark:
        """The entries scored: those held out, or the whole reference."""
        return self._scored.benchmark

    def segment_scored(self) -> MergeSegmentation:
        """Segment the scored words in the present state."""
        return self._scored.segmentation

    # ------------------------------------------------------------------------------- doing it

    @property
    def upcoming(self) -> Step | None:
        """The iteration and kind of the next phase; None if none remains."""
        return self._algorithm()[0]

    @property
    def finished(self) -> bool:
        """Whether no phase remains."""
        return self.upcoming is None

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

    def step(self) -> Phase | None:
        """Perform the next phase; None if there is none."""
        upcoming = self.upcoming
        if upcoming is None:
            return None
        position = self._position()
        if position < len(self._all):
            # Redo must not restore phases that the run has dropped.
            del self._all[position:]
            self.graph.forget_undone()
        started = time.perf_counter()
        change, blamed = self._preview(upcoming[1])
        return self._record(upcoming, self.graph.apply(change), blamed, started)

    def __iter__(self) -> Iterator[Phase]:
        """Perform the remaining phases, one at a time."""
        while phase := self.step():
            yield phase

    def finish(self, progress: Callable[[float], None] | None = None) -> list[Phase]:
        """Perform all remaining phases; ``progress`` receives numbers from 0 to 1."""
        made = []
        for phase in self:
            made.append(phase)
            if progress:
                # The number of iterations is unknown in advance, so the bar approaches its end.
                progress(1 - 0.8**phase.iteration)
        if progress:
            progress(1.0)
        return made

    def _preview(self, kind: PhaseKind) -> tuple[Change, Blame | None]:
        """Return what a phase would change, and the blame behind a knockout."""
        settings, reference = self.settings, self._reference
        if kind == "knockout":
            return preview_knockout(
                self.tokeniser,
                reference.benchmark,
                reference.segmentation,
                settings.knockout(),
                self._seen,
            )
        if kind == "anneal":
            change = preview_annealing(
                self.tokeniser,
                reference.benchmark,
                scope=settings.scope,
                entries=self._seen,
                minimum_good=settings.minimum_good,
                minimum_ratio=settings.minimum_ratio,
                maximum_vocabulary=settings.maximum_vocabulary,
            )
        else:
            change = preview_reification(
                self.graph,
                self._blacklist(),
                repair=settings.repair,
                link=settings.link,
                expand=settings.expand,
                atoms=self._atoms,
            )
        return change, None

    def _blacklist(self) -> set[Parts]:
        """The parts of all merges knocked out in this run."""
        return {
            merge.parts
            for phase in self.phases
            if phase.kind == "knockout"
            for merge in phase.change.removed_merges.values()
        }

    def _record(self, step: Step, change: Change, blamed: Blame | None, started: float) -> Phase:
        settings = self.settings
        score = self.scored.score(self.segment_scored(), settings.scope, settings.weighting)
        removed = change.removed_merges
        phase = Phase(
            *step,
            change,
            self.tokeniser.vocabulary_size,
            self.graph.merge_count,
            score,
            Counter(self.graph.origin(merge) for merge in removed),
            {} if blamed is None else {merge: blamed.counts(merge) for merge in removed},
            time.perf_counter() - started,
        )
        self._all.append(phase)
        self._cursor = len(self._all)
        return phase

    # ------------------------------------------------------------------------------- where it is

    @property
    def edits_before(self) -> int:
        """The number of edits of the graph when the run began."""
        return self._before

    @property
    def phases(self) -> list[Phase]:
        """The phases in effect: those performed and not undone."""
        return self._all[: self._position()]

    @property
    def all_phases(self) -> list[Phase]:
        """The phases performed, including those undone since, which redo would restore."""
        return list(self._all)

    def _position(self) -> int:
        """The number of phases in effect.

        It is as set by `go_to`, unless undo or redo elsewhere has moved the graph since. Phases
        that changed nothing leave no trace in the graph, so only the stored position counts them.
        """
        made = {id(change) for change in self.graph.history}
        least = most = 0
        for number, phase in enumerate(self._all, start=1):
            if phase.change.is_empty:
                most = number
            elif id(phase.change) in made:
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
        graph, before = self.graph, self._before
        if len(graph.history) < before or graph.numbered_after(before) != self._begun_from:
            return True
        return self._position() == 1 and len(graph.history) != before

    def go_to(self, position: int) -> None:
        """Undo or redo until ``position`` phases are in effect, including edits in between."""
        position = min(max(position, 1), len(self._all))
        wanted = {id(p.change) for p in self._all[:position] if not p.change.is_empty}
        others = {id(p.change) for p in self._all[position:] if not p.change.is_empty}
        graph = self.graph
        while others & {id(change) for change in graph.history}:
            graph.undo()
        while graph.undone and wanted - {id(change) for change in graph.history}:
            graph.redo()
        self._cursor = position

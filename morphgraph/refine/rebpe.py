"""ReBPE: anneal, then knock out and reify in turn until nothing changes.

Source: Bauwens & de Lhoneux 2026, Algorithm 1.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from morphgraph.graph.change import Change, Origin
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.plans import Parts
from morphgraph.refine.anneal import (
    MINIMUM_GOOD,
    MINIMUM_RATIO,
    annealing_pairs,
    missing_atoms,
    within_vocabulary,
)
from morphgraph.refine.blame import DEFAULT_THRESHOLD, blame
from morphgraph.refine.checks import check_blame_settings, check_share, check_whole
from morphgraph.refine.knockout import KnockoutSettings, choose_types
from morphgraph.refine.reify import TypeAtoms, preview_reification
from morphgraph.score.boundaries import Benchmark, BoundaryScore, or_none
from morphgraph.score.gold_set import Scope, Weighting, split_entries
from morphgraph.tokeniser.merging import MergeSegmentation, segment
from morphgraph.tokeniser.tokeniser import Tokeniser

PhaseKind = Literal["start", "anneal", "knockout", "reify"]


@dataclass(frozen=True)
class ReBPESettings:
    """What a run does; every part can be switched off.

    ``anneal``: first add merges that hardly ever cross a boundary (``minimum_good``,
    ``minimum_ratio``), up to ``maximum_vocabulary`` types. ``repair``, ``link``, ``expand``: the
    parts of reification. ``iterations``: at most so many rounds. The others as for a knockout: see
    `KnockoutSettings`; with a ``holdout``, annealing does not see those entries either, except that
    the alphabet is completed for all words, also beyond ``maximum_vocabulary``.
    """

    anneal: bool = True
    repair: bool = True
    link: bool = True
    expand: bool = True
    cascade: bool = False
    iterations: int = 10
    threshold: float = DEFAULT_THRESHOLD
    minimum_vocabulary: int = 0
    maximum_vocabulary: int | None = None
    scope: Scope = "morphemic"
    weighting: Weighting = "types"
    tuples_once: bool = False
    holdout: float = 0.0
    seed: int = 0
    minimum_good: int = MINIMUM_GOOD
    minimum_ratio: float = MINIMUM_RATIO

    def __post_init__(self) -> None:
        check_blame_settings(self)
        check_share("minimum_ratio", self.minimum_ratio)
        for name in ("iterations", "minimum_vocabulary"):
            check_whole(name, getattr(self, name))
        check_whole("minimum_good", self.minimum_good, least=1)
        if self.maximum_vocabulary is not None:
            check_whole("maximum_vocabulary", self.maximum_vocabulary)

    @property
    def reifies(self) -> bool:
        """Whether any part of reification is on."""
        return self.repair or self.link or self.expand

    def knockout(self) -> KnockoutSettings:
        """How each knockout chooses its types."""
        return KnockoutSettings(
            threshold=self.threshold,
            minimum_vocabulary=self.minimum_vocabulary,
            scope=self.scope,
            weighting=self.weighting,
            tuples_once=self.tuples_once,
            cascade=self.cascade,
        )


@dataclass(frozen=True)
class Phase:
    """One phase of a run, and the state after it.

    ``iteration``: 0 for the start and annealing. ``counts``: what changed, by kind (see
    `Change.counts`). ``removed_by_origin``: the merges knocked out, by their origin until then.
    ``blame``: N and B of each, by which they were chosen. ``score``: on the reference, of the run's
    scope and weighting.
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
        """What changed, by kind; what did not happen is left out."""
        return self.change.counts()

    def to_dict(self) -> dict[str, Any]:
        """As JSON; undefined scores are null."""
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


class ReBPERun:
    """A run of ReBPE on a tokeniser, in place, phase by phase.

    Each phase that changes something is one edit of the graph: undo takes it back, and the run
    goes on from wherever the graph stands. ``scored`` is the benchmark of the scores: the held-out
    entries if there are some.
    """

    def __init__(
        self, tokeniser: Tokeniser, benchmark: Benchmark, settings: ReBPESettings | None = None
    ) -> None:
        self.tokeniser = tokeniser
        self.settings = settings or ReBPESettings()
        self._benchmark = benchmark
        self._seen: npt.NDArray[np.int64] | None = None
        self._held_out: npt.NDArray[np.int64] | None = None
        if self.settings.holdout:
            self._seen, self._held_out = split_entries(
                benchmark.words.texts, self.settings.holdout, self.settings.seed
            )
        self._scored: Benchmark | None = None
        self._segmentation: tuple[int, MergeSegmentation] | None = None
        self._atoms = TypeAtoms(tokeniser.suffix)
        self._all: list[Phase] = []
        self._cursor = 0
        self._before = len(self.graph.history)
        self._begun_from = self.graph.recipe_checksum()
        started = time.perf_counter()
        self._record(0, "start", Change({"edit": "start"}), started)

    @property
    def edits_before(self) -> int:
        """How many edits the graph had when the run began."""
        return self._before

    @property
    def graph(self) -> MergeGraph:
        """The graph that is edited."""
        return self.tokeniser.graph

    # ------------------------------------------------------------------------------- where it is

    @property
    def phases(self) -> list[Phase]:
        """The phases that the graph shows: those done and not undone."""
        return self._all[: self._position()]

    @property
    def all_phases(self) -> list[Phase]:
        """The phases done, also those that were undone since: redo makes them again."""
        return list(self._all)

    def _position(self) -> int:
        """How many phases are done.

        As many as `go_to` said, unless undo or redo elsewhere has moved the graph since. Phases
        that changed nothing cannot be told from the graph, so they alone are a matter of where one
        has gone.
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
        """Whether the graph is no longer one that this run can go on from.

        Edits of before its start were undone or replaced, or the run is at its start and other
        edits were made since: what it says of the start is then about another state.
        """
        graph = self.graph
        if graph.recipe_checksum(self._before) != self._begun_from:
            return True
        return self._position() == 1 and len(graph.history) != self._before

    def go_to(self, position: int) -> None:
        """Undo or redo until so many phases are done; other edits in between go along."""
        position = min(max(position, 1), len(self._all))
        wanted = {id(p.change) for p in self._all[:position] if not p.change.is_empty}
        others = {id(p.change) for p in self._all[position:] if not p.change.is_empty}
        graph = self.graph
        while others & {id(change) for change in graph.history}:
            graph.undo()
        while graph.undone and wanted - {id(change) for change in graph.history}:
            graph.redo()
        self._cursor = position

    @property
    def upcoming(self) -> tuple[int, PhaseKind] | None:
        """Iteration and kind of the next phase; None if none is left."""
        return self._next()

    @property
    def finished(self) -> bool:
        """Whether no phase is left."""
        return self._next() is None

    @property
    def converged(self) -> bool:
        """Whether it ended by itself: nothing was left to change before the last iteration."""
        return self.finished and self._stopped(self.phases)

    def _next(self) -> tuple[int, PhaseKind] | None:
        """Iteration and kind of the next phase, from those done."""
        settings, done = self.settings, self.phases
        last = done[-1]
        if last.kind == "start" and settings.anneal:
            return 0, "anneal"
        if last.kind == "knockout":
            if last.iteration > settings.iterations:
                return None
            if settings.reifies:
                return last.iteration, "reify"
        if self._stopped(done):
            return None
        if last.iteration < settings.iterations:
            return last.iteration + 1, "knockout"
        # The limit is reached. What was reified last has not been blamed yet.
        if last.kind == "reify" and not last.change.is_empty:
            return last.iteration + 1, "knockout"
        return None

    def _stopped(self, done: list[Phase]) -> bool:
        """Whether the last iteration removed nothing and reified nothing."""
        last = [p for p in done if p.iteration == done[-1].iteration and p.iteration > 0]
        if not last or (self.settings.reifies and last[-1].kind != "reify"):
            return False
        return all(phase.change.is_empty for phase in last)

    # ------------------------------------------------------------------------------- doing it

    def step(self) -> Phase | None:
        """Do the next phase; None if there is none."""
        upcoming = self._next()
        if upcoming is None:
            return None
        cut = self._all[self._position() :]
        del self._all[self._position() :]
        if cut:
            # Redo must not bring back what the run no longer knows of.
            self.graph.forget_undone()
        iteration, kind = upcoming
        started = time.perf_counter()
        blamed: Mapping[int, tuple[float, float]] = {}
        if kind == "anneal":
            change = self._anneal()
        elif kind == "knockout":
            change, blamed = self._knock_out()
        else:
            change = self._reify()
        return self._record(iteration, kind, change, started, blamed)

    def finish(self, progress: Callable[[float], None] | None = None) -> list[Phase]:
        """Do all phases that are left; ``progress`` gets numbers from 0 to 1."""
        made = []
        while phase := self.step():
            made.append(phase)
            if progress:
                # How many iterations it takes is not known before, so the bar nears its end.
                progress(1 - 0.8**phase.iteration)
        if progress:
            progress(1.0)
        return made

    def _anneal(self) -> Change:
        settings, graph = self.settings, self.graph
        atoms = missing_atoms(self.tokeniser, self.benchmark)
        with graph.tentatively(graph.preview_anneal((), atoms)):
            pairs = annealing_pairs(
                graph,
                self.benchmark,
                self._segmented(),
                scope=settings.scope,
                entries=self._seen,
                minimum_good=settings.minimum_good,
                minimum_ratio=settings.minimum_ratio,
            )
            chosen = within_vocabulary(
                graph, pairs, self.tokeniser.vocabulary_size, settings.maximum_vocabulary
            )
        return graph.anneal(chosen, atoms)

    def _knock_out(self) -> tuple[Change, Mapping[int, tuple[float, float]]]:
        settings, graph = self.settings, self.graph
        blamed = blame(
            self.benchmark,
            self._segmented(),
            weighting=settings.weighting,
            scope=settings.scope,
            tuples_once=settings.tuples_once,
            entries=self._seen,
        )
        chosen = choose_types(self.tokeniser, blamed, settings.knockout())
        plan = graph.preview_cascade if settings.cascade else graph.preview_knockout
        change = plan(chosen)
        places = {merge: blamed.position[merge] for merge in change.removed_merges}
        counts = {
            merge: (float(blamed.applied[place]), float(blamed.blamed[place]))
            for merge, place in places.items()
        }
        return graph.apply(change), counts

    def _reify(self) -> Change:
        settings = self.settings
        change = preview_reification(
            self.graph,
            self._blacklist(),
            repair=settings.repair,
            link=settings.link,
            expand=settings.expand,
            atoms=self._atoms,
        )
        return self.graph.apply(change)

    def _blacklist(self) -> set[Parts]:
        """The parts of all merges knocked out in this run."""
        return {
            merge.parts
            for phase in self.phases
            if phase.kind == "knockout"
            for merge in phase.change.removed_merges.values()
        }

    # ------------------------------------------------------------------------------- scores

    @property
    def benchmark(self) -> Benchmark:
        """The whole reference, encoded with the present alphabet."""
        self._benchmark = self._benchmark.encoded_for(self.tokeniser)
        return self._benchmark

    @property
    def scored(self) -> Benchmark:
        """What is scored: the held-out entries, or the whole reference."""
        if self._held_out is None:
            return self.benchmark
        if self._scored is None or self._scored.alphabet != self.tokeniser.alphabet:
            self._scored = self.benchmark.held_out(
                self._held_out, self.settings.holdout, self.settings.seed
            )
        return self._scored

    def _segmented(self) -> MergeSegmentation:
        """The words of the whole reference, in the present state."""
        revision = self.graph.revision
        if self._segmentation is None or self._segmentation[0] != revision:
            self._segmentation = revision, segment(self.graph, self.benchmark.words)
        return self._segmentation[1]

    def segment_scored(self) -> MergeSegmentation:
        """The words that are scored, in the present state."""
        if self._held_out is None:
            return self._segmented()
        return segment(self.graph, self.scored.words)

    def _record(
        self,
        iteration: int,
        kind: PhaseKind,
        change: Change,
        started: float,
        blamed: Mapping[int, tuple[float, float]] | None = None,
    ) -> Phase:
        score = self.scored.score(
            self.segment_scored(), self.settings.scope, self.settings.weighting
        )
        phase = Phase(
            iteration,
            kind,
            change,
            self.tokeniser.vocabulary_size,
            self.graph.merge_count,
            score,
            Counter(self.graph.origin(merge) for merge in change.removed_merges),
            blamed or {},
            time.perf_counter() - started,
        )
        self._all.append(phase)
        self._cursor = len(self._all)
        return phase

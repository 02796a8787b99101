"""ReBPE: anneal, then alternate knockout and reification until nothing changes.

`rebpe` is the algorithm and yields the phases; `ReBPERun` applies them to a tokeniser.
The phases have their own files: `knockout` (by `blame`) and `rebpe_phases`. Source: Bauwens & de
Lhoneux 2026, Algorithm 1.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.graph.arrays import TypeAtoms
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Origin
from morphgraph.graph.plans import Parts
from morphgraph.refine.blame import Blame
from morphgraph.refine.knockout import BlameSettings, KnockoutSettings, preview_knockout
from morphgraph.refine.rebpe_phases import (
    MINIMUM_GOOD,
    MINIMUM_RATIO,
    preview_annealing,
    preview_reification,
)
from morphgraph.score.boundaries import Benchmark, BoundaryScore, or_none
from morphgraph.score.gold_set import split_entries
from morphgraph.tokeniser.merging import MergeSegmentation, segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

PhaseKind = Literal["start", "anneal", "knockout", "reify"]
Step = tuple[int, PhaseKind]
"""The next phase: its iteration, 0 before the first one, and its kind."""


class ReBPESettings(BlameSettings):
    """Settings of a run; every part can be switched off.

    With a ``holdout``, annealing does not see held-out entries either, but the alphabet is
    completed for all words, even beyond ``maximum_vocabulary``.
    """

    anneal: bool = Field(default=True, description="First add merges that rarely cross a boundary.")
    reify: bool = Field(default=True, description="false: none of repair, link and expand.")
    repair: bool = Field(
        default=True, description="Give tuple merges that can no longer apply other parts."
    )
    link: bool = Field(default=True, description="Use pair merges inside tuple merges.")
    expand: bool = Field(default=True, description="Create pair merges inside tuple merges.")
    iterations: int = Field(default=10, ge=0, description="At most this many.")
    maximum_vocabulary: int | None = Field(
        default=None, ge=0, description="Annealing adds types up to this number."
    )
    minimum_good: int = Field(
        default=MINIMUM_GOOD,
        ge=1,
        description="Anneal pairs that are inside a morph at least this often.",
    )
    minimum_ratio: float = Field(
        default=MINIMUM_RATIO,
        ge=0,
        le=1,
        description="Anneal pairs that are inside a morph in at least this share.",
    )

    @property
    def reifies(self) -> bool:
        """Whether any part of reification is on."""
        return self.reify and (self.repair or self.link or self.expand)

    def knockout(self) -> KnockoutSettings:
        """Return the settings of each knockout."""
        shared = {name: getattr(self, name) for name in BlameSettings.model_fields}
        return KnockoutSettings(**shared)


def rebpe(settings: ReBPESettings) -> Generator[Step, Change, bool]:
    """Yield each phase of Algorithm 1; receive the change that it made.

    Its return value is whether it converged: the last iteration changed nothing. At the maximum of
    iterations, one more knockout judges the merges reified last. Reification repairs tuple merges,
    then uses pairs in them (links, expands).

    >>> nothing, something = Change({}), Change({}, removed_types=(7,))
    >>> steps = rebpe(ReBPESettings(iterations=2))
    >>> next(steps), steps.send(something)
    ((0, 'anneal'), (1, 'knockout'))
    >>> steps.send(something), steps.send(nothing), steps.send(nothing)
    ((1, 'reify'), (2, 'knockout'), (2, 'reify'))
    >>> steps.send(nothing)
    Traceback (most recent call last):
    StopIteration: True
    """
    if settings.anneal:
        yield 0, "anneal"
    reified = Change({})
    for iteration in range(1, settings.iterations + 1):
        removed = yield iteration, "knockout"
        if settings.reifies:
            reified = yield iteration, "reify"
        if removed.is_empty and reified.is_empty:
            return True
    if not reified.is_empty:
        yield settings.iterations + 1, "knockout"
    return False


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


MergeChange = Literal["annealed", "removed", "split", "repaired", "linked", "created", "shortened"]
MERGE_CHANGES: tuple[MergeChange, ...] = (
    "annealed",
    "removed",
    "split",
    "repaired",
    "linked",
    "created",
    "shortened",
)
T = TypeVar("T")


def follow_phases(run: ReBPERun, look: Callable[[MergeGraph], T]) -> list[T]:
    """Return ``look`` of the graph after each phase in effect, the start included.

    One copy of the graph is undone further each time, so results must not refer to it.
    """
    history = run.graph.history
    found: dict[int, T] = {}
    for edits, graph in zip(range(len(history), -1, -1), run.graph.states_back(), strict=True):
        found[edits] = look(graph)
        if edits == run.edits_before:
            break
    return [found[edits] for edits in edits_after(run)]


def edits_after(run: ReBPERun) -> list[int]:
    """Return the number of edits right after each phase in effect, the start included."""
    position = {id(change): number for number, change in enumerate(run.graph.history, start=1)}
    edits = [run.edits_before]
    for phase in run.phases[1:]:
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
    return list(_changed_merges(graph, change))


def _changed_merges(graph: MergeGraph, change: Change) -> Iterator[ChangedMerge]:
    created = {entry.merge for entry in change.reified if entry.created}
    for number, merge in change.added_merges.items():
        if number not in created:
            yield ChangedMerge("annealed", number, merge.result, merge.rank, (), merge.parts)
    for number, merge in change.removed_merges.items():
        yield ChangedMerge("removed", number, merge.result, merge.rank, merge.parts)
    for number, parts, linked in ((e.merge, e.tuple_merges, not e.created) for e in change.reified):
        merge = change.added_merges.get(number) or graph.merge(number)
        yield ChangedMerge(
            "linked" if linked else "created",
            number,
            merge.result,
            merge.rank,
            merge.parts if linked else (),
            merge.parts,
            len(parts),
        )
    kinds: dict[str, MergeChange] = {
        "knockout": "split",
        "repair": "repaired",
        "reify": "shortened",
    }
    for entry in change.rewired:
        merge = graph.merge(entry.merge)
        yield ChangedMerge(
            kinds[entry.cause],
            entry.merge,
            merge.result,
            merge.rank,
            entry.old_parts,
            entry.new_parts,
        )

"""ReBPE on several languages at once, so that none is worse than at the start (ours).

Blame adds the joins of all languages, each by its weight. A phase after which the F1 of a language
would be below that at the start is tried again, with what is right in this language left alone,
then with all that occurs in it left alone; else the phase is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.merge_table import Change
from morphgraph.reference.entry import join_references
from morphgraph.refine import ReBPESettings
from morphgraph.refine.blame import Blame, blame
from morphgraph.refine.knockout import preview_knockout
from morphgraph.refine.rebpe import PhaseKind, Step, preview_annealing
from morphgraph.refine.rebpe_run import Phase, ReBPERun
from morphgraph.score.boundaries import Benchmark, BoundaryTally, cuts_of
from morphgraph.score.gold_set import COUNTS_IN_REFERENCE, Counts, GoldSet
from morphgraph.score.languages import names_of
from morphgraph.tokeniser.merging import MergeSegmentation, segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_SAME = 1e-12
_FREE, _RIGHT, _ALL = range(3)
"""What is left alone in a language: nothing, what is right there, and all that occurs there."""


@dataclass(frozen=True)
class Languages:
    """Several references as one, by language.

    ``joined``: their entries, one gold after the other; ``of``: the language of each entry, by its
    place in ``names``; ``weights``: what each language weighs, however many entries it has.
    """

    golds: tuple[GoldSet, ...]
    joined: GoldSet
    names: tuple[str, ...]
    of: Counts
    weights: tuple[float, ...]

    @classmethod
    def of_golds(cls, golds: Sequence[GoldSet], weights: Sequence[float] = ()) -> "Languages":
        """Join golds of the same frequencies; each weighs 1 if there are no weights.

        >>> import morphgraph as mg
        >>> german, greek = mg.read_gold({"ab": ["a", "b"], "b": ["b"]}), mg.read_gold({"c": ["c"]})
        >>> found = Languages.of_golds([german, greek], [1, 2])
        >>> found.of.tolist(), found.weights
        ([0, 0, 1], (1.0, 2.0))
        """
        if weights and len(weights) != len(golds):
            raise MorphGraphError(
                f"There are {len(golds)} references and {len(weights)} weights. Give each "
                "reference one weight, in the same order."
            )
        chosen = tuple(map(float, weights or [1.0] * len(golds)))
        if not all(0 < weight < float("inf") for weight in chosen):
            raise MorphGraphError("A weight is not above 0. Leave that reference out instead.")
        of = np.repeat(np.arange(len(golds)), [len(each) for each in golds])
        first, references = golds[0], [each.reference for each in golds]
        named = first.frequency_source != COUNTS_IN_REFERENCE
        counts = (first.frequencies, first.frequency_source) if named else ()
        joined = GoldSet.of(join_references(references), *counts, bare=first.bare)
        joined = replace(joined, parts=first.parts)  # all of them are drawn in the same way
        return cls(tuple(golds), joined, tuple(names_of(references)), of, chosen)


class LanguagesRun(ReBPERun):
    """A run of ReBPE on several golds, phase by phase; each phase has its F1 by language.

    ``scored``: the words kept aside of each, by default the same; they decide nothing.

    un + do is to blame in the first language, and right in the second, which would be worse.

    >>> import morphgraph as mg
    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> types = ["u", "n", "d", "o", "un", "do", "undo"]
    >>> tokeniser = tokeniser_of_types("t", types, ["un", "do", ("un", "do")])
    >>> both = Languages.of_golds([mg.read_gold([("undo", ["un", "do"])], bare=True),
    ...                            mg.read_gold([("undon", ["undo", "n"])], bare=True)])
    >>> run = LanguagesRun(tokeniser, both)
    >>> len(run.finish()), [*run.phases[-1].f1_by_language.values()], "undo" in tokeniser.graph
    (3, [0.0, 1.0], True)
    """

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        languages: Languages,
        settings: ReBPESettings | None = None,
        scored: Languages | None = None,
    ) -> None:
        settings = settings or ReBPESettings()
        if settings.portable:
            raise MorphGraphError(
                "On several references, ReBPE does not leave only pair merges, as a language could "
                "get worse by that. Leave out --portable, and give it to “morphgraph export”."
            )
        self.languages, self.kept_aside = languages, scored or languages
        benchmark = Benchmark.on(languages.joined, tokeniser)
        own = None if scored is None else Benchmark.on(scored.joined, tokeniser)
        super().__init__(tokeniser, benchmark, settings, own)
        self._first = self.phases[0].f1_by_language

    @property
    def golds(self) -> Sequence[GoldSet]:
        """What it learns from, for the record."""
        return [self.languages.joined, *self.languages.golds]

    def worse(self) -> list[str]:
        """The languages whose F1 is below that at the start; on words learned from, none."""
        return self._worse(self.phases[-1].f1_by_language)

    def scored_f1(self) -> dict[str, float]:
        """F1 by language on the words scored in the present state, where some may be worse."""
        return self._f1(self.scored, self.segment_scored(), self.kept_aside.of)

    def _worse(self, now: Mapping[str, float]) -> list[str]:
        return [name for name, f1 in now.items() if f1 < self._first[name] - _SAME]

    def _f1(self, benchmark: Benchmark, words: MergeSegmentation, of: Counts) -> dict[str, float]:
        """F1 by language; ``of``: the language of each entry."""
        scope, weighting = self.settings.scope, self.settings.weighting
        weight = benchmark.weight(scope, weighting)
        tally = BoundaryTally(cuts_of(words), benchmark.cuts(scope), weight)
        found = {}
        for number, name in enumerate(self.languages.names):
            tally.weight = np.where(of == number, weight, 0.0)
            found[name] = tally.f1.value
        return found

    # ------------------------------------------------------------------------------- phases

    def _record(self, step: Step, change: Change, blamed: Blame | None, started: float) -> Phase:
        phase = super()._record(step, change, blamed, started)
        words = self._segmented(self.benchmark)
        by_language = self._f1(self.benchmark, words, self.languages.of)
        self._all[-1] = replace(phase, f1_by_language=by_language)
        return self._all[-1]

    def _preview(self, kind: PhaseKind) -> tuple[Change, Blame | None]:
        """Return what a phase would change so that no language gets worse, if that can be."""
        left_alone = np.full(len(self.languages.names), _FREE)
        while True:
            change, blamed = self._attempt(kind, left_alone)
            worse = np.isin(self.languages.names, self._worse(self._f1_after(change)))
            if not worse.any():
                return change, blamed
            if kind == "reify" or (left_alone[worse] == _ALL).all():
                return self.graph.preview_knockout([]), blamed
            left_alone[worse] = np.minimum(left_alone[worse] + 1, _ALL)

    def _attempt(
        self, kind: PhaseKind, left_alone: npt.NDArray[np.int64]
    ) -> tuple[Change, Blame | None]:
        settings, benchmark = self.settings, self.benchmark
        if kind == "anneal":
            alone = {n: level == _ALL for n, level in enumerate(left_alone.tolist()) if level}
            groups = [(self.languages.of == n, never) for n, never in alone.items()]
            return preview_annealing(self.tokeniser, benchmark, settings, groups), None
        if kind == "knockout":
            words, chosen = self._segmented(benchmark), settings.knockout()
            blamed = self._blame(benchmark, words, left_alone)
            return preview_knockout(self.tokeniser, benchmark, words, chosen, blamed)
        return super()._preview(kind)

    def _blame(
        self, benchmark: Benchmark, words: MergeSegmentation, left_alone: npt.NDArray[np.int64]
    ) -> Blame:
        """Add N and B of the languages by their weights; no B for merges of types left alone."""
        settings, of = self.settings, self.languages.of
        weight = benchmark.weight(settings.scope, settings.weighting)
        applied = blamed = np.zeros(len(words.arrays))
        alone = np.zeros(words.arrays.type_count, bool)
        shares = np.array(self.languages.weights) * len(of) / sum(self.languages.weights)
        for number, share in enumerate(shares.tolist()):
            own = blame(
                benchmark,
                words,
                scope=settings.scope,
                weighting=settings.weighting,
                tuples_once=settings.tuples_once,
                among=of == number,
            )
            scale = share / max(float(weight[of == number].sum()), _SAME)
            applied, blamed = applied + scale * own.applied, blamed + scale * own.blamed
            if left_alone[number]:
                kept = own.applied > 0
                if left_alone[number] == _RIGHT:
                    kept &= own.ratio < settings.threshold
                alone[words.arrays.results[kept]] = True
        return Blame(words.arrays, applied, np.where(alone[words.arrays.results], 0.0, blamed))

    def _f1_after(self, change: Change) -> dict[str, float]:
        if change.is_empty:
            return dict(self.phases[-1].f1_by_language)
        after = replace(self.tokeniser, graph=self.graph.after(change))
        benchmark = self.benchmark.encoded_for(after)
        return self._f1(benchmark, segment(after.graph, benchmark.words), self.languages.of)

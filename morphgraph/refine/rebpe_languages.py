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
from morphgraph.reference.entry import Reference, join_references
from morphgraph.refine import ReBPESettings
from morphgraph.refine.blame import Blame, blame
from morphgraph.refine.knockout import preview_knockout
from morphgraph.refine.rebpe import PhaseKind, Step, preview_annealing
from morphgraph.refine.rebpe_run import Phase, ReBPERun
from morphgraph.score.boundaries import Benchmark, BoundaryTally, cuts_of
from morphgraph.score.gold_set import Counts
from morphgraph.score.languages import names_of
from morphgraph.tokeniser.merging import MergeSegmentation, segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_SAME = 1e-12
_FREE, _RIGHT, _ALL = range(3)
"""What is left alone in a language: nothing, what is right there, and all that occurs there."""


@dataclass(frozen=True)
class Languages:
    """Several references as one, by language.

    ``reference``: their entries, one reference after the other; ``of``: the language of each entry,
    by its place in ``names``; ``weights``: what each language weighs, however many entries it has.
    """

    reference: Reference
    names: tuple[str, ...]
    of: Counts
    weights: tuple[float, ...]

    @classmethod
    def joined(cls, references: Sequence[Reference], weights: Sequence[float] = ()) -> "Languages":
        """Join references; each weighs 1 if there are no weights.

        >>> from morphgraph.reference.plain import reference_of_words
        >>> german, greek = (reference_of_words(words, words[0]) for words in (["a", "b"], ["c"]))
        >>> found = Languages.joined([german, greek], [1, 2])
        >>> found.names, found.of.tolist(), found.weights
        (('a', 'c'), [0, 0, 1], (1.0, 2.0))
        """
        if weights and len(weights) != len(references):
            raise MorphGraphError(
                f"There are {len(references)} references and {len(weights)} weights. Give each "
                "reference one weight, in the same order."
            )
        chosen = tuple(map(float, weights or [1.0] * len(references)))
        if not all(0 < weight < float("inf") for weight in chosen):
            raise MorphGraphError("A weight is not above 0. Leave that reference out instead.")
        of = np.repeat(np.arange(len(references)), [len(each) for each in references])
        return cls(join_references(references), tuple(names_of(references)), of, chosen)


class _Settings(ReBPESettings):
    """The settings of a run whose edits cannot be learned again from one reference alone."""

    def learned(self, change: Change, reference: str, **more: int) -> Change:
        """Leave the step without the mark by which `refine.held_out` would learn it again."""
        return change


class LanguagesRun(ReBPERun):
    """A run of ReBPE on joined references, phase by phase; each phase has its F1 by language.

    ``benchmark``: the words of ``languages.reference``, whose entries are in the same order. With a
    holdout, held-out words decide nothing: see `held_out_f1`.

    un + do is to blame in the first language, and right in the second, which would be worse.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> from morphgraph.reference.entry import Entry
    >>> def gold(name, *morphs):
    ...     return Reference(name, "plain", (Entry("".join(morphs), morphs),), (), "0" * 12)
    >>> types = ["u", "n", "d", "o", "un", "do", "undo"]
    >>> tokeniser = tokeniser_of_types("t", types, ["un", "do", ("un", "do")])
    >>> both = Languages.joined([gold("one", "un", "do"), gold("other", "undo", "n")])
    >>> run = LanguagesRun(tokeniser, Benchmark.build(tokeniser, both.reference), both)
    >>> len(run.finish()), run.phases[-1].f1_by_language, "undo" in tokeniser.graph
    (3, {'one': 0.0, 'other': 1.0}, True)
    """

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        benchmark: Benchmark,
        languages: Languages,
        settings: ReBPESettings | None = None,
    ) -> None:
        settings = settings or ReBPESettings()
        if settings.portable:
            raise MorphGraphError(
                "On several references, ReBPE does not leave only pair merges, as a language could "
                "get worse by that. Leave out --portable, and give it to “morphgraph export”."
            )
        self.languages = languages
        super().__init__(tokeniser, benchmark, _Settings(**dict(settings)))
        self._first = self.phases[0].f1_by_language

    def worse(self) -> list[str]:
        """The languages whose F1 is below that at the start; on words learned from, none."""
        return self._worse(self.phases[-1].f1_by_language)

    def held_out_f1(self) -> dict[str, float]:
        """F1 by language on held-out words in the present state, where some may be worse.

        Without a holdout, on all words.
        """
        of = self.languages.of
        if self._seen is not None:
            of = np.delete(of, self._seen)
        return self._f1(self.scored, self.segment_scored(), of)

    def _worse(self, now: Mapping[str, float]) -> list[str]:
        return [name for name, f1 in now.items() if f1 < self._first[name] - _SAME]

    def _f1(self, benchmark: Benchmark, words: MergeSegmentation, of: Counts) -> dict[str, float]:
        """F1 by language; ``of``: the language of each entry, -1 for those that do not count."""
        scope, weighting = self.settings.scope, self.settings.weighting
        weight = benchmark.weight(scope, weighting)
        tally = BoundaryTally(cuts_of(words), benchmark.cuts(scope), weight)
        found = {}
        for number, name in enumerate(self.languages.names):
            tally.weight = np.where(of == number, weight, 0.0)
            found[name] = tally.f1.value
        return found

    @property
    def _learned_from(self) -> Counts:
        """The language of each entry, -1 where it is held out."""
        every = np.arange(len(self.languages.of))
        seen = True if self._seen is None else np.isin(every, self._seen)
        return np.where(seen, self.languages.of, -1)

    # ------------------------------------------------------------------------------- phases

    def _record(self, step: Step, change: Change, blamed: Blame | None, started: float) -> Phase:
        phase = super()._record(step, change, blamed, started)
        words = self._segmented(self.benchmark)
        by_language = self._f1(self.benchmark, words, self._learned_from)
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
        settings, benchmark, seen = self.settings, self.benchmark, self._seen
        if kind == "anneal":
            alone = {n: level == _ALL for n, level in enumerate(left_alone.tolist()) if level}
            groups = [(self._learned_from == n, never) for n, never in alone.items()]
            return preview_annealing(self.tokeniser, benchmark, settings, seen, groups), None
        if kind == "knockout":
            words, chosen = self._segmented(benchmark), settings.knockout()
            blamed = self._blame(benchmark, words, left_alone)
            return preview_knockout(self.tokeniser, benchmark, words, chosen, seen, blamed)
        return super()._preview(kind)

    def _blame(
        self, benchmark: Benchmark, words: MergeSegmentation, left_alone: npt.NDArray[np.int64]
    ) -> Blame:
        """Add N and B of the languages by their weights; no B for merges of types left alone."""
        settings, of = self.settings, self._learned_from
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
                entries=np.flatnonzero(of == number),
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
        return self._f1(benchmark, segment(after.graph, benchmark.words), self._learned_from)


def held_out_by_language(
    tokeniser: BpeTokeniser, benchmark: Benchmark, languages: Languages, settings: ReBPESettings
) -> tuple[dict[str, float], dict[str, float]]:
    """Run once more without the words that ``settings`` hold out; return their F1 before and after.

    The tokeniser itself is not changed.
    """
    twin = tokeniser.copy()
    run = LanguagesRun(twin, benchmark.encoded_for(twin), languages, settings)
    before = run.held_out_f1()
    run.finish()
    return before, run.held_out_f1()

"""Methods that learn from a reference, and what is fair to them: words that they have not seen.

BPE-knockout by blame, ReBPE and others look at gold boundaries. A score on the very words that they
looked at is *held in*; it must not be taken for what they do to other words. So whoever calls them
splits gold (`GoldSet.set_aside`): they learn from all that they are given. What they learned from
is in the steps of their edits, and so in the saved file.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from morphgraph.reference.families import Part, are_apart
from morphgraph.reference.predictions import Predictions
from morphgraph.refine import KnockoutSettings, ReBPESettings
from morphgraph.refine.knockout import KnockoutResult, knock_out
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import SegmentationFailure, outcomes_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.method import Method, Parameters
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@dataclass(frozen=True)
class Learned:
    """A segmenter that a method made, facts about the method, and what it did, if it tells more."""

    segmenter: Segmenter
    facts: Mapping[str, float]
    run: ReBPERun | None = None
    result: KnockoutResult | None = None


def _knocked_out(tokeniser: BpeTokeniser, gold_set: GoldSet, settings: KnockoutSettings) -> Learned:
    edited = tokeniser.copy()
    result = knock_out(edited, Benchmark.on(gold_set, edited), settings)
    facts = {
        "removed": len(result.change.removed_types),
        "dropout_rate": result.dropout_rate,
        "share_of_merges": result.share_of_merges,
        "merges": edited.graph.merge_count,
    }
    return Learned(Bte(edited), facts, result=result)


def _by_rebpe(tokeniser: BpeTokeniser, gold_set: GoldSet, settings: ReBPESettings) -> Learned:
    edited = tokeniser.copy()
    run = ReBPERun(edited, Benchmark.on(gold_set, edited), settings)
    run.finish()
    facts = {
        "removed": sum(phase.counts.get("removed", 0) for phase in run.phases),
        # The last knockout of a run is counted as one iteration more.
        "iterations": min(max(p.iteration for p in run.phases), settings.iterations),
        "merges": edited.graph.merge_count,
    }
    return Learned(Bte(edited), facts, run)


KNOCKOUT = Method(
    "knockout",
    "BPE-knockout",
    "Removes types whose merges often close gold boundaries; what used them uses their parts.",
    None,
    "gold",
    KnockoutSettings,
    source="Bauwens & Delobelle 2024",
    seconds=2.0,
    learn=_knocked_out,
)
REBPE = Method(
    "rebpe",
    "ReBPE",
    "Anneal, then knock out and reify in turn until nothing changes.",
    None,
    "gold",
    ReBPESettings,
    source="Bauwens & de Lhoneux 2026",
    seconds=8.0,
    learn=_by_rebpe,
)


@dataclass(frozen=True)
class LearnedSource:
    """A gold that edits were learned from, and which parts of it; no parts mean all of it."""

    name: str
    checksum: str
    parts: tuple[Part, ...]


def learned_sources(tokeniser: BpeTokeniser) -> list[LearnedSource]:
    """Return what a tokeniser was learned from, before it was saved and since; no undone edits."""
    before = () if tokeniser.lineage is None else tokeniser.lineage.steps
    sources = [
        LearnedSource(each["name"], each["checksum"], tuple(Part(*part) for part in each["parts"]))
        for step in (*before, *tokeniser.graph.recipe())
        for each in step.get("learned", ())
    ]
    return list(dict.fromkeys(sources))


def sources_in(tokeniser: BpeTokeniser, gold_set: GoldSet) -> list[LearnedSource]:
    """Return which parts of a gold a tokeniser was learned from."""
    checksum = gold_set.reference.checksum
    return [source for source in learned_sources(tokeniser) if source.checksum == checksum]


def has_seen(tokeniser: BpeTokeniser, gold_set: GoldSet) -> bool:
    """Whether a tokeniser was learned from some of the words of a gold set, as its file says."""
    return not all(are_apart(s.parts, gold_set.parts) for s in sources_in(tokeniser, gold_set))


def kept_from(tokeniser: BpeTokeniser, gold_set: GoldSet) -> Part | None:
    """The part of a gold that a tokeniser has never seen, though it has learned from the rest.

    None if it has learned from all, or more than once, and kept other words aside each time.
    """
    match list({source.parts for source in sources_in(tokeniser, gold_set)}):
        case [(Part("rest") as part,)]:
            return part.other
    return None


def learnable(tokeniser: BpeTokeniser, gold_set: GoldSet) -> GoldSet:
    """Return the part of a gold that may still be learned from: not what was kept aside before."""
    part = None if gold_set.parts else kept_from(tokeniser, gold_set)
    return gold_set if part is None else gold_set.split(*part[1:])[0]


@dataclass(frozen=True)
class Learner:
    """A method that learns from gold, on a tokeniser."""

    tokeniser: BpeTokeniser
    method: Method
    settings: Parameters

    def learn(self, gold_set: GoldSet) -> Segmenter:
        """Return the edited tokeniser, whose steps name the gold that it was learned from."""
        assert self.method.learn is not None
        learned: Learned = self.method.learn(self.tokeniser, gold_set, self.settings)
        return learned.segmenter


@dataclass(frozen=True)
class Entrant:
    """What is scored, and its name in tables.

    ``base``: the tokeniser that it is made from, which may have seen the words before.
    ``learner``: what makes it of words that it is not scored on, instead of ``made``.
    """

    label: str
    made: Segmenter | Predictions | Callable[[], Segmenter | Predictions] | None
    base: BpeTokeniser | None = None
    learner: Learner | None = None


def unseen_by(bases: Iterable[BpeTokeniser | None], gold_set: GoldSet) -> Part | None:
    """Return the part of a gold that all tokenisers are scored on, so that tests are paired.

    Where some were learned from this gold, it is what these kept aside; if they kept different
    words aside, or none, it is all (None), and those that have seen it are held in.
    """
    seen = [base for base in bases if base is not None and has_seen(base, gold_set)]
    parts = {kept_from(base, gold_set) for base in seen}
    return parts.pop() if len(parts) == 1 and not gold_set.parts else None


def unseen_part(entrants: Sequence[Entrant], gold_set: GoldSet) -> GoldSet:
    """Return the words of a gold that all entrants are scored on, see `unseen_by`."""
    part = unseen_by((each.base for each in entrants), gold_set)
    return gold_set if part is None else gold_set.split(*part[1:])[1]


def learn_and_score(
    entrants: Sequence[Entrant], gold_set: GoldSet, runs: int = 1, learned: GoldSet | None = None
) -> list[Outcome | SegmentationFailure]:
    """The outcome of each entrant on the words of a gold set.

    Learners learn from ``learned``, by default the same words, and are then held in. So is what its
    file says to be learned from words that it is scored on. ``runs``: see `outcomes_of`.
    """
    learned = learned or gold_set
    outcomes: list[Outcome | SegmentationFailure] = []
    for each in entrants:
        scored, seen = each.made, each.base is not None and has_seen(each.base, gold_set)
        if each.learner is not None:
            seen |= each.learner.settings.sees_gold and learned is gold_set
            scored = partial(each.learner.learn, learned)
        assert scored is not None
        [outcome] = outcomes_of([(each.label, scored)], gold_set, runs)
        if seen and isinstance(outcome, Outcome):
            outcome = replace(outcome, held_in=True)
        outcomes.append(outcome)
    return outcomes

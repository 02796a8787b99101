"""Methods that learn from a reference, and what is fair to them: words that they have not seen.

BPE-knockout by blame and ReBPE look at gold boundaries. A score on the very words that they looked
at is *held in*; it must not be taken for what they do to other words. With a holdout they learn
from some of the words and are scored on the others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from morphgraph.core.text import base_name
from morphgraph.reference.predictions import Predictions
from morphgraph.refine import BlameSettings, KnockoutSettings, ReBPESettings
from morphgraph.refine.knockout import knock_out
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet, drawn_text
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import SegmentationFailure, outcomes_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.method import Method, Parameters
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.tokeniser import BpeTokeniser, LearnedFrom


@dataclass(frozen=True)
class Learned:
    """A segmenter that a method made, the words that it is scored on, and facts about the method.

    ``scored``: the held-out words, or all.
    """

    segmenter: Segmenter
    scored: Benchmark
    facts: Mapping[str, float]


def _knocked_out(tokeniser: BpeTokeniser, gold_set: GoldSet, settings: KnockoutSettings) -> Learned:
    edited = tokeniser.copy()
    result = knock_out(edited, Benchmark.on(gold_set, edited), settings)
    facts = {
        "removed": len(result.removed),
        "dropout_rate": result.dropout_rate,
        "share_of_merges": result.share_of_merges,
        "merges": edited.graph.merge_count,
    }
    return Learned(Bte(edited), result.scored, facts)


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
    return Learned(Bte(edited), run.scored, facts)


KNOCKOUT = Method(
    "knockout",
    "BPE-knockout",
    "Types whose merges often close gold boundaries go; merges that used them use their parts.",
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


def remember(tokeniser: BpeTokeniser, gold_set: GoldSet, settings: BlameSettings) -> None:
    """Record in a tokeniser what its edits were learned from, so that its saved file says so."""
    if settings.sees_gold:
        reference = gold_set.reference
        tokeniser.learned_from.append(
            LearnedFrom(
                base_name(reference.name), reference.checksum, settings.holdout, settings.seed
            )
        )


def _learned_from(tokeniser: BpeTokeniser, gold_set: GoldSet) -> list[LearnedFrom]:
    """When a tokeniser learned from a reference, with what it held out; undone edits are none."""
    before = () if tokeniser.lineage is None else tokeniser.lineage.learned_from
    now = tokeniser.learned_from if tokeniser.graph.history else ()
    return [one for one in (*before, *now) if one.checksum == gold_set.reference.checksum]


def has_seen(tokeniser: BpeTokeniser, gold_set: GoldSet) -> bool:
    """Whether a tokeniser was learned from some of the words of a gold set, as its file says."""
    return any(
        not (source.holdout and gold_set.drawn == drawn_text(source.holdout, source.seed))
        for source in _learned_from(tokeniser, gold_set)
    )


def held_out_of(tokeniser: BpeTokeniser, gold_set: GoldSet) -> list[tuple[float, int]]:
    """The share and the seed of the words of a gold set that a tokeniser has never seen, if any.

    Where it learned more than once, and held out other words each time, it has seen them all.
    """
    found = {(one.holdout, one.seed) for one in _learned_from(tokeniser, gold_set)}
    return [one for one in found if len(found) == 1 and one[0]]


@dataclass(frozen=True)
class Learner:
    """A method that learns from the very reference that it is scored by, on a tokeniser."""

    tokeniser: BpeTokeniser
    method: Method
    settings: Parameters

    def learn(self, gold_set: GoldSet, holdout: float, seed: int) -> Segmenter:
        """What it makes of the tokeniser by all words, or by those that are not held out.

        The tokeniser that it makes says so (`has_seen`).
        """
        assert self.method.learn is not None
        settings: Any = self.settings.changed(holdout=holdout, seed=seed)
        learned: Learned = self.method.learn(self.tokeniser, gold_set, settings)
        made = learned.segmenter.tokeniser
        assert made is not None
        remember(made, gold_set, settings)
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


def learn_and_score(
    entrants: Sequence[Entrant], gold_set: GoldSet, share: float = 0.0, seed: int = 0, runs: int = 1
) -> list[Outcome | SegmentationFailure]:
    """The outcome of each entrant on all words, or on a share that a seed holds out.

    Learners learn from all words, and are held in, or from those that are not held out. So is what
    its file says to be learned from words that it is scored on. ``runs``: see `outcomes_of`.
    """
    scored = gold_set.hold_out(share, seed) if share else gold_set
    found: list[Outcome | SegmentationFailure] = []
    for each in entrants:
        made, seen = each.made, each.base is not None and has_seen(each.base, scored)
        if each.learner is not None:
            seen |= each.learner.settings.sees_gold and not share
            made = partial(each.learner.learn, gold_set, share, seed)
        assert made is not None
        [outcome] = outcomes_of([(each.label, made)], scored, runs)
        if seen and isinstance(outcome, Outcome):
            outcome = replace(outcome, held_in=True)
        found.append(outcome)
    return found

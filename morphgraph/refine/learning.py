"""Methods that learn from a reference, and what is fair to them: words that they have not seen.

BPE-knockout by blame and ReBPE look at gold boundaries. A score on the very words that they looked
at is *held in*; it must not be taken for what they do to other words. With a holdout they learn
from some of the words and are scored on the others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.predictions import Predictions
from morphgraph.refine.knockout import KnockoutSettings, knock_out
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet, drawn_text
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import SegmentationFailure, outcomes_of
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.lineage import LearnedFrom
from morphgraph.tokeniser.segmentation import Segmenter
from morphgraph.tokeniser.tokeniser import Tokeniser, base_name

LearnerSettings = KnockoutSettings | ReBPESettings

LEARNERS: Mapping[str, type[LearnerSettings]] = {
    "knockout": KnockoutSettings,
    "rebpe": ReBPESettings,
}
"""The settings of each method that edits a tokeniser by a reference, by its name."""

LEARNER_TITLES: Mapping[str, str] = {"knockout": "BPE-knockout", "rebpe": "ReBPE"}

_OWN = ("holdout", "seed")
"""Settings that whoever scores decides on, not the method."""


@dataclass(frozen=True)
class Learned:
    """A tokeniser that a method made, the words that it is scored on, and facts about the method.

    ``scored``: the held-out words, or all.
    """

    tokeniser: Tokeniser
    scored: Benchmark
    facts: Mapping[str, float]


def sees_gold(settings: LearnerSettings) -> bool:
    """Whether the method looks at gold boundaries: baselines of knockout do not."""
    return isinstance(settings, ReBPESettings) or settings.select == "blame"


def is_held_in(settings: LearnerSettings) -> bool:
    """Whether the method is scored on the very words that it learned from."""
    return sees_gold(settings) and not settings.holdout


def learn(tokeniser: Tokeniser, gold_set: GoldSet, settings: LearnerSettings) -> Learned:
    """What a method makes of a tokeniser, which stays as it is, by the words of a gold set.

    Source: Bauwens & Delobelle 2024; Bauwens & de Lhoneux 2026.
    """
    edited = tokeniser.copy()
    benchmark = Benchmark.on(gold_set, edited)
    facts: dict[str, float]
    if isinstance(settings, KnockoutSettings):
        result = knock_out(edited, benchmark, settings)
        scored = result.scored
        facts = {
            "removed": len(result.removed),
            "dropout_rate": result.dropout_rate,
            "share_of_merges": result.share_of_merges,
        }
    else:
        run = ReBPERun(edited, benchmark, settings)
        run.finish()
        scored = run.scored
        facts = {
            "removed": sum(phase.counts.get("removed", 0) for phase in run.phases),
            # The last knockout of a run is counted as one iteration more.
            "iterations": min(max(p.iteration for p in run.phases), settings.iterations),
        }
    facts["merges"] = edited.graph.merge_count
    return Learned(edited, scored, facts)


def learn_unseen(
    tokeniser: Tokeniser, gold_set: GoldSet, settings: LearnerSettings, share: float, seed: int
) -> Learned:
    """As `learn`, from all words but those of ``gold_set.hold_out(share, seed)``."""
    return learn(tokeniser, gold_set, replace(settings, holdout=share, seed=seed))


def remember(tokeniser: Tokeniser, gold_set: GoldSet, settings: LearnerSettings) -> None:
    """Record in a tokeniser what its edits were learned from, so that its saved file says so."""
    if sees_gold(settings):
        reference = gold_set.reference
        tokeniser.learned_from.append(
            LearnedFrom(
                base_name(reference.name), reference.checksum, settings.holdout, settings.seed
            )
        )


def has_seen(tokeniser: Tokeniser, gold_set: GoldSet) -> bool:
    """Whether a tokeniser was learned from some of the words of a gold set, as its file says."""
    before = () if tokeniser.lineage is None else tokeniser.lineage.learned_from
    return any(
        source.checksum == gold_set.reference.checksum
        and not (source.holdout and gold_set.drawn == drawn_text(source.holdout, source.seed))
        for source in (*before, *tokeniser.learned_from)
    )


@dataclass(frozen=True)
class Learner:
    """A method that learns from the very reference that it is scored by, on a tokeniser."""

    tokeniser: Tokeniser
    settings: LearnerSettings


@dataclass(frozen=True)
class Entrant:
    """What is scored, and its name in tables.

    ``base``: the tokeniser that it is made from, which may have seen the words before.
    """

    label: str
    made: Segmenter | Predictions | Callable[[], Segmenter | Predictions] | Learner
    base: Tokeniser | None = None


def learn_and_score(
    entrants: Sequence[Entrant],
    gold_set: GoldSet,
    share: float = 0.0,
    seed: int = 0,
    runs: int = 1,
) -> list[Outcome | SegmentationFailure]:
    """The outcome of each entrant on all words, or on a share that a seed holds out.

    Learners learn from all words, and are held in, or from those that are not held out. So is what
    its file says to be learned from words that it is scored on. ``runs``: see `outcomes_of`.
    """
    scored = gold_set.hold_out(share, seed) if share else gold_set
    found: list[Outcome | SegmentationFailure] = []
    for each in entrants:
        made, seen = each.made, each.base is not None and has_seen(each.base, scored)
        if isinstance(made, Learner):
            settings = replace(made.settings, holdout=share, seed=seed)
            seen |= is_held_in(settings)
            made = partial(_segmenter, made.tokeniser, gold_set, settings)
        [outcome] = outcomes_of([(each.label, made)], scored, runs)
        if seen and isinstance(outcome, Outcome):
            outcome = replace(outcome, held_in=True)
        found.append(outcome)
    return found


def _segmenter(tokeniser: Tokeniser, gold_set: GoldSet, settings: LearnerSettings) -> Segmenter:
    return Bte(learn(tokeniser, gold_set, settings).tokeniser)


def learner_settings(method: str, given: Mapping[str, Any]) -> LearnerSettings:
    """The settings of a method as it is written: ``knockout`` with ``{"threshold": 0.6}``.

    Numbers stand for what is on (1) or off (0) too. `MorphGraphError` for what is not a setting.
    """
    kind = LEARNERS[method]
    known = {
        field.name: type(field.default)
        for field in fields(kind)
        if isinstance(field.default, int | float) and field.name not in _OWN
    }
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise MorphGraphError(
            f"{method} has no parameter “{unknown}”. It takes {', '.join(known)}."
        )
    for name, value in given.items():
        whole = known[name] is not float
        if (whole and value != int(value)) or (known[name] is bool and value not in (0, 1)):
            raise MorphGraphError(f"{name}={value} does not fit {method}. Give a whole number.")
    values: dict[str, Any] = {name: known[name](value) for name, value in given.items()}
    return kind(**values)

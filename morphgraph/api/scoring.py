"""Any number of tokenisers on any number of golds, with all that the command line prints of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.core.errors import MorphGraphError, check_choice, check_list
from morphgraph.core.text import unique_labels, visible
from morphgraph.refine.learning import learn_and_score, unseen_part
from morphgraph.score import SHARE_KEPT
from morphgraph.score.breakdowns import Breakdown, break_down, check_breakdown
from morphgraph.score.by_language import LanguageRow, rows_by_language
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting, check_gold
from morphgraph.score.metrics import USUAL
from morphgraph.score.outcome import Outcome
from morphgraph.score.outcome import ideal as ideal_of
from morphgraph.score.table import ScoreTable, SegmentationFailure
from morphgraph.score.uncertainty import USUAL_DRAWS, Draws
from morphgraph.tables.model import Table
from morphgraph.tables.result import Result
from morphgraph.tables.score_views import table_report
from morphgraph.tables.scores import breakdown_table, languages_table, scores_table
from morphgraph.tables.terminal import report_of

if TYPE_CHECKING:
    from morphgraph.refine.learning import Entrant


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How tokenisers are scored on golds; `score` does it.

    ``metrics``: names of scores or groups; those that are usual if none is given. ``scope`` and
    ``weighting``: one of them, or both, where the gold has them. ``holdout``: where something
    learns from the gold, the share that is kept aside, by families of words, and scored. ``runs``:
    of what is drawn. ``baseline``: the number of the one that others are tested against, or None.
    ``by``: break the first score down by this. ``ideal``: add the gold itself.
    """

    metrics: tuple[str, ...] = ()
    scope: Scope | Literal["both"] = "both"
    weighting: Weighting | Literal["both"] = "both"
    holdout: float = SHARE_KEPT
    seed: int = 0
    runs: int = 1
    draws: Draws = USUAL_DRAWS
    baseline: int | None = 0
    by: str | None = None
    ideal: bool = False

    def __post_init__(self) -> None:
        if self.by is not None:
            check_breakdown(self.by)

    def score(
        self,
        entrants: Sequence[Entrant],
        golds: Sequence[GoldSet],
    ) -> Scores:
        """Score each entrant on each gold; `MorphGraphError` if none can be scored."""
        for gold_set in golds:
            if self.weighting != "both":
                gold_set.weights(self.weighting)  # fails if there are no frequencies
        tables = [table for gold_set in golds for table in self._tables(entrants, gold_set)]
        failed = [o for o in tables[0].outcomes if isinstance(o, SegmentationFailure)]
        if len(failed) == len(entrants):
            raise MorphGraphError(f"{failed[0].label}: {failed[0].message}")
        is_one = len(tables[0].outcomes) == 1 and self.runs == 1
        return Scores(
            tables,
            rows_by_language(tables) if len(golds) > 1 and is_one else [],
            [] if self.by is None else _broken_down(tables, self.by),
            self.metrics,
        )

    def _tables(self, entrants: Sequence[Entrant], gold_set: GoldSet) -> list[ScoreTable]:
        scored = outcomes(entrants, gold_set, self.holdout, self.seed, self.runs)
        if self.ideal:
            scored += [ideal_of(each.gold_set) for each in scored if isinstance(each, Outcome)][:1]
        chosen = self.metrics or USUAL
        baseline = self.baseline if len(entrants) > 1 else None
        return [
            ScoreTable(scored, scope, over, chosen, baseline=baseline, draws=self.draws)
            for scope in SCOPES
            if scope == self.scope or (self.scope == "both" and gold_set.has_gold(scope).any())
            for over in (gold_set.weightings if self.weighting == "both" else (self.weighting,))
        ]


def score_table(
    entrants: Sequence[Entrant],
    gold: GoldSet,
    scope: Scope,
    weighting: Weighting,
    metrics: Sequence[str],
    baseline: int | None = None,
) -> ScoreTable:
    """Return the scores of each entrant; `MorphGraphError` if none can be scored."""
    check_choice("scope", scope, SCOPES)
    check_choice("weighting", weighting, WEIGHTINGS)
    gold_set, chosen = check_gold(gold), tuple(check_list(metrics, "scores"))
    if not gold_set.has_gold(scope).any():
        raise MorphGraphError(
            f"{gold_set.reference.name} has no {scope} boundaries. Choose another scope."
        )
    scoring = Scoring(metrics=chosen, scope=scope, weighting=weighting, baseline=baseline)
    return scoring.score(entrants, [gold_set]).tables[0]


def outcomes(
    entrants: Sequence[Entrant], gold_set: GoldSet, holdout: float, seed: int, runs: int = 1
) -> list[Outcome | SegmentationFailure]:
    """Score what is named, on the words that nothing has learned from, if anything has."""
    labels = unique_labels([each.label for each in entrants])
    named = [replace(each, label=label) for each, label in zip(entrants, labels, strict=True)]
    if any(each.learner is not None for each in named):
        rest, kept = gold_set.set_aside(holdout, seed)
        return learn_and_score(named, kept, runs, rest)
    return learn_and_score(named, unseen_part(named, gold_set), runs)


@dataclass(frozen=True)
class Scores(Result):
    """The scores of tokenisers: a table for each gold, scope and weighting.

    ``languages``: of one tokeniser on several golds, a row for each. ``asked``: the scores that
    were asked for by name.
    """

    tables: Sequence[ScoreTable]
    languages: Sequence[LanguageRow] = ()
    breakdowns: Sequence[Breakdown] = ()
    asked: tuple[str, ...] = field(default=(), repr=False)

    def table(self) -> Table:
        """Return the one table: by language, or a block for each of `tables`."""
        if not self.languages:
            return scores_table(self.tables)
        return languages_table(self.languages, *([self.asked] if self.asked else []))

    def report(self, width: int | None = None) -> str:
        """Return all tables in lines, as the terminal shows them."""
        tables = map(breakdown_table, self.breakdowns)
        parts = [f"\n{visible(each.title)}\n{report_of(each, width)}" for each in tables]
        return "\n".join([super().report(width), *parts])

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as JSON data."""
        told: dict[str, Sequence[Any]]
        told = {"languages": self.languages, "breakdowns": self.breakdowns}
        return {
            "tables": [*map(table_report, self.tables)],
            **{
                name: [each.to_dict() for each in further]
                for name, further in told.items()
                if further
            },
        }


def _broken_down(tables: Sequence[ScoreTable], by: str) -> list[Breakdown]:
    """Break down each table's first score; results equal for several scopes appear once."""
    by_signature: dict[str, Breakdown] = {}
    for table in tables:
        gold_set = table.gold_set
        if by == "frequency" and gold_set is not None and gold_set.frequencies is None:
            raise MorphGraphError("--by frequency needs --frequencies, or counts in the gold.")
        kept = [o for o in table.outcomes if isinstance(o, Outcome) and not o.is_gold]
        chosen = (by, table.metrics[0], table.scope, table.weighting)
        breakdown = break_down(kept, *chosen, draws=table.draws)
        by_signature.setdefault(breakdown.signature, breakdown)
    return list(by_signature.values())

"""The commands that score and compare tokenisers by gold: score, compare."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import StatisticsError, fmean
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import Field

from morphgraph.cli import output
from morphgraph.cli.options import (
    Named,
    OnGold,
    Whole,
    named_methods,
    with_options,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_ending
from morphgraph.core.text import base_name, in_percent, unique_labels, visible
from morphgraph.score import SHARE_KEPT
from morphgraph.segment.method import Parameters

if TYPE_CHECKING:
    from morphgraph.refine.learning import Entrant
    from morphgraph.score.flota import FlotaScores
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.score.languages import LanguageRow
    from morphgraph.score.outcome import Outcome
    from morphgraph.score.table import Breakdown, ScoreTable, SegmentationFailure
    from morphgraph.tokeniser.tokeniser import BpeTokeniser


class Statistics(Parameters):
    """How scores are drawn again and tested.

    baseline: Test all others against this one, from 1; 0 for none.
    resamples: For intervals, at least 100; 0 for none.
    seed: For intervals, tests and --holdout.
    runs: For dropout: mean and standard deviation over this many seeds.
    """

    baseline: int = Field(default=1, ge=0)
    resamples: int = Field(default=1000, ge=0, le=100_000)
    seed: int = Field(default=0, ge=0, le=2**32)
    runs: int = Field(default=1, ge=1, le=1000)


def _explain(scores: str | None) -> str | None:
    if scores == "help":
        from morphgraph.score.metrics import GROUPS, METRICS

        listed = [
            [group, name, METRICS[name].meaning]
            for group, names in GROUPS.items()
            for name in names
        ]
        output.print_table(["group", "score", "meaning"], listed, left={0, 1, 2})
        raise typer.Exit
    return scores


@with_options
def score(
    given: OnGold,
    methods: list[str] | None = None,
    scores: Annotated[str | None, typer.Option(callback=_explain, is_eager=True)] = None,
    scope: Literal["morphemic", "whole-word", "both"] = "both",
    weighting: Literal["types", "tokens", "both"] = "both",
    holdout: Annotated[float, typer.Option(min=0, max=0.99)] = SHARE_KEPT,
    by: str | None = None,
    *,
    set_: Statistics,
    out: Path | None = None,
) -> None:
    """Score tokenisers against gold, with intervals, tests and signatures.

    One tokeniser on several golds is one table, a row for each of them.

    tokeniser: Whatever segments: a BPE, WordPiece or Unigram tokeniser, a trained model, a list of
        types, another program's segmentations, or demo:en, demo:de, demo:nl.
    methods: On the tokeniser, with parameters as in dropout(p=0.1), and other files that segment,
        with commas between: {scored}, ideal (the gold itself); {learning} learn from the gold. The
        tokeniser's own if not given.
    scores: Which scores, with commas between: names or groups, all, or flota for FLOTA's coverage,
        stem recall and full match. “help” lists them.
    scope: morphemic, whole-word or both.
    weighting: Over types, tokens or both.
    holdout: If a method learns from the gold: the share that is kept aside, by families of words,
        and that all are scored on; 0 learns from all words and scores on the same.
    by: Break the first score down by boundaries, affixes, formation, length, frequency or morphs.
    out: Also write the tables: .csv, .tex or .md.
    """
    from morphgraph.score.gold_set import SCOPES
    from morphgraph.score.languages import rows_by_language
    from morphgraph.score.metrics import USUAL, check_metrics
    from morphgraph.score.outcome import Outcome
    from morphgraph.score.outcome import ideal as ideal_of
    from morphgraph.score.table import ScoreTable, SegmentationFailure, check_breakdown
    from morphgraph.score.uncertainty import Draws
    from morphgraph.tables.scores import (
        breakdown_table,
        flota_table,
        languages_table,
        scores_table,
        table_report,
    )
    from morphgraph.tables.terminal import report_of
    from morphgraph.tables.writing import to_csv, to_latex, to_markdown

    writers: dict[str, Any] = {".csv": to_csv, ".tex": to_latex, ".md": to_markdown}
    if out is not None:
        check_ending(out, *writers)
    if by is not None:
        check_breakdown(by)
    resamples, seed, runs, baseline = set_.resamples, set_.seed, set_.runs, set_.baseline
    if 0 < resamples < 100:
        raise MorphGraphError(f"resamples={resamples} are too few. Give 100 or more, or 0.")
    asked = scores.split(",") if scores else []
    flota = "flota" in asked
    asked = [each for each in asked if each != "flota"]
    chosen = check_metrics(asked) if asked else USUAL
    chosen_methods = named_methods(methods)
    ideal = "ideal" in chosen_methods
    loaded, named = given.entrants([each for each in chosen_methods if each != "ideal"])
    if methods and not chosen_methods:
        raise MorphGraphError("There is nothing to score. Name some --methods, or leave them out.")
    if baseline > len(named):
        raise MorphGraphError(f"baseline={baseline}: there are {len(named)} tokenisers.")
    named = _named_apart(named)
    gold_sets = given.gold_sets()
    for gold_set in gold_sets:
        if weighting != "both":
            gold_set.weights(weighting)  # fails if there are no frequencies
    tested = baseline - 1 if baseline and len(named) > 1 else None
    tables: list[ScoreTable] = []
    for gold_set in gold_sets:
        outcomes = _outcomes(named, gold_set, holdout, seed, runs)
        if ideal:
            outcomes += [ideal_of(o.gold_set) for o in outcomes if isinstance(o, Outcome)][:1]
        draws = Draws(resamples, seed=seed)
        tables += [
            ScoreTable(outcomes, scoped, over, chosen, baseline=tested, draws=draws)
            for scoped in SCOPES
            if scoped == scope or (scope == "both" and gold_set.has_gold(scoped).any())
            for over in (gold_set.weightings if weighting == "both" else (weighting,))
        ]
    failed = [o for o in tables[0].outcomes if isinstance(o, SegmentationFailure)]
    if len(failed) == len(named):
        raise MorphGraphError(f"{failed[0].label}: {failed[0].message}")
    broken = _broken_down(tables, by) if by is not None else []
    found = _flota_scores(loaded, named, gold_sets) if flota else []
    languages: list[LanguageRow] = []
    if len(gold_sets) > 1 and len(tables[0].outcomes) == 1 and tables[0].runs == 1:
        languages = rows_by_language(tables)
    strict = _strict_scores(tables)
    notes = [
        f"MorphScore as released (morphscore_strict), {base_name(reference)}: "
        + ", ".join(f"{label} {in_percent(value)}" for label, value in found.items())
        + "."
        for reference, found in strict.items()
    ]
    shown = (chosen,) if asked else ()
    whole = languages_table(languages, *shown) if languages else scores_table(tables)
    whole = replace(whole, notes=(*whole.notes, *notes))
    if out is not None:
        output.write(out, writers[out.suffix](whole))
    if given.as_json:
        told: dict[str, Sequence[Any]] = {"languages": languages, "flota": found}
        told["breakdowns"] = broken
        found_in = {name: [each.to_dict() for each in made] for name, made in told.items() if made}
        strictly = {"morphscore_strict": strict} if strict else {}
        output.print_json({"tables": [*map(table_report, tables)], **found_in, **strictly})
        return
    for gold_set in gold_sets:
        output.print_skipped(gold_set.reference)
    print(report_of(whole))
    for further in (*map(breakdown_table, broken), *map(flota_table, found)):
        print(f"\n{visible(further.title)}\n{report_of(further)}")
    output.print_saved([out] if out is not None else [])


def _strict_scores(tables: "list[ScoreTable]") -> dict[str, dict[str, float]]:
    """Return MorphScore as released, by reference and tokeniser, for whole files of MorphScore.

    NaN for what has no ids that could be decoded.
    """
    from morphgraph.api.tokeniser import Tokeniser
    from morphgraph.score.outcome import Outcome
    from morphgraph.tables.model import HELD_IN

    found: dict[str, dict[str, float]] = {}
    for outcome in (each for table in tables for each in table.outcomes):
        if not isinstance(outcome, Outcome) or not outcome.gold_set.reference.morphscore_rows:
            continue
        reference = outcome.gold_set.reference
        label = f"{outcome.label}{f' ({HELD_IN})' * outcome.held_in}"
        known = found.setdefault(reference.name, {})
        if label not in known:
            runs = [Tokeniser(run.segmenter) for run in outcome.runs if run.segmenter is not None]
            known[label] = math.nan
            with suppress(MorphGraphError, StatisticsError):
                known[label] = fmean(run.morphscore_strict(reference) for run in runs)
    return found


def _broken_down(tables: "list[ScoreTable]", by: str) -> "list[Breakdown]":
    """Break down each table's first score; results equal for several scopes appear once."""
    from morphgraph.score.outcome import Outcome
    from morphgraph.score.table import break_down

    found: dict[str, Breakdown] = {}
    for table in tables:
        gold_set = table.gold_set
        if by == "frequency" and gold_set is not None and gold_set.frequencies is None:
            raise MorphGraphError("--by frequency needs --frequencies, or counts in the gold.")
        outcomes = [o for o in table.outcomes if isinstance(o, Outcome) and not o.is_gold]
        how = (by, table.metrics[0], table.scope, table.weighting)
        made = break_down(outcomes, *how, draws=table.draws)
        found.setdefault(made.signature, made)
    return list(found.values())


def _flota_scores(
    loaded: "BpeTokeniser | None", named: "list[Entrant]", gold_sets: "list[GoldSet]"
) -> "list[FlotaScores]":
    """Score FLOTA on the tokeniser's vocabulary, or on that of each model that has one."""
    from morphgraph.formats.loading import vocabulary_of
    from morphgraph.score.flota import flota_scores
    from morphgraph.segment.segmenter import standard_segmenter

    known = [getattr(each.made, "vocabulary", None) for each in named]
    pairs: list[Any] = [(each, standard_segmenter(each)) for each in known if each is not None]
    if loaded is not None:
        pairs = [(vocabulary_of(loaded), standard_segmenter(loaded))]
    if not pairs:
        raise MorphGraphError("The scores flota need a tokeniser with a list of types.")
    return [
        flota_scores(vocabulary, each.reference, standard, bare=each.bare)
        for each in gold_sets
        for vocabulary, standard in pairs
    ]


# ------------------------------------------------------------------------------ compare


@dataclass(frozen=True, kw_only=True)
class Compared(OnGold):
    """One gold only, so that methods may follow."""

    gold: Named  # type: ignore[assignment]  # one argument

    @property
    def names(self) -> list[str]:
        return [self.gold]


@with_options
def compare(
    given: Compared,
    method: Annotated[list[str] | None, typer.Argument()] = None,
    limit: Whole = 0,
    holdout: Annotated[float, typer.Option(min=0, max=0.99)] = SHARE_KEPT,
    seed: Whole = 0,
    out: Path | None = None,
) -> None:
    """Compare methods on the words of a gold: scores with intervals, and their agreement.

    tokeniser: Whatever segments: a BPE, WordPiece or Unigram tokeniser, a trained model, a list of
        types, or demo:en, demo:de, demo:nl.
    gold: A gold segmentation: FILE, demo:en, demo:de, demo:nl, catalogue:NAME, or - for standard
        input.
    method: On the tokeniser, with parameters as in dropout(p=0.1), or another file that segments:
        {scored}. The tokeniser's own if not given.
    holdout: If a method learns from the gold: the share that is kept aside, by families of words,
        and that all are compared on; 0 learns from all words and compares on the same.
    seed: Draws the words kept aside.
    limit: At most this many words of the gold; 0 for all.
    out: Also write the words: .csv, .tex or .html.
    """
    from morphgraph.tables.scores import SideBySide

    if out is not None:
        check_ending(out, ".csv", ".tex", ".html")
    [gold_set] = given.gold_sets()
    if limit:
        gold_set = gold_set.with_entries(gold_set.reference.entries[:limit])
    _, entrants = given.entrants(named_methods(method))
    with output.progress_bar("comparing"):
        compared = SideBySide(_outcomes(_named_apart(entrants), gold_set, holdout, seed))
        report = compared.to_dict()
    if out is not None:
        compared.save(out)
    if given.as_json:
        output.print_json(report)
    else:
        print(compared)
        output.print_saved([out] if out is not None else [])


def _named_apart(entrants: "list[Entrant]") -> "list[Entrant]":
    labels = unique_labels([each.label for each in entrants])
    return [replace(each, label=label) for each, label in zip(entrants, labels, strict=True)]


def _outcomes(
    entrants: "list[Entrant]", gold_set: "GoldSet", holdout: float, seed: int, runs: int = 1
) -> "list[Outcome | SegmentationFailure]":
    """Score what is named, on the words that nothing has learned from, if anything has."""
    from morphgraph.refine.learning import learn_and_score, unseen_part

    if any(each.learner is not None for each in entrants):
        rest, kept = gold_set.set_aside(holdout, seed)
        return learn_and_score(entrants, kept, runs, rest)
    return learn_and_score(entrants, unseen_part(entrants, gold_set), runs)

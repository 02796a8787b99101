"""The commands that score and compare tokenisers by gold: score, compare."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

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
from morphgraph.score import SHARE_KEPT
from morphgraph.segment.method import Parameters


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

        group_of = {name: group for group, names in GROUPS.items() for name in names}
        listed = [
            [group_of.get(name, "of a plug-in"), name, metric.meaning]
            for name, metric in METRICS.items()
        ]
        output.print_table(["group", "score", "meaning"], listed, {"score", "meaning"})
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

    One tokeniser on several golds gives one table, with a row for each gold.

    tokeniser: Anything that segments: a BPE, WordPiece or Unigram tokeniser, a trained model, a
        list of types, another program's segmentations, or demo:en, demo:de, demo:nl.
    methods: Methods on the tokeniser, and other files that segment, separated by commas: {scored},
        ideal (the gold itself). Parameters as in dropout(p=0.1). {learning} learn from the gold.
        The tokeniser's own method if not given.
    scores: Which scores, separated by commas: names or groups, or all. “help” lists them.
    scope: morphemic, whole-word or both.
    weighting: Over types, tokens or both.
    holdout: If a method learns from the gold: the share that is kept aside, by families of words,
        for all to be scored on. 0 learns from all words and scores on the same.
    by: Break the first score down by boundaries, affixes, formation, length, frequency or morphs.
    out: Also write the tables: .csv, .tex or .md.
    """
    from morphgraph.api.scoring import Scoring
    from morphgraph.score.metrics import check_metrics
    from morphgraph.score.uncertainty import Draws
    from morphgraph.tables.writing import WRITERS

    if out is not None:
        check_ending(out, *WRITERS)
    if 0 < set_.resamples < 100:
        raise MorphGraphError(f"resamples={set_.resamples} is too small. Give 100 or more, or 0.")
    chosen = named_methods(methods)
    scoring = Scoring(
        metrics=check_metrics(scores.split(",") if scores else []),
        scope=scope,
        weighting=weighting,
        holdout=holdout,
        seed=set_.seed,
        runs=set_.runs,
        draws=Draws(set_.resamples, seed=set_.seed),
        baseline=set_.baseline - 1 if set_.baseline else None,
        by=by,
        ideal="ideal" in chosen,
    )
    entrants = given.entrants([each for each in chosen if each != "ideal"])
    if methods and not chosen:
        raise MorphGraphError("There is nothing to score. Name some --methods, or leave them out.")
    if set_.baseline > (most := len(entrants)):
        raise MorphGraphError(
            f"baseline={set_.baseline} is too large. Give at most {most}, the number of tokenisers."
        )
    golds = given.gold_sets()
    scored = scoring.score(entrants, golds)
    if out is not None:
        scored.save(out)
    if given.as_json:
        output.print_json(scored.to_dict())
        return
    for gold_set in golds:
        for skip in gold_set.reference.left_out:
            print(f"skipped {skip}")
    print(scored)
    output.print_saved([out] if out is not None else [])


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

    tokeniser: Anything that segments: a BPE, WordPiece or Unigram tokeniser, a trained model, a
        list of types, or demo:en, demo:de, demo:nl.
    gold: A gold segmentation: FILE, demo:en, demo:de, demo:nl, catalogue:NAME, or - for standard
        input.
    method: On the tokeniser, with parameters as in dropout(p=0.1), or another file that segments:
        {scored}. The tokeniser's own if not given.
    holdout: If a method learns from the gold: the share that is kept aside, by families of words,
        and that all are compared on; 0 learns from all words and compares on the same.
    seed: Seed of the words kept aside.
    limit: At most this many words in --out and --json; 0 for all. Scores are over all words.
    out: Also write the words: .csv, .tex or .html.
    """
    from morphgraph.api.scoring import outcomes
    from morphgraph.tables.score_views import SideBySide

    if out is not None:
        check_ending(out, ".csv", ".tex", ".html")
    [gold_set] = given.gold_sets()
    entrants = given.entrants(named_methods(method))
    with output.progress_bar("comparing"):
        compared = SideBySide(outcomes(entrants, gold_set, holdout, seed), limit)
        report = compared.to_dict()
    if out is not None:
        compared.save(out)
    if given.as_json:
        output.print_json(report)
    else:
        print(compared)
        output.print_saved([out] if out is not None else [])

"""The command that knocks out types."""

from dataclasses import dataclass
from typing import Annotated

import typer

from morphgraph.cli.options import EditOptions, one_of, with_options
from morphgraph.cli.output import (
    check_out,
    print_json,
    print_never_formed,
    print_scores,
    print_skipped,
    progress_bar,
    save,
)
from morphgraph.core.text import counted


@dataclass(frozen=True, kw_only=True)
class KnockoutOptions(EditOptions):
    """Options of a knockout only."""

    select: Annotated[
        str,
        typer.Option(
            help="By blame, or a baseline: random, last, leaves.",
            callback=one_of("blame", "random", "last", "leaves"),
        ),
    ] = "blame"
    count: Annotated[
        int | None,
        typer.Option(min=0, help="How many types; as many as blame chooses if not given."),
    ] = None
    percent: Annotated[
        float | None, typer.Option(help="How many types, in % of those that merges produce.")
    ] = None


@with_options
def knockout(given: KnockoutOptions) -> None:
    """Knock out the types whose merges are most to blame, and save the tokeniser and the recipe."""
    from morphgraph.core.text import percent
    from morphgraph.refine.knockout import KnockoutSettings, knock_out
    from morphgraph.refine.learning import remember
    from morphgraph.score.boundaries import score_report

    check_out(given.out)
    loaded, benchmark = given.load()
    settings, edits = given.settings(KnockoutSettings), len(loaded.graph.history)
    with progress_bar("knocking out"):
        result = knock_out(loaded, benchmark, settings)
    if result.removed:
        remember(loaded, benchmark, settings)
    never = given.never_formed(loaded, len(loaded.graph.history) - edits)
    saved = [] if given.out is None else save(loaded, given.out)
    before = score_report(result.scored, result.before, result.signature_before)
    signature = result.scored.signature(loaded)
    if given.as_json:
        print_json(
            {
                "before": before,
                "after": score_report(result.scored, result.after, signature),
                "removed": result.removed,
                "never_formed": never,
                "dropout_rate": result.dropout_rate,
                "share_of_merges": result.share_of_merges,
                "share_of_leaves_in_last_half": result.late_leaves,
                "vocab_size": loaded.vocabulary_size,
                "seconds": result.seconds,
                "saved": saved,
            }
        )
        return
    print_scores(result.after, result.before)
    print(
        f"{counted(len(result.removed), 'type')} removed "
        f"({result.share_of_merges:.1%} of the merges, effective dropout rate "
        f"{percent(result.dropout_rate)} %); |V| is now {loaded.vocabulary_size:,}"
    )
    print_never_formed(never)
    if settings.select in ("last", "leaves"):
        print(f"{percent(result.late_leaves)} % of the last half of all merges make leaves")
    print_skipped(before["skipped"])
    for path in saved:
        print(f"saved {path}")
    print(signature)

"""Commands that change a tokeniser: knockout."""

from pathlib import Path
from typing import Annotated, Any

import typer

from morphgraph.cli.options import (
    BareOption,
    Drawn,
    EncodingOption,
    FirstOption,
    ForeignOption,
    FormatOption,
    FrequenciesOption,
    JoinOption,
    JsonOption,
    ReferenceOption,
    SampleOption,
    SampleSeedOption,
    ScopeOption,
    ThresholdOption,
    TokeniserOption,
    TuplesOption,
    WeightingOption,
    check_holdout,
    check_threshold,
    load_benchmark,
    one_of,
)
from morphgraph.cli.output import (
    check_folder,
    print_json,
    print_scores,
    print_skipped,
    progress_bar,
    save,
)
from morphgraph.core.text import counted


def knockout(
    tokenizer: TokeniserOption,
    reference: ReferenceOption,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the result.")] = None,
    threshold: ThresholdOption = 0.5,
    join: JoinOption = False,
    sample: SampleOption = None,
    sample_seed: SampleSeedOption = 0,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    frequencies: FrequenciesOption = None,
    include_foreign: ForeignOption = False,
    first_analysis: FirstOption = False,
    bare: BareOption = False,
    scope: ScopeOption = "morphemic",
    weighting: WeightingOption = "types",
    tuples_once: TuplesOption = False,
    select: Annotated[
        str, typer.Option(help="By blame, or a baseline: random, last, leaves.")
    ] = "blame",
    count: Annotated[
        int | None,
        typer.Option(min=0, help="How many types; as many as blame chooses if not given."),
    ] = None,
    percent: Annotated[
        float | None, typer.Option(help="How many types, in % of those that merges produce.")
    ] = None,
    minimum_vocabulary: Annotated[
        int, typer.Option("--min-vocab-size", help="Leave at least this many types.")
    ] = 0,
    holdout: Annotated[
        float, typer.Option(help="Share of entries that blame does not see and that are scored.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="For --holdout and --select random.")] = 0,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also remove what is made from a removed type.")
    ] = False,
    recipe: Annotated[
        Path | None, typer.Option(help="Replay this recipe first, or alone with --count 0.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Knock out the types whose merges are most to blame, and save the tokeniser and the recipe."""
    from morphgraph.core.files import read_bytes
    from morphgraph.core.text import percent as as_percent
    from morphgraph.refine.knockout import (
        SELECTIONS,
        KnockoutSettings,
        knock_out,
    )
    from morphgraph.refine.learning import remember
    from morphgraph.score.boundaries import or_none, score_report
    from morphgraph.tokeniser.recipe import read_recipe, replay

    check_threshold(threshold)
    check_holdout(holdout)
    check_folder(out)
    loaded, benchmark = load_benchmark(
        tokenizer,
        reference,
        format_,
        frequencies,
        include_foreign,
        first_analysis,
        bare,
        Drawn(join, sample, sample_seed),
        encoding,
    )
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    settings = KnockoutSettings(
        select=one_of(select, "--select", SELECTIONS),
        threshold=threshold,
        minimum_vocabulary=minimum_vocabulary,
        scope=one_of(scope, "--scope", ("morphemic", "whole-word")),
        weighting=one_of(weighting, "--weighting", ("types", "tokens")),
        tuples_once=tuples_once,
        count=count,
        percent=percent,
        holdout=holdout,
        seed=seed,
        cascade=cascade,
    )
    with progress_bar("knocking out"):
        result = knock_out(loaded, benchmark, settings)
    if result.removed:
        remember(loaded, benchmark, settings)
    saved = [] if out is None else save(loaded, out)
    report: dict[str, Any] = {
        "before": score_report(result.scored, result.before, result.signature_before),
        "after": score_report(result.scored, result.after, result.signature_after),
        "removed": result.removed,
        "dropout_rate": or_none(result.dropout_rate),
        "share_of_merges": result.share_of_merges,
        "share_of_leaves_in_last_half": or_none(result.late_leaves),
        "vocab_size": result.vocabulary_size,
        "seconds": result.seconds,
        "saved": saved,
    }
    if as_json:
        print_json(report)
        return
    print_scores(result.after, result.before)
    print(
        f"{counted(len(result.removed), 'type')} removed "
        f"({result.share_of_merges:.1%} of the merges, effective dropout rate "
        f"{as_percent(result.dropout_rate)} %); |V| is now {result.vocabulary_size:,}"
    )
    if select in ("last", "leaves"):
        print(f"{as_percent(result.late_leaves)} % of the last half of all merges make leaves")
    print_skipped(report["before"]["skipped"])
    for path in saved:
        print(f"saved {path}")
    print(result.signature_after)

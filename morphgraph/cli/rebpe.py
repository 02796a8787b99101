"""The command that runs ReBPE."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    print_table,
    progress_bar,
    save,
    write,
)

if TYPE_CHECKING:
    from morphgraph.refine.rebpe_run import Phase


def rebpe(
    tokenizer: TokeniserOption,
    reference: ReferenceOption,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the tokeniser, recipe and log.")
    ] = None,
    anneal: Annotated[
        bool, typer.Option(help="First add merges that hardly ever cross a boundary.")
    ] = True,
    reify: Annotated[
        bool, typer.Option(help="Repair, link and expand after each knockout.")
    ] = True,
    repair: Annotated[
        bool, typer.Option(help="Give tuple merges that can no longer apply other parts.")
    ] = True,
    link: Annotated[
        bool, typer.Option(help="Use pair merges that are there inside tuple merges.")
    ] = True,
    expand: Annotated[bool, typer.Option(help="Create pair merges inside tuple merges.")] = True,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Knockouts also remove what is made from a type.")
    ] = False,
    iterations: Annotated[int, typer.Option(min=0, help="At most this many.")] = 10,
    threshold: ThresholdOption = 0.5,
    minimum_vocabulary: Annotated[
        int, typer.Option("--min-vocab-size", min=0, help="Leave at least this many types.")
    ] = 0,
    maximum_vocabulary: Annotated[
        int | None, typer.Option("--max-vocab-size", min=0, help="Anneal up to this many types.")
    ] = None,
    minimum_good: Annotated[
        int,
        typer.Option(
            "--min-good", min=1, help="Anneal pairs that are inside a morph at least this often."
        ),
    ] = 3,
    minimum_ratio: Annotated[
        float,
        typer.Option(
            "--min-ratio", help="Anneal pairs that are inside a morph in at least this share."
        ),
    ] = 0.8,
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
    holdout: Annotated[
        float, typer.Option(help="Share of entries that the run does not see and that are scored.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="For --holdout.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Run ReBPE: anneal, then knock out and reify in turn until nothing changes."""
    from morphgraph.refine.learning import remember
    from morphgraph.refine.rebpe import ReBPESettings
    from morphgraph.refine.rebpe_run import ReBPERun
    from morphgraph.score.boundaries import score_report

    check_threshold(threshold)
    check_threshold(minimum_ratio, "--min-ratio")
    check_holdout(holdout)
    settings = ReBPESettings(
        anneal=anneal,
        reify=reify,
        repair=repair,
        link=link,
        expand=expand,
        cascade=cascade,
        iterations=iterations,
        threshold=threshold,
        minimum_vocabulary=minimum_vocabulary,
        maximum_vocabulary=maximum_vocabulary,
        scope=one_of(scope, "--scope", ("morphemic", "whole-word")),
        weighting=one_of(weighting, "--weighting", ("types", "tokens")),
        tuples_once=tuples_once,
        holdout=holdout,
        seed=seed,
        minimum_good=minimum_good,
        minimum_ratio=minimum_ratio,
    )
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
    with progress_bar("ReBPE") as advance:
        run = ReBPERun(loaded, benchmark, settings)
        before = run.scored.scores(run.segment_scored())
        run.finish(advance)
    remember(loaded, benchmark, settings)
    after = run.scored.scores(run.segment_scored())
    scored = score_report(run.scored, after, run.scored.signature(loaded))
    report: dict[str, Any] = {
        "phases": [phase.to_dict() for phase in run.phases],
        "before": [found.to_dict() for found in before],
        "after": [found.to_dict() for found in after],
        **scored,
        "converged": run.converged,
        "vocab_size": loaded.vocabulary_size,
        "seconds": sum(phase.seconds for phase in run.phases),
    }
    if out is not None:
        saved = save(loaded, out)
        log = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
        write(out / "log.json", log.encode())
        report["saved"] = [*saved, str(out / "log.json")]
    if as_json:
        print_json(report)
        return
    _print_phases(run.phases)
    print_scores(after, before)
    end = "converged" if run.converged else "stopped at the limit of iterations"
    print(f"{end} after {report['seconds']:.2f} s; |V| is now {loaded.vocabulary_size:,}")
    print_skipped(report["skipped"])
    for path in report.get("saved", ()):
        print(f"saved {path}")
    print(report["signature"])


def _print_phases(phases: "list[Phase]") -> None:
    from morphgraph.core.text import percent

    rows = [
        [
            str(phase.iteration),
            phase.kind,
            f"{phase.vocabulary_size:,}",
            percent(phase.score.precision),
            percent(phase.score.recall),
            percent(phase.score.f1),
            ", ".join(f"{number:,} {kind}" for kind, number in phase.counts.items()),
            f"{phase.seconds:.3f}",
        ]
        for phase in phases
    ]
    header = ["iteration", "phase", "|V|", "precision %", "recall %", "F1 %", "merges", "s"]
    print_table(header, rows, left={1, 6}, keys=2)

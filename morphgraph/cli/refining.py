"""The commands that blame merges and edit a tokeniser: blame, knockout, rebpe."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from morphgraph.cli.options import (
    BlameOptions,
    EditOptions,
    RatioOption,
    Whole,
    one_of,
    with_options,
)
from morphgraph.cli.output import (
    check_out,
    print_json,
    print_never_formed,
    print_saved,
    print_scores,
    print_skipped,
    print_table,
    progress_bar,
    save_files,
)
from morphgraph.core.text import counted


@with_options
def blame(given: BlameOptions, threshold: RatioOption = 0.0, limit: Whole = 50) -> None:
    """List the merges by blame: N (joins closed), B (of these on a gold boundary), R = B ÷ N.

    limit: At most this many merges; 0 for all.
    """
    import numpy as np

    from morphgraph.refine.blame import blame as blame_merges
    from morphgraph.refine.blame import blame_columns
    from morphgraph.tokeniser.merging import segment

    loaded, benchmark = given.load()
    how: Any = {name: getattr(given, name) for name in ("weighting", "scope", "tuples_once")}
    found = blame_merges(benchmark, segment(loaded.graph, benchmark.words), **how)
    positions = found.candidates(threshold)
    settings = f"{given.weighting} {given.scope}" + " tuples once" * given.tuples_once
    signature = benchmark.signature(loaded, blame=settings)
    columns = blame_columns(loaded, found, positions[: limit or None])
    del columns["merge_id"]
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    merges = [dict(zip(columns, row, strict=True)) for row in rows]
    if given.as_json:
        print_json(
            {
                "merges": merges,
                "threshold": threshold,
                "candidates": len(positions),
                "merges_in_all": len(found.arrays),
                "dropout_rate": found.dropout_rate(positions),
                "signature": signature,
            }
        )
        return
    forms = {"rank": ",", "merge": "", "type": "", "N": ",.0f", "B": ",.0f", "R": ".3f"}
    shown = [[format(merge[name], form) for name, form in forms.items()] for merge in merges]
    print_table(list(forms), shown, left={1, 2}, keys=2)
    print(f"{len(positions):,} of {counted(len(found.arrays), 'merge')} have R ≥ {threshold}")
    print(signature)


@dataclass(frozen=True, kw_only=True)
class KnockoutOptions(EditOptions):
    """Options of a knockout only.

    select: By blame, or a baseline: random, last, leaves.
    count: How many types; as many as blame chooses if not given.
    percent: How many types, in % of those that merges produce.
    """

    select: Annotated[str, one_of("blame", "random", "last", "leaves")] = "blame"
    count: Annotated[int | None, typer.Option(min=0)] = None
    percent: float | None = None


@with_options
def knockout(given: KnockoutOptions) -> None:
    """Knock out the types whose merges are most to blame, and save the tokeniser and the recipe."""
    from morphgraph.core.text import percent
    from morphgraph.formats.hugging_face import saved_files
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
    saved = save_files(saved_files(loaded), given.out)
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
        f"{counted(len(result.removed), 'type')} removed ({result.share_of_merges:.1%} of the "
        f"merges, effective dropout rate {percent(result.dropout_rate)} %); |V| is now "
        f"{loaded.vocabulary_size:,}"
    )
    print_never_formed(never)
    if settings.select in ("last", "leaves"):
        print(f"{percent(result.late_leaves)} % of the last half of all merges make leaves")
    print_skipped(before["skipped"])
    print_saved(saved)
    print(signature)


@dataclass(frozen=True, kw_only=True)
class ReBPEOptions(EditOptions):
    """Options of ReBPE only.

    anneal: First add merges that rarely cross a boundary.
    reify: Repair, link and expand after each knockout.
    repair: Give tuple merges that can no longer apply other parts.
    link: Use pair merges that are there inside tuple merges.
    expand: Create pair merges inside tuple merges.
    iterations: At most this many.
    maximum_vocabulary: Anneal up to this many types.
    minimum_good: Anneal pairs that are inside a morph at least this often.
    minimum_ratio: Anneal pairs that are inside a morph in at least this share.
    """

    anneal: bool = True
    reify: bool = True
    repair: bool = True
    link: bool = True
    expand: bool = True
    iterations: Whole = 10
    maximum_vocabulary: Annotated[int | None, typer.Option(min=0)] = None
    minimum_good: Annotated[int, typer.Option(min=1)] = 3
    minimum_ratio: RatioOption = 0.8


@with_options
def rebpe(given: ReBPEOptions) -> None:
    """Run ReBPE: anneal, then knock out and reify in turn until nothing changes."""
    from morphgraph.core.text import percent
    from morphgraph.formats.hugging_face import saved_files
    from morphgraph.refine.learning import remember
    from morphgraph.refine.rebpe import ReBPESettings
    from morphgraph.refine.rebpe_run import ReBPERun
    from morphgraph.score.boundaries import score_report

    settings = given.settings(ReBPESettings)
    check_out(given.out)
    loaded, benchmark = given.load()
    with progress_bar("ReBPE") as advance:
        run = ReBPERun(loaded, benchmark, settings)
        before = run.scored.scores(run.segment_scored())
        run.finish(advance)
    remember(loaded, benchmark, settings)
    never = given.never_formed(loaded, len(loaded.graph.history) - run.edits_before)
    after = run.scored.scores(run.segment_scored())
    report: dict[str, Any] = {
        "phases": [phase.to_dict() for phase in run.phases],
        "before": [found.to_dict() for found in before],
        "after": [found.to_dict() for found in after],
        **score_report(run.scored, after, run.scored.signature(loaded)),
        "converged": run.converged,
        "never_formed": never,
        "vocab_size": loaded.vocabulary_size,
        "seconds": sum(phase.seconds for phase in run.phases),
    }
    if given.out is not None:
        log = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
        report["saved"] = save_files({**saved_files(loaded), "log.json": log.encode()}, given.out)
    if given.as_json:
        print_json(report)
        return
    rows = [
        [
            str(phase.iteration),
            phase.kind,
            f"{phase.vocabulary_size:,}",
            *(percent(getattr(phase.score, name)) for name in ("precision", "recall", "f1")),
            ", ".join(f"{number:,} {kind}" for kind, number in phase.counts.items()),
            f"{phase.seconds:.3f}",
        ]
        for phase in run.phases
    ]
    header = ["iteration", "phase", "|V|", "precision %", "recall %", "F1 %", "merges", "s"]
    print_table(header, rows, left={1, 6}, keys=2)
    print_scores(after, before)
    end = "converged" if run.converged else "stopped at the limit of iterations"
    print(f"{end} after {report['seconds']:.2f} s; |V| is now {loaded.vocabulary_size:,}")
    print_never_formed(never)
    print_skipped(report["skipped"])
    print_saved(report.get("saved", ()))
    print(report["signature"])

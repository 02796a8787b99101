"""The command that runs ReBPE."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import EditOptions, RatioOption, with_options
from morphgraph.cli.output import (
    check_out,
    print_json,
    print_never_formed,
    print_scores,
    print_skipped,
    print_table,
    progress_bar,
    save_files,
)

if TYPE_CHECKING:
    from morphgraph.refine.rebpe import Phase


@dataclass(frozen=True, kw_only=True)
class ReBPEOptions(EditOptions):
    """Options of ReBPE only."""

    anneal: Annotated[bool, typer.Option(help="First add merges that rarely cross a boundary.")] = (
        True
    )
    reify: Annotated[bool, typer.Option(help="Repair, link and expand after each knockout.")] = True
    repair: Annotated[
        bool, typer.Option(help="Give tuple merges that can no longer apply other parts.")
    ] = True
    link: Annotated[
        bool, typer.Option(help="Use pair merges that are there inside tuple merges.")
    ] = True
    expand: Annotated[bool, typer.Option(help="Create pair merges inside tuple merges.")] = True
    iterations: Annotated[int, typer.Option(min=0, help="At most this many.")] = 10
    maximum_vocabulary: Annotated[
        int | None, typer.Option("--max-vocab-size", min=0, help="Anneal up to this many types.")
    ] = None
    minimum_good: Annotated[
        int,
        typer.Option(
            "--min-good", min=1, help="Anneal pairs that are inside a morph at least this often."
        ),
    ] = 3
    minimum_ratio: Annotated[
        float,
        RatioOption(
            "--min-ratio", help="Anneal pairs that are inside a morph in at least this share."
        ),
    ] = 0.8


@with_options
def rebpe(given: ReBPEOptions) -> None:
    """Run ReBPE: anneal, then knock out and reify in turn until nothing changes."""
    from morphgraph.refine.learning import remember
    from morphgraph.refine.rebpe import ReBPERun, ReBPESettings
    from morphgraph.score.boundaries import score_report
    from morphgraph.tokeniser.hugging_face import saved_files

    settings, out = given.settings(ReBPESettings), given.out
    check_out(out)
    loaded, benchmark = given.load()
    with progress_bar("ReBPE") as advance:
        run = ReBPERun(loaded, benchmark, settings)
        before = run.scored.scores(run.segment_scored())
        run.finish(advance)
    remember(loaded, benchmark, settings)
    never = given.never_formed(loaded, len(loaded.graph.history) - run.edits_before)
    after = run.scored.scores(run.segment_scored())
    scored = score_report(run.scored, after, run.scored.signature(loaded))
    report: dict[str, Any] = {
        "phases": [phase.to_dict() for phase in run.phases],
        "before": [found.to_dict() for found in before],
        "after": [found.to_dict() for found in after],
        **scored,
        "converged": run.converged,
        "never_formed": never,
        "vocab_size": loaded.vocabulary_size,
        "seconds": sum(phase.seconds for phase in run.phases),
    }
    if out is not None:
        log = json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False)
        report["saved"] = save_files({**saved_files(loaded), "log.json": log.encode()}, out)
    if given.as_json:
        print_json(report)
        return
    _print_phases(run.phases)
    print_scores(after, before)
    end = "converged" if run.converged else "stopped at the limit of iterations"
    print(f"{end} after {report['seconds']:.2f} s; |V| is now {loaded.vocabulary_size:,}")
    print_never_formed(never)
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

"""The command that counts the words of any amount of text."""

import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from morphgraph.cli.cluster import SchedulerOption, check_one_place, cluster_for
from morphgraph.cli.options import JsonOption
from morphgraph.cli.output import on_termination, print_json, print_message, progress_line
from morphgraph.core.text import clock, counted

if TYPE_CHECKING:
    from morphgraph.corpus.counting import Counting, CountProgress, CountReport, OnCountProgress


def count(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Text files, patterns, addresses, or folders: plain, csv, tsv, JSON lines, "
            "parquet; also packed as gz, bz2, xz or zst."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="Folder for the counts, as parquet; one file if it ends in .parquet."),
    ],
    pipeline: Annotated[
        str,
        typer.Option(help="What a word is: whitespace, or as knockout or rebpe train on."),
    ] = "whitespace",
    minimum_count: Annotated[
        int, typer.Option("--min-count", help="Leave out words with a lower total count.")
    ] = 1,
    column: Annotated[
        str | None,
        typer.Option(help="The column, or field, with the text; detected if not given."),
    ] = None,
    bad_lines: Annotated[
        Literal["stop", "skip"],
        typer.Option(
            help="What to do with an unreadable line, which ends the counting by default."
        ),
    ] = "stop",
    single: Annotated[bool, typer.Option("--single", help="Write one parquet file.")] = False,
    memory: Annotated[
        str, typer.Option(help="For counts and buffers, over all workers: 64M or more.")
    ] = "512M",
    workers: Annotated[
        int | None, typer.Option(help="Threads; one for each core if not given.")
    ] = None,
    scheduler: SchedulerOption = None,
    temp: Annotated[
        Path | None,
        typer.Option(help="Folder for what does not fit into memory; that of --out if not given."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count the words of any amount of text, for --counts and --frequencies."""
    from morphgraph.corpus.counting import parse_memory, plan_counting

    check_one_place(workers, scheduler)
    counting = plan_counting(
        paths,
        out,
        pipeline=pipeline,
        minimum_count=minimum_count,
        memory=parse_memory(memory),
        column=column,
        bad_lines=bad_lines,
        temp=temp,
        single=single or out.suffix == ".parquet",
    )
    asked: list[int] = []

    def end(number: int, frame: Any) -> None:
        """Turn a termination signal into an exit that cleans up the disk."""
        asked.append(number)
        raise KeyboardInterrupt

    try:
        with on_termination(end, signal.SIGTERM), progress_line("counting") as tell:
            report = _carried_out(
                counting,
                workers,
                scheduler,
                lambda at: tell(_line(at), at.bytes_done / at.bytes if at.bytes else 1.0),
            )
    except KeyboardInterrupt:
        if asked:
            raise SystemExit(128 + asked[0]) from None
        raise
    if report.bad:
        print_message(f"left out: {counted(report.bad, 'line')}")
        for line in report.first_bad:
            print_message(f"  {line}")
    if as_json:
        print_json(asdict(report))
        return
    print(
        f"{counted(report.words, 'running word')}, {report.distinct:,} distinct, in "
        f"{counted(report.files, 'file')}"
    )
    if not report.kept:
        print(
            f"no word occurs {counted(minimum_count, 'time')}: the file is empty", file=sys.stderr
        )
    rare = report.distinct - report.kept
    left_out = f", {rare:,} rarer than {minimum_count} left out" if minimum_count > 1 else ""
    print(f"{counted(report.kept, 'word')}{left_out}: saved {report.saved}")


def _carried_out(
    counting: "Counting",
    workers: int | None,
    scheduler: str | None,
    progress: "OnCountProgress",
) -> "CountReport":
    from morphgraph.corpus.counting import run_counting, workers_for

    here = workers_for(counting, workers)
    if scheduler is None:
        return run_counting(counting, None, here, progress)
    from morphgraph.batch.cluster import runner_on

    with cluster_for(here, scheduler)() as client:
        there = min(len(client.scheduler_info(-1)["workers"]), len(counting.blocks))
        there = max(1, min(there, counting.max_workers))
        return run_counting(counting, runner_on(client), there, progress)


def _line(at: "CountProgress") -> str:
    """Format progress: counting: 3 of 8 tasks, 120 of 400 MB, 61.2 MB/s, 0:05 left."""
    line = f"{at.stage}: {at.done:,} of {counted(at.tasks, 'task')}"
    if at.stage != "counting":
        return line
    line += f", {at.bytes_done / 1e6:,.0f} of {at.bytes / 1e6:,.0f} MB"
    if not at.bytes_done or not at.seconds:
        return line
    speed = at.bytes_done / at.seconds
    left = clock((at.bytes - at.bytes_done) / speed)
    return f"{line}, {speed / 1e6:,.1f} MB/s, {left} left"

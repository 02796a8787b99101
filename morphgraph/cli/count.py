"""The command that counts the words of any amount of text."""

import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import JsonOption
from morphgraph.cli.output import asked_to_end, print_json, progress_line
from morphgraph.core.text import counted

if TYPE_CHECKING:
    from morphgraph.corpus.counting import CountProgress


def count(
    paths: Annotated[
        list[str],
        typer.Argument(help="Text files, or folders of them: plain, csv, tsv, parquet; or .gz."),
    ],
    out: Annotated[Path, typer.Option(help="Where to write the counts, as parquet.")],
    pipeline: Annotated[
        str,
        typer.Option(help="What a word is: whitespace, or as knockout or rebpe train on."),
    ] = "whitespace",
    minimum_count: Annotated[
        int, typer.Option("--min-count", help="Leave out words that are rarer than this in all.")
    ] = 1,
    column: Annotated[
        str | None, typer.Option(help="The column of tables with the text; found if not given.")
    ] = None,
    memory: Annotated[
        str, typer.Option(help="For counts and buffers, over all workers: 64M or more.")
    ] = "512M",
    workers: Annotated[
        int | None, typer.Option(help="How many processes; one for each core if not given.")
    ] = None,
    temp: Annotated[
        Path | None,
        typer.Option(help="Folder for what does not fit into memory; that of --out if not given."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count the words of any amount of text, for --counts and --frequencies."""
    from morphgraph.corpus.counting import count_to_parquet, parse_memory

    limit = parse_memory(memory)
    with asked_to_end(_end, signal.SIGTERM), progress_line("counting") as tell:
        report = count_to_parquet(
            paths,
            out,
            pipeline=pipeline,
            minimum_count=minimum_count,
            memory=limit,
            workers=workers,
            column=column,
            temp=temp,
            progress=lambda at: tell(_line(at), at.bytes_done / at.bytes if at.bytes else 1.0),
        )
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


def _end(number: int, frame: Any) -> None:
    """Let what asks the program to end also clear away what is on disk."""
    raise SystemExit(128 + number)


def _line(at: "CountProgress") -> str:
    """Such as: counting: 3 of 8 files, 120 of 400 MB, 61.2 MB/s, 0:05 left."""
    line = f"{at.stage}: {at.files_done:,} of {counted(at.files, 'file')}"
    if at.stage != "counting":
        return line
    line += f", {at.bytes_done / 1e6:,.0f} of {at.bytes / 1e6:,.0f} MB"
    if not at.bytes_done or not at.seconds:
        return line
    speed = at.bytes_done / at.seconds
    left = round((at.bytes - at.bytes_done) / speed)
    hours, minutes = left // 3600, left // 60 % 60
    clock = f"{hours}:{minutes:02}:{left % 60:02}" if hours else f"{minutes}:{left % 60:02}"
    return f"{line}, {speed / 1e6:,.1f} MB/s, {clock} left"

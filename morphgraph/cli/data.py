"""The commands that read words and gold: count, and those of references."""

import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from morphgraph.cli import output
from morphgraph.cli.options import (
    AS_FOUND,
    GoldReading,
    Named,
    Whole,
    with_options,
    workers_at,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file

if TYPE_CHECKING:
    from morphgraph.reference.catalogue import CatalogueEntry


@with_options
def count(
    paths: Annotated[list[str], typer.Argument()],
    out: Path,
    pipeline: str = "whitespace",
    minimum_count: int = 1,
    column: str | None = None,
    bad_lines: Literal["stop", "skip"] = "stop",
    memory: str = "512M",
    workers: int | None = None,
    scheduler: str | None = None,
    temp: Path | None = None,
    as_json: bool = False,
) -> None:
    """Count the words of any amount of text, for train, prune, extend and --frequencies.

    paths: Text files, patterns, or folders: plain, csv, tsv, JSON lines, parquet; also packed as gz
        or zst.
    out: The parquet file to write.
    pipeline: What a word is: whitespace, or as knockout or rebpe train on.
    minimum_count: Leave out words with a lower total count.
    column: The column, or field, with the text; detected if not given.
    bad_lines: What to do with an unreadable line, which ends the counting by default.
    memory: For counts and buffers, over all workers: 64M or more.
    workers: Threads; one for each core if not given.
    temp: Folder for what does not fit into memory; that of --out if not given.
    """
    from morphgraph.corpus.counting import count_words, parse_memory, workers_for

    asked: list[int] = []

    def end(number: int, frame: Any) -> None:
        """Interrupt the counting, also inside DuckDB, so that it cleans up the disk."""
        asked.append(number)
        raise KeyboardInterrupt

    size = parse_memory(memory)
    try:
        with (
            output.on_termination(end, signal.SIGTERM),
            output.progress_line("counting") as tell,
            workers_at(workers, scheduler, processes=False) as (run, there),
        ):
            report = count_words(
                paths,
                out,
                pipeline=pipeline,
                minimum_count=minimum_count,
                memory=size,
                column=column,
                bad_lines=bad_lines,
                temp=temp,
                workers=workers_for(size, workers if run is None else there),
                run=run,
                progress=tell,
            )
    except KeyboardInterrupt:
        if asked:
            raise SystemExit(128 + asked[0]) from None
        raise
    output.print_left_out(report)
    if as_json:
        output.print_json(asdict(report))
        return
    print(report)


# ------------------------------------------------------------------------------ references


@with_options
def show(
    gold: Named,
    read: GoldReading = AS_FOUND,
    limit: Whole = 20,
    as_json: bool = False,
) -> None:
    """Show a reference: its entries, what they consist of, and which lines were skipped.

    limit: At most this many entries; 0 for all.
    """
    from morphgraph.tables.references import ShownReference

    shown = ShownReference(read.golds([gold])[0], limit)
    if as_json:
        output.print_json(shown.to_dict())
    else:
        print(shown)


@with_options
def list_sources(language: str | None = None, as_json: bool = False) -> None:
    """List the public references; the network is not used.

    language: Only of this language, script or family: deu, de, German, Cyrillic or Uralic.
    """
    from morphgraph.reference.catalogue import LANGUAGES, found_path, sources_of

    sources = [(source, found_path(source)) for source in sources_of(language)]
    rows: list[dict[str, Any]] = [
        {key: value or None for key, value in asdict(source).items()}
        | {
            "scripts": list(dict.fromkeys(LANGUAGES[c].script for c in source.languages)),
            "families": list(dict.fromkeys(LANGUAGES[c].family for c in source.languages)),
            "downloaded": path is not None,
            "path": None if path is None else str(path),
        }
        for source, path in sources
    ]
    if as_json:
        output.print_json({"sources": rows})
        return
    titles = ["name", "language", "script", "family", "format", "entries", "licence", "downloaded"]
    lines = [
        [
            source.name,
            source.language_names,
            ", ".join(row["scripts"]),
            ", ".join(row["families"]),
            source.format,
            "n/a" if source.entries is None else f"{source.entries:,}",
            source.licence,
            ("no" if path is None else "yes") if source.can_be_fetched else "by yourself",
        ]
        for (source, path), row in zip(sources, rows, strict=True)
    ]
    output.print_table(titles, lines, {*titles} - {"entries"})
    print("Get one, or learn how, with: morphgraph reference get NAME")


@with_options
def get_source(
    name: Annotated[str, typer.Argument()],
    accept_licence: bool = False,
    out: Path | None = None,
) -> None:
    """Download a public reference, once you accept its licence, and check its checksum.

    name: A name from “reference list”.
    accept_licence: I accept the licence; do not ask.
    out: Copy the file here as well; nothing is replaced.
    """
    from morphgraph.reference.catalogue import (
        find_source,
        get,
        how_to_fetch_by_hand,
        is_downloaded,
        is_intact,
    )

    source = find_source(name)
    if not source.can_be_fetched:
        raise MorphGraphError(how_to_fetch_by_hand(source))
    if out is not None and out.exists() and not is_intact(out, source):
        raise MorphGraphError(
            f"{out}: there is another file, which is not replaced. Choose another --out."
        )
    if not (accept_licence or is_downloaded(source)):
        _ask(source)
        accept_licence = True
    with output.progress_bar(f"{source.name} ({_size_of(source)})") as tell:
        path = get(source.name, accept_licence, tell)
    if out is not None:
        write_file(out, path.read_bytes())
        path = out
    print(path)
    print(f"Licence: {source.licence} ({source.licence_url}). Please cite:")
    print(source.citation)
    print(f"Use it with: morphgraph score demo:en {path}")


@with_options
def make_silver(
    counts: Named,
    out: Path,
    gold: str | None = None,
    read: GoldReading = AS_FOUND,
    words: Annotated[int, typer.Option(min=1)] = 50_000,
    seed: Whole = 0,
) -> None:
    """Make a reference for a language without gold: Morfessor finds morphs in word counts.

    Results call it silver: it is good for a first look, but it is not gold. Four of five runs have
    to agree on a boundary.

    counts: Word counts: FILE (word⇥count per line) or wordfreq:LANG.
    out: The file to write: a word and its morphs per line.
    gold: Some gold: up to 500 of its words show how many boundaries there should be.
    words: At most this many words, the most frequent.
    seed: The first of the five runs' seeds.
    """
    from morphgraph.api.gold import silver_text

    known = read.gold(gold)
    with output.progress_bar("five runs of Morfessor") as tell:
        text, _ = silver_text(counts, known, words, seed, tell)
    write_file(out, text)
    about, _, lines = text.partition("\n")
    divided = sum(" " in line for line in lines.splitlines())
    print(f"{about.removeprefix('# ')}\n{divided:,} words have several morphs: saved {out}")


REFERENCE = typer.Typer(name="reference", no_args_is_help=True, add_completion=False)


@REFERENCE.callback()
def reference() -> None:
    """Gold segmentations: inspect a file, download a public one, or make a silver one."""


for name, command in {
    "show": show,
    "list": list_sources,
    "get": get_source,
    "silver": make_silver,
}.items():
    REFERENCE.command(name=name)(command)


def _size_of(source: "CatalogueEntry") -> str:
    return f"{source.size / 1e6:.1f} MB" if source.size else "of unknown size"


def _ask(source: "CatalogueEntry") -> None:
    for line in (
        f"{source.name}: {source.title}, {source.language_names}",
        f"Licence: {source.licence} ({source.licence_url})",
        f"From: {source.url} ({_size_of(source)}); home page: {source.home}",
        f"To cite:\n{source.citation}",
    ):
        print(line, file=sys.stderr)
    if not sys.stdin.isatty():
        raise MorphGraphError(
            f"Nothing is fetched before you accept the licence of {source.name}. If you do, add "
            "--accept-licence."
        )
    if not typer.confirm("Do you accept the licence, and download it?", default=False, err=True):
        print("Nothing was fetched.", file=sys.stderr)
        raise typer.Exit(1)

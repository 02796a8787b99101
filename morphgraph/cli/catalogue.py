"""Commands for the catalogue of public references: ``reference list`` and ``reference get``."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from morphgraph.cli.options import JsonOption
from morphgraph.cli.output import print_json, print_table, progress_bar, write
from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    from morphgraph.reference.catalogue import Source


def list_sources(
    language: Annotated[
        str | None, typer.Option("--language", help="Only of this language: deu, de or German.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the public references that can be had; the network is not used."""
    from morphgraph.reference.catalogue import sources_of
    from morphgraph.reference.downloads import cached_path, is_downloaded

    found = sources_of(language)
    if as_json:
        rows = []
        for source in found:
            there = is_downloaded(source)
            path = str(cached_path(source)) if there else None
            known = {key: value or None for key, value in asdict(source).items()}
            rows.append({**known, "downloaded": there, "path": path})
        print_json({"sources": rows})
        return
    print_table(
        ["name", "language", "format", "entries", "licence", "downloaded"],
        [
            [
                source.name,
                source.language_names,
                source.format,
                "n/a" if source.entries is None else f"{source.entries:,}",
                source.licence,
                ("yes" if is_downloaded(source) else "no")
                if source.can_be_fetched
                else "by yourself",
            ]
            for source in found
        ],
        left={0, 1, 2, 4, 5},
    )
    print("Get one, or learn how, with: morphgraph reference get NAME")


def get_source(
    name: Annotated[str, typer.Argument(help="A name from “reference list”.")],
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="I accept the licence; do not ask.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Copy the file here as well; nothing is replaced.")
    ] = None,
) -> None:
    """Download a public reference, once you accept its licence, and check its SHA-256."""
    from morphgraph.reference.catalogue import find_source
    from morphgraph.reference.downloads import get, how_to_fetch_by_hand, is_downloaded

    source = find_source(name)
    if not source.can_be_fetched:
        raise MorphGraphError(how_to_fetch_by_hand(source))
    if out is not None:
        _check_target(out, source)
    if not (accept_licence or is_downloaded(source)):
        _ask(source)
        accept_licence = True
    with progress_bar(f"{source.name} ({size_of(source)})") as show:
        path = get(source.name, accept_licence, show)
    if out is not None:
        write(out, path.read_bytes())
        path = out
    print(path)
    print(f"Licence: {source.licence} ({source.licence_url}). Please cite:")
    print(source.citation)
    print(f"Use it with: --reference {path}")


def size_of(source: "Source") -> str:
    """The size of a source's file for people."""
    return f"{source.size / 1e6:.1f} MB"


def _ask(source: "Source") -> None:
    """Show the terms and ask on a terminal; an error where nobody can answer."""
    print(f"{source.name}: {source.title}, {source.language_names}", file=sys.stderr)
    print(f"Licence: {source.licence} ({source.licence_url})", file=sys.stderr)
    print(f"From: {source.url} ({size_of(source)}); home page: {source.home}", file=sys.stderr)
    print(f"To cite:\n{source.citation}", file=sys.stderr)
    if not sys.stdin.isatty():
        raise MorphGraphError(
            f"Nothing is fetched before you accept the licence of {source.name}. If you do, add "
            "--accept-licence."
        )
    if not typer.confirm("Do you accept the licence, and download it?", default=False, err=True):
        print("Nothing was fetched.", file=sys.stderr)
        raise typer.Exit(1)


def _check_target(out: Path, source: "Source") -> None:
    """Fail before the download if a copy would replace something else."""
    import pooch

    if out.is_dir():
        raise MorphGraphError(f"{out}: it is a folder. Name a file in it with --out.")
    if not out.exists():
        return
    try:
        same = out.stat().st_size == source.size and pooch.file_hash(out) == source.sha256
    except OSError as error:
        problem = (error.strerror or "it cannot be read").lower()
        raise MorphGraphError(f"{out}: {problem}. Choose another --out.") from error
    if not same:
        raise MorphGraphError(
            f"{out}: there is another file already, which is not replaced. Choose another --out."
        )

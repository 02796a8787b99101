"""The commands for references: ``reference show``, ``reference list`` and ``reference get``."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from morphgraph.cli.options import JsonOption, Reading, with_options
from morphgraph.cli.output import print_json, print_table, progress_bar, write
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, visible

if TYPE_CHECKING:
    from morphgraph.reference.catalogue import CatalogueEntry
    from morphgraph.reference.entry import Description, Entry, Reference


@with_options
def show(
    file: Annotated[
        str,
        typer.Argument(help="A gold segmentation, demo:en, demo:de, demo:nl, or catalogue:NAME."),
    ],
    reading: Reading,
    limit: Annotated[int, typer.Option(min=0, help="At most this many entries; 0 for all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show a reference: its entries, what they consist of, and which lines were skipped."""
    from morphgraph.reference.entry import describe_reference

    reference = reading.read(file)
    description = describe_reference(reference)
    shown = reference.entries[: limit or None]
    if as_json:
        print_json(
            {
                "name": reference.name,
                "format": reference.format,
                "checksum": reference.checksum,
                "partial": reference.partial,
                "description": asdict(description),
                "entries": [asdict(entry) for entry in shown],
                "skipped": [asdict(skip) for skip in reference.skipped],
            }
        )
        return
    _print_entries(shown)
    if len(shown) < len(reference):
        print(f"… {counted(len(reference) - len(shown), 'more entry', 'more entries')}")
    print()
    _print_description(reference, description)
    for skip in reference.skipped:
        print(f"skipped {skip.count:,}: {skip.reason} (first: line {skip.first_line:,})")


def _print_entries(entries: "tuple[Entry, ...]") -> None:
    rows = [
        [
            f"{entry.line:,}",
            visible(entry.word),
            visible(" ".join(entry.morphs)),
            " ".join(kind.value if kind else "–" for kind in entry.kinds or ()),
            visible(" ".join(entry.whole_words or ())),
            visible(" ".join(entry.underlying or ())),
            " ".join(entry.processes or ()),
            "" if entry.count is None else f"{entry.count:,g}",
        ]
        for entry in entries
    ]
    names = ["line", "word", "morphs", "kinds", "whole words", "underlying", "processes", "count"]
    # An empty column is left out.
    kept = [at for at in range(len(names)) if at < 3 or any(row[at] for row in rows)]
    print_table(
        [names[at] for at in kept],
        [[row[at] for at in kept] for row in rows],
        left={place for place, at in enumerate(kept) if names[at] not in ("line", "count")},
        keys=2,
    )


def _print_description(reference: "Reference", description: "Description") -> None:
    from morphgraph.core.text import percent

    synthesis = description.index_of_synthesis
    print_table(
        ["morphs per word", "entries"],
        [[f"{n}", f"{times:,}"] for n, times in description.morphs_per_word.items()],
        left=set(),
    )
    print()
    if description.kinds:
        counts = {**description.kinds, "without a kind": description.morphs_without_kind}
        print_table(
            ["kind", "morphs"],
            [[kind, f"{times:,}"] for kind, times in counts.items() if times],
            left={0},
        )
        print()
    for name, affixes in (("prefixes", description.prefixes), ("suffixes", description.suffixes)):
        if affixes:
            listed = ", ".join(f"{visible(affix)} {times:,}" for affix, times in affixes)
            print(f"most frequent {name}: {listed}")
    print(
        f"{counted(description.entries, 'entry', 'entries')} of "
        f"{counted(description.words, 'word')}, "
        f"{description.words_with_several_analyses:,} of these with several analyses "
        f"({visible(reference.name)}, {reference.format})"
    )
    print(
        "index of synthesis: "
        + ("n/a" if synthesis != synthesis else f"{synthesis:.3f} morphs per entry")
    )
    print(f"entries with whole words: {percent(description.whole_word_share)} %")
    print(f"longest word: {visible(description.longest_word)}")
    if reference.partial:
        print(reference.partial_note)


def list_sources(
    language: Annotated[
        str | None, typer.Option("--language", help="Only of this language: deu, de or German.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the public references that can be had; the network is not used."""
    from morphgraph.reference.catalogue import cached_path, is_downloaded, sources_of

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
    from morphgraph.reference.catalogue import find_source, get, how_to_fetch_by_hand, is_downloaded

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


def size_of(source: "CatalogueEntry") -> str:
    """Format the size of a source's file."""
    return f"{source.size / 1e6:.1f} MB"


def _ask(source: "CatalogueEntry") -> None:
    """Show the terms and ask on a terminal; an error without one."""
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


def _check_target(out: Path, source: "CatalogueEntry") -> None:
    """Fail before the download if a copy would replace another file."""
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

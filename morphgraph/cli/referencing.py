"""The command that looks at a reference: show."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import (
    EncodingOption,
    ForeignOption,
    FormatOption,
    JsonOption,
    read_gold,
)
from morphgraph.cli.output import print_json, print_table
from morphgraph.core.text import counted, visible

if TYPE_CHECKING:
    from morphgraph.reference.description import Description
    from morphgraph.reference.entry import Entry, Reference


def show(
    file: Annotated[
        str,
        typer.Argument(help="A gold segmentation, demo:en, demo:de, demo:nl, or catalogue:NAME."),
    ],
    format_: FormatOption = None,
    include_foreign: ForeignOption = False,
    encoding: EncodingOption = None,
    limit: Annotated[int, typer.Option(min=0, help="At most this many entries; 0 for all.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show a reference: its entries, what they consist of, and which lines were skipped."""
    from morphgraph.reference.description import describe

    reference = read_gold(file, format_, include_foreign, encoding)
    description = describe(reference)
    shown = reference.entries[: limit or None]
    if as_json:
        print_json(_report(reference, description, shown))
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
    # A column that nothing stands in is left out.
    kept = [at for at in range(len(names)) if at < 3 or any(row[at] for row in rows)]
    print_table(
        [names[at] for at in kept],
        [[row[at] for at in kept] for row in rows],
        left={place for place, at in enumerate(kept) if names[at] not in ("line", "count")},
        keys=2,
    )


def _print_description(reference: "Reference", description: "Description") -> None:
    from morphgraph.core.numbers import percent

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


def _report(
    reference: "Reference", description: "Description", entries: "tuple[Entry, ...]"
) -> dict[str, Any]:
    """All that is shown, as data; what is undefined is None."""
    from dataclasses import asdict

    from morphgraph.score.boundaries import or_none

    numbers = {
        name: or_none(value) if isinstance(value, float) else value
        for name, value in asdict(description).items()
    }
    return {
        "name": reference.name,
        "format": reference.format,
        "checksum": reference.checksum,
        "partial": reference.partial,
        "description": numbers,
        "entries": [
            {
                "line": entry.line,
                "word": entry.word,
                "morphs": entry.morphs,
                "kinds": entry.kinds and [kind.value if kind else None for kind in entry.kinds],
                "whole_words": entry.whole_words,
                "underlying": entry.underlying,
                "processes": entry.processes,
                "count": entry.count,
            }
            for entry in entries
        ],
        "skipped": [asdict(skip) for skip in reference.skipped],
    }

"""The command that finds under-trained types of a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.cli.options import JsonOption, with_options, word_counts
from morphgraph.cli.output import (
    check_out,
    print_json,
    print_table,
    progress_bar,
)
from morphgraph.core.files import write_files
from morphgraph.core.text import count_text, counted, shortened, visible

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.models.undertrained_types import UndertrainedTypes


@with_options
def undertrained(
    model: Annotated[Path, typer.Argument(help="Folder of a model, its weights in safetensors.")],
    frequencies: Annotated[
        str | None, typer.Option(help="Word counts that types are counted in: FILE, wordfreq:LANG.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="The model's tokeniser, if it is not in its folder.")
    ] = None,
    padded: Annotated[
        bool, typer.Option("--padded", help="Rows beyond the tokeniser's ids are padding.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            help="Rank types by norm, cosine or euclidean: the norm of the input row, or its "
            "distance from unused rows. By default cosine where one matrix is input and output, "
            "else norm, as Land & Bartolo's program does."
        ),
    ] = None,
    share: Annotated[
        float, typer.Option(help="The share of types, those that rank lowest, that stand out.")
    ] = 0.02,
    limit: Annotated[int, typer.Option(min=0, help="At most this many types; 0 for all.")] = 50,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the table (CSV) and the chart (HTML).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the under-trained types of a model by their rows."""
    from morphgraph.models.undertrained_types import check_stand_out, undertrained_types
    from morphgraph.score.vocabulary import NamedCounts

    check_stand_out(share)
    check_out(out)
    corpus = NamedCounts(word_counts(frequencies), frequencies) if frequencies else None
    with progress_bar("looking at rows"):
        found = undertrained_types(model, corpus, tokeniser=tokenizer, padded=padded, by=by)
    saved = [] if out is None else _save(found, out)
    chosen = found.standing_out(share)
    shown = chosen[: limit or None]
    kinds = found.by_kind(share)
    if as_json:
        print_json(
            {
                "model": found.name,
                "tied": found.tied,
                "rows": len(found.frame),
                "unused": found.unused,
                "unused_are": found.unused_are,
                "ranked_by": found.ranked_by,
                "kinds": kinds.to_dict("records"),
                "types": shown.to_dict("records"),
                "saved": saved,
            }
        )
        return
    _print(kinds, {"kind"})
    print(f"{counted(found.unused, 'row')} taken for unused: {found.unused_are}")
    if len(shown):
        print(f"{len(shown):,} of {counted(len(chosen), 'type')}, lowest {found.ranked_by} first:")
        _print(shown, {"type", "kind"})
    for path in saved:
        print(f"saved {path}")


def _save(found: "UndertrainedTypes", out: Path) -> list[str]:
    from morphgraph.draw.charts import undertrained_page
    from morphgraph.tables.writing import frame_csv

    files = {
        out / "undertrained.csv": frame_csv(found.frame),
        out / "undertrained.html": undertrained_page(found).encode(),
    }
    write_files(files, " with --out")
    return [str(path) for path in files]


def _print(table: "pd.DataFrame", texts: set[str]) -> None:
    """Print a table with three-digit distances and norms, without all-unknown columns."""
    known = [name for name in table.columns if table[name].notna().any()]
    rows = [
        [_cell(name, value) for name, value in zip(known, row, strict=True)]
        for row in table[known].itertuples(index=False)
    ]
    left = {place for place, name in enumerate(known) if name in texts}
    print_table([name.replace("_", " ") for name in known], rows, left=left)


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return visible(shortened(value))
    if name.startswith(("input", "output")):
        return f"{value:.3f}" if value == value else "n/a"
    return count_text(float(value))

"""The commands that look into models: transplant, undertrained."""

from pathlib import Path
from typing import Annotated, Any

import typer

import morphgraph_models as models
from morphgraph.cli import output
from morphgraph.cli.options import Whole, with_options
from morphgraph.core.files import write_files
from morphgraph_models.settings import STANDS_OUT, RowSettings


@with_options
def transplant(
    model: Annotated[Path, typer.Argument()],
    tokeniser: Annotated[Path, typer.Argument()],
    set_: Annotated[RowSettings, "init", "norm", "seed"],
    out: Path | None = None,
    old: str | None = None,
    padded: bool = False,
    as_json: bool = False,
) -> None:
    """Transplant a model to another tokeniser: copy the rows of kept types, make the others.

    model: Folder of a model, its weights in safetensors.
    tokeniser: Folder of the new tokeniser, such as export writes.
    out: New folder for the model with the new tokeniser; without it, nothing is written.
    old: The tokeniser that the model was trained with; the one in its folder if not given.
    padded: Rows beyond the old tokeniser's ids are padding, however many.
    """
    options: Any = dict(set_)
    transplanted = models.transplant(
        model, tokeniser, out, old_tokenizer=old, padded=padded, **options
    )
    if as_json:
        output.print_json(transplanted.to_dict())
    else:
        print(transplanted)


@with_options
def undertrained(
    model: Annotated[Path, typer.Argument()],
    tokeniser: Annotated[str | None, typer.Argument()] = None,
    frequencies: str | None = None,
    padded: bool = False,
    by: str | None = None,
    against: str | None = None,
    share: Annotated[float, typer.Option(min=0, max=1)] = STANDS_OUT,
    limit: Whole = 50,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Find the under-trained types of a model by their rows.

    model: Folder of a model, its weights in safetensors.
    frequencies: Word counts that types are counted in: FILE or wordfreq:LANG.
    tokeniser: The model's tokeniser, if it is not in its folder.
    padded: Rows beyond the tokeniser's ids are padding.
    by: Rank types by norm, cosine or euclidean: the norm of the input row, or its distance from
        unused rows. By default cosine where one matrix is input and output, else norm, as Land &
        Bartolo's program does.
    against: Another tokeniser: mark the types that it does not have in the table and the chart.
    share: The share of types that stand out, those that rank lowest.
    limit: At most this many types; 0 for all.
    out: Folder for the table (CSV) and the chart (HTML).
    """
    output.check_out(out)
    with output.progress_bar("looking at rows"):
        types = models.undertrained(
            model, frequencies, tokenizer=tokeniser, padded=padded, by=by, against=against
        )
    files: dict[Path, bytes] = {}
    if out is not None:
        files[out / "undertrained.csv"] = types.csv()
        files[out / "undertrained.html"] = types.page().encode()
        write_files(files, " with --out")
    if as_json:
        output.print_json({**types.to_dict(share, limit), "saved": list(map(str, files))})
        return
    print(types.report(share, limit))
    output.print_saved(files)

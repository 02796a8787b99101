"""The command that transplants a model to another tokeniser."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from morphgraph.cli.options import JsonOption, with_options
from morphgraph.cli.output import print_json, print_message, print_table
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened, visible

if TYPE_CHECKING:
    from morphgraph.models.transplanting import Transplant

_SHOWN = 10
"""The number of types of each kind printed."""


@with_options
def transplant(
    model: Annotated[Path, typer.Argument(help="Folder of a model, its weights in safetensors.")],
    tokenizer: Annotated[
        Path, typer.Option(help="Folder of the new tokeniser, such as export writes.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="New folder for the model with the new tokeniser.")
    ] = None,
    init: Annotated[
        str,
        typer.Option(
            help="The row of a new type: mean (of the rows of the old tokens of its string), zeros "
            "or normal (drawn with each column's mean and standard deviation)."
        ),
    ] = "mean",
    seed: Annotated[int, typer.Option(min=0, help="For --init normal.")] = 0,
    pad_to_multiple_of: Annotated[
        int, typer.Option(min=1, help="Add rows up to a multiple of this number.")
    ] = 1,
    old_tokenizer: Annotated[
        str | None,
        typer.Option(help="The tokeniser that the model was trained with; that in its folder."),
    ] = None,
    padded: Annotated[
        bool,
        typer.Option(
            "--padded", help="Rows beyond the old tokeniser's ids are padding, however many."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and write nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Transplant a model to another tokeniser: copy the rows of kept types, make the others."""
    from typing import Any, cast

    from morphgraph.models.transplanting import TransplantSettings, transplant_model

    if out is None and not dry_run:
        raise MorphGraphError("Nothing says where the model goes. Give --out, or --dry-run.")
    settings = TransplantSettings(cast("Any", init), seed, pad_to_multiple_of, padded)
    place = None if dry_run else out
    made = transplant_model(
        model, tokenizer, place, settings, old_tokeniser=old_tokenizer, hint=" with --out"
    )
    if as_json:
        print_json(made.to_dict())
    else:
        _print(made, settings.init)


def _print(made: "Transplant", init: str) -> None:
    rows = [
        [visible(each.name), each.role, _size(each.before), _size(each.after)]
        for each in made.tensors
    ]
    print_table(["tensor", "is", "before", "after"], rows, left={0, 1})
    print(f"{counted(len(made.kept), 'row')} copied")
    begins = {"mean": "the mean of old rows", "zeros": "zeros", "normal": "drawn"}[init]
    print(f"{counted(len(made.made), 'row')} made ({begins})")
    for type_, tokens in islice(made.made.items(), _SHOWN):
        parts = " + ".join(map(_short, tokens)) or "unknown to the old tokeniser: mean of all rows"
        print(f"  {_short(type_)}: {parts}")
    print(f"{counted(len(made.dropped), 'row')} dropped")
    if made.dropped:
        print(f"  {' '.join(map(_short, made.dropped[:_SHOWN]))}")
    if any(made.padding):
        before, after = (counted(number, "row") for number in made.padding)
        print(f"padding: {before} before, {after} after")
    for change in made.config:
        print(f"{change.file}: {change.field} {change.before} → {change.after}")
        if change.after is None:
            print_message(f"{change.field}: the new tokeniser has no such token, so it is null")
    if made.left_out:
        print(f"left out: {' '.join(map(visible, made.left_out))}")
    print("nothing written" if made.folder is None else f"saved {made.folder}")


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape)


def _short(type_: str) -> str:
    return visible(shortened(type_))

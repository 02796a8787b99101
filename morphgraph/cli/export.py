"""Take a tokeniser home, compared with ours before it goes."""

from pathlib import Path
from typing import Annotated

import typer

from morphgraph.cli.options import (
    EncodingOption,
    FormatOption,
    JsonOption,
    TokeniserOption,
    load_edited,
    read_reference_option,
)
from morphgraph.cli.output import check_folder, print_json, progress_bar, save_files
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted


def export(
    tokenizer: TokeniserOption,
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    recipe: Annotated[Path | None, typer.Option(help="Replay this recipe first.")] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="Compare on the words of this gold segmentation first."),
    ] = None,
    format_: FormatOption = None,
    encoding: EncodingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export for transformers: compare 10,000 words and 500 sentences, then write the files."""
    from morphgraph.tokeniser.export import export as make_files
    from morphgraph.tokeniser.export import words_to_check

    for option, given in (("--format", format_), ("--encoding", encoding)):
        if given is not None and reference is None:
            raise MorphGraphError(f"{option} is that of the reference. Name one with --reference.")
    check_folder(out)
    loaded = load_edited(tokenizer, recipe)
    gold = []
    if reference is not None:
        gold = list(read_reference_option(reference, format_, encoding=encoding).entries)
    with progress_bar("comparing"):
        made = make_files(loaded, words_to_check([entry.word for entry in gold], name=loaded.name))
    saved = save_files(made.files, out)
    if as_json:
        print_json(made.to_dict())
        return
    print(
        f"{counted(made.checked_words, 'word')} and "
        f"{counted(made.checked_sentences, 'sentence')}: the same ids "
        f"({made.seconds:.1f} s)"
    )
    print(f"form: {made.kind} ({made.reason})")
    print(
        f"{counted(made.vocab_size, 'type')}, {counted(made.merges, 'merge')}, "
        f"{counted(made.tuple_merges, 'tuple merge')}"
    )
    for path in saved:
        print(f"saved {path}")
    print(made.signature)

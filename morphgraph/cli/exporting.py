"""Take a tokeniser home, compared with ours before it goes."""

from pathlib import Path
from typing import Annotated

import typer

from morphgraph.cli.options import FormatOption, JsonOption, TokeniserOption, read_gold, warn
from morphgraph.cli.output import check_folder, print_json, progress_bar, save_files
from morphgraph.errors import MorphGraphError
from morphgraph.text import counted


def export(
    tokenizer: TokeniserOption,
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    recipe: Annotated[Path | None, typer.Option(help="Replay this recipe first.")] = None,
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="Compare on the words of this gold segmentation first."),
    ] = None,
    format_: FormatOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export for transformers: compare 10,000 words and 500 sentences, then write the files."""
    from morphgraph.files import export as make_files
    from morphgraph.files import load_tokeniser, read_recipe, replay, words_to_check
    from morphgraph.reading import read_bytes

    if format_ is not None and reference is None:
        raise MorphGraphError("--format is that of the reference. Name one with --reference.")
    check_folder(out)
    loaded = load_tokeniser(tokenizer)
    warn(loaded)
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    gold = [] if reference is None else list(read_gold(reference, format_).entries)
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

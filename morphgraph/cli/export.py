"""The command that exports a tokeniser, compared with ours before it goes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from morphgraph.cli.options import (
    JsonOption,
    Reading,
    RecipeOption,
    TokeniserOption,
    load_edited,
    with_options,
)
from morphgraph.cli.output import check_out, print_json, progress_bar, save_files
from morphgraph.core.errors import MorphGraphError, NoMergesError
from morphgraph.core.text import counted

if TYPE_CHECKING:
    from morphgraph.tokeniser.words import Segmenter


@with_options
def export(
    tokenizer: TokeniserOption,
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    reading: Reading,
    recipe: RecipeOption = None,
    reference: Annotated[
        str | None, typer.Option(help="Compare on the words of this gold segmentation first.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Export for transformers: compare 10,000 words and 500 sentences, then write the files."""
    from morphgraph.core.files import read_bytes
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.models import export_segmenter, saved_model
    from morphgraph.tokeniser.export import words_to_check

    if reference is None and reading != Reading():
        raise MorphGraphError(
            "--format, --encoding and --include-foreign say how a reference is read. Name one with "
            "--reference."
        )
    check_out(out)
    segmenter: Segmenter
    try:
        segmenter = Bte(load_edited(tokenizer, recipe))
    except NoMergesError:
        is_file = recipe is None and Path(tokenizer).is_file()
        model = saved_model(read_bytes(tokenizer), tokenizer) if is_file else None
        if model is None:
            raise
        segmenter = model
    entries = reading.read(reference).entries if reference is not None else ()
    words = words_to_check([entry.word for entry in entries], name=tokenizer)
    with progress_bar("comparing"):
        made = export_segmenter(segmenter, words)
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

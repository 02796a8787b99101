"""The command that exports a tokeniser, after comparing the export with ours."""

import sys
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
from morphgraph.methods import METHODS
from morphgraph.segment.method import parse_method
from morphgraph.segment.segmenter import method_on

if TYPE_CHECKING:
    from morphgraph.segment.segmenter import Segmenter


@with_options
def export(
    tokenizer: TokeniserOption,
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    reading: Reading,
    recipe: RecipeOption = None,
    method: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(METHODS.offered)}, on the tokeniser or on a vocabulary, with "
            "parameters as in flota(k=2); its merges, or a saved model's method, if not given."
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(help="For trimmed: word counts, FILE or wordfreq:LANG."),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Compare on the words of this gold segmentation first.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Export for transformers: compare 10,000 words and 1,000 sentences, then write the files."""
    from morphgraph.segment.models import exported_model
    from morphgraph.tokeniser.export import export_model, words_to_check
    from morphgraph.tokeniser.export_settings import source_settings

    if reference is None and reading != Reading():
        raise MorphGraphError(
            "--format, --encoding, --include-foreign and --layer say how a reference is read. Name "
            "one with --reference."
        )
    check_out(out)
    segmenter = _segmenter(tokenizer, recipe, method, counts)
    if warning := segmenter.warning():
        print(warning, file=sys.stderr)
    model = exported_model(segmenter)
    entries = reading.read(reference).entries if reference is not None else ()
    words = words_to_check([entry.word for entry in entries], name=tokenizer)
    with progress_bar("comparing"):
        made = export_model(model, words, source_settings(tokenizer))
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
    merges = f"{counted(made.merges, 'merge')}, {counted(made.tuple_merges, 'tuple merge')}"
    print(f"{counted(made.vocab_size, 'type')}{f', {merges}' if made.merges else ''}")
    for path in saved:
        print(f"saved {path}")
    print(made.signature)


def _segmenter(
    tokenizer: str, recipe: Path | None, method: str | None, counts: str | None
) -> "Segmenter":
    """Return what to export: a tokeniser as edited, or a method on it or on a vocabulary."""
    from morphgraph.core.files import read_bytes
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.models import load_segmenter, saved_model
    from morphgraph.tokeniser.loading import tokeniser_files

    name, parameters = parse_method(method) if method else (None, {})
    if name is not None and name in METHODS and METHODS[name].needs == "training":
        raise MorphGraphError(
            f"{name} is trained. Export the model that train --method {name} saved."
        )
    try:
        loaded = load_edited(tokenizer, recipe)
    except NoMergesError as error:
        path = str(tokeniser_files(tokenizer)[-1])
        if recipe is not None:
            fix = "Choose a BPE tokeniser, or leave out --recipe."
            raise NoMergesError(error.file, error.place, error.problem, fix) from error
        if name is None and counts is None:
            model = saved_model(read_bytes(path), path)
            if model is None:
                fix = "Choose a BPE tokeniser, or a method that needs no merges: --method flota."
                raise NoMergesError(error.file, error.place, error.problem, fix) from error
            return model
        return load_segmenter(path, name, counts=counts, **parameters)
    return method_on(loaded, name, parameters, counts) if name else Bte(loaded)

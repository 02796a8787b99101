"""Options that several commands share, and what they load."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from morphgraph.errors import MorphGraphError

if TYPE_CHECKING:
    from morphgraph.evaluate import Benchmark
    from morphgraph.files import Tokeniser
    from morphgraph.reference import Reference
    from morphgraph.segment.segmentation import Segmenter

TokeniserOption = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        help="tokenizer.json, vocab.json or merges.txt (the other beside it), a folder with them, "
        "or demo:en, demo:de, demo:nl.",
    ),
]
ReferenceOption = Annotated[
    str,
    typer.Option(
        "--reference", help="A gold segmentation, demo:en, demo:de, demo:nl, or catalogue:NAME."
    ),
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="The reference's format; detected if not given.")
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding", help="The reference's encoding, such as windows-1252; UTF-8 if not given."
    ),
]
FrequenciesOption = Annotated[
    str | None,
    typer.Option(
        "--frequencies", help="Word frequencies for scores over tokens: FILE or wordfreq:LANG."
    ),
]
ForeignOption = Annotated[
    bool, typer.Option("--include-foreign", help="CELEX: keep entries marked [F].")
]
FirstOption = Annotated[
    bool, typer.Option("--first-analysis", help="Only the first analysis of each word counts.")
]
BareOption = Annotated[
    bool, typer.Option("--bare", help="Segment words as whole texts, without the space before.")
]
MethodsOption = Annotated[
    str,
    typer.Option(help="On the tokeniser: bpe,dropout(p=0.1),trimmed,flota(k=3),first,longest…"),
]
ModelsOption = Annotated[
    list[Path] | None, typer.Option("--model", help="A trained model too; may be repeated.")
]
RecipeOption = Annotated[
    Path | None, typer.Option(help="Replay this recipe on the tokeniser first.")
]
ScopeOption = Annotated[str, typer.Option("--scope", help="Blame by morphemic or whole-word.")]
WeightingOption = Annotated[str, typer.Option("--weighting", help="Blame by types or tokens.")]
TuplesOption = Annotated[
    bool, typer.Option("--tuples-once", help="A tuple merge counts once per application.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def load(
    tokenizer: str,
    reference: str,
    format_: str | None,
    frequencies: str | None,
    include_foreign: bool,
    first_analysis: bool,
    bare: bool,
) -> "tuple[Tokeniser, Benchmark]":
    from morphgraph.evaluate import Benchmark
    from morphgraph.files import load_tokeniser

    loaded = load_tokeniser(tokenizer)
    warn(loaded)
    gold = read_gold(reference, format_, include_foreign)
    if first_analysis:
        gold = gold.first_analyses()
    known = dict(word_counts(frequencies).items()) if frequencies else None
    return loaded, Benchmark.build(loaded, gold, known, frequencies or "", bare=bare)


def read_gold(
    reference: str,
    format_: str | None,
    include_foreign: bool = False,
    encoding: str | None = None,
) -> "Reference":
    from morphgraph.files.demos import demo_gold_path
    from morphgraph.reference import read_reference
    from morphgraph.reference.catalogue import find_source
    from morphgraph.reference.downloads import local_path

    source: str | Path = reference
    if reference.startswith("demo:"):
        source = demo_gold_path(reference.removeprefix("demo:"))
    elif reference.startswith("catalogue:"):
        source, format_ = local_path(reference), format_ or find_source(reference).format
    return read_reference(
        source,
        name=reference,
        format=format_,
        include_foreign=include_foreign,
        encoding=encoding,
    )


def load_edited(tokenizer: str, recipe: Path | None) -> "Tokeniser":
    """A tokeniser, with the edits of a recipe if there is one."""
    from morphgraph.files import load_tokeniser, read_recipe, replay
    from morphgraph.reading import read_bytes

    loaded = load_tokeniser(tokenizer)
    warn(loaded)
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    return loaded


def word_counts(source: str) -> Any:
    from morphgraph.train.counts import read_word_counts, wordfreq_counts

    if source.startswith("wordfreq:"):
        return wordfreq_counts(source.removeprefix("wordfreq:"))
    return read_word_counts(source)


def standard_input() -> Iterator[str]:
    if sys.stdin.isatty():
        print("Type words, one per line; end with Ctrl-D.", file=sys.stderr)
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MorphGraphError(
                f"standard input, line {number}: it is not valid UTF-8. Save the words as UTF-8."
            ) from error


def labelled_methods(
    loaded: "Tokeniser", methods: str, counts: Any
) -> "list[tuple[str, Callable[[], Segmenter]]]":
    """The methods on a tokeniser, each with its name in tables; made when they are called.

    ``counts``: word counts for methods that need some, or None.
    """
    from morphgraph.evaluate.methods import (
        METHODS,
        check_method,
        method_on,
        parse_method,
        split_methods,
    )

    found: list[tuple[str, Callable[[], Segmenter]]] = []
    for text in split_methods(methods):
        name, given = parse_method(text)
        check_method(name, given)
        listed = ", ".join(f"{key}={value}" for key, value in given.items())
        label = METHODS[name].title + (f" ({listed})" if listed else "")
        found.append((label, partial(method_on, loaded, name, given, counts)))
    return found


def labelled_models(models: "Sequence[Path]") -> "list[tuple[str, Callable[[], Segmenter]]]":
    """Trained models, and tokenisers or vocabularies by their own method, with names in tables."""
    from morphgraph.files.models import load_segmenter

    found: list[tuple[str, Callable[[], Segmenter]]] = []
    for path in models:
        made = load_segmenter(str(path))
        found.append((path.stem, partial(lambda made: made, made)))
    return found


def one_of(value: str, option: str, choices: tuple[str, ...]) -> Any:
    if value not in choices:
        listed = ", ".join(choices)
        raise MorphGraphError(f"{option} {value} is not known. Use one of: {listed}.")
    return value


def check_threshold(threshold: float, option: str = "--threshold") -> None:
    if not 0 <= threshold <= 1:
        raise MorphGraphError(f"{option} {threshold} is no ratio. Give 0 to 1.")


def check_share(holdout: float) -> None:
    if not 0 <= holdout < 1:
        raise MorphGraphError(f"--holdout {holdout} is not a share. Give 0 to below 1.")


def warn(loaded: "Tokeniser") -> None:
    for warning in loaded.warnings:
        print(f"{loaded.name}: {warning}", file=sys.stderr)

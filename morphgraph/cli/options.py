"""Options that several commands share, and what they load."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from morphgraph.core.errors import MorphGraphError, NoMergesError
from morphgraph.refine.registry import EVERY_METHOD
from morphgraph.segment.registry import (
    METHODS,
    method_named,
    method_on,
    parse_method,
    split_methods,
)

if TYPE_CHECKING:
    from morphgraph.reference.entry import Reference
    from morphgraph.score.boundaries import Benchmark
    from morphgraph.segment.method import Method
    from morphgraph.tokeniser.tokeniser import Tokeniser
    from morphgraph.tokeniser.words import Segmenter

TokeniserOption = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        help="tokenizer.json, vocab.json or merges.txt (the other beside it), a SentencePiece BPE "
        "model, a folder with one of them, or demo:en, demo:de, demo:nl.",
    ),
]
ReferenceOption = Annotated[
    list[str],
    typer.Option(
        "--reference",
        help="A gold segmentation, demo:en, demo:de, demo:nl, catalogue:NAME, or - for standard "
        "input; several with --join.",
    ),
]
JoinOption = Annotated[
    bool, typer.Option("--join", help="Take the entries of all references together, as one.")
]
SampleOption = Annotated[
    int | None, typer.Option("--sample", min=1, help="Only this many entries, drawn at random.")
]
SampleSeedOption = Annotated[int, typer.Option("--sample-seed", min=0, help="For --sample.")]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="The reference's format; detected if not given.")
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        "--encoding", help="The reference's encoding, such as windows-1252; UTF-8 if not given."
    ),
]
ThresholdOption = Annotated[
    float, typer.Option("--threshold", help="Only merges with R of at least this, 0 to 1.")
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
    typer.Option(
        help="On the tokeniser, with parameters as in dropout(p=0.1): "
        f"{', '.join(METHODS.offered)}."
    ),
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


class Drawn(NamedTuple):
    """What --join, --sample and --sample-seed ask for."""

    join: bool = False
    sample: int | None = None
    seed: int = 0


def load_benchmark(
    tokenizer: str,
    reference: Sequence[str],
    format_: str | None,
    frequencies: str | None,
    include_foreign: bool,
    first_analysis: bool,
    bare: bool,
    drawn: Drawn,
    encoding: str | None,
) -> "tuple[Tokeniser, Benchmark]":
    from morphgraph.score.boundaries import Benchmark

    loaded = load_bpe(tokenizer)
    gold = read_one_gold(
        reference, format_, include_foreign, encoding, first_analysis=first_analysis, drawn=drawn
    )
    known = dict(word_counts(frequencies).items()) if frequencies else None
    return loaded, Benchmark.build(loaded, gold, known, frequencies or "", bare=bare)


def read_golds(
    references: Sequence[str],
    format_: str | None,
    include_foreign: bool = False,
    encoding: str | None = None,
    *,
    first_analysis: bool = False,
    drawn: Drawn,
) -> "list[Reference]":
    """All references, or one that joins them: then first analyses, then a sample."""
    from morphgraph.reference.entry import join_references

    if references.count("-") > 1:
        raise MorphGraphError("--reference - stands for standard input. Give it once.")
    read = [read_reference_option(each, format_, include_foreign, encoding) for each in references]
    read = [join_references(read)] if drawn.join else read
    read = [gold.first_analyses() for gold in read] if first_analysis else read
    if drawn.sample is not None:
        read = [gold.sample(drawn.sample, drawn.seed) for gold in read]
    return read


def read_one_gold(
    references: Sequence[str],
    format_: str | None,
    include_foreign: bool = False,
    encoding: str | None = None,
    *,
    first_analysis: bool = False,
    drawn: Drawn,
) -> "Reference":
    """The one reference of a command; several only if they are to be joined."""
    if len(references) > 1 and not drawn.join:
        raise MorphGraphError(
            f"--reference is given {len(references)} times, and this command takes one reference. "
            "Add --join to take them together, or name one."
        )
    return read_golds(
        references,
        format_,
        include_foreign,
        encoding,
        first_analysis=first_analysis,
        drawn=drawn,
    )[0]


def _piped_reference() -> bytes:
    """A reference from standard input, no more of it than a file may have."""
    from morphgraph.core.files import MAX_BYTES

    if sys.stdin.isatty():
        print("Type a reference, one word per line; end with Ctrl-D.", file=sys.stderr)
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if not data:
        raise MorphGraphError(
            "standard input: nothing came. Pipe a reference into the command, or name its file."
        )
    return data


def read_reference_option(
    reference: str,
    format_: str | None,
    include_foreign: bool = False,
    encoding: str | None = None,
) -> "Reference":
    from morphgraph.reference.readers import read_reference

    piped = reference == "-"
    return read_reference(
        _piped_reference() if piped else reference,
        name="standard input" if piped else reference,
        format=format_,
        include_foreign=include_foreign,
        encoding=encoding,
    )


def load_bpe(tokenizer: str) -> "Tokeniser":
    """A tokeniser of merges, its warnings printed; an error says which commands need no merges."""
    from morphgraph.tokeniser.loading import load_tokeniser

    try:
        loaded = load_tokeniser(tokenizer)
    except NoMergesError as error:
        fix = f"{error.fix} Without merges, segment, score and compare take it with --model."
        raise NoMergesError(error.file, error.place, error.problem, fix) from error
    warn(loaded)
    return loaded


def load_edited(tokenizer: str, recipe: Path | None) -> "Tokeniser":
    """A tokeniser, with the edits of a recipe if there is one."""
    from morphgraph.core.files import read_bytes
    from morphgraph.tokeniser.recipe import read_recipe, replay

    loaded = load_bpe(tokenizer)
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    return loaded


def word_counts(source: str) -> Any:
    from morphgraph.corpus.counts import counts_of

    return counts_of(source)


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


def chosen_methods(methods: str) -> "Iterator[tuple[Method, Mapping[str, Any], str]]":
    """What --methods says: each with its parameters, and its name in tables."""
    for text in split_methods(methods):
        name, given = parse_method(text)
        method = method_named(name, EVERY_METHOD)
        method.settings(given)  # fails if they are not its own
        yield method, given, method.label(given)


def made_on(
    loaded: "Tokeniser", method: "Method", given: "Mapping[str, Any]", counts: Any
) -> "Callable[[], Segmenter]":
    """What makes a method on a tokeniser, of word counts if it needs some."""
    return partial(method_on, loaded, method.name, given, counts)


def labelled_models(models: "Sequence[Path]") -> "list[tuple[str, Callable[[], Segmenter]]]":
    """Trained models, and tokenisers or vocabularies by their own method, with names in tables."""
    from morphgraph.segment.models import load_segmenter

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
        raise MorphGraphError(f"{option} {threshold} is not a ratio. Give 0 to 1.")


def check_holdout(holdout: float) -> None:
    if not 0 <= holdout < 1:
        raise MorphGraphError(f"--holdout {holdout} is not a share. Give 0 to below 1.")


def warn(loaded: "Tokeniser") -> None:
    for warning in loaded.warnings:
        print(f"{loaded.name}: {warning}", file=sys.stderr)

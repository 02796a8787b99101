"""Options that several commands share, and the loading of their values.

Related options are a class: `with_options` gives a command an option for each of its fields, and
the command receives an instance.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from morphgraph.core.errors import MorphGraphError, NoMergesError
from morphgraph.methods import METHODS
from morphgraph.segment.method import method_named, parse_method, split_methods

if TYPE_CHECKING:
    from morphgraph.reference.entry import Reference
    from morphgraph.refine.knockout import BlameSettings
    from morphgraph.refine.learning import Entrant
    from morphgraph.score.boundaries import Benchmark
    from morphgraph.tokeniser.tokeniser import BpeTokeniser

Settings = TypeVar("Settings", bound="BlameSettings")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each field of its option classes, required ones first."""
    parameters: list[Parameter] = []
    groups: dict[str, Any] = {}
    group: Any
    for parameter in signature(command).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = group = parameter.annotation
            parameters += signature(group).parameters.values()
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
    parameters.sort(key=lambda each: each.default is not Parameter.empty)

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _ratio(option: typer.CallbackParam, value: float) -> float:
    if not 0 <= value <= 1:
        raise MorphGraphError(f"{option.opts[0]} {value} is not a ratio. Give 0 to 1.")
    return value


def _below_one(option: typer.CallbackParam, value: float | None) -> float | None:
    if value is not None and not 0 <= value < 1:
        raise MorphGraphError(f"{option.opts[0]} {value} is not a share. Give 0 to below 1.")
    return value


def one_of(*choices: str) -> Callable[[typer.CallbackParam, str], str]:
    """Return a check that an option is one of some words."""

    def check(option: typer.CallbackParam, value: str) -> str:
        if value not in choices:
            listed = ", ".join(choices)
            raise MorphGraphError(f"{option.opts[0]} {value} is not known. Use one of: {listed}.")
        return value

    return check


RatioOption = partial(typer.Option, callback=_ratio)
"""An option from 0 to 1."""
ShareOption = partial(typer.Option, callback=_below_one)
"""An option from 0 to below 1."""

TokeniserOption = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        help="tokenizer.json, vocab.json or merges.txt (the other beside it), a SentencePiece BPE "
        "model, a folder with one of them, or demo:en, demo:de, demo:nl.",
    ),
]
FrequenciesOption = Annotated[
    str | None,
    typer.Option(
        "--frequencies", help="Word frequencies for scores over tokens: FILE or wordfreq:LANG."
    ),
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
RecipeOption = Annotated[
    Path | None, typer.Option(help="Replay this recipe on the tokeniser first.")
]
ThresholdOption = Annotated[
    float, RatioOption("--threshold", help="Only merges with R of at least this, 0 to 1.")
]
CountsOption = Annotated[
    str | None, typer.Option(help="For trimmed: word counts, FILE or wordfreq:LANG.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SchedulerOption = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler instead, or its file.")
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read the file of a reference."""

    format_: Annotated[
        str | None, typer.Option("--format", help="The reference's format; detected if not given.")
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding", help="The reference's encoding, such as windows-1252; UTF-8 if not given."
        ),
    ] = None
    include_foreign: Annotated[
        bool, typer.Option("--include-foreign", help="CELEX: keep entries marked [F].")
    ] = False
    layer: Annotated[
        str | None,
        typer.Option("--layer", help="UniSegments: this layer; each word's first if not given."),
    ] = None

    def read(self, reference: str) -> "Reference":
        """Read a reference by name; ``-`` is standard input."""
        from morphgraph.reference.readers import read_reference

        piped = reference == "-"
        return read_reference(
            _piped_reference() if piped else reference,
            name="standard input" if piped else reference,
            format=self.format_,
            include_foreign=self.include_foreign,
            layer=self.layer,
            encoding=self.encoding,
        )


@dataclass(frozen=True, kw_only=True)
class GoldOptions(Reading):
    """The references of a command, and which of their entries to use."""

    reference: Annotated[
        list[str],
        typer.Option(
            help="A gold segmentation, demo:en, demo:de, demo:nl, catalogue:NAME, or - for "
            "standard input; several with --join, or one by one in score."
        ),
    ]
    join: Annotated[
        bool, typer.Option("--join", help="Join the entries of all references into one.")
    ] = False
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only this many entries, drawn at random.")
    ] = None
    sample_seed: Annotated[int, typer.Option(min=0, help="For --sample.")] = 0
    first_analysis: Annotated[
        bool,
        typer.Option("--first-analysis", help="Only the first analysis of each word counts."),
    ] = False

    def golds(self) -> "list[Reference]":
        """Return all references, or one that joins them, after first analyses and sampling."""
        from morphgraph.reference.entry import join_references

        if self.reference.count("-") > 1:
            raise MorphGraphError("--reference - stands for standard input. Give it once.")
        found = [self.read(each) for each in self.reference]
        found = [join_references(found)] if self.join else found
        found = [gold.first_analyses() for gold in found] if self.first_analysis else found
        if self.sample is not None:
            found = [gold.sample(self.sample, self.sample_seed) for gold in found]
        return found

    def gold(self) -> "Reference":
        """Return the one reference of a command; several only if they are to be joined."""
        if len(self.reference) > 1 and not self.join:
            raise MorphGraphError(
                f"--reference is given {len(self.reference)} times, and this command takes one "
                "reference. Add --join to take them together, or name one."
            )
        return self.golds()[0]


@dataclass(frozen=True, kw_only=True)
class BlameOptions(GoldOptions):
    """A tokeniser, the reference that blames its merges, and the settings of blame."""

    tokenizer: TokeniserOption
    recipe: RecipeOption = None
    frequencies: FrequenciesOption = None
    bare: BareOption = False
    scope: Annotated[
        str,
        typer.Option(
            help="Blame by morphemic or whole-word.", callback=one_of("morphemic", "whole-word")
        ),
    ] = "morphemic"
    weighting: Annotated[
        str, typer.Option(help="Blame by types or tokens.", callback=one_of("types", "tokens"))
    ] = "types"
    tuples_once: Annotated[
        bool, typer.Option("--tuples-once", help="A tuple merge counts once per application.")
    ] = False
    as_json: JsonOption = False

    def load(self) -> "tuple[BpeTokeniser, Benchmark]":
        """Load the tokeniser, and the words of the reference encoded by it."""
        from morphgraph.score.boundaries import Benchmark

        loaded, gold = load_edited(self.tokenizer, self.recipe), self.gold()
        known = dict(word_counts(self.frequencies).items()) if self.frequencies else None
        return loaded, Benchmark.build(loaded, gold, known, self.frequencies or "", bare=self.bare)


@dataclass(frozen=True, kw_only=True)
class EditOptions(BlameOptions):
    """Options shared by knockout and ReBPE, named like their settings."""

    out: Annotated[Path | None, typer.Option(help="Folder for the tokeniser and its recipe.")] = (
        None
    )
    threshold: ThresholdOption = 0.5
    minimum_vocabulary: Annotated[
        int, typer.Option("--min-vocab-size", min=0, help="Leave at least this many types.")
    ] = 0
    holdout: Annotated[
        float,
        ShareOption(help="Share of entries that are not learned from, and that alone are scored."),
    ] = 0.0
    seed: Annotated[int, typer.Option(min=0, help="For --holdout, and what is random.")] = 0
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also remove what is made from a removed type.")
    ] = False

    drop_never_formed: Annotated[
        bool,
        typer.Option(
            "--drop-never-formed",
            help="Also remove the types that this leaves, but no merge can form any more.",
        ),
    ] = False

    def never_formed(self, edited: "BpeTokeniser", edits: int) -> dict[str, Any]:
        """Return the types left unformed by the last ``edits``, if removed: number, first ten."""
        from morphgraph.tokeniser.merging import never_formed

        graph = edited.graph
        found = [n for n in never_formed(graph, edits) if graph.is_removable(n)]
        if self.drop_never_formed and found:
            graph.cascade([graph.types[number] for number in found])
        first = [edited.readable(graph.types[number]) for number in found[:10]]
        return {"count": len(found), "first": first, "removed": self.drop_never_formed}

    def settings(self, kind: type[Settings]) -> Settings:
        """Return the settings of a method, each from the option of the same name."""
        return kind(**{name: getattr(self, name) for name in kind.model_fields})


def _piped_reference() -> bytes:
    """Read a reference from standard input, up to the size limit of files."""
    from morphgraph.core.limits import FILE_BYTES

    if sys.stdin.isatty():
        print("Type a reference, one word per line; end with Ctrl-D.", file=sys.stderr)
    data = sys.stdin.buffer.read(FILE_BYTES.value + 1)
    if not data:
        raise MorphGraphError(
            "standard input: it is empty. Pipe a reference into the command, or name its file."
        )
    return data


def load_bpe(tokenizer: str) -> "BpeTokeniser":
    """Load a merge-based tokeniser; an error names the commands that need no merges."""
    from morphgraph.tokeniser.loading import load_tokeniser

    try:
        loaded = load_tokeniser(tokenizer)
    except NoMergesError as error:
        fix = f"{error.fix} Without merges, segment, score and compare take it with --model."
        raise NoMergesError(error.file, error.place, error.problem, fix) from error
    warn(loaded)
    return loaded


def load_edited(tokenizer: str, recipe: Path | None) -> "BpeTokeniser":
    """Load a tokeniser, and apply the edits of a recipe if given."""
    from morphgraph.core.files import read_bytes
    from morphgraph.tokeniser.recipe import read_recipe, replay

    loaded = load_bpe(tokenizer)
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    return loaded


def word_counts(source: str) -> Any:
    from morphgraph.corpus.counts import to_word_counts

    return to_word_counts(source)


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


def methods_on(loaded: "BpeTokeniser", methods: str, counts: Any) -> "list[Entrant]":
    """Return what --methods names on a tokeniser, including methods that learn from gold.

    ``counts``: of words, for the methods that need them.
    """
    from morphgraph.refine.learning import Entrant, Learner
    from morphgraph.segment.segmenter import method_on

    found = []
    for text in split_methods(methods):
        name, given = parse_method(text)
        method = method_named(name, [*METHODS.segmenting, *METHODS.learning])
        settings: Any = method.settings(given)
        made: Any = partial(method_on, loaded, name, given, counts)
        learner = None
        if method.learns:
            for drawn in ("holdout", "seed"):
                if drawn in given:
                    raise MorphGraphError(
                        f"{name} is scored on words that --holdout and --seed draw. Leave {drawn} "
                        "out of the method."
                    )
            made, learner = None, Learner(loaded, method, settings)
        found.append(Entrant(method.label(given), made, loaded, learner))
    return found


def models_of(paths: "Sequence[Path]") -> "list[Entrant]":
    """Load trained models; tokenisers or vocabularies use their own method."""
    from morphgraph.refine.learning import Entrant
    from morphgraph.segment.models import load_segmenter

    made = [(path.stem, load_segmenter(str(path))) for path in paths]
    return [Entrant(label, each, each.tokeniser) for label, each in made]


def predictions_of(path: Path, format_: str | None) -> "Entrant":
    """Return a reader of another program's predictions.

    An unreadable file becomes a row that failed. Lines without morph boundaries are reported.
    """
    from morphgraph.reference.predictions import Predictions, read_predictions
    from morphgraph.refine.learning import Entrant

    @cache
    def read() -> Predictions:
        found = read_predictions(path, format=format_)
        for skip in found.skipped:
            print(f"{path}: {skip.count:,} without boundaries: {skip.reason}", file=sys.stderr)
        return found

    return Entrant(path.stem, read)


def warn(loaded: "BpeTokeniser") -> None:
    for warning in loaded.warnings:
        print(f"{loaded.name}: {warning}", file=sys.stderr)


# ------------------------------------------------------------------------------ where tasks run


def check_one_place(workers: int | None, scheduler: str | None) -> None:
    """Refuse both options together."""
    if workers is not None and scheduler is not None:
        raise MorphGraphError("Tasks run in one place. Give one of --workers and --scheduler.")


def cluster_for(
    workers: int, scheduler: str | None, memory: int | None = None
) -> Callable[[], AbstractContextManager[Any]]:
    """Return a function that opens a client; ``memory``: bytes per worker on this machine."""
    from morphgraph.batch.cluster import at_address, local_cluster

    if scheduler is not None:
        return partial(at_address, scheduler)
    return partial(local_cluster, workers, memory)

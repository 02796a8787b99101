"""How a function becomes a command, and options that several commands share.

The docstring of a command says what it does, and then what each option means; what options of
one name mean everywhere is said here. Related options are a class: a dataclass with a docstring of
that kind, or the settings of a method, whose fields say all there is to say.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, fields
from functools import cache, cached_property, partial, wraps
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from typer.models import OptionInfo

from morphgraph.core.errors import MorphGraphError, NoMergesError
from morphgraph.methods import METHODS
from morphgraph.refine import BlameSettings
from morphgraph.segment.method import Parameters, method_named, parse_method, split_methods

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from morphgraph.reference.entry import Reference
    from morphgraph.refine.learning import Entrant
    from morphgraph.score.boundaries import Benchmark
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.segmenter import Segmenter
    from morphgraph.tokeniser.tokeniser import BpeTokeniser
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary

_SHARED = {
    "tokenizer": "tokenizer.json, vocab.json or merges.txt (the other beside it), a SentencePiece "
    "BPE model, a folder with one of them, or demo:en, demo:de, demo:nl.",
    "frequencies": "Word frequencies for scores over tokens: FILE or wordfreq:LANG.",
    "bare": "Segment words as whole texts, without the space before.",
    "recipe": "Replay this recipe on the tokeniser first.",
    "counts": "For trimmed, adaptbpe and litetoken: word counts, FILE or wordfreq:LANG.",
    "scheduler": "Address of a dask scheduler instead, or its file.",
    "as_json": "Print JSON.",
    **{name: str(field.description) for name, field in BlameSettings.model_fields.items()},
}
"""What options mean, unless a command says otherwise."""
_SHORT = {"as_json": "json", "minimum": "min", "maximum": "max", "vocabulary": "vocab-size"}
_METHODS = {
    "offered": ", ".join(METHODS.offered),
    "segmenting": ", ".join(METHODS.segmenting),
    "trained": ", ".join(METHODS.trained),
    "scored": ", ".join((*METHODS.offered, *METHODS.learning)),
    "learning": " and ".join(METHODS.learning),
}


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command, with what its docstring says of it and of its options.

    In a docstring ``{offered}`` and the like are names of methods. A parameter that is an option
    class becomes an option for each field, and the command receives an instance. Required ones
    come first.
    """
    about, helps = _documented(command)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in signature(command).parameters.values():
        kind = parameter.annotation
        inner = [parameter]
        if hasattr(kind, "__dataclass_fields__"):
            inner = [*signature(kind).parameters.values()]
            for each in kind.__mro__[:-1]:
                helps = _documented(each)[1] | helps
        elif isinstance(kind, type) and issubclass(kind, Parameters):
            known = kind.model_fields
            inner = [
                parameter.replace(name=name, annotation=_within(field), default=field.default)
                for name, field in known.items()
            ]
            helps = {name: str(field.description) for name, field in known.items()} | helps
        if inner != [parameter]:
            groups[parameter.name] = kind, [each.name for each in inner]
        parameters += inner
    helps = _SHARED | helps
    parameters = [
        each.replace(annotation=_option(each, helps[each.name]), kind=Parameter.KEYWORD_ONLY)
        for each in parameters
    ]
    parameters.sort(key=lambda each: each.default is not Parameter.empty)

    @wraps(command)
    def run(**given: Any) -> None:
        for name, (kind, names) in groups.items():
            given[name] = kind(**{each: given.pop(each) for each in names})
        command(**given)

    run.__doc__ = about
    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _documented(documented: Any) -> tuple[str, dict[str, str]]:
    """Split a docstring into what it says of the whole, and of each option."""
    about, *lines = re.split(r"^(\w+): ", getdoc(documented) or "", flags=re.MULTILINE)
    texts = (" ".join(text.split()) for text in lines[1::2])
    helps = {name: text.format(**_METHODS) for name, text in zip(lines[::2], texts, strict=True)}
    return about.strip(), helps


def _within(field: "FieldInfo") -> Any:
    """Return the type of a field of settings, with its limits."""
    limits = {
        key: getattr(each, key)
        for each in field.metadata
        for key in ("ge", "le")
        if hasattr(each, key)
    }
    return Annotated[field.annotation, typer.Option(min=limits.get("ge"), max=limits.get("le"))]


def _option(parameter: Parameter, told: str) -> Any:
    """Return the type of a parameter with what typer needs to know of it."""
    kind, info = parameter.annotation, typer.Option()
    if get_origin(kind) is Annotated:
        kind, info = get_args(kind)
        info = copy(info)
    info.help = told
    if isinstance(info, OptionInfo):
        words = (_SHORT.get(word, word) for word in parameter.name.strip("_").split("_"))
        name = _SHORT.get(parameter.name) or "-".join(words)
        info.default = f"--{name}/--no-{name}" if parameter.default is True else f"--{name}"
    return Annotated[kind, info]


Whole = Annotated[int, typer.Option(min=0)]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read the file of a reference.

    format_: The reference's format; detected if not given.
    encoding: The reference's encoding, such as windows-1252; UTF-8 if not given.
    include_foreign: CELEX: keep entries marked [F].
    layer: UniSegments: this layer; each word's first with types if not given.
    data_split: MorphScore 2: only words of train, dev or test.
    keep_rows: MorphScore 2: also rows that its filter leaves out: repeated (words), stems (other
        than the lemma) or digits; may be given again.
    separator: Plain: what stands between morphs, as + in un+break+able; detected if clear.
    """

    format_: str | None = None
    encoding: str | None = None
    include_foreign: bool = False
    layer: str | None = None
    data_split: Literal["train", "dev", "test"] | None = None
    keep_rows: list[str] | None = None
    separator: str | None = None

    def read(self, reference: str) -> "Reference":
        """Read a reference by name; ``-`` is standard input."""
        from morphgraph.reference.readers import read_reference

        how: Any = {each.name.strip("_"): getattr(self, each.name) for each in fields(Reading)}
        how["keep_rows"] = self.keep_rows or ()
        if reference == "-":
            return read_reference(_piped_reference(), name="standard input", **how)
        return read_reference(reference, name=reference, **how)

    def read_any(self, reference: str | None) -> "Reference | None":
        """Read a reference if one is named; else refuse what says how to read it."""
        if reference is None and self != Reading():
            raise MorphGraphError(
                "--format, --encoding, --include-foreign, --layer, --data-split, --keep-rows and "
                "--separator say how a reference is read. Name one with --reference."
            )
        return None if reference is None else self.read(reference)


@dataclass(frozen=True, kw_only=True)
class GoldOptions(Reading):
    """The references of a command, and which of their entries to use.

    reference: A gold segmentation, demo:en, demo:de, demo:nl, catalogue:NAME, or - for standard
        input; several with --join, or side by side in score, blame and rebpe;
        catalogue:morphscore1-* names all of these that are downloaded.
    join: Join the entries of all references into one.
    sample: Only this many entries, drawn at random.
    sample_seed: For --sample.
    first_analysis: Only the first analysis of each word counts.
    """

    reference: list[str]
    join: bool = False
    sample: Annotated[int | None, typer.Option(min=1)] = None
    sample_seed: Whole = 0
    first_analysis: bool = False

    @cached_property
    def names(self) -> list[str]:
        """The references, those that a pattern names one by one."""
        from morphgraph.reference.catalogue import expand_pattern

        return [name for each in self.reference for name in expand_pattern(each)]

    def golds(self) -> "list[Reference]":
        """Return all references, or one that joins them, after first analyses and sampling."""
        from morphgraph.reference.entry import join_references

        if self.reference.count("-") > 1:
            raise MorphGraphError("--reference - stands for standard input. Give it once.")
        found = [self.read(each) for each in self.names]
        found = [join_references(found)] if self.join else found
        found = [gold.first_analyses() for gold in found] if self.first_analysis else found
        if self.sample is not None:
            found = [gold.sample(self.sample, self.sample_seed) for gold in found]
        return found

    @property
    def is_several(self) -> bool:
        """Whether there are several references, which are not to be joined."""
        return len(self.names) > 1 and not self.join

    def check_single(self) -> None:
        """Refuse several references that are not to be joined, where a command takes one."""
        if self.is_several:
            raise MorphGraphError(
                f"--reference names {len(self.names)} references, and this command takes one "
                "reference. Add --join to take them together, or name one."
            )


@dataclass(frozen=True, kw_only=True)
class CountedGold(GoldOptions):
    """Gold with the frequencies of its words, and how a tokeniser is to see them."""

    recipe: Path | None = None
    frequencies: str | None = None
    bare: bool = False
    as_json: bool = False

    @cached_property
    def counts(self) -> Any:
        """Word counts, or None; read once, as they may come through a pipe."""
        return word_counts(self.frequencies)

    def gold_sets(self, golds: "Sequence[Reference] | None" = None) -> "list[GoldSet]":
        """Return the gold set of each reference, or of some that were made of them."""
        from morphgraph.score.gold_set import GoldSet

        known = None if self.counts is None else dict(self.counts.items())
        named, found = self.frequencies or "", self.golds() if golds is None else golds
        return [GoldSet.of(gold, known, named, bare=self.bare) for gold in found]


@dataclass(frozen=True, kw_only=True)
class TokeniserOptions(CountedGold):
    """A tokeniser, and the gold that it is looked at with."""

    tokenizer: str

    def load(self) -> "tuple[BpeTokeniser, Benchmark]":
        """Load the tokeniser, and the words of the reference encoded by it."""
        from morphgraph.score.boundaries import Benchmark

        self.check_single()
        loaded = load_edited(self.tokenizer, self.recipe)
        return loaded, Benchmark.on(self.gold_sets()[0], loaded)


def _piped_reference() -> bytes:
    from morphgraph.core.limits import FILE_BYTES

    if sys.stdin.isatty():
        print("Type a reference, one word per line; end with Ctrl-D.", file=sys.stderr)
    data = sys.stdin.buffer.read(FILE_BYTES.value + 1)
    if not data:
        raise MorphGraphError(
            "standard input: it is empty. Pipe a reference into the command, or name its file."
        )
    return data


def load_edited(tokenizer: str, recipe: Path | None, pattern: str | None = None) -> "BpeTokeniser":
    """Load a tokeniser of merges, and apply the edits of a recipe if given.

    An error names the commands that need no merges.
    """
    from morphgraph.core.files import read_bytes
    from morphgraph.formats.loading import load_tokeniser
    from morphgraph.formats.recipe import read_recipe, replay

    try:
        loaded = load_tokeniser(tokenizer, pattern)
    except NoMergesError as error:
        fix = f"{error.fix} Without merges, segment, score and compare take it with --model."
        raise NoMergesError(error.file, error.place, error.problem, fix) from error
    _warn(loaded)
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    return loaded


def load_any(source: str, method: str | None = None, **parameters: Any) -> "Segmenter":
    """Load whatever segments, as `load_segmenter`; what there is to know of it is on stderr."""
    from morphgraph.segment.models import load_segmenter

    loaded = load_segmenter(source, method, **parameters)
    if (below := loaded.tokeniser or loaded.vocabulary) is not None:
        _warn(below)
    return loaded


def _warn(loaded: "BpeTokeniser | SubwordVocabulary") -> None:
    for warning in loaded.warnings:
        print(f"{loaded.name}: {warning}", file=sys.stderr)


def word_counts(source: str | None) -> Any:
    from morphgraph.corpus.counts import to_word_counts

    return None if source is None else to_word_counts(source)


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

"""How a function becomes a command, and options that several commands share.

The docstring of a command says what it does, and then what each argument and option means; what
those of one name mean everywhere is said here. Related ones are a dataclass with a docstring of
that kind. Settings are one option, such as ``--set threshold=0.4,reify=no``, which takes any of
their names; ``--set help`` explains them.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial, wraps
from inspect import Parameter, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer
from typer.models import OptionInfo

from morphgraph.core.errors import MorphGraphError, NoMergesError, NotTypesError, nearest
from morphgraph.core.files import ANOTHER_PLACE
from morphgraph.core.text import base_name, unique_labels, visible
from morphgraph.formats.hub import fetching
from morphgraph.score.gold_reading import Reading
from morphgraph.segment.method import (
    METHODS,
    Parameters,
    bounds,
    method_named,
    parse_method,
    split_methods,
    values_of,
)

if TYPE_CHECKING:
    from morphgraph.api.with_merges import Tokeniser
    from morphgraph.reference.entry import Reference
    from morphgraph.refine.learning import Entrant
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.segmenter import Segmenter
    from morphgraph.tokeniser.tokeniser import BpeTokeniser

_SHARED = {
    "tokeniser": "tokenizer.json, vocab.json or merges.txt (the other beside it), a SentencePiece "
    "BPE model, a folder with one of them, demo:en, demo:de, demo:nl, or a name on the Hugging "
    "Face hub, such as gpt2 or gpt2@main (from its cache, or fetched with --download).",
    "gold": "A gold segmentation: FILE, demo:en, demo:de, demo:nl, catalogue:NAME, or - for "
    "standard input.",
    "read": "How gold is read, as in format=plain,separator=+",
    "set_": "Further settings",
    "frequencies": "Word frequencies for scores over tokens: FILE or wordfreq:LANG.",
    "holdout": "Share of the gold that is kept aside, by families of words, and scored on. 0 "
    "learns from all words and scores on the same.",
    "bare": "Segment words as whole texts, without the space before.",
    "recipe": "Replay this recipe on the tokeniser first.",
    "counts": f"For {', '.join(METHODS.able('counts'))}: word counts, FILE or wordfreq:LANG.",
    "scheduler": "Instead of workers here: the address of a dask scheduler, or its file.",
    "as_json": "Print JSON.",
}
"""What arguments and options mean, unless a command says otherwise."""
_SHORT = {"as_json": "json", "minimum": "min", "maximum": "max", "vocabulary": "vocab-size"}
_PANELS = {
    "Gold and words": ("read", "gold", "frequencies", "counts", "bare", "corpus", "development"),
    "Settings": ("set_",),
    "Output": ("out", "as_json", "limit", "list_", "dry_run"),
}
"""Groups of options in --help; all others are the command's own."""
_PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names}
_METHODS = {
    "offered": ", ".join(METHODS.offered),
    "segmenting": ", ".join(METHODS.segmenting),
    "trained": ", ".join((*METHODS.trained, *METHODS.able("retrains"))),
    "scored": ", ".join((*METHODS.offered, *METHODS.learning)),
    "learning": ", ".join(METHODS.learning),
}


# ------------------------------------------------------------------------------ commands


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command, with what its docstring says of it and of its options.

    In a docstring ``{offered}`` and the like are names of methods. A parameter that is a dataclass
    becomes an option or argument for each field, and the command receives an instance. One that is
    a class of settings becomes an option for all of them; those that it is annotated with are
    options of their own, too.
    """
    about, helps = _documented(command)
    parameters: list[Parameter] = []
    makers: list[Callable[[dict[str, Any]], None]] = []

    def add(parameter: Parameter) -> None:
        nonlocal helps
        kind, own = parameter.annotation, list[str]()
        if get_origin(kind) is Annotated and _is_settings(get_args(kind)[0]):
            kind, *own = get_args(kind)
        if hasattr(kind, "__dataclass_fields__"):
            for each in kind.__mro__[:-1]:
                helps = _documented(each)[1] | helps
            fields = [*signature(kind).parameters.values()]
            for field in fields:
                add(field)
            names = [field.name for field in fields]

            def gather(given: dict[str, Any]) -> None:
                given[parameter.name] = kind(**{name: given.pop(name) for name in names})

            makers.append(gather)
        elif _is_settings(kind):
            option = f"--{parameter.name.strip('_')}"
            parameters.extend(_settings_options(parameter.name, kind, own, helps))
            makers.append(partial(_gather_settings, parameter.name, option, kind, own))
        else:
            parameters.append(parameter)

    for each in signature(command).parameters.values():
        add(each)
    if {"tokeniser", "before"} & {each.name for each in parameters}:
        of: Any = Annotated[bool, typer.Option(hidden=True, help="See the tokeniser.")]
        add(Parameter("download", Parameter.KEYWORD_ONLY, default=False, annotation=of))
    helps = _SHARED | helps
    parameters = [
        each.replace(annotation=_option(each, helps), kind=Parameter.KEYWORD_ONLY)
        for each in parameters
    ]
    parameters.sort(key=_is_optional)

    @wraps(command)
    def run(download: bool = False, **given: Any) -> None:
        for make in makers:
            make(given)
        place = ANOTHER_PLACE.set(" with --out")
        try:
            with fetching(download):
                command(**given)
        finally:
            ANOTHER_PLACE.reset(place)

    run.__doc__ = about
    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _documented(documented: Any) -> tuple[str, dict[str, str]]:
    """Split a docstring into what it says of the whole, and of each option."""
    about, *lines = re.split(r"^(\w+): ", getdoc(documented) or "", flags=re.MULTILINE)
    texts = (" ".join(text.split()) for text in lines[1::2])
    helps = {name: text.format(**_METHODS) for name, text in zip(lines[::2], texts, strict=True)}
    return about.strip(), helps


def _option(parameter: Parameter, helps: dict[str, str]) -> Any:
    """Return the type of a parameter with what typer needs to know of it."""
    kind, info = parameter.annotation, typer.Option()
    if get_origin(kind) is Annotated:
        kind, info = get_args(kind)
        info = copy(info)
    info.help = info.help or helps.get(parameter.name) or _meaning_in_blame(parameter.name)
    if isinstance(info, OptionInfo):
        words = (_SHORT.get(word, word) for word in parameter.name.strip("_").split("_"))
        name = _SHORT.get(parameter.name) or "-".join(words)
        info.default = f"--{name}/--no-{name}" if parameter.default is True else f"--{name}"
        info.rich_help_panel = info.rich_help_panel or _PANEL_OF.get(parameter.name)
    else:
        info.metavar = parameter.name.upper()
    return Annotated[kind, info]


def _meaning_in_blame(name: str) -> str | None:
    """Return what a setting of blame means: these are options of their own, too."""
    from morphgraph.refine import BlameSettings

    return BlameSettings.model_fields[name].description


def _is_optional(parameter: Parameter) -> tuple[bool, bool]:
    """Arguments come first, in their order, and then options that must be given."""
    is_option = isinstance(get_args(parameter.annotation)[1], OptionInfo)
    return is_option, is_option and parameter.default is not Parameter.empty


# ------------------------------------------------------------------------------ settings


def _is_settings(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Parameters)


def _settings_options(
    name: str, kind: type[Parameters], own: Sequence[str], helps: dict[str, str]
) -> Iterator[Parameter]:
    """Yield an option for each of a class's own settings, and one for all of them."""
    known = kind.model_fields
    for each in own:
        limits = bounds(known[each])
        info: Any = typer.Option(min=limits.get("ge"), max=limits.get("le"))
        info.help, info.rich_help_panel = _meaning(kind, each), "Settings"
        of: Any = Annotated[known[each].annotation, info]
        yield Parameter(each, Parameter.KEYWORD_ONLY, default=known[each].default, annotation=of)
    others = ", ".join(each for each in known if each not in own)
    told = f"{helps.get(name, _SHARED[name])}: {others}. “--{name.strip('_')} help” explains them."

    def explain(given: list[str] | None) -> list[str] | None:
        if given == ["help"]:
            _explain(kind)
            raise typer.Exit
        return given

    info = typer.Option(help=told, callback=explain, is_eager=True, metavar="NAME=VALUE,…")
    of_all = Annotated[list[str] | None, info]
    yield Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=of_all)


def _meaning(kind: type[Parameters], name: str) -> str:
    """Return what a setting means, by its field or by the docstring."""
    return kind.model_fields[name].description or _documented(kind)[1][name]


def _explain(kind: type[Parameters]) -> None:
    from morphgraph.cli.output import print_table

    rows = []
    for name, field in kind.model_fields.items():
        usual = "" if field.default is None else str(field.default)
        usual = {"True": "yes", "False": "no"}.get(usual, usual)
        rows.append([name, usual, _meaning(kind, name)])
    print_table(["name", "if not given", "meaning"], rows, {"if not given", "meaning"})


def _gather_settings(
    name: str, option: str, kind: type[Parameters], own: Sequence[str], given: dict[str, Any]
) -> None:
    """Make an instance of settings of the options that name them."""
    values = parse_settings(option, kind, given.pop(name) or ())
    for each in own:
        value = given.pop(each)
        if value == kind.model_fields[each].default:
            values.setdefault(each, value)
        elif each in values:
            raise MorphGraphError(
                f"{each} is given twice, by {option} and by its own option. Give it once."
            )
        else:
            values[each] = value
    given[name] = kind(**values)


def parse_settings(option: str, kind: type[Parameters], texts: Sequence[str]) -> dict[str, Any]:
    """Parse settings as they are written: ``threshold=0.4,reify=no``; a name alone means yes.

    Values are of the kind that each setting wants, where they can be; what does not fit is for the
    class to refuse.
    """
    settings: dict[str, Any] = {}
    known = kind.model_fields
    for part in (part for text in texts for part in re.split(r",(?=\s*[\w-]+\s*(?:=|,|$))", text)):
        name, sign, value = (item.strip() for item in part.partition("="))
        name = name.replace("-", "_")
        if name not in known:
            raise MorphGraphError(
                f"{option} {part}: “{name}” is not one of its names.{nearest(name, known)} Use any "
                f"of: {', '.join(known)}."
            )
        settings[name] = _value(values_of(known[name]), value if sign else "yes")
    return settings


def _value(kind: Any, text: str) -> Any:
    if kind is bool:
        return {"yes": True, "true": True, "no": False, "false": False}.get(text, text)
    try:
        return kind(text) if kind in (int, float) else text
    except ValueError:
        return text


# ------------------------------------------------------------------------------ gold


Named = Annotated[str, typer.Argument()]
Whole = Annotated[int, typer.Option(min=0)]


class GoldReading(Reading):
    """How the gold files of a command are read.

    join: Join the entries of all files into one gold.
    """

    join: bool = False

    def golds(self, sources: Sequence[str]) -> "list[Reference]":
        """Return the gold of each source, or one that joins them; ``-`` is standard input."""
        from morphgraph.reference.entry import join_references

        if sources.count("-") > 1:
            raise MorphGraphError("- (standard input) is given more than once. Give it once.")
        golds = [self._file(each) for each in sources]
        golds = [join_references(golds)] if self.join else golds
        return [self.chosen(gold) for gold in golds]

    def gold(self, source: str | None) -> "GoldSet | None":
        """Return the gold of a source; without one, refuse settings that say how to read it."""
        if source is not None:
            from morphgraph.score.gold_set import GoldSet

            return GoldSet.of(self.golds([source])[0])
        if self != AS_FOUND:
            raise MorphGraphError(
                "--read is for gold, and there is none. Name some, or leave it out."
            )
        return None

    def _file(self, source: str) -> "Reference":
        gold = self.read(source, source) if source != "-" else self.read(_piped(), "standard input")
        if gold.notice:
            fix = "If that is not what the file holds, use --read format=… or --read separator=…"
            print(f"{visible(gold.name)}: {gold.notice} {fix}", file=sys.stderr)
        return gold


def _piped() -> bytes:
    from morphgraph.core.limits import FILE_BYTES

    if sys.stdin.isatty():
        print("Type gold, one word per line; end with Ctrl-D.", file=sys.stderr)
    data = sys.stdin.buffer.read(FILE_BYTES.value + 1)
    if not data:
        raise MorphGraphError(
            "standard input: it is empty. Pipe gold into the command, or name its file."
        )
    return data


AS_FOUND = GoldReading()


@dataclass(frozen=True, kw_only=True)
class OnGold:
    """A tokeniser, and the gold that it is looked at with.

    gold: A gold segmentation: FILE, demo:en, demo:de, demo:nl, catalogue:NAME, or - for standard
        input; catalogue:morphscore1-* names all of these that are downloaded. Several, side by
        side in score, or taken together with --read join.
    """

    tokeniser: Named
    gold: Annotated[list[str], typer.Argument()]
    read: GoldReading = AS_FOUND
    recipe: Path | None = None
    frequencies: str | None = None
    bare: bool = False
    as_json: bool = False

    @cached_property
    def names(self) -> list[str]:
        """The golds, those that a pattern names one by one."""
        from morphgraph.reference.catalogue import expand_pattern

        return [name for each in self.gold for name in expand_pattern(each)]

    @cached_property
    def counts(self) -> Any:
        """Word counts, or None; read once, as they may come through a pipe."""
        return word_counts(self.frequencies)

    def gold_sets(self) -> "list[GoldSet]":
        """Return the gold set of each gold, or of one that joins them."""
        from morphgraph.score.gold_set import GoldSet

        known = None if self.counts is None else dict(self.counts.items())
        golds, named = self.read.golds(self.names), self.frequencies or ""
        return [GoldSet.of(gold, known, named, bare=self.bare) for gold in golds]

    def gold_set(self) -> "GoldSet":
        """Return the one gold of a command that takes no more."""
        if len(self.names) > 1 and not self.read.join:
            raise MorphGraphError(
                f"There are {len(self.names)} golds, but this command takes one. Add --read join "
                "to join them, or name one."
            )
        return self.gold_sets()[0]

    def entrants(self, methods: Sequence[str]) -> "list[Entrant]":
        """Return each method on the tokeniser, or file; without any the tokeniser itself."""
        loaded: BpeTokeniser | None = None
        try:
            loaded = load_edited(self.tokeniser, self.recipe)
        except (NoMergesError, NotTypesError):
            if self.recipe is not None:
                raise
            entrants = [] if methods else [_entrant_of(self.tokeniser)]
        else:
            whole = replace(self._on(loaded, "bpe"), label=base_name(loaded.name))
            entrants = [] if methods else [whole]
        for each in methods:
            is_method = re.fullmatch(r"[\w-]+\s*(\(.*\))?", each) and not Path(each).exists()
            entrants.append(self._on(loaded, each) if is_method else _entrant_of(each))
        return entrants

    def _on(self, loaded: "BpeTokeniser | None", text: str) -> "Entrant":
        """Return a method on the tokeniser, which may learn from gold."""
        given: Any
        from morphgraph.refine.learning import Entrant, Learner
        from morphgraph.segment.models import load_segmenter
        from morphgraph.segment.segmenter import method_on

        name, given = parse_method(text)
        method = method_named(name, [*METHODS.segmenting, *METHODS.learning])
        settings: Any = method.settings(given)
        label = method.label(given)
        if not method.learns:
            segmenter: Any = partial(
                load_segmenter, self.tokeniser, name, counts=self.counts, **given
            )
            if loaded is not None:
                segmenter = partial(method_on, loaded, name, given, self.counts)
            return Entrant(label, segmenter, loaded)
        for drawn in ("holdout", "seed"):
            if drawn in given:
                raise MorphGraphError(
                    f"{name} is scored on words that --holdout and the seed draw. Leave {drawn} "
                    "out of the method."
                )
        learning = loaded or load_edited(self.tokeniser, self.recipe)
        return Entrant(label, None, learning, Learner(learning, method, settings))


def named_methods(texts: Sequence[str] | None) -> list[str]:
    """Split methods and files at the commas between them.

    >>> named_methods(["bpe, dropout(p=0.1, seed=3)", "picky.json"])
    ['bpe', 'dropout(p=0.1, seed=3)', 'picky.json']
    """
    return [
        part
        for text in texts or ()
        for part in ([text] if Path(text).exists() else split_methods(text))
    ]


# ------------------------------------------------------------------------------ what is opened


def load_edited(tokeniser: str, recipe: Path | None, pattern: str | None = None) -> "BpeTokeniser":
    """Load a tokeniser of merges, and apply the edits of a recipe if given.

    An error names the commands that need no merges.
    """
    from morphgraph.core.files import read_bytes
    from morphgraph.formats.loading import load_tokeniser
    from morphgraph.formats.recipe import read_recipe, replay
    from morphgraph.reference.mistaken import gold_named
    from morphgraph.segment.bte import Bte

    try:
        with gold_named():
            loaded = load_tokeniser(tokeniser, pattern)
    except NoMergesError as error:
        fix = f"{error.fix} Only segment, score, compare, vocabulary and export need no merges."
        raise NoMergesError(error.file, error.place, error.problem, fix) from error
    if recipe is not None:
        replay(loaded, read_recipe(read_bytes(recipe), str(recipe)), str(recipe))
    _warn(Bte(loaded), tokeniser)
    return loaded


def open_edited(given: Any) -> "Tokeniser":
    """Open the ``tokeniser`` of options with the edits of their ``recipe``."""
    from morphgraph.api.with_merges import Tokeniser
    from morphgraph.segment.segmenter import standard_segmenter

    return Tokeniser(standard_segmenter(load_edited(given.tokeniser, given.recipe)))


def load_any(source: str, method: str | None = None, **parameters: Any) -> "Segmenter":
    """Load anything that segments, as `load_segmenter` does, and print its warnings on stderr."""
    from morphgraph.segment.models import load_segmenter

    loaded = load_segmenter(source, method, **parameters)
    _warn(loaded, source)
    return loaded


def segmenters_named(sources: Sequence[str]) -> "dict[str, Segmenter]":
    """Load several by their names, or by where they are where names repeat."""
    names = [*map(base_name, sources)]
    labels = unique_labels(
        [n if names.count(n) == 1 else source for n, source in zip(names, sources, strict=True)]
    )
    return {label: load_any(source) for label, source in zip(labels, sources, strict=True)}


def _warn(loaded: "Segmenter", source: str) -> None:
    from morphgraph.segment.models import read_otherwise_by

    for notice in (*loaded.notices, *filter(None, [read_otherwise_by(source, loaded)])):
        print(f"{source}: {notice}", file=sys.stderr)


def _entrant_of(source: str) -> "Entrant":
    """Return the entrant in a file: a segmenter with its own method, or predictions.

    Predictions of another program that cannot be read become a row that failed. Lines without
    morph boundaries are reported.
    """
    from morphgraph.reference.predictions import Predictions, read_predictions
    from morphgraph.refine.learning import Entrant

    @cache
    def read() -> Predictions:
        predictions = read_predictions(source)
        for skip in predictions.skipped:
            print(f"{source}: {skip.count:,} without boundaries: {skip.reason}", file=sys.stderr)
        return predictions

    # A folder or a name of a hub may have a dot in it: Llama-3.1-8B.
    label = Path(source).stem if Path(source).is_file() else Path(source).name
    try:
        loaded = load_any(source)
    except NotTypesError:
        return Entrant(label, read)
    return Entrant(label, loaded, loaded.tokeniser)


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


# ------------------------------------------------------------------------------ where tasks run


@contextmanager
def workers_at(
    workers: int | None, scheduler: str | None, *, processes: bool = True
) -> Iterator[tuple[Any, int]]:
    """Yield a runner of tasks on a scheduler's workers or on processes here, and their number.

    For neither it yields None: tasks run in this process, in threads unless ``processes``.
    """
    if scheduler is None and (not processes or workers in (None, 1)):
        yield None, 1
        return
    from morphgraph.batch.cluster import client_at, runner_on

    with client_at(workers, scheduler) as client:
        yield runner_on(client), max(1, len(client.scheduler_info(-1)["workers"]))

"""The configuration of an evaluation, read from one YAML file and checked.

languages × corpora × tokenisers × methods with grids of parameters × references × seeds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import reduce
from itertools import chain, product
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_origin

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    create_model,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from morphgraph.batch.cells import STANDARD_METHOD
from morphgraph.batch.downstream import TASKS, DownstreamTask, task_named
from morphgraph.batch.results import OWN_METRICS, PHASE_METRICS, TableSpec
from morphgraph.batch.yaml_reading import (
    Lines,
    ListOrOne,
    Name,
    OneOrMore,
    Strict,
    check,
    listed,
    load_yaml,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.readers import READERS
from morphgraph.score import SHARE_KEPT
from morphgraph.score.gold_reading import Reading
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.score.metrics import check_metrics
from morphgraph.score.vocabulary_figures import FIGURES
from morphgraph.segment.method import METHODS, Parameters, parse_method, values_of
from morphgraph.segment.training import training_of

if TYPE_CHECKING:
    FigureName = str
else:
    FigureName = Literal[tuple(figure.key for figure in FIGURES)]


@contextmanager
def _told_by_pydantic() -> Iterator[None]:
    try:
        yield
    except MorphGraphError as error:
        raise ValueError(str(error)) from error


def _as_reference(given: Any) -> Any:
    return {"source": given} if isinstance(given, str | list) else given


FileName = Annotated[str, Field(min_length=1)]


class _ForLanguages(Strict):
    """A choice that may be for some languages only."""

    languages: OneOrMore[Name] | None = Field(None, description="Only for these languages.")

    def is_for(self, language: str) -> bool:
        """Whether it is for a language."""
        return self.languages is None or language in self.languages


class _Named(_ForLanguages):
    name: Name | None = Field(None, description="Its name in tables.")


class Corpus(_Named):
    """Word counts of a language: what tokenisers are trained on, and token weights."""

    name: Name = Field("wordfreq", description="Its name in tables.")
    wordfreq: str | None = Field(
        None, description="A language code of wordfreq; {code} is that of the language."
    )
    counts: str | None = Field(None, description="A file with word counts.")
    text: OneOrMore[str] | None = Field(None, description="Files or folders of running text.")
    column: str | None = Field(None, description="For text in tables: the column with the text.")
    whole: bool = Field(
        False, description="Each line or cell, such as a title, counts as one word in figures."
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [self.wordfreq, self.counts, self.text]
        if sum(source is not None for source in given) != 1:
            raise ValueError(
                "a corpus comes from one source. Give either wordfreq, counts or text."
            )
        return self


_WORDFREQ = {"name": "wordfreq", "wordfreq": "{code}"}


def _as_corpus(given: Any) -> Any:
    if isinstance(given, str):
        if given == "wordfreq":
            return _WORDFREQ
        return {"name": Path(given).stem[:100] or given, "counts": given}
    return given


class _Grid(Strict):
    """A choice with values of parameters: the fields that a class made from it adds."""

    own: ClassVar[tuple[str, ...]] = ()

    def given(self) -> dict[str, list[Any]]:
        """Return the values of each of its parameters that has some."""
        values = {name: getattr(self, name) for name in self.own}
        return {name: value for name, value in values.items() if value is not None}

    def combinations(self) -> list[dict[str, Any]]:
        """Return every combination of its parameters, those that stand in the file first."""
        given = self.given()
        return [dict(zip(given, chosen, strict=True)) for chosen in product(*given.values())]


def _extended(
    base: type[Any], name: str, does: str | None, own: dict[str, Any], **more: Any
) -> Any:
    """Return a model with the parameters of a method or task as further fields."""
    model = create_model(name, __base__=base, __doc__=does, **more, **own)
    model.own = tuple(own)
    return model


def _parameters(fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Return a field of one or more values for each parameter, but the seed."""
    found: dict[str, Any] = {}
    for name, field in fields.items():
        one: Any = values_of(field)
        for bound in field.metadata:
            one = Annotated[one, bound]
        if name != "seed":
            found[name] = (OneOrMore[one] | None, Field(None, description=field.description))
    return found


# ------------------------------------------------------------------------------ tokenisers


class LoadedTokeniser(_Named):
    """A tokeniser read from a file."""

    file: str = Field(
        description="tokenizer.json, a folder, a model, a vocabulary, or demo:{code}."
    )


class TrainedTokeniser(_Grid, _Named):
    """A tokeniser trained on the corpus."""

    train: str
    vocab_size: OneOrMore[Annotated[int, Field(ge=2, le=10_000_000)]] = Field(
        description="Types to train, atoms included."
    )
    pipeline: OneOrMore[str] | None = Field(
        None, description="What happens to words before training."
    )


def _trained(name: str) -> Any:
    method, training = training_of(name)
    known: Any = Literal[training.pipelines]
    pipeline = OneOrMore[known] | None, TrainedTokeniser.model_fields["pipeline"]
    own = _parameters(training.parameters.model_fields)
    return Annotated[
        _extended(
            TrainedTokeniser,
            f"Trained{name.title().replace('-', '')}",
            method.does,
            own,
            train=(Literal[name], ...),
            pipeline=pipeline,
        ),
        Tag(name),
    ]


METHODS.load()
# Those trained on several languages at once are left out: here each has a tokeniser of its own.
_TRAINED = [name for name in METHODS.trained if not training_of(name)[1].several]


# ------------------------------------------------------------------------------ methods


class _ForTokenisers(_Grid):
    """A choice that may be for some tokenisers only."""

    tokenisers: list[str] | None = Field(
        None, description="Names of the tokenisers that it is for; all if not given."
    )

    def is_on(self, tokeniser: str | None) -> bool:
        """Whether it is for the tokenisers of this name."""
        return self.tokenisers is None or tokeniser in self.tokenisers


class MethodChoice(_ForTokenisers, _ForLanguages):
    """A method or the tokeniser's own, its title in tables, and the tokenisers it is for."""

    method: str
    label: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        None, description="Its name in tables."
    )

    def title(self) -> str:
        """Its title in tables; empty for the tokeniser's own method, which has no other name."""
        return self.label or ("" if self.method == STANDARD_METHOD else METHODS[self.method].title)

    @property
    def needs_counts(self) -> bool:
        """Whether it needs word counts, itself or to blame by tokens."""
        counted = self.method != STANDARD_METHOD and METHODS[self.method].counts
        return counted or "tokens" in self.given().get("weighting", ())

    def learns(self) -> bool:
        """Whether it uses gold boundaries for some of its parameters."""
        return any(settings_of(self.method, given).sees_gold for given in self.combinations())


def settings_of(method: str, parameters: Mapping[str, Any]) -> Parameters:
    """Return the parameters of one cell; none for the own method."""
    known = METHODS.get(method)
    return Parameters() if known is None else known.settings(parameters)


def _method_model(name: str) -> Any:
    does, own = "The tokeniser's own method.", {}
    if name != STANDARD_METHOD:
        does, own = METHODS[name].does, _parameters(METHODS[name].fields)
    return _extended(MethodChoice, name.capitalize(), does, own, method=(Literal[name], ...))


_METHODS = [STANDARD_METHOD, *METHODS.offered, *METHODS.able("follows"), *METHODS.learning]
_METHODS.remove("bpe")


def _as_method(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    with _told_by_pydantic():
        name, parameters = parse_method(given)
    return {"method": name, **parameters}


# ------------------------------------------------------------------------------ downstream tasks


class DownstreamChoice(_ForTokenisers, _Named):
    """A task that tokenisers are measured on, once for each seed."""

    task: str

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        with _told_by_pydantic():
            self.entry.parameters(**self.settings())
        return self

    @property
    def entry(self) -> DownstreamTask:
        """Its entry among the tasks."""
        return task_named(self.task)

    @property
    def title(self) -> str:
        """Its title in tables."""
        return self.name or self.entry.title

    def settings(self) -> dict[str, Any]:
        """The task's own settings."""
        return {name: getattr(self, name) for name in self.own}


def _task_model(name: str) -> Any:
    task = TASKS[name]
    fields: dict[str, Any] = {}
    for key, field in task.parameters.model_fields.items():
        kind: Any = field.annotation
        default: Any = copy(field)
        if key in task.inputs and get_origin(values_of(field)) is list:
            kind = OneOrMore[FileName] if field.is_required() else OneOrMore[FileName] | None
            default = Field(... if field.is_required() else None, description=field.description)
        fields[key] = (kind, default)
    title = "".join(part.capitalize() for part in name.split("-"))
    return _extended(DownstreamChoice, title, task.does, fields, task=(Literal[name], ...))


def _as_task(given: Any) -> Any:
    """Refuse a task that is not installed, and say what to install."""
    if isinstance(given, dict) and isinstance(given.get("task"), str):
        with _told_by_pydantic():
            task_named(given["task"])
    return given


if TYPE_CHECKING:
    TokeniserChoice = LoadedTokeniser | TrainedTokeniser
    AnyMethod = MethodChoice
    AnyDownstream = DownstreamChoice
else:
    TokeniserChoice = Annotated[
        reduce(or_, map(_trained, _TRAINED), Annotated[LoadedTokeniser, Tag("file")]),
        Discriminator(lambda it: it.get("train", "file") if isinstance(it, dict) else None),
    ]
    AnyMethod = Annotated[reduce(or_, map(_method_model, _METHODS)), Field(discriminator="method")]
    _TASK_MODELS = [*map(_task_model, TASKS)] or [DownstreamChoice]
    _ANY_TASK = reduce(or_, _TASK_MODELS)
    AnyDownstream = Annotated[
        Annotated[_ANY_TASK, Field(discriminator="task")] if len(_TASK_MODELS) > 1 else _ANY_TASK,
        BeforeValidator(_as_task),
    ]


# ------------------------------------------------------------------------------ references


class _ReferenceSource(_Named):
    """A gold segmentation of each language."""

    source: OneOrMore[FileName] = Field(
        description="A file, catalogue:NAME or demo:{code}, or several joined by “ + ”. Of a "
        "list, the first is taken of which all parts exist."
    )
    join: ListOrOne[FileName] = Field(
        [], description="Further references whose entries are added; all must exist."
    )

    @field_validator("format", check_fields=False)
    @classmethod
    def _known_format(cls, name: str | None) -> str | None:
        if name is not None and name not in READERS:
            raise ValueError(f"{name!r} is not allowed. Use one of: {', '.join(READERS)}")
        return name

    @property
    def reading(self) -> dict[str, Any]:
        """The settings of `Reading` that are given."""
        return self.model_dump(include={*Reading.model_fields}, exclude_defaults=True)


if TYPE_CHECKING:
    ReferenceChoice = _ReferenceSource
else:
    ReferenceChoice = create_model(
        "ReferenceChoice",
        __base__=_ReferenceSource,
        __doc__=_ReferenceSource.__doc__,
        **{name: (each.annotation, each) for name, each in Reading.model_fields.items()},
    )


def _as_metrics(given: Any) -> Any:
    names = listed(given)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return names
    names = [*chain.from_iterable(PHASE_METRICS if n == "phases" else [n] for n in names)]
    own = [name for name in names if name in OWN_METRICS]
    others = [name for name in names if name not in OWN_METRICS]
    with _told_by_pydantic():
        return [*check_metrics(others), *own] if others else own


class EvaluationPart(Strict):
    """What to measure on what, and how to show it."""

    languages: Annotated[ListOrOne[Name], Field(min_length=1)] = Field(
        description="Codes of two or three letters; {language} and {code} stand for them below."
    )
    corpora: list[Annotated[Corpus, BeforeValidator(_as_corpus)]] | None = Field(
        None,
        description="wordfreq, a file of word counts, or text: to train on, and for weights. "
        "wordfreq if one is needed and none is given.",
    )
    tokenisers: list[TokeniserChoice] = Field(
        min_length=1, description="Trained on the corpora, or from files."
    )
    methods: list[Annotated[AnyMethod, BeforeValidator(_as_method)]] = Field(
        default=[STANDARD_METHOD],
        validate_default=True,
        min_length=1,
        description="The methods for each tokeniser; lists of values make a grid.",
    )
    references: list[Annotated[ReferenceChoice, BeforeValidator(_as_reference)]] = Field(
        [], description="Gold segmentations: files, catalogue:NAME or demo:{code}."
    )
    metrics: Annotated[list[str], BeforeValidator(_as_metrics)] = Field(
        ["precision", "recall", "f1"], description="Scores by the references, or groups of them."
    )
    vocabulary: list[FigureName] = Field([], description="Figures of the vocabularies.")
    downstream: list[AnyDownstream] = Field(
        [],
        description="Tasks to measure tokenisers on, such as training models on their tokens. "
        "They come from plug-ins; those with models need the extra models.",
    )
    scopes: list[Scope] = Field(
        ["morphemic"], min_length=1, description="Boundaries between morphs, or whole words."
    )
    weightings: list[Weighting] = Field(
        ["types"], min_length=1, description="Each word once, or as often as the corpus has it."
    )
    seeds: list[Annotated[int, Field(ge=0, le=2**31)]] = Field(
        [0], min_length=1, max_length=1_000, description="Random seeds, with a cell for each."
    )
    intervals: bool = Field(True, description="95 % bootstrap intervals of scores.")
    tests: bool = Field(
        True, description="Paired tests against the first method on the same words."
    )
    holdout: Annotated[float, Field(ge=0, lt=1)] = Field(
        SHARE_KEPT,
        description="If a method learns from the references: the share, in whole families of "
        "words, that it does not see and all are scored on. 0: score on the words learned from.",
    )
    tables: list[TableSpec] = Field([], description="What the report shows; its own if none.")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        problem = next(self._problems(), None)
        if problem is not None:
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        """Yield what does not fit together, and what to do."""
        for choice in self.tokenisers:
            if isinstance(choice, TrainedTokeniser) and not self.used_corpora:
                nothing = "has nothing to be trained on. Add corpora, such as [wordfreq]."
                yield f"{choice.train} {nothing}"
        if not (self.references or self.vocabulary or self.downstream):
            yield (
                "there is nothing to measure. Add references, vocabulary figures or downstream "
                "tasks."
            )
        known = {choice.name for choice in self.tokenisers}
        meant = [(method.method, method.tokenisers) for method in self.methods]
        meant += [(choice.title, choice.tokenisers) for choice in self.downstream]
        for what, name in ((what, name) for what, names in meant for name in names or ()):
            if name not in known:
                shown = ", ".join(sorted(filter(None, known))) or "none"
                yield (
                    f"{what} is for a tokeniser “{name}”, which does not exist. Names of "
                    f"tokenisers: {shown}."
                )

    @property
    def used_corpora(self) -> list[Corpus]:
        """Its corpora; wordfreq if none is given and something needs one."""
        if self.corpora is not None:
            return self.corpora
        needed = (
            "tokens" in self.weightings
            or any(isinstance(choice, TrainedTokeniser) for choice in self.tokenisers)
            or any(method.needs_counts for method in self.methods)
        )
        return [Corpus.model_validate(_WORDFREQ)] if needed else []

    def quick(self) -> Self:
        """Return a trial: the first seed, small inputs, the ends of each grid, short trainings."""
        references = [
            each.model_copy(update={"sample": min(each.reading.get("sample", size), size)})
            for size, each in product([_QUICK_WORDS], self.references)
        ]
        trained = (one for one in self.tokenisers if isinstance(one, TrainedTokeniser))
        most = max((min(one.vocab_size) for one in trained), default=_QUICK_TYPES)
        share = min(1.0, _QUICK_TYPES / most)  # of all sizes, which keep their order
        changes: dict[str, Any] = {
            "tokenisers": [_shortened(one, share) for one in self.tokenisers],
            "methods": [_shortened(one, share) for one in self.methods],
            "references": references,
            "downstream": [each.model_copy(update=each.entry.quick) for each in self.downstream],
            "seeds": self.seeds[:1],
        }
        return self.model_copy(update={**changes, "intervals": False, "tests": False})


_QUICK_TYPES, _QUICK_WORDS = 4_000, 2_000


def _shortened(choice: Any, share: float) -> Any:
    """Return a choice with the ends of each parameter's values, and a share of its types."""
    given = choice.given() if isinstance(choice, _Grid) else {}
    fewer = {name: [*dict.fromkeys((values[0], values[-1]))] for name, values in given.items()}
    sizes = choice.vocab_size if isinstance(choice, TrainedTokeniser) else given.get("vocab_size")
    if sizes:
        fewer["vocab_size"] = [int(share * min(sizes))]
    return choice.model_copy(update=fewer)


class Missing(Strict):
    """What of a paper is not run, and why."""

    of: Name = Field(description="Which of its tables or figures.")
    why: str = Field(description="The reason.")


class Evaluation(Strict):
    """A full evaluation: one part or several, where what stands beside parts is for all of them."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")] = Field(
        description="Letters, digits, dots and dashes; also the name of the run's folder."
    )
    title: str = Field("", description="The title of the report.")
    description: str = Field("", description="Text below the title.")
    parts: list[EvaluationPart] = Field(
        min_length=1, description="Parts, each with what it measures differently from the others."
    )
    missing: list[Missing] = Field([], description="What of a paper is not run, with the reason.")

    @classmethod
    def known_fields(cls) -> list[str]:
        return [*cls.model_fields, *EvaluationPart.model_fields]

    @model_validator(mode="before")
    @classmethod
    def _in_parts(cls, given: Any) -> Any:
        """Put what stands beside the parts into each."""
        if not isinstance(given, dict) or not isinstance(parts := given.get("parts", [{}]), list):
            return given
        common = {name: given[name] for name in given if name in EvaluationPart.model_fields}
        own = {name: given[name] for name in given if name not in common}
        filled = [{**common, **part} if isinstance(part, dict) else part for part in parts]
        return {**own, "parts": filled}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        """Allow the fields of parts beside them; no part needs all."""
        schema = handler.resolve_ref_schema(handler(core))
        part = handler.resolve_ref_schema(schema["properties"]["parts"]["items"])
        part.pop("required", None)
        schema["properties"] = {**schema["properties"], **part["properties"]}
        schema["required"] = ["name"]
        return schema

    @property
    def languages(self) -> list[str]:
        """The languages of all parts."""
        return [*dict.fromkeys(chain.from_iterable(part.languages for part in self.parts))]


def parse_evaluation(data: bytes | str, name: str) -> tuple[Evaluation, Lines]:
    """Return an evaluation and the line of each field from YAML, or a `FileFormatError`."""
    content, lines = load_yaml(data, name)
    return check(Evaluation, content, lines, name), lines


def schema_text() -> str:
    """Return the JSON schema of a configuration, for editors that check while typing."""
    return json.dumps(Evaluation.model_json_schema(), indent=2, ensure_ascii=False)

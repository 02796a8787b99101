"""From a configuration to tasks: the cells of the grid, and their counts and tokenisers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from morphgraph.batch.cells import (
    make_counts,
    make_tokeniser,
    measure_cell,
    measure_downstream,
    task_settings,
)
from morphgraph.batch.configuration import (
    Corpus,
    DownstreamChoice,
    Evaluation,
    EvaluationPart,
    LoadedTokeniser,
    MethodChoice,
    ReferenceChoice,
    TokeniserChoice,
    TrainedTokeniser,
    parse_evaluation,
    settings_of,
)
from morphgraph.batch.downstream import task_named
from morphgraph.batch.store import Task, contents
from morphgraph.batch.yaml_reading import Lines, field_place
from morphgraph.core.errors import FileFormatError, MorphGraphError, require, unquoted
from morphgraph.core.files import decode_utf8, demo_tokeniser_path, read_bytes
from morphgraph.core.limits import HASHED_FILES, PLAN_TASKS, PUBLIC_TASKS, PUBLIC_TYPES
from morphgraph.core.text import shortened, visible
from morphgraph.corpus.text_files import find_texts
from morphgraph.formats.opening import tokeniser_files
from morphgraph.reference.language import language_code
from morphgraph.reference.readers import is_named, named_reference_file
from morphgraph.score.gold_reading import exempt_words
from morphgraph.score.vocabulary_figures import FIGURES, RELATIVE
from morphgraph.segment.method import METHODS, Parameters
from morphgraph.segment.training import training_of

T = TypeVar("T")
_BY_REFERENCE = {figure.key for figure in FIGURES if figure.needs == "reference"}
_TEXT_PER_SECOND = 10e6
_LOADING, _FIGURES, _INTERVALS, _SCORES = 0.5, 2.0, 0.15, 0.02
"""Estimated seconds of a part of a task on one core, like `Method.seconds`."""
_NAME_OTHERS = "Name an uploaded file, demo:… or catalogue:… instead."


@dataclass(frozen=True)
class Plan:
    """All tasks of an evaluation, each after those that it needs; cells in result order.

    ``text``: the configuration as written; ``languages``: those of it that are planned; ``parts``:
    the cells of each part, of which some may be those of an earlier one under another name;
    ``left_out``: what is not there, and why.
    """

    text: str
    evaluation: Evaluation
    languages: tuple[str, ...]
    tasks: tuple[Task, ...]
    parts: tuple[tuple[Task, ...], ...]
    left_out: tuple[str, ...] = ()

    @cached_property
    def cells(self) -> list[Task]:
        """The tasks whose results are the rows of the evaluation."""
        return [task for task in self.tasks if task.kind == "cell"]


def read_plan(
    path: str | os.PathLike[str],
    languages: Sequence[str] | None = None,
    folder: Path | None = None,
    *,
    confined: bool = False,
    quick: bool = False,
) -> Plan:
    """Plan the configuration in a file; its relative paths start from the file's folder."""
    text, start = decode_utf8(read_bytes(path), str(path)), folder or Path(path).parent
    return make_plan(text, str(path), start, languages, confined=confined, quick=quick)


def make_plan(
    text: str,
    name: str,
    folder: Path | None = None,
    languages: Sequence[str] | None = None,
    *,
    confined: bool = False,
    quoting: bool = True,
    quick: bool = False,
) -> Plan:
    """Plan a configuration, which is called ``name`` in errors.

    ``folder``: where its relative paths start, by default the current one. ``languages``: only
    these of its languages. References, corpora and files of tasks that are not there are left out,
    with their languages if need be; if nothing is left, `FileFormatError` names the line of the
    first. ``confined``: for untrusted configurations, which may only name files in the folder,
    neither variables nor downstream tasks, and stay within the limits of a public app. ``quoting``:
    whether errors may quote the content of files. ``quick``: a trial of each part in its first
    language that is there, with small inputs.
    """
    require("An evaluation", "distributed", "cryptography", "pyarrow", "plotly")
    evaluation, lines = parse_evaluation(text, name)
    chosen = evaluation.languages if languages is None else languages
    for language in chosen:
        if language not in evaluation.languages:
            listed = ", ".join(evaluation.languages)
            raise MorphGraphError(f"{name} has no language “{language}”. It has: {listed}.")
    planned = tuple(language for language in evaluation.languages if language in chosen)
    # Workers may have another working folder.
    where = (folder or Path()).resolve()
    tasks: dict[str, Task] = {}
    planners = []
    for number, part in enumerate(evaluation.parts):
        of_part = part.quick() if quick else part
        planner = _Planner(of_part, number, lines, name, where, confined, quoting, tasks)
        planner.check_confined()
        for language in (language for language in part.languages if language in planned):
            planner.add(language)
            if quick and planner.cells:
                break
        planners.append(planner)
    errors = [error for planner in planners for error in planner.left_out]
    if not any(planner.cells for planner in planners):
        fix = "Correct which methods are for which tokenisers."
        raise next(iter(errors), FileFormatError(name, "", "the evaluation has no cell", fix))
    cells = tuple(tuple(planner.cells.values()) for planner in planners)
    left_out = tuple(dict.fromkeys(map(str, errors)))
    return Plan(text, evaluation, planned, tuple(tasks.values()), cells, left_out)


class _Counted(NamedTuple):
    """A corpus of one language: its name in results and signatures, and its counting task."""

    name: str
    signed: str
    task: Task


class _Source(NamedTuple):
    """A tokeniser of the grid, by its task.

    ``name``: that of the choice in the file; ``title``: that of its own method.
    """

    name: str | None
    corpus: _Counted | None
    label: str
    title: str
    task: Task
    vocab_size: int | None = None


@dataclass
class _Planner:
    evaluation: EvaluationPart
    number: int
    lines: Lines
    name: str
    folder: Path
    confined: bool = False
    quoting: bool = True
    tasks: dict[str, Task] = field(default_factory=dict)  # those of all parts
    cells: dict[str, Task] = field(default_factory=dict)
    left_out: list[FileFormatError] = field(default_factory=list)
    # Of the language that is being planned: what its name stands for, and what is measured.
    values: dict[str, str] = field(default_factory=dict)
    references: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    downstream: list[tuple[DownstreamChoice, dict[str, Any]]] = field(default_factory=list)
    cell_keys: dict[tuple[Any, ...], str] = field(default_factory=dict)
    baselines: dict[tuple[Any, ...], tuple[dict[str, Any], str]] = field(default_factory=dict)
    compared: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def add(self, language: str) -> None:
        """Add all tasks of one language."""
        asked = self.evaluation
        self.values = {"language": language, "code": language_code(language)}

        def of_language(choices: Sequence[Any]) -> list[tuple[int, Any]]:
            return [(place, one) for place, one in enumerate(choices) if one.is_for(language)]

        self.references = self._there(self._reference, of_language(asked.references))
        self.downstream = self._there(self._downstream, of_language(asked.downstream))
        corpora: list[Any] = self._there(self._counts, of_language(asked.used_corpora))
        tokenisers = of_language(asked.tokenisers)
        if not tokenisers:
            with self._at("tokenisers"):
                fix = f"Add {language} to the languages of one, or leave it out of the evaluation."
                raise MorphGraphError(f"{language} has no tokeniser. {fix}")
        lacks = [
            bool(of_language(choices)) and not there
            for choices, there in (
                (asked.references, self.references),
                (asked.used_corpora, corpora),
                (asked.downstream, self.downstream),
            )
        ]
        if any(lacks[:2]) or (lacks[2] and not (self.references or asked.vocabulary)):
            return
        for number, method in of_language(asked.methods):
            self._check_grid(number, method)
        for corpus in corpora or [None]:
            sources = self._there(partial(self._tokenisers, corpus), tokenisers)
            for source, (number, method) in product(chain(*sources), of_language(asked.methods)):
                if method.is_on(source.name):
                    self._check_grid(number, method)
                    self._cells(source, method)

    def _there(self, plan: Callable[[int, Any], T], choices: list[tuple[int, Any]]) -> list[T]:
        """Return what can be planned of some choices; the rest is left out, with its error."""
        planned = []
        for place, choice in choices:
            try:
                planned.append(plan(place, choice))
            except FileFormatError as error:
                self.left_out.append(error)
        return planned

    def check_confined(self) -> None:
        """Refuse at once what a public app does not run."""
        if not self.confined:
            return
        elsewhere, most = "or run the evaluation on your own machine.", PUBLIC_TYPES.value
        if self.evaluation.downstream:
            with self._at("downstream"):
                problem = "downstream tasks are not run here"
                raise MorphGraphError(f"{problem}. Leave them out, {elsewhere}")
        for place, choice in enumerate(self.evaluation.tokenisers):
            if isinstance(choice, TrainedTokeniser) and max(choice.vocab_size) > most:
                with self._at("tokenisers", place, "vocab_size"):
                    problem = f"at most {most:,} types are trained here"
                    raise MorphGraphError(f"{problem}. Ask for fewer, {elsewhere}")

    def _check_grid(self, number: int, method: MethodChoice) -> None:
        """Refuse too many combinations of a method's parameters, before anything expands them."""
        with self._at("methods", number):
            self._check_size(prod(map(len, method.given().values())))

    def _check_size(self, more: int) -> None:
        most = (PUBLIC_TASKS if self.confined else PLAN_TASKS).value
        if len(self.tasks) + more > most:
            problem = f"the evaluation has more than {most:,} cells"
            fix = "Shorten its lists, or split it into several evaluations."
            raise MorphGraphError(f"{problem}. {fix}")

    @contextmanager
    def _at(self, *path: str | int) -> Iterator[None]:
        """Add the line of their field to errors raised meanwhile."""
        try:
            yield
        except MorphGraphError as error:
            message = str(error).removesuffix(".")
            if self.confined:  # a server's paths are of no use to its visitors
                message = message.replace(f"{self.folder}{os.sep}", "")
            problem, _, fix = message.rpartition(". ")
            problem, fix = (problem, fix) if problem else (fix, "Correct it")
            own = ("parts", self.number, *path)
            path = own if own[:3] in self.lines else path
            place = field_place(self.lines, path) if path else ""
            raise FileFormatError(self.name, place, problem, f"{fix}.") from error

    def _add(self, task: Task) -> Task:
        """Add a task, or return the equal one that was added before."""
        if task.key not in self.tasks:
            with self._at():
                self._check_size(1)
        return self.tasks.setdefault(task.key, task)

    # -------------------------------------------------------------------------- inputs

    def _path(self, template: str) -> str:
        path = self._filled(template)
        return path if path.startswith("demo:") else self._inside(path)

    def _filled(self, template: str) -> str:
        if self.confined and "${" in template:
            raise MorphGraphError(f"variables of the server are not read. {_NAME_OTHERS}")
        return filled(template, self.values)

    def _inside(self, path: str) -> str:
        """Return a file's path; if confined, refuse any outside the folder before looking."""
        file = self.folder / path
        try:
            is_inside = not self.confined or file.resolve().is_relative_to(self.folder)
        except (ValueError, OSError, RuntimeError):  # an impossible file name, or a loop
            is_inside = False
        if not is_inside:
            shown = shortened(visible(path), 60)
            raise MorphGraphError(f"“{shown}” is not among the uploaded files. {_NAME_OTHERS}")
        return str(file)

    def _reference(self, place: int, choice: ReferenceChoice) -> tuple[str, dict[str, Any]]:
        with self._at("references", place, "source"):
            parts = self._reference_parts(choice.source)
        with self._at("references", place, "join"):
            parts += [part for source in choice.join for part in self._reference_parts([source])]
        named, reading = choice.name, choice.reading
        with self._at("references", place, "exempt"):
            if isinstance(path := reading.get("exempt"), str):
                reading["exempt"] = exempt_words(self._path(path))
        named = named or " + ".join(Path(part["name"]).name for part in parts)
        return named, {"parts": parts, "reading": reading}

    def _reference_parts(self, sources: Sequence[str]) -> list[dict[str, Any]]:
        """Return the files of the first of some sources that exists, and their formats if known.

        A source may be several, joined by “ + ”, which exists if all of them do.
        """
        problems = []
        for template in sources:
            try:
                return [*map(self._reference_file, self._filled(template).split(" + "))]
            except MorphGraphError as error:
                problems.append(str(error))
        leave = f"Or leave {self.values['language']} out of the languages."
        raise MorphGraphError(" ".join(dict.fromkeys([*problems, leave])))

    def _reference_file(self, name: str) -> dict[str, Any]:
        if not is_named(name):
            return {**_file(self._inside(name)), "format": None}
        place, known, _ = named_reference_file(name)
        return {**_file(str(place), name), "format": known}

    def _downstream(
        self, place: int, choice: DownstreamChoice
    ) -> tuple[DownstreamChoice, dict[str, Any]]:
        with self._at("downstream", place):
            given, task = choice.settings(), choice.entry
            paths: dict[str, Any] = {}
            inputs: dict[str, Any] = {}
            for name, mark in task.inputs.items():
                if (value := given.pop(name)) is not None:
                    several = isinstance(value, list)
                    places = [self._path(path) for path in (value if several else [value])]
                    files = [file for path in places for file in mark.files(path)]
                    # In order, which may be that of languages.
                    content = [checksum for file in files for checksum in contents([file])]
                    paths[name] = places if several else places[0]
                    inputs[name] = {"files": files, "content": content}
            spec = {
                "task": choice.task,
                "settings": given,
                "paths": paths,
                "inputs": inputs,
                "code": task.code(),
                "compares": task.compares,
            }
            named = [file for part in inputs.values() for file in part["files"]]
            with unquoted(*named, asked=not self.quoting):
                task.read(task_settings(spec))  # errors are told before the run
            return choice, spec

    def _counts(self, place: int, corpus: Corpus) -> _Counted:
        spec: dict[str, Any]
        with self._at("corpora", place):
            if corpus.wordfreq is not None:
                code, lists = self._filled(corpus.wordfreq), _wordfreq_lists()
                if code not in lists:
                    of, listed = code or self.values["language"], ", ".join(sorted(lists))
                    raise MorphGraphError(f"wordfreq has no words of “{of}”. It has: {listed}.")
                files, signed = [lists[code]], f"wordfreq:{code}"
                spec = {"source": "wordfreq", "language": code, "files": files}
                spec["content"] = contents(files)
            elif corpus.counts is not None:
                file = _file(self._path(corpus.counts))
                signed, spec = file.pop("name"), {"source": "counts", **file}
            else:
                given = [self._path(text) for text in corpus.text or ()]
                files = [file.path for file in find_texts(given, HASHED_FILES)]
                folders = [path for path in given if Path(path).is_dir()]
                spec = {"source": "text", "files": files, "folders": folders}
                spec |= {"content": contents(files), "column": corpus.column}
                spec |= {"whole": True} if corpus.whole else {}
                signed = corpus.name
        label = f"counts of {corpus.name}, {self.values['language']}"
        texts = spec["files"] if spec["source"] == "text" else ()
        cost = 1.0 + sum(Path(path).stat().st_size for path in texts) / _TEXT_PER_SECOND
        return _Counted(corpus.name, signed, Task("counts", label, make_counts, spec, (), cost))

    # -------------------------------------------------------------------------- tokenisers

    def _tokenisers(
        self, corpus: _Counted | None, place: int, choice: TokeniserChoice
    ) -> list[_Source]:
        if isinstance(choice, LoadedTokeniser):
            return [self._loaded(place, choice, corpus)]
        assert corpus is not None, "a configuration that trains has corpora"
        trained, training = training_of(choice.train)
        pipelines: list[Any] = choice.pipeline or [None]
        sources = []
        for size, pipeline, parameters in product(
            choice.vocab_size, pipelines, choice.combinations()
        ):
            trained_as = {"vocab_size": size, "pipeline": pipeline, "parameters": parameters}
            spec = {"source": "train", "method": choice.train, **trained_as}
            parts = [f"{name}={_shown(value)}" for name, value in parameters.items()]
            parts += [pipeline] if pipeline is not None and len(pipelines) > 1 else []
            label = (choice.name or trained.title) + (f" ({', '.join(parts)})" if parts else "")
            title = f"{label}, {size:,} types, {self.values['language']}"
            cost = training.seconds * max(1.0, size / 32_000)
            needs = (self._add(corpus.task).key,)
            task = self._add(Task("tokeniser", title, make_tokeniser, spec, needs, cost))
            sources.append(_Source(choice.name, corpus, label, trained.title, task, size))
        return sources

    def _loaded(self, place: int, choice: LoadedTokeniser, corpus: _Counted | None) -> _Source:
        with self._at("tokenisers", place, "file"):
            path = self._path(choice.file)
            is_demo = path.startswith("demo:")
            file = demo_tokeniser_path(path.removeprefix("demo:")) if is_demo else Path(path)
            files = [str(read) for read in tokeniser_files(file)]
            content = contents(files)
        name = Path(path).name
        spec = {"source": "file", "path": path, "name": name, "files": files, "content": content}
        label = choice.name or (path if is_demo else name)
        title = f"{label}, {self.values['language']}"
        task = self._add(Task("tokeniser", title, make_tokeniser, spec, (), _LOADING))
        return _Source(choice.name, corpus, label, "as it is", task)

    # -------------------------------------------------------------------------- cells

    def _cells(self, source: _Source, method: MethodChoice) -> None:
        """Plan all cells of a method: its parameters × references and tasks × seeds."""
        for parameters in method.combinations():
            shown = [f"{name}={_shown(value)}" for name, value in parameters.items()]
            columns = {
                "language": self.values["language"],
                "corpus": "" if source.corpus is None else source.corpus.name,
                "tokeniser": source.label,
                "vocab_size": source.vocab_size,
                "method": method.title() or source.title,
                "parameters": ", ".join(shown),
            }
            spec: dict[str, Any] = {
                "method": method.method,
                "tokeniser_name": source.label,
                "parameters": parameters,
                "weightings": [],
                "vocabulary": [],
            }
            settings = settings_of(method.method, parameters)
            self._scored(spec, columns, source, settings)
            self._trained_on(spec, columns, source, settings)

    def _scored(
        self, spec: dict[str, Any], columns: dict[str, Any], source: _Source, settings: Parameters
    ) -> None:
        """Plan the cells of scores and figures, each tested against its baseline.

        If any method of the evaluation learns from references, all are scored on the words kept
        aside, the same ones for a seed.
        """
        asked = self.evaluation
        learns = spec["method"] in METHODS.learning
        alone = [key for key in asked.vocabulary if key not in _BY_REFERENCE]
        by_gold = [key for key in asked.vocabulary if learns or key in _BY_REFERENCE]
        places: list[tuple[str, Any, list[Any]]] = [(*r, by_gold) for r in self.references]
        if alone and not learns:
            places.append(("", None, alone))
        scored_by = asked.model_dump(include={"scopes", "weightings", "intervals", "tests"})
        for named, reference, keys in places:
            splits = self.holds_out and reference is not None
            seeds = asked.seeds if settings.is_random or splits else [None]
            for seed in seeds:
                cell = {
                    **spec,
                    **scored_by,
                    **self._drawn(seed, settings, reference),
                    "reference": reference,
                    "metrics": asked.metrics if reference else [],
                    "vocabulary": keys,
                    # What a seed does not change is told once.
                    "facts": learns or settings.is_random or seed == seeds[0],
                }
                self._task(cell, {**columns, "reference": named, "task": "", "seed": seed}, source)

    def _trained_on(
        self, spec: dict[str, Any], columns: dict[str, Any], source: _Source, settings: Parameters
    ) -> None:
        """Plan the cells of downstream tasks.

        A method that learns is combined with each reference; others need none.
        """
        learns = spec["method"] in METHODS.learning
        references: Sequence[tuple[str, Any]] = self.references if learns else [("", None)]
        tasks = [each for each in self.downstream if each[0].is_on(source.name)]
        for (named, reference), (choice, asked), seed in product(
            references, tasks, self.evaluation.seeds
        ):
            drawn = {**self._drawn(seed, settings, reference), "run_seed": seed}
            training = source.task.spec if source.vocab_size else None
            cell = {**spec, "reference": reference, "downstream": asked, "training": training}
            told = {"reference": named, "task": choice.title, "seed": seed}
            self._task(cell | drawn, {**columns, **told}, source)

    @cached_property
    def holds_out(self) -> bool:
        """Whether words are kept aside, from methods that learn, for all to be scored on."""
        asked = self.evaluation
        return bool(asked.holdout) and any(method.learns() for method in asked.methods)

    def _drawn(
        self, seed: int | None, settings: Parameters, reference: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return what a seed draws in a cell: what the method does, and the words kept aside."""
        aside = self.evaluation.holdout, seed
        return {
            "seed": seed if settings.is_random else None,
            "kept_aside": aside if self.holds_out and reference is not None else None,
        }

    def _baseline(
        self, spec: Mapping[str, Any], columns: Mapping[str, Any], source: _Source
    ) -> tuple[dict[str, Any], str] | None:
        """Return what a cell is tested against and compared with, and the key of its tokeniser.

        This is the first method on the same reference that does not learn from it, on a vocabulary
        of the same size if possible; None for itself.
        """
        place = tuple(columns[name] for name in ("language", "corpus", "reference"))
        alike = (*place, spec["parameters"].get("vocab_size") or columns["vocab_size"])
        if spec["method"] not in METHODS.learning:
            named = {n: spec[n] for n in ("method", "parameters", "tokeniser_name", "seed")}
            own = {**named, "kept_aside": None, "weightings": [], "vocabulary": []}
            for each in (place, alike):
                self.baselines.setdefault(each, (own, source.task.key))
        baseline = self.baselines.get(alike) or self.baselines.get(place)
        if baseline is None:
            return None
        same = all(baseline[0][name] == spec[name] for name in ("method", "parameters"))
        return None if same and baseline[1] == source.task.key else baseline

    def _task(self, spec: dict[str, Any], columns: dict[str, Any], source: _Source) -> None:
        is_downstream, needs, baseline = "downstream" in spec, [source.task.key], None
        tested = self.evaluation.tests and spec["reference"] is not None
        if not is_downstream and (tested or not RELATIVE.isdisjoint(spec["vocabulary"])):
            baseline = self._baseline(spec, columns, source)
        spec |= {"corpus_name": "", "baseline": None if baseline is None else baseline[0]}
        used = any(map(_uses_counts, filter(None, (spec, spec["baseline"]))))
        if source.corpus is not None and used:
            spec["corpus_name"] = source.corpus.signed
            needs.append(self._add(source.corpus.task).key)
        needs += [] if baseline is None else [baseline[1]]
        place = tuple(columns[n] for n in ("language", "corpus", "vocab_size", "task", "seed"))
        if is_downstream and self.evaluation.tests and spec["downstream"]["compares"]:
            spec["baseline"] = self.compared.get(place)
            needs += filter(None, [spec["baseline"]])
        work = measure_downstream if is_downstream else measure_cell
        cost = _task_cost(spec["downstream"]) if is_downstream else _cell_cost(spec)
        label = _label(columns)
        task = Task("cell", label, work, spec, tuple(needs), cost, columns, resumes=is_downstream)
        added = self._add(task)
        self.cells.setdefault(task.key, task)
        self.compared.setdefault(place, added.key)
        if self.cell_keys.setdefault(tuple(columns.values()), added.key) != added.key:
            raise FileFormatError(
                self.name,
                "",
                f"two different cells are called “{label}”",
                "Give different names to those that differ: tokenisers and references by name, "
                "methods by label.",
            )


def _wordfreq_lists() -> dict[str, str]:
    """Return the file of each language's word list."""
    require("A word list of wordfreq", "wordfreq")
    import wordfreq

    return dict(wordfreq.available_languages("best"))


def _file(path: str, name: str = "") -> dict[str, Any]:
    content = contents([path])
    return {"path": path, "name": name or Path(path).name, "files": [path], "content": content}


def _task_cost(spec: Mapping[str, Any]) -> float:
    return task_named(spec["task"]).seconds(task_settings(spec))


def _uses_counts(spec: Mapping[str, Any]) -> bool:
    """Return whether a cell's result depends on the words of its corpus."""
    known = METHODS.get(spec["method"])
    return (
        "tokens" in spec["weightings"]
        or bool(spec["vocabulary"])
        or (known is not None and (known.counts or known.retrain is not None))
        or spec["parameters"].get("weighting") == "tokens"
    )


def _label(columns: Mapping[str, Any]) -> str:
    """Return what a cell is of, from its columns in results."""
    names = ("language", "corpus", "tokeniser", "method", "parameters", "reference", "task")
    parts = [columns[name] for name in names]
    if columns["vocab_size"] is not None:
        parts.append(f"{columns['vocab_size']:,} types")
    if columns["seed"] is not None:
        parts.append(f"seed {columns['seed']}")
    return " · ".join(filter(None, parts))


def _cell_cost(spec: Mapping[str, Any]) -> float:
    known = METHODS.get(spec["method"])
    tables = len(spec["scopes"]) * len(spec["weightings"]) if spec["reference"] else 0
    each = _INTERVALS if spec["intervals"] else _SCORES
    figures = _FIGURES if spec["vocabulary"] else 0.0
    return (1.0 if known is None else known.seconds) + each * tables + figures


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def filled(template: str, values: Mapping[str, str]) -> str:
    """Substitute ``{language}`` and the like, and variables such as ``${MORPHGRAPH_DATA}``.

    >>> filled("gold/{language}.tsv", {"language": "deu"})
    'gold/deu.tsv'
    """

    def value(found: re.Match[str]) -> str:
        variable, name = found.groups("")
        known = os.environ if variable else values
        if (variable or name) in known:
            return known[variable or name]
        if variable:
            raise MorphGraphError(f"The variable {variable} is not set. Set it to a folder.")
        listed = ", ".join(f"{{{name}}}" for name in values)
        raise MorphGraphError(f"there is no value for {found[0]}. Use one of: {listed}.")

    return re.sub(r"\$\{(MORPHGRAPH_[A-Z0-9_]+)\}|\{([a-z_0-9]*)\}", value, template)

"""From a configuration to tasks: every cell of the grid, and the counts and tokenisers it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from morphgraph.batch.cells import make_counts, make_tokeniser
from morphgraph.batch.configuration import (
    Corpus,
    Evaluation,
    PredictionsChoice,
    ReferenceChoice,
    TokeniserChoice,
    filled,
    with_environment,
)
from morphgraph.batch.methods import MethodChoice
from morphgraph.batch.plan_cells import (
    CellPlanner,
    Counted,
    count_cost,
    distinguishing_parts,
    listed_parameters,
    tokeniser_cost,
    trained_label,
    usual_title,
)
from morphgraph.batch.tasks import (
    Task,
    content_checksum,
    content_of_files,
    contents_of_texts,
    task_key,
)
from morphgraph.batch.yaml_reading import Lines, field_line, field_name
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus.counting_texts import find_texts
from morphgraph.reference.language import language_code
from morphgraph.refine.registry import LEARNERS
from morphgraph.score.vocabulary_figures import FIGURES

MOST_TASKS = 100_000
"""More than this are refused: a list too many multiplies quickly."""

_BY_REFERENCE = {figure.key for figure in FIGURES if figure.needs == "reference"}


@dataclass(frozen=True)
class Plan:
    """All tasks of an evaluation, each after those that it needs; cells in the order of results."""

    evaluation: Evaluation
    tasks: tuple[Task, ...]

    @cached_property
    def cells(self) -> list[Task]:
        """The tasks whose results are the rows of the evaluation."""
        return [task for task in self.tasks if task.kind == "cell"]

    @property
    def cost(self) -> float:
        """Seconds that all tasks may take one after the other."""
        return sum(task.cost for task in self.tasks)


def make_plan(
    evaluation: Evaluation,
    lines: Lines | None = None,
    *,
    name: str = "configuration",
    folder: Path | None = None,
    languages: Sequence[str] | None = None,
) -> Plan:
    """The tasks of an evaluation.

    ``folder``: what relative paths in it start from, the current one by default. ``languages``:
    only these of its languages. A file that is not there is a `FileFormatError` with its line.
    """
    chosen = evaluation.languages
    if languages is not None:
        unknown = [language for language in languages if language not in chosen]
        if unknown:
            listed = ", ".join(chosen)
            raise MorphGraphError(f"{name} has no language “{unknown[0]}”. It has: {listed}.")
        chosen = [language for language in chosen if language in languages]
    # Workers need not have the folder of this process.
    planner = _Planner(evaluation, lines or {}, name, (folder or Path()).resolve())
    for language in chosen:
        planner.add(language)
    if not planner.has_cells:
        raise FileFormatError(
            name,
            "",
            "the evaluation has no cell",
            "Correct which methods are for which tokenisers.",
        )
    return Plan(evaluation, tuple(planner.tasks.values()))


@dataclass(frozen=True)
class _Tokeniser:
    """One tokeniser of the grid: its task, and what results call it."""

    task: Task
    label: str
    vocab_size: int | None
    choice: TokeniserChoice


@dataclass
class _Planner:
    evaluation: Evaluation
    lines: Lines
    name: str
    folder: Path
    tasks: dict[str, Task] = field(default_factory=dict)

    @cached_property
    def cells(self) -> CellPlanner:
        """What plans the cells among the tasks."""
        return CellPlanner(self.evaluation, self.name, self.tasks)

    @property
    def has_cells(self) -> bool:
        return any(task.kind == "cell" for task in self.tasks.values())

    def add(self, language: str) -> None:
        """All cells of one language."""
        values = {"language": language, "code": language_code(language)}
        references = [
            self._reference(choice, place, values)
            for place, choice in enumerate(self.evaluation.references)
            if choice.languages is None or language in choice.languages
        ]
        tokenisers = [
            (place, choice)
            for place, choice in enumerate(self.evaluation.tokenisers)
            if choice.languages is None or language in choice.languages
        ]
        if not tokenisers:
            problem = f"{language} has no tokeniser"
            fix = f"Add {language} to the languages of one, or leave it out of the evaluation."
            raise self._error(("tokenisers",), MorphGraphError(f"{problem}. {fix}"))
        corpora: list[Counted | None] = [
            self._counts(corpus, place, values)
            for place, corpus in enumerate(self.evaluation.used_corpora)
        ]
        for corpus in corpora or [None]:
            for place, choice in tokenisers:
                for tokeniser in self._tokenisers(choice, place, corpus, values):
                    for number, method in enumerate(self.evaluation.methods):
                        if method.tokenisers is None or choice.name in method.tokenisers:
                            self._check_size(method, number)
                            self._cells(language, corpus, tokeniser, method, references)
            for place, predicted in enumerate(self.evaluation.predictions):
                if predicted.languages is None or language in predicted.languages:
                    self._predicted(language, corpus, predicted, place, values, references)

    def _check_size(self, method: MethodChoice, number: int) -> None:
        if len(self.tasks) + method.grid_size > MOST_TASKS:
            problem = f"the evaluation has more than {MOST_TASKS:,} cells"
            fix = "Shorten its lists, or split it into several evaluations."
            raise self._error(("methods", number), MorphGraphError(f"{problem}. {fix}"))

    # -------------------------------------------------------------------------- inputs

    def _error(self, path: tuple[str | int, ...], error: MorphGraphError) -> FileFormatError:
        """An error, with the line of the field that it came from."""
        problem, _, fix = str(error).removesuffix(".").rpartition(". ")
        place = f"line {field_line(self.lines, path):,}, field {field_name(path)}"
        fix = f"{fix}." if problem else "Correct it."
        return FileFormatError(self.name, place, problem or str(error).removesuffix("."), fix)

    def _path(self, template: str, values: Mapping[str, str]) -> str:
        path = with_environment(filled(template, values))
        return path if path.startswith("demo:") else str(self.folder / path)

    def _reference(
        self, choice: ReferenceChoice, place: int, values: Mapping[str, str]
    ) -> tuple[str, dict[str, Any]]:
        """A reference of a language: what results call it, and how to read it."""
        parts = [self._reference_part(choice, choice.source, (place, "source"), values)]
        parts += [
            self._reference_part(choice, [template], (place, "join"), values)
            for template in choice.join
        ]
        spec = {
            "parts": parts,
            "first_analysis": choice.first_analysis,
            "sample": choice.sample,
            "sample_seed": choice.sample_seed,
        }
        return choice.name or " + ".join(Path(part["name"]).name for part in parts), spec

    def _reference_part(
        self,
        choice: ReferenceChoice,
        sources: Sequence[str],
        at: tuple[int, str],
        values: Mapping[str, str],
    ) -> dict[str, Any]:
        """How to read the first of some sources that is there."""
        problems = []
        for template in sources:
            try:
                name = filled(template, values)
                path, format_ = self._reference_file(name, choice.format)
                return {
                    "path": path,
                    "name": name if ":" in name else Path(path).name,
                    "format": format_,
                    "encoding": choice.encoding,
                    "include_foreign": choice.include_foreign,
                    "content": content_checksum(path),
                }
            except MorphGraphError as error:
                problems.append(str(error))
        language = f"Or leave {values['language']} out of the languages."
        raise self._error(("references", *at), MorphGraphError(f"{' '.join(problems)} {language}"))

    def _reference_file(self, name: str, format_: str | None) -> tuple[str, str | None]:
        from morphgraph.reference.readers import is_named, named_place

        if is_named(name):
            place, known = named_place(name)
            return str(place), format_ or known
        return str(self.folder / with_environment(name)), format_

    def _counts(self, corpus: Corpus, place: int, values: Mapping[str, str]) -> Counted:
        try:
            spec = self._counts_spec(corpus, values)
        except MorphGraphError as error:
            raise self._error(("corpora", place), error) from error
        label = f"counts of {corpus.name}, {values['language']}"
        places = ("path", "paths", "folders", "checked")
        key = task_key("counts", {name: v for name, v in spec.items() if name not in places})
        task = Task(key, "counts", label, make_counts, spec, (), count_cost(spec))
        return Counted(corpus.name, _signed_name(corpus, spec), task)

    def _counts_spec(self, corpus: Corpus, values: Mapping[str, str]) -> dict[str, Any]:
        if corpus.wordfreq is not None:
            import wordfreq

            code = filled(corpus.wordfreq, values)
            if code not in wordfreq.available_languages("best"):
                known = ", ".join(sorted(wordfreq.available_languages("best")))
                raise MorphGraphError(
                    f"wordfreq has no words of “{code or values['language']}”. It has: {known}."
                )
            return {"source": "wordfreq", "language": code}
        if corpus.counts is not None:
            path = self._path(corpus.counts, values)
            content = content_checksum(path)
            return {"source": "counts", "path": path, "checked": [path], "content": content}
        given = [self._path(text, values) for text in corpus.text or ()]
        files = [str(file) for file in find_texts(given)]
        return {
            "source": "text",
            "paths": files,
            "folders": [path for path in given if Path(path).is_dir()],
            "content": contents_of_texts(files),
            "pipeline": corpus.pipeline,
            "minimum_count": corpus.minimum_count,
            "column": corpus.column,
        }

    # -------------------------------------------------------------------------- tokenisers

    def _tokenisers(
        self,
        choice: TokeniserChoice,
        place: int,
        corpus: Counted | None,
        values: Mapping[str, str],
    ) -> Iterator[_Tokeniser]:
        if choice.file is not None:
            yield self._loaded(choice, place, values)
            return
        if corpus is None:
            raise MorphGraphError("A tokeniser has nothing to be trained on. Add corpora.")
        pipelines: list[str | None] = [*choice.pipeline] if choice.pipeline else [None]
        grid = product(choice.vocab_size or (), pipelines, choice.threshold or [0])
        for size, pipeline, threshold in grid:
            spec = {
                "source": "train",
                "method": choice.train,
                "vocab_size": size,
                "pipeline": pipeline,
                "parameters": {"threshold": threshold} if choice.threshold else {},
                "minimum_count": choice.minimum_count,
            }
            label = choice.name or trained_label(choice, pipeline, threshold)
            if choice.name is not None:
                label += distinguishing_parts(choice, pipeline, threshold)
            needs = (self._task(corpus.task).key,)
            title = f"{label}, {size:,} types, {values['language']}"
            key = task_key("tokeniser", spec, needs)
            cost = tokeniser_cost(spec)
            task = Task(key, "tokeniser", title, make_tokeniser, spec, needs, cost)
            yield _Tokeniser(self._task(task), label, size, choice)

    def _loaded(self, choice: TokeniserChoice, place: int, values: Mapping[str, str]) -> _Tokeniser:
        from morphgraph.core.demos import demo_tokeniser_path
        from morphgraph.tokeniser.loading import tokeniser_files

        try:
            path = self._path(choice.file or "", values)
            is_demo = path.startswith("demo:")
            file = demo_tokeniser_path(path.removeprefix("demo:")) if is_demo else Path(path)
            files = tokeniser_files(file)
            spec = {
                "source": "file",
                "path": path,
                "checked": [str(read) for read in files],
                "content": content_of_files(files),
            }
        except MorphGraphError as error:
            raise self._error(("tokenisers", place, "file"), error) from error
        keyed = {"content": spec["content"], "name": Path(path).name}
        label = choice.name or (path if is_demo else Path(path).name)
        key = task_key("tokeniser", keyed)
        title = f"{label}, {values['language']}"
        task = Task(key, "tokeniser", title, make_tokeniser, spec, (), tokeniser_cost(spec))
        return _Tokeniser(self._task(task), label, None, choice)

    # -------------------------------------------------------------------------- cells

    def _cells(
        self,
        language: str,
        corpus: Counted | None,
        tokeniser: _Tokeniser,
        method: MethodChoice,
        references: Sequence[tuple[str, dict[str, Any]]],
    ) -> None:
        """Every combination of a method's parameters, references and seeds on one tokeniser."""
        asked = self.evaluation
        alone = [key for key in asked.vocabulary if key not in _BY_REFERENCE]
        refines = method.method in LEARNERS
        measured: list[tuple[str, dict[str, Any] | None, list[str]]] = [
            (name, spec, [key for key in asked.vocabulary if refines or key in _BY_REFERENCE])
            for name, spec in references
        ]
        if alone and not refines:
            measured.append(("", None, alone))
        for parameters in method.grid():
            spec = {
                "method": method.method,
                "parameters": parameters,
                "tokeniser_name": tokeniser.label,
            }
            columns = {
                "language": language,
                "corpus": "" if corpus is None else corpus.name,
                "tokeniser": tokeniser.label,
                "vocab_size": tokeniser.vocab_size,
                "method": method.title() or usual_title(tokeniser.choice),
                "parameters": listed_parameters(method, parameters),
            }
            for named, reference, figures in measured:
                self.cells.add(
                    {**spec, "reference": reference, "vocabulary": figures},
                    {**columns, "reference": named},
                    tokeniser.task,
                    corpus,
                )

    def _predicted(
        self,
        language: str,
        corpus: Counted | None,
        choice: PredictionsChoice,
        place: int,
        values: Mapping[str, str],
        references: Sequence[tuple[str, dict[str, Any]]],
    ) -> None:
        """What another program predicted, by every reference."""
        try:
            path = self._path(choice.file, values)
            predictions = {
                "path": path,
                "name": Path(path).name,
                "format": choice.format,
                "encoding": choice.encoding,
                "content": content_checksum(path),
            }
        except MorphGraphError as error:
            raise self._error(("predictions", place, "file"), error) from error
        spec = {
            "method": "predictions",
            "parameters": {},
            "tokeniser_name": choice.name,
            "predictions": predictions,
            "vocabulary": [],
        }
        columns = {
            "language": language,
            "corpus": "" if corpus is None else corpus.name,
            "tokeniser": choice.name,
            "vocab_size": None,
            "method": choice.name,
            "parameters": "",
        }
        for named, reference in references:
            self.cells.add(
                {**spec, "reference": reference}, {**columns, "reference": named}, None, corpus
            )

    def _task(self, task: Task) -> Task:
        return self.tasks.setdefault(task.key, task)


def _signed_name(corpus: Corpus, spec: Mapping[str, Any]) -> str:
    """What signatures call a corpus."""
    if spec["source"] == "wordfreq":
        return f"wordfreq:{spec['language']}"
    return Path(spec["path"]).name if spec["source"] == "counts" else corpus.name

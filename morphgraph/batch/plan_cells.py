"""The cells of a plan: every method by every reference, over all words and over unseen ones.

And what a plan says of its tasks: what results call them, and how long they may take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from morphgraph.batch.cells import measure_cell
from morphgraph.batch.configuration import Evaluation, TokeniserChoice
from morphgraph.batch.methods import MethodChoice, settings_of
from morphgraph.batch.report_data import held_out_words
from morphgraph.batch.tasks import Task, task_key
from morphgraph.core.errors import FileFormatError
from morphgraph.refine.registry import LEARNERS
from morphgraph.segment.registry import METHODS
from morphgraph.tables.model import ALL_WORDS

_TRAINING_SECONDS = {"picky": 6.0, "scaffold": 3.0, "unigram": 15.0, "unigram-prime": 15.0}
_METHOD_SECONDS = {"rebpe": 8.0, "knockout": 2.0, "dropout": 1.5}
_TEXT_PER_SECOND = 10e6


@dataclass(frozen=True)
class Counted:
    """A corpus of one language: what results and signatures call it, and the task that counts."""

    name: str
    signed: str
    task: Task


@dataclass(frozen=True)
class _Baseline:
    """What other cells are tested against: its method, and the task of its tokeniser."""

    spec: dict[str, Any]
    tokeniser: Task


@dataclass
class CellPlanner:
    """Adds the cells of an evaluation, which is called ``name`` in errors, to its tasks."""

    evaluation: Evaluation
    name: str
    tasks: dict[str, Task]
    cells: dict[tuple[Any, ...], str] = field(default_factory=dict)
    baselines: dict[tuple[Any, ...], _Baseline] = field(default_factory=dict)

    def add(
        self,
        spec: dict[str, Any],
        columns: dict[str, Any],
        tokeniser: Task | None,
        corpus: Counted | None,
    ) -> None:
        """The cells of one method by one reference: all seeds, and words that are held out.

        Where any method of the evaluation learns from references, all are scored on held-out words
        too, the same ones for a seed.
        """
        asked, method, parameters = self.evaluation, spec["method"], spec["parameters"]
        settings = settings_of(method, parameters)
        random = settings.is_random
        held_in = settings.sees_gold and not parameters["holdout"]
        own = parameters.get("holdout", 0.0)
        seeds: list[int | None] = [*asked.seeds] if random else [None]
        cells: list[tuple[int | None, int | None]] = [(seed, None) for seed in seeds]
        if spec["reference"] is not None and not own and self.holds_out:
            cells += [(seed if random else None, seed) for seed in asked.seeds]
        for seed, unseen in cells:
            if unseen is not None:
                words, held_out = held_out_words(asked.holdout), asked.holdout
            else:
                words, held_out = held_out_words(own) if own else ALL_WORDS, 0.0
            self._cell(
                {
                    **spec,
                    "seed": seed,
                    "held_out": {"share": held_out, "seed": unseen} if held_out else None,
                    "metrics": asked.metrics if spec["reference"] else [],
                    "vocabulary": [] if held_out else spec["vocabulary"],
                    "scopes": asked.scopes,
                    "weightings": asked.weightings,
                    "intervals": asked.intervals,
                    "corpus_name": "",
                    "held_in": held_in and not held_out,
                },
                {**columns, "words": words, "seed": seed if unseen is None else unseen},
                tokeniser,
                corpus,
            )

    @cached_property
    def holds_out(self) -> bool:
        """Whether all methods are scored on held-out words too."""
        return bool(self.evaluation.holdout) and any(
            method.learns() for method in self.evaluation.methods
        )

    def _cell(
        self,
        spec: dict[str, Any],
        columns: dict[str, Any],
        tokeniser: Task | None,
        corpus: Counted | None,
    ) -> None:
        baseline = self._baseline(spec, columns, tokeniser)
        needs: tuple[str, ...] = () if tokeniser is None else (tokeniser.key,)
        counted = corpus is not None and (
            _uses_counts(spec) or (baseline is not None and _uses_counts(baseline.spec))
        )
        if corpus is not None and counted:
            needs += (self._task(corpus.task).key,)
            spec["corpus_name"] = corpus.signed
        spec["baseline"] = None
        if baseline is not None:
            spec["baseline"] = baseline.spec
            needs += (baseline.tokeniser.key,)
        # Which of the tasks that it needs is what.
        spec["has"] = {"tokeniser": tokeniser is not None, "counts": counted}
        keyed = dict(spec)
        # Where a file lies changes no result, what is in it does.
        if spec["reference"] is not None:
            parts = [_without_path(part) for part in spec["reference"]["parts"]]
            keyed["reference"] = {**spec["reference"], "parts": parts}
        if "predictions" in spec:
            keyed["predictions"] = _without_path(spec["predictions"])
        shown = [columns[name] for name in ("language", "corpus", "tokeniser", "method")]
        shown += [columns["parameters"], columns["reference"]]
        shown += [] if columns["vocab_size"] is None else [f"{columns['vocab_size']:,} types"]
        shown += [] if columns["words"] == ALL_WORDS else [columns["words"]]
        shown += [] if columns["seed"] is None else [f"seed {columns['seed']}"]
        label = " · ".join(filter(None, shown))
        key = task_key("cell", {**keyed, "columns": columns}, needs)
        if self.cells.setdefault(tuple(columns.values()), key) != key:
            raise FileFormatError(
                self.name,
                "",
                f"two different cells are called “{label}”",
                "Give different names to those that differ: tokenisers and references by name, "
                "methods by label.",
            )
        cost = cell_cost(spec)
        self._task(Task(key, "cell", label, measure_cell, spec, needs, cost, columns))

    def _baseline(
        self, spec: dict[str, Any], columns: Mapping[str, Any], tokeniser: Task | None
    ) -> _Baseline | None:
        """What a cell's scores are tested against: the first method, by the same reference, that
        does not learn from it, on a vocabulary of the same size if there is one; None for itself,
        and for held-in scores.
        """
        if not self.evaluation.tests or spec["reference"] is None:
            return None
        place = tuple(columns[name] for name in ("language", "corpus", "reference"))
        alike = (*place, columns["vocab_size"])
        if tokeniser is not None and spec["method"] not in LEARNERS:
            named = {
                name: spec[name] for name in ("method", "parameters", "tokeniser_name", "seed")
            }
            own = _Baseline({**named, "held_out": None, "weightings": [], "vocabulary": []},
                            tokeniser)  # fmt: skip
            for key in (place, alike):
                self.baselines.setdefault(key, own)
        found = self.baselines.get(alike) or self.baselines.get(place)
        if found is None or spec["held_in"]:
            return None
        same = all(found.spec[name] == spec[name] for name in ("method", "parameters"))
        itself = same and tokeniser is not None and found.tokeniser.key == tokeniser.key
        return None if itself else found

    def _task(self, task: Task) -> Task:
        return self.tasks.setdefault(task.key, task)


def _without_path(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name != "path"}


def _uses_counts(spec: Mapping[str, Any]) -> bool:
    """Whether a cell's result depends on the words of its corpus."""
    return (
        "tokens" in spec["weightings"]
        or bool(spec["vocabulary"])
        or (spec["method"] in METHODS and METHODS[spec["method"]].counts)
        or spec["parameters"].get("weighting") == "tokens"
    )


def trained_label(choice: TokeniserChoice, pipeline: str | None, threshold: float) -> str:
    """What results call a trained tokeniser that has no name of its own."""
    from morphgraph.train.trainers import TRAINERS

    return TRAINERS[str(choice.train)].label + distinguishing_parts(choice, pipeline, threshold)


def distinguishing_parts(choice: TokeniserChoice, pipeline: str | None, threshold: float) -> str:
    """What distinguishes the tokenisers of a grid, beside their size."""
    parts = [f"threshold={threshold:g}"] if choice.threshold else []
    if pipeline is not None and len(choice.pipeline or ()) > 1:
        parts.append(pipeline)
    return f" ({', '.join(parts)})" if parts else ""


def usual_title(choice: TokeniserChoice) -> str:
    """What the tokeniser as it is goes by among methods."""
    from morphgraph.train.trainers import TRAINERS

    return "as it is" if choice.train is None else TRAINERS[str(choice.train)].label


def listed_parameters(method: MethodChoice, parameters: Mapping[str, Any]) -> str:
    """The parameters that the file gives, as results show them."""
    given = [(name, value) for name, value in parameters.items() if name in method.model_fields_set]
    return ", ".join(f"{name}={_shown(value)}" for name, value in given)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def count_cost(spec: Mapping[str, Any]) -> float:
    """Seconds that reading or counting words may take on one core: a guess."""
    if spec["source"] != "text":
        return 1.0
    return 1.0 + sum(_size(path) for path in spec["paths"]) / _TEXT_PER_SECOND


def _size(path: str) -> int:
    found = Path(path)
    files = [file for file in found.rglob("*") if file.is_file()] if found.is_dir() else [found]
    return sum(file.stat().st_size for file in files)


def tokeniser_cost(spec: Mapping[str, Any]) -> float:
    """Seconds that training, or reading a file, may take on one core."""
    if spec["source"] == "file":
        return 0.5
    types: int = spec["vocab_size"]
    return _TRAINING_SECONDS.get(spec["method"], 2.5) * max(1.0, types / 32_000)


def cell_cost(spec: Mapping[str, Any]) -> float:
    """Seconds that segmenting and scoring may take on one core."""
    tables = len(spec["scopes"]) * len(spec["weightings"]) if spec["reference"] else 0
    drawn = 0.15 * tables if spec["intervals"] else 0.02 * tables
    figures = 2.0 if spec["vocabulary"] else 0.0
    return _METHOD_SECONDS.get(spec["method"], 1.0) + drawn + figures

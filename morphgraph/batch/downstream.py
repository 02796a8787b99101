"""Downstream tasks: what an evaluation measures tokenisers on, beside gold; plug-ins bring them.

A task is an entry point of the group ``morphgraph.tasks``, by the name that it has in YAML files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from morphgraph.batch.store import package_code, versions_of
from morphgraph.core.errors import MorphGraphError, nearest
from morphgraph.core.files import write_file
from morphgraph.core.plugins import Registry
from morphgraph.segment.method import Parameters
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.model import Column

_STEPS = "steps.json"
"""The file beside checkpoints that says how far a task has come."""
KEPT = "kept.json"
"""The file there, and the field of a cell's result, with what a task keeps for comparisons."""


@dataclass(frozen=True)
class Inputs:
    """Marks a setting that names files, or one file or folder, by their paths.

    ``files``: lists the files behind a path on whose content results depend.
    """

    files: Callable[[str], list[str]] = lambda path: [path]


class Measured(NamedTuple):
    """A metric's value over a number of examples, with its 95 % interval.

    ``step``: the training step, for points of a curve; ``variant``: what distinguishes it from
    other values of the same cell, written like a parameter; ``p``: of the difference from the
    baseline.
    """

    metric: str
    value: float
    entries: int
    low: float = nan
    high: float = nan
    step: int | None = None
    variant: str = ""
    p: float = nan


@dataclass(frozen=True)
class TaskRun:
    """What a task is run on, once for each tokeniser, method and seed.

    ``examples``: what its ``read`` returned. ``folder``: where it may keep checkpoints until it
    ends, so that a killed run resumes. ``base``: the tokeniser that the method was applied to.
    ``baseline``: what the task kept of the cell that this one is compared with, if any.
    ``retrain``: trains a tokeniser on text files as ``base`` was trained; None if it was read from
    a file.
    """

    segmenter: Segmenter
    examples: Any = field(repr=False)
    settings: Any
    seed: int
    folder: Path
    base: Segmenter | None = None
    baseline: Any = field(default=None, repr=False)
    retrain: Callable[[Sequence[str]], Segmenter] | None = field(default=None, repr=False)

    def keep(self, content: Any) -> None:
        """Keep JSON data with the cell's result, as the ``baseline`` of other cells."""
        write_file(self.folder / KEPT, json.dumps(content))

    def tell(self, done: int, total: int) -> None:
        """Record the progress, in steps, for those who watch the run."""
        write_file(self.folder / _STEPS, json.dumps([done, total]))


def steps_in(folder: Path) -> tuple[int, int] | None:
    """Return the steps done and the total that a task told in its folder; None if it has not."""
    try:
        done, total = json.loads((folder / _STEPS).read_text())
        return int(done), int(total)
    except (OSError, ValueError, TypeError):
        return None


@dataclass(frozen=True)
class DownstreamTask:
    """A task: its title in tables, a description, and its settings.

    ``parameters``: its fields in a YAML file; those that name files are marked as `Inputs`.
    ``metrics``: a column for each metric that it may measure. ``run``: measures a tokeniser.
    ``read``: makes and checks examples from settings before the run starts, without ``packages``:
    what must be installed to run it. ``seconds``: estimated time of a run by its settings.
    ``compares``: whether its cells are compared with the first one of the same language, corpus,
    vocabulary size and seed. ``quick``: the settings of a trial in minutes that differ.
    """

    title: str
    does: str
    parameters: type[Parameters]
    metrics: Mapping[str, Column]
    run: Callable[[TaskRun], Iterable[Measured]] = field(repr=False)
    read: Callable[[Any], Any] = field(default=lambda settings: None, repr=False)
    seconds: Callable[[Any], float] = field(default=lambda settings: 60.0, repr=False)
    packages: tuple[str, ...] = ()
    compares: bool = False
    quick: Mapping[str, Any] = field(default_factory=dict)

    @property
    def inputs(self) -> dict[str, Inputs]:
        """The settings that name files."""
        return {
            name: mark
            for name, each in self.parameters.model_fields.items()
            for mark in each.metadata
            if isinstance(mark, Inputs)
        }

    def code(self) -> str:
        """Return a checksum of its code, that of its whole package, and of ``packages``."""
        digest = hashlib.sha256(package_code(self.parameters.__module__))
        digest.update(json.dumps(versions_of(" ".join(self.packages))).encode())
        return digest.hexdigest()[:12]


TASKS = Registry("morphgraph.tasks", DownstreamTask)
"""The tasks that are installed, by name."""


def task_named(name: str) -> DownstreamTask:
    """Return a task by name; `MorphGraphError` says what to install if it is not."""
    if name not in TASKS:
        installed = f"Use one of: {', '.join(TASKS)}. Or install" if TASKS else "Install"
        raise MorphGraphError(
            f"there is no task “{name[:40]}” here.{nearest(name, TASKS)} {installed} the plug-in "
            "that has it, such as: pip install 'morphgraph[models]'."
        )
    return TASKS[name]

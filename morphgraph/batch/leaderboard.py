"""Results as a file to share: ``results.json``, to which others add rows, and which can be rerun.

It holds the recipe of each run (its configuration, languages, command and versions), and a row for
each cell, with the checksums of what went into it and all its scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from math import isclose
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from morphgraph.batch.plan import Plan, cell_label
from morphgraph.batch.tasks import Task
from morphgraph.batch.yaml_reading import RUN_KEY, SHA_256, Name, Strict, check
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import checksum, parse_json, read_bytes, write_file
from morphgraph.core.packed import unpacked
from morphgraph.core.text import counted, visible
from morphgraph.models.downstream import SPEED

_FORMAT: Literal["morphgraph results"] = "morphgraph results"
_NOISE = 1e-9
"""The largest difference, also relative, of equal values: they may be sums in another order."""

Text = Annotated[str, Field(max_length=10_000)]
Sum = Annotated[str, Field(pattern=SHA_256)]
RunKey = Annotated[str, Field(pattern=RUN_KEY)]
Natural = Annotated[int, Field(ge=0, le=10**15)]


class SharedRun(Strict):
    """What made rows: a configuration as written, its languages that ran, and the versions."""

    name: Name
    recipe: str
    languages: Annotated[list[Name], Field(min_length=1)]
    command: list[Text]
    code: Text
    versions: dict[Name, Text]


class SharedScore(Strict):
    """One value with its 95 % interval and p-value; None where undefined."""

    metric: Text
    scope: Text
    weighting: Text
    step: Natural | None
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    entries: Natural | None
    signature: Text

    def in_row(self, row: SharedRow) -> str:
        """Return what it is of, in words."""
        step = "" if self.step is None else f"step {self.step}"
        parts = row.label, self.metric, self.scope, self.weighting, step
        return visible(" · ".join(filter(None, parts)))

    def equals(self, other: Self) -> bool:
        """Return whether values are equal but for noise; speeds always are."""
        pairs = [(getattr(self, each), getattr(other, each)) for each in _VALUES]
        return self.metric == SPEED.key or all(
            a is b if a is None or b is None else isclose(a, b, rel_tol=_NOISE, abs_tol=_NOISE)
            for a, b in pairs
        )

    def __str__(self) -> str:
        told = [(each, getattr(self, each)) for each in _VALUES]
        return (
            " ".join(f"{each} {value:.10g}" for each, value in told if value is not None) or "n/a"
        )


_VALUES = ("value", "low", "high", "p", "entries")


class SharedRow(Strict):
    """One cell: a method on a tokeniser and reference, with its inputs' SHA-256 by kind."""

    run: RunKey
    language: Text
    corpus: Text
    tokeniser: Text
    vocab_size: Natural | None
    method: Text
    parameters: Text
    reference: Text
    task: Text
    words: Text
    seed: Natural | None
    held_in: bool
    inputs: dict[Name, Sum]
    scores: Annotated[list[SharedScore], Field(min_length=1)]

    @property
    def label(self) -> str:
        """What it is of, in words: unique in a run."""
        return visible(cell_label(self.__dict__))

    @property
    def identity(self) -> tuple[Any, ...]:
        """What rows share that measured the same."""
        signed = tuple((each.in_row(self), each.signature) for each in self.scores)
        return tuple(sorted(self.inputs.items())), signed


class Leaderboard(Strict):
    """The content of a ``results.json``: runs by the key that rows name, and rows."""

    format: Literal["morphgraph results"] = _FORMAT
    version: Literal[1] = 1
    runs: dict[RunKey, SharedRun]
    rows: list[SharedRow]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        seen = set()
        for number, row in enumerate(self.rows):
            if row.run not in self.runs:
                raise ValueError(f"rows[{number}] is of a run that is not in runs. Add the run.")
            if (row.run, row.label) in seen:
                raise ValueError(
                    f"rows[{number}], {row.label}, is there already. Keep one of them."
                )
            seen.add((row.run, row.label))
        return self

    def write(self, path: Path) -> None:
        """Write it with a row a line, whole or not at all."""
        document = self.model_dump()
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in document.pop("rows"))
        head = json.dumps(document, ensure_ascii=False, indent=1).removesuffix("\n}")
        write_file(path, f'{head},\n "rows": [\n{rows}\n]}}\n'.encode(), " with --out")


def read_leaderboard(path: Path) -> Leaderboard:
    """Read a ``results.json``, packed or not; an error names the field that does not fit."""
    name = str(path)
    document = parse_json(unpacked(read_bytes(path), name), name)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        fix = "Choose the results.json of an evaluation."
        raise FileFormatError(name, "", f"its format is not “{_FORMAT}”", fix)
    if document.get("version") != 1:
        raise FileFormatError(name, "field version", "it is not 1", "Update morphgraph.")
    return check(Leaderboard, document, {}, name)


def leaderboard_of(plan: Plan, results: pd.DataFrame, about: Mapping[str, Any]) -> Leaderboard:
    """Return the results of a run; ``about``: its facts of ``run.json``."""
    facts = {name: about[name] for name in ("name", "languages", "command", "code", "versions")}
    run = SharedRun(recipe=plan.text, **facts)
    tasks = {task.key: task for task in plan.tasks}
    inputs = {cell.key: _inputs(cell, tasks) for cell in plan.cells}
    # The same configuration on other files is another run.
    key = checksum(json.dumps([run.model_dump(exclude={"command"}), inputs]).encode())
    results = results.astype(object).where(results.notna(), None)
    rows = []
    # A cell may have rows of several variants, and of all languages.
    for (cell, *_), found in results.groupby(["cell", "parameters", "language"], sort=False):
        told = found.to_dict("records")
        own = {name: told[0][name] for name in SharedRow.model_fields if name in found}
        own["words"] = max(each["words"] for each in told)  # figures are not of words
        own["held_in"] = any(each["held_in"] for each in told)
        names = SharedScore.model_fields
        scores = [SharedScore(**{name: each[name] for name in names}) for each in told]
        rows.append(SharedRow(run=key, inputs=inputs[str(cell)], scores=scores, **own))
    return Leaderboard(runs={key: run}, rows=rows)


def _inputs(cell: Task, tasks: Mapping[str, Task]) -> dict[str, str]:
    """Return the SHA-256 of the files that a cell depends on, by what they are.

    That of several is the SHA-256 of their sums, sorted, a line each.
    """
    found = {name: {*_sums(value)} for name, value in cell.spec.items()}
    needs = [(tasks[key].kind, tasks[key]) for key in cell.needs]
    if cell.spec["baseline"]:
        needs[-1] = "baseline", needs[-1][1]
    needs += [(tasks[key].kind, tasks[key]) for _, need in needs for key in need.needs]
    for kind, need in needs:
        found.setdefault(kind, set()).update(_sums(need.spec))
    several = {
        kind: sha256("".join(f"{each}\n" for each in sorted(sums)).encode()).hexdigest()
        for kind, sums in found.items()
        if len(sums) > 1
    }
    return {kind: several.get(kind) or min(sums) for kind, sums in found.items() if sums}


def _sums(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (content.partition(".")[0] for content in value.get("content", ()))
        value = [*value.values()]
    if isinstance(value, list):
        yield from chain.from_iterable(map(_sums, value))


def merged(boards: Mapping[str, Leaderboard]) -> Leaderboard:
    """Return the rows of several files, called by their names in errors, as one.

    Rows of the same inputs and signatures are one row; with other values `FileFormatError`.
    """
    rows: dict[Any, SharedRow] = {}
    for name, board in boards.items():
        for number, row in enumerate(board.rows):
            known = rows.setdefault(row.identity, row)
            if not all(map(SharedScore.equals, known.scores, row.scores)):
                problem = f"{row.label}: a row with the same inputs and signatures has other values"
                fix = "Find the right one with --reproduce, and take out the other."
                raise FileFormatError(name, f"field rows[{number}]", problem, fix)
    used = {row.run for row in rows.values()}
    runs = {key: run for board in boards.values() for key, run in board.runs.items() if key in used}
    found = {"runs": runs, "rows": [*rows.values()]}
    return check(Leaderboard, found, {}, "the files together")


def differences(
    before: Leaderboard, key: str, now: Leaderboard, languages: Sequence[str] | None = None
) -> tuple[list[str], list[str], int]:
    """Compare the rows of one run with its repetition, which is all that ``now`` has.

    ``languages``: only rows of these. Returns which versions and files differ, in words; which
    scores differ or are missing; and how many there are.
    """
    run, [again] = before.runs[key], now.runs.values()
    pairs = {"code of the library": (run.code, again.code)}
    for name in dict.fromkeys([*run.versions, *again.versions]):
        pairs[name] = run.versions.get(name, "none"), again.versions.get(name, "none")
    rows = [
        row
        for row in before.rows
        if row.run == key and (languages is None or row.language in languages)
    ]
    found = {row.label: row for row in now.rows}
    files: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        inputs = found[row.label].inputs if row.label in found else row.inputs
        for kind in dict.fromkeys([*row.inputs, *inputs]):
            sums = row.inputs.get(kind, "none"), inputs.get(kind, "none")
            files.setdefault((kind, *sums), []).append(row.label)
    for (kind, was, here), labels in files.items():
        more = f" and {counted(len(labels) - 1, 'more row')}" if len(labels) > 1 else ""
        pairs[f"file of the {kind} of {labels[0]}{more}"] = was, here
    about = [
        visible(f"{what}: {was} there, {here} here")
        for what, (was, here) in pairs.items()
        if was != here
    ]
    scores = {each.in_row(row): each for row in now.rows for each in row.scores}
    asked = [(each.in_row(row), each) for row in rows for each in row.scores]
    lost = [
        f"{label}: {score} there, {scores.get(label, 'missing')} here"
        for label, score in asked
        if label not in scores or not score.equals(scores[label])
    ]
    return about, lost, len(asked)

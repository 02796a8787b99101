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
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from morphgraph.batch.results import DIMENSIONS, column_of
from morphgraph.batch.tasks import Task
from morphgraph.batch.yaml_reading import RUN_KEY, SHA_256, Name, Strict, check
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import checksum, parse_json, read_bytes, write_file
from morphgraph.core.text import counted, visible
from morphgraph.models.downstream import SPEED

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.batch.plan import Plan

FORMAT: Literal["morphgraph results"] = "morphgraph results"
VERSION: Literal[1] = 1
_NOISE = 1e-9
"""The largest relative difference of values that are the same: sums in another order."""
_MOST_TOLD = 20
_PLACE = tuple(name for name in DIMENSIONS if name not in ("step", "scope", "weighting"))

Text = Annotated[str, Field(max_length=10_000)]
Sum = Annotated[str, Field(pattern=SHA_256)]
RunKey = Annotated[str, Field(pattern=RUN_KEY)]
Whole = Annotated[int, Field(ge=0, le=10**15)]


class SharedRun(Strict):
    """What made rows: a configuration as written, its languages that ran, and the versions."""

    name: Name
    recipe: Annotated[str, Field(max_length=300_000)]
    languages: Annotated[list[Name], Field(min_length=1)]
    command: list[Text]
    code: Text
    versions: dict[Name, Text]


class SharedScore(Strict):
    """One value with its 95 % interval and p-value; None where undefined."""

    metric: Name
    scope: Text = ""
    weighting: Text = ""
    step: Whole | None = None
    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    entries: Whole | None = None
    signature: Text

    @property
    def place(self) -> tuple[Any, ...]:
        """What tells it from the other scores of its row."""
        return self.metric, self.scope, self.weighting, self.step


class SharedRow(Strict):
    """One cell: a method on a tokeniser and reference, with its inputs' SHA-256 by kind."""

    run: RunKey
    language: Name
    corpus: Text = ""
    tokeniser: Text
    vocab_size: Whole | None = None
    method: Text
    parameters: Text = ""
    reference: Text = ""
    task: Text = ""
    words: Text = ""
    seed: Whole | None = None
    held_in: bool = False
    inputs: dict[Name, Sum]
    scores: Annotated[list[SharedScore], Field(min_length=1)]

    @property
    def place(self) -> tuple[Any, ...]:
        """What tells it from the other rows of its run."""
        return tuple(getattr(self, name) for name in _PLACE)

    @property
    def label(self) -> str:
        """Its place in words."""
        seed = [] if self.seed is None else [f"seed {self.seed}"]
        size = [] if self.vocab_size is None else [f"{self.vocab_size:,} types"]
        named = [getattr(self, name) for name in _PLACE if name not in ("vocab_size", "seed")]
        return visible(" · ".join(filter(None, [*named, *size, *seed])))

    @property
    def identity(self) -> tuple[Any, ...]:
        """Its place, inputs and signatures: rows that share it measured the same."""
        signed = tuple((*each.place, each.signature) for each in self.scores)
        return self.place, tuple(sorted(self.inputs.items())), signed


class Leaderboard(Strict):
    """The content of a ``results.json``: runs by the key that rows name, and rows."""

    format: Literal["morphgraph results"] = FORMAT
    version: Literal[1] = VERSION
    runs: dict[RunKey, SharedRun]
    rows: list[SharedRow]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        seen = set()
        for number, row in enumerate(self.rows):
            if row.run not in self.runs:
                raise ValueError(f"rows[{number}] is of a run that is not in runs. Add the run.")
            if (row.run, row.place) in seen:
                raise ValueError(f"rows[{number}] is in the file already. Keep one of them.")
            seen.add((row.run, row.place))
        return self

    def write(self, path: Path) -> None:
        """Write it with a row a line, as a whole or not at all."""
        document = self.model_dump()
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in document.pop("rows"))
        head = json.dumps(document, ensure_ascii=False, indent=1).removesuffix("\n}")
        write_file(path, f'{head},\n "rows": [\n{rows}\n]}}\n'.encode(), " with --out")


def read_leaderboard(path: Path) -> Leaderboard:
    """Read a ``results.json``; `FileFormatError` with the field that does not fit."""
    name = str(path)
    document = parse_json(read_bytes(path), name)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        fix = "Choose the results.json of an evaluation."
        raise FileFormatError(name, "", f"its format is not “{FORMAT}”", fix)
    if document.get("version") != VERSION:
        shown = visible(repr(document.get("version"))[:20])
        problem = f"its version is {shown}, not {VERSION}"
        raise FileFormatError(name, "field version", problem, "Update morphgraph.")
    return check(Leaderboard, document, {}, name)


# ------------------------------------------------------------------------------ from a run


def leaderboard_of(plan: Plan, results: pd.DataFrame, about: Mapping[str, Any]) -> Leaderboard:
    """Return the results of a run; ``about``: its facts of ``run.json``."""
    facts = {name: about[name] for name in ("command", "code", "versions")}
    run = SharedRun(
        name=plan.evaluation.name, recipe=plan.text, languages=list(plan.languages), **facts
    )
    tasks = {task.key: task for task in plan.tasks}
    inputs = {cell.key: _inputs(cell, tasks) for cell in plan.cells}
    made = [
        run.model_dump(exclude={"command"}),
        sorted(map(sorted, map(dict.items, inputs.values()))),
    ]
    key = checksum(json.dumps(made, sort_keys=True).encode())
    results = results.astype(object).where(results.notna(), None)
    rows = []
    # A cell may have rows of several variants, and of all languages.
    for (cell, *_), found in results.groupby(["cell", "parameters", "language"], sort=False):
        told = found.to_dict("records")
        own = {name: told[0][name] for name in _PLACE}
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
    return {
        kind: next(iter(sums))
        if len(sums) == 1
        else sha256("".join(f"{each}\n" for each in sorted(sums)).encode()).hexdigest()
        for kind, sums in found.items()
        if sums
    }


def _sums(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (content.partition(".")[0] for content in value.get("content", ()))
        yield from chain.from_iterable(map(_sums, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_sums, value))


# ------------------------------------------------------------------------------ several


def merged(boards: Mapping[str, Leaderboard]) -> Leaderboard:
    """Return the rows of several files, called by their names in errors, as one.

    Rows of the same place, inputs and signatures are one row; if their values differ,
    `FileFormatError`.
    """
    rows: dict[Any, SharedRow] = {}
    for name, board in boards.items():
        for number, row in enumerate(board.rows):
            known = rows.setdefault(row.identity, row)
            if any(not _same(*pair) for pair in zip(known.scores, row.scores, strict=True)):
                raise FileFormatError(
                    name,
                    f"field rows[{number}]",
                    f"{row.label}: there is a row of the same inputs and signatures with other "
                    "values",
                    "Find which one holds with --reproduce, and take the other out.",
                )
    used = {row.run for row in rows.values()}
    runs = {key: run for board in boards.values() for key, run in board.runs.items() if key in used}
    whole = Leaderboard.model_construct(runs=runs, rows=list(rows.values()))
    return check(Leaderboard, whole.model_dump(), {}, "the files together")


def _same(one: SharedScore, other: SharedScore) -> bool:
    """Return whether two scores are equal but for noise; speeds always are."""

    def near(name: str) -> bool:
        a, b = getattr(one, name), getattr(other, name)
        if a is None or b is None:
            return a is b
        return isclose(a, b, rel_tol=_NOISE, abs_tol=_NOISE)

    return one.metric == SPEED.key or all(map(near, ("value", "low", "high", "p", "entries")))


class Compared(NamedTuple):
    """What differs, in words; how many scores were compared; how many of them differ or lack."""

    told: list[str]
    compared: int
    lost: int


def differences(
    before: Leaderboard, key: str, now: Leaderboard, languages: Sequence[str] | None = None
) -> Compared:
    """Compare the rows of one run with those of its repetition, which is all that ``now`` has.

    ``languages``: only rows of these.
    """
    run, [again] = before.runs[key], now.runs.values()
    kinds = dict.fromkeys([*run.versions, *again.versions])
    pairs = {name: (run.versions.get(name), again.versions.get(name)) for name in kinds}
    pairs["the library's code"] = run.code, again.code
    told = [_told(f"version of {name}", *pair) for name, pair in pairs.items() if len({*pair}) > 1]
    found = {row.place: row for row in now.rows}
    files: dict[tuple[str, ...], list[str]] = {}
    scores: list[str] = []
    count = 0
    for row in before.rows:
        if row.run != key or (languages is not None and row.language not in languages):
            continue
        count += len(row.scores)
        if row.place not in found:
            scores += [f"{row.label}: it is missing here"] * len(row.scores)
            continue
        other = found[row.place]
        for kind in dict.fromkeys([*row.inputs, *other.inputs]):
            was, is_now = (each.inputs.get(kind, "none") for each in (row, other))
            if was != is_now:
                files.setdefault((kind, was, is_now), []).append(row.label)
        scores += _score_differences(row, other)
    for (kind, *sums), labels in files.items():
        more = f" and {counted(len(labels) - 1, 'more row')}" if len(labels) > 1 else ""
        told.append(_told(f"{labels[0]}{more}: file of {visible(kind)}", *sums))
    told += scores[:_MOST_TOLD]
    told += [f"and {len(scores) - _MOST_TOLD:,} more"] if len(scores) > _MOST_TOLD else []
    return Compared(told, count, len(scores))


def _score_differences(row: SharedRow, other: SharedRow) -> Iterator[str]:
    found = {score.place: score for score in other.scores}
    for score in row.scores:
        named = column_of(score.metric).title if score.metric else score.metric
        where = ", ".join(filter(None, [score.scope, score.weighting]))
        about = visible(f"{row.label}: {named}" + (f" ({where})" if where else ""))
        again = found.get(score.place)
        if again is None:
            yield f"{about}: it is missing here"
        elif not _same(score, again):
            yield _told(about, _shown(score), _shown(again))


def _shown(score: SharedScore) -> str:
    numbers = {"": score.value, " from": score.low, " to": score.high, " p": score.p}
    parts = [f"{name} {value:.10g}" for name, value in numbers.items() if value is not None]
    return "".join(parts).strip() or "n/a"


def _told(what: str, before: Any, now: Any) -> str:
    return f"{what}: {visible(str(before))} there, {visible(str(now))} here"

"""What a configuration comes to before it is run, or what is wrong, and where; and its fields."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened, visible

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.batch.plan import Plan

_AROUND = 2
"""So many lines above and below the one that is wrong are shown."""
_LINE_LENGTH = 160
_LINE = re.compile(r"line ([\d,]+)")
_NAME_LENGTH = 80
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{_NAME_LENGTH - 1}}}")
_KINDS = {"counts": "word counts", "tokeniser": "tokenisers", "cell": "cells"}


@dataclass(frozen=True)
class Checked:
    """A configuration that was looked at: ready to run, or with an error and the lines around it.

    ``languages``: those of the file, in its order, also if a file that it names is missing.
    """

    plan: Plan | None = None
    languages: tuple[str, ...] = ()
    name: str = ""
    message: str = ""
    excerpt: str = ""


def check_text(
    text: str,
    file: str,
    folder: Path,
    languages: Collection[str] | None = None,
    *,
    confined: bool = False,
) -> Checked:
    """Look at a configuration; ``languages`` that it does not have are passed over, None is all.

    ``confined``: as of `make_plan`.
    """
    from morphgraph.batch.configuration import parse_evaluation
    from morphgraph.batch.plan import make_plan

    known: tuple[str, ...] = ()
    name = ""
    try:
        evaluation, _ = parse_evaluation(text, file)
        known, name = tuple(evaluation.languages), evaluation.name
        wanted = None if languages is None else [one for one in known if one in languages]
        if wanted is not None and not wanted:
            return Checked(None, known, name, "No language is chosen. Choose at least one.")
        return Checked(
            make_plan(text, file, folder, wanted, confined=confined, quoting=False), known, name
        )
    except MorphGraphError as error:
        place = getattr(error, "place", "")
        return Checked(None, known, name, str(error), excerpt(text, place))
    except OSError as error:
        return Checked(None, known, name, f"{file}: {(error.strerror or 'unreadable').lower()}.")


def excerpt(text: str, place: str) -> str:
    """The line that an error names, with its number, a mark, and its neighbours; else nothing.

    >>> print(excerpt("a: 1\\nb: 2\\nc: 3", "line 2, field b"))
        1  a: 1
    →   2  b: 2
        3  c: 3
    """
    found = _LINE.match(place)
    if found is None:
        return ""
    wrong = int(found[1].replace(",", "")) - 1
    lines = text.split("\n")
    if wrong >= len(lines):
        return ""
    first = max(0, wrong - _AROUND)
    return "\n".join(
        f"{'→' if number == wrong else ' '} {number + 1:>3}  "
        f"{shortened(visible(line), _LINE_LENGTH)}".rstrip()
        for number, line in enumerate(lines[first : wrong + _AROUND + 1], first)
    )


def summary(plan: Plan, workers: int) -> str:
    """One line: how much there is to do, and how long that may take."""
    from morphgraph.batch.progress import duration

    tasks, cells = len(plan.tasks), len(plan.cells)
    time = duration(plan.cost / max(1, min(workers, tasks)))
    return f"{counted(cells, 'cell')}, {counted(tasks, 'task')}, about {time} on this machine"


def task_table(plan: Plan) -> dict[str, list[str]]:
    """How many tasks there are of each kind, and how long they may take on one core."""
    from morphgraph.batch.progress import duration

    costs: dict[str, list[float]] = {}
    for task in plan.tasks:
        costs.setdefault(_KINDS.get(task.kind, task.kind), []).append(task.cost)
    return {
        "tasks": list(costs),
        "number": [f"{len(each):,}" for each in costs.values()],
        "may take, on one core": [duration(sum(each)) for each in costs.values()],
    }


def cell_table(plan: Plan) -> tuple[pd.DataFrame, dict[str, str]]:
    """The cells of a plan in its order, and what is the same in all of them, by its title.

    A plan of one cell is shown with all that it has; what is empty everywhere is left out.
    """
    import pandas as pd

    from morphgraph.batch.results import COLUMN_TITLES, name_text

    rows = [task.columns for task in plan.cells]
    columns = {
        title: [shortened(name_text(row.get(name)), 80) for row in rows]
        for name, title in COLUMN_TITLES.items()
    }
    shown = pd.DataFrame({title: texts for title, texts in columns.items() if any(texts)})
    same = shown.columns[shown.nunique() == 1]
    if len(rows) == 1 or len(same) == shown.shape[1]:  # nothing that is shown tells them apart
        return shown, {}
    return shown.drop(columns=same), dict(zip(same, shown[same].iloc[0], strict=True))


def name_problem(name: str, taken: Collection[str]) -> str:
    """Why a run cannot have a name, and what to do; nothing if it can.

    >>> name_problem("demo-2", ["demo"]), name_problem("", [])
    ('', 'The run needs a name.')
    """
    if not name:
        return "The run needs a name."
    if not _NAME.fullmatch(name):
        return (
            f"“{shortened(visible(name), _NAME_LENGTH)}” cannot be the name of a run. "
            "Use unaccented letters a–z, digits, dots, dashes and underscores, and begin with a "
            "letter or a digit."
        )
    if name in taken:
        return f"There is a run “{name}” already. Choose another name, or resume it under Runs."
    return ""


def free_name(wanted: str, taken: Collection[str], numbered: str = "{}-{}") -> str:
    """A name that is not taken, the same with a number behind it otherwise.

    >>> free_name("demo", []), free_name("demo", ["demo", "demo-2"])
    ('demo', 'demo-3')
    >>> free_name("a", ["a", "a (2)"], "{} ({})")
    'a (3)'
    """
    names = (numbered.format(wanted[: _NAME_LENGTH - 6], number) for number in count(2))
    return wanted if wanted not in taken else next(name for name in names if name not in taken)


def first_sentence(text: str) -> str:
    """The first sentence of a description, in one line.

    >>> first_sentence("BPE of all\\n  sizes. And more.")
    'BPE of all sizes.'
    """
    first, dot, _ = " ".join(text.split()).partition(". ")
    return shortened(first + dot.strip(), 240)


@lru_cache(maxsize=64)
def described(text: str) -> tuple[str, str]:
    """The title and description of a configuration, as far as it can be read."""
    from morphgraph.batch.yaml_reading import load_yaml

    try:
        content, _ = load_yaml(text, "")
    except MorphGraphError:
        return "", ""
    if not isinstance(content, dict):
        return "", ""
    title, description = content.get("title") or content.get("name"), content.get("description")
    return str(title or ""), str(description or "")


_TOP = "the file"
_PARTS = {
    "corpora": "Corpus",
    "tokenisers": "TokeniserChoice",
    "references": "ReferenceChoice",
    "predictions": "PredictionsChoice",
    "parallel": "ParallelText",
    "tables": "TableSpec",
    "published": "PublishedFigures",
}
_VALUES = {
    "array": "a list",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true, false",
    "string": "text",
    "object": "fields",
}
_LISTS_SHOWN = 60
"""More values than these are not listed."""


class FieldOfFile(NamedTuple):
    """A field: its name, what it means, what can stand there, and what holds if it is left out."""

    name: str
    meaning: str
    values: str
    default: str


@cache
def parts_of_file() -> dict[str, tuple[str, list[FieldOfFile]]]:
    """What each part of a configuration is, and its fields: the file, its lists, methods, tasks."""
    from morphgraph.batch.configuration import METHOD_MODELS, schema
    from morphgraph.batch.downstream import DOWNSTREAM_MODELS

    found = schema()
    known = found["$defs"]
    parts = {_TOP: found}
    parts |= {name: known[title] for name, title in _PARTS.items()}
    parts |= {f"method {name}": known[model.__name__] for name, model in METHOD_MODELS.items()}
    tasks = DOWNSTREAM_MODELS.items()
    parts |= {f"downstream {name}": known[model.__name__] for name, model in tasks}
    described = {
        name: (part.get("description", ""), list(_fields(part, known)))
        for name, part in parts.items()
    }
    return described | {"metrics": ("What scores are called in metrics.", list(_metrics()))}


def _metrics() -> Iterator[FieldOfFile]:
    from morphgraph.batch.cell_rows import FACTS, PARALLEL, named_metrics
    from morphgraph.models.downstream import downstream_metrics

    for key, named in named_metrics().items():
        if not key.startswith("vocabulary."):
            where = (
                "in tables only"
                if key in {*FACTS, *PARALLEL, *downstream_metrics()}
                else "in metrics, and in tables"
            )
            yield FieldOfFile(key, named.header, where, "")


def _fields(part: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[FieldOfFile]:
    needed = part.get("required", [])
    for name, field in part["properties"].items():
        default = "needed" if name in needed else _default(field)
        yield FieldOfFile(name, field.get("description", ""), allowed_values(field, known), default)


def _default(field: Mapping[str, Any]) -> str:
    given = field.get("default")
    if given in (None, "", [], {}):
        return "nothing"
    if isinstance(given, list):
        return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in given)
    return given if isinstance(given, str) else json.dumps(given)


def allowed_values(field: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """What can stand in a field, in words.

    >>> allowed_values({"type": "integer", "minimum": 2}, {})
    'a whole number, 2 or more'
    >>> allowed_values({"enum": ["types", "tokens"], "type": "string"}, {})
    'types, tokens'
    >>> allowed_values({"type": "array", "items": {"type": "string"}}, {})
    'a list: text'
    """
    if "discriminator" in field:
        of_tasks = field["discriminator"].get("propertyName") == "task"
        return "see the downstream tasks" if of_tasks else "see the methods"
    if "$ref" in field:
        title = field["$ref"].rpartition("/")[2]
        part = next((name for name, its in _PARTS.items() if its == title), None)
        return f"see {part}" if part else allowed_values(known.get(title, {}), known)
    if "enum" in field:
        return ", ".join(map(str, field["enum"][:_LISTS_SHOWN]))
    if "const" in field:
        return str(field["const"])
    if "anyOf" in field or "oneOf" in field:
        return _one_of(field.get("anyOf") or field["oneOf"], known)
    kind = _VALUES.get(field.get("type", ""), "")
    inner = allowed_values(field["items"], known) if "items" in field else ""
    return (f"{kind}: {inner}" if inner else kind) + _bounds(field)


def _one_of(choices: list[Mapping[str, Any]], known: Mapping[str, Any]) -> str:
    shapes = [choice for choice in choices if choice.get("type") != "null"]
    if len(shapes) == 2 and shapes[1].get("type") == "array":
        single = allowed_values(shapes[0], known)
        if single == allowed_values(shapes[1].get("items", {}), known):
            return f"{single}; or a list of them"
    return " or ".join(dict.fromkeys(filter(None, (allowed_values(one, known) for one in shapes))))


def _bounds(field: Mapping[str, Any]) -> str:
    least, most = field.get("minimum"), field.get("maximum")
    below = field.get("exclusiveMaximum")
    if least is not None and most is not None:
        return f", {least:g} to {most:,}" if most > 1000 else f", {least:g} to {most:g}"
    if least is not None and below is not None:
        return f", {least:g} or more, below {below:g}"
    return "" if least is None else f", {least:g} or more"

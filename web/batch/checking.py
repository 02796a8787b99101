"""What a configuration would run, or what is wrong with it, and where."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened, visible

if TYPE_CHECKING:
    from morphgraph.batch.plan import Plan

_AROUND = 2
"""The number of lines shown above and below the wrong one."""
_LINE_LENGTH = 160
_LINE = re.compile(r"line ([\d,]+)")


@dataclass(frozen=True)
class Checked:
    """A checked configuration: ready to run, or with an error and the lines around it.

    ``name``: its own name, even if a file that it refers to is missing.
    """

    plan: Plan | None = None
    name: str = ""
    message: str = ""
    excerpt: str = ""


def check_text(text: str, file: str, folder: Path, *, confined: bool = False) -> Checked:
    """Check a configuration; ``confined``: as in `make_plan`."""
    from morphgraph.batch.configuration import parse_evaluation
    from morphgraph.batch.plan import make_plan

    name = ""
    try:
        name = parse_evaluation(text, file)[0].name
        return Checked(make_plan(text, file, folder, confined=confined, quoting=False), name)
    except MorphGraphError as error:
        place = getattr(error, "place", "")
        return Checked(None, name, str(error), excerpt(text, place))
    except OSError as error:
        return Checked(None, name, f"{file}: {(error.strerror or 'unreadable').lower()}.")


def excerpt(text: str, place: str) -> str:
    """Return the line that an error names and its neighbours, numbered and marked; else nothing.

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
    """Describe in one line the amount of work and its estimated time."""
    from morphgraph.batch.run import duration

    tasks, cells = len(plan.tasks), len(plan.cells)
    time = duration(plan.cost / max(1, min(workers, tasks)))
    return f"{counted(cells, 'cell')}, {counted(tasks, 'task')}, about {time} on this machine"


def free_name(wanted: str, taken: Collection[str], numbered: str = "{}-{}") -> str:
    """Return a name not yet taken, numbered if necessary.

    >>> free_name("demo", []), free_name("demo", ["demo", "demo-2"])
    ('demo', 'demo-3')
    >>> free_name("a", ["a", "a (2)"], "{} ({})")
    'a (3)'
    """
    names = (numbered.format(wanted[:74], number) for number in count(2))
    return wanted if wanted not in taken else next(name for name in names if name not in taken)

"""The limits on input from files, each with its reason and a variable that raises it.

The cost of a file is known before a parser or a library sees it, or the parser runs in a process
with limits (`core.isolated`), so that an invalid or hostile one gives an error, instead of
exhausting memory or killing the app. `limits.csv` is the table of them.
"""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

from morphgraph.core.errors import FileFormatError, MorphGraphError


@dataclass(frozen=True)
class Limit:
    """An upper bound, unless the environment variable ``variable`` overrides it.

    ``own``: on one's own machine, where nobody else's files are opened; ``public``: for visitors of
    a public app; ``what``: what is counted, in the plural; ``reason``: why there is this limit.
    """

    variable: str
    own: int
    public: int
    what: str
    reason: str

    @property
    def usual(self) -> int:
        """The limit where the variable is not set."""
        return self.public if is_public() else self.own

    @property
    def value(self) -> int:
        """The current limit; `MorphGraphError` if the variable is not a whole number."""
        chosen = os.environ.get(self.variable, "")
        if not chosen:
            return self.usual
        if not chosen.isdecimal() or int(chosen) < 1:
            raise MorphGraphError(
                f"{self.variable}={chosen} is not a whole number above 0. Correct it or unset it."
            )
        return int(chosen)

    def check(self, count: int, name: str, place: str = "", fix: str = "") -> None:
        """Raise `FileFormatError` for file ``name`` if ``count`` exceeds it; ``fix``: a remedy."""
        if count > self.value:
            raise self.exceeded(name, place, f"it has {count:,} {self.what}", fix)

    def exceeded(self, name: str, place: str, found: str, fix: str = "") -> FileFormatError:
        """Return the error for a file in which ``found`` exceeds the limit."""
        problem = f"{found}; the limit is {self.value:,}"
        fix = fix.removesuffix(".") or "Choose a smaller file"
        fix = f"{fix}, or set {self.variable}."
        return FileFormatError(name, place, problem, fix, quotes=False)


with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _table:
    LIMITS = tuple(
        Limit(row["variable"], int(row["own"]), int(row["public"]), row["what"], row["reason"])
        for row in csv.DictReader(_table)
    )
"""All limits, in the order of the table."""

_BY_NAME = {one.variable.removeprefix("MORPHGRAPH_").removeprefix("MAX_"): one for one in LIMITS}


def __getattr__(name: str) -> Limit:
    """Return a limit by its name here: FILE_BYTES is that of MORPHGRAPH_MAX_FILE_BYTES."""
    if name not in _BY_NAME:
        raise AttributeError(f"There is no limit {name}.")
    return _BY_NAME[name]


def is_set(variable: str) -> bool:
    """Return whether an environment variable is set to anything but a clear no."""
    return os.environ.get(variable, "").strip().lower() not in ("", "0", "no", "off", "false")


def is_public() -> bool:
    """Return whether ``MORPHGRAPH_PUBLIC`` is set, as ``morphgraph app --public`` does.

    If in doubt, it is: the public mode is the more restrictive one.
    """
    return is_set("MORPHGRAPH_PUBLIC")

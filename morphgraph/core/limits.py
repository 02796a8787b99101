"""The limits on what is read from files, in one place: each with its reason, and how to raise it.

A file comes from anywhere. What it would cost is known before a parser or a library sees it, so
that a wrong or hostile one gives an error at once, and neither a full memory nor a lost process.
The limits are far above what published tokenisers, references and texts need; whoever runs the
program raises one by the environment variable of its name.
"""

import os
from dataclasses import dataclass

from morphgraph.core.errors import FileFormatError, MorphGraphError


@dataclass(frozen=True)
class Limit:
    """At most so many of something, unless the environment variable ``variable`` says otherwise.

    ``what``: what is counted, in the plural; ``reason``: why there is a limit, and why this one.

    >>> Limit("MORPHGRAPH_MAX_EXAMPLES", 3, "examples", "Three are enough.").check(4, "a.json")
    Traceback (most recent call last):
    ...
    morphgraph.core.errors.FileFormatError: a.json: it has 4 examples, the limit is 3. Choose a \
smaller file, or set MORPHGRAPH_MAX_EXAMPLES.
    """

    variable: str
    usual: int
    what: str
    reason: str

    @property
    def value(self) -> int:
        """The limit that holds; `MorphGraphError` where the variable is not a whole number."""
        chosen = os.environ.get(self.variable, "")
        if not chosen:
            return self.usual
        if not chosen.isdecimal() or int(chosen) < 1:
            raise MorphGraphError(
                f"{self.variable}={chosen} is not a whole number above 0. Correct it or unset it."
            )
        return int(chosen)

    def check(self, count: int, name: str, place: str = "", fix: str = "") -> None:
        """`FileFormatError` for the file ``name`` if there are more; ``fix``: what else to do."""
        if count > self.value:
            raise self.exceeded(name, place, f"it has {count:,} {self.what}", fix)

    def exceeded(self, name: str, place: str, found: str, fix: str = "") -> FileFormatError:
        """The error of a file in which ``found`` is more than this."""
        problem = f"{found}, the limit is {self.value:,}"
        fix = fix.removesuffix(".") or "Choose a smaller file"
        return FileFormatError(name, place, problem, f"{fix}, or set {self.variable}.")


FILE_BYTES = Limit(
    "MORPHGRAPH_MAX_FILE_BYTES",
    100_000_000,
    "bytes",
    "A file is held in memory as a whole; the largest published tokenizer.json has 34 million.",
)
ADDED_TOKENS = Limit(
    "MORPHGRAPH_MAX_ADDED_TOKENS",
    20_000,
    "added tokens",
    "Each text is searched for all of them; published tokenisers have at most some thousand.",
)
YAML_CHARACTERS = Limit(
    "MORPHGRAPH_MAX_YAML_CHARACTERS",
    2_000_000,
    "characters",
    "YAML is read in Python, slowly; an evaluation has some thousand characters.",
)
YAML_VALUES = Limit(
    "MORPHGRAPH_MAX_YAML_VALUES",
    200_000,
    "values",
    "What is repeated by an alias counts each time, as it takes time each time.",
)

LIMITS = (FILE_BYTES, ADDED_TOKENS, YAML_CHARACTERS, YAML_VALUES)
"""All of them."""

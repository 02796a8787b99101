"""Run normalisers and pre-tokenisers with unknown parts in a separate process.

Such a part may run for ever, exhaust memory or crash its process, and native code cannot be
interrupted. So `core.isolated` runs it, within its limits; an error names the part.
"""

import json
from dataclasses import dataclass
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.isolated import ProcessEndedError, run_isolated
from morphgraph.core.limits import GROWN_CHARACTERS, PIPELINE_MEMORY, PIPELINE_SECONDS, TEXT_GROWTH
from morphgraph.core.text import shortened

_THERE = "morphgraph.tokeniser.steps:made_of_text"
_SPARE = 1_000
"""The number of characters that any text may become."""


class PartError(MorphGraphError):
    """A part of a pipeline exceeded a limit; ``place``: the part, ``problem``: the limit."""

    def __init__(self, place: str, problem: str, variable: str, text: str) -> None:
        self.place, self.problem, self.variable = place, problem, variable
        super().__init__(
            f"On “{shortened(text)}”, {place} of the tokeniser {problem}. Leave that text out, use "
            f"another tokeniser, or set {variable}."
        )


@dataclass(frozen=True)
class ConfinedPart:
    """A proxy for a normaliser or pre-tokeniser of the library; ``parts``: both, as JSON."""

    parts: str
    key: str

    def normalize_str(self, text: str) -> str:
        """Return the normalised text."""
        return str(confined(self.parts, "normalize_str", text))

    def pre_tokenize_str(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the pieces of a text, each with its span."""
        return [(piece, (a, b)) for piece, (a, b) in confined(self.parts, "pre_tokenize_str", text)]

    def as_json(self) -> Any:
        """Return the part as in the file."""
        return json.loads(self.parts)[self.key]


def confined(parts: str, do: str, text: str, *spans: slice) -> Any:
    """Apply a method of `Preprocessor` or of the library's parts to a text.

    `PartError` if it exceeds the limits; `RuntimeError` if a part fails.
    """
    text.encode()  # lone surrogates are found here
    most = min(_SPARE + TEXT_GROWTH.value * len(text), GROWN_CHARACTERS.value)
    bounds = [[span.start, span.stop] for span in spans]
    limits = {"seconds": PIPELINE_SECONDS, "memory": PIPELINE_MEMORY}
    try:
        return json.loads(run_isolated(_THERE, parts.encode(), do, text, bounds, most, **limits))
    except FileFormatError as error:
        place, problem, limit = error.place, error.problem, TEXT_GROWTH
    except ProcessEndedError as error:
        place, limit = error.place or "its pipeline", error.limit or PIPELINE_MEMORY
        problem = f"needs more than {limit.value:,} bytes of memory, or fails"
        if limit is PIPELINE_SECONDS:
            problem = f"takes more than {limit.value:,} seconds"
    raise PartError(place, problem, limit.variable, text)

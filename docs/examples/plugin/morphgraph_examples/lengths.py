"""How many tokens the lines of a text take."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from morphgraph.batch.downstream import DownstreamTask, Inputs, Measured, TaskRun
from morphgraph.segment.method import Parameters
from morphgraph.tables.model import Column


class LengthSettings(Parameters):
    """A text, and how many of its lines count."""

    text: Annotated[str, Inputs()] = Field(description="A file with a text a line.")
    most: int = Field(1_000, ge=1, description="The number of lines read at most.")


def read(settings: LengthSettings) -> list[str]:
    """Read the lines: when the run is planned, so that errors come early, and again in the run."""
    return Path(settings.text).read_text(encoding="utf-8").splitlines()[: settings.most]


def measure(run: TaskRun) -> Iterator[Measured]:
    """Measure one tokeniser."""
    lines = run.segmenter.encode(run.examples, bare=True)
    tokens = run.segmenter.segment(lines)
    total = sum(len(tokens.tokens(number)) for number in range(len(run.examples)))
    yield Measured("tokens_a_line", total / len(run.examples), len(run.examples))


LENGTHS = DownstreamTask(
    "Length",
    "How many tokens the lines of a text take.",
    LengthSettings,
    {"tokens_a_line": Column("Tokens a line", "number", better=-1)},
    measure,
    read,
)

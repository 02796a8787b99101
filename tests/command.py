"""The command in this process, as the fixture `morphgraph` runs it."""

import json
from collections.abc import Callable
from typing import NamedTuple

import pytest

from morphgraph.core.plugins import installed


class Run(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output, which must be nothing but JSON, without NaN."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


Command = Callable[..., Run]

OWN_COMMANDS = [
    each.name
    for each in installed().select(group="morphgraph.commands")
    if each.value.startswith("morphgraph.")
]

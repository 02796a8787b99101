"""Every method by name: those that segment without gold, and those that learn from it."""

from collections import ChainMap
from collections.abc import Mapping

from morphgraph.segment.method import Method
from morphgraph.segment.registry import METHODS, Registry

LEARNERS = Registry("morphgraph.refine", {"knockout": "learning", "rebpe": "learning"})
"""Those that edit a tokeniser by a reference."""

EVERY_METHOD: Mapping[str, Method] = ChainMap(LEARNERS, METHODS)
"""All of them, these last: what the command line, evaluations and the app choose from."""


def offered() -> list[str]:
    """The names of all that are of use on any tokeniser with merges, those that learn last."""
    return [*METHODS.offered, *LEARNERS.offered]

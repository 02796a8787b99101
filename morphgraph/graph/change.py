"""A record of what one edit did to a merge graph: enough to undo it, redo it and show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Merge(NamedTuple):
    """A merge: its rank, the types that it joins (ids, two or more) and the type that it makes."""

    rank: int
    parts: tuple[int, ...]
    result: int

    @property
    def is_tuple(self) -> bool:
        """Whether it joins three parts or more."""
        return len(self.parts) > 2


class Rewired(NamedTuple):
    """A merge that kept its rank and result but got other parts."""

    merge: int
    old_parts: tuple[int, ...]
    new_parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What one edit removed and rewired.

    ``step`` is the edit as data (one entry of a recipe): its name and arguments, in terms of type
    strings, so that it can be replayed on another copy of the same tokeniser. Types and merges are
    named by their ids in the graph. ``removed_merges`` maps the id to the merge as it was.
    """

    step: Mapping[str, Any]
    removed_types: tuple[int, ...] = ()
    removed_merges: Mapping[int, Merge] = field(default_factory=dict)
    rewired: tuple[Rewired, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the edit changed nothing."""
        return not (self.removed_types or self.removed_merges or self.rewired)

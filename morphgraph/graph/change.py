"""The record of an edit of a merge graph: enough to undo, redo and display it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Origin = Literal["original", "annealed", "split", "repaired", "reified", "reused"]
"""How a merge came to be as it is: the last of these events wins.

It was in the file (original), or annealing or reification added it (annealed, reified); a knockout
gave it other parts (split), repair did (repaired), or a tuple merge was linked to it (reused).
"""
ORIGINS: tuple[Origin, ...] = ("original", "annealed", "split", "repaired", "reified", "reused")

Cause = Literal["knockout", "repair", "reify"]


class Merge(NamedTuple):
    """A merge: its rank, the types that it joins (ids, two or more) and the type that it makes."""

    rank: int
    parts: tuple[int, ...]
    result: int

    @property
    def is_tuple(self) -> bool:
        """Whether it joins three or more parts."""
        return len(self.parts) > 2


class Rewired(NamedTuple):
    """A merge that kept its result but got other parts, and the reason."""

    merge: int
    old_parts: tuple[int, ...]
    new_parts: tuple[int, ...]
    cause: Cause = "knockout"


Reranked = tuple[int, int, int]
"""A merge that only moved in the order: its id, its old and its new rank."""


class Reified(NamedTuple):
    """A pair merge that replaced two adjacent parts in tuple merges.

    ``created``: it is new; else it existed and is linked to.
    """

    merge: int
    created: bool
    tuple_merges: tuple[int, ...]


@dataclass(frozen=True)
class Change:
    """The merges and types that one edit removed, rewired, added and moved.

    ``step`` is the edit as data (one entry of a recipe): its name and arguments, in terms of type
    strings, so that it can be replayed on another copy of the same tokeniser. Types and merges are
    named by their ids in the graph. ``removed_merges`` and ``added_merges`` map the id to the merge
    as it was or is. ``new_types``: those that never existed before the edit, with their new ids.
    A merge may be rewired more than once, in this order. ``origins`` maps a merge
    to its origin before and after.
    """

    step: Mapping[str, Any]
    removed_types: tuple[int, ...] = ()
    removed_merges: Mapping[int, Merge] = field(default_factory=dict)
    rewired: tuple[Rewired, ...] = ()
    added_types: tuple[int, ...] = ()
    new_types: Mapping[str, int] = field(default_factory=dict)
    added_merges: Mapping[int, Merge] = field(default_factory=dict)
    reranked: tuple[Reranked, ...] = ()
    reified: tuple[Reified, ...] = ()
    origins: Mapping[int, tuple[Origin, Origin]] = field(default_factory=dict)

    @property
    def touched(self) -> set[int]:
        """Ids of the merges that were removed, added, rewired or moved."""
        merges = {*self.removed_merges, *self.added_merges}
        merges.update([entry.merge for entry in self.rewired])
        merges.update([number for number, *_ in self.reranked])
        return merges

    @property
    def is_empty(self) -> bool:
        """Whether the edit changed nothing."""
        return not (
            self.removed_types
            or self.removed_merges
            or self.rewired
            or self.added_types
            or self.added_merges
            or self.reranked
        )

    @property
    def edit(self) -> str:
        """The name of the edit: knockout, cascade, anneal, reify or renumber."""
        return str(self.step["edit"])

    def counts(self) -> dict[str, int]:
        """Return the numbers of merges annealed, removed, split, repaired, linked and created.

        ``removed`` counts merges; ``atoms`` the types that annealing added to the alphabet; linked
        and created are pair merges. Zeros are left out.
        """
        causes = Counter(entry.cause for entry in self.rewired)
        created = sum(entry.created for entry in self.reified)
        made = len(self.added_merges) - created
        new_results = {merge.result for merge in self.added_merges.values()}
        found = {
            "atoms": sum(number not in new_results for number in self.added_types),
            "annealed": made,
            "removed": len(self.removed_merges),
            "split": causes["knockout"],
            "repaired": causes["repair"],
            "linked": len(self.reified) - created,
            "created": created,
        }
        return {kind: number for kind, number in found.items() if number}

"""LiteToken in plain Python, which ships in exported folders."""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from morphgraph.standalone.merges import Merged, Merging


class Remerging(Merging):
    """Merges again what was taken apart, without merges whose results are taken apart.

    Source: Sun et al. 2026.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        # The same, without those merges.
        self._second = copy(self)
        self._second._starts = {
            first: [entry for entry in entries if entry[2] not in self._apart]
            for first, entries in self._starts.items()
        }

    def _taken_apart(self, merged: Iterator[Merged]) -> Iterator[Merged]:
        found = list(merged)
        parts = list(super()._taken_apart(iter(found)))
        if len(parts) == len(found):
            yield from parts
            return
        for number, first, last in self._second._merged(parts):
            yield number, parts[first][1], parts[last][2]

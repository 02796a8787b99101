"""All types by length and blame: how many lie where, and which one is the nearest to a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from morphgraph.draw import BLAME_SCALE, SCENE_COLOURS
from morphgraph.refine.blame import Blame

LONGEST: Final = 20
"""Characters from which types share a column."""
STEPS: Final = 10
"""Steps from no blame to 100 %; the row after them is for types without joins."""


@dataclass(frozen=True)
class Overview:
    """The cell of each type, as column and row, in order of ``numbers``: most joins first."""

    numbers: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]

    @classmethod
    def of(cls, blamed: Blame, names: Sequence[str], present: Sequence[int]) -> Overview:
        """Place the present types; ``names``: of all types, as they are shown."""
        numbers = np.asarray(present, np.int64)
        joins = blamed.joins_of_types[numbers]
        order = np.argsort(-joins, kind="stable")
        numbers, joins = numbers[order], joins[order]
        lengths = np.array([len(names[n].lstrip("␣")) for n in numbers], np.int64)
        steps = np.rint(STEPS * np.append(blamed.ratio, 0)[blamed.places_of_types[numbers]])
        rows = np.where(joins > 0, steps, -1).astype(np.int64)
        return cls(numbers, np.clip(lengths, 1, LONGEST), rows)

    def cells(self) -> list[list[int]]:
        """Return each cell that has types: its column, its row, and how many."""
        places, counts = np.unique(
            np.stack([self.columns, self.rows], axis=1), axis=0, return_counts=True
        )
        return np.column_stack([places, counts]).tolist()  # type: ignore[no-any-return]

    def cell_of(self, number: int) -> list[int] | None:
        """Return the column and row of a type; None if it is not in the vocabulary."""
        found = np.flatnonzero(self.numbers == number)
        return [int(self.columns[found[0]]), int(self.rows[found[0]])] if len(found) else None

    def nearest(self, column: float, row: float, after: int | None = None) -> int | None:
        """Return the type nearest to a place, of equals that of most joins.

        If that is where the type ``after`` is, the one that follows it there.
        """
        if not len(self.numbers):
            return None
        distance = np.abs(self.columns - column) + np.abs(self.rows - row)
        near = self.numbers[distance == distance.min()].tolist()
        return int(near[(near.index(after) + 1) % len(near)] if after in near else near[0])


def fills() -> list[list[str]]:
    """Return the colours of rows from no blame to 100 %, then that without joins, in both themes."""
    return [[*BLAME_SCALE[theme], SCENE_COLOURS[theme]["undefined"]] for theme in BLAME_SCALE]

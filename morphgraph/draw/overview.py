"""All types by length and blame: which ones share a cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from morphgraph.core.text import SHOWN_MARKER
from morphgraph.draw import blame_colour
from morphgraph.refine.blame import Blame

COLUMNS: Final = 20
"""Characters; longer types share the last column."""
ROWS: Final = 10
"""Steps from no blame, row 0, to 100 %; types without joins are in row -1."""


@dataclass(frozen=True)
class Overview:
    """The column and row of each type, and the present types of each cell, most joins first."""

    columns: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    cells: dict[tuple[int, int], list[int]]

    @classmethod
    def of(cls, blamed: Blame, names: Sequence[str], present: Sequence[int]) -> Overview:
        """Place types; ``names``: of all types, as they are shown."""
        lengths = [len(name.lstrip(SHOWN_MARKER)) for name in names]
        joins = blamed.joins_of_types
        ratio = np.append(blamed.ratio, 0.0)[blamed.places_of_types]
        columns = np.clip(lengths, 1, COLUMNS)
        rows = np.where(joins > 0, np.rint(ROWS * ratio), -1).astype(np.int64)
        chosen = np.asarray(present, np.int64)
        chosen = chosen[np.argsort(-joins[chosen], kind="stable")]
        cells: dict[tuple[int, int], list[int]] = {}
        places = zip(columns[chosen].tolist(), rows[chosen].tolist(), strict=True)
        for number, place in zip(chosen.tolist(), places, strict=True):
            cells.setdefault(place, []).append(number)
        return cls(columns, rows, cells)

    def place(self, number: int) -> tuple[int, int]:
        """Return the column and row of a type, also of one that is knocked out."""
        return int(self.columns[number]), int(self.rows[number])

    def within(self, left: int, low: int, right: int, high: int) -> list[int]:
        """Return the types of the cells of these columns and rows, both ends included."""
        return [
            number
            for (column, row), types in self.cells.items()
            if left <= column <= right and low <= row <= high
            for number in types
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data, with the colours of rows from 0, the last those of -1."""
        values = [*(step / ROWS for step in range(ROWS + 1)), math.nan]
        return {
            "cells": [[*place, len(types)] for place, types in self.cells.items()],
            "longest": COLUMNS,
            "fills": [[blame_colour(v, theme) for v in values] for theme in ("light", "dark")],
        }

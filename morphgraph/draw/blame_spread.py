"""How blame is spread over merges, and which go first, as data for a picture to be dragged over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from morphgraph.core.text import shortened, side_by_side
from morphgraph.refine.blame import Blame
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_STEPS: Final = 100
"""Steps of blame, as the thresholds have them."""
_ROWS: Final = 20
"""Steps of blame in the picture of joins."""
_MOST: Final = 30
"""The merges that are listed at any threshold."""
_PARTS: Final = 6


@dataclass(frozen=True, slots=True)
class BlamedMerge:
    """A merge: its parts, what it makes and the id of that, its joins, the step of its blame."""

    parts: str
    type: str
    number: int
    wrong: float
    joins: float
    step: int


@dataclass(frozen=True)
class BlameSpread:
    """The merges that were applied, by blame.

    ``steps``: how many have which blame, in hundredths rounded down; ``cells``: how many by the
    power of two of their joins and the row of their blame; ``worst``: those with the most wrong
    joins at some threshold, of types that can go, most wrong joins first.
    """

    steps: npt.NDArray[np.int64]
    cells: dict[tuple[int, int], int]
    worst: list[BlamedMerge]

    @classmethod
    def of(cls, tokeniser: BpeTokeniser, blamed: Blame) -> BlameSpread:
        """Count merges, and find the worst."""
        places = np.flatnonzero(blamed.applied > 0)
        # As exact as the ratios: a division of both would put 0.15 below 0.15.
        edges = np.arange(_STEPS + 1) / _STEPS
        step = np.searchsorted(edges, blamed.ratio[places], side="right") - 1
        joins, wrong = blamed.applied[places], blamed.blamed[places]
        column = np.floor(np.log2(np.maximum(1.0, joins))).astype(np.int64)
        row = np.minimum(step * _ROWS // _STEPS, _ROWS - 1)
        cells = Counter(zip(column.tolist(), row.tolist(), strict=True))
        order = np.lexsort((places, -blamed.ratio[places], -wrong))
        can_go = np.fromiter(
            map(tokeniser.graph.is_removable, blamed.arrays.results[places].tolist()), bool
        )
        order = order[(wrong[order] > 0) & can_go[order]]
        shown = np.zeros(len(places), bool)
        for least in range(1, _STEPS):
            shown[order[step[order] >= least][:_MOST]] = True
        worst = [
            _merge(tokeniser, blamed, int(places[n]), int(step[n])) for n in order[shown[order]]
        ]
        return cls(np.bincount(step, minlength=_STEPS + 1), dict(cells), worst)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data."""
        worst = [[m.parts, m.type, m.number, m.wrong, m.joins, m.step] for m in self.worst]
        cells = [[*place, count] for place, count in sorted(self.cells.items())]
        return {"steps": self.steps.tolist(), "cells": cells, "worst": worst}


def _merge(tokeniser: BpeTokeniser, blamed: Blame, place: int, step: int) -> BlamedMerge:
    merge = tokeniser.graph.merge(int(blamed.arrays.merge_ids[place]))
    names = [shortened(tokeniser.readable_types[part], 30) for part in merge.parts[:_PARTS]]
    more = ["…"] * (len(merge.parts) > _PARTS)
    name = shortened(tokeniser.readable_types[merge.result], 30)
    figures = float(blamed.blamed[place]), float(blamed.applied[place])
    return BlamedMerge(side_by_side([*names, *more], " + "), name, merge.result, *figures, step)

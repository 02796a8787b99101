"""What a table of the report compares: means over training seeds, and two metrics over its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, groupby

import numpy as np

from morphgraph.score.uncertainty import Moments, welch_p
from morphgraph.tables.model import Cell, Column, Row


def tested(rows: Sequence[Row]) -> list[Row]:
    """Give means over training seeds the p of Welch's test against the first row of their group.

    Only they have both several seeds and an interval. Source: Gow-Smith et al. 2022, Appendix C,
    who test against the best one.
    """
    first: dict[int, Row] = {}

    def cells(row: Row) -> Iterator[Cell]:
        base = first.setdefault(row.group, row)
        for cell, other in zip(row.cells, base.cells, strict=True):
            over_seeds = cell.seeds > 1 and cell.over == "seeds"
            trained = row is not base and over_seeds and not math.isnan(cell.low)
            yield replace(cell, p=welch_p(_moments(cell), _moments(other))) if trained else cell

    return [replace(row, cells=tuple(cells(row))) for row in rows]


def _moments(cell: Cell) -> Moments:
    return float(cell.value), cell.sd, cell.defined


def correlations(
    rows: Sequence[Row], columns: Sequence[Column], metrics: Sequence[str], own: Sequence[int]
) -> Iterator[str]:
    """Yield Pearson's r of each two metrics over the rows of each group, under each heading.

    ``own``: the names of a row that its group shares. Source: Gow-Smith et al. 2022, §4, for the
    length of segmentations and their F1.
    """
    by_group = sorted(rows, key=lambda row: row.group)
    for pair in combinations(metrics, 2):
        told = []
        places: dict[tuple[str, ...], list[int]] = {}
        for place, column in enumerate(columns):
            if column.key in pair:
                places.setdefault(column.spread, []).append(place)
        for _, members in groupby(by_group, lambda row: row.group):
            group = list(members)
            for spread, both in places.items():
                values = np.array([[float(row.cells[n].value) for n in both] for row in group])
                values = values[~np.isnan(values).any(axis=1)]
                if len(both) == 2 and len(values) > 2 and values.std(axis=0).all():
                    where = ", ".join(filter(None, (*(group[0].names[n] for n in own), *spread)))
                    r = np.corrcoef(values, rowvar=False)
                    told.append(f"{where}: {r.item(0, 1):.3f}".removeprefix(": "))
        if told:
            titles = " and ".join(dict.fromkeys(c.header for c in columns if c.key in pair))
            yield f"Pearson’s r of {titles} over rows: {'; '.join(told)}."

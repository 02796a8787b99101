"""A breakdown of scores as CSV."""

import numpy as np

from morphgraph.core.numbers import UNDEFINED
from morphgraph.score.breakdown import Breakdown
from morphgraph.tables.writing import csv_bytes, harmless


def breakdown_csv(found: Breakdown) -> bytes:
    """One row for each group and tokeniser, with the signature in each; shares are 0 to 1."""

    def number(value: float) -> str:
        return UNDEFINED if np.isnan(value) else str(value)

    lines: list[list[object]] = [
        [
            "group",
            f"number of {found.counted}",
            "tokeniser",
            found.metric,
            "low",
            "high",
            "signature",
        ]
    ]
    for label, row, place in zip(found.labels, found.rows, range(len(found.rows)), strict=True):
        for group, estimate in zip(row, found.estimates(place), strict=True):
            values = (estimate.value, estimate.interval.low, estimate.interval.high)
            names = [harmless(group.name), group.size, harmless(label)]
            lines.append([*names, *map(number, values), harmless(found.signature)])
    return csv_bytes(lines)

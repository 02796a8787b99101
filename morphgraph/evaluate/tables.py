"""Numbers as people read them, and boundary scores as a table."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from morphgraph.evaluate.boundaries import BoundaryScore

if TYPE_CHECKING:
    import pandas as pd

UNDEFINED = "n/a"


def score_frame(
    scores: Sequence[BoundaryScore], before: Sequence[BoundaryScore] | None = None
) -> "pd.DataFrame":
    """Scores, one a row; ratios in percent, counts as they are, NaN where undefined.

    With ``before``: also the differences, in percentage points.
    """
    import pandas as pd

    rows = []
    for number, score in enumerate(scores):
        row: dict[str, object] = {"scope": score.scope, "over": score.weighting}
        for name, label in (("precision", "precision"), ("recall", "recall"), ("f1", "F1")):
            value = 100 * getattr(score, name)
            row[label] = value
            if before is not None:
                row[f"Δ {label}"] = value - 100 * getattr(before[number], name)
        row["true positives"] = score.true_positives
        row["predicted"] = score.predicted
        row["relevant"] = score.relevant
        row["splits inside a character"] = score.splits_inside_characters
        rows.append(row)
    return pd.DataFrame(rows)


def percent(value: float, digits: int = 2) -> str:
    """A share as percent.

    >>> percent(0.5), percent(float("nan"))
    ('50.00', 'n/a')
    """
    return UNDEFINED if math.isnan(value) else f"{100 * value:.{digits}f}"


def ratio_text(value: float) -> str:
    """A ratio as it is.

    >>> ratio_text(2 / 3), ratio_text(float("nan"))
    ('0.67', 'n/a')
    """
    return UNDEFINED if math.isnan(value) else f"{value:.2f}"


def count(value: float) -> str:
    """A count with separators.

    >>> count(1234567.0), count(float("nan"))
    ('1,234,567', 'n/a')
    """
    return UNDEFINED if math.isnan(value) else f"{value:,.0f}"

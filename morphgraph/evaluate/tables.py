"""Scores as tables: for the screen, as CSV, and as LaTeX for a paper."""

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


def to_csv(scores: Sequence[BoundaryScore], signature: str) -> bytes:
    """Scores as CSV, with the signature in each row; undefined values are n/a."""
    frame = score_frame(scores)
    frame["signature"] = signature
    return frame.to_csv(index=False, na_rep=UNDEFINED, lineterminator="\n").encode()


def to_latex(
    scores: Sequence[BoundaryScore], signature: str, before: Sequence[BoundaryScore] | None = None
) -> str:
    """Scores as a LaTeX table (booktabs), with the signature as a comment.

    With ``before``, each tokeniser has its columns: before and after.
    """
    groups = [scores] if before is None else [before, scores]
    header = [r"Pr & Re & $F_1$"] * len(groups)
    lines = [f"% {' '.join(signature.split())}"]
    lines.append(rf"\begin{{tabular}}{{ll{'rrr' * len(groups)}}}")
    lines.append(r"\toprule")
    if before is not None:
        lines.append(r" & & \multicolumn{3}{c}{before} & \multicolumn{3}{c}{after} \\")
        lines.append(r"\cmidrule(lr){3-5}\cmidrule(lr){6-8}")
    lines.append(rf"Scope & Over & {' & '.join(header)} \\")
    lines.append(r"\midrule")
    for number, score in enumerate(scores):
        cells: list[str] = [score.scope, score.weighting]
        for group in groups:
            found = group[number]
            cells += [percent(found.precision), percent(found.recall), percent(found.f1)]
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)

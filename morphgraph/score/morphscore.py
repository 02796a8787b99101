"""MorphScore exactly as the program released with its first version computes it."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import nan
from statistics import fmean

from morphgraph.reference.entry import MorphScoreRow


def morphscore_of(rows: Iterable[MorphScoreRow], tokens: Iterable[Sequence[str]]) -> float:
    """Return the share of rows whose word is cut into its two parts; NaN if no row counts.

    ``tokens``: of each row's word, each decoded alone. A row of one token does not count. Others
    count 1 if the tokens to the left of just one place spell the first part and those to the right
    the rest, else 0. Source: Arnett & Bergen 2025, as released.

    >>> rows = [("undo", "un", "do"), ("goes", "go", "es"), ("it", "i", "t"), ("nans", None, "s")]
    >>> morphscore_of(rows, [["un", "do"], ["g", "oes"], ["it"], ["nan", "s"]])
    0.3333333333333333
    """
    points = []
    for (_, first, rest), found in zip(rows, tokens, strict=True):
        if len(found) == 1:
            continue
        is_spelt = first is not None and rest is not None and "".join(found) == first + rest
        ends = list(accumulate(map(len, found)))[:-1] if is_spelt else []
        points.append(ends.count(len(first or "")) == 1)
    return fmean(points) if points else nan

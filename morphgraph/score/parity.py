"""How evenly a tokeniser treats languages: Gini coefficient and Lorenz curve of costs.

Sources: Petrov et al. 2023 (the premium of a language over another), Foroutan et al. 2025 and
TokEval (the Gini coefficient of what languages cost).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def gini(costs: Sequence[float]) -> float:
    """Gini coefficient: Σᵢ Σⱼ |cᵢ − cⱼ| ÷ (2 n² c̄); 0 if all costs are the same.

    NaN where a cost is, where there is none, or where all are 0.

    >>> gini([1, 3]), gini([2, 2, 2])
    (0.25, 0.0)
    """
    found = np.sort(np.asarray(costs, np.float64))
    n, total = len(found), float(found.sum())
    if not n or math.isnan(total) or not total:
        return math.nan
    # Sorted, the cost of rank i stands in 2i − n − 1 differences.
    return abs(float((2 * np.arange(1, n + 1) - n - 1) @ found)) / (n * total)


def lorenz_curve(costs: Sequence[float]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lorenz curve: shares of the languages, cheapest first, and their shares of all costs.

    n + 1 points each, from 0 to 1; the diagonal if all costs are the same. NaN as for `gini`.

    >>> lorenz_curve([3, 1])
    (array([0. , 0.5, 1. ]), array([0.  , 0.25, 1.  ]))
    """
    found = np.sort(np.asarray(costs, np.float64))
    total = float(found.sum())
    shares = np.linspace(0, 1, len(found) + 1)
    if not total:
        return shares, np.full(len(shares), math.nan)
    return shares, np.append(0, np.cumsum(found)) / total

"""Gini coefficient and Lorenz curve: by hand, by the plain sums, and by one another."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.score.corpus_measures import gini, lorenz_curve

COSTS = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=30)


def test_gini_by_hand() -> None:
    """Costs 1, 2, 5: differences 1, 4 and 3, each twice, over 2 · 9 · 8/3."""
    assert gini([5, 1, 2]) == pytest.approx(16 / 48)
    # One pays for all of n: (n − 1) ÷ n.
    assert gini([0, 0, 0, 7]) == pytest.approx(3 / 4)
    assert gini([4]) == gini([3, 3, 3]) == 0


def test_what_is_undefined() -> None:
    for costs in ([], [0, 0], [1, math.nan]):
        assert math.isnan(gini(costs))
    assert np.isnan(lorenz_curve([0, 0])[1]).all()


def test_lorenz_by_hand() -> None:
    x, y = lorenz_curve([5, 1, 2, 2])
    assert x.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert y.tolist() == [0, 0.1, 0.3, 0.5, 1]


@given(COSTS)
def test_gini_is_the_sum_of_all_differences(costs: list[float]) -> None:
    n, mean = len(costs), sum(costs) / len(costs)
    naive = sum(abs(a - b) for a in costs for b in costs) / (2 * n * n * mean)
    assert gini(costs) == pytest.approx(naive, abs=1e-9)

"""Settings with values that mean nothing are refused when they are made."""

import math
from typing import Any

import pytest

from morphgraph.core.errors import MorphGraphError
from morphgraph.refine.knockout import KnockoutSettings
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.segment.method import METHODS

BOTH = (KnockoutSettings, ReBPESettings)
SHARE, WHOLE = "Give a number from 0 to 1.", "Give a whole number of 0 or more."


@pytest.mark.parametrize(
    ("kinds", "name", "value", "said"),
    [
        *((BOTH, "threshold", value, SHARE) for value in (50, math.nan, "0.5", True)),
        (BOTH, "holdout", 1, "Give a number from 0 to below 1."),
        (BOTH, "holdout", -0.1, "Give a number from 0 to below 1."),
        (BOTH, "scope", "foo", "Give one of: morphemic, whole-word."),
        (BOTH, "weighting", "words", "Give one of: types, tokens."),
        (BOTH, "seed", -1, WHOLE),
        (BOTH, "minimum_vocabulary", 1.5, WHOLE),
        (BOTH[:1], "select", "foo", "Give one of: blame, random, last, leaves."),
        (BOTH[:1], "count", -1, WHOLE),
        (BOTH[1:], "iterations", -1, WHOLE),
        (BOTH[1:], "minimum_good", 0, "Give a whole number of 1 or more."),
        (BOTH[1:], "minimum_ratio", 2, SHARE),
        (BOTH[1:], "maximum_vocabulary", "1", WHOLE),
    ],
)
def test_values_that_mean_nothing(kinds: Any, name: str, value: Any, said: str) -> None:
    for kind in kinds:
        with pytest.raises(MorphGraphError) as error:
            kind(**{name: value})
        assert f"{name}={value!r} does not fit. {said}" in str(error.value)


def test_bounds_themselves_are_allowed() -> None:
    assert KnockoutSettings(threshold=0, minimum_vocabulary=0, count=0).threshold == 0
    assert ReBPESettings(threshold=1, iterations=0, minimum_good=1, minimum_ratio=1).reifies


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, None, "1", [1]])
@pytest.mark.parametrize(
    "method, name", [("dropout", "p"), ("first", "k"), ("trimmed", "threshold")]
)
def test_parameters_of_methods_are_numbers(method: str, name: str, value: Any) -> None:
    with pytest.raises(MorphGraphError, match=f"^{name}="):
        METHODS[method].settings({name: value})

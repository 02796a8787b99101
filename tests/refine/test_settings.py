"""Settings with values that mean nothing are refused when they are made."""

import math
from typing import Any

import pytest

from morphgraph.core.errors import MorphGraphError
from morphgraph.refine.knockout import KnockoutSettings
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.segment.registry import METHODS


@pytest.mark.parametrize("kind", [KnockoutSettings, ReBPESettings])
@pytest.mark.parametrize(
    "given, said",
    [
        ({"threshold": 50}, "threshold=50 does not fit. Give a number from 0 to 1."),
        ({"threshold": math.nan}, "threshold=nan does not fit. Give a number from 0 to 1."),
        ({"threshold": "0.5"}, "threshold='0.5' does not fit. Give a number from 0 to 1."),
        ({"threshold": True}, "threshold=True does not fit. Give a number from 0 to 1."),
        ({"holdout": 1}, "holdout=1 does not fit. Give a number from 0 to below 1."),
        ({"holdout": -0.1}, "holdout=-0.1 does not fit. Give a number from 0 to below 1."),
        ({"scope": "foo"}, "scope='foo' does not fit. Give one of: morphemic, whole-word."),
        ({"weighting": "words"}, "weighting='words' does not fit. Give one of: types, tokens."),
        ({"seed": -1}, "seed=-1 does not fit. Give a whole number of 0 or more."),
        ({"minimum_vocabulary": 1.5}, "minimum_vocabulary=1.5 does not fit. Give a whole number"),
    ],
)
def test_values_of_both(kind: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(MorphGraphError) as error:
        kind(**given)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "kind, given, said",
    [
        (KnockoutSettings, {"select": "foo"}, "Give one of: blame, random, last, leaves."),
        (
            KnockoutSettings,
            {"count": -1},
            "count=-1 does not fit. Give a whole number of 0 or more.",
        ),
        (ReBPESettings, {"iterations": -1}, "iterations=-1 does not fit. Give a whole number"),
        (
            ReBPESettings,
            {"minimum_good": 0},
            "minimum_good=0 does not fit. Give a whole number of 1",
        ),
        (
            ReBPESettings,
            {"minimum_ratio": 2},
            "minimum_ratio=2 does not fit. Give a number from 0 to 1",
        ),
        (
            ReBPESettings,
            {"maximum_vocabulary": "1"},
            "maximum_vocabulary='1' does not fit. Give a whole number",
        ),
    ],
)
def test_values_of_one(kind: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(MorphGraphError) as error:
        kind(**given)
    assert said in str(error.value)


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

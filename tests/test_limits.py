"""Limits on what is read: each has a reason, and whoever runs the program can raise it."""

import pytest

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import LIMITS, Limit

FEW = Limit("MORPHGRAPH_MAX_THINGS", 3, "things", "Three are enough.")


def test_each_limit_has_a_name_of_its_own_and_a_reason() -> None:
    assert len({limit.variable for limit in LIMITS}) == len(LIMITS)
    for limit in LIMITS:
        assert limit.variable.startswith("MORPHGRAPH_")
        assert limit.value == limit.usual > 0
        assert limit.reason.endswith(".")
        assert limit.what


def test_the_environment_raises_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    FEW.check(3, "a.json")
    with pytest.raises(FileFormatError, match=r"^a\.json: it has 4 things, the limit is 3\. .*set"):
        FEW.check(4, "a.json")
    monkeypatch.setenv(FEW.variable, "4")
    FEW.check(4, "a.json")


@pytest.mark.parametrize("chosen", ["many", "-1", "0", "1e6"])
def test_a_limit_that_is_no_number(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    monkeypatch.setenv(FEW.variable, chosen)
    with pytest.raises(MorphGraphError, match=f"^{FEW.variable}={chosen} is not a whole number"):
        FEW.check(1, "a.json")

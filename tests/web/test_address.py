"""The address and what is shown, followed over runs of a page."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from web import address
from web.address import arrive, follow


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the address asks for; the clock stands at 0 until a test moves it."""
    held: dict[str, str] = {}

    def replace(name: str, value: str | None) -> None:
        if value is not None:
            held[name] = value

    monkeypatch.setattr(address, "st", SimpleNamespace(query_params=held, session_state={}))
    monkeypatch.setattr(address, "_replace", replace)
    monkeypatch.setattr(address.time, "monotonic", lambda: 0.0)
    arrive("Merge graph")
    return held


def test_what_is_shown_goes_into_the_address(asked: dict[str, str]) -> None:
    assert follow("type", "able") == "able"
    assert asked == {"type": "able"}
    assert follow("type", "ies") == "ies"
    assert asked == {"type": "ies"}
    assert follow("type", "") == ""
    assert asked == {}


def test_the_address_counts_on_arrival_and_after_back(
    asked: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked["type"] = "able"
    assert follow("type", "ies") == "able"
    assert follow("type", "able") == "able"
    assert follow("type", "ous") == "ous"
    monkeypatch.setattr(address.time, "monotonic", lambda: 10.0)
    asked["type"] = "able"
    assert follow("type", "ous") == "able"
    arrive("Blame")
    asked["type"] = "ing"
    assert follow("type", "able") == "ing"


def test_a_click_from_a_browser_that_lags_behind_counts(asked: dict[str, str]) -> None:
    follow("type", "able")
    follow("type", "ies")
    asked["type"] = "able"  # sent before the browser had the last address
    assert follow("type", "ous") == "ous"
    assert asked == {"type": "ous"}


def test_clicks_of_a_browser_that_lags_far_behind_count(
    asked: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, shown in enumerate(["able", "ies", "ous", "ing"]):
        monkeypatch.setattr(address.time, "monotonic", lambda number=number: 10.0 * number)
        if number:
            asked["type"] = "able"
        assert follow("type", shown) == shown
    monkeypatch.setattr(address.time, "monotonic", lambda: 40.0)
    asked["type"] = "able"  # nothing was chosen on the page: three steps back
    assert follow("type", "ing") == "able"


def test_values_that_are_no_steps_are_not_taken_back(asked: dict[str, str]) -> None:
    follow("threshold", "0.50", step=False)
    follow("threshold", "0.51", step=False)
    asked["threshold"] = "0.50"
    assert follow("threshold", "0.52", step=False) == "0.52"
    assert asked == {"threshold": "0.52"}


@pytest.mark.parametrize("value", ["x" * 2000, "\ud800"])
def test_what_an_address_cannot_hold_is_shown_all_the_same(
    asked: dict[str, str], value: str
) -> None:
    assert follow("text", value) == value
    follow("text", "a")
    assert follow("text", value) == value
    assert asked == {}
    assert follow("text", value) == value

"""The address and what is shown over runs of a page, for a browser that is played here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from web import state
from web.state import Address


class Browser:
    """What the address bar holds, entry by entry; clicks may come before it has heard of the last.

    It does with the data of an element what its script does.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entries: list[dict[str, str]] = [{}]
        self.place = 0
        self.known: dict[str, str] = {}
        """What Streamlit sends with a click: the address of the last arrival."""
        self.asked: dict[str, str] = {}
        self.waiting: list[dict[str, Any]] = []
        self.holds = False
        monkeypatch.setattr(state, "st", SimpleNamespace(query_params=self.asked))
        monkeypatch.setattr(state, "component", lambda *_: self.hear)
        self.address = Address()

    def hear(self, key: str, data: dict[str, Any]) -> None:
        self.waiting.append(data)
        if not self.holds:
            self.catch_up()

    def catch_up(self) -> None:
        self.holds = False
        for data in self.waiting:
            here = self.entries[self.place].get("step", "")
            if here != data["step"]:
                steps = int(here) if here.isdecimal() else -1
                is_earlier = data["since"] <= steps < int(data["step"] or 0)
                if here != data["arrived"] and not is_earlier:
                    continue
                left = self.entries[self.place]
                added = {**left, "step": data["step"]}
                left["step"] = f"before{data['step']}"
                self.entries[self.place + 1 :] = [added]
                self.place += 1
            self.entries[self.place].pop(data["name"], None)
            if data["value"]:
                self.entries[self.place][data["name"]] = data["value"]
        self.waiting.clear()

    def click(self, page: str = "Merge graph", /, **shown: str) -> dict[str, str]:
        """Run a page that shows these values; what it then shows."""
        self.asked.clear()
        self.asked.update(self.known or self.entries[self.place])
        self.address.arrive(page)
        return {name: self.address.follow(name, value) for name, value in shown.items()}

    def go(self, steps: int, /, **shown: str) -> dict[str, str]:
        """Back or Forward, where these values are on show."""
        self.place += steps
        self.known = dict(self.entries[self.place])
        return self.click(**shown)

    @property
    def bar(self) -> dict[str, str]:
        return {n: v for n, v in self.entries[self.place].items() if n != "step"}


@pytest.fixture(params=["by link", "by address"])
def browser(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Browser:
    made = Browser(monkeypatch)
    if request.param == "by address":
        made.entries[0]["type"] = made.known["type"] = "able"
    assert made.click(type="able") == {"type": "able"}
    return made


def test_the_address_counts_on_arrival_and_after_back_and_forward(browser: Browser) -> None:
    browser.click(type="ies")
    browser.click(type="ous")
    assert browser.go(-1, type="ous") == {"type": "ies"}
    assert browser.go(-1, type="ies") == {"type": "able"}
    assert browser.go(2, type="able") == {"type": "ous"}
    assert browser.go(-2, type="ous") == {"type": "able"}
    assert browser.click(type="ing") == {"type": "ing"}
    assert [entry["type"] for entry in browser.entries] == ["able", "ing"]
    assert browser.go(-1, type="ing") == {"type": "able"}
    browser.known = {"type": "ed"}
    assert browser.click("Blame", type="able") == {"type": "ed"}


def test_clicks_of_a_browser_that_lags_behind_count(browser: Browser) -> None:
    browser.holds = True
    for shown in ("ies", "ous", "ing"):
        assert browser.click(type=shown) == {"type": shown}
    assert browser.click(type="ing") == {"type": "ing"}  # a click on something else
    browser.catch_up()
    assert browser.bar == {"type": "ing"}
    assert browser.go(-1, type="ing") == {"type": "ous"}


def test_back_while_an_answer_is_on_its_way_is_back(browser: Browser) -> None:
    browser.click(type="ies")
    browser.holds = True
    browser.click(type="ous")
    assert browser.go(-1, type="ous") == {"type": "able"}
    browser.catch_up()
    assert browser.bar == {"type": "able"}
    assert browser.go(1, type="able") == {"type": "ies"}


def test_a_run_makes_one_step(browser: Browser) -> None:
    browser.click(type="able", word="unable")
    before = len(browser.entries)
    browser.click(type="ies", word="stories")
    assert browser.bar == {"type": "ies", "word": "stories"}
    assert len(browser.entries) == before + 1
    # A fragment runs alone, and the page does not arrive.
    for word in ("berries", "cherries"):
        browser.address.follow("word", word)
    assert len(browser.entries) == before + 3
    assert browser.go(-2, type="ies", word="cherries") == {"type": "ies", "word": "stories"}


def test_what_does_not_fit_is_replaced_at_once(browser: Browser) -> None:
    browser.known = {"type": "nonsense", "count": "9999", "step": "before" + "9" * 40}
    browser.asked.clear()
    browser.asked.update(browser.known)
    browser.address.arrive("Blame")
    assert browser.address.follow("type", "able", among=["able", "ies"]) == "able"
    assert browser.address.follow("count", "5", reads=lambda asked: asked[:2]) == "99"

"""What our styles select on Streamlit's own pages is there: else a new version has renamed it."""

from collections.abc import Callable

import pytest
from browser_steps import go_to, idle, start
from playwright.sync_api import Page, expect
from test_streamlit import INTERNAL

pytestmark = pytest.mark.browser

PAGES = ("History and export", "Segmentations", "Scores", "Vocabulary")
ELSEWHERE = {"stHeaderLogo", "stMarkdownBadge"}
"""There only where the sidebar is folded away, or gold is partial; tests of Batch see badges."""


def there(page: Page) -> set[str]:
    """Which of the names some element of a page has."""
    found: list[str] = page.evaluate(
        """names => names.filter(
          (name) => document.querySelector(`[data-testid="${name}"], .${name}`))""",
        sorted(INTERNAL),
    )
    return set(found)


def test_every_internal_selector_is_somewhere(
    new_page: Callable[..., Page], app_address: str
) -> None:
    page = new_page(viewport={"width": 1400, "height": 1000})
    start(page, app_address)
    go_to(page, "Merge graph")
    page.get_by_role("button", name="Knock out", exact=True).click()  # there are differences now
    idle(page)
    found = there(page)
    for name in PAGES:
        go_to(page, name)
        idle(page)
        page.wait_for_timeout(1500)
        found |= there(page)
    assert set(INTERNAL) - found <= ELSEWHERE


def test_on_a_phone_pages_and_the_button_of_a_type_are_always_in_reach(
    new_page: Callable[..., Page], app_address: str
) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    start(page, app_address)
    tabs = page.locator(".st-key-page-tabs")
    tabs.get_by_role("button", name="Explore").click()
    page.get_by_test_id("stPopoverBody").get_by_role("link", name="Merge graph").click()
    button = page.get_by_role("button", name="Knock out", exact=True)
    expect(button).to_be_visible()
    idle(page)
    for scrolled in (0, 5000):  # where the sheet floats, and where it is above what follows
        page.get_by_test_id("stMain").evaluate("(e, y) => e.scrollTo(0, y)", scrolled)
        rows, bar, sheet = (
            page.locator(one).bounding_box() or {}
            for one in (".st-key-word-rows", ".st-key-page-tabs", ".st-key-type-sheet")
        )
        assert bar["y"] + bar["height"] == 844
        assert sheet["y"] + sheet["height"] <= bar["y"]
        assert not scrolled or sheet["y"] < rows["y"] < rows["y"] + rows["height"] <= bar["y"]
        if not scrolled:
            button.click(trial=True)
    page.set_viewport_size({"width": 900, "height": 844})
    expect(tabs).to_be_hidden()

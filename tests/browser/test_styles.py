"""What our styles select on Streamlit's own pages is there: else a new version has renamed it."""

from collections.abc import Callable

import pytest
from browser_steps import go_to, idle, start
from playwright.sync_api import Page
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

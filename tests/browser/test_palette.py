"""One field that leads anywhere, by the keyboard alone."""

import re

import pytest
from browser_steps import PATIENCE, idle, start
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def look_for(page: Page, text: str, key: str = "Control+k") -> None:
    idle(page)
    page.keyboard.press(key)
    field = page.get_by_role("combobox", name="A page, an action, a type, or any word")
    expect(field).to_be_focused(timeout=PATIENCE)
    page.keyboard.type(text)
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")


def test_anything_is_a_few_keys_away(page: Page, app_address: str) -> None:
    start(page, app_address)
    look_for(page, "Vocabulary")
    page.wait_for_url(re.compile("/Vocabulary"))
    look_for(page, "ies · type", "/")
    page.wait_for_url(re.compile("/Merge_graph"))
    expect(page.get_by_role("heading", name="ies", exact=True)).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Knock out", exact=True).click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_enabled(timeout=PATIENCE)
    look_for(page, "Keep a copy")
    page.get_by_role("textbox", name="Keep the present state as").fill("without ies")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Kept as “without ies”")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("dialog")).to_have_count(0)
    look_for(page, "Undo")
    expect(undo).to_be_disabled(timeout=PATIENCE)
    look_for(page, "unhappily")
    page.wait_for_url(re.compile("/Merge_tree.*word=unhappily"))

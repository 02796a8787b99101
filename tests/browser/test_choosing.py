"""What can be chosen in charts, in a real Chromium: each is really clicked."""

import re

import pytest
from browser_steps import start
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_knockout_leaves_the_pointer_and_the_focus_where_they_were(page, app_address):
    start(page, app_address)
    knock_out = page.locator(".st-key-knock-out button").first
    bring_back = page.get_by_role("button", name="Bring it back")
    box = knock_out.bounding_box()
    knock_out.click()
    expect(bring_back).to_be_focused()
    now = bring_back.bounding_box()
    assert (now["x"], now["y"], now["height"]) == (box["x"], box["y"], box["height"])
    page.keyboard.press("Enter")
    expect(knock_out).to_be_focused()
    page.keyboard.press("Enter")
    expect(bring_back).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^1 edit made, 1 in all: F1 "))

"""What can be chosen in charts and tables, in a real Chromium: each is really clicked.

The tables of Scores and Vocabulary are clicked in `test_scores`.
"""

import re

import pytest
from browser_steps import go_to, start
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

# The point of the chart that has most room around it, its text, and where it is in the window.


def test_a_knockout_leaves_the_pointer_and_the_focus_where_they_were(
    page: Page, app_address: str
) -> None:
    start(page, app_address)
    go_to(page, "Merge graph")
    knock_out = page.get_by_role("button", name="Knock out", exact=True)
    bring_back = page.get_by_role("button", name="Bring it back")
    box = knock_out.bounding_box()
    assert box is not None
    knock_out.click()
    expect(bring_back).to_be_focused()
    now = bring_back.bounding_box()
    assert now is not None
    assert (now["x"], now["y"], now["height"]) == (box["x"], box["y"], box["height"])
    page.keyboard.press("Enter")
    expect(knock_out).to_be_focused()
    page.keyboard.press("Enter")
    expect(bring_back).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^1 edit made, 1 in all: F1 "))


def test_a_type_is_found_by_its_name_or_its_place_among_all(page: Page, app_address: str) -> None:
    page.set_viewport_size({"width": 960, "height": 600})
    start(page, app_address)
    go_to(page, "Merge graph")
    for name in ("Knock out", "Most to blame", "Show all"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 960
    page.get_by_role("button", name="Most to blame").click()
    first = page.get_by_role("option").first
    expect(first).to_have_text(re.compile(r"^iesblame 100\s%"))
    page.keyboard.type("un")
    expect(first).to_have_text(re.compile(r"^unblame 0\s% · 0 of \d+ joins$"))
    starts = re.compile(r"^␣?un\w*blame \d+\s% · \d+ of (\d+) joins?$")
    said = page.get_by_role("option").all_text_contents()[2:9]
    joins = [int(found[1]) for found in map(starts.match, said) if found]
    assert len(joins) == 7 and joins == sorted(joins, reverse=True), said
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="un", exact=True)).to_be_visible()

    overview = page.get_by_role("application", name="un: 2 characters, blame ≈ 0 %")
    box = overview.bounding_box()
    assert box is not None
    overview.click(position={"x": 46 + 3.5 * (box["width"] - 50) / 20, "y": 8})
    there = page.get_by_role("application", name="4 characters, blame ≈ 100 %")
    expect(there).to_be_visible()
    label = (there.get_attribute("aria-label") or "").split(". ")[1].split(":")[0]
    expect(page.get_by_role("heading", name=label, exact=True)).to_be_visible()
    there.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("application", name="3 characters, blame ≈ 100 %")).to_be_visible()

"""The first minute: a word cut across a morpheme, one click that mends it, a text of one's own."""

import re
from collections.abc import Callable

import pytest
from browser_steps import PATIENCE, expect_value, idle, metric, start, value_of
from effort import one_of
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_one_click_knocks_out_and_the_score_rises(page: Page, app_address: str) -> None:
    start(page, app_address)
    before = value_of(page, "F1 %")
    tokens = page.locator(".word > .chips").last
    expect(page.locator(".word .chip.culprit .cut")).to_have_count(1)
    said = page.get_by_text(re.compile(r"^F1 would be [\d.]+\s% \(\+")).inner_text()
    page.get_by_role("button", name=re.compile("^.*Knock out")).click()
    expect(page.locator(".word .chip.culprit")).to_have_count(0)
    expect(page.get_by_text("No token covers a gold boundary here.")).to_be_visible()
    expect(tokens.locator(".cut")).to_have_count(0)
    idle(page)
    after = value_of(page, "F1 %")
    assert f"F1 would be {after}\xa0% " in said
    assert float(after) > float(before)
    page.get_by_role("button", name="Undo").click()
    expect_value(page, "F1 %", before)
    expect(page.locator(".word .chip.culprit")).to_have_count(1)


def test_the_bar_undoes_by_the_keyboard_and_opens_others(page: Page, app_address: str) -> None:
    start(page, app_address)
    bar = page.locator('[class*="st-key-score-bar"]')
    before = value_of(page, "F1 %")
    page.get_by_role("button", name=re.compile("^.*Knock out")).click()
    expect(page.locator(".word .chip.culprit")).to_have_count(0)
    idle(page)
    page.keyboard.press("Control+z")
    expect_value(page, "F1 %", before)
    idle(page)
    page.keyboard.press("Control+Shift+z")
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    bar.get_by_role("button", name="tokeniser demo:en").click()
    page.get_by_role("button", name="German", exact=True).click()
    expect(bar.get_by_role("button", name="tokeniser demo:de")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("width", one_of(768, 390))
def test_nothing_covers_the_bar_on_a_narrow_window(
    new_page: Callable[..., Page], app_address: str, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 844})
    start(page, app_address)
    page.get_by_role("button", name=re.compile("^Knock out")).click()
    actions = page.locator('[class*="st-key-score-actions"]')
    # While a page is drawn anew, the one that goes can still stand below.
    menu = actions.get_by_role("button", name="Menu").locator("visible=true").first
    expect(menu).to_be_visible()
    for address in ("", "Merge_graph", "Merge_tree", "Repair", "History_and_export"):
        if address:
            page.goto(f"{app_address}/{address}")
        expect(menu).to_be_visible(timeout=PATIENCE)
        idle(page)
        for scrolled in (0, 300):
            page.get_by_test_id("stMain").evaluate("(main, top) => main.scrollTo(0, top)", scrolled)
            menu.click(trial=True)
            metric(page, "F1 %").first.click(trial=True)
        box = actions.first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width
    menu.click()
    undo = page.get_by_role("button", name=re.compile("^Undo: ")).locator("visible=true")
    undo.first.click()
    expect(undo).to_have_count(0, timeout=PATIENCE)


def test_another_word_and_a_text_of_ones_own(page: Page, app_address: str) -> None:
    start(page, app_address)
    field = page.get_by_role("textbox", name="A word, or any text")
    seen = [field.input_value()]
    for _ in range(2):
        page.get_by_role("button", name="Another word").click()
        expect(field).not_to_have_value(seen[-1])
        idle(page)
        seen.append(field.input_value())
        expect(page.locator(".word .chip.culprit")).not_to_have_count(0)
    assert len(set(seen)) == 3
    field.fill("undesirable <b>things</b>\nmore")  # cut as it is typed
    lines = page.locator(".lines .line")
    expect(lines).to_have_count(2)
    words = lines.first.locator(".word")
    expect(words).to_have_count(2)
    expect(words.first.locator(".gold .chip")).to_have_text(["un", "desir", "able"])
    expect(words.first.locator(".chips:not(.gold) .chip")).to_have_text(
        ["␣und", "es", "ir", "able"]
    )
    expect(page.locator(".lines b")).to_have_count(0)
    expect(words.first.locator(".chip").last).to_have_attribute("title", re.compile(r"id \d"))

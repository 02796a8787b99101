"""What can be chosen in charts, in a real Chromium: each is really clicked."""

import re

import pytest
from browser_steps import PATIENCE, go_to, idle, start
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_a_knockout_leaves_the_pointer_and_the_focus_where_they_were(
    page: Page, app_address: str
) -> None:
    start(page, app_address)
    knock_out = page.locator(".st-key-knock-out button")
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


# How many types go: by the headline, by the button, and by the histogram the least blame of those.
TOLD_OF_BLAME = """() => {
  const texts = [...document.querySelectorAll("*")].map((one) => one.shadowRoot)
    .map((root) => root?.querySelector(".said b")?.textContent);
  const [, blame, types] = texts.find(Boolean).match(/≥ (\\d+)\\s%: ([\\d,]+) types? go/);
  const button = [...document.querySelectorAll("button")]
    .map((one) => one.innerText.match(/Knock out all ([\\d,]+)/)).find(Boolean);
  const legend = [...document.querySelectorAll(".legendtext")]
    .map((one) => one.textContent.match(/blame\\s*≥\\s*(\\d+)/)).find(Boolean);
  return { blame, types, button: button?.[1], legend: legend?.[1] };
}"""


def test_all_that_is_told_of_a_threshold_agrees_while_the_line_is_dragged(
    page: Page, app_address: str
) -> None:
    start(page, app_address)
    go_to(page, "Blame")
    expect(page.get_by_text(re.compile("^blame ≥ 50")).first).to_be_visible(timeout=PATIENCE)
    box = page.get_by_role("slider").bounding_box()
    assert box is not None
    left, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(left, y)
    page.mouse.down()
    told: list[dict[str, str]] = []
    for step in range(200):  # without ever resting for as long as it takes to stop
        page.mouse.move(left - box["width"] * 0.004 * (step % 100), y)
        page.wait_for_timeout(25)
        told.append(page.evaluate(TOLD_OF_BLAME))
        if len({one["types"] for one in told}) > 4:
            break
    assert len({one["types"] for one in told}) > 4, "it follows while it is dragged"
    # What one run of the page shows arrives in parts, a moment after each other.
    agree = [one["types"] == one["button"] for one in told]
    assert sum(agree) > 0.9 * len(told), told
    page.mouse.up()
    idle(page)
    page.wait_for_timeout(300)
    end = page.evaluate(TOLD_OF_BLAME)
    assert (end["types"], end["blame"]) == (end["button"], end["legend"])

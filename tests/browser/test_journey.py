"""The whole journey through the app, as a person takes it, in a real Chromium."""

import json
import re
import zipfile
from xml.etree import ElementTree

import pytest
from browser_steps import (
    PATIENCE,
    bar,
    choose_demo,
    expect_value,
    fan,
    go_to,
    idle,
    look_for,
    save_picture,
    show,
    start,
    upload,
    value_of,
)
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def vertex(page, key):
    return fan(page).locator(f'[data-key="{key}"][data-id]').first


def wait_for_focus(page, label):
    """Wait until the graph is drawn with a type of this name in its middle."""
    middle = fan(page).locator(".vertex.focus[data-id] text")
    expect(middle.filter(has_text=re.compile(f"^{re.escape(label)}$"))).to_have_count(1)
    expect(fan(page)).to_have_count(1)  # what was there before is gone
    page.wait_for_timeout(600)  # what moves has come to rest


def removable(page):
    """Types that a merge makes, the focus aside."""
    keys = fan(page).evaluate(
        """surface => [...surface.querySelectorAll(".vertex.type[data-id]")]
          .filter((v) => !v.matches(".focus, .ghost") && /rank/.test(v.textContent))
          .map((v) => v.dataset.key)"""
    )
    return list(dict.fromkeys(keys))


def look_at(page, text):
    look_for(page, text)
    wait_for_focus(page, text)
    idle(page)


def wait_for_edits(page, number):
    """Wait until so many edits are in effect, as the tape has it."""
    tape = page.get_by_role("slider", name="Travel along your edits")
    expect(tape).to_have_value(str(number), timeout=PATIENCE)
    idle(page)


def test_the_journey(page, app_address, tmp_path):
    page.set_viewport_size({"width": 1440, "height": 1000})
    start(page, app_address)
    expect(bar(page)).to_contain_text("English 8k")
    assert 0 < float(value_of(page, "F1 %")) < 100
    choose_demo(page, "German", "de")
    explore_and_knock_out(page)
    knock_out_another(page)
    knock_out_by_threshold(page)
    save_and_replay(page, tmp_path)


def explore_and_knock_out(page):
    show(page, "Type")
    look_at(page, "ung")
    key = removable(page)[0]
    vertex(page, key).click()
    label = vertex(page, key).locator("text").text_content() or ""
    expect(page.get_by_role("heading", name=label, exact=True)).to_be_visible()
    idle(page)
    expect(page.get_by_text("times that it joins two parts")).to_be_visible()

    # A double click goes there, and the middle is what is knocked out then.
    vertex(page, key).dblclick()
    wait_for_focus(page, label)
    look_at(page, "ung")
    check_labels(page)

    before = value_of(page, "F1 %")
    page.locator(".st-key-knock-out button").first.click()
    wait_for_edits(page, 1)
    after = value_of(page, "F1 %")
    assert float(after) != float(before)
    expect(fan(page).locator(".vertex.focus.ghost")).to_be_visible()
    check_labels(page)
    with page.expect_download() as download:
        save_picture(page, "Download as SVG")
    picture = ElementTree.parse(download.value.path())
    drawn = list(picture.iter("{http://www.w3.org/2000/svg}text"))
    struck = [text.text for text in drawn if text.get("text-decoration") == "line-through"]
    assert "ung" in struck
    assert len(drawn) == fan(page).locator(".vertex[data-id]").count()

    page.get_by_role("button", name="Bring it back").click()
    expect_value(page, "F1 %", before)
    by_keyboard(page, before, after)


def check_labels(page):
    """All text lies in its box, whatever its font."""
    outside = fan(page).evaluate(
        """surface => [...surface.querySelectorAll(".vertex[data-id]")].filter((vertex) => {
          const text = vertex.querySelector("text").getBBox();
          const box = vertex.querySelector(".box").getBBox();
          return text.x < box.x + 3 || text.x + text.width > box.x + box.width - 3
            || text.y < box.y || text.y + text.height > box.y + box.height;
        }).map((vertex) => vertex.querySelector("text").textContent)"""
    )
    assert outside == []


def by_keyboard(page, before, after):
    """Reach a vertex, look at it, go there and back, and knock it out: no mouse."""
    idle(page)
    middle = fan(page).locator(".vertex.focus")
    middle.focus()
    page.keyboard.press("ArrowLeft")
    box = fan(page).locator(".vertex:focus")
    expect(box).to_have_class(re.compile("merge"))
    expect(box).to_have_attribute("aria-label", re.compile(r"^merge .* → ung, rank .* blame"))
    page.keyboard.press("ArrowLeft")
    part = fan(page).locator(".vertex:focus")
    label = part.locator("text").text_content() or ""
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=label, exact=True)).to_be_visible()
    page.keyboard.press("Shift+Enter")
    wait_for_focus(page, label)
    look_at(page, "ung")
    middle.focus()
    page.keyboard.press("Enter")
    idle(page)
    page.locator(".st-key-knock-out button").first.press("Enter")
    wait_for_edits(page, 1)
    expect_value(page, "F1 %", after)


def knock_out_another(page):
    """Fast clicks in the fan: the last one is chosen, and a key knocks it out."""
    keys = removable(page)[-4:]
    fan(page).evaluate(
        """(surface, keys) => {
          for (const key of keys) {
            const vertex = surface.querySelector(`[data-key="${key}"][data-id]`);
            vertex.dispatchEvent(new MouseEvent("click", { bubbles: true }));
          }
        }""",
        keys,
    )
    label = vertex(page, keys[-1]).locator("text").text_content() or ""
    expect(page.get_by_role("heading", name=label, exact=True)).to_be_visible()
    idle(page)
    page.keyboard.press("k")
    wait_for_edits(page, 2)
    expect(page.get_by_role("button", name="Bring it back")).to_be_visible()


def knock_out_by_threshold(page):
    go_to(page, "Repair")
    slider = page.get_by_role("slider", name="Knock out merges")
    slider.focus()
    for _ in range(10):
        slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^60\s%"))
    idle(page)
    button = page.get_by_role("button", name=re.compile(r"Knock out [\d,]+ types"))
    gone = int(button.inner_text().split()[-2].replace(",", ""))
    assert gone > 10
    button.click()
    wait_for_edits(page, 3)


def save_and_replay(page, tmp_path):
    go_to(page, "Workbench")
    score = value_of(page, "F1 %")
    go_to(page, "History and export")
    page.get_by_text("More files").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Recipe", exact=True).click()
    recipe = tmp_path / "recipe.json"
    download.value.save_as(recipe)
    assert len(json.loads(recipe.read_text("utf-8"))["steps"]) == 3
    page.get_by_text("With tuple merges").locator("xpath=ancestor::label").click()
    idle(page)
    page.get_by_role("button", name="Check and prepare").click()
    archive = page.get_by_role("button", name="Download", exact=True)
    expect(archive).to_be_visible(timeout=PATIENCE)
    with page.expect_download() as download:
        archive.click()
    assert zipfile.is_zipfile(download.value.path())
    # A click on an edit goes there: to the second, and to how it was opened.
    edits = page.get_by_role("dialog").locator("[class*=st-key-edit-] button")
    for step in (2, 0):
        edits.nth(step).click()
        expect(page.locator(f"[class*=st-key-edit-{step}-now]")).to_be_visible(timeout=PATIENCE)
        idle(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert value_of(page, "F1 %") != score
    upload(page, "", ("recipe.json", recipe.read_bytes()))
    expect(page.get_by_text("3 edits of recipe.json replayed.")).to_be_visible()
    expect_value(page, "F1 %", score)
    wait_for_edits(page, 3)

"""The Workbench: one word and one type, whatever shows them, and one key that repairs."""

import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from browser_steps import (
    PATIENCE,
    cell_of,
    expect_value,
    fan,
    grid_with,
    idle,
    save_picture,
    show,
    start,
    tree,
    value_of,
)
from effort import one_of
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

# In the page and the components: what is not of a text, a picture, or a list.
ALL = """() => {
  const within = (root) => [...root.querySelectorAll("*")].flatMap((one) => (
    one.shadowRoot ? [one, ...within(one.shadowRoot)] : [one]
  ));
"""
FIRST_PLACE = (
    ALL
    + """const look = () => {
    const part = within(document).find((one) => one.ariaLabel?.startsWith("type es,"));
    if (!part) return requestAnimationFrame(look);
    for (const one of part.getAnimations()) one.pause();
    requestAnimationFrame(() => {
      for (const one of part.getAnimations()) one.currentTime = 0;
      const { x, y, width, height } = part.querySelector(".box").getBoundingClientRect();
      globalThis.__first = [x + width / 2, y + height / 2];
    });
  };
  look();
}"""
)
# What can be clicked, but for what is of a text, a picture, or a list.
CLICKABLE = (
    ALL
    + """const kinds = "button, a[href], input, select, textarea, summary, [role=button]";
  const own = ".text, .tree, .fan, .rows, .below, .tape";
  const isSeen = (one) => {
    const { top, bottom, width } = one.getBoundingClientRect();
    const is = one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    return is && width > 2 && bottom > 0 && top < innerHeight;
  };
  return within(document)
    .filter((one) => one.matches(kinds) && !one.matches(":disabled") && !one.closest(own))
    .filter(isSeen)
    .map((one) => (one.innerText || one.ariaLabel).replaceAll(/\\s+/g, " "));
}"""
)
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def text_field(page):
    return page.get_by_role("textbox", name="A word, or any text")


def token(page, text):
    return page.locator(".token", has_text=re.compile(f"^{text}$"))


def chosen(page, name):
    """The name in the panel."""
    return page.get_by_role("heading", name=name, exact=True)


def test_one_key_knocks_out_and_everything_follows(page, app_address):
    start(page, app_address)
    before = value_of(page, "F1 %")
    expect(chosen(page, "ies")).to_be_visible()
    promise = page.get_by_text(re.compile(r"^F1 [\d.]+ → ")).inner_text()
    page.keyboard.press("k")
    expect(page.get_by_role("button", name="Bring it back")).to_be_visible()
    idle(page)
    after = value_of(page, "F1 %")
    assert f"{before} → {after}" in promise and float(after) > float(before)
    expect(token(page, "ies")).to_have_count(0)
    expect(token(page, "es").first).to_have_class(re.compile("changed"))
    expect(tree(page).locator("svg desc")).to_contain_text("before the edits")
    page.keyboard.press("z")
    expect_value(page, "F1 %", before)
    expect(token(page, "ies").first).to_be_visible()
    idle(page)
    page.keyboard.press("Shift+z")
    expect_value(page, "F1 %", after)
    idle(page)


def test_letters_are_letters_while_one_types(page, app_address):
    start(page, app_address)
    field = text_field(page)
    field.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(" kz/k undesirable <b>")
    page.keyboard.press("Enter")
    idle(page)
    expect(page.get_by_role("button", name="Undo").first).to_be_disabled()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".words b")).to_have_count(0)
    seen = [field.input_value()]
    for _ in range(2):
        page.get_by_role("button", name="another text").click()
        expect(field).not_to_have_value(seen[-1])
        idle(page)
        seen.append(field.input_value())
    assert len(set(seen)) == 3


def test_what_is_chosen_anywhere_is_chosen_everywhere(page, app_address):
    page.set_viewport_size({"width": 1440, "height": 1100})
    start(page, app_address)
    told = tree(page).locator("svg desc")
    token(page, "ating").click()
    expect(chosen(page, "ating")).to_be_visible()
    expect(told).to_contain_text("Gold: under estimat ing.")
    # A box of the tree.
    box = tree(page).locator("g[data-type]", has_text=re.compile("^re6"))
    box.click()
    expect(chosen(page, "re")).to_be_visible()
    expect(box).to_have_class(re.compile("chosen"))
    # The fan is around it; a click there chooses, a double click centres.
    show(page, "Type")
    middle = fan(page).locator(".vertex.focus[data-id] text")
    expect(middle).to_have_text("re")
    part = fan(page).locator(".vertex.type[data-id]", has_text=re.compile("^r\n")).first
    part.click()
    expect(chosen(page, "r")).to_be_visible()
    expect(middle).to_have_text("re")
    idle(page)
    part.dblclick()
    expect(middle).to_have_text("r")
    idle(page)
    page.go_back()
    expect(middle).to_have_text("re")
    idle(page)
    # Those that are not drawn are listed with all types; a row of the table chooses.
    fan(page).locator(".vertex.more[data-id]").first.click()
    expect(page.get_by_role("application")).to_be_visible(timeout=PATIENCE)
    idle(page)
    expect(page.get_by_text(re.compile(r"^\d+ uses re$"))).to_be_visible()
    grid = grid_with(page, "blame")
    name = cell_of(grid, 0, 0).inner_text()
    at = {"x": 60, "y": 52}
    grid.locator(".dvn-scroller").hover(position=at)
    page.wait_for_timeout(300)
    grid.locator(".dvn-scroller").click(position=at)
    expect(chosen(page, name)).to_be_visible()
    idle(page)
    # A word beside it shows its tree.
    row = page.locator(".rows button").first
    spelt = (row.get_attribute("aria-label") or "").split("tree of ")[1].rstrip(".")
    row.click()
    expect(told).to_be_attached()
    page.wait_for_url(re.compile(f"word={spelt}"))


def test_a_region_of_the_map_is_listed(page, app_address):
    start(page, app_address)
    show(page, "All types")
    region = page.get_by_role("application")
    box = region.bounding_box()
    page.mouse.move(box["x"] + 0.15 * box["width"], box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 30, steps=4)
    page.mouse.up()
    expect(page.get_by_text(re.compile(r"^[\d,]+ in the region$"))).to_be_visible()
    idle(page)
    region.press("Escape")
    expect(page.get_by_text(re.compile(r"^[\d,]+ in the region$"))).to_have_count(0)


@pytest.mark.parametrize("word", one_of("straße日本", "unhappily", "antidisestablishment" * 9))
def test_downloads_are_the_picture(page, app_address, tmp_path, word):
    """A long word too: its PNG stays within what a canvas can hold."""
    start(page, app_address)
    text_field(page).fill(word)
    text_field(page).press("Enter")  # what is typed over becomes chips, which may be higher
    expect(tree(page).locator("svg")).to_contain_text(word[-1])
    page.wait_for_url(re.compile("word=(?!bakeries)"))
    idle(page)
    saved = {}
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            save_picture(page, f"Download as {kind}")
        assert download.value.suggested_filename == f"merge-tree-{word}"[:51] + f".{kind.lower()}"
        saved[kind] = Path(download.value.path()).read_bytes()
    picture = ElementTree.fromstring(saved["SVG"])
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    width, height = int(picture.get("width") or 0), int(picture.get("height") or 0)
    drawn = ["".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    labels = tree(page).locator("g > text:first-of-type").all_text_contents()
    assert set(labels) <= set(drawn)
    assert saved["PNG"].startswith(PNG_SIGNATURE)
    size = struct.unpack(">II", saved["PNG"][16:24])
    scale = min(2, 16000 / width)
    assert size == pytest.approx((width * scale, height * scale), abs=1)
    assert len(saved["PNG"]) > 5_000  # it is not blank


def test_there_are_few_things_to_click_at_first_sight(page, app_address):
    """At most 14, beside those of the text, the picture and the lists."""
    page.set_viewport_size({"width": 1440, "height": 900})
    start(page, app_address)
    found = page.evaluate(CLICKABLE)
    print(f"{len(found)} things to click at first sight: {', '.join(found)}")
    assert len(found) <= 14, found


def test_a_picture_has_the_whole_screen(page, app_address):
    start(page, app_address)
    for name, picture in {"Word": tree(page), "Type": fan(page)}.items():
        show(page, name)
        small = picture.bounding_box()
        page.get_by_role("button", name="Full screen").click()
        expect(page.locator(":fullscreen")).to_have_count(1)
        page.wait_for_timeout(500)
        large = picture.bounding_box()
        assert large is not None and large["width"] > 1.2 * small["width"]
        page.evaluate("document.exitFullscreen()")
        expect(page.locator(":fullscreen")).to_have_count(0)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_from_a_word_to_its_type_the_boxes_move(new_page, app_address, motion):
    page = new_page(reduced_motion=motion)
    start(page, app_address)
    box = tree(page).locator("g[data-type]", has_text=re.compile("^es26")).bounding_box()
    page.evaluate(FIRST_PLACE)
    show(page, "Type")
    [x, y] = page.evaluate("__first")
    was = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert ((x, y) == pytest.approx(was, abs=3)) == (motion == "no-preference")


def look_for(page, text):
    idle(page)
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="A page, an action, a type, or any word")
    expect(field).to_be_focused(timeout=PATIENCE)
    page.keyboard.type(text)
    page.wait_for_timeout(300)
    page.keyboard.press("Enter")


def test_anything_is_a_few_keys_away(page, app_address):
    start(page, app_address)
    look_for(page, "king · type")
    expect(fan(page).locator(".vertex.focus[data-id] text")).to_have_text("king", timeout=PATIENCE)
    page.locator(".st-key-knock-out button").first.click()
    undo = page.get_by_role("button", name="Undo").first
    expect(undo).to_be_enabled(timeout=PATIENCE)
    look_for(page, "Keep a copy")
    page.get_by_role("textbox", name="Keep the present state as").fill("without king")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Kept as “without king”")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("dialog")).to_have_count(0)
    look_for(page, "Undo")
    expect(undo).to_be_disabled(timeout=PATIENCE)
    look_for(page, "unhappily")
    page.wait_for_url(re.compile("word=unhappily"))
    expect(tree(page).locator("svg desc")).to_contain_text("app ily")
    look_for(page, "Compare")
    page.wait_for_url(re.compile("/Compare"))

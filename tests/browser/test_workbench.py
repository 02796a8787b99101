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
    look_for,
    save_picture,
    show,
    start,
    text_field,
    to_click,
    tree,
    value_of,
)
from effort import one_of
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def token(page, text):
    return page.locator(".token", has_text=re.compile(f"^{text}$"))


def chosen(page, name):
    return page.get_by_role("heading", name=name, exact=True)


def test_one_key_knocks_out_and_everything_follows_unless_one_types(page, app_address):
    page.set_viewport_size({"width": 1440, "height": 900})
    start(page, app_address)
    assert len(to_click(page)) <= 14, to_click(page)
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
    page.keyboard.press("z")
    idle(page)
    # Letters are letters while one types.
    field = text_field(page)
    field.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(" kz/k undesirable <b>")
    page.keyboard.press("Enter")
    idle(page)
    expect(page.get_by_role("button", name="Undo").first).to_be_disabled()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".words b")).to_have_count(0)
    before = field.input_value()
    page.get_by_role("button", name="another text").click()
    expect(field).not_to_have_value(before)
    idle(page)
    # By hand too: the pointer and the focus stay where they were.
    knock_out = page.locator(".st-key-knock-out button").first
    bring_back = page.get_by_role("button", name="Bring it back")
    box = knock_out.bounding_box()
    knock_out.click()
    expect(bring_back).to_be_focused()
    assert bring_back.bounding_box() == {**box, "width": bring_back.bounding_box()["width"]}
    page.keyboard.press("Enter")
    expect(knock_out).to_be_focused()
    page.keyboard.press("Enter")
    expect(bring_back).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^1 edit made, 1 in all: F1 "))


def test_what_is_chosen_anywhere_is_chosen_everywhere(page, app_address):
    page.set_viewport_size({"width": 1440, "height": 1100})
    start(page, app_address)
    told = tree(page).locator("svg desc")
    check_full_screen(page, tree(page))
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
    check_full_screen(page, fan(page))
    middle = fan(page).locator(".vertex.focus[data-id] text")
    expect(middle).to_have_text("re")
    part = fan(page).locator(".vertex.type[data-id]", has_text=re.compile("^r\n")).first
    part.click()
    expect(chosen(page, "r")).to_be_visible()
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
    # A region of the map is listed.
    region = page.get_by_role("application")
    box = region.bounding_box()
    page.mouse.move(box["x"] + 0.15 * box["width"], box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 30, steps=4)
    page.mouse.up()
    listed = page.get_by_text(re.compile(r"^[\d,]+ in the region$"))
    expect(listed).to_be_visible()
    idle(page)
    region.press("Escape")
    expect(listed).to_have_count(0)
    idle(page)
    # A word beside it shows its tree.
    row = page.locator(".rows button").first
    spelt = (row.get_attribute("aria-label") or "").split("tree of ")[1].rstrip(".")
    row.click()
    expect(told).to_be_attached()
    page.wait_for_url(re.compile(f"word={spelt}"))
    idle(page)
    # A click in the free layout shows that type in the fan.
    show(page, "Type")
    page.locator(".st-key-canvas-menu button").click()
    page.get_by_text("Free layout").click()
    frame = page.frame_locator('iframe[title="Free layout"]')
    expect(frame.locator("canvas")).to_be_visible()
    inner = next(frame for frame in page.frames if frame.url.endswith("/frame"))
    inner.wait_for_function("network.body.nodeIndices.length > 3")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    # The last type that is not the focus.
    label, x, y = inner.evaluate(
        """() => {
          const isOther = ({ id, borderWidth }) => id[0] === "t" && borderWidth < 3;
          const chosen = nodes.get().filter(isOther).pop();
          const { x, y } = network.canvasToDOM(network.getPosition(chosen.id));
          return [chosen.label, x, y];
        }"""
    )
    before = page.url
    frame.locator("canvas").click(position={"x": x, "y": y})
    expect(frame.locator("canvas")).to_have_count(0)
    expect(fan(page)).to_be_visible()
    expect(page).not_to_have_url(before)
    expect(page).to_have_url(re.compile("type="))
    expect(fan(page)).to_contain_text(label)


COPIED = """
async () => {
  const [item] = await navigator.clipboard.read();
  const image = await createImageBitmap(await item.getType("image/png"));
  const { width, height } = image;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  return [width, height, new Set(pixels).size, ...context.getImageData(2, 2, 1, 1).data];
}
"""


@pytest.mark.parametrize("word", one_of("straße日本", "unhappily", "antidisestablishment" * 9))
def test_copies_and_downloads_are_the_picture(new_page, app_address, word):
    """A long word too: its PNG stays within what a canvas can hold.

    A copy is saved where the clipboard is refused.
    """
    page = new_page(color_scheme="dark", permissions=["clipboard-read", "clipboard-write"])
    start(page, app_address)
    show(page, "Type")
    save_picture(page, "Copy picture")
    expect(page.locator(".copied")).to_have_text("Copied")
    width, height, colours, *paper = page.evaluate(COPIED)
    assert width > 500 and height > 200 and colours > 50
    assert max(paper[:3]) < 60 and paper[3] == 255, "that of the dark theme"
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    with page.expect_download() as download:
        save_picture(page, "Copy picture")
    assert download.value.suggested_filename == "merge-graph.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    expect(page.locator(".copied")).to_have_text("Saved as PNG")
    show(page, "Word")
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
    assert saved["PNG"].startswith(b"\x89PNG\r\n\x1a\n")
    size = struct.unpack(">II", saved["PNG"][16:24])
    scale = min(2, 16000 / width)
    assert size == pytest.approx((width * scale, height * scale), abs=1)
    assert len(saved["PNG"]) > 5_000  # it is not blank


def check_full_screen(page, picture):
    small = picture.bounding_box()
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator(":fullscreen")).to_have_count(1)
    page.wait_for_timeout(500)
    assert picture.bounding_box()["width"] > 1.2 * small["width"]
    page.evaluate("document.exitFullscreen()")
    expect(page.locator(":fullscreen")).to_have_count(0)


SHARED = Path(__file__).resolve().parents[2] / "web" / "components" / "shared.js"
CALLS = """
class View {
  constructor() { made.push(this); }
  update({ data }) { this.shown = data; }
  dispose() { this.gone = (this.gone ?? 0) + 1; }
}
const made = [], show = component(View), parentElement = document.createElement("div");
document.body.append(parentElement);
const [late, last] = [1, 2].map((data) => show({ data, parentElement }));
late();
show({ data: 1, parentElement })(); // late in coming, too
const during = made.map(({ shown, gone }) => [shown, gone ?? 0]);
parentElement.remove();
last();
last();
return [during, made.map(({ gone }) => gone)];
"""


def test_a_view_lives_as_long_as_its_element(page):
    """Streamlit cleans up a call that newer data overtook, though its element stays."""
    code = SHARED.read_text(encoding="utf-8") + CALLS
    assert page.evaluate(f"() => {{ {code} }}") == [[[2, 0]], [1]]


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

"""What all components share, in a page of its own."""

from pathlib import Path

import pytest
from browser_steps import save_picture, show, start
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

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


def check_copied(page):
    width, height, colours, *paper = page.evaluate(COPIED)
    assert width > 500 and height > 200 and colours > 50
    assert max(paper[:3]) < 60 and paper[3] == 255, "that of the dark theme"


def test_a_picture_is_copied_or_saved_where_the_clipboard_is_refused(new_page, app_address):
    may = ["clipboard-read", "clipboard-write"]
    page = new_page(color_scheme="dark", permissions=may)
    start(page, app_address)
    show(page, "Type")
    save_picture(page, "Copy picture")
    expect(page.locator(".copied")).to_have_text("Copied")
    check_copied(page)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    with page.expect_download() as download:
        save_picture(page, "Copy picture")
    assert download.value.suggested_filename == "merge-graph.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    expect(page.locator(".copied")).to_have_text("Saved as PNG")

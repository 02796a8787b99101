"""The comparison in a real Chromium: words pasted, methods chosen, filtered, looked into, taken."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest
from browser_steps import PATIENCE, idle
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_the_table_is_saved_and_copied_as_a_picture(
    new_page: Callable[..., Page], app_address: str
) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    query = "demo=en&methods=bpe,longest,first&words=carries undesirable"
    page.goto(f"{app_address}/Segmentations?{query}")
    idle(page)
    table = page.get_by_role("region", name="Comparison of segmentations")
    expect(table.locator("td.cell")).to_have_count(6, timeout=PATIENCE)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SVG").click()
    assert download.value.suggested_filename == "segmentations.svg"
    root = ElementTree.parse(download.value.path()).getroot()
    shapes = [(one.tag.rpartition("}")[2], one) for one in root.iter()]
    written = [one.text or "" for name, one in shapes if name == "text"]
    assert {"gold", "BPE", "LONGEST"} <= set(written)
    assert sum(text.startswith("F1 ") for text in written) == 3
    for line in table.locator("tbody .line").all():
        text = "".join(line.inner_text().split())
        assert text in "".join(written), "all that a cell says"
    chips = table.locator("tbody :is(.chip, .cut)")
    assert sum(name == "rect" for name, _ in shapes) == chips.count() + 1, "with the paper"
    # On a phone, scrolled sideways, its columns do not lie on each other.
    page.set_viewport_size({"width": 390, "height": 844})
    wide = page.locator(".st-key-compare-wide")
    wide.evaluate("e => { e.style.width = '200px'; e.scrollTo(150, 0); }")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SVG").dispatch_event("click")
    root = ElementTree.parse(download.value.path()).getroot()
    places = {one.text: float(one.get("x", 0)) for one in root.iter() if one.text}
    assert places["gold"] < 5 and places["carri"] < 10
    page.get_by_role("button", name="Copy picture").click()
    expect(page.locator(".copied")).to_have_text("Copied")

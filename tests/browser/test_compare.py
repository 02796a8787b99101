"""The comparison in a real Chromium: words pasted, methods chosen, filtered, looked into, taken."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest
from browser_steps import PATIENCE, go_to, idle, pick, start
from effort import one_of
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

METHODS = ["BPE", "BPE-dropout", "FLOTA", "FIRST", "LONGEST", "Greedy"]


def choose_methods(page: Page, names: list[str]) -> None:
    """Choose these methods, in this order."""
    page.get_by_role("button", name="Methods").click()
    box = page.get_by_test_id("stMultiSelect").filter(has_text="Methods")
    box.get_by_role("button", name="Clear").click()
    idle(page)
    for name in names:
        option = page.get_by_role("option", name=name, exact=True)
        if not option.is_visible():
            box.get_by_role("combobox").click()
        pick(option)
        idle(page)
    while box.is_visible():  # the list of options closes first, if it is open
        page.keyboard.press("Escape")
        page.wait_for_timeout(500)


@pytest.mark.parametrize("scheme", one_of("dark", "light"))
def test_the_journey(
    new_page: Callable[..., Page],
    app_address: str,
    scheme: str,
) -> None:
    page = new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
    start(page, app_address)
    go_to(page, "Segmentations")
    table = page.get_by_role("region", name="Comparison of segmentations")
    # The remedies of the literature, those that are trained once they are, and the words high up.
    expect(table.locator("td.cell").nth(3)).to_be_visible(timeout=PATIENCE)
    expect(table.locator("td.waiting")).to_have_count(0, timeout=PATIENCE)
    # What stands above a column sets it.
    page.get_by_role("button", name=re.compile("^FLOTA F1")).click()
    page.get_by_role("spinbutton", name="k").fill("1")
    page.keyboard.press("Enter")
    idle(page)
    expect(page.get_by_role("button", name=re.compile("^FLOTA k = 1"))).to_be_visible()
    page.keyboard.press("Escape")
    idle(page)
    for width in (1000, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        idle(page)
        expect(table.locator("thead th")).to_have_count(7)
        assert table.locator("tbody th").first.bounding_box()["y"] < 300
        assert table.evaluate("e => e.scrollWidth - e.clientWidth") == 0
        # What stands above the columns stands above its own.
        places = "all => all.map(one => one.getBoundingClientRect().left)"
        heads = page.locator(".st-key-compare-heads").get_by_role("button").evaluate_all(places)
        cells = table.locator("tbody tr").first.locator("td").evaluate_all(places)
        assert all(abs(one - other) < 12 for one, other in zip(heads, cells, strict=True))
    field = page.get_by_role("textbox", name="Words")
    field.fill("antiaircraft unhappily the")
    field.press("Enter")
    words = table.locator("tbody th")
    expect(words).to_have_count(3, timeout=PATIENCE)
    idle(page)
    page.go_back()
    expect(words).to_have_count(50, timeout=PATIENCE)
    idle(page)
    page.go_forward()
    expect(words).to_have_count(3, timeout=PATIENCE)
    idle(page)
    choose_methods(page, METHODS)
    expect(table.locator("thead th")).to_have_text(
        ["gold", *METHODS[:2], "FLOTA (k=1)", *METHODS[3:]], timeout=PATIENCE
    )
    expect(words).to_have_count(3)

    page.get_by_role("button", name="More").click()
    page.get_by_text("Only where methods disagree").click()
    idle(page)
    page.keyboard.press("Escape")
    expect(words).not_to_have_count(3)
    line = table.locator("tr").filter(has=page.locator("[data-word=antiaircraft]"))
    cell = line.locator("td.cell").nth(0)
    cell.click()
    expect(page.get_by_role("heading", name="BPE: antiaircraft")).to_be_visible()
    expect(page.get_by_role("group", name="Merge tree")).to_be_visible()
    expect(cell).to_have_class("cell chosen")
    line.locator("td.cell").nth(1).click()
    expect(page.get_by_role("heading", name="BPE-dropout: antiaircraft")).to_be_visible()
    idle(page)


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

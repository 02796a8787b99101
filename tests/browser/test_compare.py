"""The comparison in a real Chromium: menus of methods, why a word is cut, the grid as a picture."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import product

import pytest
from browser_steps import PATIENCE, idle, to_click, upload
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def open_grid(page, address, query):
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/Compare?demo=en&{query}")
    grid = page.get_by_role("region", name="Comparison of segmentations")
    expect(grid.locator("td.cell").first).to_be_visible()
    idle(page)
    return grid


def test_methods_are_set_and_words_explained_by_keyboard(page, app_address):
    grid = open_grid(page, app_address, "methods=bpe,dropout,longest&words=undesirable+carries")
    heads = grid.locator("button.name")
    dropout = heads.filter(has_text="BPE-dropout")
    dropout.focus()
    page.keyboard.press("Enter")
    share = page.get_by_role("spinbutton", name="p", exact=True)
    expect(share).to_be_focused()
    share.fill("0.4")
    page.keyboard.press("Tab")
    expect(grid).to_contain_text("p = 0.4")
    expect(page.get_by_role("spinbutton", name="seed")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dropout).to_be_focused()
    # What is out of range is refused.
    page.keyboard.press("Enter")
    share.fill("7")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("p")
    page.get_by_role("button", name="Use as baseline").press("Enter")
    head = grid.get_by_role("columnheader", name=re.compile("BPE-dropout"))
    expect(head).to_contain_text("baseline")
    heads.filter(has_text="LONGEST").press("Enter")
    page.get_by_role("button", name="Remove").press("Enter")
    expect(heads).to_have_count(2)

    grid.locator('tr:has([data-word="undesirable"]) td.cell').first.focus()
    page.keyboard.press("Enter")
    dialogue = page.get_by_role("dialog").filter(has_text="undesirable")
    expect(dialogue).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialogue).to_have_count(0)
    idle(page)
    grid.locator('tr:has([data-word="carries"]) td.cell').first.click()
    page.get_by_role("button", name="Open in the Workbench").click()
    expect(page).not_to_have_url(re.compile("Compare"))


def test_the_grid_is_saved_and_copied_as_a_picture(new_page, app_address):
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    query = "methods=bpe,longest,first&words=carries undesirable"
    grid = open_grid(page, app_address, query)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SVG").click()
    root = ElementTree.parse(download.value.path()).getroot()
    shapes = [(one.tag.rpartition("}")[2], one) for one in root.iter()]
    written = [one.text or "" for name, one in shapes if name == "text"]
    assert {"gold", "BPE", "LONGEST", "F1, all words"} <= set(written)
    for line in grid.locator("tbody .line").all():
        text = "".join(line.inner_text().split())
        assert text in "".join(written), "all that a cell says"
    chips = grid.locator("tbody :is(.chip, .cut)")
    assert sum(name == "rect" for name, _ in shapes) == chips.count() + 1, "with the paper"
    # On a phone, scrolled sideways, its columns do not lie on each other.
    page.set_viewport_size({"width": 390, "height": 844})
    grid.evaluate("e => e.scrollTo(150, 0)")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as SVG").dispatch_event("click")
    root = ElementTree.parse(download.value.path()).getroot()
    places = {one.text: float(one.get("x", 0)) for one in root.iter() if one.text}
    assert places["gold"] < 12 and places["carri"] < 16
    page.get_by_role("button", name="Copy picture").click()
    expect(page.locator(".copied")).to_have_text("Copied")


def test_what_takes_long_says_so_and_can_be_stopped(page, app_address):
    """A second reference of very many words: its reading, and what follows, end at a click."""
    page.set_viewport_size({"width": 1440, "height": 900})
    open_grid(page, app_address, "methods=bpe,flota")
    assert len(to_click(page)) <= 14, to_click(page)
    page.get_by_role("radio", name="Languages").click()
    idle(page)
    page.get_by_role("button", name=re.compile("reference")).filter(has_text="3").click()
    letters = ["".join(four) for four in product("abcdefghijklmnopqr", repeat=4)]
    many = "".join(f"{w}ing\t{w} ing\n" for w in letters).encode()
    upload(page, "One more gold list", ("many.tsv", many))
    expect(page.get_by_text(re.compile(r"many\.tsv, \d+ s …"))).to_be_visible()
    # It is drawn anew every second, so that it may never stand still.
    page.get_by_role("button", name="Stop", exact=True).dispatch_event("click")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    idle(page)
    expect(page.get_by_role("button", name="3 references")).to_be_visible()

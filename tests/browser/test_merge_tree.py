"""Merge trees in a real Chromium: seen in both themes, hovered, clicked and downloaded."""

import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from browser_steps import go_to, idle, start
from effort import one_of
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def open_trees(page: Page, address: str) -> None:
    start(page, address)
    go_to(page, "Merge tree")


def sheet(page: Page) -> Locator:
    return page.get_by_role("group", name="Merge tree")


def show(page: Page, word: str) -> None:
    field = page.get_by_role("textbox", name="Word")
    field.fill(word)
    field.press("Enter")
    expect(sheet(page).locator("svg desc")).to_contain_text("Tokens: ")
    idle(page)


def labels(page: Page) -> list[str]:
    """The first line of each vertex, atoms first."""
    return sheet(page).locator("g > text:first-of-type").all_text_contents()


@pytest.mark.parametrize("word", one_of("straße日本", "unhappily", "antidisestablishment" * 9))
def test_downloads_are_the_picture(page: Page, app_address: str, tmp_path: Path, word: str) -> None:
    """A long word too: its PNG stays within what a canvas can hold."""
    open_trees(page, app_address)
    show(page, word)
    saved = {}
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        assert download.value.suggested_filename == f"merge-tree-{word}"[:51] + f".{kind.lower()}"
        saved[kind] = Path(download.value.path()).read_bytes()
    picture = ElementTree.fromstring(saved["SVG"])
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    width, height = int(picture.get("width") or 0), int(picture.get("height") or 0)
    drawn = ["".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert set(labels(page)) <= set(drawn)
    assert saved["PNG"].startswith(PNG_SIGNATURE)
    size = struct.unpack(">II", saved["PNG"][16:24])
    scale = min(2, 16000 / width)
    assert size == pytest.approx((width * scale, height * scale), abs=1)
    assert len(saved["PNG"]) > 5_000  # it is not blank

"""The comparison in a real Chromium: words pasted, methods chosen, filtered, looked into, taken."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_steps import PATIENCE, go_to, idle, start
from effort import one_of
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

METHODS = ["BPE", "BPE-dropout", "FLOTA", "FIRST", "LONGEST", "Greedy"]


def choose_methods(page: Page, names: list[str]) -> None:
    """Choose these methods, in this order."""
    box = page.get_by_test_id("stMultiSelect").filter(has_text="Methods")
    box.get_by_role("button", name="Clear").click()
    idle(page)
    for name in names:
        box.get_by_role("combobox").click()
        page.get_by_role("option", name=name, exact=True).click()
        page.keyboard.press("Escape")
        idle(page)


@pytest.mark.parametrize("scheme", one_of("dark", "light"))
def test_the_journey(
    new_page: Callable[..., Page],
    app_address: str,
    screenshots: Path,
    tmp_path: Path,
    scheme: str,
) -> None:
    page = new_page(viewport={"width": 1440, "height": 1100}, color_scheme=scheme)
    start(page, app_address)
    go_to(page, "Compare")
    page.get_by_text("type or paste").click()
    field = page.get_by_role("textbox", name="Words or sentences")
    field.fill("antiaircraft unhappily the")
    field.press("Control+Enter")
    idle(page)
    choose_methods(page, METHODS)
    table = page.get_by_role("region", name="Comparison of segmentations")
    expect(table.locator("thead th")).to_have_text(["word", *METHODS], timeout=PATIENCE)
    expect(table.locator("td.word")).to_have_count(3)
    page.screenshot(path=screenshots / f"compare-{scheme}.png", full_page=True)

    page.get_by_text("methods disagree").click()
    idle(page)
    words = table.locator("td.word")
    expect(words.filter(has_text="antiaircraft")).to_have_count(1)
    expect(words).not_to_have_count(3)

    cell = table.locator("tr").filter(has_text="antiaircraft").locator("td.cell").nth(0)
    cell.click()
    expect(page.get_by_role("heading", name="BPE: antiaircraft")).to_be_visible()
    expect(page.get_by_role("group", name="Merge tree")).to_be_visible()
    expect(cell).to_have_class("cell chosen")
    table.locator("tr").filter(has_text="antiaircraft").locator("td.cell").nth(1).click()
    expect(page.get_by_role("heading", name="BPE-dropout: antiaircraft")).to_be_visible()
    idle(page)

    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    path = tmp_path / "comparison.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shown = words.locator(".text").all_inner_texts()
    assert [row["word"] for row in rows] == shown
    assert rows[0]["BPE"].replace(" ", "").removeprefix("Ġ") == rows[0]["word"]

"""Scores and vocabularies in a real Chromium: a newcomer's way from a number to the merge tree."""

import csv
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from browser_steps import PATIENCE, cell_of, choose_row, go_to, grid_with, idle, pick, start, upload
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser


def multiselect(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stMultiSelect").filter(has_text=re.compile(f"^{label}"))


def add(page: Page, label: str, option: str) -> None:
    """Choose one more in the field with this label."""
    multiselect(page, label).get_by_role("combobox").click()
    pick(page.get_by_role("option", name=option, exact=True))
    page.keyboard.press("Escape")
    idle(page)


def choose(page: Page, label: str, typed: str, option: re.Pattern[str]) -> str:
    """Choose in a long list with this label, after some letters; what was chosen."""
    box = page.get_by_role("combobox", name=re.compile(label))
    box.click()
    page.keyboard.type(typed)
    found = page.get_by_role("option", name=option).first
    text = found.inner_text()
    pick(found)
    idle(page)
    return text


def press(page: Page, name: str) -> None:
    """One of several buttons in a row."""
    page.get_by_role("radio", name=name, exact=True).click()
    idle(page)


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    idle(page)


def download(page: Page, name: str, path: Path) -> str:
    with page.expect_download() as found:
        page.get_by_role("button", name=name, exact=True).first.click()
    found.value.save_as(path / found.value.suggested_filename)
    return (path / found.value.suggested_filename).read_text("utf-8")


def test_from_a_score_to_the_merge_tree(
    new_page: Callable[..., Page], app_address: str, tmp_path: Path
) -> None:
    page = new_page(viewport={"width": 1440, "height": 1400}, color_scheme="light")
    page.goto(f"{app_address}/Scores?methods=bpe")
    table = grid_with(page, "Precision % ↑")
    expect(cell_of(table, 0, 0)).to_have_text("BPE", timeout=PATIENCE)
    expect(cell_of(table, 1, 0)).to_have_text("Ideal")

    add(page, "Methods", "FLOTA")
    expect(cell_of(table, 1, 0)).to_have_text("FLOTA", timeout=PATIENCE)
    expect(cell_of(table, 1, 4)).to_have_text(
        re.compile(r"^\d\d\.\d\d?$")  # the number that is sorted by, without stars and interval
    )

    chart = page.get_by_test_id("stPlotlyChart").first
    press(page, "differences")
    expect(chart).to_contain_text("to BPE")

    tab(page, "Where")
    press(page, "Affix")
    expect(page.get_by_test_id("stPlotlyChart")).to_contain_text("-ing")
    tab(page, "Words")

    chosen = choose(page, "With the affix", "-ing", re.compile(r"^-ing "))
    words = grid_with(page, "marked")
    expect(cell_of(words, 0, 0)).to_have_text(re.compile("ing"), timeout=PATIENCE)
    expect(cell_of(words, 1, 0)).to_have_text(re.compile("ing"))
    assert int(chosen.split("(")[1].rstrip(")")) > 20
    word = cell_of(words, 1, 0).text_content() or ""
    tokens = cell_of(words, 1, 2).text_content() or ""
    choose_row(words, 1)
    page.get_by_role("button", name="Open in Merge tree").click()
    page.wait_for_url("**/Merge_tree**", timeout=PATIENCE)
    expect(page.get_by_role("textbox", name="Word")).to_have_value(word)
    tree = page.get_by_role("group", name="Merge tree")
    expect(tree.locator("svg desc")).to_contain_text(f"Tokens: {tokens}.")
    idle(page)

    # Back, with what was chosen.
    go_to(page, "Scores")
    expect(cell_of(table, 1, 0)).to_have_text("FLOTA", timeout=PATIENCE)
    shown = cell_of(table, 1, 2).text_content() or ""
    [_, row, *_] = csv.DictReader(download(page, "CSV", tmp_path).splitlines())
    assert row["tokeniser"] == "FLOTA"
    assert shown.startswith(f"{100 * float(row['precision']):.2f}")


def test_what_takes_long_says_so_and_can_be_stopped(page: Page, app_address: str) -> None:
    """A second reference of very many words: its reading, and what follows, end at a click."""
    start(page, app_address)
    go_to(page, "Scores")
    page.get_by_text("Other references, frequencies and models").click()
    page.get_by_role("tab", name="Score on one more").click()
    letters = ["".join(four) for four in product("abcdefghijklmnopqr", repeat=4)]
    many = "".join(f"{w}ing\t{w} ing\n" for w in letters).encode()
    upload(page, "One more gold list", ("many.tsv", many))
    expect(page.get_by_text(re.compile(r"many\.tsv, \d+ s …"))).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    idle(page)
    chosen = page.get_by_test_id("stMultiSelect").filter(has_text="References")
    expect(chosen).to_contain_text("demo:en")
    expect(chosen).not_to_contain_text("many.tsv")

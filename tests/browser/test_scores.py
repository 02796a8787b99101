"""Scores in a real Chromium: what takes long can be stopped."""

import re
from itertools import product

import pytest
from browser_steps import PATIENCE, go_to, idle, start, upload
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    idle(page)


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

"""A reload in a real Chromium loses nothing, and asks nothing."""

import re

import pytest
from browser_steps import PATIENCE, bar, choose_demo, go_to, idle, remedy, start, upload, value_of
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

GOLD = "".join(f"un{stem}able\tun {stem} able\n" for stem in ("break", "read", "think", "drink"))


def reloaded(page, tokeniser, reference):
    """Reload, and find the same open as before."""
    page.reload()
    expect(bar(page)).to_contain_text(tokeniser, timeout=PATIENCE)
    expect(bar(page)).to_contain_text(reference)
    idle(page)


def test_what_was_open_comes_back_in_each_tab(new_page, app_address):
    page = new_page()
    start(page, app_address)
    upload(page, "", ("mine.tsv", GOLD.encode()))
    expect(bar(page)).to_contain_text("mine.tsv, 4 words", timeout=PATIENCE)
    expect(page.get_by_text("mine.tsv: 4 words read, nothing skipped")).to_be_visible()
    expect(page).to_have_url(re.compile("/Compare"))  # all figures on it
    idle(page)
    remedy(page, "ReBPE")
    for _ in range(2):
        page.get_by_role("button", name="Step").click()
        idle(page)
    expect(page.get_by_role("heading", name="ReBPE: 2 phases")).to_be_visible()
    idle(page)
    score = value_of(page, "F1 %")
    assert "morphgraph" not in page.url.split("//")[1]  # no token in an address to be shared

    # Streamlit itself asks in vain for files below the address of a page, so from the first one.
    go_to(page, "Workbench")
    reloaded(page, "English 8k", "mine.tsv, 4 words")
    assert value_of(page, "F1 %") == score
    remedy(page, "ReBPE")
    expect(page.get_by_role("heading", name="ReBPE: 2 phases")).to_be_visible()
    go_to(page, "Workbench")

    # A second tab has the same open at first, and goes its own way.
    other = page.context.new_page()
    start(other, app_address)
    expect(bar(other)).to_contain_text("mine.tsv, 4 words")
    choose_demo(other, "German", "de")
    reloaded(page, "English 8k", "mine.tsv, 4 words")
    reloaded(other, "German 8k", "German, 618 words")

    # What one tab does leaves the other its way back.
    page.evaluate("document.cookie = 'morphgraph-tab=0a1b2c3d; path=/'")
    go_to(page, "Compare")
    idle(page)
    assert "morphgraph-tab=0a1b2c3d" in page.evaluate("document.cookie")

    # Another browser sees none of it.
    stranger = new_page()
    start(stranger, app_address)
    expect(bar(stranger)).to_contain_text("English, 939 words")

"""Files that are too large, or would do harm, in a real Chromium: the session goes on."""

import json
import re

import pytest
from browser_steps import PATIENCE, bar, go_to, idle, pick, upload, uploader
from browser_steps import start as begin
from playwright.sync_api import expect
from small import small_document

pytestmark = pytest.mark.browser

IMAGE = "<img/src=''onerror=alert(1)>"


@pytest.fixture
def start(page, app_address):
    """The start page, with a watch for alerts."""

    def refuse(dialog):
        dialog.dismiss()
        pytest.fail(f"a script in a file was run: {dialog.message}")

    page.on("dialog", refuse)
    begin(page, app_address)
    return page


SMALLER = re.compile(r"(1000\.0MB|1\.0GB) or smaller")


def test_a_file_of_over_a_gigabyte_is_refused_before_it_is_sent(start, tmp_path):
    huge = tmp_path / "tokenizer.json"
    with huge.open("wb") as file:
        file.truncate(1_100_000_000)
    uploader(start, "").locator("input[type=file]").set_input_files(str(huge))
    refused = uploader(start, "")
    expect(refused.get_by_text(SMALLER)).to_be_visible(timeout=PATIENCE)
    refused.get_by_role("button", name="Remove").click()
    expect(refused).to_be_hidden()
    works(start)


def test_a_type_that_looks_like_html_is_text(start, hostile_files):
    upload(start, "", ("tokenizer.json", hostile_files["tokenizer.json"]))
    expect(bar(start)).to_contain_text("types", timeout=PATIENCE)
    idle(start)
    upload(start, "", ("gold.tsv", hostile_files["gold.tsv"]))
    expect(bar(start)).to_contain_text("gold.tsv", timeout=PATIENCE)
    idle(start)
    start.keyboard.press("Control+k")
    start.get_by_role("dialog").get_by_role("combobox").fill("<img")
    pick(start.get_by_role("option", name=IMAGE).first)
    expect(start.get_by_role("heading", name=IMAGE, exact=True)).to_be_visible()
    start.locator(".st-key-knock-out button").first.click()
    expect(start.get_by_text("in its place")).to_be_visible()
    for page in ("Repair", "Compare", "History and export", "Workbench"):
        go_to(start, page)
        there = start.get_by_role("button", name="Undo")
        expect(there.first).to_be_visible(timeout=PATIENCE)
        idle(start)
        assert start.locator("img[onerror]").count() == 0
        start.keyboard.press("Escape")  # closes the drawer
    assert start.locator("a[href^=javascript]").count() == 0


@pytest.fixture
def hostile_files():
    """A tokeniser and a reference with names that would do harm as HTML or Markdown."""
    link = "[a](javascript:alert(1))"
    merges = [[IMAGE[:4], IMAGE[4:]], ["**", link], [IMAGE, "**" + link], ["u", "n"]]
    gold = f"un\tu n\n<img_src=x>\t<img _src=x>\n{link}\t[a] (javascript:alert(1))\n"
    return {
        "tokenizer.json": json.dumps(small_document(merges, "un")).encode(),
        "gold.tsv": gold.encode(),
    }


def works(page):
    """A type can be knocked out and brought back, and elsewhere the message is gone."""
    page.locator(".st-key-knock-out button").first.click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_enabled(timeout=PATIENCE)
    undo.click()
    expect(undo).to_be_disabled(timeout=PATIENCE)
    go_to(page, "Compare")
    go_to(page, "Workbench")
    expect(page.get_by_test_id("stAlert")).to_have_count(0, timeout=PATIENCE)
    idle(page)

"""Files that cannot be read, in a real Chromium: each gets a message, and the session goes on."""

import json
import re
from pathlib import Path

import pytest
from browser_steps import PATIENCE, bar, go_to, idle, pick, upload, uploader
from browser_steps import start as begin
from hostile.files import FILES
from playwright.sync_api import Dialog, Page, expect
from small import small_document

pytestmark = pytest.mark.browser

IMAGE = "<img/src=''onerror=alert(1)>"

MERGES = {"vocab.json": b'{"a": 0, "b": 1, "ab": 2}', "merges.txt": b"a b\nab c\n"}
LATIN = "wählen\twähl en\n".encode("latin-1")
HOSTILE = [
    FILES[name]
    for name in (
        "Replace that doubles 60 times",
        "SentencePiece with a false size",
        "a cell in the last column",
    )
]
BAD: tuple[tuple[str, dict[str, bytes], str], ...] = (
    ("Tokeniser", {"tokenizer.json": b'{"model": {"vocab": {'}, "the JSON is cut off"),
    ("Tokeniser", MERGES, "“c” is not in the vocabulary"),
    *(("Tokeniser", {one.name: one.make()}, one.error) for one in HOSTILE[:2]),
    ("Reference", {"gold.tsv": LATIN}, "the byte 0xE4 is not UTF-8"),
    ("Reference", {"gold.tsv": HOSTILE[2].make()}, "no columns Word and MorphoLexSegm"),
)


@pytest.fixture
def start(page: Page, app_address: str) -> Page:
    """The start page, with a watch for alerts."""

    def refuse(dialog: Dialog) -> None:
        dialog.dismiss()
        pytest.fail(f"a script in a file was run: {dialog.message}")

    page.on("dialog", refuse)
    begin(page, app_address)
    return page


def test_bad_files_get_a_message_and_the_session_goes_on(start: Page) -> None:
    for label, files, message in BAD:
        upload(start, label, *files.items())
        expect(start.get_by_test_id("stAlert")).to_contain_text(message, timeout=PATIENCE)
        expect(start.get_by_test_id("stException")).to_have_count(0)
        works(start)


SMALLER = re.compile(r"(1000\.0MB|1\.0GB) or smaller")


def test_a_file_of_over_a_gigabyte_is_refused_before_it_is_sent(
    start: Page, tmp_path: Path
) -> None:
    huge = tmp_path / "tokenizer.json"
    with huge.open("wb") as file:
        file.truncate(1_100_000_000)
    uploader(start, "Tokeniser").locator("input[type=file]").set_input_files(str(huge))
    expect(uploader(start, "Tokeniser")).to_contain_text(SMALLER, timeout=PATIENCE)
    works(start)


def test_a_type_that_looks_like_html_is_text(start: Page, hostile_files: dict[str, bytes]) -> None:
    upload(start, "Tokeniser", ("tokenizer.json", hostile_files["tokenizer.json"]))
    expect(bar(start)).to_contain_text("types", timeout=PATIENCE)
    idle(start)
    upload(start, "Reference", ("gold.tsv", hostile_files["gold.tsv"]))
    expect(bar(start)).to_contain_text("gold.tsv", timeout=PATIENCE)
    idle(start)
    go_to(start, "Merge graph")
    start.get_by_role("combobox", name="Find a type").fill("<img")
    options = start.get_by_role("option", name=IMAGE)
    pick(options.filter(has=start.get_by_text(IMAGE, exact=True)))
    expect(start.get_by_role("heading", name=IMAGE, exact=True)).to_be_visible()
    start.get_by_role("button", name="Knock out", exact=True).click()
    expect(start.get_by_text(re.compile("^Knocked out; "))).to_be_visible()
    for page in ("Repair", "Compare", "History and export", "Merge graph"):
        go_to(start, page)
        there = start.get_by_role("button", name="Undo")
        expect(there.first).to_be_visible(timeout=PATIENCE)
        idle(start)
        assert start.locator("img[onerror]").count() == 0
    assert start.locator("a[href^=javascript]").count() == 0


@pytest.fixture
def hostile_files() -> dict[str, bytes]:
    """A tokeniser and a reference with names that would do harm as HTML or Markdown."""
    link = "[a](javascript:alert(1))"
    merges = [[IMAGE[:4], IMAGE[4:]], ["**", link], [IMAGE, "**" + link], ["u", "n"]]
    gold = f"un\tu n\n<img_src=x>\t<img _src=x>\n{link}\t[a] (javascript:alert(1))\n"
    return {
        "tokenizer.json": json.dumps(small_document(merges, "un")).encode(),
        "gold.tsv": gold.encode(),
    }


def works(page: Page) -> None:
    """A type can be knocked out and brought back; then the start page again."""
    go_to(page, "Merge graph")
    page.get_by_role("button", name="Knock out", exact=True).click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_enabled(timeout=PATIENCE)
    undo.click()
    expect(undo).to_be_disabled(timeout=PATIENCE)
    go_to(page, "Start")
    expect(page.get_by_role("heading", name="Open your own files")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stAlert")).to_have_count(0, timeout=PATIENCE)
    idle(page)

"""Compare, Build, and files that would do harm, in a real Chromium."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from browser_steps import PATIENCE, bar, go_to, idle, pick, start, to_click, upload, uploader
from playwright.sync_api import expect
from small import small_document

pytestmark = pytest.mark.browser


def open_grid(page, address, query):
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/Compare?demo=en&{query}")
    grid = page.get_by_role("region", name="Comparison of segmentations")
    expect(grid.locator("td.cell").first).to_be_visible()
    idle(page)
    return grid


def test_the_grid_is_saved_as_a_picture_and_set_and_explained_by_keyboard(page, app_address):
    page.set_viewport_size({"width": 1440, "height": 900})
    open_grid(page, app_address, "methods=bpe,flota")
    assert len(to_click(page)) <= 14, to_click(page)
    grid = open_grid(page, app_address, "methods=bpe,dropout,longest&words=undesirable+carries")
    # It is saved as a picture.
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
    page.set_viewport_size({"width": 1440, "height": 900})
    # Its methods are set by keyboard.
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
    # The field of methods, seen once, holds none that is removed.
    page.get_by_role("button", name="Method", exact=True).click()
    expect(page.get_by_role("combobox", name="Methods")).to_be_visible()
    page.keyboard.press("Escape")
    for left, name in (2, "LONGEST"), (1, "BPE-dropout"):
        heads.filter(has_text=name).press("Enter")
        page.get_by_role("button", name="Remove").press("Enter")
        expect(heads).to_have_count(left)
        idle(page)

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


AT_WORK = re.compile(r"(Starting|Starting workers|Running|Writing the report)$")
CELLS = 301


def begin(page):
    """Start the demo with so many cells that nobody is too late to stop them."""
    editor = page.get_by_role("textbox", name="Evaluation", exact=True)
    expect(editor).to_have_value(re.compile("name: demo"))
    rates = ", ".join(f"{number / 1000:g}" for number in range(1, CELLS - 4))
    text = editor.input_value().replace("[en, de, nl]", "[en]")
    editor.fill(text.replace("- dropout(p=0.1)", f"- {{method: dropout, p: [{rates}]}}"))
    editor.press("Control+Enter")
    expect(page.get_by_text(re.compile(f"^{CELLS - 1} cells, about"))).to_be_visible()
    idle(page)
    page.get_by_role("button", name="Start", exact=True).click()


def test_a_run_is_watched_stopped_and_resumed_to_its_report(browser, page, app_address):
    badge, progress = page.locator(".stMarkdownBadge"), page.get_by_test_id("stProgress")
    start(page, app_address)
    go_to(page, "Build")
    # What takes long is drawn anew every second, and ends at a click.
    page.get_by_role("radio", name="Picky BPE").locator("xpath=ancestor::label").click()
    idle(page)
    train, stop = (page.get_by_role("button", name=name, exact=True) for name in ("Train", "Stop"))
    train.click()
    stop.dispatch_event("click")
    expect(stop).to_have_count(0)
    expect(train).to_be_enabled()
    idle(page)
    begin(page)
    expect(badge).to_have_text(AT_WORK)
    done = re.compile(rf"[1-9]\d* of {CELLS} tasks")
    expect(progress).to_contain_text(done, timeout=PATIENCE)
    stop.click()
    expect(badge).to_have_text(re.compile("Stopped$"), timeout=PATIENCE)
    idle(page)
    before = re.search(rf"(\d+) of {CELLS} tasks", progress.inner_text())[1]
    assert 1 <= int(before) < CELLS
    page.get_by_role("button", name="Resume").click()
    expect(badge).to_have_text(AT_WORK)

    # Whoever comes back sees the run at once. The guard is off for the reload: at an address below
    # the first page, Streamlit itself asks for two paths that are not there.
    bare = browser.new_page()
    bare.goto(page.url)
    bare.reload()
    expect(bare.get_by_test_id("stProgress")).to_contain_text(done, timeout=PATIENCE)
    bare.close()

    expect(badge).to_have_text(re.compile("Done$"), timeout=2 * PATIENCE)
    expect(progress).to_contain_text(f"{CELLS} of {CELLS} tasks, {before} done before")
    idle(page)

    page.get_by_text("The whole report").click()
    report = page.frame_locator('iframe[title="Report"]')
    heading = report.get_by_role("heading", name="Remedies on the demo")
    expect(heading).to_be_visible(timeout=PATIENCE)
    # On the words kept aside, as Blame has it.
    expect(report.get_by_role("row", name=re.compile("BPE.*49.57")).first).to_be_visible()


IMAGE = "<img/src=''onerror=alert(1)>"


def test_neither_a_huge_file_nor_html_in_a_small_one_does_harm(page, app_address, tmp_path):
    """Over a gigabyte is refused before it is sent; types and names in a reference are text."""
    start(page, app_address)
    huge = tmp_path / "tokenizer.json"
    with huge.open("wb") as file:
        file.truncate(1_100_000_000)
    refused = uploader(page, "")
    refused.locator("input[type=file]").set_input_files(str(huge))
    smaller = refused.get_by_text(re.compile(r"(1000\.0MB|1\.0GB) or smaller"))
    expect(smaller).to_be_visible(timeout=PATIENCE)
    refused.get_by_role("button", name="Remove").click()
    expect(refused).to_be_hidden()
    page.locator(".st-key-knock-out button").first.click()
    expect(page.get_by_role("button", name="Undo")).to_be_enabled(timeout=PATIENCE)
    idle(page)
    # A type that looks like HTML is text.
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    link = "[a](javascript:alert(1))"
    merges = [[IMAGE[:4], IMAGE[4:]], ["**", link], [IMAGE, "**" + link], ["u", "n"]]
    upload(page, "", ("tokenizer.json", json.dumps(small_document(merges, "un")).encode()))
    expect(bar(page)).to_contain_text("types", timeout=PATIENCE)
    idle(page)
    gold = f"un\tu n\n<img_src=x>\t<img _src=x>\n{link}\t[a] (javascript:alert(1))\n"
    upload(page, "", ("gold.tsv", gold.encode()))
    expect(bar(page)).to_contain_text("gold.tsv", timeout=PATIENCE)
    idle(page)
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("<img")
    pick(page.get_by_role("option", name=IMAGE).first)
    expect(page.get_by_role("heading", name=IMAGE, exact=True)).to_be_visible()
    page.locator(".st-key-knock-out button").first.click()
    expect(page.get_by_text("in its place")).to_be_visible()
    for name in ("Repair", "Compare", "History and export", "Workbench"):
        go_to(page, name)
        there = page.get_by_role("button", name="Undo")
        expect(there.first).to_be_visible(timeout=PATIENCE)
        idle(page)
        assert page.locator("img[onerror]").count() == 0
        page.keyboard.press("Escape")  # closes the drawer
    assert page.locator("a[href^=javascript]").count() == 0
    assert asked == []

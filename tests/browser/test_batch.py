"""Evaluations in a real Chromium: started, watched across a reload, downloaded, stopped."""

import re

import pytest
from browser_steps import PATIENCE, go_to, idle, start
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

EDITABLE = {"languages": "[en, de, nl]", "dropout": "  - dropout(p=0.1)"}
AT_WORK = re.compile(r"(Starting|Starting workers|Running|Writing the report)$")


def begin(page, cells, **replaced):
    """Start the demo with some of its text replaced, which then has so many cells."""
    editor = page.get_by_role("textbox", name="Evaluation", exact=True)
    expect(editor).to_have_value(re.compile("name: demo"))
    text = editor.input_value()
    for before, after in replaced.items():
        assert EDITABLE[before] in text
        text = text.replace(EDITABLE[before], after)
    editor.fill(text)
    editor.press("Control+Enter")
    expect(page.get_by_text(re.compile(f"^{cells} cells, about"))).to_be_visible()
    idle(page)
    page.get_by_role("button", name="Start", exact=True).click()


def badge(page):
    """The state of the run that is shown."""
    return page.locator(".stMarkdownBadge")


def progress(page):
    return page.get_by_test_id("stProgress")


def test_a_run_is_watched_across_a_reload_to_its_report(browser, new_page, app_address):
    page = new_page(viewport={"width": 1400, "height": 1100}, color_scheme="light")
    start(page, app_address)
    go_to(page, "Build")
    begin(page, 5, languages="[en]")
    expect(badge(page)).to_have_text(AT_WORK)
    expect(progress(page)).to_contain_text(re.compile(r"\d of 6 tasks"), timeout=PATIENCE)

    # Whoever comes back sees the run at once. The guard is off for the reload: at an address below
    # the first page, Streamlit itself asks for two paths that are not there.
    bare = browser.new_page()
    bare.goto(page.url)
    bare.reload()
    expect(progress(bare)).to_contain_text(re.compile(r"\d of 6 tasks"), timeout=PATIENCE)
    bare.close()
    page.close()
    page = new_page(viewport={"width": 1400, "height": 1100}, color_scheme="light")
    start(page, app_address)
    go_to(page, "Build")
    expect(progress(page)).to_contain_text(re.compile(r"\d of 6 tasks"), timeout=PATIENCE)
    expect(badge(page)).to_have_text(re.compile("Done$"), timeout=PATIENCE)
    idle(page)

    page.get_by_text("The whole report").click()
    report = page.frame_locator('iframe[title="Report"]')
    expect(report.get_by_role("heading", name="Remedies on the demo")).to_be_visible(
        timeout=PATIENCE
    )
    # On the words kept aside, as Blame has it.
    expect(report.get_by_role("row", name=re.compile("BPE.*49.57")).first).to_be_visible()


def test_a_run_is_stopped_and_resumed(page, app_address):
    start(page, app_address)
    go_to(page, "Build")
    # So many cells that nobody is too late to stop them.
    rates = ", ".join(f"{number / 1000:g}" for number in range(1, 61))
    many = f"  - {{method: dropout, p: [{rates}]}}"
    begin(page, 128, languages="[de, nl]", dropout=many)
    expect(progress(page)).to_contain_text(re.compile(r"[1-9]\d* of 130 tasks"), timeout=PATIENCE)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(badge(page)).to_have_text(re.compile("Stopped$"), timeout=PATIENCE)
    idle(page)
    done = re.search(r"(\d+) of 130 tasks", progress(page).inner_text())
    assert 1 <= int(done[1]) < 130
    page.get_by_role("button", name="Resume").click()
    expect(badge(page)).to_have_text(AT_WORK)
    expect(badge(page)).to_have_text(re.compile("Done$"), timeout=PATIENCE)
    expect(progress(page)).to_contain_text(f"130 of 130 tasks, {done[1]} done before")

"""Back, Forward, a reload, a copied address and a kill of the app: nothing is lost."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from browser_steps import (
    PATIENCE,
    Line,
    bar,
    choose_demo,
    fan,
    go_to,
    idle,
    remedy,
    start,
    text_field,
    upload,
    value_of,
)
from playwright.sync_api import expect

from tests.browser.conftest import free_port

pytestmark = pytest.mark.browser


def slider_of(page):
    return page.get_by_role("slider", name=re.compile("Knock out merges"))


def said(threshold):
    """What the line says of itself at a threshold."""
    return re.compile(rf"^{100 * float(threshold):.0f}\s")


def asked(page):
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def test_the_address_holds_what_is_shown(new_page, app_address):
    page = new_page()
    start(page, app_address)
    field = text_field(page)
    field.fill("unbelievable stories")  # the last word is chosen
    page.wait_for_url(re.compile("text=unbelievable"))
    idle(page)
    assert asked(page)["text"] == "unbelievable stories"
    assert asked(page)["word"] == "stories"

    go_to(page, "Repair")
    page.get_by_role("button", name="Take the best").click()
    idle(page)
    best = asked(page)["threshold"]
    slider = slider_of(page)
    expect(slider).to_have_attribute("aria-valuetext", said(best))
    assert best != "0.50"
    page.go_back()
    expect(field).to_have_value("unbelievable stories", timeout=PATIENCE)
    idle(page)
    page.go_forward()
    expect(slider).to_have_attribute("aria-valuetext", said(best), timeout=PATIENCE)
    idle(page)

    other = new_page()
    other.goto(page.url)
    expect(slider_of(other)).to_have_attribute("aria-valuetext", said(best), timeout=PATIENCE)
    idle(other)


def focus_of(page):
    return fan(page).locator(".vertex.focus[data-id] text")


def other_type(page, name):
    types = fan(page).locator(
        ".vertex.type[data-id]:not(.focus) text", has_text=re.compile(f"^{name}$")
    )
    return types.first


@pytest.mark.soak
def test_a_late_back_takes_no_toggle_back_nor_a_late_toggle_a_step(page, app_address):
    line = Line(page)
    page.goto(f"{app_address}/?demo=en&type=ies")
    expect(focus_of(page)).to_have_text("ies", timeout=PATIENCE)
    idle(page)
    view = page.locator(".st-key-canvas-menu button")
    toggle = page.get_by_text("Knock out what is made from it")
    switch = page.get_by_role("switch", name="Knock out what is made from it")

    # The browser has not heard of the step yet: its click is none back, however late it comes.
    line.is_slow = True
    other_type(page, "es").dblclick()
    line.wait_for_answer()
    view.click()
    toggle.click()
    line.wait_for_answer()
    line.catch_up()
    expect(focus_of(page)).to_have_text("es")
    expect(switch).to_be_checked()
    assert asked(page)["type"] == "es"
    page.keyboard.press("Escape")
    idle(page)

    # Back goes where one was, at once too, and takes a step back, not the toggle.
    page.go_back()
    expect(focus_of(page)).to_have_text("ies")
    idle(page)
    page.go_forward()
    expect(focus_of(page)).to_have_text("es")
    idle(page)
    line.is_slow = True
    other_type(page, "s").dblclick()
    line.wait_for_answer()
    page.go_back()
    line.wait_for_answer()
    line.catch_up()
    expect(focus_of(page)).to_have_text("ies")
    assert asked(page)["type"] == "ies"
    view.click()
    expect(switch).to_be_checked()
    page.keyboard.press("Escape")
    page.go_forward()
    expect(focus_of(page)).to_have_text("es")
    idle(page)


GOLD = "".join(f"un{stem}able\tun {stem} able\n" for stem in ("break", "read", "think", "drink"))


def reloaded(page, tokeniser, reference):
    """Reload, and find the same open as before."""
    page.reload()
    expect(bar(page)).to_contain_text(tokeniser, timeout=PATIENCE)
    expect(bar(page)).to_contain_text(reference)
    idle(page)


def test_what_was_open_comes_back_in_each_tab(page, app_address):
    start(page, app_address)
    upload(page, "", ("mine.tsv", GOLD.encode()))
    expect(bar(page)).to_contain_text("mine.tsv, 4 words", timeout=PATIENCE)
    expect(page.get_by_text("mine.tsv: 4 words read, nothing skipped")).to_be_visible()
    expect(page).to_have_url(re.compile("/Compare"))  # all figures on it
    idle(page)
    remedy(page, "ReBPE")
    page.get_by_role("button", name="Step").click()
    idle(page)
    score = value_of(page, "F1 %")
    assert "morphgraph" not in page.url.split("//")[1]  # no token in an address to be shared

    # Streamlit itself asks in vain for files below the address of a page, so from the first one.
    go_to(page, "Workbench")
    reloaded(page, "English 8k", "mine.tsv, 4 words")
    assert value_of(page, "F1 %") == score
    remedy(page, "ReBPE")
    expect(page.get_by_role("heading", name="ReBPE: 1 phase")).to_be_visible()
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


def train(page, size):
    page.get_by_role("spinbutton", name="Types").fill(str(size))
    page.get_by_role("spinbutton", name="Types").press("Enter")
    idle(page)
    page.get_by_role("button", name="Train", exact=True).click()


@pytest.mark.kills
def test_a_kill_in_the_middle_of_everything(browser, serve, tmp_path):
    """Two tabs of one browser: one trains, one repairs, and an evaluation runs meanwhile.

    Both pages stay open. The one that trains had the newest record, so a page that did not say
    which tab it is would get the other's.
    """
    port, state = free_port(), {"MORPHGRAPH_STATE": str(tmp_path)}
    address = f"http://127.0.0.1:{port}"
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    repairs, trains = context.new_page(), context.new_page()
    with serve(port, **state):
        start(repairs, address)
        choose_demo(repairs, "German", "de")
        remedy(repairs, "ReBPE")
        unchanged = value_of(repairs, "F1 %")
        for _ in range(2):
            repairs.get_by_role("button", name="Step").click()
            idle(repairs)
        start(trains, address)
        for page in (repairs, trains):
            page.set_default_timeout(PATIENCE)
        choose_demo(trains, "Dutch", "nl")
        go_to(trains, "Build")
        trains.get_by_role("button", name="Start", exact=True).click()
        progress = trains.get_by_test_id("stProgress")
        expect(progress).to_contain_text(re.compile(r"\d of 18 tasks"), timeout=PATIENCE)
        for size in (320, 310, 300):  # the newest is shown, also where the run is redrawn meanwhile
            train(trains, size)
            expect(trains.get_by_text(re.compile(f"^{size} types"))).to_be_visible(timeout=PATIENCE)
            idle(trains)
        repairs.get_by_role("button", name="Run", exact=True).click()
        picky = trains.get_by_role("radio", name="Picky BPE")
        picky.locator("xpath=ancestor::label").click()
        idle(trains)
        train(trains, 8_000)
        expect(trains.locator(".st-key-waiting")).to_be_visible(timeout=PATIENCE)
        trains.wait_for_timeout(500)

    with serve(port, **state):
        # The pages connect again by themselves.
        told = trains.get_by_text(re.compile("training of Picky BPE.* was interrupted"))
        expect(told).to_be_visible(timeout=PATIENCE)
        expect(bar(trains)).to_contain_text("Dutch 8k")
        expect(trains.get_by_text(re.compile("^300 types"))).to_be_visible(timeout=PATIENCE)
        expect(bar(repairs)).to_contain_text("German 8k", timeout=PATIENCE)
        idle(repairs)
        expect(repairs.get_by_role("heading", name=re.compile("^ReBPE: .* phases"))).to_be_visible()
        assert value_of(repairs, "F1 %") != unchanged, "the phases that were done are there"
        idle(trains)
        go_to(trains, "Build")
        badge = trains.locator(".stMarkdownBadge").first
        expect(badge).to_have_text(re.compile("Done$"), timeout=2 * PATIENCE)
        context.close()

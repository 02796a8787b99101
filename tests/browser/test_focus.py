"""Whatever one does, by hand or by key, the focus stays on the page: not lost to its body."""

import re

import pytest
from browser_steps import choose_demo, go_to, idle, pick, remedy, start
from effort import one_of
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def button(name):
    """Press the first button of the page whose name begins so."""
    named = re.compile(f"^(\\w+\\s*\n)?{name}")
    return lambda page, press: press(
        page.get_by_test_id("stMain").get_by_role("button", name=named).first
    )


def in_bar(name):
    return lambda page, press: press(
        page.locator(f"[class*=st-key-numbers-] [class*=st-key-{name}] button").first
    )


def close(name):
    """Open a popover, and close it by Escape."""

    def opened_and_closed(page, press):
        button(name)(page, press)
        page.get_by_test_id("stPopoverBody").wait_for()
        idle(page)
        page.keyboard.press("Escape")

    return opened_and_closed


def picture(name):
    return lambda page, press: press(page.get_by_role("radio", name=name, exact=True))


def leave_the_palette(page, press):
    press(page.get_by_role("button", name="Find anything"))
    page.get_by_role("dialog").get_by_role("combobox").wait_for()
    idle(page)
    page.keyboard.press("Escape")


def undo_in_the_palette(page, press):
    press(page.get_by_role("button", name="Find anything"))
    page.get_by_role("dialog").get_by_role("combobox").fill("Undo")
    pick(page.get_by_role("option", name="Undo", exact=True))


def in_drawer(name):
    return lambda page, press: press(page.get_by_role("dialog").get_by_role("button", name=name))


def leave_the_drawer(page, press):
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="History, export")).to_be_focused()


def another_demo(page, press):
    choose_demo(page, "Dutch", "nl")


def press_enter(target):
    target.focus()
    target.press("Enter")


def click(target):
    target.click()


UNDO_AND_REDO = [in_bar("undo"), in_bar("redo"), in_bar("undo")]
ACTS = {
    "Workbench": [
        button("Knock out"),
        button("Bring it back"),
        button("Knock out"),
        *UNDO_AND_REDO,
        button("another text"),
        picture("Type"),
        button("Knock out"),
        undo_in_the_palette,
        picture("All types"),
        button("Knock out"),
        leave_the_palette,
        close("F1"),
        another_demo,
    ],
    "Repair": [
        button("Take the best"),
        button("Knock out"),
        *UNDO_AND_REDO,
        lambda page, press: remedy(page, "ReBPE"),
        button("Step"),
        button("Step"),
        *UNDO_AND_REDO,
        close("Settings"),
    ],
    "History and export": [in_drawer("Check and prepare"), leave_the_drawer],
}


@pytest.mark.parametrize("press", one_of(press_enter, click))
@pytest.mark.parametrize("name", ACTS)
def test_the_focus_is_never_lost(page, app_address, name, press):
    start(page, app_address)
    if name != "Workbench":
        go_to(page, name)
    for number, act in enumerate(ACTS[name]):
        act(page, press)
        idle(page)
        page.wait_for_timeout(500)
        idle(page)
        said = f"after action {number} of {name}"
        expect(page.locator("body"), said).not_to_be_focused()

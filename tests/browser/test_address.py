"""Back, Forward, reload and a copied address bring the same picture back."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from browser_steps import PATIENCE, Line, fan, go_to, idle, start
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def text_field(page):
    return page.get_by_role("textbox", name="A word, or any text")


def slider_of(page):
    return page.get_by_role("slider", name=re.compile("Knock out merges"))


def said(threshold):
    """What the line says of itself at a threshold."""
    return re.compile(rf"^{100 * float(threshold):.0f}\s")


def asked(page):
    """What the address asks for."""
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

    # The line is dragged across the curve.
    box = slider.bounding_box()
    at = box["y"] + box["height"] / 2
    line = box["x"] + (float(best) - 0.01) / 0.98 * box["width"]
    page.mouse.move(line, at)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], at)
    page.mouse.move(box["x"] + 0.7 * box["width"], at)
    page.mouse.up()
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^(69|70|71)\s"))
    page.wait_for_url(re.compile("threshold=0[.](69|70|71)"))
    idle(page)
    best = asked(page)["threshold"]

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
    """A type in the graph that is not in the middle."""
    types = fan(page).locator(
        ".vertex.type[data-id]:not(.focus) text", has_text=re.compile(f"^{name}$")
    )
    return types.first


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

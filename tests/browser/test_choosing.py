"""What can be chosen in charts and tables, in a real Chromium: each is really clicked.

The tables of Scores and Vocabulary are clicked in `test_scores`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser_steps import PATIENCE, cell_of, choose_row, go_to, grid_with, idle, start
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

# The point of the chart that has most room around it, its text, and where it is in the window.
LONELIEST = """node => {
  const plot = node.querySelector('.js-plotly-plot');
  const { xaxis, yaxis } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  const points = plot._fullData.flatMap((trace) => [...trace.x].map((x, i) => ({
    text: trace.text[i],
    x: box.left + xaxis._offset + xaxis.d2p(x),
    y: box.top + yaxis._offset + yaxis.d2p(trace.y[i]),
  })));
  const room = (one) => Math.min(...points.filter((other) => other !== one)
    .map((other) => Math.hypot(one.x - other.x, one.y - other.y)));
  return points.map((point) => ({ ...point, room: room(point) }))
    .sort((one, other) => other.room - one.room)[0];
}"""


def shown_in_the_graph(page: Page, type_: str) -> None:
    """The offer to go to the graph leads to this type."""
    button = page.get_by_role("button", name="Show it in the graph")
    expect(button).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    idle(page)
    button.click()
    expect(page.get_by_role("group", name="Merge graph:")).to_be_visible(timeout=PATIENCE)
    idle(page)
    expect(page.get_by_role("heading", name=type_, exact=True)).to_be_visible()


def scatter(page: Page) -> Locator:
    return page.locator('[class*="st-key-blame-scatter"]')


def test_a_point_of_the_scatter_leads_to_its_merge(page: Page, app_address: str) -> None:
    start(page, app_address)
    go_to(page, "Blame")
    page.get_by_role("tab", name="More charts").click()
    chart = scatter(page)
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".gl-container, .gl-canvas").first).to_be_attached(timeout=PATIENCE)
    idle(page)
    point: dict[str, Any] = chart.evaluate(LONELIEST)
    assert point["room"] > 10
    page.mouse.move(point["x"], point["y"])
    page.wait_for_timeout(300)
    page.mouse.click(point["x"], point["y"])
    shown_in_the_graph(page, point["text"].split(" and ")[0])


def test_a_row_of_the_merges_to_blame_leads_to_its_merge(page: Page, app_address: str) -> None:
    start(page, app_address)
    go_to(page, "Blame")
    page.get_by_role("tab", name="Table of merges").click()
    merges = grid_with(page, "wrong joins")
    type_ = cell_of(merges, 1, 1).text_content() or ""
    choose_row(merges, 1)
    shown_in_the_graph(page, type_)


def test_a_row_of_what_a_phase_changed_shows_its_merge(page: Page, app_address: str) -> None:
    start(page, app_address)
    go_to(page, "ReBPE")
    page.get_by_role("button", name=re.compile("^Next: anneal")).click()
    merges = grid_with(page, "is made from")
    expect(merges).to_be_visible(timeout=PATIENCE)
    idle(page)
    type_ = cell_of(merges, 1, 1).text_content() or ""
    choose_row(merges, 1)
    expect(page.get_by_text("Select a row to see the graph")).to_have_count(0, timeout=PATIENCE)
    idle(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stMain")).to_contain_text(type_)


def test_a_knockout_leaves_the_pointer_and_the_focus_where_they_were(
    page: Page, app_address: str
) -> None:
    start(page, app_address)
    go_to(page, "Merge graph")
    knock_out = page.get_by_role("button", name="Knock out", exact=True)
    bring_back = page.get_by_role("button", name="Bring it back")
    box = knock_out.bounding_box()
    assert box is not None
    knock_out.click()
    expect(bring_back).to_be_focused()
    now = bring_back.bounding_box()
    assert now is not None
    assert (now["x"], now["y"], now["height"]) == (box["x"], box["y"], box["height"])
    page.keyboard.press("Enter")
    expect(knock_out).to_be_focused()
    page.keyboard.press("Enter")
    expect(bring_back).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^1 edit made, 1 in all: F1 "))


def test_what_moves_under_a_resting_pointer_is_not_pointed_at(page: Page, app_address: str) -> None:
    start(page, app_address)
    go_to(page, "Merge graph")
    graph = page.get_by_role("group", name="Merge graph:")
    words = page.locator(".rows button")
    pale, lit = graph.locator(".world.lit"), page.locator(".rows button.lit")
    expect(words.first).to_be_visible()
    page.get_by_role("button", name="Knock out", exact=True).press("Enter")
    expect(page.locator(".rows button.fresh").first).to_be_visible()
    idle(page)
    box = words.nth(1).bounding_box()
    assert box is not None
    page.get_by_role("button", name="Bring it back").press("Enter")
    expect(page.locator(".rows button.fresh")).to_have_count(0)
    idle(page)
    page.mouse.move(box["x"] + 30, box["y"] + 10)
    page.keyboard.press("Enter")
    expect(page.locator(".rows button.fresh").first).to_be_visible()
    idle(page)
    page.wait_for_timeout(500)
    assert words.nth(1).evaluate("row => row.matches(':hover')"), "it is under the pointer"
    expect(lit).to_have_count(0)
    expect(pale).to_have_count(0)
    page.mouse.move(box["x"] + 33, box["y"] + 10)
    expect(lit).to_have_count(1)
    expect(pale).to_have_count(1)


def test_the_focus_stays_on_a_vertex_that_is_drawn_anew(page: Page, app_address: str) -> None:
    start(page, app_address)
    go_to(page, "Merge graph")
    graph = page.get_by_role("group", name="Merge graph:")
    graph.locator(".vertex.focus").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    vertex = graph.locator(".vertex:focus")
    key = vertex.get_attribute("data-key") or ""
    page.keyboard.press("Shift+Enter")
    expect(graph.locator(".vertex.focus")).to_have_attribute("data-key", key)
    idle(page)
    expect(vertex).to_have_attribute("data-key", key)


# How many types go: by the headline, by the button, and by the histogram the least blame of those.
TOLD_OF_BLAME = """() => {
  const texts = [...document.querySelectorAll("*")].map((one) => one.shadowRoot)
    .map((root) => root?.querySelector(".said b")?.textContent);
  const [, blame, types] = texts.find(Boolean).match(/≥ (\\d+)\\s%: ([\\d,]+) types? go/);
  const button = [...document.querySelectorAll("button")]
    .map((one) => one.innerText.match(/Knock out all ([\\d,]+)/)).find(Boolean);
  const legend = [...document.querySelectorAll(".legendtext")]
    .map((one) => one.textContent.match(/blame\\s*≥\\s*(\\d+)/)).find(Boolean);
  return { blame, types, button: button?.[1], legend: legend?.[1] };
}"""


def test_all_that_is_told_of_a_threshold_agrees_while_the_line_is_dragged(
    page: Page, app_address: str
) -> None:
    start(page, app_address)
    go_to(page, "Blame")
    expect(page.get_by_text(re.compile("^blame ≥ 50")).first).to_be_visible(timeout=PATIENCE)
    box = page.get_by_role("slider").bounding_box()
    assert box is not None
    left, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(left, y)
    page.mouse.down()
    told: list[dict[str, str]] = []
    for step in range(200):  # without ever resting for as long as it takes to stop
        page.mouse.move(left - box["width"] * 0.004 * (step % 100), y)
        page.wait_for_timeout(25)
        told.append(page.evaluate(TOLD_OF_BLAME))
        if len({one["types"] for one in told}) > 4:
            break
    assert len({one["types"] for one in told}) > 4, "it follows while it is dragged"
    # What one run of the page shows arrives in parts, a moment after each other.
    agree = [one["types"] == one["button"] for one in told]
    assert sum(agree) > 0.9 * len(told), told
    page.mouse.up()
    idle(page)
    page.wait_for_timeout(300)
    end = page.evaluate(TOLD_OF_BLAME)
    assert (end["types"], end["blame"]) == (end["button"], end["legend"])

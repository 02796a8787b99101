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

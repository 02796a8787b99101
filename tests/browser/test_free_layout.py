"""Free layout: the stand-alone page, and the same in a frame, in a real Chromium."""

import re

import networkx as nx
import pytest
from browser_steps import fan, idle
from effort import one_of
from playwright.sync_api import expect

from morphgraph.draw.scene import scene_of, stand_alone_html

pytestmark = pytest.mark.browser


def big_scene():
    graph = nx.DiGraph()
    names = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "ung"]
    for i, name in enumerate(names):
        graph.add_node(f"t{i}", kind="type", label=name, tooltip=f"{name}\nsecond <b>line</b>")
    for n in range(12):
        graph.add_node(f"m{n}", kind="merge", label=str(n), rank=n, tooltip=f"merge {n}")
        graph.add_node(f"t{10 + n}", kind="type", label=f"stellung{n}", ghost=n == 3)
        parts = [2, 0, 1] if n % 4 == 1 else [2, n % 2]
        graph.add_edges_from((f"t{p}", f"m{n}", {"indices": (i,)}) for i, p in enumerate(parts))
        graph.add_edge(f"m{n}", f"t{10 + n}")
    values = {f"{kind}{n + 10 * (kind == 't')}": n / 11 for n in range(1, 12) for kind in "mt"}
    return scene_of(graph, focus="t2", values=values, changed=["m5"], left_out=40)


@pytest.mark.parametrize("theme", one_of("light", "dark"))
def test_the_stand_alone_page(new_page, tmp_path, theme):
    file = tmp_path / "graph.html"
    file.write_text(stand_alone_html(big_scene(), "Merges of <ung>"), encoding="utf-8")
    page = new_page(color_scheme=theme)
    alerts = []

    def on_dialog(dialog):
        alerts.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", on_dialog)
    page.goto(file.as_uri())
    page.wait_for_function("network.body.nodeIndices.length === 27")
    page.wait_for_timeout(300)
    at = page.evaluate("network.canvasToDOM(network.getPosition('t0'))")
    box = page.locator("#graph").bounding_box()
    page.mouse.move(box["x"] + at["x"], box["y"] + at["y"])
    tip = page.locator(".vis-tooltip")
    expect(tip).to_be_visible()
    assert tip.inner_text().split("\n") == [
        "<img src=x onerror=alert(1)>",
        "second <b>line</b>",
    ]
    assert tip.locator("img, b").count() == 0
    assert page.evaluate("document.scripts.length") == 2
    assert page.title() == "Merges of <ung>"
    assert alerts == []


def test_a_click_in_free_layout_shows_that_type_in_the_fan(page, app_address):
    page.goto(f"{app_address}/?demo=en&state=Type")
    expect(fan(page)).to_be_visible()
    idle(page)
    page.locator(".st-key-canvas-menu button").click()
    page.get_by_text("Free layout").click()
    frame = page.frame_locator('iframe[title="Free layout"]')
    expect(frame.locator("canvas")).to_be_visible()
    inner = next(frame for frame in page.frames if frame.url.endswith("/frame"))
    inner.wait_for_function("network.body.nodeIndices.length > 3")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    # The last type that is not the focus.
    label, x, y = inner.evaluate(
        """() => {
          const isOther = ({ id, borderWidth }) => id[0] === "t" && borderWidth < 3;
          const chosen = nodes.get().filter(isOther).pop();
          const { x, y } = network.canvasToDOM(network.getPosition(chosen.id));
          return [chosen.label, x, y];
        }"""
    )
    frame.locator("canvas").click(position={"x": x, "y": y})
    expect(frame.locator("canvas")).to_have_count(0)
    expect(fan(page)).to_be_visible()
    expect(page).to_have_url(re.compile("type="))
    expect(fan(page)).to_contain_text(label)

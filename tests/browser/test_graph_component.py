"""The graph component and the stand-alone page, in a real Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from playwright.sync_api import Dialog, Page, expect

from morphgraph.draw.export_html import stand_alone_html
from morphgraph.draw.scene import scene_of

pytestmark = pytest.mark.browser

SCRIPT = """
import math
import networkx as nx
import streamlit as st
from morphgraph.draw.scene import scene_of
from web.components import merge_graph, vis_loader

st.set_page_config(layout="wide", page_title="Graph", page_icon="🧩")
vis_loader()

PARTS = [  # rank, parts, result
    (3, ["u", "n"], "un"), (4, ["e", "e"], "ee"), (8, ["un", "g"], "ung"),
    (12, ["Ġ", "w"], "Ġw"), (20, ["Ġw", "oh", "n"], "Ġwohn"), (31, ["oh", "n", "ung"], "ohnung"),
    (47, ["Ġwohn", "ung"], "Ġwohnung"), (52, ["ung", "en"], "ungen"), (70, ["b", "ung"], "bung"),
    (88, ["ung", "s"], "ungs"), (99, ["ee", "ung"], "eeung"),
    (120, ["<img src=x onerror=alert(1)>", "ung"], "<b>ung"),
]

def graph_without(gone):
    graph = nx.DiGraph()
    ids = {}
    parts_of = {result: parts for _, parts, result in PARTS}
    made = set(parts_of)
    for _, parts, result in PARTS:
        for name in [*parts, result]:
            ids.setdefault(name, f"t{len(ids)}")
    def add(name):
        graph.add_node(ids[name], kind="type", label=name, atom=name not in made and len(name) < 3,
                       tooltip=f"{name}\\ntype {ids[name]}", frontier=name in ("oh", "en"),
                       ghost=name == "eeung")
        return ids[name]
    for rank, parts, result in PARTS:
        if result == gone:
            continue
        parts = [q for p in parts for q in (parts_of[p] if p == gone else [p])]
        merge = f"m{rank}"
        graph.add_node(merge, kind="merge", label=str(rank), rank=rank, tooltip=f"merge {rank}")
        for part in parts:
            graph.add_edge(add(part), merge,
                           indices=tuple(i for i, p in enumerate(parts) if p == part))
        graph.add_edge(merge, add(result))
    return graph, ids

state = st.session_state

@st.fragment
def show():
    gone = "un" if state.get("gone") else None
    graph, ids = graph_without(gone)
    values = {}
    for i, key in enumerate(sorted(graph)):
        if key[0] == "m" and key != "m31":
            values[key] = (i * 37 % 101) / 100
            values.update(dict.fromkeys(graph.successors(key), values[key]))
    scene = scene_of(graph, focus=ids["ung"], values=values, left_out=3,
                     changed=["m8"] if gone else [])

    def on_event(clicks):
        state.setdefault("log", []).extend(f"{c.sequence}:{c.key}:{c.kind}" for c in clicks)
        state.selected = clicks[-1].key

    merge_graph(scene.to_dict(), key="graph", view_key=state.get("view", "ung"),
                selected=state.get("selected"), height=520, on_event=on_event)
    st.markdown("log " + " ".join(state.get("log", ["none"])))
    st.toggle("Knock out un", key="gone")
    st.button("Rerun")

st.button("Rerun all")
if st.toggle("Hide"):
    st.write("hidden")
else:
    show()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "graph_app.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.fixture
def url(script: Path, streamlit_app: Callable[[Path], str]) -> str:
    return streamlit_app(script)


def wait_for_graph(page: Page, view: str = "ung") -> None:
    page.wait_for_function(
        "view => globalThis.__morphgraph_views?.get(view)?.network", arg=view, timeout=30_000
    )
    page.wait_for_timeout(300)


def place(page: Page, key: str) -> tuple[float, float]:
    at = page.evaluate("key => __morphgraph_views.get('ung').pagePosition(key)", key)
    return at["x"], at["y"]


def canvas_position(page: Page, key: str) -> dict[str, float]:
    position: dict[str, float] = page.evaluate(
        "key => __morphgraph_views.get('ung').network.getPosition(key)", key
    )
    return position


def camera(page: Page) -> list[float]:
    values: list[float] = page.evaluate(
        """() => {
          const { network } = __morphgraph_views.get('ung');
          const { x, y } = network.getViewPosition();
          return [network.getScale(), x, y];
        }"""
    )
    return values


def log(page: Page) -> str:
    return page.get_by_text(re.compile("^log ")).inner_text()


def test_a_click_arrives_and_so_does_one_beside_a_small_vertex(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    page.mouse.click(*place(page, "t5"))
    expect(page.get_by_text("log 1:t5:click")).to_be_visible()
    x, y = place(page, "m47")
    scale = camera(page)[0]
    page.mouse.click(x, y + 10 * scale + 6)  # below the box, within reach
    expect(page.get_by_text("log 1:t5:click 2:m47:click")).to_be_visible()
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 8, box["y"] + box["height"] - 8)  # out of reach of any vertex
    page.get_by_role("button", name="Rerun", exact=True).click()
    page.wait_for_timeout(500)
    assert log(page) == "log 1:t5:click 2:m47:click"


def test_five_fast_clicks_all_arrive_in_order(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    keys = ["m8", "m47", "m52", "m70", "m88"]
    for spot in [place(page, key) for key in keys]:
        page.mouse.click(*spot)
    expected = "log " + " ".join(f"{i}:{key}:click" for i, key in enumerate(keys, 1))
    expect(page.get_by_text(expected)).to_be_visible()
    page.wait_for_timeout(600)
    assert log(page) == expected


def test_a_tooltip_closes_when_what_it_is_about_may_have_changed(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    tip = page.locator(".tip")
    page.mouse.move(*place(page, "m47"))
    expect(tip).to_be_visible()
    # The pointer stays where it is: buttons are pressed without it.
    page.get_by_role("button", name="Rerun", exact=True).evaluate("button => button.click()")
    page.wait_for_timeout(600)
    expect(tip).to_be_visible()  # nothing is different
    page.get_by_label("Knock out un").evaluate("box => box.click()")
    expect(tip).to_be_hidden()
    page.wait_for_function("!__morphgraph_views.get('ung').view.animation")
    expect(tip).to_be_hidden()
    x, y = place(page, "m47")
    page.mouse.move(x, y + 60)  # away from every vertex
    page.wait_for_timeout(100)
    page.mouse.move(x, y)
    expect(tip).to_be_visible()  # and tells of the new state


def test_a_double_click_is_two_clicks_and_a_double(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    page.mouse.dblclick(*place(page, "m47"))
    expect(page.get_by_text("3:m47")).to_be_visible()
    kinds = sorted(entry.split(":")[2] for entry in log(page).split()[1:])
    assert kinds == ["click", "click", "double"]


def test_zoom_pan_and_dragged_vertices_survive_a_rerun(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(500)
    x, y = place(page, "m47")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 45, steps=4)
    page.mouse.up()
    page.wait_for_timeout(300)
    moved, seen = canvas_position(page, "m47"), camera(page)
    page.get_by_role("button", name="Rerun all").click()
    page.wait_for_timeout(800)
    page.mouse.click(*place(page, "t6"))
    expect(page.get_by_text("t6:click")).to_be_visible()
    page.wait_for_timeout(300)
    assert camera(page) == pytest.approx(seen, abs=1e-6)
    assert canvas_position(page, "m47") == pytest.approx(moved)
    page.get_by_role("button", name="Put moved vertices back").click()
    page.wait_for_timeout(700)
    assert canvas_position(page, "m47") != pytest.approx(moved)


def test_the_view_survives_going_away_and_coming_back(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    page.mouse.click(*place(page, "t6"))
    expect(page.get_by_text("log 1:t6:click")).to_be_visible()
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(600)
    seen = camera(page)
    page.get_by_text("Hide").click()
    expect(page.get_by_role("application")).to_have_count(0)
    page.get_by_text("Hide").click()
    wait_for_graph(page)
    assert camera(page) == pytest.approx(seen, rel=1e-6)
    page.mouse.click(*place(page, "m8"))
    expect(page.get_by_text("log 1:t6:click 2:m8:click")).to_be_visible()


def test_the_tween_ends_in_its_place(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    before = {"m47": canvas_position(page, "m47")}
    page.get_by_text("Knock out un").click()
    page.wait_for_function("!__morphgraph_views.get('ung').network.body.nodes.m3")
    page.wait_for_timeout(700)
    assert page.evaluate("!__morphgraph_views.get('ung').network.body.nodes.t2")
    page.get_by_text("Knock out un").click()
    page.wait_for_function("__morphgraph_views.get('ung').network.body.nodes.m3")
    page.wait_for_timeout(700)
    assert canvas_position(page, "m47") == before["m47"]
    # A tween proper: put a vertex elsewhere and let the view bring it home.
    middle = page.evaluate(
        """async () => {
          const { view, network } = __morphgraph_views.get('ung');
          view.memo.moved.set('m47', { x: 0, y: 120 });
          view.draw(false);
          await new Promise((done) => setTimeout(done, 200));
          return network.getPosition('m47').y;
        }"""
    )
    page.wait_for_timeout(600)
    assert before["m47"]["y"] < middle < before["m47"]["y"] + 120
    assert canvas_position(page, "m47")["y"] == pytest.approx(before["m47"]["y"] + 120)


def test_reduced_motion_is_respected(new_page: Callable[..., Page], url: str) -> None:
    page = new_page(reduced_motion="reduce")
    page.goto(url)
    wait_for_graph(page)
    start = canvas_position(page, "m47")["y"]
    end = page.evaluate(
        """() => {
          const { view, network } = __morphgraph_views.get('ung');
          view.memo.moved.set('m47', { x: 0, y: 120 });
          view.draw(false);
          return network.getPosition('m47').y;
        }"""
    )
    assert end == pytest.approx(start + 120)


def test_the_keyboard_reaches_vertices(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    surface = page.get_by_role("application")
    expect(surface).to_have_attribute("aria-label", re.compile("^Merge graph with .* merges"))
    surface.focus()
    page.keyboard.press("ArrowRight")  # the first key puts the cursor on the focus type
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_text("log 1:m8:click")).to_be_visible()


def test_a_tooltip_is_text(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    key = page.evaluate(
        """() => {
          const { view } = __morphgraph_views.get('ung');
          return [...view.vertices.values()].find((v) => v.label.startsWith('<img')).key;
        }"""
    )
    page.mouse.move(*place(page, key))
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("<img src=x onerror=alert(1)>")
    assert tip.locator("img").count() == 0


def test_the_picture_can_be_downloaded(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as PNG").click()
    assert download.value.suggested_filename == "merge-graph.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes(
    new_page: Callable[..., Page], url: str, theme: str, screenshots: Path
) -> None:
    page = new_page(color_scheme=theme)
    page.goto(url)
    wait_for_graph(page)
    page.get_by_text("Knock out un").click()
    page.mouse.click(*place(page, "t5"))
    page.wait_for_timeout(1200)
    assert page.evaluate("__morphgraph_views.get('ung').view.palette.theme") == theme
    page.screenshot(path=screenshots / f"graph-{theme}.png")


def test_the_theme_can_change_while_the_graph_is_shown(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("__morphgraph_views.get('ung').view.palette.theme === 'dark'")
    page.emulate_media(color_scheme="light")
    page.wait_for_function("__morphgraph_views.get('ung').view.palette.theme === 'light'")


def big_scene() -> Any:
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_stand_alone_page(
    new_page: Callable[..., Page], tmp_path: Path, theme: str, screenshots: Path
) -> None:
    file = tmp_path / "graph.html"
    file.write_text(stand_alone_html(big_scene(), "Merges of <ung>"), encoding="utf-8")
    page = new_page(color_scheme=theme)
    alerts: list[str] = []

    def on_dialog(dialog: Dialog) -> None:
        alerts.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", on_dialog)
    page.goto(file.as_uri())
    page.wait_for_function("network.body.nodeIndices.length === 27")
    page.wait_for_timeout(300)
    at = page.evaluate("network.canvasToDOM(network.getPosition('t0'))")
    box = page.locator("#graph").bounding_box()
    assert box is not None
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
    page.screenshot(path=screenshots / f"export-{theme}.png")
    assert alerts == []


def test_positions_in_the_browser_are_those_of_the_scene(page: Page, url: str) -> None:
    page.goto(url)
    wait_for_graph(page)
    differences = page.evaluate(
        """() => {
          const { view, network } = __morphgraph_views.get('ung');
          return view.scene.vertices.filter((vertex) => {
            const { x, y } = network.getPosition(vertex.key);
            return Math.hypot(x - vertex.x, y - vertex.y) > 0.01;
          }).map((vertex) => vertex.key);
        }"""
    )
    assert json.dumps(differences) == "[]"

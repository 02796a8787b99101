"""The whole journey through the app, as a person takes it, in a real Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser_steps import (
    PATIENCE,
    cell_of,
    expect_value,
    go_to,
    grid_with,
    idle,
    metric,
    sidebar,
    start,
    value_of,
)
from playwright.sync_api import Page, TimeoutError, expect

pytestmark = pytest.mark.browser

expect.set_options(timeout=20_000)

LIVE = "[...globalThis.__morphgraph_views.values()].find((memo) => memo.network)"


def choose_demo(page: Page, name: str, code: str) -> None:
    sidebar(page).get_by_role("combobox").click()
    page.get_by_role("option", name=name).click()
    expect(sidebar(page)).to_contain_text(f"Tokeniser demo:{code}")
    idle(page)


def upload(page: Page, label: str, *files: Path) -> None:
    field = page.get_by_test_id("stFileUploader").filter(has_text=label)
    field.locator("input[type=file]").set_input_files([str(file) for file in files])


def shoot(page: Page, folder: Path, name: str) -> None:
    """Screenshots in the light and in the dark theme."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        idle(page)
        page.wait_for_timeout(500)  # what fades and moves has come to rest
        page.screenshot(path=folder / f"journey-{name}-{scheme}.png")


# --------------------------------------------------------------------------------- the graph


def wait_for_focus(page: Page, label: str) -> None:
    """Wait until the graph is drawn with a type of this name in its middle."""
    page.wait_for_function(
        f"""label => {{
          const memo = globalThis.__morphgraph_views && {LIVE};
          return memo?.view?.scene?.vertices.some(
            (vertex) => vertex.flags.includes('focus') && vertex.label === label
          ) && !memo.view.animation;
        }}""",
        arg=label,
        timeout=PATIENCE,
    )


def vertices(page: Page) -> dict[str, dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(f"{LIVE}.view.scene.vertices")
    return {vertex["key"]: vertex for vertex in found}


def positions(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(f"{LIVE}.network.getPositions()")
    return found


def camera(page: Page) -> list[float]:
    found: list[float] = page.evaluate(
        f"""() => {{
          const {{ network }} = {LIVE};
          const {{ x, y }} = network.getViewPosition();
          return [network.getScale(), x, y];
        }}"""
    )
    return found


def spots(page: Page) -> dict[str, tuple[float, float]]:
    """Where on the page each vertex can be clicked; covered and hidden ones are left out."""
    found: dict[str, dict[str, float]] = page.evaluate(
        f"""() => {{
          const {{ view, network, pagePosition }} = {LIVE};
          const box = view.surface.getBoundingClientRect();
          const free = view.frame.querySelector('.toolbar').getBoundingClientRect().bottom + 4;
          return Object.fromEntries([...view.vertices.keys()].filter((key) => {{
            const {{ x, y }} = pagePosition(key);
            return x > box.left + 4 && x < box.right - 4 && y > free
              && y < Math.min(box.bottom, innerHeight) - 4
              && view.vertexAt({{ x: x - box.left, y: y - box.top }}) === key;
          }}).map((key) => [key, pagePosition(key)]));
        }}"""
    )
    return {key: (at["x"], at["y"]) for key, at in found.items()}


def removable(page: Page) -> list[str]:
    """Types in sight that a merge makes, the focus aside."""
    shown = vertices(page)
    return [
        key
        for key in spots(page)
        if shown[key]["kind"] == "type"
        and not {"atom", "ghost", "focus"} & set(shown[key]["flags"])
    ]


def click(page: Page, key: str) -> None:
    page.mouse.click(*spots(page)[key])


def look_for(page: Page, text: str) -> None:
    """Search a type and choose it."""
    field = page.get_by_role("textbox", name="Find a type")
    field.fill(text)
    field.press("Enter")
    page.wait_for_timeout(300)
    idle(page)
    wanted = page.get_by_role("option", name=text, exact=True).first
    for _ in range(10):  # the list may still be that of an earlier search
        page.get_by_role("combobox", name="matches").click()
        try:
            wanted.click(timeout=3_000)
            break
        except TimeoutError:
            page.keyboard.press("Escape")
    wait_for_focus(page, text)
    idle(page)


def wait_for_edits(page: Page, number: int) -> None:
    words = "1 edit" if number == 1 else f"{number} edits"
    expect(page.get_by_text(re.compile(rf" on .* · {words}$"))).to_be_visible()
    idle(page)
    page.wait_for_function(f"!({LIVE})?.view.animation")


# -------------------------------------------------------------------------------- the journey


def test_the_journey(page: Page, app_address: str, screenshots: Path, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1440, "height": 1000})
    start(page, app_address)
    expect(sidebar(page)).to_contain_text("demo:en")
    assert 0 < float(value_of(page, "F1 %")) < 100
    shoot(page, screenshots, "1-start")
    choose_demo(page, "German", "de")
    explore_and_knock_out(page, screenshots)
    five_fast_clicks(page)
    knock_out_by_threshold(page, screenshots)
    read_the_scores(page, screenshots, tmp_path)
    save_and_replay(page, screenshots, tmp_path)


def explore_and_knock_out(page: Page, screenshots: Path) -> None:
    go_to(page, "Merge graph")
    look_for(page, "ung")
    shoot(page, screenshots, "2-graph")
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(600)

    shown = vertices(page)
    parts = {edge["source"] for edge in page.evaluate(f"{LIVE}.view.scene.edges")}
    key = next(key for key in removable(page) if shown[key]["value"] and key in parts)
    label = shown[key]["label"]
    click(page, key)
    expect(page.get_by_role("heading", name=label, exact=True)).to_be_visible()
    idle(page)
    panel = page.get_by_test_id("stMain")
    expect(
        panel.get_by_text(re.compile(rf" → {re.escape(label)}, rank [\d,]+; takes part"))
    ).to_be_visible()
    applied, blamed = (int(value_of(page, name).replace(",", "")) for name in "NB")
    assert applied >= blamed > 0
    assert value_of(page, "R = B ÷ N") == f"{blamed / applied:.2f}"
    expect(panel.get_by_text("Closed a gold boundary", exact=True)).to_be_visible()
    tables = panel.get_by_test_id("stDataFrame")
    assert tables.count() >= 1

    before, seen, places = value_of(page, "F1 %"), camera(page), positions(page)
    preview = panel.get_by_text(re.compile("^Without it: F1")).inner_text()
    page.get_by_role("button", name="Knock out", exact=True).click()
    wait_for_edits(page, 1)
    delta = metric(page, "F1 %").get_by_test_id("stMetricDelta")
    expect(delta).to_contain_text(f"from {before}")
    after = value_of(page, "F1 %")
    assert f"F1 {after} %" in preview
    assert float(after) != float(before)
    expect_value(page, "Types", "7,999")
    expect(panel.get_by_text("Knocked out. Undo brings it back.")).to_be_visible()
    now = vertices(page)
    assert "ghost" in now[key]["flags"]
    assert any(v["kind"] == "merge" and "changed" in v["flags"] for v in now.values())
    expect(page.get_by_role("heading", name="Words segmented differently")).to_be_visible()
    assert camera(page) == pytest.approx(seen, abs=1e-6)
    moved = positions(page)
    stayed = [other for other in places if other in moved]
    assert len(stayed) >= 5
    assert {other: moved[other] for other in stayed} == {other: places[other] for other in stayed}
    shoot(page, screenshots, "3-knocked-out")

    page.get_by_role("button", name="Undo").click()
    expect_value(page, "F1 %", before)
    expect(delta).to_have_count(0)
    page.wait_for_function(f"key => !{LIVE}.view.vertices.get(key)?.flags.has('ghost')", arg=key)
    page.get_by_role("button", name="Redo").click()
    expect_value(page, "F1 %", after)
    wait_for_edits(page, 1)
    page.wait_for_function(f"key => {LIVE}.view.vertices.get(key)?.flags.has('ghost')", arg=key)
    assert camera(page) == pytest.approx(seen, abs=1e-6)


def five_fast_clicks(page: Page) -> None:
    look_for(page, "ung")
    page.get_by_text("Knock it out", exact=True).click()
    page.wait_for_function(f"{LIVE}.view.latest.click_mode === 'knockout'")
    page.get_by_role("button", name="Zoom in").click()
    seen = camera(page)
    for _ in range(20):  # until the zoom has come to rest
        page.wait_for_timeout(300)
        before, seen = seen, camera(page)
        if seen == before:
            break
    places = positions(page)
    keys = removable(page)[:5]
    assert len(keys) == 5
    targets = spots(page)
    for key in keys:
        page.mouse.click(*targets[key])
    wait_for_edits(page, 6)
    expect_value(page, "Types", "7,994")
    assert camera(page) == pytest.approx(seen, abs=1e-6)
    moved = positions(page)
    assert all(moved[key] == places[key] for key in places if key in moved)
    go_to(page, "History and export")
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    go_to(page, "Merge graph")
    wait_for_focus(page, "ung")
    assert camera(page) == pytest.approx(seen, rel=1e-6)


def knock_out_by_threshold(page: Page, screenshots: Path) -> None:
    go_to(page, "Blame")
    numbers = page.get_by_text(re.compile("merges go"))
    first = numbers.inner_text()
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(10):
        slider.press("ArrowRight")
    expect(slider).to_have_value("0.6")
    expect(numbers).not_to_have_text(first, use_inner_text=True)
    idle(page)
    shoot(page, screenshots, "4-blame")
    page.get_by_role("tab", name="Table of merges").click()
    expect(
        page.get_by_text(re.compile("R is empty where a merge was never applied"))
    ).to_be_visible()
    expect(page.get_by_text(re.compile("^Highest F1: "))).to_be_visible()
    button = page.get_by_role("button", name=re.compile(r"Knock out all [\d,]+"))
    size = int(value_of(page, "Types").replace(",", ""))
    gone = int(button.inner_text().split()[-1].replace(",", ""))
    assert gone > 10
    button.click()
    expect(page.get_by_text(re.compile(r" on .* · 7 edits$"))).to_be_visible()
    expect_value(page, "Types", f"{size - gone:,}")


def read_the_scores(page: Page, screenshots: Path, tmp_path: Path) -> None:
    go_to(page, "Scores")
    shoot(page, screenshots, "6-scores")
    gold = tmp_path / "mine.tsv"
    gold.write_text("Wohnungen\tWohn ung en\nFreiheit\tFrei heit\nwohnen\twohn en\n", "utf-8")
    page.get_by_text("Other references, frequencies and models").click()
    upload(page, "Reference", gold)
    expect(sidebar(page)).to_contain_text("mine.tsv, 3 words")
    idle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    csv = Path(download.value.path()).read_text("utf-8")
    assert "morphemic,types" in csv
    assert "mine.tsv" in csv
    with page.expect_download() as download:
        page.get_by_role("button", name="LaTeX").click()
    latex = Path(download.value.path()).read_text("utf-8")
    assert "\\begin{tabular}" in latex
    assert latex.count("\\\\") >= 3


def save_and_replay(page: Page, screenshots: Path, tmp_path: Path) -> None:
    choose_demo(page, "German", "de")
    go_to(page, "Start")
    scores = [value_of(page, f"{name} %") for name in ("Precision", "Recall", "F1")]
    go_to(page, "History and export")
    shoot(page, screenshots, "7-history")
    page.get_by_text("A recipe: the edits alone").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Recipe", exact=True).click()
    recipe = tmp_path / "recipe.json"
    download.value.save_as(recipe)
    assert len(json.loads(recipe.read_text("utf-8"))["steps"]) == 7
    page.get_by_text("A tokeniser for transformers").click()
    page.get_by_role("button", name="Check and prepare").click()
    archive = page.get_by_role("button", name="Download the archive")
    expect(archive).to_be_visible(timeout=PATIENCE)
    with page.expect_download() as download:
        archive.click()
    assert Path(download.value.path()).read_bytes().startswith(b"PK")
    # A click on an edit goes there: to the third, and to how it was opened.
    edits = grid_with(page, "ΔF1")
    for step in (3, 0):
        cell_of(edits, step, 2).click()
        expect(page.get_by_role("button", name="Redo")).to_be_enabled(timeout=PATIENCE)
        idle(page)
        assert cell_of(grid_with(page, "ΔF1"), step, 1).text_content() == "now"
        edits = grid_with(page, "ΔF1")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    go_to(page, "Start")
    assert value_of(page, "F1 %") != scores[2]
    go_to(page, "History and export")
    page.get_by_role("button", name="Replay a recipe").click()
    upload(page, "JSON", recipe)
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.get_by_text("7 edits replayed.")).to_be_visible()
    go_to(page, "Start")
    for name, value in zip(("Precision", "Recall", "F1"), scores, strict=True):
        expect_value(page, f"{name} %", value)
    expect(page.get_by_text(re.compile(r"· 7 edits$"))).to_be_visible()


# ----------------------------------------------------------------------------- real tokenisers


@pytest.mark.soak
def test_types_with_very_many_uses_draw_300_vertices_at_most(
    new_page: Callable[..., Page], app_address: str, data_folder: Path, screenshots: Path
) -> None:
    page = new_page(viewport={"width": 1440, "height": 1000})
    start(page, app_address)
    open_real_files(page, data_folder)
    go_to(page, "Merge graph")
    for label, value in (("Steps up", "6"), ("Steps down", "12"), ("At most", "300")):
        field = page.get_by_role("spinbutton", name=label)
        field.fill(value)
        field.press("Enter")
        page.wait_for_timeout(300)
        idle(page)
    left_out = page.get_by_text(re.compile(r"^[\d,]+ merges left out"))
    for name in ("ung", "e", "en"):  # "e" is an atom
        look_for(page, name)
        expect(left_out).to_be_visible()
        assert 200 < len(vertices(page)) <= 300
        assert int(left_out.inner_text().split()[0].replace(",", "")) > 100
    page.get_by_role("button", name="Show all").click()
    shoot(page, screenshots, "8-many-uses")
    # Its knockout rewires thousands of merges, which cannot all be drawn either.
    page.get_by_role("button", name="Knock out", exact=True).click()
    wait_for_edits(page, 1)
    assert 200 < len(vertices(page)) <= 300
    shoot(page, screenshots, "9-many-rewired")


def open_real_files(page: Page, data_folder: Path) -> None:
    upload(page, "Tokeniser", data_folder / "tokenizers" / "oscar-de-40k" / "tokenizer.json")
    expect_value(page, "Types", "40,000")
    expect(sidebar(page)).to_contain_text("tokenizer.json")
    idle(page)
    gold = data_folder / "references" / "morphynet" / "deu.derivational.v1.tsv"
    upload(page, "Reference", gold)
    expect(sidebar(page)).to_contain_text(re.compile(r"deu\.derivational\.v1\.tsv"))
    idle(page)

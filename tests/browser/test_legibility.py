"""Everything can be read: contrast, sizes, and nothing cut off, on a narrow window too."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_steps import go_to, idle, start
from effort import one_of
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

FINDINGS = (Path(__file__).parent / "legibility.js").read_text("utf-8")
PAGES = [
    "Start",
    "Merge graph",
    "Merge tree",
    "Blame",
    "ReBPE",
    "Train",
    "Segmentations",
    "Scores",
    "Vocabulary",
    "Batch",
    "History and export",
]
NARROW = {"width": 1000, "height": 800}


def findings(page: Page) -> list[str]:
    found: list[str] = page.evaluate(FINDINGS)
    return found


def test_the_measure(page: Page) -> None:
    """Ratios that were worked out by hand, after WCAG 2.2."""
    page.set_content(
        """<body style="background: #fff; font-size: 16px">
        <p style="color: #767676">4.54 on white</p> <p style="color: #777777">4.48 on white</p>
        <p style="color: rgb(0 0 0 / 50%)">half alpha</p>
        <div style="opacity: .5"><p style="color: #000">half opacity</p></div>
        <div style="background: #000"><p style="color: #808080">5.32 on black</p></div>
        <p style="font-size: 10px">small</p> <button disabled style="color: #eee">inactive</button>
        <p style="display: none; color: #eee">hidden</p>
        <svg viewBox="0 0 100 100" width="80"><rect width="100" height="100" fill="#000"/>
        <text x="10" y="50" font-size="12" fill="#fff">9.6 px</text></svg></body>"""
    )
    assert findings(page) == [
        'contrast 4.48: "4.48 on white"',
        'contrast 4.00: "half alpha"',
        'contrast 3.98: "half opacity"',
        '10.0 px: "small"',
        '9.6 px: "9.6 px"',
    ]


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(1000, "dark"), *(pytest.param(w, "light", marks=pytest.mark.soak) for w in (1000, 1440))],
)
def test_every_page_can_be_read(
    new_page: Callable[..., Page], app_address: str, scheme: str, width: int
) -> None:
    page = new_page(viewport={**NARROW, "width": width}, color_scheme=scheme)
    start(page, app_address)
    found = {}
    for name in PAGES:
        go_to(page, name)
        page.wait_for_timeout(500)  # what fades in is there
        if wrong := findings(page):
            found[name] = wrong
    assert not found, "\n".join(f"{n}: {w}" for n, all_ in found.items() for w in all_)


# Each label that is drawn on a canvas: its text, its size on the screen, and its place in it.
WATCH = """() => {
  const own = CanvasRenderingContext2D.prototype.fillText;
  globalThis.drawn = new Map();
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    // Tables are drawn too, but not in a component of ours.
    if (this.canvas.getRootNode() === document) return own.call(this, text, x, y, ...more);
    const now = this.getTransform();
    const ratio = this.canvas.width / this.canvas.clientWidth;
    const at = now.transformPoint({ x, y });
    const half = this.measureText(text).width * now.a / ratio / 2;
    const size = parseFloat(/([\\d.]+)px/.exec(this.font)[1]) * now.a / ratio;
    drawn.set(text, { size, left: at.x / ratio - half, right: at.x / ratio + half,
                      width: this.canvas.clientWidth });
    return own.call(this, text, x, y, ...more);
  };
}"""


def labels_drawn(page: Page) -> dict[str, dict[str, float]]:
    page.evaluate("drawn.clear(); [...__morphgraph_views.values()].at(-1).network.redraw()")
    page.wait_for_timeout(300)
    found: dict[str, dict[str, float]] = page.evaluate("Object.fromEntries(drawn)")
    return found


def test_on_a_narrow_window_the_graph_is_whole_and_its_ranks_are_readable(
    new_page: Callable[..., Page], app_address: str
) -> None:
    page = new_page(viewport=NARROW)
    start(page, app_address)
    page.evaluate(WATCH)
    go_to(page, "Merge graph")
    drawn = labels_drawn(page)
    ranks = [label for label in drawn if label.isdigit()]
    assert len(ranks) >= 5
    assert len(drawn) > len(ranks) + 5
    for label, at in drawn.items():
        assert at["left"] > 0, label
        assert at["right"] < at["width"], label
    assert min(drawn[rank]["size"] for rank in ranks) > 10.99
    # Zoomed out, a rank that could not be read is left out, and what is drawn is no smaller.
    for _ in range(3):
        page.get_by_role("button", name="Zoom out").click()
        page.wait_for_timeout(400)
        drawn = labels_drawn(page)
        assert all(at["size"] > 10.99 for label, at in drawn.items() if label.isdigit())


@pytest.mark.parametrize("width", one_of(1000, 1440))
def test_a_tree_is_as_wide_as_the_page_whatever_the_word(
    new_page: Callable[..., Page], app_address: str, width: int
) -> None:
    page = new_page(viewport={**NARROW, "width": width})
    start(page, app_address)
    go_to(page, "Merge tree")
    sheet = page.get_by_role("group", name="Merge tree")
    for word in ("underestimating", "internationalisation", "antidisestablishment" * 9):
        field = page.get_by_role("textbox", name="Word")
        field.fill(word)
        field.press("Enter")
        expect(page.get_by_text(re.compile(r"^\d+ tokens?:")).first).to_be_visible()
        idle(page)
        expect(sheet.locator("svg title, svg desc").first).to_be_attached()
        wide, seen = sheet.evaluate("sheet => [sheet.scrollWidth, sheet.clientWidth]")
        assert wide <= seen, word
        atoms = sheet.locator("g:not([data-type]) > text:first-of-type").all_text_contents()
        assert "".join(atoms).removeprefix("␣") == word
        assert not [line for line in findings(page) if " px: " in line]

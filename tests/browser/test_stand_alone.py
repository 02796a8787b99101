"""Pages that need no app: the story, the atlas, a report, the free layout of a graph.

Each opens from its own folder, asks for nothing elsewhere, and has nothing to say on the console.
"""

import re
from pathlib import Path

import networkx as nx
import pytest
import reports
from effort import one_of
from playwright.sync_api import expect

from docs.tools.story import built
from morphgraph.batch.results import TableSpec, results_of_rows
from morphgraph.draw.scene import scene_of, stand_alone_html
from morphgraph.draw.score_charts import MOST_PANELS

pytestmark = pytest.mark.browser

DOCS = Path(__file__).parents[2] / "docs"
STORY, ATLAS = DOCS / "story" / "index.html", DOCS / "atlas" / "index.html"
HOSTILE = "</script><script>document.title = 'changed'</script><img src=x onerror=alert(1)>"


@pytest.fixture
def alone(new_page):
    """A function that opens a page, with the options of a context, and watches what it asks for."""
    wrong = []

    def open_page(path, folder=None, *, width=1280, **options):
        page = new_page(viewport={"width": width, "height": 900}, offline=True, **options)
        own = ((folder or path.parent).as_uri(), "data:", "blob:")
        page.on("request", lambda asked: asked.url.startswith(own) or wrong.append(asked.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())
        return page

    yield open_page
    assert wrong == []


def is_too_wide(page):
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_what_is_built_is_in_step_and_small():
    made, folder = built(), STORY.parent
    assert {name: (folder / "built" / name).read_text("utf-8") for name in made} == made
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 1_500_000
    assert all(len(made[f"merges-{code}.js"].encode()) < 300_000 for code in ("en", "de", "nl"))


@pytest.mark.parametrize("width", one_of(390, 768, 1440))
def test_a_guess_is_answered_and_the_knockout_comes_before_its_result(alone, width):
    page = alone(STORY, width=width)
    assert not is_too_wide(page)
    painted = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    page.wait_for_function(f"{painted} < 5_000")
    for section in page.locator("section.asks").all():
        height = section.evaluate("section => section.offsetHeight")
        told, choice = section.locator(".told p"), section.locator(".ask button").first
        expect(told).to_be_hidden()
        choice.press("Enter")
        expect(choice).to_be_focused()
        expect(told).to_be_visible()
        assert section.evaluate("section => section.offsetHeight") == height
    f1 = page.evaluate("story.data.without.ies.f1")
    expect(page.locator("#knocked")).to_be_empty()
    page.locator("#knock").click()
    expect(page.locator("#knocked")).to_contain_text(f1)
    if width > 640:  # a narrow fan has no boxes
        expect(page.locator("#fan-after").get_by_text("it + i + es").first).to_be_attached()


def test_words_and_labels_follow_the_slider_of_the_run(alone):
    page = alone(STORY)
    points, words = page.evaluate("[story.data.run.points, story.data.run.words]")
    assert len(points) > 5
    assert words[0] != words[-1]
    for at, (point, lines) in enumerate(zip(points, words, strict=True)):
        page.locator("#run input[type=range]").fill(str(at))
        expect(page.locator("#phase")).to_contain_text(point["label"])
        expect(page.locator("#run .said b")).to_have_text(point["label"])
        tokens = [token for line in lines for token in line["tokens"]]
        expect(page.locator("#end .chip")).to_have_text(tokens)


@pytest.mark.parametrize("scheme", one_of("light", "dark"))
def test_all_pages_of_the_atlas_open(alone, scheme):
    page = alone(ATLAS, DOCS, width=390, color_scheme=scheme)
    for path in sorted(ATLAS.parent.glob("*.html")):
        page.goto(path.as_uri())
        expect(page.locator("h1")).to_be_visible()
        assert not is_too_wide(page), path.name


def test_a_click_on_a_head_sorts_and_all_languages_fit_on_a_laptop(alone):
    page = alone(ATLAS, DOCS, width=1440)
    head = page.locator("table").first.get_by_role("button", name="Boundary F1")

    def shown():
        texts = page.locator("table").first.locator("tbody tr td:nth-child(3)").all_inner_texts()
        return [float(text.split()[0]) for text in texts]

    before = shown()
    head.click()
    assert shown() == sorted(before, reverse=True) != before
    head.click()
    assert shown() == sorted(before)
    for measure in ("Boundary F1", "Recall", "Tokens per word", "Dead types"):
        page.get_by_role("radio", name=measure).check()
        table = page.locator(".heat:visible")
        table.get_by_role("button", name="Serbo-Croatian").click()  # sorted, its head has an arrow
        assert table.evaluate("table => table.scrollWidth - table.parentElement.clientWidth") <= 0


@pytest.fixture
def report(tmp_path):
    """A report with hostile names, a wide table and two charts."""
    known = {"part": 1, "metric": "f1", "value": 0.5, "low": 0.4, "high": 0.6, "p": 0.5}
    rows = [
        {**known, "method": f"{HOSTILE}{n}", "scope": f"scope {s}", "vocab_size": size}
        for n in range(3)
        for s in range(20)
        for size in (8000, 16000)
    ]
    shape = {"rows": ["method", "vocab_size"], "columns": ["scope"], "metrics": ["f1"]}
    tables = [TableSpec(title=title, **shape, lines=True) for title in ("Wide", "Again")]
    reports.write(tmp_path, results_of_rows(rows), title=HOSTILE, tables=tables)
    return tmp_path / "report.html"


@pytest.mark.parametrize(("scheme", "width"), one_of(("dark", 1400), ("light", 1000)))
def test_a_report_draws_its_charts(alone, report, scheme, width):
    page = alone(report, width=width, color_scheme=scheme)
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    assert page.title() == " ".join(HOSTILE.split())
    assert page.locator(".chart .main-svg").count() >= 2
    assert page.locator(".chart .trace.scatter").count() == 2 * 3 * MOST_PANELS
    colours = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.querySelector('.chart .xtick text')).fill]"
    )
    paper, letters = (sum(map(int, re.findall(r"\d+", one)[:3])) / 3 for one in colours)
    assert paper > 200 if scheme == "light" else paper < 50
    assert abs(paper - letters) > 150, "charts can be read"
    assert not is_too_wide(page), "tables scroll"
    wide = page.locator(".wide").first
    wide.evaluate("element => { element.scrollLeft = 300 }")
    parts = ("tbody th", "tbody td.name", "tbody td.number")
    first, second, after = (wide.locator(part).first.bounding_box() for part in parts)
    assert abs(first["x"] - wide.bounding_box()["x"]) < 3, "the first column stays"
    assert abs(second["x"] - first["x"] - first["width"]) < 3, "and so does the second"
    assert after["x"] < second["x"], "numbers go below them"


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
def test_a_graph_in_free_layout(alone, tmp_path, theme):
    file = tmp_path / "graph.html"
    file.write_text(stand_alone_html(big_scene(), "Merges of <ung>"), encoding="utf-8")
    page = alone(file, color_scheme=theme)
    page.wait_for_function("network.body.nodeIndices.length === 27")
    page.wait_for_timeout(300)
    at = page.evaluate("network.canvasToDOM(network.getPosition('t0'))")
    box = page.locator("#graph").bounding_box()
    page.mouse.move(box["x"] + at["x"], box["y"] + at["y"])
    tip = page.locator(".vis-tooltip")
    expect(tip).to_be_visible()
    assert tip.inner_text().split("\n") == ["<img src=x onerror=alert(1)>", "second <b>line</b>"]
    assert tip.locator("img, b").count() == 0
    assert page.evaluate("document.scripts.length") == 2
    assert page.title() == "Merges of <ung>"

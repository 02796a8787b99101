"""A report in a real Chromium without a network: it draws its charts and asks for nothing."""

import math

import pytest
import reports

from morphgraph.batch.results import TableSpec, results_of_rows
from morphgraph.draw.score_charts import MOST_PANELS

HOSTILE = "</script><script>document.title = 'changed'</script><img src=x onerror=alert(1)>"

pytestmark = pytest.mark.browser


@pytest.fixture
def address(tmp_path):
    """A report with hostile names, a wide table and two charts."""
    known = {"part": 1, "metric": "f1", "value": 0.5, "low": 0.4, "high": 0.6, "p": 0.5}
    rows = [
        {**known, "method": f"{HOSTILE}{n}", "scope": f"scope {s}", "vocab_size": size}
        for n in range(3)
        for s in range(20)
        for size in (8000, 16000)
    ]
    tables = [
        TableSpec(
            title=title,
            rows=["method", "vocab_size"],
            columns=["scope"],
            metrics=["f1"],
            lines=True,
        )
        for title in ("Wide", "Again")
    ]
    reports.write(tmp_path, results_of_rows(rows), title=HOSTILE, tables=tables)
    return (tmp_path / "report.html").as_uri()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 1400)])
def test_report_without_a_network(browser, address, scheme, width):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    problems = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append("a dialog"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url == address or request.url.startswith(("data:", "blob:"))
            else problems.append(request.url)
        ),
    )
    page.goto(address)
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    assert page.title() == " ".join(HOSTILE.split())
    assert page.locator(".chart .main-svg").count() >= 2
    assert page.locator(".chart .trace.scatter").count() == 2 * 3 * MOST_PANELS
    colours = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.querySelector('.chart .xtick text')).fill]"
    )
    assert brightness(colours[0]) > 200 if scheme == "light" else brightness(colours[0]) < 50
    assert abs(brightness(colours[0]) - brightness(colours[1])) > 150, "charts can be read"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "tables scroll"
    wide = page.locator(".wide").first
    wide.evaluate("element => { element.scrollLeft = 300 }")
    first = wide.locator("tbody th").first.bounding_box()
    frame = wide.bounding_box()
    assert first and frame and abs(first["x"] - frame["x"]) < 3, "the first column stays"
    second = wide.locator("tbody td.name").first.bounding_box()
    after = wide.locator("tbody td.number").first.bounding_box()
    assert second and after
    assert abs(second["x"] - first["x"] - first["width"]) < 3, "and so does the second"
    assert after["x"] < second["x"], "numbers go below them"
    context.close()
    assert problems == []


def brightness(colour):
    """The mean of the channels of an rgb() colour."""
    channels = [float(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3]]
    return math.fsum(channels) / 3

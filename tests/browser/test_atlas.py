"""The atlas: its pages open without a server, need nothing from elsewhere, and sort."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

ATLAS = Path(__file__).parents[2] / "docs" / "atlas"

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_pages_open_without_a_server(new_page, scheme):
    page = new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    told = []
    page.on("request", lambda request: told.append(request.url))
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    for path in sorted(ATLAS.glob("*.html")):
        page.goto(path.as_uri())
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path.name
    assert [text for text in told if not text.startswith((ATLAS.parent.as_uri(), "data:"))] == []


def test_a_click_on_a_head_sorts(page):
    page.goto((ATLAS / "index.html").as_uri())
    table = page.locator("table").first
    head = table.get_by_role("button", name="Boundary F1")

    def shown():
        texts = page.locator("table").first.locator("tbody tr td:nth-child(3)").all_inner_texts()
        return [float(text.split()[0]) for text in texts]

    before = shown()
    head.click()
    assert shown() == sorted(before, reverse=True) != before
    head.click()
    assert shown() == sorted(before)
    page.get_by_role("radio", name="Tokens per word").check()
    expect(page.locator("#map-3")).to_be_visible()
    expect(page.locator("#map-1")).to_be_hidden()


@pytest.mark.parametrize("measure", ["Boundary F1", "Recall", "Tokens per word", "Dead types"])
def test_all_languages_fit_on_a_laptop(new_page, measure):
    page = new_page(viewport={"width": 1440, "height": 900})
    page.goto((ATLAS / "index.html").as_uri())
    page.get_by_role("radio", name=measure).check()
    table = page.locator(".heat:visible")
    table.get_by_role("button", name="Serbo-Croatian").click()  # sorted, its head has an arrow
    assert table.evaluate("table => table.scrollWidth - table.parentElement.clientWidth") <= 0

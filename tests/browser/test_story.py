"""The story: it needs nothing from elsewhere, and cuts words as the library does."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from docs.tools.story import built

pytestmark = pytest.mark.browser

STORY = Path(__file__).parents[2] / "docs" / "story"


def test_what_is_built_is_in_step_and_small():
    made = built()
    assert {name: (STORY / "built" / name).read_text("utf-8") for name in made} == made
    assert sum(path.stat().st_size for path in STORY.rglob("*") if path.is_file()) < 1_500_000
    assert all(len(made[f"merges-{code}.js"].encode()) < 300_000 for code in ("en", "de", "nl"))


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_it_opens_from_its_folder_alone(new_page, width):
    page = new_page(viewport={"width": width, "height": 900})
    said = []
    asked = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((STORY / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    assert page.evaluate(painted) < 5_000
    assert said == []
    assert [url for url in asked if not url.startswith(STORY.as_uri())] == []


@pytest.mark.parametrize("width", [1440, 390])
def test_a_guess_is_answered_and_the_knockout_comes_before_its_result(new_page, width):
    page = new_page(viewport={"width": width, "height": 900})
    page.goto((STORY / "index.html").as_uri())
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


def test_words_and_labels_follow_the_slider_of_the_run(page):
    page.goto((STORY / "index.html").as_uri())
    points, words = page.evaluate("[story.data.run.points, story.data.run.words]")
    assert len(points) > 5
    assert words[0] != words[-1]
    for at, (point, lines) in enumerate(zip(points, words, strict=True)):
        page.locator("#run input[type=range]").fill(str(at))
        expect(page.locator("#phase")).to_contain_text(point["label"])
        expect(page.locator("#run .said b")).to_have_text(point["label"])
        tokens = [token for line in lines for token in line["tokens"]]
        expect(page.locator("#end .chip")).to_have_text(tokens)

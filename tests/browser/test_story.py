"""The story: it needs nothing from elsewhere, and cuts words as the library does."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from docs.tools.story import built

pytestmark = pytest.mark.browser

STORY = Path(__file__).parents[2] / "docs" / "story"


def test_what_is_built_is_in_step_and_small() -> None:
    made = built()
    assert {name: (STORY / "built" / name).read_text("utf-8") for name in made} == made
    assert sum(path.stat().st_size for path in STORY.rglob("*") if path.is_file()) < 1_500_000
    assert all(len(made[f"merges-{code}.js"].encode()) < 300_000 for code in ("en", "de", "nl"))


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_it_opens_from_its_folder_alone(new_page: Callable[..., Page], width: int) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((STORY / "index.html").as_uri())
    page.get_by_role("button", name="Show the tokeniser’s cuts").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    painted = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    assert page.evaluate(painted) < 5_000
    assert said == []
    assert [url for url in asked if not url.startswith(STORY.as_uri())] == []


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_is_revealed_before_a_choice_and_nothing_moves_after(
    new_page: Callable[..., Page], width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    page.goto((STORY / "index.html").as_uri())
    secrets = page.evaluate("""() => {
      const { births, precision, blame, without, run } = story.data;
      return [
        [births[1].count.toLocaleString("en-GB"), births[3].words[0]],
        ["unbelievable", precision],
        [blame.es.share, "baker"],
        [without.ies.f1, without.ies.cover],
        [run.end.f1, run.end.low],
      ];
    }""")
    for number, hidden in enumerate(secrets, start=2):
        section = page.locator(f"#step-{number}")
        veils = section.locator("[data-veil], .told p").all()
        said = section.inner_text().replace("\n", "")
        assert [secret for secret in hidden if secret in said] == []
        assert [veil for veil in veils if veil.is_visible()] == []
        height = section.evaluate("section => section.offsetHeight")
        choice = section.locator(".ask button").first
        choice.press("Enter")
        expect(choice).to_be_focused()
        said = section.inner_text().replace("\n", "")
        assert [secret for secret in hidden if secret not in said] == []
        assert [veil for veil in veils if not veil.is_visible()] == []
        assert section.evaluate("section => section.offsetHeight") == height


def test_words_and_labels_follow_the_slider_of_the_run(page: Page) -> None:
    page.goto((STORY / "index.html").as_uri())
    page.locator("#step-6 .ask button").first.click()
    points, words = page.evaluate("[story.data.run.points, story.data.run.words]")
    assert len(points) > 5
    assert words[0] != words[-1]
    for at, (point, lines) in enumerate(zip(points, words, strict=True)):
        page.locator("#run input[type=range]").fill(str(at))
        expect(page.locator("#phase")).to_contain_text(point["label"])
        expect(page.locator("#run .said b")).to_have_text(point["label"])
        tokens = [token for line in lines for token in line["tokens"]]
        expect(page.locator("#end .chip")).to_have_text(tokens)

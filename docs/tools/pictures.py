"""Make the pictures of the docs, and the animation of the README, from the running app.

Run: ``python -m docs.tools.pictures``; it needs Chromium, as the tests do. Each picture has a dark
twin beside it, which `docs.tools.dark` shows on dark pages.
"""

import io
from typing import Literal
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks import running_app
from benchmarks.app import chromium
from docs.tools import DOCS
from docs.tools.dark import DARK

IMAGES = DOCS / "images"
SIZE = {"width": 1280, "height": 800}
GIF_WIDTH = 960


def settle(page: Page) -> None:
    """Wait until the page has nothing left to run and nothing moves."""
    page.wait_for_timeout(400)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_timeout(1500)


def go_to(page: Page, name: str) -> None:
    """Open a page by its tab."""
    page.locator(".st-key-tabs").get_by_role("link", name=name, exact=True).click()
    page.mouse.move(700, 20)
    settle(page)


def first_minute(page: Page) -> list[tuple[Image.Image, int]]:
    """Take the frames of the animation: a type, its knockout, another one, the user's own text.

    Each comes with the milliseconds that it lasts.
    """
    frames: list[tuple[Image.Image, int]] = []

    def frame(milliseconds: int) -> None:
        taken = Image.open(io.BytesIO(page.screenshot()))
        height = round(taken.height * GIF_WIDTH / taken.width)
        small = taken.convert("RGB").resize((GIF_WIDTH, height), Image.Resampling.LANCZOS)
        frames.append((small.quantize(96, dither=Image.Dither.NONE), milliseconds))

    field = page.get_by_role("textbox", name="A word, or any text")
    frame(2200)
    for token in ("ies", "ating"):
        page.locator(".token").get_by_text(token, exact=True).first.click()
        page.mouse.move(700, 20)
        settle(page)
        frame(1500)
        page.keyboard.press("k")
        settle(page)
        frame(2000)
    text = "undesirable flowers carried things"
    for end in range(4, len(text) + 4, 4):
        field.fill(text[:end])
        page.wait_for_timeout(300)
        if end % 12 == 0:
            frame(350)
    field.press("Enter")
    settle(page)
    frame(3000)
    return frames


def take_all(scheme: Literal["light", "dark"]) -> None:
    """Take all pictures; the animation is light."""

    def shoot(name: str) -> None:
        page.screenshot(path=IMAGES / f"{name}{DARK if scheme == 'dark' else ''}.png")

    with running_app() as (address, _), sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page(viewport=SIZE, color_scheme=scheme)
        page.set_default_timeout(300_000)
        page.goto(address)
        page.locator(".st-key-knock-out button").wait_for()
        settle(page)
        shoot("work-word")
        (first, *others), lasting = zip(*first_minute(page), strict=True)
        if scheme == "light":
            options = {"append_images": others, "duration": lasting, "loop": 0, "optimize": True}
            first.save(IMAGES / "first-minute.gif", save_all=True, **options)
        page.get_by_role("radio", name="All types").click()
        settle(page)
        shoot("work-types")
        page.goto(
            f"{address}/?state=Type&type=ies&text={quote('The bakeries carried strawberries')}"
        )
        page.get_by_role("button", name="Bring it back").wait_for()
        settle(page)
        shoot("work-knocked")
        pages = {"Compare": "compare", "Build": "build", "Repair": "repair"}
        for name, picture in pages.items():
            go_to(page, name)
            page.wait_for_timeout(6000)
            settle(page)
            shoot(picture)
        page.get_by_role("radio", name="ReBPE").locator("xpath=ancestor::label").click()
        settle(page)
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("heading", name="converged").wait_for()
        page.locator('g[data-phase="2"]').click()
        settle(page)
        shoot("rebpe")
        page.get_by_role("button", name="History, export").click()
        settle(page)
        shoot("drawer")
        browser.close()


if __name__ == "__main__":
    take_all("light")
    take_all("dark")

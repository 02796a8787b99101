"""The app in a real Chromium: clicks, typing, and its memory."""

import math
import os
import re
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from benchmarks import GERMAN_BPE, data, running_app, table
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.draw.cutting import cutting_tables
from morphgraph.formats.loading import load_tokeniser

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
OPENED = {
    "English demo": ("en", "", ("ing", "er", "un", "able")),
    "oscar-de-40k": ("de", GERMAN_BPE, ("ung", "en", "er", "lich")),
    "Qwen 2.5": ("en", "tokenizers/qwen2.5", ("ing", "er", "un", "able")),
}
"""Tokenisers, by the demo whose gold they are scored on, and types to look around."""
SCRIPT = Path(__file__).with_name("clicks.js")
CLICK_COLUMNS = ("median {:.0f}", "p95 {:.0f}", "max {:.0f}")


def clicks(clicks: int = 20) -> None:
    """From a click on a type to the graph redrawn and the scores updated, inside the page.

    From the pointer event to the frame in which the graph has its new data and the metrics show the
    new values.
    """
    rows = []
    for name, page, _ in _each_opened("&state=Type"):
        page.get_by_role("group", name="Merge graph:").wait_for()
        timed = _time_clicks(page, OPENED[name][2], clicks // 4)
        rows += [(name, each, *summary(values).values()) for each, values in timed.items()]
    print(f"{clicks} clicks each, milliseconds\n")
    table(["tokeniser", "click to", *CLICK_COLUMNS], rows)


def typing(words: int = 200, keys: int = 40) -> None:
    """From a key to the chips of a text on the screen, and the size of the tables for it.

    From the event of a key to the frame that shows its letter cut; a vocabulary too large for
    tables is cut by the app.
    """
    rows = []
    for name, page, _ in _each_opened():
        language, path, _ = OPENED[name]
        tables = cutting_tables(load_tokeniser(str(data(path)) if path else f"demo:{language}"))
        if tables is None:
            continue
        field = page.get_by_role("textbox", name="A word, or any text")
        field.fill(" ".join(wordfreq_counts(language).words[100 : 100 + words]))
        page.wait_for_timeout(3000)
        field.focus()
        page.keyboard.press("Control+End")
        page.evaluate("__timeKeys()")
        for number in range(keys):
            page.keyboard.press(" strawberries"[number % 13])
            page.wait_for_timeout(120)
        took = summary(page.evaluate("__keys"))
        rows.append((name, *took.values(), len(tables.packed) / 1000))
    print(f"A text of {words} words, {keys} keys, milliseconds\n")
    table(["tokeniser", *CLICK_COLUMNS, "tables, kB {:.0f}"], rows)


def visits() -> None:
    """From a click on a page that was not yet open until it stands, and how far it moves by then.

    A page stands when it is shown and its run has ended: methods that are trained there join it
    later. Shift is Chromium's `layout-shift`, until a second later. Megabytes are those of the app
    with all pages seen so far.
    """
    rows = []
    for name, page, app in _each_opened():
        for place in ("Repair", "Compare", "Build", "Workbench"):
            _wait_for_rest(app)  # what the next page needs is computed meanwhile
            page.evaluate("__timeVisit()")
            page.locator(".st-key-bar").get_by_role("link", name=place).click()
            page.wait_for_function("__visit.quiet()", polling=100)
            took, shift = page.evaluate("[__visit.took, __visit.shift]")
            rows.append((name, place, took, shift, _used(app)))
    table(["tokeniser", "page", "ms {:.0f}", "shift {:.3f}", "MB {:.0f}"], rows)


def _each_opened(asked: str = "") -> Iterator[tuple[str, Page, psutil.Process]]:
    """Open the app on each of `OPENED`, with more in the address; yield its page and process."""
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        for name, (demo, path, _) in OPENED.items():
            with running_app() as (url, app):
                page = browser.new_page(viewport={"width": 1440, "height": 1000}, bypass_csp=True)
                page.set_default_timeout(120_000)
                page.goto(f"{url}/?demo={demo}{asked}")
                page.locator(".st-key-knock-out button").wait_for()
                page.wait_for_selector(IDLE)
                if path:
                    given = page.locator(".st-key-drop-zone input[type=file]")
                    given.set_input_files(str(data(path) / "tokenizer.json"))
                    page.get_by_text(re.compile("is open: ")).first.wait_for()
                    page.wait_for_selector(IDLE)
                page.evaluate(SCRIPT.read_text(encoding="utf-8"))
                yield name, page, app
                page.close()
        browser.close()


def chromium(playwright: Playwright) -> Browser:
    """Return the system's browser, started."""
    names = ("chromium", "chromium-browser", "google-chrome")
    place = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if place is None:
        sys.exit("Install Chromium, or set CHROMIUM to its path.")
    return playwright.chromium.launch(executable_path=place, args=FLAGS)


def _wait_for_rest(app: psutil.Process) -> None:
    """Wait until the app and its processes have computed nearly nothing for three seconds."""
    used, rest = 0.0, 0
    while rest < 3:
        time.sleep(1)
        times = [one.cpu_times() for one in (app, *app.children(recursive=True))]
        before, used = used, sum(one.user + one.system for one in times)
        rest = rest + 1 if used - before < 0.1 else 0


def _used(app: psutil.Process) -> float:
    """Return the resident megabytes of the app and its processes."""
    return sum(one.memory_info().rss for one in (app, *app.children(recursive=True))) / 1e6


def summary(values: list[float]) -> dict[str, float]:
    """Return the median, the 95th percentile (nearest rank) and the maximum."""
    ordered = sorted(values)
    p95 = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return {"median": statistics.median(ordered), "p95": p95, "max": ordered[-1]}


def _time_clicks(page: Page, places: Sequence[str], at_each: int) -> dict[str, list[float]]:
    """Return the milliseconds of each click that shows a type, and of each that knocks one out."""
    shown, removed = [], []
    for place in places:
        _look_around(page, place)
        clicked = set()
        for _ in range(at_each):
            target = next(t for t in page.evaluate("__targets()") if t["key"] not in clicked)
            clicked.add(target["key"])
            rank = target["tooltip"].split("rank ")[1].split("\n")[0]
            wanted = {"label": target["label"], "rank": rank}
            shown.append(_timed_click(page, "select", target, wanted))
        for _ in range(at_each):
            # Types that are applied come first: they change the scores.
            target = min(page.evaluate("__targets()"), key=lambda t: not t["applied"])
            page.mouse.click(target["x"], target["y"])
            page.get_by_role("heading", name=target["label"], exact=True).wait_for()
            page.wait_for_timeout(500)
            removed.append(_timed_click(page, "knockout", target, {}, key="k"))
    return {"show a type in the panel": shown, "knock a type out": removed}


def _look_around(page: Page, name: str) -> None:
    """Focus the graph on a type."""
    page.keyboard.press("Control+k")
    field = page.get_by_role("dialog").get_by_role("combobox")
    field.fill(name)
    page.get_by_role("option").first.wait_for()
    field.press("Enter")
    page.get_by_role("heading", name=name, exact=True).wait_for()
    page.wait_for_timeout(1500)


def _timed_click(
    page: Page, kind: str, target: dict[str, Any], wanted: dict[str, Any], key: str = ""
) -> float:
    """Return the milliseconds from a click, or a key, until the page shows what is expected."""
    page.evaluate("([kind, wanted]) => __timeClick(kind, wanted)", [kind, wanted])
    if key:
        page.keyboard.press(key)
    else:
        page.mouse.click(target["x"], target["y"])
    page.wait_for_function("globalThis.__timed !== null")
    milliseconds = float(page.evaluate("globalThis.__timed"))
    if milliseconds < 0:
        sys.exit(f"A click on {target['label']} had no effect.")
    page.wait_for_selector(IDLE)
    page.wait_for_timeout(700)  # until animations end
    return milliseconds

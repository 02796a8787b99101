"""From a mouse click on a type to the graph redrawn and the scores updated, in a real Chromium.

oscar-de-40k with MorphyNet German in the app. A click is timed inside the page, from its pointer
event to the frame in which the graph has its new data and the metrics show the new values.

Run: ``python -m benchmarks.clicks``
"""

import math
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.common import ROOT, data_folder, save, table

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLICKS = 20
MEDIAN_BAR, P95_BAR = 300, 600  # ms
PLACES = ("ung", "en", "er", "lich")  # types to look around, five clicks each
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

# The page remembers what is shown, then measures from the click to the first frame in which
# `done` holds. It checks every frame, so it is as precise as human sight.
SCRIPT = """
(() => {
  const surface = () => {
    for (const host of document.querySelectorAll("*")) {
      const found = host.shadowRoot?.querySelector("svg.surface");
      if (found) return found;
    }
    return null;
  };
  const metric = (label) => [...document.querySelectorAll('[data-testid="stMetric"]')]
    .find((m) => m.querySelector('[data-testid="stMetricLabel"]')?.innerText.trim() === label)
    ?.querySelector('[data-testid="stMetricValue"]')?.innerText.trim();
  const idle = () => document.querySelector('[data-testid="stApp"]')
    .dataset.testScriptState === 'notRunning';
  const tests = {
    knockout: ({ key, size }) => {
      const vertex = surface().querySelector(`[data-key="${key}"][data-id]`);
      return (!vertex || vertex.matches(".ghost")) && metric('Types') === size;
    },
    select: ({ label, rank }) => {
      const main = document.querySelector('[data-testid="stMain"]');
      const heads = [...main.querySelectorAll('h3')].map((h) => h.innerText.trim());
      return heads.includes(label) && idle() && main.innerText.includes(`rank ${rank};`);
    },
  };
  globalThis.__timeClick = (kind, wanted) => {
    globalThis.__timed = null;
    addEventListener('pointerdown', (event) => {
      const begin = event.timeStamp;
      const look = (now) => {
        if (tests[kind](wanted)) globalThis.__timed = performance.now() - begin;
        else if (now - begin < 20000) requestAnimationFrame(look);
        else globalThis.__timed = -1;
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  };
  globalThis.__targets = () => {
    const drawn = [...surface().querySelectorAll('.vertex.type[data-id]:not(.ghost, .focus)')];
    return drawn.filter((vertex) => vertex.textContent.includes('rank ')).map((vertex) => {
      const { left, top, width, height } = vertex.querySelector('.box').getBoundingClientRect();
      const told = vertex.querySelector('title').textContent;
      return { key: vertex.dataset.key, label: vertex.querySelector('text').textContent,
        applied: !told.includes('never applied'), tooltip: told,
        x: left + width / 2, y: top + height / 2 };
    });
  };
})()
"""
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@contextmanager
def running_app() -> Iterator[str]:
    """Run the app on a free port, without storing anything."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "web" / "serve.py")]
    command += ["--server.headless", "true", "--server.port", str(port)]
    command += ["--server.fileWatcherType", "none"]
    with tempfile.TemporaryDirectory() as state:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "MORPHGRAPH_STATE": state},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(300):
                try:
                    with urlopen(f"{url}/_stcore/health", timeout=2):
                        break
                except (URLError, OSError):
                    time.sleep(0.1)
            else:
                sys.exit("The app did not start.")
            yield url
        finally:
            process.terminate()
            process.wait(timeout=10)


def open_files(page: "Page", url: str) -> None:
    """Upload the tokeniser and the reference on the start page, and go to the graph."""
    data = data_folder()
    page.set_default_timeout(120_000)
    page.goto(url)
    page.get_by_role("heading", name="Open your own files").wait_for()
    for label, path, shown in (
        ("Tokeniser", data / "tokenizers/oscar-de-40k/tokenizer.json", "tokenizer.json"),
        ("Reference", data / "references/morphynet/deu.derivational.v1.tsv", "deu.derivational"),
    ):
        page.wait_for_selector(IDLE)
        field = page.get_by_test_id("stFileUploader").filter(has_text=label)
        field.locator("input[type=file]").set_input_files(str(path))
        page.get_by_test_id("stSidebar").get_by_text(shown).wait_for()
        page.wait_for_timeout(1500)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Merge graph").click()
    page.get_by_role("group", name="Merge graph:").wait_for()
    page.evaluate(SCRIPT)


def look_around(page: "Page", name: str) -> None:
    """Focus the graph on a type."""
    field = page.get_by_role("textbox", name="Find a type")
    field.fill(name)
    field.press("Enter")
    page.wait_for_timeout(800)
    page.get_by_role("combobox", name="match").click()
    page.get_by_role("option", name=name, exact=True).first.click()
    page.get_by_role("heading", name=name, exact=True).wait_for()
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Show all").click()
    page.wait_for_timeout(500)


def timed_click(page: "Page", kind: str, target: dict[str, Any], wanted: dict[str, Any]) -> float:
    """Return the milliseconds from a click until the page shows the expected values."""
    page.evaluate("([kind, wanted]) => __timeClick(kind, wanted)", [kind, wanted])
    page.mouse.click(target["x"], target["y"])
    page.wait_for_function("globalThis.__timed !== null")
    milliseconds = float(page.evaluate("globalThis.__timed"))
    if milliseconds < 0:
        sys.exit(f"A click on {target['label']} had no effect.")
    page.wait_for_selector(IDLE)
    page.wait_for_timeout(700)  # until animations end
    return milliseconds


def rank_of(target: dict[str, Any]) -> str:
    """Return the rank in a type's tooltip, as the panel shows it."""
    return str(target["tooltip"].split("rank ")[1].split("\n")[0])


def measure(page: "Page") -> dict[str, list[float]]:
    """Return the milliseconds of each click that shows a type, and of each that knocks one out."""
    shown, removed = [], []
    size = 40_000
    for place in PLACES:
        _a_click(page, "Show it")
        look_around(page, place)
        clicked = set()
        for _ in range(CLICKS // len(PLACES)):
            target = next(t for t in page.evaluate("__targets()") if t["key"] not in clicked)
            clicked.add(target["key"])
            wanted = {"label": target["label"], "rank": rank_of(target)}
            shown.append(timed_click(page, "select", target, wanted))
        _a_click(page, "Knock it out")
        for _ in range(CLICKS // len(PLACES)):
            # Types that are applied come first: they change the scores.
            targets = sorted(page.evaluate("__targets()"), key=lambda t: not t["applied"])
            size -= 1
            wanted = {"key": targets[0]["key"], "size": f"{size:,}"}
            removed.append(timed_click(page, "knockout", targets[0], wanted))
    return {"show a type in the panel": shown, "knock a type out": removed}


def _a_click(page: "Page", does: str) -> None:
    """Choose what a click on a type does."""
    page.get_by_role("button", name="View").click()
    page.get_by_text(does, exact=True).click()
    page.keyboard.press("Escape")
    page.wait_for_timeout(800)


def summary(milliseconds: list[float]) -> dict[str, float]:
    """Return the median, the 95th percentile (nearest rank) and the maximum."""
    ordered = sorted(milliseconds)
    return {
        "median": statistics.median(ordered),
        "p95": ordered[math.ceil(0.95 * len(ordered)) - 1],
        "max": ordered[-1],
    }


def main() -> None:
    """Print milliseconds."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit("Install Chromium, or set CHROMIUM to its path.")
    with running_app() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 1000}, bypass_csp=True)
        open_files(page, url)
        timed = measure(page)
        browser.close()
    results = {name: summary(values) for name, values in timed.items()}
    print(f"oscar-de-40k, MorphyNet German derivations, {CLICKS} clicks each, milliseconds\n")
    table(
        ["click to", "median", "p95", "max"],
        [
            [name, *(f"{found[key]:.0f}" for key in ("median", "p95", "max"))]
            for name, found in results.items()
        ],
    )
    print()
    for name, found in results.items():
        held = found["median"] <= MEDIAN_BAR and found["p95"] <= P95_BAR
        print(f"{name}: median ≤ {MEDIAN_BAR}, p95 ≤ {P95_BAR}: {'held' if held else 'missed'}")
    save("clicks", {name: {**found, "all": timed[name]} for name, found in results.items()})


if __name__ == "__main__":
    main()

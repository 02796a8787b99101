"""The app: clicks in a real Chromium, and many simultaneous visitors over real websockets."""

import asyncio
import json
import math
import os
import random
import re
import shutil
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import requests
import websockets
from playwright.sync_api import Browser, Page, Playwright, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks import GERMAN_BPE, GERMAN_GOLD, data, running_app, table
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.draw.cutting import cutting_tables
from morphgraph.formats.loading import load_tokeniser

PLACES = ("ung", "en", "er", "lich")  # types to look around
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
SCRIPT = Path(__file__).with_name("clicks.js")
CLICK_COLUMNS = ("median {:.0f}", "p95 {:.0f}", "max {:.0f}")
PAUSE = 5.0  # seconds between the steps of a visitor
PAGES = ("", "Repair", "Compare")
CLICKED = re.compile(r"Knock out$|Undo$|Redo$|Use the best threshold$")
LONGEST = 120  # seconds until a step counts as lost


def clicks(clicks: int = 20) -> None:
    """From a click on a type to the graph redrawn and the scores updated, inside the page.

    oscar-de-40k with MorphyNet German; from the pointer event to the frame in which the graph has
    its new data and the metrics show the new values.
    """
    with running_app() as (url, _), sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": 1440, "height": 1000}, bypass_csp=True)
        _open_in_browser(page, url)
        timed = _time_clicks(page, clicks // len(PLACES))
        browser.close()
    print(f"oscar-de-40k, MorphyNet German derivations, {clicks} clicks each, milliseconds\n")
    rows = [(name, *summary(values).values()) for name, values in timed.items()]
    table(["click to", *CLICK_COLUMNS], rows)


def typing(words: int = 200, keys: int = 40) -> None:
    """From a key to the chips of a text on the screen, and the size of the tables for it.

    English, and oscar-de-40k; from the event of a key to the frame that shows its letter cut.
    """
    rows = []
    with running_app() as (url, _), sync_playwright() as playwright:
        browser = chromium(playwright)
        files = {"en": None, "de": data(GERMAN_BPE) / "tokenizer.json"}
        for language, path in files.items():
            page = browser.new_page(viewport={"width": 1440, "height": 1000}, bypass_csp=True)
            page.set_default_timeout(120_000)
            page.goto(url)
            page.wait_for_selector(".word .token")
            page.wait_for_selector(IDLE)
            if path is not None:
                page.locator(".st-key-drop-zone input[type=file]").set_input_files(str(path))
                page.get_by_text("one of 40,000 types").wait_for()
            field = page.get_by_role("textbox", name="A word, or any text")
            field.fill(" ".join(wordfreq_counts(language).words[100 : 100 + words]))
            page.wait_for_timeout(3000)
            page.evaluate(SCRIPT.read_text(encoding="utf-8"))
            field.focus()
            page.keyboard.press("Control+End")
            page.evaluate("__timeKeys()")
            for number in range(keys):
                page.keyboard.press(" strawberries"[number % 13])
                page.wait_for_timeout(120)
            took = summary(page.evaluate("__keys"))
            tables = cutting_tables(load_tokeniser(path or f"demo:{language}"))
            assert tables is not None
            name = "demo:en" if path is None else "oscar-de-40k"
            rows.append((name, *took.values(), len(tables.packed) / 1000))
            page.close()
        browser.close()
    print(f"A text of {words} words, {keys} keys, milliseconds\n")
    table(["tokeniser", *CLICK_COLUMNS, "tables, kB {:.0f}"], rows)


def memory() -> None:
    """Megabytes of the app after each page, with the English demo, for one visitor."""
    with running_app() as (url, app), sync_playwright() as playwright:
        rows = [("nothing, only started", _used(app))]
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto(url)
        links = page.get_by_test_id("stSidebar").get_by_role("link")
        page.get_by_role("heading", name="Open your own files").wait_for()
        for link in links.all():
            link.click()
            page.wait_for_timeout(5000)  # what is computed beside the page, too
            page.wait_for_selector(IDLE)
            rows.append((link.inner_text().splitlines()[-1], _used(app)))
        browser.close()
    table(["opened, one after the other", "MB {:.0f}"], rows)


def chromium(playwright: Playwright) -> Browser:
    """Return the system's browser, started."""
    names = ("chromium", "chromium-browser", "google-chrome")
    place = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if place is None:
        sys.exit("Install Chromium, or set CHROMIUM to its path.")
    return playwright.chromium.launch(executable_path=place, args=FLAGS)


def _used(app: psutil.Process) -> float:
    """Return the resident megabytes of the app and its processes."""
    return sum(one.memory_info().rss for one in (app, *app.children(recursive=True))) / 1e6


def summary(values: list[float]) -> dict[str, float]:
    """Return the median, the 95th percentile (nearest rank) and the maximum."""
    ordered = sorted(values)
    p95 = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return {"median": statistics.median(ordered), "p95": p95, "max": ordered[-1]}


def _open_in_browser(page: Page, url: str) -> None:
    """Upload the tokeniser and the reference on the start page, and go to the graph."""
    page.set_default_timeout(120_000)
    page.goto(url)
    page.locator(".st-key-knock-out button").wait_for()
    for path, shown in (
        (data(GERMAN_BPE) / "tokenizer.json", "40,000 types"),
        (data(GERMAN_GOLD), "deu.derivational"),
    ):
        page.wait_for_selector(IDLE)
        page.locator(".st-key-drop-zone input[type=file]").set_input_files(str(path))
        page.locator(".st-key-what-is-open").get_by_text(shown[:12]).wait_for()
        page.wait_for_timeout(1500)
    page.get_by_role("radio", name="Type", exact=True).click()
    page.get_by_role("group", name="Merge graph:").wait_for()
    page.evaluate(SCRIPT.read_text(encoding="utf-8"))


def _time_clicks(page: Page, at_each: int) -> dict[str, list[float]]:
    """Return the milliseconds of each click that shows a type, and of each that knocks one out."""
    shown, removed = [], []
    for place in PLACES:
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
    page.get_by_role("dialog").get_by_role("combobox").wait_for()
    page.wait_for_timeout(500)
    page.keyboard.type(name)
    page.wait_for_timeout(500)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=name, exact=True).wait_for()
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Show all").click()
    page.wait_for_timeout(500)


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


@dataclass
class Visitor:
    """The browser's side of one session: its present page, and what can be clicked there."""

    url: str
    chance: random.Random
    socket: Any = None
    web: requests.Session = field(default_factory=requests.Session)
    session: str = ""
    page: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, tuple[str, str]] = field(default_factory=dict)
    uploads: dict[str, tuple[str, str]] = field(default_factory=dict)
    graph: tuple[str, str, list[str]] | None = None
    clicks: int = 0
    begun: bool = False
    states: dict[str, WidgetState] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    async def arrive(self, files: str) -> None:
        """Open the start page with its demo, and upload the files there."""
        await asyncio.to_thread(self.web.get, f"{self.url}/_stcore/health")
        cookies = "; ".join(f"{name}={value}" for name, value in self.web.cookies.items())
        self.socket = await websockets.connect(
            f"{self.url.replace('http', 'ws')}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            additional_headers={"Cookie": cookies} if cookies else {},
            max_size=None,
        )
        await self.run()
        if files == "german":
            await self.upload("Tokeniser", data(GERMAN_BPE) / "tokenizer.json")
            await self.upload("Reference", data(GERMAN_GOLD))

    async def run(self, *sent: WidgetState, page: str | None = None, fragment: str = "") -> None:
        """Request a run of the page or a fragment, and wait until it is done."""
        message = BackMsg()
        state = message.rerun_script
        if page is not None:
            self.page = self.pages[page]
            self.states.clear()
        state.page_script_hash, state.fragment_id = self.page, fragment
        state.widget_states.widgets.extend([*self.states.values(), *sent])
        self.begun = False
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(LONGEST):
            while True:
                heard = ForwardMsg.FromString(await self.socket.recv())
                self._note(heard)
                is_last = heard.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
                if heard.HasField("script_finished") and is_last and self.begun:
                    return

    def _note(self, heard: ForwardMsg) -> None:
        if heard.HasField("new_session"):
            new = heard.new_session
            # Earlier messages belong to an earlier run.
            self.begun = self.begun or self.page in ("", new.page_script_hash)
            if not heard.metadata.run.fragment_ids:
                self.buttons.clear()
                self.uploads.clear()
                self.graph = None
            self.session = new.initialize.session_id or self.session
            self.page = self.page or new.page_script_hash
        if heard.HasField("navigation"):
            listed = heard.navigation.app_pages
            self.pages = {page.url_pathname: page.page_script_hash for page in listed}
        if not heard.HasField("delta"):
            return
        element, fragment = heard.delta.new_element, heard.delta.fragment_id
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "button" and not element.button.disabled:
            self.buttons[element.button.label] = (element.button.id, fragment)
        elif kind == "file_uploader":
            self.uploads[element.file_uploader.label] = (element.file_uploader.id, fragment)
        elif kind == "bidi_component" and '"view_key"' in element.bidi_component.json:
            drawn = re.findall(r'"(t\d+)"', element.bidi_component.json)
            if drawn:
                self.graph = (element.bidi_component.id, fragment, sorted(set(drawn)))

    async def upload(self, label: str, path: Path) -> None:
        """Upload a file to a field of the start page."""
        message = BackMsg()
        message.file_urls_request.request_id = label
        message.file_urls_request.file_names.append(path.name)
        message.file_urls_request.session_id = self.session
        await self.socket.send(message.SerializeToString())
        while True:
            heard = ForwardMsg.FromString(await self.socket.recv())
            if heard.HasField("file_urls_response"):
                break
        (urls,) = heard.file_urls_response.file_urls
        token = {"X-Xsrftoken": self.web.cookies.get("_streamlit_xsrf", "")}
        files = {"file": (path.name, path.read_bytes())}
        address = self.url + urls.upload_url
        sent = await asyncio.to_thread(self.web.put, address, files=files, headers=token)
        sent.raise_for_status()
        widget, fragment = self.uploads[label]
        state = WidgetState(id=widget)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = path.name, path.stat().st_size, urls.file_id
        info.file_urls.CopyFrom(urls)
        self.states[widget] = state
        await self.run(fragment=fragment)

    async def step(self) -> str:
        """Change the page or click; return the kind of step."""
        buttons = [label for label in self.buttons if CLICKED.search(label)]
        if self.chance.random() < 0.5 and (self.graph or buttons):
            if self.graph and (not buttons or self.chance.random() < 0.6):
                component, fragment, drawn = self.graph
                self.clicks += 1
                click = {"sequence": self.clicks, "key": self.chance.choice(drawn), "kind": "click"}
                payload = json.dumps([{"event": "pending", "value": [click]}])
                name = f"$$STREAMLIT_INTERNAL_KEY_{component}__events"
                state = WidgetState(id=name, json_trigger_value=payload)
                await self.run(state, fragment=fragment)
                return "click on a type"
            label = self.chance.choice(buttons)
            widget, fragment = self.buttons.pop(label)
            await self.run(WidgetState(id=widget, trigger_value=True), fragment=fragment)
            return label.split(":")[-1].strip()
        page = self.chance.choice(PAGES)
        await self.run(page=page)
        return page

    async def visit(self, seconds: float, timed: list[tuple[str, float]]) -> None:
        """Take steps until the time is over."""
        end = time.monotonic() + seconds
        await asyncio.sleep(self.chance.uniform(0, PAUSE))
        while time.monotonic() < end:
            begun = time.monotonic()
            try:
                what = await self.step()
            except (TimeoutError, OSError, websockets.WebSocketException) as error:
                self.errors.append(f"lost: {error!r}")
                return
            took = time.monotonic() - begun
            timed.append((what, took))
            await asyncio.sleep(max(0.0, PAUSE - took))


async def _poll_health(url: str, timed: list[float]) -> None:
    """Poll the server's health check until cancelled."""
    while True:
        begun = time.monotonic()
        await asyncio.to_thread(requests.get, f"{url}/_stcore/health")
        timed.append(time.monotonic() - begun)
        await asyncio.sleep(0.1)


async def _measure(
    url: str, app: psutil.Process, files: str, sessions: int, seconds: float, wait: float
) -> dict[str, Any]:
    """Return the latencies of all visitors, and the memory used."""
    first, *visitors = (Visitor(url, random.Random(number)) for number in range(sessions + 1))
    await first.arrive(files)
    for page in PAGES:  # so that libraries and kernels are loaded
        await first.run(page=page)
    await first.socket.close()
    await asyncio.sleep(wait)
    memory = {"idle": _used(app)}
    for visitor in visitors:
        await visitor.arrive(files)
    memory |= {"opened": _used(app), "peak": _used(app)}
    timed: list[tuple[str, float]] = []
    answers: list[float] = []
    asking = asyncio.create_task(_poll_health(url, answers))
    tasks = [asyncio.create_task(one.visit(seconds, timed)) for one in visitors]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0.5)
        memory["peak"] = max(memory["peak"], _used(app))
    await asyncio.gather(*tasks)
    asking.cancel()
    for visitor in visitors:
        await visitor.socket.close()
    end = time.monotonic() + wait
    while _used(app) > 1.2 * memory["idle"] and time.monotonic() < end:
        await asyncio.sleep(1)
    memory["left"] = _used(app)
    kinds = {"all": [took for _, took in timed]}
    kinds |= {name: [took for each, took in timed if each == name] for name, _ in sorted(timed)}
    kinds["answer"] = answers
    return {
        "steps": {name: {"times": len(each), **summary(each)} for name, each in kinds.items()},
        "megabytes": memory,
        "errors": Counter(error for visitor in visitors for error in visitor.errors),
    }


def load(
    files: str = "german", sessions: int = 24, seconds: float = 300.0, wait: float = 180.0
) -> None:
    """Many visitors on the German files or the demo, each with a session of its own.

    Every visitor changes the page or clicks every few seconds. A step is timed from the browser's
    message until the page is done. Memory is that of the app, also with all files open, and what is
    released within ``wait`` after all have left. The server's health check, which runs no page, is
    polled meanwhile: its latency shows how long anything holds the interpreter.
    """
    with running_app() as (url, app):
        measured = asyncio.run(_measure(url, app, files, sessions, seconds, wait))
    print(f"{sessions} sessions, {files}, {seconds:.0f} s; seconds of a step\n")
    rows = [(name, *row.values()) for name, row in measured["steps"].items()]
    table(["step", "times", "median {:.2f}", "p95 {:.2f}", "max {:.2f}"], rows)
    memory = measured["megabytes"]
    print("\n" + ", ".join(f"{name} {value:,.0f} MB" for name, value in memory.items()))
    for error, times in measured["errors"].items():
        print(f"{times} × {error}")

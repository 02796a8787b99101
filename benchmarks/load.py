"""Many simultaneous visitors: real websockets to one app, each with a session of its own.

Every visitor changes the page or clicks every few seconds: knocks out a type, selects another,
undoes an edit. A step is timed from the browser's message until the page is done. Memory is that of
the app's process, also per session, and what is released after all have left. Meanwhile, the
server's health check is polled, which runs no page: its latency shows how long anything holds the
interpreter.

Run: ``python -m benchmarks.load --files german --sessions 24 --seconds 300``
"""

import argparse
import asyncio
import json
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.clicks import running_app, summary
from benchmarks.common import data_folder, save, table

P95_BAR = {"german": 3.0, "demo": 1.5}  # seconds
MEMORY_BAR = 1500  # MB
PAUSE = 5.0  # seconds between the steps of a visitor
PAGES = ("Merge_graph", "Merge_tree", "Blame", "Scores", "Segmentations", "Vocabulary")
CLICKED = re.compile(r"Knock out$|Undo$|Redo$|Use the best$")
LONGEST = 120  # seconds until a step counts as lost
LEFT_AFTER = 180  # seconds until a disconnected session is dropped


@dataclass
class Visitor:
    """The browser's side of one session: its present page, and what can be clicked there."""

    url: str
    chance: random.Random
    socket: Any = None
    cookies: str = ""
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

    async def arrive(self) -> None:
        """Open the start page."""
        with await asyncio.to_thread(urlopen, f"{self.url}/_stcore/health") as answer:
            found = SimpleCookie(", ".join(answer.headers.get_all("Set-Cookie") or ()))
        self.cookies = "; ".join(f"{name}={value.value}" for name, value in found.items())
        self.socket = await websockets.connect(
            f"{self.url.replace('http', 'ws')}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            additional_headers={"Cookie": self.cookies} if self.cookies else {},
            max_size=None,
        )
        await self.run()

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
        await asyncio.to_thread(self._put, urls.upload_url, path)
        widget, fragment = self.uploads[label]
        state = WidgetState(id=widget)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = path.name, path.stat().st_size, urls.file_id
        info.file_urls.CopyFrom(urls)
        self.states[widget] = state
        await self.run(fragment=fragment)

    def _put(self, address: str, path: Path) -> None:
        mark = "---------------a-file-of-a-visitor"
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"'
        body = f"{head}\r\n\r\n".encode() + path.read_bytes() + f"\r\n--{mark}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        token = re.search(r"_xsrf=([^;]+)", self.cookies)
        if token:
            headers |= {"Cookie": self.cookies, "X-Xsrftoken": token[1]}
        with urlopen(Request(self.url + address, body, headers, method="PUT")):
            pass

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


async def open_files(visitor: Visitor, files: str) -> None:
    """Open the start page with its demo, and upload the files there."""
    await visitor.arrive()
    if files == "german":
        data = data_folder()
        await visitor.upload("Tokeniser", data / "tokenizers/oscar-de-40k/tokenizer.json")
        await visitor.upload("Reference", data / "references/morphynet/deu.derivational.v1.tsv")


async def visit(visitor: Visitor, seconds: float, timed: list[tuple[str, float]]) -> None:
    """Take steps until the time is over."""
    end = time.monotonic() + seconds
    await asyncio.sleep(visitor.chance.uniform(0, PAUSE))
    while time.monotonic() < end:
        begun = time.monotonic()
        try:
            what = await visitor.step()
        except (TimeoutError, OSError, websockets.WebSocketException) as error:
            visitor.errors.append(f"lost: {error!r}")
            return
        took = time.monotonic() - begun
        timed.append((what, took))
        await asyncio.sleep(max(0.0, PAUSE - took))


async def poll_health(url: str, timed: list[float]) -> None:
    """Poll the server's health check until cancelled."""

    def ask() -> float:
        begun = time.monotonic()
        with urlopen(f"{url}/_stcore/health") as answer:
            answer.read()
        return time.monotonic() - begun

    while True:
        timed.append(await asyncio.to_thread(ask))
        await asyncio.sleep(0.1)


def used(app: psutil.Process) -> float:
    """Return the megabytes of the app and its child processes."""
    return sum(one.memory_info().rss for one in (app, *app.children(recursive=True))) / 1e6


async def measure(url: str, app: psutil.Process, asked: argparse.Namespace) -> dict[str, Any]:
    """Return the latencies of all visitors, and the memory used."""
    visitors = [Visitor(url, random.Random(number)) for number in range(asked.sessions)]
    first = Visitor(url, random.Random(-1))
    await open_files(first, asked.files)
    for page in PAGES:  # so that libraries and kernels are loaded
        await first.run(page=page)
    await first.socket.close()
    await asyncio.sleep(asked.wait)
    idle = used(app)
    for visitor in visitors:
        await open_files(visitor, asked.files)
    opened = used(app)
    peak = opened
    timed: list[tuple[str, float]] = []
    answers: list[float] = []
    asking = asyncio.create_task(poll_health(url, answers))
    tasks = [asyncio.create_task(visit(one, asked.seconds, timed)) for one in visitors]
    while not all(task.done() for task in tasks):
        await asyncio.sleep(0.5)
        peak = max(peak, used(app))
    await asyncio.gather(*tasks)
    asking.cancel()
    busy = used(app)
    for visitor in visitors:
        await visitor.socket.close()
    end = time.monotonic() + asked.wait
    while used(app) > 1.2 * idle and time.monotonic() < end:
        await asyncio.sleep(1)
    by_kind = {
        name: {"times": len(found), **summary(found)}
        for name in sorted({name for name, _ in timed})
        for found in [[seconds for each, seconds in timed if each == name]]
    }
    return {
        "files": asked.files,
        "sessions": asked.sessions,
        "seconds": asked.seconds,
        "steps": {"times": len(timed), **summary([seconds for _, seconds in timed])},
        "by kind": by_kind,
        "answers": {"times": len(answers), **summary(answers)},
        "megabytes": {
            "idle": idle,
            "opened": opened,
            "peak": peak,
            "busy": busy,
            "left": used(app),
        },
        "errors": Counter(error for visitor in visitors for error in visitor.errors),
    }


def main(arguments: list[str] | None = None) -> None:
    """Print seconds and megabytes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", choices=sorted(P95_BAR), default="german")
    parser.add_argument("--sessions", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument(
        "--wait", type=float, default=LEFT_AFTER, help="for memory to come back, before and after"
    )
    asked = parser.parse_args(arguments)
    with running_app() as url:
        port = int(url.rpartition(":")[2])
        mine = psutil.Process().children()
        app = next(c for c in mine if str(port) in c.cmdline())
        found = asyncio.run(measure(url, app, asked))
    rows = {"all": found["steps"], **found["by kind"], "answer": found["answers"]}
    print(f"{asked.sessions} sessions, {asked.files}, {asked.seconds:.0f} s; seconds of a step\n")
    table(
        ["step", "times", "median", "p95", "max"],
        [
            [name, f"{row['times']:.0f}", *(f"{row[key]:.2f}" for key in ("median", "p95", "max"))]
            for name, row in rows.items()
        ],
    )
    memory = found["megabytes"]
    print("\n" + ", ".join(f"{name} {value:,.0f} MB" for name, value in memory.items()))
    for error, times in found["errors"].items():
        print(f"{times} × {error}")
    bar = P95_BAR[asked.files]
    held = found["steps"]["p95"] <= bar and not found["errors"] and memory["peak"] <= MEMORY_BAR
    print(
        f"p95 ≤ {bar} s, none lost, ≤ {MEMORY_BAR:,} MB: {'held' if held else 'missed'}; memory "
        f"comes back to {memory['left'] / memory['idle']:.2f} of what it was before"
    )
    save(f"load_{asked.files}", found)


if __name__ == "__main__":
    main()

"""Fixtures for tests in a real Chromium: an app on a free port, and a page that is watched."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import namedtuple
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import psutil
import pytest
from browser_steps import PATIENCE, watch_runs
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
LOCAL = {"127.0.0.1", "localhost", "::1"}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Nobody else is reached, by the browser itself: a route would also switch off its cache.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]

expect.set_options(timeout=PATIENCE)


def find_chromium():
    """Return the path of the system's Chromium; without one, skip, or fail on the CI.

    Its headless shell, where there is one, draws the same pages with a fifth less work.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        reason = "Chromium is not installed (apt-get install chromium, or set CHROMIUM to its path)"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def free_port():
    """A port that nobody listens on, and that no other process of these tests chooses."""
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    # Not those that the system gives out: it may give out odd ones only.
    for port in range(20_000 + number, 32_000, processes):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium, started once."""
    path = find_chromium()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def serve(tmp_path_factory):
    """In its context the app is served at a port, with variables."""
    logs = tmp_path_factory.mktemp("streamlit")

    @contextmanager
    def start(port, **variables):
        log = logs / f"{port}.log"
        options = {
            "server.headless": "true",
            "server.port": str(port),
            "server.address": "127.0.0.1",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
        }
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        own = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), **variables}
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", str(ROOT / "web" / "serve.py")]
                + [word for name, value in options.items() for word in (f"--{name}", value)],
                cwd=ROOT,
                env={**os.environ, **own},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            if not is_healthy(process, port):
                pytest.fail(f"Streamlit did not start:\n{log.read_text(errors='replace')}")
            yield process
        finally:
            process.kill()
            process.wait()

    return start


def is_healthy(process, port):
    """Wait until an app answers; whether it does."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as it:
            if it.read().strip() == b"ok":
                return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="session")
def app_address(serve, tmp_path_factory):
    """The address of an app, started once: each page has cookies, and so a session, of its own."""
    state, port = str(tmp_path_factory.mktemp("state")), free_port()
    with serve(port, MORPHGRAPH_STATE=state):
        yield f"http://127.0.0.1:{port}"


PublicApp = namedtuple("PublicApp", "port address process state")


@pytest.fixture(scope="session")
def public_app(serve, tmp_path_factory):
    """A public app with another name, started once, and the folder of all that it keeps."""
    state, port = tmp_path_factory.mktemp("state"), free_port()
    variables = {"MORPHGRAPH_STATE": str(state), "MORPHGRAPH_PUBLIC": "1"}
    variables |= {"STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "40"}
    with serve(port, **variables, MORPHGRAPH_HOST="morphgraph.example.org") as process:
        yield PublicApp(port, f"http://127.0.0.1:{port}", psutil.Process(process.pid), state)


@pytest.fixture
def new_page(browser):
    """A function that opens a page in a context of its own, with the options of that.

    A request to another host, an error on the console or an uncaught one fails the test.
    """
    problems, contexts = [], []

    def is_local(url):
        parts = urlsplit(url)
        if parts.scheme in {"data", "blob", "about", "file"} or parts.hostname in LOCAL:
            return True
        problems.append(f"request to another host: {url}")
        return False

    def on_console(message):
        # Streamlit itself looks below the address of a page first for what stands at its root.
        asks_in_vain = re.search(r"/\w+/_stcore/(health|host-config)$", message.location["url"])
        if message.type == "error" and not asks_in_vain:
            problems.append(f"console error: {message.text}")

    def open_page(**options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.on("request", lambda request: is_local(request.url))
        page = context.new_page()
        watch_runs(page)
        page.on("console", on_console)
        page.on("pageerror", lambda error: problems.append(f"uncaught: {error}"))
        page.on("websocket", lambda socket: is_local(socket.url))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems, "\n".join(problems)


@pytest.fixture
def page(new_page):
    """One guarded page with the usual window."""
    return new_page()

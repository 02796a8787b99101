"""Fixtures for tests in a real Chromium: an app on a free port, and a page that is watched."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

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
    """A function that runs a Streamlit script on a port, with variables, until it is healthy."""
    logs = tmp_path_factory.mktemp("streamlit")

    def start(script, port, **variables):
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
                [sys.executable, "-m", "streamlit", "run", str(script)]
                + [word for name, value in options.items() for word in (f"--{name}", value)],
                cwd=ROOT,
                env={**os.environ, **own},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
                    if answer.read().strip() == b"ok":
                        return process
            except (URLError, OSError):
                time.sleep(0.1)
        process.kill()
        pytest.fail(f"Streamlit did not start:\n{log.read_text(errors='replace')}")

    return start


@pytest.fixture(scope="module")
def port():
    """A free port for an app that a file of tests starts, and starts again, by itself."""
    return free_port()


@pytest.fixture(scope="module")
def app_address(serve, port, tmp_path_factory):
    """The address of an app that keeps nothing of what the tests do.

    It is started once for each file of tests, so that none sees the edits that another left.
    """
    state = str(tmp_path_factory.mktemp("state"))
    process = serve(ROOT / "web" / "serve.py", port, MORPHGRAPH_STATE=state)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()


@pytest.fixture
def new_page(browser):
    """A function that opens a guarded page in a context of its own.

    It takes the options of ``Browser.new_context`` (viewport, color_scheme, …). A request to
    another host is stopped; it, an error on the console or an uncaught exception in the page fails
    the test when it ends.
    """
    problems = []
    contexts = []

    def is_local(url):
        parts = urlsplit(url)
        return parts.scheme in {"data", "blob", "about", "file"} or parts.hostname in LOCAL

    def guard(route):
        if is_local(route.request.url):
            route.continue_()
        else:
            problems.append(f"request to another host: {route.request.url}")
            route.abort()

    def on_console(message):
        # Streamlit itself looks below the address of a page first for what stands at its root.
        asks_in_vain = re.search(r"/\w+/_stcore/(health|host-config)$", message.location["url"])
        if message.type == "error" and not asks_in_vain:
            problems.append(f"console error: {message.text}")

    def open_page(**options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.route("**/*", guard)
        page = context.new_page()
        watch_runs(page)
        page.on("console", on_console)
        page.on("pageerror", lambda error: problems.append(f"uncaught: {error}"))
        page.on(
            "websocket",
            lambda socket: (
                None if is_local(socket.url) else problems.append(f"outside: {socket.url}")
            ),
        )
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems, "\n".join(problems)


@pytest.fixture
def page(new_page):
    """One guarded page with the usual window."""
    return new_page()

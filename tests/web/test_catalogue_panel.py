"""The catalogue in the app: nothing is fetched before the licence is accepted and a click."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import SOURCES
from web import inputs

CONTENT = b"unbreakable\tun break able\nundoing\tun do ing\n"


class Server(ThreadingHTTPServer):
    """Serves `content` and counts."""

    daemon_threads = True
    content = CONTENT
    asked = 0


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.asked += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with one source, small, which is in the catalogue."""
    found = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("MORPHGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MORPHGRAPH_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    small = replace(
        SOURCES["morphynet-deu"],
        name="small",
        title="Small",
        format="plain",
        url=f"http://127.0.0.1:{found.server_address[1]}/small.tsv",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
        entries=2,
    )
    changed = {"small": small, **SOURCES}
    monkeypatch.setattr(catalogue, "SOURCES", changed)
    # There is no page to go to here.
    monkeypatch.setattr(inputs, "confirm_reference", lambda current, place: st.rerun())
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def _page() -> None:
    from web.inputs import catalogue_panel
    from web.state import session

    catalogue_panel(session(), "files")


class Panel:
    """The panel on a page of its own; fails at the first exception."""

    def __init__(self) -> None:
        self.test = AppTest.from_function(_page, default_timeout=60)
        self.run()

    def run(self) -> None:
        self.test.run()
        assert [exception.message for exception in self.test.exception] == []

    def button(self, label: str) -> Any:
        return next(button for button in self.test.button if button.label == label)

    def labels(self) -> list[str]:
        return [button.label for button in self.test.button]

    def press(self, label: str) -> None:
        self.button(label).click()
        self.run()

    def choose(self, label: str, value: str) -> None:
        next(box for box in self.test.selectbox if box.label == label).set_value(value)
        self.run()

    def reference(self) -> Any:
        return self.test.session_state["morphgraph session"].study.benchmark.reference


def test_download_then_open(server: Server, tmp_path: Path) -> None:
    panel = Panel()
    [facts] = [text.value for text in panel.test.markdown]
    assert "https://creativecommons.org/licenses/by-sa/3.0/" in facts
    assert "https://github.com/kbatsuren/MorphyNet" in facts
    assert [code.value for code in panel.test.code] == [SOURCES["morphynet-deu"].citation]
    assert panel.labels() == ["Download"]
    assert panel.button("Download").disabled
    panel.test.checkbox[0].check()
    panel.run()
    assert not panel.button("Download").disabled
    assert server.asked == 0
    assert not (tmp_path / "cache").exists()
    panel.press("Download")
    assert server.asked == 1
    assert panel.labels() == ["Open as reference"]
    assert panel.reference().name == "demo:en"
    panel.press("Open as reference")
    assert panel.reference().name == "catalogue:small"
    assert panel.reference().format == "plain"
    assert [entry.word for entry in panel.reference().entries] == ["unbreakable", "undoing"]
    assert [error.value for error in panel.test.error] == []
    assert server.asked == 1


def test_a_failed_download_is_an_error_and_can_be_tried_again(server: Server) -> None:
    panel = Panel()
    server.content = b"x" * len(CONTENT)
    panel.test.checkbox[0].check()
    panel.run()
    panel.press("Download")
    [error] = [error.value.replace("\\", "").replace("\u2060", "") for error in panel.test.error]
    wanted = hashlib.sha256(CONTENT).hexdigest()
    assert f"does not have the SHA-256 of the catalogue, {wanted}" in error
    assert panel.labels() == ["Download"]
    server.content = CONTENT
    panel.press("Download")
    assert panel.labels() == ["Open as reference"]


def test_language_and_source(server: Server) -> None:
    panel = Panel()
    panel.choose("Language", "nld")
    sources = next(box for box in panel.test.selectbox if box.label == "Source")
    assert [option.rpartition(" · ")[2] for option in sources.options] == ["celex"]
    assert panel.labels() == []
    assert len(panel.test.checkbox) == 0
    [info] = [info.value.replace("\\", "") for info in panel.test.info]
    assert "Linguistic Data Consortium" in info
    panel.choose("Language", "deu")
    sources = next(box for box in panel.test.selectbox if box.label == "Source")
    names = [option.rpartition(" · ")[2] for option in sources.options]
    assert names == ["small", "morphynet-deu", "celex"]
    panel.choose("Source", "morphynet-deu")
    # Consent to one source is none to another.
    assert [box.value for box in panel.test.checkbox] == [False]
    assert server.asked == 0

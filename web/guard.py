"""Between the network and Streamlit: known hosts, security headers, limits of uploads and memory.

In public mode visitors share a server and must not notice each other. Every place that takes a
path, keeps something between visits or lists runs asks `is_public` or `only_this_machine`.
"""

import asyncio
import base64
import gc
import hashlib
import ipaddress
import os
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from morphgraph.core.limits import APP_MEMORY, is_public, is_set
from morphgraph.core.system import free_memory_at_once, give_back_memory, memory_used
from web.state import app_cache

THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
"""The loopback addresses: a server at these can be reached only from its own machine."""


def allows_frames() -> bool:
    """Return whether other pages may embed the app in a frame (``--allow-frame``)."""
    return is_set("MORPHGRAPH_ALLOW_FRAME")


def own_hosts() -> list[str]:
    """Return the address that the server listens on, and the names given by ``--host``."""
    names = os.environ.get("MORPHGRAPH_HOST", "").split()
    return [st.get_option("server.address") or "0.0.0.0", *names]


def only_this_machine() -> bool:
    """Return whether only people at this machine reach the app, so that it may take paths."""
    return not is_public() and st.get_option("server.address") in THIS_MACHINE


class KnownHosts:
    """Answers only requests addressed to known names of this server.

    Otherwise any web page could point its own name here, and reach the app through the browser of
    somebody who visits that page (DNS rebinding).

    ``hosts``: names, to which this machine's own are added. If they include the address of all
    networks, any numeric address is accepted, as nobody can redirect one.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self.app = app
        self.hosts = {*THIS_MACHINE, *map(_name, hosts)}
        self.any_address = bool(self.hosts & {"0.0.0.0", "::"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] == "lifespan" or self.knows(Headers(scope=scope).getlist("host")):
            await self.app(scope, receive, send)
            return
        text = (
            "This app does not accept this host name. Whoever runs it can allow it with: "
            "morphgraph app --host NAME\n"
        )
        await PlainTextResponse(text, 421)(scope, receive, send)

    def knows(self, headers: Sequence[str]) -> bool:
        """Return whether there is exactly one Host header, with a known name."""
        name = _name(headers[0]) if len(headers) == 1 else ""
        return name in self.hosts or (self.any_address and _is_address(name))


def _name(host: str) -> str:
    """Return a host in canonical form without its port; empty if it is invalid."""
    if _is_address(host):
        return host.lower()
    parts = re.fullmatch(r"(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d+)?", host, re.I)
    return (parts[1] or parts[2]).lower().removesuffix(".") if parts else ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


FRAME = "/frame"
"""The path of the empty page that embeds foreign pages (`page_frame`)."""

_FRAME_PAGE = Path(__file__).parent / "components" / "empty_page.html"
_ARRIVAL = (Path(__file__).parent / "components" / "arrival.html").read_bytes()
STYLE = Path(__file__).resolve().parent.parent / "assets" / "style.css"
"""The styles of the app, which `Pages` puts into its page for good: what a script of a page shows
goes for a moment whenever another page is opened."""
_TO_SPARE = (b"accept-encoding", b"if-none-match", b"if-modified-since")
_IN_FRAME = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; font-src data:"
)
_OWN_FRAMES = "frame-ancestors 'self'"


def frame_route(*, allow_frame: bool) -> Route:
    """Serve the page that embeds foreign pages, whose scripts run isolated in it."""
    policy = _IN_FRAME if allow_frame else f"{_IN_FRAME}; {_OWN_FRAMES}"
    page = HTMLResponse(_FRAME_PAGE.read_text(), headers={"Content-Security-Policy": policy})
    return Route(FRAME, lambda request: page)


class Pages(BaseHTTPMiddleware):
    """Adds what tells browsers what to load, from where, and who may frame the app.

    Streamlit's page also gets our styles, what shows it once it stands, and keeps the focus in it.
    """

    has_style = False
    """Whether pages are served here, and so need no styles of their own."""

    def __init__(self, app: ASGIApp, *, allow_frame: bool) -> None:
        super().__init__(app)
        Pages.has_style = True
        self.style = b"<style>" + STYLE.read_bytes() + b"</style>"
        self.headers = {
            "Content-Security-Policy": content_policy(allow_frame=allow_frame),
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
        }

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Forward a request; an answer gets headers, and a script if it is Streamlit's page."""
        if "text/html" in request.headers.get("accept", ""):
            # As it is: not compressed, nor the copy that a browser may have of another version.
            given = request.scope["headers"]
            request.scope["headers"] = [pair for pair in given if pair[0] not in _TO_SPARE]
        answer = await call_next(request)
        for name, value in self.headers.items():
            answer.headers.setdefault(name, value)
        if not answer.headers.get("content-type", "").startswith("text/html"):
            return answer
        body = b"".join([part async for part in answer.body_iterator])  # type: ignore[attr-defined]
        del answer.headers["content-length"]
        page = body.replace(b"</head>", _ARRIVAL + b"</head>", 1)
        page = page.replace(b"</body>", self.style + b"</body>", 1)  # after those of Streamlit
        return Response(page, answer.status_code, answer.headers)


def content_policy(*, allow_frame: bool) -> str:
    """Return the Content-Security-Policy of the app's pages: the minimum that Streamlit needs.

    Components are modules in blobs, styles are created by scripts, and one script is inline in
    Streamlit's page, beside that of `Pages`.
    """
    page = (Path(st.__file__).parent / "static" / "index.html").read_bytes() + _ARRIVAL
    inline = re.findall(rb"<script>(.*?)</script>", page, re.S)
    hashes = (base64.b64encode(hashlib.sha256(text).digest()).decode() for text in inline)
    scripts = " ".join(["'self'", "blob:", *(f"'sha256-{each}'" for each in hashes)])
    policy = {
        "default-src": "'none'",
        "script-src": f"{scripts} 'wasm-unsafe-eval'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "frame-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    listed = [f"{name} {sources}" for name, sources in policy.items()]
    return "; ".join(listed if allow_frame else [*listed, _OWN_FRAMES])


_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)/?$")
_TOO_MUCH = "There are too many uploads on this page. Remove some, or reload the page.\n"
_RECORD = 1000
"""Bytes added to each file's size: even empty ones take memory."""
_SESSIONS = 100_000
"""The number of sessions whose uploads are tracked, as their end is not reported."""


class BoundedUploads:
    """Refuses uploads once a session would hold more than ``most`` bytes.

    Streamlit limits only single files, and keeps all until they are removed or the session ends.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most
        self._sizes: dict[str, dict[object, int]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, counting the bytes of an upload as they arrive."""
        if scope["type"] == "websocket":
            await self.app(scope, partial(self._message, receive), send)
            return
        upload = _UPLOAD.search(scope["path"]) if scope["type"] == "http" else None
        if upload is None or scope["method"] not in ("PUT", "DELETE"):
            await self.app(scope, receive, send)
            return
        session, file = upload.groups()
        sizes = self._sizes.setdefault(session, {})
        while len(self._sizes) > _SESSIONS:
            del self._sizes[next(iter(self._sizes))]  # it has ended long ago
        is_done = False

        async def answer(message: Message) -> None:
            nonlocal is_done
            if message["type"] == "http.response.start":
                is_done = message["status"] < 300
            await send(message)

        if scope["method"] == "DELETE":
            await self.app(scope, receive, answer)
            if is_done:
                sizes.pop(file, None)
            return
        arriving = object()  # not by name: a failed upload leaves an earlier one unchanged
        sizes[arriving] = _RECORD

        async def counted() -> Message:
            message = await receive()
            sizes[arriving] += len(message.get("body", b""))
            if sum(sizes.values()) > self.most:
                raise HTTPException(413, _TOO_MUCH)
            return message

        stated = Headers(scope=scope).get("content-length", "")
        try:
            if stated.isdecimal() and sum(sizes.values()) + int(stated) > self.most:
                await PlainTextResponse(_TOO_MUCH, 413)(scope, receive, send)
            else:
                await self.app(scope, counted, answer)
        finally:
            size = sizes.pop(arriving)
            if is_done:
                sizes[file] = size

    async def _message(self, receive: Receive) -> Message:
        """Check the size of a WebSocket message; one that is too large closes the socket."""
        message = await receive()
        is_too_much = len(message.get("bytes") or message.get("text") or "") > self.most
        return {"type": "websocket.disconnect", "code": 1009} if is_too_much else message


CHECK_INTERVAL = 5.0
"""Seconds between two checks of the memory in use."""


@dataclass
class Tabs:
    """The number of connected tabs, and when the first one closed since memory was last tidied."""

    open: int = 0
    closed: float | None = None


class CountTabs:
    """Counts the browsers' WebSockets, one for each tab."""

    def __init__(self, app: ASGIApp, tabs: Tabs) -> None:
        self.app, self.tabs = app, tabs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a connection."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        self.tabs.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.tabs.open -= 1
            self.tabs.closed = self.tabs.closed or time.monotonic()


@asynccontextmanager
async def manage_memory(tabs: Tabs) -> AsyncIterator[None]:
    """Manage memory as long as the app is served.

    Streamlit drops a session some time after its last tab closed, but only when another one closes.
    Python collects reference cycles only after enough new allocations, and the C library returns
    free memory to the system only where it lies at the end of a heap.
    """

    async def look_after() -> None:
        # A visitor who returns within this time finds everything unchanged.
        patience = float(st.get_option("server.disconnectedSessionTTL")) + CHECK_INTERVAL
        while True:
            await asyncio.sleep(CHECK_INTERVAL)
            if tabs.closed is not None and time.monotonic() - tabs.closed > patience:
                tabs.closed = None
                await asyncio.to_thread(tidy_memory, everyone_has_gone=not tabs.open)
            await asyncio.to_thread(make_room)

    free_memory_at_once()
    looking = asyncio.create_task(look_after())
    yield
    looking.cancel()


def make_room() -> None:
    """Drop old derived results if the app exceeds its memory limit, only once in each check."""
    if memory_used() > APP_MEMORY.value and app_cache().drop(share=0.25, seconds=10.0):
        give_back_memory()


def tidy_memory(*, everyone_has_gone: bool) -> None:
    """Release unused memory; if all visitors have left, also their derived results."""
    if everyone_has_gone:
        st.cache_resource.clear()
        app_cache().drop(share=1.0, seconds=0.0)
    gc.collect()
    give_back_memory()

"""Middleware between the network and Streamlit: known hosts, security headers, upload limits."""

import base64
import hashlib
import ipaddress
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.hosting import THIS_MACHINE

# ---------------------------------------------------------------------------- whom it answers


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
            "This app does not answer under this name. Whoever runs it can allow it with: "
            "morphgraph app --host NAME\n"
        )
        await PlainTextResponse(text, 421)(scope, receive, send)

    def knows(self, headers: Sequence[str]) -> bool:
        """Return whether there is exactly one Host header, with a known name."""
        name = _name(headers[0]) if len(headers) == 1 else ""
        return name in self.hosts or (self.any_address and _is_address(name))


_HOST = re.compile(r"(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d+)?", re.I)


def _name(host: str) -> str:
    """Return a host in canonical form without its port; empty if it is invalid."""
    if _is_address(host):
        return host.lower()
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower().removesuffix(".") if found else ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


# ------------------------------------------------------------------- what browsers may load

FRAME = "/frame"
"""The path of the empty page that embeds foreign pages (`page_frame`)."""

_FRAME_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>A page of its own</title>
<script>
addEventListener("message", ({ source, data }) => {
  if (source !== parent) return;
  document.open();
  document.write(data);
  document.close();
}, { once: true });
</script>
"""
_IN_FRAME = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; font-src data:"
)
_OWN_FRAMES = "frame-ancestors 'self'"


def frame_route(*, allow_frame: bool) -> Route:
    """Serve the page that embeds foreign pages, whose scripts run isolated in it."""
    policy = _IN_FRAME if allow_frame else f"{_IN_FRAME}; {_OWN_FRAMES}"
    page = HTMLResponse(_FRAME_PAGE, headers={"Content-Security-Policy": policy})
    return Route(FRAME, lambda request: page)


class SafeHeaders:
    """Adds headers that tell browsers what to load, from where, and who may frame the app.

    ``allow_frame``: whether other pages may embed the app in a frame.
    """

    def __init__(self, app: ASGIApp, *, allow_frame: bool) -> None:
        self.app = app
        self.headers = {
            "Content-Security-Policy": content_policy(allow_frame=allow_frame),
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, and add headers to its answer."""

        async def answer(message: Message) -> None:
            if message["type"].endswith("response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, answer)


def content_policy(*, allow_frame: bool) -> str:
    """Return the Content-Security-Policy of the app's pages: the minimum that Streamlit needs.

    Components are modules in blobs, styles are created by scripts, and one script is inline in
    Streamlit's page.
    """
    page = (Path(st.__file__).parent / "static" / "index.html").read_bytes()
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


# ------------------------------------------------------------------- how much a session may send

_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)/?$")
_TOO_MUCH = "These are too many uploads for one page. Remove some, or reload the page.\n"
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
        self._kept: dict[str, dict[str, int]] = {}
        self._arriving: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, counting the bytes of an upload as they arrive."""
        if scope["type"] == "websocket":
            await self.app(scope, partial(self._message, receive), send)
            return
        found = _UPLOAD.search(scope["path"]) if scope["type"] == "http" else None
        if found is None or scope["method"] not in ("PUT", "DELETE"):
            await self.app(scope, receive, send)
            return
        session, file = found.groups()
        is_done = False

        async def answer(message: Message) -> None:
            nonlocal is_done
            if message["type"] == "http.response.start":
                is_done = message["status"] < 300
            await send(message)

        if scope["method"] == "DELETE":
            await self.app(scope, receive, answer)
            if is_done:
                self._kept.get(session, {}).pop(file, None)
            return
        size = 0

        def count(more: int) -> None:
            nonlocal size
            size += more
            self._arriving[session] = self._arriving.get(session, 0) + more

        async def counted() -> Message:
            message = await receive()
            count(len(message.get("body", b"")))
            if self._taken(session) > self.most:
                raise HTTPException(413, _TOO_MUCH)
            return message

        count(_RECORD)
        stated = Headers(scope=scope).get("content-length", "")
        try:
            if stated.isdecimal() and self._taken(session) + int(stated) > self.most:
                await PlainTextResponse(_TOO_MUCH, 413)(scope, receive, send)
            else:
                await self.app(scope, counted, answer)
        finally:
            if is_done:  # a failed upload leaves an earlier one unchanged
                self._kept.setdefault(session, {})[file] = size
                while len(self._kept) > _SESSIONS:
                    del self._kept[next(iter(self._kept))]  # it has ended long ago
            count(-size)
            if not self._arriving[session]:
                del self._arriving[session]

    async def _message(self, receive: Receive) -> Message:
        """Check the size of a WebSocket message; one that is too large closes the socket."""
        message = await receive()
        is_too_much = len(message.get("bytes") or message.get("text") or "") > self.most
        return {"type": "websocket.disconnect", "code": 1009} if is_too_much else message

    def _taken(self, session: str) -> int:
        """Return the bytes that a session has stored or is uploading."""
        return sum(self._kept.get(session, {}).values()) + self._arriving.get(session, 0)

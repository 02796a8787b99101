"""Finding a dask scheduler by its address, without trusting what listens there."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.reading import decode_utf8

T = TypeVar("T")

_MOST_FILE = 1_000_000
_MOST_GREETING = 10_000


def find_scheduler(address: str, timeout: float) -> str:
    """The address of the scheduler that runs at an address or in a file; asks whether it does.

    `MorphGraphError` within about `timeout` seconds if there is none.
    """
    where = scheduler_address(address)
    deadline = time.monotonic() + timeout
    _greet(where, address, timeout)
    _ask_whether_scheduler(where, address, max(1.0, deadline - time.monotonic()))
    return where


def scheduler_address(address: str) -> str:
    """The address to connect to; from the scheduler file, if it is the path of one.

    >>> scheduler_address("localhost:8786")
    'tcp://localhost:8786'
    """
    if address.endswith(".json"):
        return _address_in_file(Path(address))
    full = address if "://" in address else f"tcp://{address}"
    fix = "Write it as tcp://host:port, or give the path of a scheduler file that ends in .json."
    try:
        parts = urlsplit(full)
        fits = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
    except ValueError:
        fits = None
    rest = parts.path or parts.query or parts.fragment or parts.username if fits else ""
    if not fits or rest or any(sign.isspace() for sign in full):
        raise MorphGraphError(f"“{address}” is no address of a scheduler. {fix}")
    return full


def no_scheduler(shown: str, problem: str) -> MorphGraphError:
    """The error that there is no scheduler at an address, and why."""
    fix = "Check host and port; “dask scheduler” prints them when it starts."
    return MorphGraphError(f"There is no dask scheduler at {shown}: {problem}. {fix}")


def _address_in_file(file: Path) -> str:
    fix = "Give the file that “dask scheduler --scheduler-file” wrote, once it runs."
    try:
        with file.open("rb") as stream:
            data = stream.read(_MOST_FILE + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileFormatError(str(file), "", f"it cannot be read ({reason})", fix) from error
    if len(data) > _MOST_FILE:
        raise FileFormatError(str(file), "", "it is too long for a scheduler file", fix)
    try:
        content = json.loads(decode_utf8(data, str(file)))
        address = content["address"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = "it is no scheduler file: it has no “address”"
        raise FileFormatError(str(file), "", problem, fix) from error
    if not isinstance(address, str) or address.endswith(".json"):
        raise FileFormatError(str(file), "field address", "it is no address", fix)
    return scheduler_address(address)


def _greet(where: str, shown: str, timeout: float) -> None:
    """Check that what listens there speaks as dask does.

    Dask itself takes the first bytes of any other service for a length, and hangs.
    """
    parts = urlsplit(where)
    assert parts.hostname and parts.port
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout) as connection:
            if parts.scheme == "tls":
                return
            greeting = _received(connection, 8, time.monotonic() + timeout)
            (length,) = struct.unpack("<Q", greeting)
            if length > _MOST_GREETING:
                raise no_scheduler(shown, "another service answers there")
            said = _received(connection, length, time.monotonic() + timeout)
    except TimeoutError as error:
        problem = f"nothing answers within {timeout:.0f} s"
        raise no_scheduler(shown, problem) from error
    except (OSError, UnicodeError, struct.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise no_scheduler(shown, f"the connection fails ({reason})") from error
    if b"pickle-protocol" not in said:
        raise no_scheduler(shown, "another service answers there")


def _received(connection: socket.socket, length: int, deadline: float) -> bytes:
    """Exactly so many bytes, or fewer if the other end stops."""
    data = b""
    while len(data) < length:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        more = connection.recv(length - len(data))
        if not more:
            raise OSError("it was closed at once")
        data += more
    return data


def _ask_whether_scheduler(where: str, shown: str, timeout: float) -> None:
    async def ask() -> str:
        from distributed.core import rpc
        from distributed.security import Security

        arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
        async with rpc(where, timeout=timeout, connection_args=arguments) as remote:  # type: ignore[no-untyped-call]
            return str((await asyncio.wait_for(remote.identity(), timeout))["type"])

    try:
        kind = _in_own_loop(ask())
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise no_scheduler(shown, f"it does not answer as one ({reason})") from error
    if kind != "Scheduler":
        raise no_scheduler(shown, f"it is a dask {kind.lower()}")


def _in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a thread of its own, since this one may have a running event loop."""
    outcome: list[T | BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]

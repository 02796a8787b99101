"""Connections to dask workers on this machine, or to a scheduler by its address.

Each is a context manager that yields a connected `distributed.Client`, and leaves nothing running
or changed in this process when it ends. `batch.slurm` has two more.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import parse_json, read_bytes

if TYPE_CHECKING:
    from distributed import Client

ATTEMPTS = 4
"""How often a task whose workers die is started before it counts as failed."""

_NOTHING = logging.CRITICAL + 1
"""A log level above that of any message."""

_LEAST_MEMORY = 512 * 2**20
_SEEN_AT_IMPORT = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_AT_START = (*_SEEN_AT_IMPORT, "MKL_NUM_THREADS")
_THREADS = (*_SEEN_AT_IMPORT, "MORPHGRAPH_THREADS", "NUMBA_NUM_THREADS")

_SETTINGS: Mapping[str, Any] = {
    "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
    # A worker paused for its memory never resumes if a task leaked it; one that is ended is
    # replaced.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.worker.profile.enabled": False,
    # Without dask's MALLOC_TRIM_THRESHOLD_, with which the C library maps each block of 128 kB
    # anew: that took a third of the time of counting.
    "distributed.nanny.pre-spawn-environ": dict.fromkeys(_AT_START, "1"),
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.admin.tick.limit": "1h",
    "distributed.scheduler.worker-ttl": None,
}
"""Settings of dask for the scheduler and the workers that this process starts."""


@contextmanager
def local_cluster(workers: int, memory: int | None = None) -> Generator[Client]:
    """Start single-threaded processes on this machine that end with this process.

    `memory` is the most bytes that one worker may use, by default its share of nine tenths of what
    is available now; a worker that exceeds it is ended and replaced, and its task is started again,
    `ATTEMPTS` times in all. All listen on the loopback interface only, and accept only clients with
    the credentials, which are made here and known to these processes alone.
    """
    if workers < 1:
        raise MorphGraphError(f"{workers} workers cannot run anything. Ask for at least one.")
    if memory is not None and memory < 1:
        raise MorphGraphError(f"A worker cannot run with {memory} bytes. Give it more memory.")
    import dask
    from distributed import Client, LocalCluster
    from distributed.security import Security

    with ExitStack() as stack:
        stack.enter_context(quiet())
        folder = tempfile.TemporaryDirectory(
            prefix="morphgraph-workers-", ignore_cleanup_errors=True
        )
        scratch = stack.enter_context(folder)
        variables = dict.fromkeys(_SEEN_AT_IMPORT, "1")
        # Dask refuses both; the user's own choice takes precedence.
        if dask.config.get("logging-file-config", None) is None:
            variables["DASK_LOGGING__DISTRIBUTED"] = "critical"
        stack.enter_context(_environment(variables))
        stack.enter_context(dask.config.set(_SETTINGS))
        try:
            with _interrupts_held_back():
                cluster = LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    protocol="tls",
                    security=Security.temporary(),  # type: ignore[no-untyped-call]
                    dashboard_address=None,
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    worker_dashboard_address=None,
                    silence_logs=_NOTHING,
                    memory_limit=memory or _memory_share(workers),
                    local_directory=scratch,
                    env=dict.fromkeys(_THREADS, "1"),
                )
        except (OSError, RuntimeError) as error:
            problem = f"The {workers} workers could not be started on this machine ({error})"
            raise MorphGraphError(f"{problem}. Try fewer workers, or another folder.") from error
        stack.enter_context(cluster)
        client = stack.enter_context(Client(cluster, set_as_default=False))  # type: ignore[no-untyped-call]
        client.register_worker_callbacks(_end_with_parent)
        _close_http(client)
        yield client


def _close_http(client: Client) -> None:
    """Close the ports on which the scheduler and its workers, now and later, would speak HTTP.

    Dask opens them with and without a dashboard.
    """

    def close(dask_scheduler: Any) -> None:
        dask_scheduler.http_server.stop()

    def close_at_worker(dask_worker: Any) -> None:
        dask_worker.http_server.stop()

    client.run_on_scheduler(close)  # type: ignore[no-untyped-call]
    client.register_worker_callbacks(close_at_worker)  # type: ignore[no-untyped-call]


@contextmanager
def at_address(address: str, timeout: float = 10) -> Generator[Client]:
    """Connect to a running dask scheduler, and wait for its first worker.

    `address` is ``tcp://host:port`` or the path of a scheduler file that ends in ``.json``. Raises
    `MorphGraphError` within about `timeout` seconds if nothing or no scheduler answers, or if it
    has no workers. Warns if dask or Python versions differ.
    """
    deadline = time.monotonic() + timeout
    with quiet():
        where = scheduler_address(address)
        _check_scheduler(where, address, timeout)
        with _connected(where, address, max(1.0, deadline - time.monotonic())) as client:
            _wait_for_worker(client, address, max(1.0, deadline - time.monotonic()))
            _warn_of_versions(client, address)
            yield client


def lost_worker_message(error: BaseException) -> str | None:
    """Return the message for a task whose workers all died; None for any other error."""
    from distributed import KilledWorker

    if not isinstance(error, KilledWorker):
        return None
    return (
        f"The worker process died {ATTEMPTS} times while it ran this. Most often it needs more "
        "memory than a worker may use: take fewer workers, give each more memory, or make the "
        "task smaller."
    )


@contextmanager
def _connected(where: str, shown: str, timeout: float) -> Generator[Client]:
    """A client of the scheduler at an address; `shown` names it in errors."""
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    # `_warn_of_versions` replaces dask's table by one line.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)
        try:
            client = Client(where, timeout=timeout, set_as_default=False)  # type: ignore[no-untyped-call]
        except Exception as error:
            raise _no_scheduler(shown, f"it does not let us connect ({error})") from error
    with client:
        yield client


def _wait_for_worker(client: Client, shown: str, timeout: float) -> None:
    """Wait until a scheduler has at least one worker."""
    try:
        client.wait_for_workers(1, timeout)
    except TimeoutError as error:
        problem = f"The scheduler at {shown} has no workers, {timeout:.0f} s after we asked"
        fix = f"Start some: dask worker {scheduler_address(shown)} --nthreads 1"
        raise MorphGraphError(f"{problem}. {fix}") from error


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Defer Ctrl-C, and keep it from processes that threads begun here start.

    A terminal sends it to all of them, but only the runner knows how to handle it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep dask's and the event loop's messages about connections off the terminal.

    Logging to files continues; errors of tasks are raised as exceptions.
    """
    import distributed  # noqa: F401  its import sets up the handlers

    with ExitStack() as stack:
        for name in ("distributed", "bokeh", "tornado", "tornado.application", "asyncio"):
            logger = logging.getLogger(name)
            for handler in logger.handlers:
                if type(handler) is logging.StreamHandler:
                    stack.callback(handler.setLevel, handler.level)
                    handler.setLevel(_NOTHING)
            if not logger.hasHandlers():
                nothing = logging.NullHandler()
                logger.addHandler(nothing)
                stack.callback(logger.removeHandler, nothing)
        yield


def scheduler_address(address: str) -> str:
    """Return the address to connect to, read from the scheduler file if it is a path.

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
        raise MorphGraphError(f"“{address}” is not the address of a scheduler. {fix}")
    return full


def _no_scheduler(shown: str, problem: str) -> MorphGraphError:
    """The error that there is no scheduler at an address, and why."""
    fix = "Check host and port; “dask scheduler” prints them when it starts."
    return MorphGraphError(f"There is no dask scheduler at {shown}: {problem}. {fix}")


def _address_in_file(file: Path) -> str:
    content = parse_json(read_bytes(file), str(file))
    address = content.get("address") if isinstance(content, dict) else None
    if not isinstance(address, str) or address.endswith(".json"):
        problem = "it is not a scheduler file: it has no “address”"
        fix = "Give the file that “dask scheduler --scheduler-file” wrote, once it runs."
        raise FileFormatError(str(file), "", problem, fix)
    return scheduler_address(address)


def _check_scheduler(where: str, shown: str, timeout: float) -> None:
    """Check, in a separate loop, that what listens at an address is a scheduler.

    A client that connects to anything else would wait for ever.
    """

    async def kind() -> str:
        from distributed.core import rpc
        from distributed.security import Security

        arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
        async with rpc(where, timeout=timeout, connection_args=arguments) as remote:  # type: ignore[no-untyped-call]
            return str((await asyncio.wait_for(remote.identity(), timeout))["type"])

    parts = urlsplit(where)
    try:
        # Dask itself keeps retrying a closed port.
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout).close()
        with ThreadPoolExecutor(1) as thread:  # this thread may have a running event loop
            found = thread.submit(asyncio.run, kind()).result()
    except TimeoutError as error:
        raise _no_scheduler(shown, f"nothing answers within {timeout:.0f} s") from error
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise _no_scheduler(shown, f"the connection fails ({reason})") from error
    if found != "Scheduler":
        raise _no_scheduler(shown, f"it is a dask {found.lower()}")


def _warn_of_versions(client: Client, shown: str) -> None:
    """Warn of differing versions if tasks and results could not be exchanged."""

    def versions(found: Mapping[str, Any]) -> dict[str, str]:
        known = {name: str(found["packages"][name]) for name in ("python", "dask", "distributed")}
        return known | {"python": ".".join(known["python"].split(".")[:2])}

    found: Any = client.get_versions()
    here = versions(found["client"])
    for name, other in {"the scheduler": found["scheduler"], **found["workers"]}.items():
        there = versions(other) if other else here
        differ = [f"{n} {here[n]} here and {there[n]} there" for n in here if here[n] != there[n]]
        if differ:
            warnings.warn(
                f"{name} at {shown} has other versions: {', '.join(differ)}. If tasks fail, "
                "install the same versions on both sides.",
                stacklevel=4,
            )
            return


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and restore all of them afterwards.

    Dask sets more of them in this process before it starts another.
    """
    before = dict(os.environ)
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


def _memory_share(workers: int) -> int:
    """Return the bytes for each worker that leave a tenth of the free memory in all."""
    import psutil
    from distributed.system import MEMORY_LIMIT

    free = min(MEMORY_LIMIT, psutil.virtual_memory().available)
    return max(_LEAST_MEMORY, int(0.9 * free / workers))


def _end_with_parent() -> None:
    """In a worker: die with the process that started it, and leave Ctrl-C to that one.

    The worker's own watch over its parent is a thread, which gets no turn in a long call into C.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)

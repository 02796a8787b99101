"""Tasks on dask: workers of this machine or at a scheduler's address, and running what is missing.

Each place is a context manager that yields a connected `distributed.Client`, and leaves nothing
running or changed in this process when it ends.
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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from morphgraph.batch.store import (
    Store,
    Task,
    TaskFailure,
    TaskReport,
    TaskResult,
    code_version,
    run_task,
)
from morphgraph.core.errors import FileFormatError, MorphGraphError, require
from morphgraph.core.files import parse_json, read_bytes
from morphgraph.core.system import available_cores

if TYPE_CHECKING:
    from distributed import Client

    from morphgraph.corpus.counting import Runner

_log = logging.getLogger("morphgraph.batch")

ATTEMPTS = 4
"""How often a task whose workers die is started before it counts as failed."""

_LOOK = 0.25
"""Seconds between two looks at whether a run is to stop."""
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


def client_at(
    workers: int | None, scheduler: str | None, memory: int | None = None
) -> AbstractContextManager[Client]:
    """Connect to a scheduler at its address, or start workers here, one a core by default.

    ``memory``: bytes for each worker on this machine. Errors: `MorphGraphError`, also for both.
    """
    check_one_place(workers, scheduler)
    if scheduler is not None:
        return at_address(scheduler)
    return local_cluster(workers or available_cores(), memory)


def check_one_place(workers: int | None, scheduler: str | None) -> None:
    """Refuse workers here together with a scheduler."""
    if workers is not None and scheduler is not None:
        raise MorphGraphError("Tasks run in one place. Give either workers or a scheduler.")


@contextmanager
def local_cluster(workers: int, memory: int | None = None) -> Generator[Client]:
    """Start single-threaded processes on this machine that end with this process.

    `memory` is the most bytes that one worker may use, by default its share of nine tenths of what
    is available now; a worker that exceeds it is replaced, and its task is started again. All
    listen on the loopback interface only, and accept only clients with credentials made here.
    """
    if workers < 1:
        raise MorphGraphError(f"{workers} workers cannot run anything. Ask for at least one.")
    import dask
    from distributed import Client, LocalCluster
    from distributed.security import Security

    with ExitStack() as stack:
        stack.enter_context(quiet())
        folder = tempfile.TemporaryDirectory("", "morphgraph-workers-", ignore_cleanup_errors=True)
        scratch = stack.enter_context(folder)
        variables = dict.fromkeys(_SEEN_AT_IMPORT, "1")
        # Dask refuses both; the user's own choice takes precedence.
        if dask.config.get("logging-file-config", None) is None:
            variables["DASK_LOGGING__DISTRIBUTED"] = "critical"
        stack.callback(_restore_environment, dict(os.environ))
        os.environ.update(variables)
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
    """Close the HTTP ports that dask opens on the scheduler and its workers, now and later."""

    def close(dask_scheduler: Any = None, dask_worker: Any = None) -> None:
        (dask_scheduler or dask_worker).http_server.stop()

    client.run_on_scheduler(close)  # type: ignore[no-untyped-call]
    client.register_worker_callbacks(close)  # type: ignore[no-untyped-call]


@contextmanager
def at_address(address: str, timeout: float = 10) -> Generator[Client]:
    """Connect to a running dask scheduler, and wait for its first worker.

    `address` is ``tcp://host:port`` or the path of a scheduler file that ends in ``.json``. Raises
    `MorphGraphError` within about `timeout` seconds if nothing or no scheduler answers, or if it
    has no workers. Dask warns of versions that differ.
    """
    deadline = time.monotonic() + timeout
    with quiet():
        from distributed import Client

        where = scheduler_address(address)
        _check_scheduler(where, address, timeout)
        try:
            left = max(1.0, deadline - time.monotonic())
            client = Client(where, timeout=left, set_as_default=False)  # type: ignore[no-untyped-call]
        except Exception as error:
            raise _no_scheduler(address, f"it refuses the connection ({error})") from error
        with client:
            left = max(1.0, deadline - time.monotonic())
            try:
                client.wait_for_workers(1, left)
            except TimeoutError as error:
                problem = f"The scheduler at {address} has no workers after {left:.0f} s"
                fix = f"Start some: dask worker {where} --nthreads 1"
                raise MorphGraphError(f"{problem}. {fix}") from error
            yield client


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Defer Ctrl-C, and keep it from processes started meanwhile: only the runner handles it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep dask's and the event loop's messages about connections off the terminal, not files."""
    require("Work in other processes", "distributed", "cryptography")
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
    return address if "://" in address else f"tcp://{address}"


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
    """Check that a scheduler listens at an address: a client of anything else waits for ever."""

    async def kind() -> str:
        from distributed.core import rpc
        from distributed.security import Security

        arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
        async with rpc(where, timeout=timeout, connection_args=arguments) as remote:  # type: ignore[no-untyped-call]
            return str((await asyncio.wait_for(remote.identity(), timeout))["type"])

    try:
        parts = urlsplit(where)
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


def _restore_environment(before: Mapping[str, str]) -> None:
    """Set environment variables as they were: dask sets more of them for its processes."""
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


# ------------------------------------------------------------------------------ running tasks

_LOST = (
    "The connection to the scheduler was lost. Start the same command again: it resumes where it "
    "stopped."
)


def lost_worker_message(error: BaseException) -> str | None:
    """Return the message for a task whose workers all died; None for any other error."""
    from distributed import KilledWorker

    if not isinstance(error, KilledWorker):
        return None
    return (
        f"The worker process died {ATTEMPTS} times while it ran this, most often for lack of "
        "memory: take fewer workers, give each more memory, or make the task smaller."
    )


def _itself(something: Any) -> Any:
    """Return what is known here, as a task that can be recomputed if its worker is lost."""
    return something


def runner_on(client: Client) -> Runner:
    """Return a `Runner` on a client's workers; data common to all tasks are sent to each once."""

    def run(function: Callable[..., Any], tasks: Sequence[Any], *common: Any) -> Iterator[Any]:
        from distributed import CancelledError, as_completed

        shared = client.map(_itself, common, pure=False)
        futures = client.map(function, tasks, *([one] * len(tasks) for one in shared), pure=False)
        try:
            for future in as_completed(futures, loop=client.loop):  # type: ignore[no-untyped-call]
                yield future.result()
                future.release()
        except MorphGraphError:
            raise
        except CancelledError as error:
            raise MorphGraphError(_LOST) from error
        except Exception as error:
            if (message := lost_worker_message(error)) is None:
                raise
            raise MorphGraphError(message) from error
        finally:
            if client.status == "running":
                client.cancel(futures)  # type: ignore[no-untyped-call]

    return run


def warm_up(client: Client) -> None:
    """Load what cells need in all workers at the same time."""
    # If this fails, tasks on the worker will tell.
    client.run(_load, on_error="ignore")


def _load() -> None:
    """Load the library and the kernels that most cells use."""
    from morphgraph.batch import cells  # noqa: F401  what tasks run
    from morphgraph.kernels import calls

    for call in (*calls.SCORES, *calls.EDITS, *calls.FLOTA):
        call()
    code_version()


class Schedule:
    """Runs missing tasks, and stores each result as it arrives.

    ``reports``: how those that ended did, by key; a failed task only stops those that need it. If
    nothing is missing, no client is needed.
    """

    def __init__(self, tasks: Sequence[Task], store: Store, client: Any) -> None:
        self.tasks, self.store, self.client = tasks, store, client
        self.failures: list[TaskFailure] = []
        self._futures: dict[str, Any] = {}
        kept = {task.key for task in tasks if store.read(task.key) is not None}
        self._needed = {need for task in tasks for need in task.needs}
        wanted: set[str] = set()
        for task in reversed(tasks):  # each is after those that it needs
            if task.key not in kept and (task.key in wanted or task.key not in self._needed):
                wanted |= {task.key, *task.needs}
        self.missing = [task for task in tasks if task.key in wanted and task.key not in kept]
        left = {task.key for task in self.missing}
        self.reports = {
            # What only finished tasks need is not made again.
            task.key: TaskReport(task, "done" if task.key in kept else "not run", from_store=True)
            for task in tasks
            if task.key not in left
        }

    @property
    def workers(self) -> int:
        """The number of workers now."""
        return 0 if self.client is None else len(self.client.scheduler_info(-1)["workers"])

    def results(self) -> Generator[TaskReport | None]:
        """Yield a report of each task that ends, None now and then; cancel the rest at the end."""
        try:
            self._submit()
            yield from self._ended()
        finally:
            if self.client is not None and self.client.status == "running":
                self.client.cancel(list(self._futures.values()))

    def _submit(self) -> None:
        code = code_version()
        for place, task in enumerate(self.missing):
            for need in task.needs:
                if need not in self._futures:
                    # Part of the graph, not scattered: data lost with a worker are sent again.
                    kept = TaskResult(self.store.path(need).read_bytes())
                    self._futures[need] = self.client.submit(_itself, kept, pure=False)
            folder = str(self.store.checkpoints(task.key).resolve()) if task.resumes else None
            # A unique key: a scheduler may still know a task of an earlier run.
            unique = {"key": f"{task.kind}-{task.key}-{time.time_ns()}", "pure": False}
            needs = [self._futures[need] for need in task.needs]
            self._futures[task.key] = self.client.submit(
                run_task, task, code, *needs, folder=folder, priority=-place, **unique
            )

    def _ended(self) -> Iterator[TaskReport | None]:
        ended: SimpleQueue[Task] = SimpleQueue()
        for task in self.missing:
            self._futures[task.key].add_done_callback(lambda _, task=task: ended.put(task))
        left = len(self.missing)
        while left:
            try:
                task = ended.get(timeout=_LOOK)
            except Empty:
                self._check_scheduler()
                yield None
                continue
            left -= 1
            yield self._taken(task)
            if task.key not in self._needed:
                self._futures.pop(task.key).release()

    def _check_scheduler(self, error: Exception | None = None) -> None:
        lost = error is not None and "connection-lost" in str(error)
        if lost or self.client.status not in ("running", "connecting"):
            raise MorphGraphError(_LOST)

    def _taken(self, task: Task) -> TaskReport:
        """Store the result of a task, which is a failure if its worker died."""
        try:
            result: TaskResult = self._futures[task.key].result(timeout=120)
        except Exception as error:
            self._check_scheduler(error)
            message = lost_worker_message(error) or f"{type(error).__name__}: {error}"
            result = TaskResult(b"", TaskFailure(task.label, message, repr(error)))
        if (failure := result.failure) is None:
            self.store.keep(task.key, result.data)
            _log.info("done: %s", task.label)
            report = TaskReport(task, "done")
        else:
            self.failures.append(failure)
            _log.error("failed: %s: %s\n%s", task.label, failure.message, failure.traceback)
            report = TaskReport(task, "failed", failure)
        self.reports[task.key] = report
        return report

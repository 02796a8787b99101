"""Workers on this machine and schedulers by address, with real processes."""

import asyncio
import contextlib
import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from distributed import KilledWorker
from refusals import refused

from morphgraph.batch.cluster import (
    at_address,
    local_cluster,
    lost_worker_message,
    scheduler_address,
)
from morphgraph.core.errors import FileFormatError, MorphGraphError

pytestmark = pytest.mark.slow


def eventually(true, seconds=60):
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.1)
    return False


def script(folder, text):
    """The command that runs a script written for a test."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return [sys.executable, str(file)]


def _listening():
    """The addresses that this process and those below it listen on, as if all speak TLS."""
    own = psutil.Process()
    return {
        f"tls://{connection.laddr.ip}:{connection.laddr.port}"
        for process in [own, *own.children(recursive=True)]
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def test_workers_have_one_thread_and_listen_on_the_loopback_interface_only(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = dict(os.environ)
    earlier, heard = psutil.Process().children(recursive=True), _listening()
    libraries = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    names = [*(f"{name}_NUM_THREADS" for name in libraries), "MORPHGRAPH_THREADS"]
    names.append("MALLOC_TRIM_THRESHOLD_")  # each large block would be mapped anew
    with local_cluster(2) as client:
        squares = client.gather(client.map(lambda number: number**2, range(20)))
        variables = client.run(lambda: [os.environ.get(name) for name in names])
        known = client.scheduler_info(n_workers=-1)["workers"].values()
        children = set(psutil.Process().children(recursive=True)) - set(earlier)
        listening = _listening() - heard
        scratch = [str(Path(worker["local_directory"])) for worker in known]
        threads = [worker["nthreads"] for worker in known]
        addresses = {client.scheduler.address, *client.scheduler_info(n_workers=-1)["workers"]}
        addresses |= {worker["nanny"] for worker in known}
    assert squares == [number**2 for number in range(20)]
    assert list(variables.values()) == [[*["1"] * 5, None]] * 2
    assert threads == [1, 1]
    assert listening == addresses  # none for HTTP
    assert all(address.startswith("tls://127.0.0.1:") for address in listening)
    assert len(scratch) == 2 and all(name.startswith(str(tmp_path)) for name in scratch)
    assert dict(os.environ) == before
    assert eventually(
        lambda: not any(child.is_running() for child in children if not _helper(child))
    )


def _helper(process):
    """Whether it is the small process of Python that cleans up after all others."""
    try:
        return any("resource_tracker" in part for part in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def test_a_task_that_takes_too_much_memory_fails_and_the_rest_goes_on(tmp_path):
    def greedy():
        kept = []
        for _ in range(100):
            kept.append(bytearray(b"x" * 20_000_000))
            time.sleep(0.02)
        return len(kept)

    with local_cluster(1, memory=400_000_000) as client:
        error = client.submit(greedy).exception(timeout=60)
        assert client.submit(sum, [1, 2]).result(timeout=60) == 3
    assert isinstance(error, KilledWorker)
    assert "died 4 times" in str(lost_worker_message(error))
    assert lost_worker_message(ValueError("x")) is None


@pytest.mark.kills
def test_workers_die_with_a_killed_runner_also_in_a_long_call_into_c(tmp_path):
    command = script(
        tmp_path,
        """
        import sys, time, ctypes
        from morphgraph.batch.cluster import local_cluster

        if __name__ == "__main__":
            with local_cluster(2) as client:
                # PyDLL keeps the interpreter's lock: no other thread of the worker has a turn.
                def stuck(_):
                    return ctypes.PyDLL(None).sleep(60)

                futures = client.map(stuck, range(2), pure=False)
                time.sleep(1)
                print("ready", flush=True)
                time.sleep(60)
        """,
    )
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout.readline() == "ready\n"
        children = psutil.Process(runner.pid).children(recursive=True)
        runner.kill()
    assert len(children) >= 2
    try:
        assert eventually(lambda: not any(_alive(child) for child in children))
    finally:
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


def _alive(process):
    """Whether a process runs; one that nobody has buried does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """Address and file of a scheduler that somebody else started, without workers."""
    file = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    command = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0"]
    command += ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, "--scheduler-file", str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert eventually(lambda: file.exists() and file.stat().st_size)
        yield json.loads(file.read_text())["address"], file
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture
def worker(scheduler):
    """A worker of that scheduler, started by hand."""
    command = [sys.executable, "-m", "dask", "worker", scheduler[0], "--nthreads", "1"]
    process = subprocess.Popen(
        [*command, "--no-dashboard"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def test_a_cluster_without_workers_is_an_error(scheduler):
    with refused(), at_address(scheduler[0], timeout=2):
        pass
    with refused(), local_cluster(0):
        pass


def test_tasks_run_at_an_address_and_at_a_scheduler_file(scheduler, worker, capfd):
    address, file = scheduler
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in (address, str(file), address.removeprefix("tcp://")):
            with at_address(given) as client:
                assert client.submit(sum, [1, 2]).result(timeout=60) == 3
                (known,) = client.scheduler_info(n_workers=-1)["workers"]
    with refused(), at_address(known):
        pass
    # The scheduler of somebody else goes on.
    with at_address(address) as client:
        assert client.submit(sum, [2, 2]).result(timeout=60) == 4
    assert capfd.readouterr() == ("", "")


class _Says:
    """A service that is not a scheduler: it sends some bytes to everyone, and listens."""

    def __init__(self, said):
        self.said = said
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.socket.getsockname()[1]}"
        self.kept = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self.kept.append(connection)
                connection.sendall(self.said)


SERVICES = {
    "silent": b"",
    "ssh": b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n" * 10,
    "short": b"\x05" + bytes(7) + b"hello",
    "huge": b"\xff" * 8,
    "stops in the middle": b"\x39" + bytes(7) + b"x",
    "greets as dask and says no more": b"\x10" + bytes(7) + b"pickle-protocol\x05",
}


@pytest.mark.parametrize("service", SERVICES)
def test_another_service_is_no_scheduler(service, capfd):
    other = _Says(SERVICES[service])
    started = time.monotonic()
    with refused(), at_address(other.address, timeout=1.5):
        pass
    assert time.monotonic() - started < 30
    other.socket.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "address",
    [
        *("", "tcp://", "tcp://host", "tcp://:8786", "host:99999999", "host:x", "http://host:80"),
        *("tcp://host:80/path", "tcp://me@host:80", "ho st:80", "tcp://[::1:80", "x" * 10_000),
    ],
)
def test_what_is_no_address_is_said_to_be_none(address):
    with pytest.raises(MorphGraphError), at_address(address, timeout=1):
        pass


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"{}", b'{"address": 3}', b'{"address": "a.json"}', b"\xff\xfe"),
        *(b"[" * 100_000, b" " * 2_000_000, None),
    ],
)
def test_what_is_no_scheduler_file_is_said_to_be_none(tmp_path, content):
    file = tmp_path / "scheduler.json"
    if content is not None:
        file.write_bytes(content)
    with refused(FileFormatError):
        scheduler_address(str(file))


def _answers(port, protocol, security, seconds):
    """What a process of dask says it is to one with such credentials; empty if it says nothing."""
    from distributed.core import rpc

    async def ask():
        arguments = security.get_connection_args("client") if protocol == "tls" else {}
        address = f"{protocol}://127.0.0.1:{port}"
        async with rpc(address, timeout=seconds, connection_args=arguments) as remote:
            return str((await asyncio.wait_for(remote.identity(), seconds))["type"])

    # In a thread of its own: browser tests leave a loop running in the main one.
    with ThreadPoolExecutor(1) as pool, contextlib.suppress(Exception):
        return pool.submit(asyncio.run, ask()).result()
    return ""


def _pages(port):
    """The usual pages of dask that a port shows to whoever asks."""
    found = []
    for page in ("", "status", "health", "metrics", "info/main/workers.html", "json/identity.json"):
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", f"/{page}")
            if connection.getresponse().status == 200:
                found.append(page)
    return found


def test_nobody_connects_without_the_credentials_of_the_run():
    """Every port that scheduler and workers listen on: with other credentials, none, and HTTP."""
    from distributed.security import Security

    earlier = {address.rpartition(":")[2] for address in _listening()}
    with local_cluster(1) as client:
        ports = {int(each.rpartition(":")[2]) for each in _listening()} - set(map(int, earlier))
        scheduler = int(client.scheduler.address.rpartition(":")[2])
        assert scheduler in ports and len(ports) >= 3, "scheduler, nanny and worker"
        (worker,) = (int(each.rpartition(":")[2]) for each in client.scheduler_info()["workers"])
        for port, kind in ((scheduler, "Scheduler"), (worker, "Worker")):
            assert _answers(port, "tls", client.security, 20) == kind, "who has the credentials can"
        others = Security.temporary()
        for port in ports:
            assert [_answers(port, how, others, 0.5) for how in ("tcp", "tls")] == ["", ""]
            assert _pages(port) == []

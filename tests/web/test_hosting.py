"""The app as a server: public by one switch, at known names, with memory that goes back."""

import os
import socket
import subprocess
import sys
import time
import weakref
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
import typer
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from morphgraph.cli import evaluating as app
from morphgraph.core.limits import is_public
from web import guard
from web.addresses import OLD_ADDRESSES, OldAddresses

VARIABLE = "MORPHGRAPH_PUBLIC"
OTHERS = ("MORPHGRAPH_HOST", "MORPHGRAPH_ALLOW_FRAME")
ROOT = Path(__file__).resolve().parents[2]


def test_one_variable_makes_it_public(monkeypatch):
    monkeypatch.delenv("MORPHGRAPH_PUBLIC", raising=False)
    assert not is_public()
    for value in ("1", "true", "yes", "on", "2", "anything", "", " ", "0", "no", "Off", "FALSE"):
        monkeypatch.setenv("MORPHGRAPH_PUBLIC", value)
        assert is_public() == (value.strip().lower() not in ("", "0", "no", "off", "false"))


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The options that the command gives to Streamlit, by name; what it was run with as ``env``."""
    for variable in (VARIABLE, *OTHERS):  # what the command sets goes with the test
        monkeypatch.setenv(variable, "")
    monkeypatch.chdir(tmp_path)
    program = typer.Typer()
    program.command()(app.app)

    def start(*arguments):
        given = []
        monkeypatch.setattr(os, "execv", lambda _, command: given.extend(command))
        program(list(arguments), standalone_mode=False)
        assert given[:4] == [sys.executable, "-m", "streamlit", "run"]
        assert given[4] == str(ROOT / "web" / "serve.py")
        options = dict(zip(given[5::2], given[6::2], strict=True))
        return {**options, "env": os.environ[VARIABLE]}

    return start


def test_the_command_opens_it_for_this_machine_or_behind_a_proxy(started):
    options = started()
    assert options["env"] == ""
    assert "--server.headless" not in options  # opens a window where there is a screen
    assert options["--server.address"] == "127.0.0.1"
    options = started("--public", "--port", "8600")
    assert options["env"] == "1"
    assert options["--server.headless"] == "true"
    assert options["--server.maxUploadSize"] == "40"
    assert options["--server.address"] == "127.0.0.1"
    assert options["--server.port"] == "8600"
    assert started("--public", "--address", "0.0.0.0")["--server.address"] == "0.0.0.0"


@pytest.mark.slow
def test_a_host_that_gives_variables_as_secrets(tmp_path):
    """Names are known from the first request on, though Streamlit reads secrets after the file."""
    (tmp_path / ".streamlit").mkdir()
    secrets = 'MORPHGRAPH_PUBLIC = "1"\nMORPHGRAPH_HOST = "known.example.org"\n'
    (tmp_path / ".streamlit" / "secrets.toml").write_text(secrets)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    options = ("--server.headless", "true", "--server.address", "127.0.0.1", "--server.port", port)
    command = [sys.executable, "-m", "streamlit", "run", ROOT / "web" / "serve.py", *options]
    inherited = {name: os.environ[name] for name in os.environ if name not in (VARIABLE, *OTHERS)}
    own = {**inherited, "HOME": str(tmp_path), "MORPHGRAPH_STATE": str(tmp_path / "state")}
    process = subprocess.Popen(list(map(str, command)), cwd=tmp_path, env=own)

    def status(host):
        with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/_stcore/health", headers={"Host": host})
            return connection.getresponse().status

    try:
        for _ in range(600):
            with suppress(OSError):
                status("localhost")
                break
            time.sleep(0.1)
        assert [status("known.example.org"), status("other.example.org")] == [200, 421]
    finally:
        process.terminate()
        process.wait(timeout=60)


def test_names_and_frames_are_given_to_the_server(started):
    started()
    assert not guard.allows_frames()
    assert guard.own_hosts()[1:] == []
    started("--host", "a.example", "--host", "b.example", "--allow-frame")
    assert guard.allows_frames()
    assert guard.own_hosts()[1:] == ["a.example", "b.example"]
    policies = [guard.content_policy(allow_frame=allowed) for allowed in (False, True)]
    assert ["frame-ancestors 'self'" in policy for policy in policies] == [True, False]


@pytest.mark.parametrize(
    ("hosts", "known", "unknown"),
    [
        (["127.0.0.1"], ["localhost", "127.0.0.1:85", "[::1]:85"], ["a.example", "10.0.0.1", ""]),
        (["10.0.0.1", "A.Example"], ["10.0.0.1:85", "a.example.", "localhost"], ["10.0.0.2"]),
        (["0.0.0.0"], ["10.0.0.1", "[fe80::1]:85", "localhost"], ["a.example", "10.0.0.1.example"]),
        (["::", "[2001:db8::1]"], ["10.0.0.1", "[2001:db8::1]"], ["a.example", "a@10.0.0.1"]),
    ],
)
def test_which_hosts_are_known(hosts, known, unknown):
    async def nothing(*_):
        pass

    found = guard.KnownHosts(nothing, hosts)
    assert [host for host in [*known, *unknown] if found.knows([host])] == known
    assert not found.knows([])
    assert not found.knows(["localhost", "localhost"])


@pytest.mark.slow
def test_a_public_server_tells_nothing():
    code = (
        "from web import serve; import streamlit as st; "
        "print(st.get_option('client.showErrorDetails'), len(serve.middleware))"
    )
    for public, told in (("1", "none 5"), ("", "full 4")):
        variables = {**os.environ, VARIABLE: public, "PYTHONPATH": str(ROOT), "DISPLAY": ":0"}
        command = [sys.executable, "-c", code]
        said = subprocess.check_output(command, env=variables, cwd=ROOT, text=True)
        assert said.strip() == told


def test_it_says_where_it_is_beside_another_app(started, monkeypatch, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        monkeypatch.setattr(app, "_PORT", taken)
        port = int(started()["--server.port"])
        assert taken < port < taken + 100
        assert f"http://127.0.0.1:{port} " in capsys.readouterr().err
        assert started("--public")["--server.port"] == str(taken)


def test_connections_to_an_app_that_has_ended_do_not_move_it(started, monkeypatch, capsys):
    with socket.create_server(("127.0.0.1", 0)) as ended:
        port = ended.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as browser:
            ended.accept()[0].close()  # who closes first keeps the port for a minute
            assert browser.recv(1) == b""
    monkeypatch.setattr(app, "_PORT", port)
    assert started()["--server.port"] == str(port)
    started("--public", "--address", "::1")
    assert f"http://[::1]:{port} " in capsys.readouterr().err


def test_old_addresses_lead_on_with_their_parameters_and_others_are_left_alone():
    routes = [Route("/{rest:path}", lambda request: PlainTextResponse(str(request.url)))]
    answering = Starlette(routes=routes, middleware=[Middleware(OldAddresses)])
    client = TestClient(answering, follow_redirects=False)
    for old, new in OLD_ADDRESSES.items():
        for before in ("", "/below"):
            answer = client.get(f"{before}/{old}?type=%E2%90%A3a&word=b")
            page, _, shows = new.partition("?")
            asked = "&".join(filter(None, (shows, "type=%E2%90%A3a&word=b")))
            assert answer.headers["location"] == f"{before}/{page}?{asked}"
    for place in ("/", "/Repair", "/static/Blame.js", "/_stcore/health"):
        assert client.get(place).status_code == 200


def test_what_was_computed_goes_until_there_is_memory_again(monkeypatch):
    memory, entries = [1300, 1200, 900], [0, 4, 3]
    monkeypatch.setenv("MORPHGRAPH_APP_MEMORY", "1000")
    monkeypatch.setattr(guard, "memory_used", lambda: memory[0])
    monkeypatch.setattr(guard, "give_back_memory", lambda: memory.pop(0))
    cache = SimpleNamespace(drop=lambda **_: entries.pop() if entries else 0)
    monkeypatch.setattr(guard, "app_cache", lambda: cache)
    for left in ([1200, 900], [900], [900]):
        guard.make_room()
        assert memory == left
    assert entries == [0], "there was memory enough"
    memory[0] = 1300
    guard.make_room()  # there is nothing that could be dropped
    assert (memory, entries) == ([1300], [])


class Large:
    """Something that is shared, and refers to itself."""

    def __init__(self):
        self.itself = self


@st.cache_resource
def _kept():
    return Large()


@pytest.mark.slow
def test_what_is_shared_stays_until_all_have_gone():
    cached, dropped = weakref.ref(_kept()), weakref.ref(Large())
    guard.tidy_memory(everyone_has_gone=False)
    assert cached() is not None and dropped() is None
    guard.tidy_memory(everyone_has_gone=True)
    assert cached() is None

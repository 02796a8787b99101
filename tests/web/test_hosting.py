"""Whether the app is public is one switch, and what is not plainly a no is a yes."""

import os
import sys
from pathlib import Path

import pytest
import typer

from morphgraph.cli import app
from web.hosting import is_public

VARIABLE = "MORPHGRAPH_PUBLIC"


@pytest.mark.parametrize("value", ["1", "true", "yes", "on", "2", "anything"])
def test_public(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", value)
    assert is_public()


@pytest.mark.parametrize("value", [None, "", " ", "0", "no", "Off", "FALSE"])
def test_local(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MORPHGRAPH_PUBLIC", raising=False)
    if value is not None:
        monkeypatch.setenv("MORPHGRAPH_PUBLIC", value)
    assert not is_public()


def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *arguments: str) -> dict[str, str]:
    """The options that the command gives to Streamlit, by name; what it was run with as ``env``."""
    given: list[str] = []
    monkeypatch.setenv(VARIABLE, "")  # what the command sets goes with the test
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execv", lambda _, command: given.extend(command))
    program = typer.Typer()
    program.command()(app.open_app)
    program(list(arguments), standalone_mode=False)
    assert given[:4] == [sys.executable, "-m", "streamlit", "run"]
    options = dict(zip(given[5::2], given[6::2], strict=True))
    return {**options, "env": os.environ[VARIABLE]}


def test_the_command_opens_it_for_this_machine_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = started(monkeypatch, tmp_path)
    assert options["env"] == ""
    assert options["--server.headless"] == "false"
    assert options["--server.address"] == "127.0.0.1"


def test_public_opens_no_browser_and_stays_behind_the_proxy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = started(monkeypatch, tmp_path, "--public", "--port", "8600")
    assert options["env"] == "1"
    assert options["--server.headless"] == "true"
    assert options["--server.address"] == "127.0.0.1"
    assert options["--server.port"] == "8600"
    options = started(monkeypatch, tmp_path, "--public", "--address", "0.0.0.0")
    assert options["--server.address"] == "0.0.0.0"

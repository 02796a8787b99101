"""docs/hosting.md, the README, the Dockerfile and the limits say the same."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphgraph.core.limits import LIMITS

ROOT = Path(__file__).parent.parent
HOSTING, README, SECURITY = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("docs/hosting.md", "README.md", "SECURITY.md")
)


_APP = "MORPHGRAPH_APP_MEMORY"


def commands(text: str) -> set[str]:
    """The commands of a text that start the app, wherever they stand."""
    lines = re.findall(r"^(?:```)?((?:make app|docker|\.venv/bin/morphgraph app).*)$", text, re.M)
    inline = re.findall(r"`((?:docker|\.venv/bin/morphgraph app)[^`]*)`", text)
    return {line for line in [*lines, *inline] if "`" not in line}


def test_the_commands_are_those_of_the_readme() -> None:
    assert len(commands(HOSTING)) == 4
    assert commands(HOSTING) <= commands(README)


def test_the_table_of_limits_is_that_of_the_code() -> None:
    public = [one for one in LIMITS if one.variable.startswith(("MORPHGRAPH_PUBLIC", _APP))]
    rows = [f"| `{one.variable}` | {one.what} | {one.usual:,} |" for one in public]
    assert re.findall(rf"^\| `(?:MORPHGRAPH_PUBLIC|{_APP}).*$", HOSTING, re.M) == rows
    assert len(rows) > 10


def test_the_table_of_what_is_read_is_that_of_the_code() -> None:
    """To renew it, print these rows."""
    read = [limit for limit in LIMITS if limit.variable.startswith("MORPHGRAPH_MAX")]
    rows = [f"| `{one.variable}` | {one.what} | {one.usual:,} | {one.reason} |" for one in read]
    assert re.findall(r"^\| `MORPHGRAPH_MAX.*$", HOSTING, re.M) == rows
    assert len(read) + HOSTING.count("| `MORPHGRAPH_PUBLIC") + 1 == len(LIMITS)


def test_each_page_leads_to_the_other() -> None:
    assert "(docs/hosting.md)" in README
    assert "(SECURITY.md)" in README
    assert "(../SECURITY.md)" in HOSTING
    assert "(docs/hosting.md)" in SECURITY


def test_the_container_starts_with_a_command_that_there_is(
    morphgraph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its options are taken, and its files are there."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    [line] = re.findall(r"^CMD \[(.*)\]$", text, re.M)
    program, *arguments = shlex.split(line.replace(",", " "))
    assert program == "morphgraph"
    given: list[str] = []
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("os.execv", lambda _, command: given.extend(command))
    assert morphgraph(*arguments).code == 0
    assert given[given.index("--server.address") + 1] == "0.0.0.0"
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not {"morphgraph", "web", "pages", "assets", "docs"} & set(ignored)
    # It writes where the volume is, and nowhere else.
    assert all(value.startswith("/state") for value in re.findall(r"MORPHGRAPH_\w+=(\S+)", text))

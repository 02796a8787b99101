"""Options mean the same in every command; references joined, sampled, and from standard input."""

import io
import re
import sys

import pytest
import typer
from command import OWN_COMMANDS

from docs.tools import DOCS
from docs.tools.commands import commands
from morphgraph import cli
from morphgraph.cli.options import GoldReading, parse_settings
from morphgraph.reference.entry import join_references
from morphgraph.reference.readers import read_reference

COMMANDS = {
    name: command
    for name, command in commands(typer.main.get_command(cli.program))
    if name.split()[0] in OWN_COMMANDS  # those of plug-ins have pages of their own
}


DERIVATIONS = "do\tundo\tV\tV\tun\tprefix\ndo\tredo\tV\tV\tre\tprefix\n"


def piped(monkeypatch, data):
    class Piped:
        buffer = io.BytesIO(data)

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdin", Piped())


def test_a_sample(morphgraph):
    """References are joined first, then drawn from."""
    given = ("score", "demo:en", "demo:en", "demo:de", "--read", "join", "--read", "sample=40")
    report = morphgraph(*given, "--set", "resamples=0", "--json").json
    gold = join_references([read_reference("demo:en"), read_reference("demo:de")]).sample(40)
    assert f"@{gold.checksum}|" in report["tables"][0]["signature"]


def test_a_reference_from_standard_input(morphgraph, monkeypatch, tmp_path):
    given = ("blame", "demo:en", "--json")
    (tmp_path / "gold.tsv").write_text(DERIVATIONS, encoding="utf-8")
    from_file = morphgraph(*given, tmp_path / "gold.tsv").json
    piped(monkeypatch, DERIVATIONS.encode())
    run = morphgraph(*given, "-")
    assert run.code == 0 and run.json["merges"] == from_file["merges"]
    assert "reference:standard input@" in run.json["signature"]
    piped(monkeypatch, DERIVATIONS.encode())
    assert re.search(r"entries +2\n", morphgraph("reference", "show", "-").out)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short(morphgraph, name):
    shown = morphgraph(*name.split(), "--help").out
    options = re.findall(r"^│ (?:\* )? *(--[\w-]+)", shown, flags=re.MULTILINE)
    assert "--help" in options
    assert len(options) <= 15, options
    assert re.findall(r"^╭─ (.+?) ─", shown, flags=re.MULTILINE)[-1] != "Arguments"


def test_the_page_has_all_commands():
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^### `morphgraph (.+?)`$", page, re.M)} == {*COMMANDS}


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["separator=,"], {"separator": ","}),
        (["separator=,,format=plain"], {"separator": ",", "format": "plain"}),
        (["separator=+,join", "sample=5"], {"separator": "+", "join": True, "sample": 5}),
        (["first=no"], {"first": False}),
        (["seed=x"], {"seed": "x"}),
    ],
)
def test_settings_as_they_are_written(texts, found):
    assert parse_settings("--read", GoldReading, texts) == found

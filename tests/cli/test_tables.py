"""Tables on a narrow terminal, the version, and completion in the shell."""

import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path

import pytest
from command import Command
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from morphgraph import __version__
from morphgraph.tables.model import Column, Form, table_of_texts
from morphgraph.tables.terminal import text_of

SCORE = "45.43 [44.12, 46.71]***"


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(
    columns: int, titles: list[str], rows: list[list[str]], names: int = 1, form: Form = "text"
) -> list[str]:
    """The lines of a table of numbers on a terminal of this width; ``form``: that of its names."""
    terminal = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", "xterm")
        patch.setattr(sys, "stdout", terminal)
        table = table_of_texts(titles, rows, names)
        print(text_of(replace(table, names=tuple(Column(t, form) for t in titles[:names]))))
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()


def test_columns_without_room_stand_in_a_second_table() -> None:
    header = ["tokeniser", "precision %", "recall %", "F1 %", "exact %"]
    rows = [["BPE", *[SCORE] * 4], ["FLOTA (k=2)", *[SCORE] * 4]]
    lines = printed(80, header, rows)
    assert [line.split("  ")[0].strip() for line in lines] == [
        *("tokeniser", "BPE", "FLOTA (k=2)", ""),
        *("tokeniser", "BPE", "FLOTA (k=2)"),
    ]
    assert "\n".join(lines).count(SCORE) == 8
    assert max(map(len, lines)) <= 80
    assert len(printed(130, header, rows)) == 3, "one table where there is room"


def test_a_long_name_is_wrapped_and_a_number_never() -> None:
    name = "a tokeniser with a very long name that nobody would ever want to type again"
    lines = printed(40, ["tokeniser", "F1 %"], [[name, SCORE]])
    assert SCORE in "\n".join(lines)
    assert "".join("".join(lines).split()).count("…") == 0
    assert max(map(len, lines)) <= 40


CELLS = st.text("0123456789.*[], -", min_size=1, max_size=30).map(lambda text: text.strip() or "0")


@given(st.data())
def test_every_number_is_printed_whole(data: st.DataObject) -> None:
    columns = data.draw(st.integers(1, 6))
    room = data.draw(st.integers(20, 100))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=1))
    header = [f"column {n}" for n in range(columns)]
    keys = data.draw(st.integers(1, 2))
    text = "\n".join(printed(room, header, rows, keys, "written"))
    for row in rows:
        assert all(cell in text for cell in row)


def test_the_version(morphgraph: Command) -> None:
    run = morphgraph("--version")
    assert (run.code, run.out) == (0, f"morphgraph {__version__}\n")


@pytest.mark.parametrize(
    ("line", "offered"), [("morphgraph sc", "score"), ("morphgraph reference sh", "show")]
)
def test_completion(
    morphgraph: Command, monkeypatch: pytest.MonkeyPatch, line: str, offered: str
) -> None:
    monkeypatch.setenv("_MORPHGRAPH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    assert morphgraph().out.split() == [offered]


@pytest.mark.slow
def test_scores_on_a_terminal_of_80_columns(tmp_path: Path) -> None:
    """In a real terminal; the gold has numbers enough to need more than 80 columns."""
    gold = tmp_path / "gold.tsv"
    gold.write_text("undoing\tun do ing\nundesirable\tun desir able\n", encoding="utf-8")
    given = ["demo:en", str(gold), "--methods", "bpe,flota"]
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    run = subprocess.Popen(
        [sys.executable, "-m", "morphgraph", "score", *given, "--set", "resamples=100"],
        stdout=follower,
        stderr=subprocess.DEVNULL,
        stdin=follower,
        env=environment | {"TERM": "xterm"},
    )
    os.close(follower)
    said = b""
    try:
        while chunk := os.read(leader, 65536):
            said += chunk
    except OSError:  # the other end is closed
        pass
    assert run.wait() == 0
    os.close(leader)
    tables = [
        line for line in said.decode().splitlines() if not line.startswith(("reference", "["))
    ]
    assert "…" not in "".join(tables)
    assert said.decode().count("FLOTA") >= 4, "in further tables each row is named again"
    scores = [line for line in tables if line.startswith(("BPE", "FLOTA"))]
    assert all(cell_len(line) <= 80 for line in scores)

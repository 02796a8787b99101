"""Tables on a narrow terminal, the version, and completion in the shell."""

import io
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.tables.model import Column, table_of_texts
from morphgraph.tables.terminal import text_of


class Terminal(io.StringIO):
    """Standard output that is a terminal."""

    def isatty(self):
        return True


def printed(columns, titles, rows, names=1, form="text"):
    """The lines of a table of numbers on a terminal of this width; ``form``: that of its names."""
    terminal = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("TERM", "xterm")
        patch.setattr(sys, "stdout", terminal)
        table = table_of_texts(titles, rows, names)
        print(text_of(replace(table, names=tuple(Column(t, form) for t in titles[:names]))))
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()


CELLS = st.text("0123456789.*[], -", min_size=1, max_size=30).map(lambda text: text.strip() or "0")


@given(st.data())
def test_every_number_is_printed_whole(data):
    columns = data.draw(st.integers(1, 6))
    room = data.draw(st.integers(20, 100))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=1))
    header = [f"column {n}" for n in range(columns)]
    keys = data.draw(st.integers(1, 2))
    text = "\n".join(printed(room, header, rows, keys, "written"))
    for row in rows:
        assert all(cell in text for cell in row)


@pytest.mark.parametrize(
    ("line", "offered"), [("morphgraph sc", "score"), ("morphgraph reference sh", "show")]
)
def test_completion(morphgraph, monkeypatch, line, offered):
    monkeypatch.setenv("_MORPHGRAPH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    assert morphgraph().out.split() == [offered]

"""Tables as lines of text, as wide as the terminal."""

from __future__ import annotations

import sys
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import columns_by_room, visible
from morphgraph.tables.model import shown_texts

if TYPE_CHECKING:
    from morphgraph.tables.model import Table

_WITHOUT_TERMINAL = 1000
_GAP = 2
_WRAPPED = 24
_NARROWEST = 8


def terminal_width() -> int:
    """Return how many characters fit a line of stdout; very many without a terminal."""
    from rich.console import Console

    return Console(file=sys.stdout).width if sys.stdout.isatty() else _WITHOUT_TERMINAL


def text_of(table: Table, width: int | None = None) -> str:
    """Return the rows of a table as text, below the titles of blocks.

    Texts may be wrapped; numbers never are, nor cut: columns that do not fit follow in further
    tables, which repeat those that name a row. ``width``: in characters, by default that of the
    terminal.
    """
    room = width or terminal_width()
    lines = []
    for title, part in table.parts:
        lines += [visible(title)] if title else []
        lines.append(_block(part, room))
    return "\n".join(lines)


def report_of(table: Table, width: int | None = None) -> str:
    """Return a table as `text_of`, with errors, notes, what its marks mean, and signatures."""
    failed = {f"{row.names[0]}: {row.error}": None for row in table.rows if row.error}
    below = (*failed, *table.notes, *replace(table, bold="").explained, *table.signatures)
    told = (visible(line.replace("\xa0", " ")) for line in below)
    return "\n".join([text_of(table, width), *told])


def _block(table: Table, room: int) -> str:
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table as Lines
    from rich.text import Text

    columns = [*table.names, *table.columns]
    left = {number for number, column in enumerate(columns) if column.form == "text"}
    header = [visible(column.title) for column in columns]
    rows = [[visible(text) for text in row] for row in shown_texts(table)]
    natural = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    widths = [min(width, _WRAPPED) if n in left else width for n, width in enumerate(natural)]
    parts = []
    for numbers in columns_by_room(widths, len(table.names), room, _GAP):
        lines = Lines(box=None, pad_edge=False)
        for n in numbers:
            text: Any = {"justify": "left", "no_wrap": False, "overflow": "fold"}
            number: Any = {"justify": "right", "no_wrap": True, "overflow": "crop"}
            lines.add_column(Text(header[n]), **(text if n in left else number))
        for row in rows:
            lines.add_row(*(Text(row[n]) for n in numbers))
        least = [min(widths[n], _NARROWEST) if n in left else widths[n] for n in numbers]
        needed = sum(least) + _GAP * (len(numbers) - 1)
        out = StringIO()
        Console(file=out, width=max(room, needed), highlight=False).print(lines)
        parts.append("\n".join(line.rstrip() for line in out.getvalue().splitlines()))
    return "\n\n".join(parts)

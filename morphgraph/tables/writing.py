"""Tables as CSV, Markdown, HTML and LaTeX, and the escaping of untrusted text."""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import UNDEFINED, shortened
from morphgraph.tables.model import HELD_IN, Cell, Row, Table, cell_texts, common_signature

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment

_WRAPPED = r">{\raggedright\arraybackslash}p{0.3\linewidth}"
_MOST_SIGNATURES, _ERROR_LENGTH = 4, 120

_LATEX = str.maketrans({
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # \textquotedbl would need another font encoding than the usual one.
    '"': r"\char34{}",
    # Characters that pdfLaTeX's fonts lack.
    **{letter: f"$\\{name}$" for letter, name in {
        "α": "alpha", "β": "beta", "θ": "theta", "Δ": "Delta", "≥": "ge", "≤": "le", "±": "pm",
        "↑": "uparrow", "↓": "downarrow", "×": "times", "→": "to", "†": "dagger", "○": "circ",
    }.items()},
    "−": "$-$",
    "′": "$'$",
})  # fmt: skip
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&!@])")

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in spreadsheets, some of which accept full-width forms."""

_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them."""


def escape_formula(text: str) -> str:
    """Escape text that a spreadsheet would read as a formula, full-width signs included.

    A bare carriage return, which `csv` does not quote, becomes a line feed.

    >>> escape_formula("=1"), escape_formula("\\ra"), escape_formula("a-b")
    ("'=1", "'\\na", 'a-b')
    """
    is_formula = text.startswith(("\t", "\r")) or text.lstrip().startswith(_FORMULA)
    return ("'" * is_formula + text).replace("\r", "\n")


def latex(text: str) -> str:
    r"""Escape LaTeX's special characters, and write signs that fonts lack as maths.

    >>> print(latex("50 % of --a_b ≥ 1"))
    50 \% of -{}-a\_b $\ge$ 1
    """
    return re.sub("-(?=-)", "-{}", text.translate(_LATEX))  # two would be a dash


def latex_breakable(text: str) -> str:
    r"""Escape a signature, which may be broken after some characters.

    >>> print(latex_breakable("a:1"))
    a:\allowbreak{}1
    """
    return "".join(
        latex(character) + (r"\allowbreak{}" if character in "|:,()=+ " else "")
        for character in text
    )


def one_line(text: str) -> str:
    """Put text on one line, without control characters, surrogates and direction changes.

    >>> one_line("a\\nb" + chr(0x202E))
    'a b?'
    """
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(
        "?" if unicodedata.category(c) in ("Cc", "Cs") or c in _DIRECTIONS else c for c in line
    )


def markdown(text: str) -> str:
    """Escape text for Markdown, its tables included."""
    return _MARKDOWN.sub(r"\\\1", text)


def _fence(text: str, least: int) -> str:
    """Return more backticks than a text has anywhere in a row."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


def markdown_code(text: str) -> str:
    """Return a line as Markdown code, whatever it contains."""
    fence = _fence(text, 1)
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def fenced(text: str, language: str) -> str:
    """Return text as a Markdown code block, whatever it contains."""
    fence = _fence(text, 3)
    return "\n".join([f"{fence}{language}", text.rstrip("\n"), fence])


def without_formulas(page: str) -> str:
    """Return HTML in which a notebook finds no formulas."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{page}</div>'


# ---------------------------------------------------------------------------------------- CSV


def csv_bytes(rows: Iterable[Iterable[object]]) -> bytes:
    """Return rows as CSV in UTF-8: escaped texts, numbers with all digits, n/a if undefined."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows(map(_csv_value, row) for row in rows)
    return buffer.getvalue().encode("utf-8", "replace")


def _csv_value(value: object) -> object:
    if isinstance(value, str):
        return escape_formula(value)
    if isinstance(value, float):
        return UNDEFINED if math.isnan(value) else float(value)
    return value


def whole(value: float) -> float:
    """Return a number, as an integer if it is whole.

    >>> whole(2.0), whole(2.5)
    (2, 2.5)
    """
    return int(value) if float(value).is_integer() else value


def to_csv(table: Table) -> bytes:
    """Return a table as CSV: shares from 0 to 1, each value followed by its column's extras."""
    first = table.rows[0] if table.rows else Row((), ())
    head = [name for name, _ in first.before]
    head += [column.csv or column.header for column in table.names]
    for column in table.columns:
        title = column.csv or " ".join(filter(None, [column.header, *column.spread]))
        head += [f"{title} {extra}".rstrip() for extra in ("", *column.extras)]
    lines: list[list[object]] = [[*head, *(name for name, _ in first.after)]]
    for row in table.rows:
        line: list[object] = [*(text for _, text in row.before), *row.names]
        for cell, column in zip(row.cells, table.columns, strict=True):
            value = cell.state if cell.is_lost else cell.value
            is_count = column.form == "count" and not isinstance(value, str)
            line.append(whole(float(value)) if is_count else value)
            line += [_extra(cell, extra) for extra in column.extras]
        lines.append([*line, *(text for _, text in row.after)])
    if not first.after:
        lines += [["signature", one_line(text)] for text in table.signatures]
    return csv_bytes(lines)


def _extra(cell: Cell, name: str) -> object:
    if name == HELD_IN:
        return "yes" if cell.held_in else "no"
    value = getattr(cell, name)
    return "" if cell.value == "" else int(value) if name == "seeds" else float(value)


def frame_csv(frame: pd.DataFrame) -> bytes:
    """Return a frame as CSV with all digits, n/a where undefined, and formulas escaped."""
    import pandas as pd

    def plain(value: Any) -> object:
        if isinstance(value, str):
            return value
        return math.nan if value is None or pd.isna(value) else whole(value)

    columns = [list(map(plain, frame[name])) for name in frame.columns]
    return csv_bytes([map(str, frame.columns), *zip(*columns, strict=True)])


# ---------------------------------------------------------------------------------------- templates


@cache
def environment() -> Environment:
    """Return the template environment, which escapes text in HTML templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("morphgraph.tables"),
        autoescape=lambda name: ".html" in str(name) or ".svg" in str(name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "line": one_line,
        "markdown": lambda text: markdown(one_line(text)),
        "code": lambda text: markdown_code(one_line(text)),
        "markdown_cells": _markdown_cells,
        "fenced": fenced,
        "shortened": shortened,
        "tenths": "{:.1f}".format,
        "tex": _tex,
    }
    templates.globals |= {"cell_texts": cell_texts}
    return templates


def _markdown_cells(row: Row, table: Table) -> Iterator[str]:
    """Yield the cells of a row of a table."""
    for place, name in enumerate(row.shown_names):
        yield markdown(one_line(name)) + (" †" if row.is_baseline and not place else "")
    if row.error:
        yield from [markdown(_failed(row)), *[""] * (len(row.cells) - 1)]
        return
    for cell, column in zip(row.cells, table.columns, strict=True):
        text, beside = cell_texts(column, cell)
        shown = markdown(one_line(text))
        yield f"{f'**{shown}**' if cell.is_best else shown}{markdown(cell.mark)} {beside}".rstrip()


def _failed(row: Row) -> str:
    return f"failed: {shortened(one_line(row.error), _ERROR_LENGTH)}"


def rendered(template: str, **values: Any) -> str:
    """Render a template with values."""
    return environment().get_template(template).render(**values)


def to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown: its blocks, explanations of marks, and signatures."""
    return rendered("table.md.j2", table=table)


def to_html(table: Table) -> str:
    """Return a table as an HTML fragment: its blocks, explanations of marks, and signatures."""
    return rendered("table.html.j2", table=table)


# ---------------------------------------------------------------------------------------- LaTeX


def to_latex(table: Table, label: str = "") -> str:
    """Return a table in LaTeX that needs adjustbox, array and booktabs.

    Intervals and spreads stand below their values, notes and signatures below the table.
    """
    label = label or table.label
    columns = [*table.names, *table.columns]
    notes = [_tex(note) for note in (*table.notes, *table.explained)]
    signatures = [text for text in table.signatures if text]
    if len(signatures) > _MOST_SIGNATURES:
        signatures = [common_signature(signatures)]
    notes += [rf"Signature: \texttt{{{latex_breakable(one_line(text))}}}." for text in signatures]
    # As for other templates, but with marks that LaTeX does not use.
    ours = environment().overlay(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
    )
    return ours.get_template("table.tex.j2").render(
        table=table,
        columns=columns,
        spec="".join("l" if column.form == "text" else "r" for column in columns),
        short=table.short or table.title,
        label=f"tab:{label}" if label else "",
        body=_body(table, len(columns)),
        notes=notes,
    )


def _tex(text: str) -> str:
    return latex(one_line(text))


def _body(table: Table, width: int) -> Iterator[str]:
    """Yield the lines of rows, each with its end."""
    for number, (title, rows) in enumerate(table.by_block):
        rule = "\\midrule\n" if number else ""
        if title:
            yield rf"{rule}\multicolumn{{{width}}}{{l}}{{\textit{{{_tex(title)}}}}} \\"
            rule = ""
        above: tuple[str, ...] = ()
        for row in rows:
            if len(row.names) > 1 and above and row.names[0] != above[0]:
                rule = "\\addlinespace\n"
            above = row.names
            cells, small = _row(table, row)
            # The braces keep a [ or * at the start from being an option of the line before.
            yield rf"{rule}{{}}{' & '.join(cells)} \\"
            if any(small):
                yield " & ".join(small) + r" \\"
            rule = ""
    if not table.rows:
        yield rf"\multicolumn{{{max(1, width)}}}{{l}}{{no results}} \\"


def _row(table: Table, row: Row) -> tuple[list[str], list[str]]:
    """Return the cells of a row, and what stands below them: intervals or spreads."""
    cells = list(map(_tex, row.shown_names))
    if row.is_baseline:
        cells[0] += r"$^{\dagger}$"
    if row.error:
        width = len(row.cells)
        return [*cells, rf"\multicolumn{{{width}}}{{{_WRAPPED}}}{{{_tex(_failed(row))}}}"], []
    small = [""] * len(cells)
    for cell, column in zip(row.cells, table.columns, strict=True):
        text, beside = cell_texts(column, cell)
        value = r"\,\textbar\,".join(map(_tex, cell.tokens or (text,)))
        value = rf"\textbf{{{value}}}" if cell.is_best else value
        # Stars take no room, so that digits stay below each other.
        cells.append(value + (rf"\rlap{{$^{{{cell.mark}}}$}}" if cell.mark else ""))
        small.append(rf"{{\scriptsize {_tex(beside)}}}" if beside else "")
    return cells, small


WRITERS: dict[str, Callable[[Table], bytes | str]] = {
    ".csv": to_csv,
    ".tex": to_latex,
    ".md": to_markdown,
}
"""What writes a table to a file of each ending."""

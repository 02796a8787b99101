"""Tables as CSV, Markdown, HTML and LaTeX, and the escaping of untrusted text."""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import UNDEFINED, shortened
from morphgraph.tables.model import HELD_IN, Cell, Column, Row, Table, cell_texts, common_signature

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment

ERROR_LENGTH = 120

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
        "↑": "uparrow", "↓": "downarrow", "×": "times", "→": "to", "†": "dagger",
    }.items()},
    "−": "$-$",
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
    guarded = f"'{text}" if is_formula else text
    return guarded.replace("\r", "\n")


def latex(text: str) -> str:
    r"""Escape LaTeX's special characters, and write signs that fonts lack as maths.

    >>> print(latex("50 % of a_b ≥ 1"))
    50 \% of a\_b $\ge$ 1
    """
    return text.translate(_LATEX)


def latex_breakable(text: str, behind: str = "|:") -> str:
    r"""Escape a line that may be broken after some characters, or after any if none are given.

    >>> print(latex_breakable("a:1"))
    a:\allowbreak{}1
    """
    return "".join(
        latex(character) + (r"\allowbreak{}" if not behind or character in behind else "")
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
        "?"
        if unicodedata.category(character) in ("Cc", "Cs") or character in _DIRECTIONS
        else character
        for character in line
    )


def markdown(text: str) -> str:
    """Escape text for Markdown, its tables included."""
    return _MARKDOWN.sub(r"\\\1", text)


def markdown_code(text: str) -> str:
    """Return a line as Markdown code, whatever it contains."""
    runs = [len(run) for run in re.findall("`+", text)]
    fence = "`" * (max(runs, default=0) + 1)
    return f"{fence} {text} {fence}" if runs else f"{fence}{text}{fence}"


def fenced(text: str, language: str) -> str:
    """Return text as a Markdown code block, whatever it contains."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", text.rstrip("\n"), fence])


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
    """Return a table as CSV: shares from 0 to 1, each value followed by its column's extras.

    A signature that rows do not contain stands in its own row at the end.
    """
    first = table.rows[0] if table.rows else None
    head = [name for name, _ in first.before] if first else []
    head += [column.csv or column.header for column in table.names]
    for column in table.columns:
        title = column.csv or " ".join(filter(None, [column.header, *column.spread]))
        head += [f"{title} {extra}".rstrip() for extra in ("", *column.extras)]
    head += [name for name, _ in first.after] if first else []
    lines: list[list[object]] = [[*head]]
    for row in table.rows:
        line: list[object] = [*(text for _, text in row.before), *row.names]
        for cell, column in zip(row.cells, table.columns, strict=True):
            line.append(cell.state if cell.is_lost else _number(cell.value, column))
            line += [_extra(cell, extra) for extra in column.extras]
        lines.append([*line, *(text for _, text in row.after)])
    if not (first and first.after):
        lines += [["signature", one_line(text)] for text in table.signatures]
    return csv_bytes(lines)


def _number(value: float | str, column: Column) -> object:
    if isinstance(value, str) or math.isnan(value):
        return value
    return whole(value) if column.form == "count" else value


def _extra(cell: Cell, name: str) -> object:
    if name == HELD_IN:
        return "yes" if cell.held_in else "no"
    value = getattr(cell, name)
    return "" if cell.value == "" else int(value) if name == "seeds" else float(value)


def frame_csv(frame: pd.DataFrame) -> bytes:
    """Return a frame as CSV with all digits, n/a where undefined, and formulas escaped."""
    columns = [list(map(_frame_value, frame[name])) for name in frame.columns]
    return csv_bytes([map(str, frame.columns), *zip(*columns, strict=True)])


def _frame_value(value: Any) -> object:
    import pandas as pd

    if isinstance(value, str):
        return value
    if value is None or pd.isna(value):
        return math.nan
    return whole(value)


# ---------------------------------------------------------------------------------------- templates


@cache
def environment() -> Environment:
    """Return the template environment, which escapes text in HTML templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("morphgraph.tables"),
        autoescape=lambda name: ".html" in str(name) or ".svg" in str(name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "line": one_line,
        "markdown": lambda text: markdown(one_line(text)),
        "code": lambda text: markdown_code(one_line(text)),
        "markdown_cells": _markdown_cells,
        "fenced": fenced,
        "shortened": shortened,
        "tenths": "{:.1f}".format,
    }
    made.globals |= {"cell_texts": cell_texts}
    return made


def _markdown_cells(row: Row, table: Table) -> Iterator[str]:
    """Yield the cells of a row of a table."""
    for place, name in enumerate(row.shown_names):
        yield markdown(one_line(name)) + (" †" if row.is_baseline and not place else "")
    if row.error:
        error = shortened(one_line(row.error), ERROR_LENGTH)
        yield from [f"failed: {markdown(error)}", *[""] * (len(row.cells) - 1)]
        return
    for cell, column in zip(row.cells, table.columns, strict=True):
        text, beside = cell_texts(column, cell)
        shown = markdown(one_line(text))
        yield f"{f'**{shown}**' if cell.is_best else shown}{markdown(cell.mark)} {beside}".rstrip()


def rendered(template: str, **values: Any) -> str:
    """Render a template with values."""
    return environment().get_template(template).render(**values)


def to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown: its blocks, explanations of marks, and signatures."""
    return rendered("table.md.j2", table=table)


def to_html(table: Table) -> str:
    """Return a table as an HTML fragment: its blocks, explanations of marks, and signatures."""
    return rendered("table.html.j2", table=table)


LINES_OF_PAGE = 42
"""More lines than these, notes among them, do not fit a page: they are a longtable."""

_LONG_TEXT = 40
"""Columns with texts of more characters are broken into lines."""
_WRAPPED = r">{\raggedright\arraybackslash}p{0.3\linewidth}"
_NOTE_LETTERS = 92
_MOST_SIGNATURES = 4


def to_latex(table: Table, label: str = "", short: str = "") -> str:
    r"""A table in LaTeX that needs adjustbox, array and booktabs, or longtable if it is long.

    Bold is the best; intervals and spreads stand below their values. Notes and signatures stand
    below the table. ``label``: what stands after ``tab:``; ``short``: the title for the list of
    tables, if that is another one.
    """
    laid = _Layout(table, label, short or table.title)
    return _environment().get_template("table.tex.j2").render(part=laid)


@cache
def _environment() -> Environment:
    """As for other templates, but with marks that LaTeX does not use."""
    return environment().overlay(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )


def _tex(text: str) -> str:
    return latex(one_line(text))


class _Layout:
    """A table as its template writes it."""

    def __init__(self, table: Table, label: str, short: str) -> None:
        self.table = table
        self.columns = [*table.names, *table.columns]
        texts = [
            [*row.shown_names, *([] if row.error else map(_plain, row.cells, table.columns))]
            for row in table.rows
        ]
        self._wraps = [
            column.form == "text"
            and any(len(text) > _LONG_TEXT for row in texts for text in row[place : place + 1])
            for place, column in enumerate(self.columns)
        ]
        # The braces hide a ] in it.
        self.title = f"{{{_tex(short)}}}"
        self.name = latex(f"tab:{label}") if label else ""
        self.body = list(self._body())
        lines = len(self.body) + sum(len(note) for note in self.notes) // _NOTE_LETTERS
        lines += sum(max(map(len, row), default=0) // _LONG_TEXT for row in texts)
        self.is_long = lines > LINES_OF_PAGE
        if self.is_long:
            # A page neither begins nor ends with a row alone.
            for place in (0, 1, len(self.body) - 3, len(self.body) - 2):
                self.body[place] = self.body[place].removesuffix("*") + "*"

    @property
    def spec(self) -> str:
        """The columns of the tabular."""
        return "".join(
            _WRAPPED if wraps else "l" if column.form == "text" else "r"
            for column, wraps in zip(self.columns, self._wraps, strict=True)
        )

    @property
    def caption(self) -> str:
        """The title, with what is the same in all rows."""
        texts = [f"{self.table.title}."]
        if self.table.constants:
            known = (f"{title.lower()} {text}" for title, text in self.table.constants.items())
            texts.append(f"({'; '.join(known)}).")
        return " ".join(map(_tex, texts))

    @property
    def notes(self) -> list[str]:
        """What stands below: what marks mean, and the signatures."""
        notes = [_tex(note) for note in (*self.table.notes, *self.table.explained)]
        signatures = [text for text in self.table.signatures if text]
        if len(signatures) > _MOST_SIGNATURES:
            signatures = [common_signature(signatures)]
        lines = (latex_breakable(one_line(text), "|:,()=+ ") for text in signatures)
        return notes + [rf"Signature: \texttt{{{line}}}." for line in lines]

    @property
    def heads(self) -> Iterator[str]:
        """Spread columns above, each over what it spans, then the headings."""
        before = len(self.table.names)
        for _, spans in self.table.heads:
            cells, rules, at = [], [], before + 1
            for text, width in spans:
                cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(text)}}}")
                if text:
                    rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
                at += width
            yield " & ".join([*[""] * before, *cells]) + r" \\" + "".join(rules)
        yield "{}" + " & ".join(_tex(column.title) for column in self.columns) + r" \\"

    def _body(self) -> Iterator[str]:
        """The lines of rows, each with its end; a star there keeps it with the next one."""
        for number, (title, rows) in enumerate(self.table.by_block):
            rule = "\\midrule\n" if number else ""
            if title:
                width = len(self.columns)
                yield rf"{rule}\multicolumn{{{width}}}{{l}}{{\textit{{{_tex(title)}}}}} \\*"
                rule = ""
            above: Sequence[str] = ()
            for row in rows:
                if len(row.names) > 1 and above and row.names[0] != above[0]:
                    rule = "\\addlinespace\n"
                above = row.names
                yield from self._lines(row, rule)
                rule = ""
        if not self.table.rows:
            yield rf"\multicolumn{{{max(1, len(self.columns))}}}{{l}}{{no results}} \\"

    def _lines(self, row: Row, rule: str) -> Iterator[str]:
        """A line of values, and one of intervals or spreads if there are any."""
        names = [self._text(name, place) for place, name in enumerate(row.shown_names)]
        # The braces keep a [ or * at the start from being an option of the line before.
        start = rule + "{}"
        if row.is_baseline:
            names[0] += r"$^{\dagger}$"
        if row.error:
            error = f"failed: {shortened(one_line(row.error), ERROR_LENGTH)}"
            kind = _WRAPPED if len(error) > _LONG_TEXT else "l"
            names.append(rf"\multicolumn{{{len(row.cells)}}}{{{kind}}}{{{_tex(error)}}}")
            yield start + " & ".join(names) + r" \\"
            return
        cells, small = [], []
        for place, cell in enumerate(row.cells, len(names)):
            text, beside = cell_texts(self.columns[place], cell)
            shown = self._tokens(cell, place) if cell.tokens else self._text(text, place)
            shown = rf"\textbf{{{shown}}}" if cell.is_best else shown
            # Stars take no room, so that digits stay below each other.
            cells.append(shown + (rf"\rlap{{$^{{{cell.mark}}}$}}" if cell.mark else ""))
            small.append(rf"{{\scriptsize {_tex(beside)}}}" if beside else "")
        yield start + " & ".join([*names, *cells]) + (r" \\*" if any(small) else r" \\")
        if any(small):
            yield " & ".join([*[""] * len(names), *small]) + r" \\"

    def _text(self, text: str, place: int) -> str:
        """A text, which may be broken anywhere in long words of a column that is wrapped."""
        return " ".join(
            latex_breakable(word, "") if self._wraps[place] and len(word) > 15 else latex(word)
            for word in one_line(text).split(" ")
        )

    def _tokens(self, cell: Cell, place: int) -> str:
        """Tokens with bars between them."""
        bar = r"\,\textbar\," + (r"\allowbreak{}" if self._wraps[place] else "")
        return bar.join(self._text(token, place) for token in cell.tokens)


def _plain(cell: Cell, column: Column) -> str:
    return "|".join(cell.tokens) if cell.tokens else cell_texts(column, cell)[0]


def without_formulas(page: str) -> str:
    """Return HTML in which a notebook finds no formulas."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{page}</div>'
